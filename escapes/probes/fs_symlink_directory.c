/* SPDX-License-Identifier: MIT
 *
 * Does a symbolic link to a directory outside, found or planted, let a command work inside that directory?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/sd", 'd', NULL, 0},
    {"ws/sd-link", 'l', "../out/sd", 0},
    {"out/sd/overwrite", 'f', NULL, 0},
    {"out/sd/unlink", 'f', NULL, 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int overwrite(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/sd-link/overwrite"), O_TRUNC);
}

static int create(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/sd-link/create"), O_CREAT | O_EXCL);
}

static int make_directory(struct zsb_ctx *ctx)
{
    return mkdir(zsb_path(ctx, "ws/sd-link/mkdir"), 0755) < 0 ? errno : 0;
}

static int unlink_file(struct zsb_ctx *ctx)
{
    return unlink(zsb_path(ctx, "ws/sd-link/unlink")) < 0 ? errno : 0;
}

/* The link is followed once, by chdir; the write then has no link in its path. */
static int by_chdir(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (chdir(zsb_path(ctx, "ws/sd-link")) < 0)
        return errno;
    int error = zsb_kit_write("chdir", O_CREAT | O_EXCL);
    return back >= 0 && fchdir(back) < 0 ? -1 : error;
}

static int planted(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && symlink(zsb_path(ctx, "out/sd"), zsb_kit_in(&scratch, "link")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "link/planted"), O_CREAT | O_EXCL);
}

static int planted_rename(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && symlink(zsb_path(ctx, "out/sd"), zsb_kit_in(&scratch, "link")) < 0)
        error = errno;
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 && rename(zsb_kit_in(&scratch, "file"), zsb_kit_in(&scratch, "link/renamed")) < 0)
        error = errno;
    return error;
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    if (symlink(".", zsb_kit_in(&scratch, "link")) < 0)
        return errno;
    return zsb_kit_write(zsb_kit_in(&scratch, "link/file"), O_CREAT | O_EXCL);
}

static const struct zsb_attempt attempts[] = {
    {.name = "overwrite", .target = "out/sd/overwrite", .run = overwrite},
    {.name = "create", .target = "out/sd/create", .run = create},
    {.name = "mkdir", .target = "out/sd/mkdir", .run = make_directory},
    {.name = "unlink", .target = "out/sd/unlink", .run = unlink_file},
    {.name = "chdir", .target = "out/sd/chdir", .run = by_chdir},
    {.name = "planted", .target = "out/sd/planted", .run = planted},
    {.name = "planted-rename", .target = "out/sd/renamed", .run = planted_rename},
};

const struct zsb_probe zsb_probe_fs_symlink_directory = {
    .id = "fs.symlink-directory",
    .claim = "A symbolic link to a directory outside does not open that directory for writing.",
    .boundary = "filesystem",
    .refs = "CVE-2026-39861, path_resolution(7)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "creates a file through a directory link of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
