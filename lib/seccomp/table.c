/* SPDX-License-Identifier: MIT */
#include "lib/seccomp/filter.h"
#include "lib/util/util.h"

#include <sched.h>
#include <sys/socket.h>

/* Not in every libc header. */
#define FLAG_CLONE_NEWTIME 0x80u
#define FLAG_CLONE_NEWCGROUP 0x02000000u
#define REQUEST_TIOCSTI 0x5412u
#define REQUEST_TIOCLINUX 0x541cu
#define SOCKET_TYPE_MASK 0xfu /* linux/net.h SOCK_TYPE_MASK: the rest are flags */
#define LOW32 0xffffffffu

/* Rows by shape, so that the table below reads as data. */
#define CALL(name, act, why)                                                                                 \
    {                                                                                                        \
        .syscall = name, .action = act, .networks = ZSB_FILTER_ALWAYS, .reason = why                         \
    }
#define CALL_IN(name, nets, act, why)                                                                        \
    {                                                                                                        \
        .syscall = name, .action = act, .networks = nets, .reason = why                                      \
    }
#define NUMBER(name, nr, act, why)                                                                           \
    {                                                                                                        \
        .syscall = name, .number = nr, .action = act, .networks = ZSB_FILTER_ALWAYS, .reason = why           \
    }
#define FLAG(name, index, bit, why)                                                                          \
    {                                                                                                        \
        .syscall = name, .action = ZSB_FILTER_EPERM, .networks = ZSB_FILTER_ALWAYS,                          \
        .match = ZSB_MATCH_MASKED, .masked = {{index, bit, bit}}, .masked_count = 1, .reason = why           \
    }
#define EQUAL(name, index, number_value, why)                                                                \
    {                                                                                                        \
        .syscall = name, .action = ZSB_FILTER_EPERM, .networks = ZSB_FILTER_ALWAYS,                          \
        .match = ZSB_MATCH_MASKED, .masked = {{index, LOW32, number_value}}, .masked_count = 1,              \
        .reason = why                                                                                        \
    }
#define BOTH(name, nets, m0, v0, a1, m1, v1, why)                                                            \
    {                                                                                                        \
        .syscall = name, .action = ZSB_FILTER_EPERM, .networks = nets, .match = ZSB_MATCH_MASKED,            \
        .masked = {{0, m0, v0}, {a1, m1, v1}}, .masked_count = 2, .reason = why                              \
    }
#define FAMILY_NOT_IN(name, nets, set, why)                                                                  \
    {                                                                                                        \
        .syscall = name, .action = ZSB_FILTER_EPERM, .networks = nets, .match = ZSB_MATCH_NOT_IN,            \
        .masked = {{0, LOW32, 0}}, .masked_count = 1, .allowed = set, .allowed_count = ZSB_ARRAY_SIZE(set),  \
        .reason = why                                                                                        \
    }

static const uint32_t families_denied_network[] = {AF_UNIX, AF_NETLINK};
static const uint32_t families_allowed_network[] = {AF_INET, AF_INET6, AF_NETLINK};
static const uint32_t own_process[] = {0};
static const uint32_t families_pair[] = {AF_UNIX};

static const char why_inspect[] = "reads or steers another process; escape path named by the roadmap";
static const char why_ring[] =
    "submits calls that no filter sees (io_uring); libuv and tokio fall back on ENOSYS";
static const char why_key[] =
    "kernel keyrings are not namespaced: keys of the host session would be reachable";
static const char why_mount[] =
    "would rearrange the view (CVE-2021-41133); masks and read-only mounts must stay";
static const char why_new_mount[] =
    "new mount API; callers fall back to mount(2), which is refused (CVE-2021-41133)";
static const char why_ns[] =
    "a nested namespace gives capabilities over new kernel surface (CVE-2022-0185 and kin)";
static const char why_module[] = "loads code into the kernel";
static const char why_boot[] = "replaces or stops the kernel";
static const char why_clock[] = "changes the host clock";
static const char why_quota[] = "changes host storage accounting";
static const char why_surface[] = "kernel attack surface with no use in a sandboxed build";
static const char why_raw[] = "raw hardware access";
static const char why_dgram[] =
    "a unix datagram socket reaches any outside socket by address in sendto/sendmsg/sendmmsg";
