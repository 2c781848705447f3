/* SPDX-License-Identifier: MIT
 *
 * Does opening a dangling link create its target outside? (A checker that cannot canonicalise the target must
 * not fall back to the link's own path.)
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"ws/dg-relative", 'l', "../out/dg-relative", 0},
    {"ws/dg-absolute", 'l', "@out/dg-absolute", 0},
    {"ws/dg-chain-2", 'l', "../out/dg-chain", 0},
    {"ws/dg-chain", 'l', "dg-chain-2", 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int relative(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/dg-relative"), O_CREAT);
}

static int absolute(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/dg-absolute"), O_CREAT);
}

static int chain(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/dg-chain"), O_CREAT | O_TRUNC);
}

static int planted(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && symlink(zsb_path(ctx, "out/dg-planted"), zsb_kit_in(&scratch, "link")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "link"), O_CREAT);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    if (symlink("absent", zsb_kit_in(&scratch, "link")) < 0)
        return errno;
    return zsb_kit_write(zsb_kit_in(&scratch, "link"), O_CREAT);
}

static const struct zsb_attempt attempts[] = {
    {.name = "relative", .target = "out/dg-relative", .run = relative},
    {.name = "absolute", .target = "out/dg-absolute", .run = absolute},
    {.name = "chain", .target = "out/dg-chain", .run = chain},
    {.name = "planted", .target = "out/dg-planted", .run = planted},
};

const struct zsb_probe zsb_probe_fs_symlink_dangling = {
    .id = "fs.symlink-dangling",
    .claim = "Opening a dangling link does not create its target outside.",
    .boundary = "filesystem",
    .refs = "CVE-2026-32055, CVE-2026-50549, open(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "creates a file of its own through a dangling link",
    ZSB_KIT_ATTEMPTS(attempts),
};
