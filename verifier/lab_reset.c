/* SPDX-License-Identifier: MIT
 *
 * Puts a used trial directory back into the state of its template. Only what an arm changed is made anew:
 * creating some forty names per arm would be most of a campaign's time on ext4, which avoids inodes that were
 * freed a moment ago (recently_deleted() in the kernel's fs/ext4/ialloc.c). The result is compared with the
 * template in full.
 */
#include "lib/util/util.h"
#include "verifier/lab.h"
#include "verifier/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { RESET_DEPTH_MAX = 32, FILE_MAX = 1 << 20 };

static const char *const kept[] = {"bin", NULL}; /* of the trial directory itself; no template has them */

static bool is_kept(const char *name, unsigned depth)
{
    for (size_t i = 0; depth == 0 && kept[i] != NULL; i++)
        if (strcmp(kept[i], name) == 0)
            return true;
    return false;
}

static int replace(int from_fd, int to_fd, const char *name)
{
    int rc = zsb_remove_tree_at(to_fd, name);
    return rc != 0 ? rc : zsb_lab_copy_tree(from_fd, name, to_fd, name);
}

static bool has_xattrs(int dir_fd, const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir_fd, name);
    return llistxattr(path, NULL, 0) > 0;
}

/* Writes the template's bytes into a file that nobody else names. */
static int reset_file(int from_fd, int to_fd, const char *name, const struct stat *wanted)
{
    char *data = NULL;
    size_t size = 0;
    int rc = zsb_read_file_at(from_fd, name, FILE_MAX, &data, &size);
    ZSB_AUTO_FREE char *owned = data;
    if (rc != 0)
        return rc;
    if (fchmodat(to_fd, name, 0600, 0) < 0)
        return -errno;
    ZSB_AUTO_FD int fd = openat(to_fd, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = zsb_write_all(fd, owned, size);
    if (rc == 0 && fchmod(fd, wanted->st_mode & 07777) < 0)
        rc = -errno;
    return rc != 0 ? rc : zsb_lab_set_past(fd);
}

static int reset_directory(int from_fd, int to_fd, const char *name, const struct stat *wanted,
                           unsigned depth);

static int reset_entry(int from_fd, int to_fd, const char *name, unsigned depth)
{
    struct stat wanted, found;
    if (fstatat(from_fd, name, &wanted, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (fstatat(to_fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? replace(from_fd, to_fd, name) : -errno;
    if ((found.st_mode & S_IFMT) != (wanted.st_mode & S_IFMT) || found.st_uid != wanted.st_uid ||
        found.st_gid != wanted.st_gid || has_xattrs(to_fd, name))
        return replace(from_fd, to_fd, name);
    if (S_ISDIR(wanted.st_mode))
        return reset_directory(from_fd, to_fd, name, &wanted, depth);
    if (!S_ISREG(wanted.st_mode) || found.st_nlink != 1)
        return replace(from_fd, to_fd, name);
    /* The past moment of the template's copy survives only where nothing was written. */
    if (found.st_size == wanted.st_size && found.st_mode == wanted.st_mode && zsb_lab_is_past(&found))
        return 0;
    return reset_file(from_fd, to_fd, name, &wanted);
}

static int list(int fd, struct zsb_strv *names)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (dir == NULL) {
        int saved_errno = errno;
        if (copy >= 0)
            (void)close(copy);
        return -saved_errno;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            zsb_strv_add(names, entry->d_name);
    (void)closedir(dir);
    return names->failed ? -ENOMEM : 0;
}

static int remove_strangers(int from_fd, int to_fd, unsigned depth)
{
    ZSB_AUTO_STRV names = ZSB_STRV_INIT;
    struct stat st;
    int rc = list(to_fd, &names);
    for (size_t i = 0; i < names.count && rc == 0; i++)
        if (!is_kept(names.items[i], depth) && fstatat(from_fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            rc = zsb_remove_tree_at(to_fd, names.items[i]);
    return rc;
}

static int reset_directory(int from_fd, int to_fd, const char *name, const struct stat *wanted,
                           unsigned depth)
{
    if (depth > RESET_DEPTH_MAX)
        return -ELOOP;
    if (fchmodat(to_fd, name, 0700, 0) < 0)
        return -errno;
    ZSB_AUTO_FD int from = openat(from_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ZSB_AUTO_FD int to = openat(to_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 || to < 0)
        return -errno;
    ZSB_AUTO_STRV names = ZSB_STRV_INIT;
    int rc = remove_strangers(from, to, depth);
    if (rc == 0)
        rc = list(from, &names);
    for (size_t i = 0; i < names.count && rc == 0; i++)
        rc = reset_entry(from, to, names.items[i], depth + 1);
    if (rc == 0 && fchmod(to, wanted->st_mode & 07777) < 0)
        rc = -errno;
    return rc != 0 ? rc : zsb_lab_set_past(to);
}

/* Same names, types, modes, owners, bytes, link texts, link counts and attributes; only identity and ctime
 * differ. */
static int compare(int from_fd, int to_fd)
{
    struct zsb_snapshot from = ZSB_SNAPSHOT_INIT, to = ZSB_SNAPSHOT_INIT;
    int rc = zsb_snapshot_take(from_fd, kept, &from);
    if (rc == 0)
        rc = zsb_snapshot_take(to_fd, kept, &to);
    if (rc == 0 && !zsb_snapshot_same_content(&from, &to))
        rc = -EUCLEAN;
    zsb_snapshot_clear(&from);
    zsb_snapshot_clear(&to);
    return rc;
}

int zsb_lab_reset_trial(const struct zsb_lab *lab, const char *name, enum zsb_fixture fixture, int *out_fd)
{
    ZSB_AUTO_FD int from =
        openat(lab->dir_fd, zsb_lab_template(fixture), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ZSB_AUTO_FD int to = openat(lab->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat wanted;
    if (from < 0 || to < 0 || fstat(from, &wanted) < 0)
        return -errno;
    int rc = reset_directory(from, to, ".", &wanted, 0);
    if (rc == 0)
        rc = compare(from, to);
    if (rc == 0)
        *out_fd = zsb_steal_fd(&to);
    return rc;
}
