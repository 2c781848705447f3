/* SPDX-License-Identifier: MIT
 *
 * Both programs as the kernel would run them, on x86-64 and i386, row by row and against an independent
 * oracle.
 */
#include "lib/seccomp/filter.h"
#include "lib/tests/bpf_machine.h"
#include "lib/tests/support.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define HIGH 0xdeadbeef00000000ULL /* the kernel ignores the upper half of an int argument */
#define X32_BIT 0x40000000

static const struct abi {
    const char *name;
    uint32_t arch;
    uint32_t scmp_arch;
} abis[] = {
#if defined(__x86_64__)
    {"x86-64", AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64},
    {"i386", AUDIT_ARCH_I386, SCMP_ARCH_X86},
#elif defined(__aarch64__)
    {"aarch64", AUDIT_ARCH_AARCH64, SCMP_ARCH_AARCH64},
    {"arm", AUDIT_ARCH_ARM, SCMP_ARCH_ARM},
#endif
};

static const enum zsb_network networks[] = {ZSB_NETWORK_DENIED, ZSB_NETWORK_ALLOWED};

struct arguments {
    uint64_t at[6];
};

static uint32_t verdict(enum zsb_network network, uint32_t arch, int nr, struct arguments arguments)
{
    struct zsb_filter_program program = zsb_filter_builtin(network);
    struct seccomp_data data = {.nr = nr, .arch = arch};
    memcpy(data.args, arguments.at, sizeof(data.args));
    return zsb_bpf_run(program.instructions, program.length, &data);
}

static uint32_t refusal(int sys_errno)
{
    return SECCOMP_RET_ERRNO | (uint32_t)sys_errno;
}

/* i386 has these twice: inside socketcall, which libseccomp answers with, and directly since Linux 4.3. */
static const struct {
    const char *name;
    int number;
} i386_direct[] = {
    {"socket", 359}, {"socketpair", 360}, {"bind", 361}, {"connect", 362}, {"sendto", 369}, {"recvfrom", 371},
};

/* The number of a call in an ABI, or -1. */
static int number_in(const struct abi *abi, const char *name)
{
    int nr = seccomp_syscall_resolve_name_arch(abi->scmp_arch, name);
    for (size_t i = 0; abi->arch == AUDIT_ARCH_I386 && nr < 0 && i < ZSB_ARRAY_SIZE(i386_direct); i++)
        if (strcmp(name, i386_direct[i].name) == 0)
            nr = i386_direct[i].number;
    return nr >= 0 ? nr : -1;
}

static size_t row_count(void)
{
    size_t count = 0;
    while (zsb_filter_row_at(count) != NULL)
        count++;
    return count;
}

START_TEST(program_is_one_that_the_kernel_accepts)
{
    struct zsb_filter_program program = zsb_filter_builtin(networks[_i]);
    ck_assert_uint_le(program.length, BPF_MAXINSNS);
    const char *rule = zsb_bpf_check(program.instructions, program.length);
    ck_assert_msg(rule == NULL, "%s", rule);
}
END_TEST

