/* SPDX-License-Identifier: MIT */
#include "gate/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct zsb_file {
    char *path;       /* as given, for messages */
    const char *name; /* last component, inside path */
    char *directory;
    int directory_fd;
    int through_fd; /* >= 0: no regular file, write here */
};

static int fail(const struct zsb_file *file, const char *what, int number, struct zsb_error *err)
{
    return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_NONE, number, "cannot %s %s", what, file->path);
}

static int open_directory(struct zsb_file *file, struct zsb_error *err)
{
    const char *slash = strrchr(file->path, '/');
    file->name = slash ? slash + 1 : file->path;
    if (!slash)
        file->directory = strdup(".");
    else
        file->directory = strndup(file->path, slash == file->path ? 1 : (size_t)(slash - file->path));
    if (!file->directory)
        return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    if (!*file->name || strcmp(file->name, ".") == 0 || strcmp(file->name, "..") == 0)
        return fail(file, "write", EISDIR, err);
    file->directory_fd = open(file->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return file->directory_fd < 0 ? fail(file, "write", errno, err) : 0;
}

static bool same_file(const struct stat *st, int fd)
{
    struct stat other;
    return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* A rename would replace the link, which may be the system's /dev/stdout, and opening its target would follow
 * what a command may have planted. Only a way to our own standard stream is taken. */
static int open_link(struct zsb_file *file, struct zsb_error *err)
{
    struct stat st;
    if (fstatat(file->directory_fd, file->name, &st, 0) == 0) {
        for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && file->through_fd < 0; fd++) {
            if (same_file(&st, fd))
                file->through_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
    }
    if (file->through_fd >= 0)
        return 1;
    return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_NONE, 0, "cannot write %s: it is a symbolic link",
                         file->path);
}

static int open_device(struct zsb_file *file, struct zsb_error *err)
{
    /* O_NONBLOCK: a pipe without a reader is an error, not a wait. */
    file->through_fd = openat(file->directory_fd, file->name, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (file->through_fd < 0 || zsb_set_nonblock(file->through_fd, false))
        return fail(file, "write", errno, err);
    return 1;
}

/* 1: opened; 0: absent or a regular file; else an error. */
static int open_through(struct zsb_file *file, struct zsb_error *err)
{
    struct stat named;
    struct stat target;
    if (fstatat(file->directory_fd, file->name, &named, AT_SYMLINK_NOFOLLOW))
        return 0;
    if (fstatat(file->directory_fd, file->name, &target, 0))
        target = named;
    if (S_ISDIR(target.st_mode))
        return fail(file, "write", EISDIR, err);
    if (!S_ISREG(target.st_mode) && !S_ISLNK(target.st_mode))
        return open_device(file, err);
    return S_ISLNK(named.st_mode) ? open_link(file, err) : 0;
}

/* The temporary's name is random, so two writers of one file never meet. */
static int open_temporary(const struct zsb_file *file, char name[64], struct zsb_error *err)
{
    char random_hex[17];
    const int rc = zsb_random_hex(random_hex, 8);
    if (rc)
        return fail(file, "name a temporary for", -rc, err);
    snprintf(name, 64, ".zuno-sandbox.%s.tmp", random_hex);
    const int fd =
        openat(file->directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? fail(file, "write", errno, err) : fd;
}

static int check_creatable(const struct zsb_file *file, struct zsb_error *err)
{
    char name[64];
    ZSB_AUTO_FD int fd = open_temporary(file, name, err);
    if (fd < 0)
        return fd;
    return unlinkat(file->directory_fd, name, 0) ? fail(file, "write", errno, err) : 0;
}

int zsb_file_open(const char *path, struct zsb_file **out_file, struct zsb_error *err)
{
    struct zsb_file *file = calloc(1, sizeof(*file));
    if (!file)
        return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    file->directory_fd = file->through_fd = -1;
    file->path = strdup(path);
    int rc = file->path ? open_directory(file, err) : zsb_error_no_memory(err, ZSB_STAGE_NONE);
    if (!rc)
        rc = open_through(file, err);
    if (!rc)
        rc = check_creatable(file, err);
    if (rc < 0) {
        zsb_file_close(file);
        return rc;
    }
    *out_file = file;
    return 0;
}

static int write_temporary(const struct zsb_file *file, int fd, const char *name, const void *data,
                           size_t size_bytes, struct zsb_error *err)
{
    const int rc = zsb_write_all(fd, data, size_bytes);
    if (rc)
        return fail(file, "write", -rc, err);
    if (renameat(file->directory_fd, name, file->directory_fd, file->name))
        return fail(file, "rename to", errno, err);
    return 0;
}

int zsb_file_write(struct zsb_file *file, const void *data, size_t size_bytes, struct zsb_error *err)
{
    if (file->through_fd >= 0) {
        const int rc = zsb_write_all(file->through_fd, data, size_bytes);
        return rc ? fail(file, "write", -rc, err) : 0;
    }
    char name[64];
    ZSB_AUTO_FD int fd = open_temporary(file, name, err);
    if (fd < 0)
        return fd;
    const int rc = write_temporary(file, fd, name, data, size_bytes, err);
    if (rc)
        unlinkat(file->directory_fd, name, 0);
    return rc;
}

void zsb_file_close(struct zsb_file *file)
{
    if (!file)
        return;
    if (file->directory_fd >= 0)
        close(file->directory_fd);
    if (file->through_fd >= 0)
        close(file->through_fd);
    free(file->directory);
    free(file->path);
    free(file);
}
