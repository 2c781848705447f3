/* SPDX-License-Identifier: MIT */
#include "lib/backends/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const fixed_paths[] = {"/usr/bin/bwrap", "/bin/bwrap"};

static int untrusted(struct zsb_error *err, const char *path, int sys_errno, const char *rule)
{
    int rc = zsb_error_set(err, ZSB_E_UNTRUSTED_LAUNCHER, ZSB_STAGE_RESOLVE, sys_errno, "launcher %s: %s",
                           path, rule);
    return zsb_error_detail(err, rc, path, rule);
}

const char *zsb_launcher_mode_rule(const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "is not a regular file";
    if ((st->st_mode & 0111) == 0)
        return "is not executable";
    if ((st->st_mode & 022) != 0)
        return "is writable by group or world";
    if ((st->st_mode & (S_ISUID | S_ISGID | S_ISVTX)) != 0)
        return "is setuid, setgid or sticky";
    if (st->st_uid != 0)
        return "is not owned by root";
    return NULL;
}

const char *zsb_launcher_ancestor_rule(const struct stat *st)
{
    if (!S_ISDIR(st->st_mode))
        return "has an ancestor that is not a real directory";
    if (st->st_uid != 0)
        return "has an ancestor that is not owned by root";
    if ((st->st_mode & 022) != 0)
        return "has an ancestor that is writable by group or world";
    return NULL;
}

static int check_ancestors(const char *path, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *ancestor = strdup(path);
    if (ancestor == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_RESOLVE);
    for (char *slash; (slash = strrchr(ancestor, '/')) != NULL;) {
        slash[slash == ancestor ? 1 : 0] = '\0';
        struct stat st;
        if (lstat(ancestor, &st) < 0)
            return untrusted(err, path, errno, "has an ancestor that cannot be inspected");
        const char *rule = zsb_launcher_ancestor_rule(&st);
        if (rule != NULL)
            return untrusted(err, path, 0, rule);
        if (slash == ancestor)
            break;
    }
    return 0;
}

static int check_file(const char *path, int fd, struct stat *st, struct zsb_error *err)
{
    if (fstat(fd, st) < 0)
        return untrusted(err, path, errno, "cannot be inspected");
    const char *rule = zsb_launcher_mode_rule(st);
    if (rule != NULL)
        return untrusted(err, path, 0, rule);
    if (fgetxattr(fd, "security.capability", NULL, 0) >= 0)
        return untrusted(err, path, 0, "carries a file capability");
    /* Any answer but "no such attribute" leaves the question open. */
    if (errno != ENODATA)
        return untrusted(err, path, errno, "cannot be asked for file capabilities");
    return 0;
}

static void record(const char *path, const struct stat *st, struct zsb_launcher_identity *out)
{
    (void)snprintf(out->path, sizeof(out->path), "%s", path);
    out->uid = st->st_uid;
    out->gid = st->st_gid;
    out->mode = st->st_mode & 07777;
    out->device = st->st_dev;
    out->inode = st->st_ino;
    out->root_owned = st->st_uid == 0;
    out->group_or_world_writable = (st->st_mode & 022) != 0;
    out->special_permissions = (st->st_mode & (S_ISUID | S_ISGID | S_ISVTX)) != 0;
}

static int open_trusted(const char *workspace, const char *path, int *out_fd,
                        struct zsb_launcher_identity *out_identity, struct zsb_error *err)
{
    struct stat st;
    if (workspace != NULL && strcmp(workspace, "/") != 0 && zsb_path_within(path, workspace))
        return untrusted(err, path, 0, "lies inside the workspace");
    /* O_NONBLOCK: a fifo in its place must not hang us. */
    ZSB_AUTO_FD int fd = zsb_fd_above_stdio(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd < 0)
        return untrusted(err, path, errno, errno == ELOOP ? "is not a regular file" : "cannot be opened");
    int rc = check_file(path, fd, &st, err);
    if (rc == 0)
        rc = check_ancestors(path, err);
    if (rc != 0)
        return rc;
    record(path, &st, out_identity);
    *out_fd = zsb_steal_fd(&fd);
    return 0;
}

int zsb_launcher_open(const char *workspace, const char *override, int *out_fd,
                      struct zsb_launcher_identity *out_identity, struct zsb_error *err)
{
    struct stat st;
    if (override != NULL)
        return open_trusted(workspace, override, out_fd, out_identity, err);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(fixed_paths); i++)
        if (lstat(fixed_paths[i], &st) == 0)
            return open_trusted(workspace, fixed_paths[i], out_fd, out_identity, err);
    return zsb_error_set(err, ZSB_E_BUBBLEWRAP_NOT_FOUND, ZSB_STAGE_RESOLVE, 0,
                         "bubblewrap is not installed at %s or %s; install the package bubblewrap",
                         fixed_paths[0], fixed_paths[1]);
}