START_TEST(fresh_compile_equals_the_program_of_the_build)
{
    struct zsb_filter_program program = zsb_filter_builtin(networks[_i]);
    struct zsb_error err = ZSB_ERROR_INIT;
    ZSB_AUTO_FREE struct sock_filter *fresh = NULL;
    unsigned short length = 0;
    ck_assert_msg(zsb_filter_compile(networks[_i], &fresh, &length, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(length, program.length);
    ck_assert_mem_eq(fresh, program.instructions, length * sizeof(*fresh));
}
END_TEST

static bool same_condition(const struct zsb_filter_row *a, const struct zsb_filter_row *b)
{
    return strcmp(a->syscall, b->syscall) == 0 && (a->networks & b->networks) != 0 && a->match == b->match &&
           memcmp(a->masked, b->masked, sizeof(a->masked)) == 0;
}

START_TEST(row_is_unique_and_documented)
{
    const struct zsb_filter_row *row = zsb_filter_row_at((size_t)_i);
    ck_assert_msg(row->reason != NULL && strlen(row->reason) > 10, "%s has no reason", row->syscall);
    ck_assert_msg(row->networks != 0 && (row->networks & ~(unsigned)ZSB_FILTER_ALWAYS) == 0, "%s",
                  row->syscall);
    ck_assert_msg(row->match == ZSB_MATCH_CALL || row->masked_count > 0, "%s", row->syscall);
    ck_assert_msg(row->number == 0 || (row->number >= 424 && row->number <= ZSB_FILTER_NEWEST_REVIEWED),
                  "%s: a number must be of the unified table", row->syscall);
    ck_assert_msg(row->number == 0 || row->match == ZSB_MATCH_CALL, "%s: the guard looks at numbers only",
                  row->syscall);
    for (int i = 0; i < _i; i++)
        ck_assert_msg(!same_condition(row, zsb_filter_row_at((size_t)i)), "%s stands twice", row->syscall);
    int known = number_in(&abis[0], row->syscall);
    if (row->number != 0 && known >= 0)
        ck_assert_msg(known == row->number, "%s is %d, not %d", row->syscall, known, row->number);
}
END_TEST

/* Arguments that meet the row's condition, noise in every bit that the condition does not name. */
static struct arguments matching(const struct zsb_filter_row *row, uint64_t noise)
{
    struct arguments arguments;
    for (size_t i = 0; i < 6; i++)
        arguments.at[i] = noise;
    for (unsigned i = 0; i < row->masked_count; i++) {
        const struct zsb_filter_arg *arg = &row->masked[i];
        arguments.at[arg->arg] = (arguments.at[arg->arg] & ~(uint64_t)arg->mask) | arg->value;
    }
    if (row->match == ZSB_MATCH_NOT_IN)
        arguments.at[row->masked[0].arg] = HIGH | AF_VSOCK;
    return arguments;
}

START_TEST(row_gives_its_errno_in_every_abi_and_network)
{
    const struct zsb_filter_row *row = zsb_filter_row_at((size_t)_i);
    uint32_t expected = refusal(row->action == ZSB_FILTER_ENOSYS ? ENOSYS : EPERM);
    size_t tried = 0;
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++) {
        int nr = row->number != 0 ? row->number : number_in(&abis[a], row->syscall);
        if (nr < 0)
            continue; /* the ABI has no such call */
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++) {
            unsigned bit = networks[n] == ZSB_NETWORK_DENIED ? ZSB_FILTER_DENIED : ZSB_FILTER_ALLOWED;
            if ((row->networks & bit) == 0)
                continue;
            static const uint64_t noises[] = {0, UINT64_MAX, HIGH};
            for (size_t k = 0; k < ZSB_ARRAY_SIZE(noises); k++) {
                uint32_t got = verdict(networks[n], abis[a].arch, nr, matching(row, noises[k]));
                ck_assert_msg(got == expected, "%s on %s, network %s: 0x%x (%s)", row->syscall, abis[a].name,
                              zsb_network_name(networks[n]), got, row->reason);
                tried++;
            }
        }
    }
    ck_assert_msg(tried > 0, "%s exists in no ABI", row->syscall);
}
END_TEST

