/* SPDX-License-Identifier: MIT
 *
 * Can a command speak to a program outside through a FIFO? A read-only mount does not stop a write to one.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_plant(struct zsb_ctx *ctx, int fd)
{
    const char *plant = zsb_plant(ctx);
    return write(fd, plant, strlen(plant)) < 0 ? errno : 0;
}

static int by_path(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, "run/fifo"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? errno : write_plant(ctx, fd);
}

static int both_ways(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, "run/fifo"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? errno : write_plant(ctx, fd);
}

/* Opened for reading, which is allowed, and reopened for writing through its magic link. */
static int by_reopening(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD reader = open(zsb_path(ctx, "run/fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (reader < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", reader);
    ZSB_KIT_FD fd = open(self, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? errno : write_plant(ctx, fd);
}

/* A FIFO of one's own. */
static int benign(struct zsb_ctx *ctx)
{
    char text[64];
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error != 0)
        return error;
    const char *path = zsb_kit_in(&scratch, "fifo");
    if (mkfifo(path, 0600) < 0)
        return errno;
    ZSB_KIT_FD fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    error = fd < 0 ? errno : write_plant(ctx, fd);
    return error != 0 ? error : read(fd, text, sizeof(text)) > 0 ? 0 : EIO;
}

static const struct zsb_attempt attempts[] = {
    {.name = "by-path", .witness = ZSB_WITNESS_ACCEPT, .target = "fifo", .run = by_path},
    {.name = "both-ways", .witness = ZSB_WITNESS_ACCEPT, .target = "fifo", .run = both_ways},
    {.name = "by-reopening", .witness = ZSB_WITNESS_ACCEPT, .target = "fifo", .run = by_reopening},
};

static const int deny[] = {EACCES, EPERM, 0};

const struct zsb_probe zsb_probe_fs_fifo_outside = {
    .id = "fs.fifo-outside",
    .claim = "A command cannot write into a FIFO that a program outside reads.",
    .boundary = "filesystem",
    .refs = "fifo(7), mount(2) MS_RDONLY, landlock(7)",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "writes into a FIFO of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
