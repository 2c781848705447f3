/* SPDX-License-Identifier: MIT */
#include "escapes/toolkit.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAG_DIGITS = 32, ENVIRON_MAX = 1 << 18 };

static const char text[] = "written by a probe\n";

const int zsb_kit_deny_write[] = {EROFS, EACCES, EPERM, EXDEV, EBUSY, 0};
const int zsb_kit_deny_read[] = {EACCES, EPERM, ENOENT, ENODATA, ENOTDIR, EXDEV, EROFS, EBUSY, ENXIO, 0};
const int zsb_kit_absent_operation[] = {EOPNOTSUPP, ENOSYS, EINVAL, ENOTTY, EISDIR, 0};

void zsb_kit_close(int *fd)
{
    int saved_errno = errno;
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    errno = saved_errno;
}

/* ---- lab objects */

static int make_link(int lab_fd, const struct zsb_kit_object *object)
{
    const char *target = object->text;
    char lab[PATH_MAX], absolute[2 * PATH_MAX], self[64];
    if (target[0] == '@') {
        (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", lab_fd);
        ssize_t n = readlink(self, lab, sizeof(lab) - 1);
        if (n < 0)
            return -errno;
        lab[n] = '\0';
        (void)snprintf(absolute, sizeof(absolute), "%s/%s", lab, target + 1);
        target = absolute;
    }
    return symlinkat(target, lab_fd, object->path) < 0 ? -errno : 0;
}

static int make_file(int lab_fd, const struct zsb_kit_object *object)
{
    const char *bytes = object->text != NULL ? object->text : "before\n";
    ZSB_KIT_FD fd = openat(lab_fd, object->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (write(fd, bytes, strlen(bytes)) != (ssize_t)strlen(bytes))
        return -EIO;
    /* Long ago, so that a write of the same bytes moves it whatever the clock's grain. */
    static const struct timespec past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    if (fchmod(fd, object->mode != 0 ? object->mode : 0644) < 0 || futimens(fd, past) < 0)
        return -errno;
    return 0;
}

int zsb_kit_prepare(int lab_fd, const struct zsb_kit_object *objects, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct zsb_kit_object *object = &objects[i];
        if (object->kind == 'd')
            rc = mkdirat(lab_fd, object->path, object->mode != 0 ? object->mode : 0755) < 0 ? -errno : 0;
        else if (object->kind == 'l')
            rc = make_link(lab_fd, object);
        else
            rc = make_file(lab_fd, object);
    }
    return rc;
}

/* ---- files */

int zsb_kit_write_at(int dir_fd, const char *path, int flags)
{
    ZSB_KIT_FD fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, 0644);
    if (fd < 0)
        return errno;
    return write(fd, text, sizeof(text) - 1) < 0 ? errno : 0;
}

int zsb_kit_write(const char *path, int flags)
{
    return zsb_kit_write_at(AT_FDCWD, path, flags);
}

int zsb_kit_capture_fd(struct zsb_ctx *ctx, int fd)
{
    char data[256];
    /* pread: several attempts may share one offset; plain read only where there is no offset. */
    ssize_t n = pread(fd, data, sizeof(data), 0);
    if (n < 0 && errno == ESPIPE)
        n = read(fd, data, sizeof(data));
    if (n < 0)
        return errno;
    zsb_capture(ctx, data, (size_t)n);
    return n == 0 ? ENODATA : 0;
}

int zsb_kit_capture_at(struct zsb_ctx *ctx, int dir_fd, const char *path)
{
    ZSB_KIT_FD fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? errno : zsb_kit_capture_fd(ctx, fd);
}

int zsb_kit_capture(struct zsb_ctx *ctx, const char *path)
{
    return zsb_kit_capture_at(ctx, AT_FDCWD, path);
}

static size_t hex_run(const char *data, size_t size_bytes)
{
    size_t n = 0;
    while (n < size_bytes && (isdigit((unsigned char)data[n]) || (data[n] >= 'a' && data[n] <= 'f')))
        n++;
    return n;
}

void zsb_kit_capture_flags(struct zsb_ctx *ctx, const char *data, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes;) {
        size_t run = hex_run(data + i, size_bytes - i);
        if (run == FLAG_DIGITS) {
            zsb_capture(ctx, data + i, run);
            zsb_capture(ctx, "\n", 1);
        }
        i += run + 1;
    }
}