/* What work needs. */
static const struct {
    const char *name;
    struct arguments arguments;
    unsigned networks;
    const char *reason;
} allowed[] = {
    {"read", {{0}}, ZSB_FILTER_ALWAYS, "input"},
    {"execve", {{0}}, ZSB_FILTER_ALWAYS, "programs"},
    {"openat", {{0}}, ZSB_FILTER_ALWAYS, "files"},
    {"fork", {{0}}, ZSB_FILTER_ALWAYS, "processes"},
    {"seccomp", {{0}}, ZSB_FILTER_ALWAYS, "a narrower sandbox inside"},
    {"prctl", {{0}}, ZSB_FILTER_ALWAYS, "names and limits"},
    {"kill", {{0}}, ZSB_FILTER_ALWAYS, "own processes"},
    {"inotify_init1", {{0}}, ZSB_FILTER_ALWAYS, "watchers of build tools"},
    {"clone",
     {{CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD}},
     ZSB_FILTER_ALWAYS,
     "threads"},
    {"clone", {{CLONE_VM | CLONE_VFORK | 17}}, ZSB_FILTER_ALWAYS, "posix_spawn"},
    {"clone", {{HIGH | 17}}, ZSB_FILTER_ALWAYS, "flags are the lower half"},
    {"unshare", {{CLONE_FILES | CLONE_FS}}, ZSB_FILTER_ALWAYS, "no namespace"},
    {"ioctl", {{0, TCGETS}}, ZSB_FILTER_ALWAYS, "isatty"},
    {"ioctl", {{0, TIOCGWINSZ}}, ZSB_FILTER_ALWAYS, "terminal size"},
    {"ioctl", {{0, FIONREAD}}, ZSB_FILTER_ALWAYS, "bytes to read"},
    {"socketpair", {{AF_UNIX, SOCK_STREAM}}, ZSB_FILTER_ALWAYS, "asyncio, node"},
    {"socketpair", {{AF_UNIX, SOCK_SEQPACKET}}, ZSB_FILTER_ALWAYS, "message pairs"},
    {"socketpair", {{AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}}, ZSB_FILTER_ALWAYS, "with flags"},
    {"socket", {{AF_UNIX, SOCK_STREAM}}, ZSB_FILTER_DENIED, "server in the sandbox"},
    {"bind", {{0}}, ZSB_FILTER_ALWAYS, "server in the sandbox"},
    {"sendto", {{0}}, ZSB_FILTER_ALWAYS, "send() on a pair"},
    {"recvfrom", {{0}}, ZSB_FILTER_ALWAYS, "recv() on a pair"},
    {"socket", {{AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE}}, ZSB_FILTER_ALWAYS, "getifaddrs"},
    {"socket", {{AF_INET, SOCK_STREAM}}, ZSB_FILTER_ALLOWED, "TCP"},
    {"socket", {{AF_INET6, SOCK_DGRAM}}, ZSB_FILTER_ALLOWED, "UDP"},
    {"connect", {{0}}, ZSB_FILTER_ALLOWED, "TCP"},
};

START_TEST(what_work_needs_is_allowed)
{
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++) {
        int nr = number_in(&abis[a], allowed[_i].name);
        if (nr < 0)
            continue;
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++) {
            unsigned bit = networks[n] == ZSB_NETWORK_DENIED ? ZSB_FILTER_DENIED : ZSB_FILTER_ALLOWED;
            if ((allowed[_i].networks & bit) == 0)
                continue;
            uint32_t got = verdict(networks[n], abis[a].arch, nr, allowed[_i].arguments);
            ck_assert_msg(got == SECCOMP_RET_ALLOW, "%s on %s, network %s: 0x%x (%s)", allowed[_i].name,
                          abis[a].name, zsb_network_name(networks[n]), got, allowed[_i].reason);
        }
    }
}
END_TEST

/* The oracle is written from the words, not from the table. */
static bool may_open_socket(enum zsb_network network, uint32_t family, uint32_t type, uint32_t protocol)
{
    uint32_t kind = type & 0xf;
    if (family == AF_NETLINK)
        return protocol == NETLINK_ROUTE;
    if (network == ZSB_NETWORK_ALLOWED)
        return family == AF_INET || family == AF_INET6;
    /* The kernel treats a raw unix socket as a datagram one. */
    return family == AF_UNIX && kind != SOCK_DGRAM && kind != SOCK_RAW;
}

static bool may_open_pair(uint32_t family, uint32_t type)
{
    return family == AF_UNIX && (type & 0xf) != SOCK_DGRAM && (type & 0xf) != SOCK_RAW;
}

START_TEST(sockets_are_what_the_oracle_says)
{
    const struct abi *abi = &abis[_i / 2];
    enum zsb_network network = networks[_i % 2];
    int socket_nr = number_in(abi, "socket");
    int pair_nr = number_in(abi, "socketpair");
    static const uint32_t flags[] = {0, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC, 0xfffffff0u};
    static const uint32_t protocols[] = {0, 1, 2, 4, 8, 16, 31};
    for (uint32_t family = 0; family < 256; family++)
        for (uint32_t kind = 0; kind < 16; kind++)
            for (size_t f = 0; f < ZSB_ARRAY_SIZE(flags); f++) {
                uint32_t type = kind | flags[f];
                for (size_t p = 0; p < ZSB_ARRAY_SIZE(protocols); p++) {
                    struct arguments arguments = {{HIGH | family, HIGH | type, HIGH | protocols[p]}};
                    uint32_t got = verdict(network, abi->arch, socket_nr, arguments);
                    uint32_t expected = may_open_socket(network, family, type, protocols[p])
                                            ? SECCOMP_RET_ALLOW
                                            : refusal(EPERM);
                    ck_assert_msg(got == expected, "socket(%u, 0x%x, %u): 0x%x", family, type, protocols[p],
                                  got);
                }
                struct arguments arguments = {{HIGH | family, HIGH | type, HIGH}};
                uint32_t expected = may_open_pair(family, type) ? SECCOMP_RET_ALLOW : refusal(EPERM);
                ck_assert_msg(verdict(network, abi->arch, pair_nr, arguments) == expected,
                              "socketpair(%u, 0x%x)", family, type);
            }
}
END_TEST

