/* SPDX-License-Identifier: MIT
 *
 * Can a command read what the policy denies: a file, a file in a denied directory, a denied directory inside
 * the workspace; also through links, second names, moves and magic links?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_file(struct zsb_ctx *ctx)
{
    return zsb_kit_capture(ctx, zsb_path(ctx, "deny/file"));
}

static int read_in_directory(struct zsb_ctx *ctx)
{
    return zsb_kit_capture(ctx, zsb_path(ctx, "deny/dir/secret"));
}

static int read_in_workspace(struct zsb_ctx *ctx)
{
    return zsb_kit_capture(ctx, zsb_path(ctx, "ws/private/secret"));
}

/* Without knowing a name: whatever the directory lists is opened. */
static int by_listing(struct zsb_ctx *ctx)
{
    DIR *dir = opendir(zsb_path(ctx, "deny/dir"));
    if (dir == NULL)
        return errno;
    int error = ENODATA;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (entry->d_name[0] != '.')
            error = zsb_kit_capture_at(ctx, dirfd(dir), entry->d_name);
    (void)closedir(dir);
    return error;
}

static int by_openat2(struct zsb_ctx *ctx)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    ZSB_KIT_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, zsb_path(ctx, "deny/file"), &how, sizeof(how));
    return fd < 0 ? errno : zsb_kit_capture_fd(ctx, fd);
}

/* O_PATH asks for no permission on the file; the magic link opens it afterwards. */
static int by_path_descriptor(struct zsb_ctx *ctx)
{
    char self[64];
    ZSB_KIT_FD fd = open(zsb_path(ctx, "deny/file"), O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return zsb_kit_capture(ctx, self);
}

static int by_proc_root(struct zsb_ctx *ctx)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "/proc/self/root%.4000s", zsb_path(ctx, "deny/file"));
    return zsb_kit_capture(ctx, path);
}

static int through_link(struct zsb_ctx *ctx, const char *target, const char *below)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && symlink(zsb_path(ctx, target), zsb_kit_in(&scratch, "link")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_capture(ctx, zsb_kit_in(&scratch, below));
}

static int by_symlink(struct zsb_ctx *ctx)
{
    return through_link(ctx, "deny/file", "link");
}

static int by_directory_symlink(struct zsb_ctx *ctx)
{
    return through_link(ctx, "deny/dir", "link/secret");
}

static int by_hardlink(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && link(zsb_path(ctx, "deny/file"), zsb_kit_in(&scratch, "alias")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_capture(ctx, zsb_kit_in(&scratch, "alias"));
}

/* The denied directory is moved to a name that no rule knows, read there, and put back. */
static int by_move(struct zsb_ctx *ctx, const char *from, const char *to, const char *secret)
{
    if (rename(zsb_path(ctx, from), zsb_path(ctx, to)) < 0)
        return errno;
    int error = zsb_kit_capture(ctx, zsb_path(ctx, secret));
    return rename(zsb_path(ctx, to), zsb_path(ctx, from)) < 0 ? -1 : error;
}

static int by_moving_denied(struct zsb_ctx *ctx)
{
    return by_move(ctx, "ws/private", "ws/dr-moved", "ws/dr-moved/secret");
}

static int by_moving_parent(struct zsb_ctx *ctx)
{
    return by_move(ctx, "deny", "dr-moved", "dr-moved/dir/secret");
}

static const struct zsb_attempt attempts[] = {
    {.name = "file", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-file", .run = read_file},
    {.name = "directory", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-dir", .run = read_in_directory},
    {.name = "workspace", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-ws", .run = read_in_workspace},
    {.name = "listing", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-dir", .run = by_listing},
    {.name = "openat2",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "deny-file",
     .run = by_openat2,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "path-descriptor",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "deny-file",
     .run = by_path_descriptor},
    {.name = "proc-root", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-file", .run = by_proc_root},
    {.name = "symlink", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-file", .run = by_symlink},
    {.name = "directory-symlink",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "deny-dir",
     .run = by_directory_symlink},
    {.name = "hardlink", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-file", .run = by_hardlink},
    {.name = "move-denied", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-ws", .run = by_moving_denied},
    {.name = "move-parent", .witness = ZSB_WITNESS_CAPTURE, .target = "deny-dir", .run = by_moving_parent},
};

const struct zsb_probe zsb_probe_fs_deny_read = {
    .id = "fs.deny-read",
    .claim = "A command cannot read what the policy denies, by whatever name.",
    .boundary = "filesystem",
    .refs = "open(2), openat2(2), link(2), rename(2), proc_pid_root(5)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_read,
    .benign = zsb_kit_benign_read,
    .benign_claim = "reads a file of the workspace",
    ZSB_KIT_ATTEMPTS(attempts),
};
