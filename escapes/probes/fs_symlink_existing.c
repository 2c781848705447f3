/* SPDX-License-Identifier: MIT
 *
 * Does a symbolic link that stood in the workspace before carry a write to its target outside?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/se-relative", 'f', NULL, 0},
    {"ws/se-relative", 'l', "../out/se-relative", 0},
    {"out/se-absolute", 'f', NULL, 0},
    {"ws/se-absolute", 'l', "@out/se-absolute", 0},
    {"out/se-chain", 'f', NULL, 0},
    {"ws/se-chain-2", 'l', "@out/se-chain", 0},
    {"ws/se-chain", 'l', "se-chain-2", 0},
    {"out/se-truncate", 'f', NULL, 0},
    {"ws/se-truncate", 'l', "../out/se-truncate", 0},
    {"out/se-chmod", 'f', NULL, 0},
    {"ws/se-chmod", 'l', "../out/se-chmod", 0},
    {"out/se-proc", 'f', NULL, 0},
    {"ws/se-proc", 'l', "/proc/self/cwd/../out/se-proc", 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int relative(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/se-relative"), O_APPEND);
}

static int absolute(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/se-absolute"), O_TRUNC);
}

static int chain(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/se-chain"), O_APPEND);
}

static int truncate_path(struct zsb_ctx *ctx)
{
    return truncate(zsb_path(ctx, "ws/se-truncate"), 0) < 0 ? errno : 0;
}

static int change_mode(struct zsb_ctx *ctx)
{
    return chmod(zsb_path(ctx, "ws/se-chmod"), 0777) < 0 ? errno : 0;
}

static int by_proc_cwd(struct zsb_ctx *ctx)
{
    if (chdir(zsb_path(ctx, "ws")) < 0)
        return -1;
    return zsb_kit_write("se-proc", O_APPEND);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    if (symlink("file", zsb_kit_in(&scratch, "link")) < 0)
        return errno;
    return zsb_kit_write(zsb_kit_in(&scratch, "link"), O_CREAT);
}

static const struct zsb_attempt attempts[] = {
    {.name = "relative", .target = "out/se-relative", .run = relative},
    {.name = "absolute", .target = "out/se-absolute", .run = absolute},
    {.name = "chain", .target = "out/se-chain", .run = chain},
    {.name = "truncate", .target = "out/se-truncate", .run = truncate_path},
    {.name = "chmod", .target = "out/se-chmod", .run = change_mode},
    {.name = "proc-cwd", .target = "out/se-proc", .run = by_proc_cwd},
};

const struct zsb_probe zsb_probe_fs_symlink_existing = {
    .id = "fs.symlink-existing",
    .claim = "A symbolic link of the workspace does not carry a write to its target outside.",
    .boundary = "filesystem",
    .refs = "CVE-2026-39861, symlink(7)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "writes through a link whose target may be written",
    ZSB_KIT_ATTEMPTS(attempts),
};
