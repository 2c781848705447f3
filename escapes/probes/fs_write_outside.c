/* SPDX-License-Identifier: MIT
 *
 * Can a command write, create, move or remove files outside the workspace, in either mode?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/wo-overwrite", 'f', NULL, 0}, {"out/wo-append", 'f', NULL, 0}, {"out/wo-openat2", 'f', NULL, 0},
    {"out/wo-reopen", 'f', NULL, 0},    {"out/wo-unlink", 'f', NULL, 0}, {"out/wo-rmdir", 'd', NULL, 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int overwrite(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "out/wo-overwrite"), O_TRUNC);
}

static int append(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "out/wo-append"), O_APPEND);
}

static int create(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "out/wo-create"), O_CREAT | O_EXCL);
}

static int create_at_home(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "home/wo-home"), O_CREAT | O_EXCL);
}

static int by_openat2(struct zsb_ctx *ctx)
{
    struct open_how how = {.flags = O_WRONLY | O_TRUNC | O_CLOEXEC};
    ZSB_KIT_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, zsb_path(ctx, "out/wo-openat2"), &how, sizeof(how));
    return fd < 0 ? errno : 0;
}

static int by_tmpfile(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "out"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, zsb_path(ctx, "out/wo-tmpfile"), AT_SYMLINK_FOLLOW) < 0 ? errno
                                                                                                    : 0;
}

static int by_dotdot(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/sub/../../out/wo-dotdot"), O_CREAT | O_EXCL);
}

static int by_proc_root(struct zsb_ctx *ctx)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "/proc/self/root%.4000s", zsb_path(ctx, "out/wo-proc-root"));
    return zsb_kit_write(path, O_CREAT | O_EXCL);
}

/* Through the magic link of a directory descriptor: resolution starts at the directory, not at the root. */
static int by_proc_fd(struct zsb_ctx *ctx)
{
    char path[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/../out/wo-proc-fd", fd);
    return zsb_kit_write(path, O_CREAT | O_EXCL);
}

static int reopen(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "out/wo-reopen"), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return zsb_kit_write(self, O_APPEND);
}

static int rename_in(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error != 0)
        return error;
    return rename(zsb_kit_in(&scratch, "file"), zsb_path(ctx, "out/wo-rename")) < 0 ? errno : 0;
}

static int unlink_file(struct zsb_ctx *ctx)
{
    return unlink(zsb_path(ctx, "out/wo-unlink")) < 0 ? errno : 0;
}

static int remove_directory(struct zsb_ctx *ctx)
{
    return rmdir(zsb_path(ctx, "out/wo-rmdir")) < 0 ? errno : 0;
}

static int make_directory(struct zsb_ctx *ctx)
{
    return mkdir(zsb_path(ctx, "out/wo-mkdir"), 0755) < 0 ? errno : 0;
}

static int make_link(struct zsb_ctx *ctx)
{
    return symlink("secret.txt", zsb_path(ctx, "out/wo-symlink")) < 0 ? errno : 0;
}

static int make_fifo(struct zsb_ctx *ctx)
{
    return mknod(zsb_path(ctx, "out/wo-fifo"), S_IFIFO | 0644, 0) < 0 ? errno : 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "overwrite", .target = "out/wo-overwrite", .run = overwrite},
    {.name = "append", .target = "out/wo-append", .run = append},
    {.name = "create", .target = "out/wo-create", .run = create},
    {.name = "create-at-home", .target = "home/wo-home", .run = create_at_home},
    {.name = "openat2",
     .target = "out/wo-openat2",
     .run = by_openat2,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "tmpfile",
     .target = "out/wo-tmpfile",
     .run = by_tmpfile,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "dotdot", .target = "out/wo-dotdot", .run = by_dotdot},
    {.name = "proc-root", .target = "out/wo-proc-root", .run = by_proc_root},
    {.name = "proc-fd", .target = "out/wo-proc-fd", .run = by_proc_fd},
    {.name = "reopen", .target = "out/wo-reopen", .run = reopen},
    {.name = "rename-in", .target = "out/wo-rename", .run = rename_in},
    {.name = "unlink", .target = "out/wo-unlink", .run = unlink_file},
    {.name = "rmdir", .target = "out/wo-rmdir", .run = remove_directory},
    {.name = "mkdir", .target = "out/wo-mkdir", .run = make_directory},
    {.name = "symlink", .target = "out/wo-symlink", .run = make_link},
    {.name = "fifo", .target = "out/wo-fifo", .run = make_fifo},
};

const struct zsb_probe zsb_probe_fs_write_outside = {
    .id = "fs.write-outside",
    .claim = "A command cannot create, change, move or remove anything outside the workspace.",
    .boundary = "filesystem",
    .refs = "CVE-2025-59532, open(2), openat2(2), rename(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = zsb_kit_benign_write,
    .benign_claim = "writes and reads back a file where this mode may write",
    ZSB_KIT_ATTEMPTS(attempts),
};
