/* SPDX-License-Identifier: MIT */
#include "verifier/snapshot.h"

#include "lib/util/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, ENTRIES_MAX = 100000, TEXT_MAX = 1 << 20, XATTR_MAX = 1 << 16 };

void zsb_snapshot_clear(struct zsb_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        free(snapshot->entries[i].path);
        free(snapshot->entries[i].text);
        free(snapshot->entries[i].xattrs);
    }
    free(snapshot->entries);
    *snapshot = (struct zsb_snapshot)ZSB_SNAPSHOT_INIT;
}

static struct zsb_snapshot_entry *new_entry(struct zsb_snapshot *snapshot)
{
    if (snapshot->count >= ENTRIES_MAX)
        return NULL;
    if (snapshot->count == snapshot->capacity) {
        size_t capacity = snapshot->capacity == 0 ? 64 : snapshot->capacity * 2;
        void *entries = realloc(snapshot->entries, capacity * sizeof(*snapshot->entries));
        if (entries == NULL)
            return NULL;
        snapshot->entries = entries;
        snapshot->capacity = capacity;
    }
    struct zsb_snapshot_entry *entry = &snapshot->entries[snapshot->count++];
    memset(entry, 0, sizeof(*entry));
    return entry;
}

static void read_bytes(int dir_fd, const char *name, struct zsb_snapshot_entry *entry)
{
    ZSB_AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    entry->unreadable = true;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != entry->st.st_ino)
        return;
    /* The first megabyte; whatever lies beyond shows in size and times. */
    size_t wanted = st.st_size < TEXT_MAX ? (size_t)st.st_size : (size_t)TEXT_MAX;
    char *text = malloc(wanted + 1);
    size_t got = 0;
    while (text != NULL && got < wanted) {
        ssize_t n = pread(fd, text + got, wanted - got, (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    entry->text = text;
    entry->text_size = got;
    entry->unreadable = text == NULL;
}

static void read_link(int dir_fd, const char *name, struct zsb_snapshot_entry *entry)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(dir_fd, name, text, sizeof(text));
    entry->unreadable = n < 0;
    if (n <= 0)
        return;
    entry->text = malloc((size_t)n);
    if (entry->text == NULL)
        return;
    memcpy(entry->text, text, (size_t)n);
    entry->text_size = (size_t)n;
}

/* By way of the directory's descriptor: no path from the root is trusted, and links can be asked too. */
static void read_xattrs(int dir_fd, const char *name, struct zsb_snapshot_entry *entry)
{
    char path[PATH_MAX];
    char names[4096];
    char value[4096];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir_fd, name);
    ssize_t size = llistxattr(path, names, sizeof(names));
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    buf.max_bytes = XATTR_MAX;
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        ssize_t n = lgetxattr(path, names + at, value, sizeof(value));
        zsb_buf_addf(&buf, "%s=%zd:", names + at, n);
        if (n > 0)
            zsb_buf_append(&buf, value, (size_t)n);
    }
    entry->xattrs_size = buf.size_bytes;
    entry->xattrs = buf.size_bytes > 0 ? zsb_buf_take(&buf) : NULL;
}

static bool is_skipped(const char *const *skip, const char *name)
{
    for (; skip != NULL && *skip != NULL; skip++)
        if (strcmp(*skip, name) == 0)
            return true;
    return false;
}

static int take(int dir_fd, const char *name, const char *path, unsigned depth, const char *const *skip,
                struct zsb_snapshot *out);

static int take_children(int parent_fd, const char *name, const char *path, unsigned depth,
                         const char *const *skip, struct zsb_snapshot *out)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0)
            (void)close(fd);
        out->entries[out->count - 1].unreadable = true;
        return 0;
    }
    int rc = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL && rc == 0; entry = readdir(dir)) {
        const char *child = entry->d_name;
        if (strcmp(child, ".") == 0 || strcmp(child, "..") == 0 || is_skipped(skip, child))
            continue;
        ZSB_AUTO_FREE char *child_path = zsb_strdupf("%s%s%s", path, *path != '\0' ? "/" : "", child);
        rc = child_path == NULL ? -ENOMEM : take(dirfd(dir), child, child_path, depth + 1, NULL, out);
    }
    (void)closedir(dir);
    return rc;
}

