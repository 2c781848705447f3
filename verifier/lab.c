/* SPDX-License-Identifier: MIT */
#include "verifier/lab.h"

#include "lib/util/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A lab without a lock is being made right now, unless it is older than this. */
enum { UNLOCKED_LAB_SECONDS = 60 };

void zsb_lab_init(struct zsb_lab *lab)
{
    memset(lab, 0, sizeof(*lab));
    lab->parent_fd = lab->dir_fd = lab->lock_fd = -1;
}

/* 1: the lab at dir_fd has no living owner. A lock taken to find that out stays in *out_lock_fd. */
static bool lab_is_dead(int dir_fd, int *out_lock_fd)
{
    struct stat st;
    ZSB_AUTO_FD int lock_fd = openat(dir_fd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock_fd < 0) {
        if (errno != ENOENT || fstat(dir_fd, &st) < 0)
            return false;
        return time(NULL) - st.st_ctime > UNLOCKED_LAB_SECONDS;
    }
    if (flock(lock_fd, LOCK_EX | LOCK_NB) < 0)
        return false;
    /* Another sweeper may have emptied it while we waited for nothing: then there is nothing left to do. */
    if (fstat(lock_fd, &st) < 0 || st.st_nlink == 0)
        return false;
    *out_lock_fd = zsb_steal_fd(&lock_fd);
    return true;
}

static bool sweep_one(int parent_fd, const char *name)
{
    ZSB_AUTO_FD int dir_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ZSB_AUTO_FD int lock_fd = -1;
    struct stat st;
    if (dir_fd < 0 || fstat(dir_fd, &st) < 0 || st.st_uid != geteuid())
        return false;
    if (!lab_is_dead(dir_fd, &lock_fd))
        return false;
    return zsb_remove_tree_at(parent_fd, name) == 0;
}

size_t zsb_lab_sweep(int parent_fd)
{
    char prefix[64];
    int length = snprintf(prefix, sizeof(prefix), "%s.%u.", ZSB_LAB_PREFIX, (unsigned)geteuid());
    int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return 0;
    }
    ZSB_AUTO_STRV names = ZSB_STRV_INIT;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strncmp(entry->d_name, prefix, (size_t)length) == 0)
            zsb_strv_add(&names, entry->d_name);
    (void)closedir(dir);
    size_t swept = 0;
    for (size_t i = 0; i < names.count; i++)
        swept += sweep_one(parent_fd, names.items[i]) ? 1 : 0;
    return swept;
}

/* Out of the low numbers, which workers clear for the arms (see worker.c). Takes ownership of fd. */
static int raise_fd(int fd)
{
    ZSB_AUTO_FD int low = fd;
    return low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, ZSB_LAB_FD_MIN);
}

/* The lock gets its name only once it is held, so that a sweeper never sees a free one of a living lab. */
static int make_lock(int dir_fd, int *out_lock_fd)
{
    ZSB_AUTO_FD int fd = openat(dir_fd, "lock.new", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || renameat(dir_fd, "lock.new", dir_fd, "lock") < 0)
        return -errno;
    *out_lock_fd = raise_fd(zsb_steal_fd(&fd));
    return *out_lock_fd < 0 ? -errno : 0;
}

static int copy_bytes(int from_fd, int to_fd)
{
    for (;;) {
        ssize_t n = sendfile(to_fd, from_fd, NULL, 1 << 20);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
    }
}

static int install_escapes(struct zsb_lab *lab, const char *escapes_path, struct zsb_error *err)
{
    ZSB_AUTO_FD int from_fd = open(escapes_path, O_RDONLY | O_CLOEXEC);
    if (from_fd < 0)
        return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_SPAWN, errno, "cannot read %s", escapes_path);
    if (mkdirat(lab->dir_fd, "bin", 0755) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, errno, "cannot make %s/bin", lab->path);
    ZSB_AUTO_FD int to_fd =
        openat(lab->dir_fd, "bin/zuno-escapes", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
    struct stat st;
    if (to_fd < 0 || fchmod(to_fd, 0755) < 0 || fstat(to_fd, &st) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, errno, "cannot make %s/bin/zuno-escapes",
                             lab->path);
    int rc = copy_bytes(from_fd, to_fd);
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot copy %s", escapes_path);
    lab->escapes_device = st.st_dev;
    lab->escapes_inode = st.st_ino;
    return 0;
}

