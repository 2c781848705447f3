/* SPDX-License-Identifier: MIT
 *
 * Can a command in read-only mode change the workspace in any way?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"ws/ww-truncate", 'f', NULL, 0}, {"ws/ww-reopen", 'f', NULL, 0},      {"ws/ww-openat2", 'f', NULL, 0},
    {"ws/ww-unlink", 'f', NULL, 0},   {"ws/ww-rename-from", 'f', NULL, 0}, {"ws/ww-chmod", 'f', NULL, 0},
};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int overwrite(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/tracked.txt"), O_TRUNC);
}

static int append(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/sub/file.txt"), O_APPEND);
}

static int create(struct zsb_ctx *ctx)
{
    return zsb_kit_write(zsb_path(ctx, "ws/ww-create"), O_CREAT | O_EXCL);
}

static int by_openat2(struct zsb_ctx *ctx)
{
    struct open_how how = {.flags = O_WRONLY | O_TRUNC | O_CLOEXEC};
    ZSB_KIT_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, zsb_path(ctx, "ws/ww-openat2"), &how, sizeof(how));
    return fd < 0 ? errno : 0;
}

static int by_tmpfile(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, zsb_path(ctx, "ws/ww-tmpfile"), AT_SYMLINK_FOLLOW) < 0 ? errno
                                                                                                   : 0;
}

static int truncate_path(struct zsb_ctx *ctx)
{
    return truncate(zsb_path(ctx, "ws/ww-truncate"), 0) < 0 ? errno : 0;
}

/* A descriptor opened for reading, opened again for writing through its magic link. */
static int reopen(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "ws/ww-reopen"), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return zsb_kit_write(self, O_APPEND);
}

static int unlink_file(struct zsb_ctx *ctx)
{
    return unlink(zsb_path(ctx, "ws/ww-unlink")) < 0 ? errno : 0;
}

static int rename_file(struct zsb_ctx *ctx)
{
    return rename(zsb_path(ctx, "ws/ww-rename-from"), zsb_path(ctx, "ws/ww-rename-to")) < 0 ? errno : 0;
}

static int make_directory(struct zsb_ctx *ctx)
{
    return mkdir(zsb_path(ctx, "ws/ww-mkdir"), 0755) < 0 ? errno : 0;
}

static int make_link(struct zsb_ctx *ctx)
{
    return symlink("tracked.txt", zsb_path(ctx, "ws/ww-symlink")) < 0 ? errno : 0;
}

static int make_fifo(struct zsb_ctx *ctx)
{
    return mknod(zsb_path(ctx, "ws/ww-fifo"), S_IFIFO | 0644, 0) < 0 ? errno : 0;
}

static int change_mode(struct zsb_ctx *ctx)
{
    return chmod(zsb_path(ctx, "ws/ww-chmod"), 0777) < 0 ? errno : 0;
}

static int by_proc_root(struct zsb_ctx *ctx)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "/proc/self/root%.4000s", zsb_path(ctx, "ws/ww-proc-root"));
    return zsb_kit_write(path, O_CREAT | O_EXCL);
}

static const struct zsb_attempt attempts[] = {
    {.name = "overwrite", .target = "ws/tracked.txt", .run = overwrite},
    {.name = "append", .target = "ws/sub/file.txt", .run = append},
    {.name = "create", .target = "ws/ww-create", .run = create},
    {.name = "openat2",
     .target = "ws/ww-openat2",
     .run = by_openat2,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "tmpfile",
     .target = "ws/ww-tmpfile",
     .run = by_tmpfile,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "truncate", .target = "ws/ww-truncate", .run = truncate_path},
    {.name = "reopen", .target = "ws/ww-reopen", .run = reopen},
    {.name = "unlink", .target = "ws/ww-unlink", .run = unlink_file},
    {.name = "rename", .target = "ws/ww-rename-from", .run = rename_file},
    {.name = "mkdir", .target = "ws/ww-mkdir", .run = make_directory},
    {.name = "symlink", .target = "ws/ww-symlink", .run = make_link},
    {.name = "fifo", .target = "ws/ww-fifo", .run = make_fifo},
    {.name = "chmod", .target = "ws/ww-chmod", .run = change_mode},
    {.name = "proc-root", .target = "ws/ww-proc-root", .run = by_proc_root},
};

const struct zsb_probe zsb_probe_fs_write_workspace = {
    .id = "fs.write-workspace",
    .claim = "In read-only mode a command cannot change anything in the workspace.",
    .boundary = "filesystem",
    .refs = "open(2), openat2(2), linkat(2), proc_pid_fd(5)",
    .modes = ZSB_IN_READ_ONLY,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = zsb_kit_benign_write,
    .benign_claim = "writes and reads back a file in the private temporary directory",
    ZSB_KIT_ATTEMPTS(attempts),
};
