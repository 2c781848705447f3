/* SPDX-License-Identifier: MIT
 *
 * Can a command take an open descriptor out of a process outside?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int take(struct zsb_ctx *ctx)
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    ZSB_KIT_FD process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0)
        return errno;
    ZSB_KIT_FD fd = (int)syscall(SYS_pidfd_getfd, process, (int)zsb_arg_long(ctx, "victim-fd"), 0);
    return fd < 0 ? errno : zsb_kit_capture_fd(ctx, fd);
}

static int open_link(struct zsb_ctx *ctx)
{
    char path[96];
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)pid, zsb_arg_long(ctx, "victim-fd"));
    return zsb_kit_capture(ctx, path);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws/tracked.txt"), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ZSB_KIT_FD copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? errno : zsb_kit_capture_fd(ctx, copy);
}

static const struct zsb_attempt attempts[] = {
    {.name = "getfd", .witness = ZSB_WITNESS_CAPTURE, .target = "victim-fd", .run = take},
    {.name = "proc-fd", .witness = ZSB_WITNESS_CAPTURE, .target = "victim-fd", .run = open_link},
};

const struct zsb_probe zsb_probe_proc_pidfd_getfd = {
    .id = "proc.pidfd-getfd",
    .claim = "A command cannot take a descriptor out of a process outside.",
    .boundary = "process",
    .refs = "pidfd_getfd(2), proc_pid_fd(5)",
    .needs = ZSB_NEED_VICTIM | ZSB_NEED_PIDFD_GETFD,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = benign,
    .benign_claim = "duplicates a descriptor of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
