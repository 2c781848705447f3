/* SPDX-License-Identifier: MIT
 *
 * Does a symbolic link that the command plants itself carry a write outside? Where the workspace is
 * read-only, the link is planted in the private temporary directory instead.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/sp-write", 'f', NULL, 0}, {"out/sp-truncate", 'f', NULL, 0}, {"out/sp-swap", 'f', NULL, 0},
    {"out/sp-chain", 'f', NULL, 0}, {"out/sp-magic", 'f', NULL, 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int plant(struct zsb_ctx *ctx, struct zsb_kit_scratch *scratch, const char *target)
{
    int error = zsb_kit_scratch_make(ctx, scratch);
    if (error != 0)
        return error;
    return symlink(target, zsb_kit_in(scratch, "link")) < 0 ? errno : 0;
}

static int write_through(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = plant(ctx, &scratch, zsb_path(ctx, "out/sp-write"));
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "link"), O_APPEND);
}

static int truncate_through(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = plant(ctx, &scratch, zsb_path(ctx, "out/sp-truncate"));
    if (error != 0)
        return error;
    return truncate(zsb_kit_in(&scratch, "link"), 0) < 0 ? errno : 0;
}

/* A plain file, already used, is replaced by the link under the same name. */
static int swap(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = plant(ctx, &scratch, zsb_path(ctx, "out/sp-swap"));
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 && rename(zsb_kit_in(&scratch, "link"), zsb_kit_in(&scratch, "file")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "file"), O_TRUNC);
}

static int chain(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = plant(ctx, &scratch, zsb_path(ctx, "out/sp-chain"));
    if (error == 0 && symlink("link", zsb_kit_in(&scratch, "second")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "second"), O_APPEND);
}

static int magic(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    char target[PATH_MAX];
    (void)snprintf(target, sizeof(target), "/proc/self/root%.4000s", zsb_path(ctx, "out/sp-magic"));
    int error = plant(ctx, &scratch, target);
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "link"), O_APPEND);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (plant(ctx, &scratch, "file") != 0)
        return zsb_kit_benign_write(ctx);
    return zsb_kit_write(zsb_kit_in(&scratch, "link"), O_CREAT);
}

static const struct zsb_attempt attempts[] = {
    {.name = "write", .target = "out/sp-write", .run = write_through},
    {.name = "truncate", .target = "out/sp-truncate", .run = truncate_through},
    {.name = "swap", .target = "out/sp-swap", .run = swap},
    {.name = "chain", .target = "out/sp-chain", .run = chain},
    {.name = "magic", .target = "out/sp-magic", .run = magic},
};

const struct zsb_probe zsb_probe_fs_symlink_planted = {
    .id = "fs.symlink-planted",
    .claim = "A symbolic link that the command plants does not carry its writes outside.",
    .boundary = "filesystem",
    .refs = "CVE-2026-39861, CVE-2026-88968, symlink(7)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "plants a link to a file of its own and writes through it",
    ZSB_KIT_ATTEMPTS(attempts),
};
