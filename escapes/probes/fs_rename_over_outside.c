/* SPDX-License-Identifier: MIT
 *
 * Can a command replace something outside by renaming over it, or move it away?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/rn-over", 'f', NULL, 0},     {"out/rn-exchange", 'f', NULL, 0}, {"out/rn-directory", 'd', NULL, 0},
    {"out/rn-sideways", 'f', NULL, 0}, {"out/rn-away", 'f', NULL, 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int rename_file_to(struct zsb_ctx *ctx, const char *target, unsigned flags)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 &&
        renameat2(AT_FDCWD, zsb_kit_in(&scratch, "file"), AT_FDCWD, zsb_path(ctx, target), flags) < 0)
        error = errno;
    return error;
}

static int over(struct zsb_ctx *ctx)
{
    return rename_file_to(ctx, "out/rn-over", 0);
}

static int exchange(struct zsb_ctx *ctx)
{
    return rename_file_to(ctx, "out/rn-exchange", RENAME_EXCHANGE);
}

static int directory_over(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && mkdir(zsb_kit_in(&scratch, "directory"), 0700) < 0)
        error = errno;
    if (error == 0 && rename(zsb_kit_in(&scratch, "directory"), zsb_path(ctx, "out/rn-directory")) < 0)
        error = errno;
    return error;
}

/* Both names outside, so that no mount boundary lies between them. */
static int sideways(struct zsb_ctx *ctx)
{
    return rename(zsb_path(ctx, "out/rn-sideways"), zsb_path(ctx, "out/rn-sideways-to")) < 0 ? errno : 0;
}

static int away(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && rename(zsb_path(ctx, "out/rn-away"), zsb_kit_in(&scratch, "taken")) < 0)
        error = errno;
    return error;
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    int error = zsb_kit_write(zsb_kit_in(&scratch, "one"), O_CREAT | O_EXCL);
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "two"), O_CREAT | O_EXCL);
    if (error == 0 && rename(zsb_kit_in(&scratch, "one"), zsb_kit_in(&scratch, "two")) < 0)
        error = errno;
    return error;
}

static const struct zsb_attempt attempts[] = {
    {.name = "over", .target = "out/rn-over", .run = over},
    {.name = "exchange",
     .target = "out/rn-exchange",
     .run = exchange,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "directory", .target = "out/rn-directory", .run = directory_over},
    {.name = "sideways", .target = "out/rn-sideways", .run = sideways},
    {.name = "away", .target = "out/rn-away", .run = away},
};

const struct zsb_probe zsb_probe_fs_rename_over_outside = {
    .id = "fs.rename-over-outside",
    .claim = "A command cannot replace or move anything outside by renaming.",
    .boundary = "filesystem",
    .refs = "rename(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "renames a file of its own over another",
    ZSB_KIT_ATTEMPTS(attempts),
};