START_TEST(family_above_255_is_refused)
{
    static const uint32_t families[] = {256, 257, 0x10001, 0x80000001u, 0xffffffffu, 0x101, 0x40000002u};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(families); i++)
        for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++)
            for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++) {
                struct arguments arguments = {{families[i], SOCK_STREAM}};
                ck_assert_uint_eq(
                    verdict(networks[n], abis[a].arch, number_in(&abis[a], "socket"), arguments),
                    refusal(EPERM));
            }
}
END_TEST

/* CVE-2019-10063: a 64-bit comparison is evaded by upper bits that the kernel drops. */
static const struct {
    const char *name;
    struct arguments arguments;
    const char *reason;
} evasions[] = {
    {"ioctl", {{0, HIGH | 0x5412}}, "TIOCSTI with upper bits"},
    {"ioctl", {{0, 0x100005412ULL}}, "TIOCSTI with one upper bit"},
    {"ioctl", {{0, HIGH | 0x541c}}, "TIOCLINUX with upper bits"},
    {"clone", {{HIGH | CLONE_NEWUSER | 17}}, "new user namespace with upper bits"},
    {"clone", {{CLONE_NEWNET | CLONE_VM | CLONE_THREAD}}, "namespace flag among others"},
    {"unshare", {{HIGH | CLONE_NEWNS}}, "new mount namespace with upper bits"},
    {"unshare", {{CLONE_FILES | CLONE_NEWTIME}}, "time namespace"},
};

START_TEST(upper_bits_do_not_evade)
{
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++)
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++) {
            int nr = number_in(&abis[a], evasions[_i].name);
            ck_assert_msg(verdict(networks[n], abis[a].arch, nr, evasions[_i].arguments) == refusal(EPERM),
                          "%s on %s: %s", evasions[_i].name, abis[a].name, evasions[_i].reason);
        }
}
END_TEST

#if defined(__x86_64__)
START_TEST(socket_multiplexer_is_refused_whatever_it_multiplexes)
{
    for (uint64_t call = 0; call < 32; call++)
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++)
            ck_assert_uint_eq(verdict(networks[n], AUDIT_ARCH_I386, 102, (struct arguments){{call}}),
                              refusal(EPERM));
}
END_TEST
#endif

START_TEST(every_namespace_flag_is_refused_alone)
{
    static const uint64_t flags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                     CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++)
        for (size_t i = 0; i < ZSB_ARRAY_SIZE(flags); i++) {
            struct arguments arguments = {{flags[i]}};
            ck_assert_uint_eq(
                verdict(ZSB_NETWORK_DENIED, abis[a].arch, number_in(&abis[a], "clone"), arguments),
                refusal(EPERM));
            ck_assert_uint_eq(
                verdict(ZSB_NETWORK_ALLOWED, abis[a].arch, number_in(&abis[a], "unshare"), arguments),
                refusal(EPERM));
        }
}
END_TEST

START_TEST(call_newer_than_reviewed_does_not_exist)
{
    static const int numbers[] = {ZSB_FILTER_NEWEST_REVIEWED + 1, 1000, 0x0fffffff, INT32_MAX, -1, INT32_MIN};
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++)
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++)
            for (size_t i = 0; i < ZSB_ARRAY_SIZE(numbers); i++)
                ck_assert_msg(verdict(networks[n], abis[a].arch, numbers[i], (struct arguments){{0}}) ==
                                  refusal(ENOSYS),
                              "%d on %s", numbers[i], abis[a].name);
}
END_TEST

#if defined(__x86_64__)
START_TEST(x32_numbers_are_refused)
{
    for (int nr = 0; nr < 1024; nr++)
        ck_assert_uint_eq(verdict(networks[_i], AUDIT_ARCH_X86_64, nr | X32_BIT, (struct arguments){{0}}),
                          refusal(ENOSYS));
}
END_TEST
#endif

