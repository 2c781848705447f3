/* SPDX-License-Identifier: MIT
 *
 * Can a command undo a read-only mount: remount it, change its attributes, clone or bind it, or take it off?
 *
 * The bare arm runs in a stage whose out/ is a read-only mount and which may mount. Each attempt writes a
 * file of its own and puts the mount back; taking it off comes last, because that cannot be put back. Where
 * out/ is writable to begin with there is nothing to undo and no mount is touched: so a launcher that
 * confines nothing cannot make this probe change mounts of the host.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mount.h and sys/mount.h cannot be included together everywhere. */
enum { ATTRIBUTE_READ_ONLY = 1, TREE_CLONE = 1 };
struct attributes {
    uint64_t set, clear, propagation, userns_fd;
};

static const int deny[] = {EPERM, EACCES, ENOSYS, EROFS, 0};
static const int absent_call[] = {ENOSYS, 0};

static int write_out(struct zsb_ctx *ctx, const char *file)
{
    return zsb_kit_write(zsb_path(ctx, file), O_CREAT | O_EXCL);
}

static int remount(const char *at, bool read_only)
{
    static const unsigned long kept =
        MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME | MS_RELATIME;
    struct statvfs st;
    if (statvfs(at, &st) < 0)
        return -1;
    /* The ST_ and MS_ bits are the same; dropping one that is locked would be refused for the wrong reason.
     */
    return mount(NULL, at, NULL, MS_REMOUNT | MS_BIND | (st.f_flag & kept) | (read_only ? MS_RDONLY : 0),
                 NULL);
}

static int set_attribute(int dir_fd, const char *path, unsigned flags, bool read_only)
{
    struct attributes attributes = {.set = read_only ? ATTRIBUTE_READ_ONLY : 0,
                                    .clear = read_only ? 0 : ATTRIBUTE_READ_ONLY};
    return (int)syscall(SYS_mount_setattr, dir_fd, path, flags, &attributes, sizeof(attributes));
}

static int set_attribute_at(const char *at, bool read_only)
{
    return set_attribute(AT_FDCWD, at, 0, read_only);
}

/* EINVAL: no mount begins here, so the one that holds out/ begins further up. */
static int undo(struct zsb_ctx *ctx, const char *file, int (*change)(const char *at, bool read_only))
{
    char at[PATH_MAX];
    int error = write_out(ctx, file);
    if (error != EROFS)
        return error;
    (void)snprintf(at, sizeof(at), "%s", zsb_path(ctx, "out"));
    while (change(at, false) < 0) {
        if (errno != EINVAL || at[1] == '\0')
            return errno;
        char *slash = strrchr(at, '/');
        slash[slash == at ? 1 : 0] = '\0';
    }
    error = write_out(ctx, file);
    return change(at, true) < 0 ? -1 : error;
}

static int by_remount(struct zsb_ctx *ctx)
{
    return undo(ctx, "out/remount-remount", remount);
}

static int by_attributes(struct zsb_ctx *ctx)
{
    return undo(ctx, "out/remount-setattr", set_attribute_at);
}

/* A detached copy of the mount, made writable and written to without ever being attached. */
static int by_tree(struct zsb_ctx *ctx)
{
    int error = write_out(ctx, "out/remount-tree");
    if (error != EROFS)
        return error;
    ZSB_KIT_FD tree = (int)syscall(SYS_open_tree, AT_FDCWD, zsb_path(ctx, "out"), TREE_CLONE | O_CLOEXEC);
    if (tree < 0 || set_attribute(tree, "", AT_EMPTY_PATH, false) < 0)
        return errno;
    return zsb_kit_write_at(tree, "remount-tree", O_CREAT | O_EXCL);
}

/* A second bind of the same directory is a mount of its own, whose flag may be cleared alone. */
static int by_bind(struct zsb_ctx *ctx)
{
    const char *at = zsb_path(ctx, "home");
    int error = write_out(ctx, "out/remount-bind");
    if (error != EROFS)
        return error;
    if (mount(zsb_path(ctx, "out"), at, NULL, MS_BIND, NULL) < 0)
        return errno;
    error =
        remount(at, false) < 0 ? errno : zsb_kit_write(zsb_path(ctx, "home/remount-bind"), O_CREAT | O_EXCL);
    return umount2(at, MNT_DETACH) < 0 ? -1 : error;
}

static int by_umount(struct zsb_ctx *ctx)
{
    int error = write_out(ctx, "out/remount-umount");
    if (error != EROFS)
        return error;
    /* EINVAL: out/ is no mount, nothing to take off; then the write is what decides. */
    if (umount2(zsb_path(ctx, "out"), MNT_DETACH) < 0 && errno != EINVAL)
        return errno;
    return write_out(ctx, "out/remount-umount");
}

static const struct zsb_attempt attempts[] = {
    {.name = "remount", .target = "out/remount-remount", .run = by_remount},
    {.name = "setattr", .target = "out/remount-setattr", .run = by_attributes, .absent_errnos = absent_call},
    {.name = "tree", .target = "out/remount-tree", .run = by_tree, .absent_errnos = absent_call},
    {.name = "bind", .target = "out/remount-bind", .run = by_bind},
    {.name = "umount", .target = "out/remount-umount", .run = by_umount},
};

const struct zsb_probe zsb_probe_priv_remount = {
    .id = "priv.remount",
    .claim = "A command cannot undo a read-only mount.",
    .boundary = "privilege",
    .refs = "CVE-2021-41133, mount(2), umount(2), mount_setattr(2), open_tree(2)",
    .needs = ZSB_NEED_MOUNT_STAGE | ZSB_NEED_USERNS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_write,
    .benign_claim = "writes and reads back a file where this mode may write",
    ZSB_KIT_ATTEMPTS(attempts),
};
