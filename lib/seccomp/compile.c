/* SPDX-License-Identifier: MIT
 *
 * Table -> BPF. A short hand-laid guard comes first, for what libseccomp cannot say: calls matched by number
 * (also ones that the libseccomp at hand does not know) and "newer than reviewed". libseccomp's program
 * follows.
 */
#include "lib/seccomp/filter.h"
#include "lib/util/util.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define COMPAT_ARCH SCMP_ARCH_X86
#elif defined(__aarch64__)
#define COMPAT_ARCH SCMP_ARCH_ARM
#endif

enum { GUARD_MAX = 128, ARGS_MAX = 2 };

static uint32_t errno_of(enum zsb_filter_action action)
{
    return action == ZSB_FILTER_ENOSYS ? ENOSYS : EPERM;
}

struct guard {
    struct sock_filter code[GUARD_MAX];
    unsigned short length;
};

static void emit(struct guard *guard, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    guard->code[guard->length++] = (struct sock_filter){.code = code, .jt = jt, .jf = jf, .k = k};
}

static void build_guard(struct guard *guard, unsigned network_bit)
{
    emit(guard, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    /* x32 numbers carry bit 30 and end here too. */
    emit(guard, BPF_JMP | BPF_JGT | BPF_K, ZSB_FILTER_NEWEST_REVIEWED, 0, 1);
    emit(guard, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    for (size_t i = 0; zsb_filter_row_at(i) != NULL; i++) {
        const struct zsb_filter_row *row = zsb_filter_row_at(i);
        if (row->number == 0 || (row->networks & network_bit) == 0)
            continue;
        emit(guard, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->number, 0, 1);
        emit(guard, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno_of(row->action), 0, 0);
    }
}

static struct scmp_arg_cmp masked_cmp(const struct zsb_filter_arg *arg)
{
    return SCMP_CMP64(arg->arg, SCMP_CMP_MASKED_EQ, arg->mask, arg->value);
}

static int add_masked(scmp_filter_ctx ctx, const struct zsb_filter_row *row, int number)
{
    struct scmp_arg_cmp cmps[ARGS_MAX];
    for (unsigned i = 0; i < row->masked_count; i++)
        cmps[i] = masked_cmp(&row->masked[i]);
    return seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(errno_of(row->action)), number, row->masked_count,
                                  cmps);
}

static int add_one_mask(scmp_filter_ctx ctx, const struct zsb_filter_row *row, int number, uint32_t mask,
                        uint32_t value)
{
    struct zsb_filter_row one = *row;
    one.masked[0].mask = mask;
    one.masked[0].value = value;
    one.masked_count = 1;
    return add_masked(ctx, &one, number);
}

static bool is_allowed(const struct zsb_filter_row *row, uint32_t value)
{
    for (unsigned i = 0; i < row->allowed_count; i++)
        if (row->allowed[i] == value)
            return true;
    return false;
}

/* "Not in the set" as equalities: any bit that no member has, and every combination of the members' bits that
 * is no member itself. */
static int add_not_in(scmp_filter_ctx ctx, const struct zsb_filter_row *row, int number)
{
    uint32_t used = 0;
    for (unsigned i = 0; i < row->allowed_count; i++)
        used |= row->allowed[i];
    int rc = 0;
    for (unsigned bit = 0; bit < 32 && rc == 0; bit++)
        if ((used & (1u << bit)) == 0)
            rc = add_one_mask(ctx, row, number, 1u << bit, 1u << bit);
    uint32_t subset = used;
    for (;;) {
        if (rc == 0 && !is_allowed(row, subset))
            rc = add_one_mask(ctx, row, number, UINT32_MAX, subset);
        if (subset == 0 || rc != 0)
            return rc;
        subset = (subset - 1) & used;
    }
}

static int add_row(scmp_filter_ctx ctx, const struct zsb_filter_row *row, int number)
{
    switch (row->match) {
    case ZSB_MATCH_MASKED:
        return add_masked(ctx, row, number);
    case ZSB_MATCH_NOT_IN:
        return add_not_in(ctx, row, number);
    case ZSB_MATCH_CALL:
        break;
    }
    return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(errno_of(row->action)), number, 0);
}

static int add_rows(scmp_filter_ctx ctx, unsigned network_bit, struct zsb_error *err)
{
    for (size_t i = 0; zsb_filter_row_at(i) != NULL; i++) {
        const struct zsb_filter_row *row = zsb_filter_row_at(i);
        if (row->number != 0 || (row->networks & network_bit) == 0)
            continue;
        int number = seccomp_syscall_resolve_name(row->syscall);
        int rc = number == __NR_SCMP_ERROR ? -EINVAL : add_row(ctx, row, number);
        /* Negative pseudo-numbers are calls that only the compat ABI has. */
        if (rc < 0)
            return zsb_error_set(err, ZSB_E_SECCOMP, ZSB_STAGE_CONFINE, -rc, "filter row %zu (%s)", i,
                                 row->syscall);
    }
    return 0;
}

static int export_program(scmp_filter_ctx ctx, const struct guard *guard, struct sock_filter **out_program,
                          unsigned short *out_length)
{
    ZSB_AUTO_FD int fd = memfd_create("zsb-filter", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = seccomp_export_bpf(ctx, fd);
    if (rc < 0)
        return rc;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    ZSB_AUTO_FREE char *body = NULL;
    size_t body_bytes = 0;
    rc = zsb_read_fd(fd, BPF_MAXINSNS * sizeof(struct sock_filter), &body, &body_bytes);
    if (rc < 0)
        return rc;
    size_t count = body_bytes / sizeof(struct sock_filter) + guard->length;
    if (count > BPF_MAXINSNS || body_bytes % sizeof(struct sock_filter) != 0)
        return -E2BIG;
    struct sock_filter *program = calloc(count, sizeof(*program));
    if (program == NULL)
        return -ENOMEM;
    memcpy(program, guard->code, guard->length * sizeof(*program));
    memcpy(program + guard->length, body, body_bytes);
    *out_program = program;
    *out_length = (unsigned short)count;
    return 0;
}

static void release_context(scmp_filter_ctx *ctx)
{
    if (*ctx != NULL)
        seccomp_release(*ctx);
}

int zsb_filter_compile(enum zsb_network network, struct sock_filter **out_program, unsigned short *out_length,
                       struct zsb_error *err)
{
#ifndef COMPAT_ARCH
    (void)network, (void)out_program, (void)out_length;
    return zsb_error_set(err, ZSB_E_UNSUPPORTED_ARCHITECTURE, ZSB_STAGE_RESOLVE, 0,
                         "no filter for this machine");
#else
    unsigned network_bit = network == ZSB_NETWORK_DENIED ? ZSB_FILTER_DENIED : ZSB_FILTER_ALLOWED;
    struct guard guard = {.length = 0};
    build_guard(&guard, network_bit);

    ZSB_AUTO(release_context) scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (ctx == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_CONFINE);
    int rc = seccomp_arch_add(ctx, COMPAT_ARCH);
    if (rc == 0)
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    if (rc == 0)
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (rc < 0)
        return zsb_error_set(err, ZSB_E_SECCOMP, ZSB_STAGE_CONFINE, -rc, "filter attributes");
    rc = add_rows(ctx, network_bit, err);
    if (rc < 0)
        return rc;
    rc = export_program(ctx, &guard, out_program, out_length);
    if (rc < 0)
        return zsb_error_set(err, ZSB_E_SECCOMP, ZSB_STAGE_CONFINE, -rc, "cannot export the filter");
    return 0;
#endif
}