static int find_victim(struct zsb_lab *lab, const char *escapes_path, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *copy = strdup(escapes_path);
    if (copy == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    int n = snprintf(lab->victim_path, sizeof(lab->victim_path), "%s/zuno-sandbox-victim", dirname(copy));
    if (n < 0 || (size_t)n >= sizeof(lab->victim_path))
        return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_SPAWN, 0, "path of zuno-escapes is too long");
    if (access(lab->victim_path, X_OK) < 0)
        return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_SPAWN, errno, "cannot execute %s",
                             lab->victim_path);
    return 0;
}

static int make_directory(struct zsb_lab *lab, const char *parent, struct zsb_error *err)
{
    char random[17];
    char canonical[PATH_MAX];
    if (realpath(parent, canonical) == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_POLICY, errno, "lab parent %s", parent);
    lab->parent_fd = raise_fd(open(canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (lab->parent_fd < 0)
        return zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_POLICY, errno, "lab parent %s", canonical);
    (void)zsb_lab_sweep(lab->parent_fd);
    int rc = zsb_random_hex(random, 8);
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot get random bytes");
    (void)snprintf(lab->name, sizeof(lab->name), "%s.%u.%s", ZSB_LAB_PREFIX, (unsigned)geteuid(), random);
    int n = snprintf(lab->path, sizeof(lab->path), "%s/%s", canonical, lab->name);
    int m = snprintf(lab->escapes_path, sizeof(lab->escapes_path), "%s/%s/bin/zuno-escapes", canonical,
                     lab->name);
    if (n < 0 || m < 0 || (size_t)n >= sizeof(lab->path) || (size_t)m >= sizeof(lab->escapes_path))
        return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_POLICY, 0, "lab parent %s is too long", canonical);
    if (mkdirat(lab->parent_fd, lab->name, 0700) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, errno, "cannot make the lab %s", lab->path);
    lab->dir_fd =
        raise_fd(openat(lab->parent_fd, lab->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    rc = lab->dir_fd < 0 ? -errno : make_lock(lab->dir_fd, &lab->lock_fd);
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot lock the lab %s", lab->path);
    return 0;
}

int zsb_lab_open(const char *parent, const char *escapes_path, struct zsb_lab *out_lab, struct zsb_error *err)
{
    struct zsb_lab lab;
    zsb_lab_init(&lab);
    int rc = find_victim(&lab, escapes_path, err);
    if (rc == 0)
        rc = make_directory(&lab, parent != NULL ? parent : ZSB_LAB_PARENT, err);
    if (rc == 0)
        rc = install_escapes(&lab, escapes_path, err);
    if (rc == 0)
        rc = zsb_lab_make_templates(&lab, err);
    if (rc != 0) {
        zsb_lab_close(&lab);
        return rc;
    }
    *out_lab = lab;
    return 0;
}

void zsb_lab_close(struct zsb_lab *lab)
{
    if (lab->dir_fd >= 0)
        (void)zsb_remove_tree_at(lab->parent_fd, lab->name);
    zsb_cleanup_fd(&lab->dir_fd);
    zsb_cleanup_fd(&lab->lock_fd);
    zsb_cleanup_fd(&lab->parent_fd);
    zsb_lab_init(lab);
}

const char *zsb_lab_template(enum zsb_fixture fixture)
{
    return fixture == ZSB_FIXTURE_REPO ? "template-repo" : "template-plain";
}

int zsb_lab_make_trial(const struct zsb_lab *lab, const char *name, enum zsb_fixture fixture, int *out_fd)
{
    int rc = zsb_lab_copy_tree(lab->dir_fd, zsb_lab_template(fixture), lab->dir_fd, name);
    if (rc != 0)
        return rc;
    ZSB_AUTO_FD int fd = openat(lab->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* A second name of the same inode: a launcher that shows only the trial directory can still execute it.
     */
    if (fd < 0 || mkdirat(fd, "bin", 0755) < 0 ||
        linkat(lab->dir_fd, "bin/zuno-escapes", fd, "bin/zuno-escapes", 0) < 0)
        return -errno;
    *out_fd = zsb_steal_fd(&fd);
    return 0;
}

void zsb_lab_abandon_trial(const struct zsb_lab *lab, const char *name)
{
    char random[17], other[64];
    if (zsb_random_hex(random, 8) != 0)
        return;
    (void)snprintf(other, sizeof(other), "abandoned.%s", random);
    (void)renameat(lab->dir_fd, name, lab->dir_fd, other);
}