static int take(int dir_fd, const char *name, const char *path, unsigned depth, const char *const *skip,
                struct zsb_snapshot *out)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    struct zsb_snapshot_entry *entry = new_entry(out);
    if (entry == NULL)
        return -ENOMEM;
    entry->st = st;
    entry->path = strdup(path);
    if (entry->path == NULL) {
        out->count--;
        return -ENOMEM;
    }
    read_xattrs(dir_fd, name, entry);
    if (S_ISREG(st.st_mode))
        read_bytes(dir_fd, name, entry);
    else if (S_ISLNK(st.st_mode))
        read_link(dir_fd, name, entry);
    else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
        return take_children(dir_fd, name, path, depth, skip, out);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    const struct zsb_snapshot_entry *left = a, *right = b;
    return strcmp(left->path, right->path);
}

int zsb_snapshot_take(int dir_fd, const char *const *skip, struct zsb_snapshot *out)
{
    struct zsb_snapshot snapshot = ZSB_SNAPSHOT_INIT;
    int rc = take(dir_fd, ".", "", 0, skip, &snapshot);
    if (rc != 0) {
        zsb_snapshot_clear(&snapshot);
        return rc;
    }
    if (snapshot.count > 1)
        qsort(snapshot.entries, snapshot.count, sizeof(*snapshot.entries), by_path);
    *out = snapshot;
    return 0;
}

static bool same_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void note(char *what, size_t size, bool differs, const char *word)
{
    size_t used = strlen(what);
    if (differs)
        (void)snprintf(what + used, size - used, "%s%s", used > 0 ? ", " : "", word);
}

/* Fills `what` with every property that differs; "" when none does. */
static void compare(const struct zsb_snapshot_entry *a, const struct zsb_snapshot_entry *b, char *what,
                    size_t size)
{
    const struct stat *x = &a->st, *y = &b->st;
    what[0] = '\0';
    note(what, size, (x->st_mode & S_IFMT) != (y->st_mode & S_IFMT), "type");
    note(what, size, x->st_ino != y->st_ino || x->st_dev != y->st_dev, "replaced");
    note(what, size, !same_bytes(a->text, a->text_size, b->text, b->text_size), "bytes");
    note(what, size, x->st_size != y->st_size, "size");
    note(what, size, (x->st_mode & 07777) != (y->st_mode & 07777), "mode");
    note(what, size, x->st_uid != y->st_uid || x->st_gid != y->st_gid, "owner");
    note(what, size, x->st_nlink != y->st_nlink, "links");
    note(what, size, !same_bytes(a->xattrs, a->xattrs_size, b->xattrs, b->xattrs_size), "xattrs");
    note(what, size, !same_time(&x->st_mtim, &y->st_mtim), "mtime");
    note(what, size, !same_time(&x->st_ctim, &y->st_ctim), "ctime");
    note(what, size, x->st_rdev != y->st_rdev, "device");
}

int zsb_snapshot_diff(const struct zsb_snapshot *before, const struct zsb_snapshot *after,
                      struct zsb_change **out, size_t *out_count)
{
    struct zsb_change *changes = calloc(before->count + after->count + 1, sizeof(*changes));
    if (changes == NULL)
        return -ENOMEM;
    size_t n = 0, i = 0, j = 0;
    while (i < before->count || j < after->count) {
        int order = i == before->count  ? 1
                    : j == after->count ? -1
                                        : strcmp(before->entries[i].path, after->entries[j].path);
        struct zsb_change *change = &changes[n];
        change->path = order > 0 ? after->entries[j].path : before->entries[i].path;
        if (order < 0)
            (void)snprintf(change->what, sizeof(change->what), "removed");
        else if (order > 0)
            (void)snprintf(change->what, sizeof(change->what), "created");
        else
            compare(&before->entries[i], &after->entries[j], change->what, sizeof(change->what));
        n += change->what[0] != '\0' ? 1 : 0;
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    *out = changes;
    *out_count = n;
    return 0;
}

static bool same_content(const struct zsb_snapshot_entry *a, const struct zsb_snapshot_entry *b)
{
    return strcmp(a->path, b->path) == 0 && a->st.st_mode == b->st.st_mode && a->st.st_uid == b->st.st_uid &&
           a->st.st_gid == b->st.st_gid && a->st.st_rdev == b->st.st_rdev &&
           (S_ISDIR(a->st.st_mode) || (a->st.st_nlink == b->st.st_nlink && a->st.st_size == b->st.st_size)) &&
           same_bytes(a->text, a->text_size, b->text, b->text_size) &&
           same_bytes(a->xattrs, a->xattrs_size, b->xattrs, b->xattrs_size) && !a->unreadable &&
           !b->unreadable;
}

bool zsb_snapshot_same_content(const struct zsb_snapshot *a, const struct zsb_snapshot *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_content(&a->entries[i], &b->entries[i]))
            return false;
    return true;
}
