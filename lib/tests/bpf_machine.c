/* SPDX-License-Identifier: MIT */
#include "lib/tests/bpf_machine.h"

#include <string.h>

/* Instructions that seccomp accepts (seccomp_check_filter). */
static bool known(uint16_t code)
{
    static const uint16_t codes[] = {
        BPF_LD | BPF_W | BPF_ABS,
        BPF_LD | BPF_W | BPF_LEN,
        BPF_LD | BPF_IMM,
        BPF_LD | BPF_MEM,
        BPF_LDX | BPF_W | BPF_LEN,
        BPF_LDX | BPF_IMM,
        BPF_LDX | BPF_MEM,
        BPF_ST,
        BPF_STX,
        BPF_RET | BPF_K,
        BPF_RET | BPF_A,
        BPF_ALU | BPF_AND | BPF_K,
        BPF_ALU | BPF_OR | BPF_K,
        BPF_ALU | BPF_RSH | BPF_K,
        BPF_JMP | BPF_JA,
        BPF_JMP | BPF_JEQ | BPF_K,
        BPF_JMP | BPF_JGT | BPF_K,
        BPF_JMP | BPF_JGE | BPF_K,
        BPF_JMP | BPF_JSET | BPF_K,
        BPF_MISC | BPF_TAX,
        BPF_MISC | BPF_TXA,
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool jumps_inside(const struct sock_filter *at, size_t index, size_t length)
{
    if (BPF_CLASS(at->code) != BPF_JMP)
        return true;
    if (BPF_OP(at->code) == BPF_JA)
        return at->k < length - index - 1;
    return index + 1 + at->jt < length && index + 1 + at->jf < length;
}

const char *zsb_bpf_check(const struct sock_filter *program, size_t length)
{
    if (length == 0 || length > BPF_MAXINSNS)
        return "length is 0 or above BPF_MAXINSNS";
    for (size_t i = 0; i < length; i++) {
        const struct sock_filter *at = &program[i];
        if (!known(at->code))
            return "unknown instruction";
        if (at->code == (BPF_LD | BPF_W | BPF_ABS) &&
            (at->k % 4 != 0 || at->k >= sizeof(struct seccomp_data)))
            return "load outside the data";
        if (!jumps_inside(at, i, length))
            return "jump outside the program";
        if ((at->code == BPF_ST || at->code == BPF_STX || at->code == (BPF_LD | BPF_MEM) ||
             at->code == (BPF_LDX | BPF_MEM)) &&
            at->k >= BPF_MEMWORDS)
            return "memory index too large";
    }
    return BPF_CLASS(program[length - 1].code) == BPF_RET ? NULL : "does not end with a return";
}

static bool holds(uint16_t code, uint32_t accumulator, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return accumulator == k;
    case BPF_JGT:
        return accumulator > k;
    case BPF_JGE:
        return accumulator >= k;
    default: /* BPF_JSET */
        return (accumulator & k) != 0;
    }
}

static uint32_t word_at(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word = 0;
    memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

uint32_t zsb_bpf_run(const struct sock_filter *program, size_t length, const struct seccomp_data *data)
{
    uint32_t a = 0;
    uint32_t x = 0;
    uint32_t memory[BPF_MEMWORDS] = {0};
    for (size_t pc = 0; pc < length; pc++) {
        const struct sock_filter *at = &program[pc];
        switch (BPF_CLASS(at->code)) {
        case BPF_LD:
            a = BPF_MODE(at->code) == BPF_ABS   ? word_at(data, at->k)
                : BPF_MODE(at->code) == BPF_MEM ? memory[at->k]
                : BPF_MODE(at->code) == BPF_LEN ? (uint32_t)sizeof(*data)
                                                : at->k;
            break;
        case BPF_LDX:
            x = BPF_MODE(at->code) == BPF_MEM   ? memory[at->k]
                : BPF_MODE(at->code) == BPF_LEN ? (uint32_t)sizeof(*data)
                                                : at->k;
            break;
        case BPF_ST:
            memory[at->k] = a;
            break;
        case BPF_STX:
            memory[at->k] = x;
            break;
        case BPF_ALU:
            a = BPF_OP(at->code) == BPF_AND  ? (a & at->k)
                : BPF_OP(at->code) == BPF_OR ? (a | at->k)
                                             : a >> at->k;
            break;
        case BPF_JMP:
            pc += BPF_OP(at->code) == BPF_JA ? at->k : holds(at->code, a, at->k) ? at->jt : at->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(at->code) == BPF_A ? a : at->k;
        default: /* BPF_MISC */
            if (BPF_MISCOP(at->code) == BPF_TAX)
                x = a;
            else
                a = x;
            break;
        }
    }
    return SECCOMP_RET_KILL_PROCESS; /* not reached by a checked program */
}
