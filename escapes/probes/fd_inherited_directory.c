/* SPDX-License-Identifier: MIT
 *
 * Does a command inherit a directory that its caller happened to have open, and with it all that lies below?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define INSIDE "inside.txt"

static const int deny[] = {EBADF, ENOENT, EACCES, EPERM, ENOTDIR, ENXIO, 0};

static int by_number(struct zsb_ctx *ctx)
{
    long fd = zsb_arg_long(ctx, "fd-dir");
    return fd < 0 ? -1 : zsb_kit_capture_at(ctx, (int)fd, INSIDE);
}

static int by_link(struct zsb_ctx *ctx)
{
    char path[96];
    long fd = zsb_arg_long(ctx, "fd-dir");
    if (fd < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%ld/" INSIDE, fd);
    return zsb_kit_capture(ctx, path);
}

static int by_fchdir(struct zsb_ctx *ctx)
{
    long fd = zsb_arg_long(ctx, "fd-dir");
    ZSB_KIT_FD back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || back < 0)
        return -1;
    if (fchdir((int)fd) < 0)
        return errno;
    int error = zsb_kit_capture(ctx, INSIDE);
    return fchdir(back) < 0 ? -1 : error;
}

static int read_one(struct zsb_ctx *ctx, int fd)
{
    return zsb_kit_capture_at(ctx, fd, INSIDE);
}

static int by_scan(struct zsb_ctx *ctx)
{
    return zsb_kit_each_descriptor(ctx, read_one);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? errno : zsb_kit_capture_at(ctx, fd, "tracked.txt");
}

static const struct zsb_attempt attempts[] = {
    {.name = "number", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-dir", .run = by_number},
    {.name = "proc-link", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-dir", .run = by_link},
    {.name = "fchdir", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-dir", .run = by_fchdir},
    {.name = "scan", .witness = ZSB_WITNESS_CAPTURE, .target = "fd-dir", .run = by_scan, .effect_only = true},
};

const struct zsb_probe zsb_probe_fd_inherited_directory = {
    .id = "fd.inherited-directory",
    .claim = "A command does not inherit directories that its caller has open.",
    .boundary = "descriptor",
    .refs = "close_range(2), openat(2), fchdir(2)",
    .needs = ZSB_NEED_INHERITED_FDS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "reads below a directory that it opened itself",
    ZSB_KIT_ATTEMPTS(attempts),
};