int zsb_kit_capture_flags_of(struct zsb_ctx *ctx, const char *path)
{
    ZSB_KIT_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    char *data = malloc(ENVIRON_MAX);
    if (data == NULL)
        return ENOMEM;
    size_t size = 0;
    ssize_t n = 0;
    while (size < ENVIRON_MAX && (n = read(fd, data + size, ENVIRON_MAX - size)) > 0)
        size += (size_t)n;
    int error = n < 0 ? errno : size == 0 ? ENODATA : 0;
    zsb_kit_capture_flags(ctx, data, size);
    free(data);
    return error;
}

static bool is_number(const char *name)
{
    return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

int zsb_kit_each_process(struct zsb_ctx *ctx, bool (*visit)(struct zsb_ctx *ctx, const char *pid))
{
    DIR *dir = opendir("/proc");
    if (dir == NULL)
        return errno;
    bool more = true;
    for (struct dirent *entry = readdir(dir); entry != NULL && more; entry = readdir(dir))
        if (is_number(entry->d_name))
            more = visit(ctx, entry->d_name);
    (void)closedir(dir);
    return 0;
}

/* ---- scratch */

static unsigned scratch_number;

static bool make_below(struct zsb_kit_scratch *scratch, const char *parent)
{
    int n = snprintf(scratch->dir, sizeof(scratch->dir), "%s/zsb-scratch.%d.%u", parent, (int)getpid(),
                     scratch_number++);
    return n > 0 && (size_t)n < sizeof(scratch->dir) && mkdir(scratch->dir, 0700) == 0;
}

int zsb_kit_scratch_make(struct zsb_ctx *ctx, struct zsb_kit_scratch *out_scratch)
{
    out_scratch->next = 0;
    if (make_below(out_scratch, zsb_path(ctx, "ws")))
        return 0;
    int first_errno = errno;
    if (make_below(out_scratch, "/tmp") || make_below(out_scratch, "/dev/shm"))
        return 0;
    out_scratch->dir[0] = '\0';
    return first_errno != 0 ? first_errno : EACCES;
}

void zsb_kit_scratch_remove(struct zsb_kit_scratch *scratch)
{
    int saved_errno = errno;
    DIR *dir = scratch->dir[0] != '\0' ? opendir(scratch->dir) : NULL;
    if (dir != NULL) {
        for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
                (void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
        }
        (void)closedir(dir);
        (void)rmdir(scratch->dir);
    }
    scratch->dir[0] = '\0';
    errno = saved_errno;
}

const char *zsb_kit_in(struct zsb_kit_scratch *scratch, const char *name)
{
    char *slot = scratch->paths[scratch->next++ % ZSB_KIT_COUNT(scratch->paths)];
    size_t length = strlen(scratch->dir);
    memcpy(slot, scratch->dir, length);
    slot[length] = '/';
    (void)snprintf(slot + length + 1, NAME_MAX + 1, "%s", name);
    return slot;
}

/* ---- allowed twins */

static int read_back(int fd)
{
    char data[sizeof(text)];
    ssize_t n = pread(fd, data, sizeof(data), 0);
    if (n < 0)
        return errno;
    return n == (ssize_t)(sizeof(text) - 1) && memcmp(data, text, sizeof(text) - 1) == 0 ? 0 : EIO;
}

static int write_and_read_back(const char *path)
{
    int error = zsb_kit_write(path, O_CREAT | O_EXCL);
    if (error != 0)
        return error;
    ZSB_KIT_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : read_back(fd);
}

/* Also a launcher that leaves nothing writable leaves memory. */
static int write_to_memory(void)
{
    ZSB_KIT_FD fd = memfd_create("zsb-twin", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1))
        return errno;
    return read_back(fd);
}

int zsb_kit_benign_write(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error != 0)
        return zsb_read_only_mode(ctx) ? write_to_memory() : error;
    return write_and_read_back(zsb_kit_in(&scratch, "twin"));
}

int zsb_kit_benign_read(struct zsb_ctx *ctx)
{
    return zsb_kit_capture(ctx, zsb_path(ctx, "ws/tracked.txt"));
}