static const struct zsb_filter_row rows[] = {
    /* process inspection */
    CALL("ptrace", ZSB_FILTER_EPERM, why_inspect),
    CALL("process_vm_readv", ZSB_FILTER_EPERM, why_inspect),
    CALL("process_vm_writev", ZSB_FILTER_EPERM, why_inspect),
    NUMBER("pidfd_getfd", 438, ZSB_FILTER_EPERM, why_inspect),
    CALL("kcmp", ZSB_FILTER_EPERM, why_inspect),
    NUMBER("process_madvise", 440, ZSB_FILTER_EPERM, why_inspect),
    NUMBER("process_mrelease", 448, ZSB_FILTER_EPERM, why_inspect),
    {.syscall = "prlimit64",
     .action = ZSB_FILTER_EPERM,
     .networks = ZSB_FILTER_ALWAYS,
     .match = ZSB_MATCH_NOT_IN,
     .masked = {{0, LOW32, 0}},
     .masked_count = 1,
     .allowed = own_process,
     .allowed_count = ZSB_ARRAY_SIZE(own_process),
     .reason = "limits of another process: starving PID 1 would make the sandbox look broken"},
    CALL("perf_event_open", ZSB_FILTER_EPERM, why_inspect),
    CALL("lookup_dcookie", ZSB_FILTER_EPERM, why_inspect),
    /* io_uring */
    NUMBER("io_uring_setup", 425, ZSB_FILTER_ENOSYS, why_ring),
    NUMBER("io_uring_enter", 426, ZSB_FILTER_ENOSYS, why_ring),
    NUMBER("io_uring_register", 427, ZSB_FILTER_ENOSYS, why_ring),
    /* keyring */
    CALL("add_key", ZSB_FILTER_EPERM, why_key),
    CALL("request_key", ZSB_FILTER_EPERM, why_key),
    CALL("keyctl", ZSB_FILTER_EPERM, why_key),
    /* kernel programs and fault handling */
    CALL("bpf", ZSB_FILTER_EPERM, why_surface),
    CALL("userfaultfd", ZSB_FILTER_EPERM, "stalls the kernel at chosen points; used to win races"),
    CALL("fanotify_init", ZSB_FILTER_EPERM, "watches files of the whole mount"),
    CALL("modify_ldt", ZSB_FILTER_EPERM, why_surface),
    CALL("vm86", ZSB_FILTER_EPERM, why_surface),
    CALL("vm86old", ZSB_FILTER_EPERM, why_surface),
    /* namespaces */
    FLAG("clone", 0, CLONE_NEWNS, why_ns),
    FLAG("clone", 0, FLAG_CLONE_NEWCGROUP, why_ns),
    FLAG("clone", 0, CLONE_NEWUTS, why_ns),
    FLAG("clone", 0, CLONE_NEWIPC, why_ns),
    FLAG("clone", 0, CLONE_NEWUSER, why_ns),
    FLAG("clone", 0, CLONE_NEWPID, why_ns),
    FLAG("clone", 0, CLONE_NEWNET, why_ns),
    FLAG("unshare", 0, CLONE_NEWNS, why_ns),
    FLAG("unshare", 0, FLAG_CLONE_NEWCGROUP, why_ns),
    FLAG("unshare", 0, CLONE_NEWUTS, why_ns),
    FLAG("unshare", 0, CLONE_NEWIPC, why_ns),
    FLAG("unshare", 0, CLONE_NEWUSER, why_ns),
    FLAG("unshare", 0, CLONE_NEWPID, why_ns),
    FLAG("unshare", 0, CLONE_NEWNET, why_ns),
    FLAG("unshare", 0, FLAG_CLONE_NEWTIME, why_ns),
    CALL("setns", ZSB_FILTER_EPERM, why_ns),
    NUMBER("clone3", 435, ZSB_FILTER_ENOSYS,
           "flags stand in memory, out of the filter's sight; libc falls back to clone"),
    /* mounts, old and new API */
    CALL("mount", ZSB_FILTER_EPERM, why_mount),
    CALL("umount", ZSB_FILTER_EPERM, why_mount),
    CALL("umount2", ZSB_FILTER_EPERM, why_mount),
    CALL("pivot_root", ZSB_FILTER_EPERM, why_mount),
    CALL("chroot", ZSB_FILTER_EPERM, why_mount),
    NUMBER("open_tree", 428, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("move_mount", 429, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("fsopen", 430, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("fsconfig", 431, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("fsmount", 432, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("fspick", 433, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("mount_setattr", 442, ZSB_FILTER_ENOSYS, why_new_mount),
    NUMBER("statmount", 457, ZSB_FILTER_ENOSYS, "describes mounts; callers fall back to mountinfo"),
    NUMBER("listmount", 458, ZSB_FILTER_ENOSYS, "describes mounts; callers fall back to mountinfo"),
    NUMBER("open_tree_attr", 467, ZSB_FILTER_ENOSYS, why_new_mount),
    CALL("open_by_handle_at", ZSB_FILTER_EPERM, "opens files by guessed handle, past every mount (Shocker)"),
    /* terminal */
    EQUAL("ioctl", 1, REQUEST_TIOCSTI,
          "types into the caller's terminal (CVE-2017-5226); kernels compare 32 bits "
          "(CVE-2019-10063)"),
    EQUAL("ioctl", 1, REQUEST_TIOCLINUX, "pastes into a console (CVE-2023-28100)"),
    /* modules, boot, swap */
    CALL("init_module", ZSB_FILTER_EPERM, why_module),
    CALL("finit_module", ZSB_FILTER_EPERM, why_module),
    CALL("delete_module", ZSB_FILTER_EPERM, why_module),
    CALL("create_module", ZSB_FILTER_EPERM, why_module),
    CALL("query_module", ZSB_FILTER_EPERM, why_module),
    CALL("get_kernel_syms", ZSB_FILTER_EPERM, why_module),
    CALL("kexec_load", ZSB_FILTER_EPERM, why_boot),
    CALL("kexec_file_load", ZSB_FILTER_EPERM, why_boot),
    CALL("reboot", ZSB_FILTER_EPERM, why_boot),
    CALL("swapon", ZSB_FILTER_EPERM, why_quota),
    CALL("swapoff", ZSB_FILTER_EPERM, why_quota),
    /* clock and quota */
    CALL("settimeofday", ZSB_FILTER_EPERM, why_clock),
    CALL("stime", ZSB_FILTER_EPERM, why_clock),
    CALL("clock_settime", ZSB_FILTER_EPERM, why_clock),
    CALL("clock_settime64", ZSB_FILTER_EPERM, why_clock),
    CALL("adjtimex", ZSB_FILTER_EPERM, why_clock),
    CALL("clock_adjtime", ZSB_FILTER_EPERM, why_clock),
    CALL("clock_adjtime64", ZSB_FILTER_EPERM, why_clock),
    CALL("quotactl", ZSB_FILTER_EPERM, why_quota),
    NUMBER("quotactl_fd", 443, ZSB_FILTER_EPERM, why_quota),
    CALL("acct", ZSB_FILTER_EPERM, why_quota),
    /* hardware and relics */
    CALL("iopl", ZSB_FILTER_EPERM, why_raw),
    CALL("ioperm", ZSB_FILTER_EPERM, why_raw),
    CALL("syslog", ZSB_FILTER_EPERM, "reads the kernel log of the host"),
    CALL("vhangup", ZSB_FILTER_EPERM, "hangs up the caller's terminal"),
    CALL("nfsservctl", ZSB_FILTER_EPERM, why_surface),
    CALL("uselib", ZSB_FILTER_EPERM, why_surface),
    CALL("ustat", ZSB_FILTER_EPERM, why_surface),
    CALL("sysfs", ZSB_FILTER_EPERM, why_surface),
    CALL("_sysctl", ZSB_FILTER_EPERM, why_surface),
    /* sockets */
    FAMILY_NOT_IN(
        "socket",
        ZSB_FILTER_DENIED, families_denied_network,
        "network denied: only local stream sockets, and NETLINK_ROUTE so that getifaddrs() answers"),
    FAMILY_NOT_IN("socket", ZSB_FILTER_ALLOWED, families_allowed_network,
                  "network allowed: TCP, UDP and NETLINK_ROUTE; with AF_UNIX every outside socket (a "
                  "container engine's) "
                  "would be one connect() away, and vsock reaches the hypervisor"),
    BOTH("socket", ZSB_FILTER_DENIED, LOW32, AF_UNIX, 1, SOCKET_TYPE_MASK, SOCK_DGRAM, why_dgram),
    BOTH("socket", ZSB_FILTER_DENIED, LOW32, AF_UNIX, 1, SOCKET_TYPE_MASK, SOCK_RAW,
         "the kernel makes it a datagram one"),
    /* Protocols are below 32 (MAX_LINKS), so five bits say "not NETLINK_ROUTE". */
    BOTH("socket", ZSB_FILTER_ALWAYS, LOW32, AF_NETLINK, 2, 1u << 0, 1u << 0, "netlink beyond NETLINK_ROUTE"),
    BOTH("socket", ZSB_FILTER_ALWAYS, LOW32, AF_NETLINK, 2, 1u << 1, 1u << 1, "netlink beyond NETLINK_ROUTE"),
    BOTH("socket", ZSB_FILTER_ALWAYS, LOW32, AF_NETLINK, 2, 1u << 2, 1u << 2, "netlink beyond NETLINK_ROUTE"),
    BOTH("socket", ZSB_FILTER_ALWAYS, LOW32, AF_NETLINK, 2, 1u << 3, 1u << 3, "netlink beyond NETLINK_ROUTE"),
    BOTH("socket", ZSB_FILTER_ALWAYS, LOW32, AF_NETLINK, 2, 1u << 4, 1u << 4, "netlink beyond NETLINK_ROUTE"),
    FAMILY_NOT_IN("socketpair", ZSB_FILTER_ALWAYS, families_pair, "only unix pairs (TIPC has pairs, too)"),
    BOTH("socketpair", ZSB_FILTER_ALWAYS, LOW32, AF_UNIX, 1, SOCKET_TYPE_MASK, SOCK_DGRAM, why_dgram),
    BOTH("socketpair", ZSB_FILTER_ALWAYS, LOW32, AF_UNIX, 1, SOCKET_TYPE_MASK, SOCK_RAW,
         "the kernel makes it a datagram one"),
    CALL_IN("connect", ZSB_FILTER_DENIED, ZSB_FILTER_EPERM,
            "read-only mounts do not stop connect() to a pathname socket (docker.sock, systemd, ssh-agent)"),
    CALL("socketcall", ZSB_FILTER_EPERM,
         "multiplexer whose arguments stand in memory, out of the filter's sight"),
};

const struct zsb_filter_row *zsb_filter_row_at(size_t index)
{
    return index < ZSB_ARRAY_SIZE(rows) ? &rows[index] : NULL;
}
