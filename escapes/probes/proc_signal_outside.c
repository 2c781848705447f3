/* SPDX-License-Identifier: MIT
 *
 * Can a command send a signal to a process outside? Each way sends a signal of its own, so that the victim
 * can tell. kill(-1) is left out on purpose: unconfined it would reach everything this user runs.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int absent_pidfd[] = {ENOSYS, 0};

static int by_kill(struct zsb_ctx *ctx)
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    return kill(pid, SIGUSR1) < 0 ? errno : 0;
}

static int by_tgkill(struct zsb_ctx *ctx)
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    return syscall(SYS_tgkill, pid, pid, SIGUSR2) < 0 ? errno : 0;
}

static int by_sigqueue(struct zsb_ctx *ctx)
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = SIGWINCH;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    return syscall(SYS_rt_sigqueueinfo, pid, SIGWINCH, &info) < 0 ? errno : 0;
}

static int by_pidfd(struct zsb_ctx *ctx)
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    ZSB_KIT_FD fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno;
    return syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0) < 0 ? errno : 0;
}

/* The kernel sends it, on behalf of the owner of the descriptor. */
static int by_owner(struct zsb_ctx *ctx)
{
    int pair[2];
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    ZSB_KIT_FD reader = pair[0];
    ZSB_KIT_FD writer = pair[1];
    if (fcntl(reader, F_SETOWN, pid) < 0 || fcntl(reader, F_SETFL, O_ASYNC) < 0)
        return errno;
    return send(writer, "x", 1, MSG_NOSIGNAL) < 0 ? errno : 0;
}

static volatile sig_atomic_t received;

static void note(int number)
{
    received = number;
}

static int benign(struct zsb_ctx *ctx)
{
    (void)ctx;
    struct sigaction action = {.sa_handler = note};
    if (sigaction(SIGUSR1, &action, NULL) < 0 || kill(getpid(), SIGUSR1) < 0)
        return errno;
    return received == SIGUSR1 ? 0 : EIO;
}

static const struct zsb_attempt attempts[] = {
    {.name = "kill", .witness = ZSB_WITNESS_SIGNAL, .target = "USR1", .run = by_kill},
    {.name = "tgkill", .witness = ZSB_WITNESS_SIGNAL, .target = "USR2", .run = by_tgkill},
    {.name = "sigqueue", .witness = ZSB_WITNESS_SIGNAL, .target = "WINCH", .run = by_sigqueue},
    {.name = "pidfd",
     .witness = ZSB_WITNESS_SIGNAL,
     .target = "URG",
     .run = by_pidfd,
     .absent_errnos = absent_pidfd},
    /* Sent later and by the kernel, which does not tell when it may not. */
    {.name = "descriptor-owner",
     .witness = ZSB_WITNESS_SIGNAL,
     .target = "IO",
     .run = by_owner,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_proc_signal_outside = {
    .id = "proc.signal-outside",
    .claim = "A command cannot send a signal to a process outside.",
    .boundary = "process",
    .refs = "kill(2), tgkill(2), rt_sigqueueinfo(2), pidfd_send_signal(2), F_SETOWN(2const)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = benign,
    .benign_claim = "signals itself",
    ZSB_KIT_ATTEMPTS(attempts),
};