START_TEST(foreign_architecture_is_refused_whole)
{
    static const uint32_t foreign[] = {
        AUDIT_ARCH_RISCV64, AUDIT_ARCH_S390X, AUDIT_ARCH_PPC64LE, AUDIT_ARCH_MIPS, 0, UINT32_MAX};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(foreign); i++)
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++)
            for (int nr = 0; nr <= ZSB_FILTER_NEWEST_REVIEWED; nr++) {
                uint32_t got = verdict(networks[n], foreign[i], nr, (struct arguments){{0}});
                ck_assert_msg((got & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO, "arch 0x%x nr %d: 0x%x",
                              foreign[i], nr, got);
            }
}
END_TEST

/* Nothing kills, traps or logs: a refusal is an errno, so that callers can fall back. */
START_TEST(no_call_is_answered_by_anything_but_allow_or_errno)
{
    static const uint64_t noises[] = {0, 1, UINT64_MAX, HIGH};
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++)
        for (int nr = -1; nr < 1024; nr++)
            for (size_t k = 0; k < ZSB_ARRAY_SIZE(noises); k++) {
                struct arguments arguments;
                for (size_t i = 0; i < 6; i++)
                    arguments.at[i] = noises[k];
                uint32_t got = verdict(networks[_i], abis[a].arch, nr, arguments);
                ck_assert_msg(got == SECCOMP_RET_ALLOW || got == refusal(EPERM) || got == refusal(ENOSYS),
                              "nr %d: 0x%x", nr, got);
            }
}
END_TEST

/* The list, by name: dropping a row from the table must fail here. */
static const char *const required[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "process_madvise",
    "perf_event_open",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "add_key",
    "request_key",
    "keyctl",
    "bpf",
    "userfaultfd",
    "setns",
    "clone3",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "swapon",
    "swapoff",
    "reboot",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "quotactl",
};

START_TEST(required_call_is_refused_whatever_its_arguments)
{
    size_t tried = 0;
    for (size_t a = 0; a < ZSB_ARRAY_SIZE(abis); a++) {
        int nr = number_in(&abis[a], required[_i]);
        if (nr < 0)
            continue;
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks); n++, tried++)
            ck_assert_msg((verdict(networks[n], abis[a].arch, nr, (struct arguments){{0}}) &
                           SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO,
                          "%s on %s", required[_i], abis[a].name);
    }
    ck_assert_msg(tried > 0, "%s is unknown to this libseccomp", required[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *tests = zsb_test_case(suite, "filter", 60);
    tcase_add_loop_test(tests, program_is_one_that_the_kernel_accepts, 0, 2);
    tcase_add_loop_test(tests, fresh_compile_equals_the_program_of_the_build, 0, 2);
    tcase_add_loop_test(tests, row_is_unique_and_documented, 0, (int)row_count());
    tcase_add_loop_test(tests, row_gives_its_errno_in_every_abi_and_network, 0, (int)row_count());
    tcase_add_loop_test(tests, what_work_needs_is_allowed, 0, (int)ZSB_ARRAY_SIZE(allowed));
    tcase_add_loop_test(tests, sockets_are_what_the_oracle_says, 0, 2 * (int)ZSB_ARRAY_SIZE(abis));
    tcase_add_test(tests, family_above_255_is_refused);
    tcase_add_loop_test(tests, upper_bits_do_not_evade, 0, (int)ZSB_ARRAY_SIZE(evasions));
    tcase_add_test(tests, every_namespace_flag_is_refused_alone);
    tcase_add_test(tests, call_newer_than_reviewed_does_not_exist);
#if defined(__x86_64__)
    tcase_add_test(tests, socket_multiplexer_is_refused_whatever_it_multiplexes);
    tcase_add_loop_test(tests, x32_numbers_are_refused, 0, 2);
#endif
    tcase_add_test(tests, foreign_architecture_is_refused_whole);
    tcase_add_loop_test(tests, no_call_is_answered_by_anything_but_allow_or_errno, 0, 2);
    tcase_add_loop_test(tests, required_call_is_refused_whatever_its_arguments, 0,
                        (int)ZSB_ARRAY_SIZE(required));
    return zsb_test_run(suite, CK_FORK);
}
