/* SPDX-License-Identifier: MIT
 *
 * Can a command change mode, owner, times, attributes or length of a file outside, by path or through a
 * descriptor that it may open for reading? (Landlock alone leaves most of these open.)
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The owner cannot change for an ordinary user; but any chown clears the set-user-ID bit, which is seen. */
static const struct zsb_kit_object objects[] = {
    {"out/meta-chmod", 'f', NULL, 0},     {"out/meta-fchmod", 'f', NULL, 0},
    {"out/meta-chown", 'f', NULL, 04644}, {"out/meta-fchown", 'f', NULL, 04644},
    {"out/meta-utimens", 'f', NULL, 0},   {"out/meta-futimens", 'f', NULL, 0},
    {"out/meta-setxattr", 'f', NULL, 0},  {"out/meta-fsetxattr", 'f', NULL, 0},
    {"out/meta-truncate", 'f', NULL, 0},  {"out/meta-setflags", 'f', NULL, 0},
};

static const struct timespec moment[2] = {{.tv_sec = 1234567890}, {.tv_sec = 1234567890}};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static int by_descriptor(struct zsb_ctx *ctx, const char *path, int (*change)(int fd))
{
    ZSB_KIT_FD fd = open(zsb_path(ctx, path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    return change(fd) < 0 ? errno : 0;
}

static int change_mode(int fd)
{
    return fchmod(fd, 0777);
}

static int change_owner(int fd)
{
    return fchown(fd, getuid(), getgid());
}

static int change_times(int fd)
{
    return futimens(fd, moment);
}

static int change_attribute(int fd)
{
    return fsetxattr(fd, "user.zsb", "x", 1, 0);
}

static int change_flags(int fd)
{
    int flags = FS_NODUMP_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static int by_chmod(struct zsb_ctx *ctx)
{
    return chmod(zsb_path(ctx, "out/meta-chmod"), 0777) < 0 ? errno : 0;
}

static int by_fchmod(struct zsb_ctx *ctx)
{
    return by_descriptor(ctx, "out/meta-fchmod", change_mode);
}

static int by_chown(struct zsb_ctx *ctx)
{
    return chown(zsb_path(ctx, "out/meta-chown"), getuid(), getgid()) < 0 ? errno : 0;
}

static int by_fchown(struct zsb_ctx *ctx)
{
    return by_descriptor(ctx, "out/meta-fchown", change_owner);
}

static int by_utimens(struct zsb_ctx *ctx)
{
    return utimensat(AT_FDCWD, zsb_path(ctx, "out/meta-utimens"), moment, 0) < 0 ? errno : 0;
}

static int by_futimens(struct zsb_ctx *ctx)
{
    return by_descriptor(ctx, "out/meta-futimens", change_times);
}

static int by_setxattr(struct zsb_ctx *ctx)
{
    return setxattr(zsb_path(ctx, "out/meta-setxattr"), "user.zsb", "x", 1, 0) < 0 ? errno : 0;
}

static int by_fsetxattr(struct zsb_ctx *ctx)
{
    return by_descriptor(ctx, "out/meta-fsetxattr", change_attribute);
}

static int by_truncate(struct zsb_ctx *ctx)
{
    return truncate(zsb_path(ctx, "out/meta-truncate"), 0) < 0 ? errno : 0;
}

static int by_setflags(struct zsb_ctx *ctx)
{
    return by_descriptor(ctx, "out/meta-setflags", change_flags);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    const char *path = zsb_kit_in(&scratch, "file");
    int error = zsb_kit_write(path, O_CREAT | O_EXCL);
    if (error != 0)
        return error;
    if (chmod(path, 0600) < 0 || utimensat(AT_FDCWD, path, moment, 0) < 0 || truncate(path, 1) < 0)
        return errno;
    return 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "chmod", .target = "out/meta-chmod", .run = by_chmod},
    {.name = "fchmod", .target = "out/meta-fchmod", .run = by_fchmod},
    {.name = "chown", .target = "out/meta-chown", .run = by_chown},
    {.name = "fchown", .target = "out/meta-fchown", .run = by_fchown},
    {.name = "utimens", .target = "out/meta-utimens", .run = by_utimens},
    {.name = "futimens", .target = "out/meta-futimens", .run = by_futimens},
    {.name = "setxattr",
     .target = "out/meta-setxattr",
     .run = by_setxattr,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "fsetxattr",
     .target = "out/meta-fsetxattr",
     .run = by_fsetxattr,
     .absent_errnos = zsb_kit_absent_operation},
    {.name = "truncate", .target = "out/meta-truncate", .run = by_truncate},
    {.name = "setflags",
     .target = "out/meta-setflags",
     .run = by_setflags,
     .absent_errnos = zsb_kit_absent_operation},
};

const struct zsb_probe zsb_probe_fs_metadata_outside = {
    .id = "fs.metadata-outside",
    .claim = "A command cannot change mode, owner, times, attributes or length of a file outside.",
    .boundary = "filesystem",
    .refs = "landlock(7), chmod(2), chown(2), utimensat(2), setxattr(2), truncate(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "changes mode, times and length of a file of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
