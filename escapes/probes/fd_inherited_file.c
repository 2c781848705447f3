/* SPDX-License-Identifier: MIT
 *
 * Does a command inherit a file that its caller happened to have open?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static const int deny[] = {EBADF, ENOENT, EACCES, EPERM, ENODATA, ENXIO, 0};

static int by_number(struct zsb_ctx *ctx)
{
    long fd = zsb_arg_long(ctx, "fd-file");
    return fd < 0 ? -1 : zsb_kit_capture_fd(ctx, (int)fd);
}

static int by_link(struct zsb_ctx *ctx)
{
    char self[64];
    long fd = zsb_arg_long(ctx, "fd-file");
    if (fd < 0)
        return -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%ld", fd);
    return zsb_kit_capture(ctx, self);
}

static int read_one(struct zsb_ctx *ctx, int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLIN) == 0)
        return EAGAIN;
    return zsb_kit_capture_fd(ctx, fd);
}

/* Whatever is open, without knowing a number. A launcher may leave harmless ones: only the captured flag
 * counts. */
static int by_scan(struct zsb_ctx *ctx)
{
    return zsb_kit_each_descriptor(ctx, read_one);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws/tracked.txt"), O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : zsb_kit_capture_fd(ctx, fd);
}

static const struct zsb_attempt attempts[] = {
    {.name = "number", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-file", .run = by_number},
    {.name = "proc-link", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-file", .run = by_link},
    {.name = "scan",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "fd-file",
     .run = by_scan,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_fd_inherited_file = {
    .id = "fd.inherited-file",
    .claim = "A command does not inherit files that its caller has open.",
    .boundary = "descriptor",
    .refs = "close_range(2), proc_pid_fd(5)",
    .needs = ZSB_NEED_INHERITED_FDS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "reads a descriptor that it opened itself",
    ZSB_KIT_ATTEMPTS(attempts),
};
