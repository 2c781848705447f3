/* SPDX-License-Identifier: MIT */
#include "lib/util/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUF_DEFAULT_MAX_BYTES = 64 << 20 };

void zsb_cleanup_free(void *pointer_to_pointer)
{
    int saved_errno = errno;
    free(*(void **)pointer_to_pointer);
    errno = saved_errno;
}

void zsb_cleanup_fd(int *fd)
{
    int saved_errno = errno;
    if (*fd >= 0)
        (void)close(*fd);
    errno = saved_errno;
}

int zsb_steal_fd(int *fd)
{
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

void *zsb_steal_ptr(void *pp)
{
    void *stolen = NULL;
    memcpy(&stolen, pp, sizeof(stolen));
    memset(pp, 0, sizeof(stolen));
    return stolen;
}

void zsb_buf_clear(struct zsb_buf *buf)
{
    size_t max_bytes = buf->max_bytes;
    zsb_cleanup_free(&buf->data);
    *buf = (struct zsb_buf)ZSB_BUF_INIT;
    buf->max_bytes = max_bytes;
}

static bool buf_reserve(struct zsb_buf *buf, size_t more)
{
    size_t max = buf->max_bytes > 0 ? buf->max_bytes : BUF_DEFAULT_MAX_BYTES;
    if (buf->failed || more > max || buf->size_bytes > max - more) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->size_bytes + more + 1;
    if (need <= buf->capacity_bytes)
        return true;
    size_t capacity = buf->capacity_bytes < 128 ? 128 : buf->capacity_bytes;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(buf->data, capacity);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity_bytes = capacity;
    return true;
}

void zsb_buf_append(struct zsb_buf *buf, const void *data, size_t size_bytes)
{
    if (!buf_reserve(buf, size_bytes))
        return;
    if (size_bytes > 0)
        memcpy(buf->data + buf->size_bytes, data, size_bytes);
    buf->size_bytes += size_bytes;
    buf->data[buf->size_bytes] = '\0';
}

void zsb_buf_add(struct zsb_buf *buf, const char *text)
{
    zsb_buf_append(buf, text, strlen(text));
}

void zsb_buf_addc(struct zsb_buf *buf, char c)
{
    zsb_buf_append(buf, &c, 1);
}

static char *format_alloc(const char *format, va_list args)
{
    char *text = NULL;
    int n = vasprintf(&text, format, args);
    return n < 0 ? NULL : text;
}

void zsb_buf_addf(struct zsb_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ZSB_AUTO_FREE char *text = format_alloc(format, args);
    va_end(args);
    if (text == NULL)
        buf->failed = true;
    else
        zsb_buf_add(buf, text);
}

char *zsb_buf_take(struct zsb_buf *buf)
{
    if (!buf_reserve(buf, 0) || buf->failed) {
        zsb_buf_clear(buf);
        return NULL;
    }
    buf->data[buf->size_bytes] = '\0';
    char *data = zsb_steal_ptr(&buf->data);
    zsb_buf_clear(buf);
    return data;
}

void zsb_strv_clear(struct zsb_strv *v)
{
    int saved_errno = errno;
    for (size_t i = 0; i < v->count; i++)
        free(v->items[i]);
    free(v->items);
    *v = (struct zsb_strv)ZSB_STRV_INIT;
    errno = saved_errno;
}

static void strv_push(struct zsb_strv *v, char *owned)
{
    if (owned == NULL || v->failed) {
        v->failed = true;
        free(owned);
        return;
    }
    if (v->count + 2 > v->capacity) {
        size_t capacity = v->capacity < 16 ? 16 : v->capacity * 2;
        char **items = reallocarray(v->items, capacity, sizeof(*items));
        if (items == NULL) {
            v->failed = true;
            free(owned);
            return;
        }
        v->items = items;
        v->capacity = capacity;
    }
    v->items[v->count++] = owned;
    v->items[v->count] = NULL;
}

void zsb_strv_add(struct zsb_strv *v, const char *text)
{
    strv_push(v, strdup(text));
}

void zsb_strv_addf(struct zsb_strv *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strv_push(v, format_alloc(format, args));
    va_end(args);
}

char *zsb_strdupf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_alloc(format, args);
    va_end(args);
    return text;
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
static size_t utf8_sequence(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 && s[0] <= 0xf4  ? 4
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

bool zsb_is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        size_t n = utf8_sequence(s);
        if (n == 0)
            return false;
        s += n;
    }
    return true;
}

bool zsb_path_within(const char *path, const char *root)
{
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/')
        n--;
    if (n == 1 && root[0] == '/')
        return path[0] == '/';
    return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool zsb_parse_u64(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (text == NULL || *text == '\0')
        return false;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > max)
        return false;
    *out = value;
    return true;
}

int zsb_write_all(int fd, const void *data, size_t size_bytes)
{
    const char *p = data;
    while (size_bytes > 0) {
        ssize_t n = write(fd, p, size_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        size_bytes -= (size_t)n;
    }
    return 0;
}

int zsb_read_fd(int fd, size_t max_bytes, char **out_data, size_t *out_size)
{
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    buf.max_bytes = max_bytes;
    char chunk[4096];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        zsb_buf_append(&buf, chunk, (size_t)n);
        if (buf.failed)
            return -EFBIG;
    }
    size_t size = buf.size_bytes;
    char *data = zsb_buf_take(&buf);
    if (data == NULL)
        return -ENOMEM;
    *out_data = data;
    if (out_size != NULL)
        *out_size = size;
    return 0;
}

int zsb_read_file_at(int dir_fd, const char *path, size_t max_bytes, char **out_data, size_t *out_size)
{
    ZSB_AUTO_FD int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return zsb_read_fd(fd, max_bytes, out_data, out_size);
}

int zsb_set_cloexec(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0)
        return -errno;
    flags = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
    return fcntl(fd, F_SETFD, flags) < 0 ? -errno : 0;
}

int zsb_set_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int zsb_fd_above_stdio(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    zsb_cleanup_fd(&fd);
    return above;
}

int64_t zsb_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int remove_entry(int dir_fd, const char *name, dev_t device, unsigned depth);

static int remove_children(int fd, dev_t device, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int saved_errno = errno;
        close(fd);
        return -saved_errno;
    }
    int rc = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int one = remove_entry(dirfd(dir), entry->d_name, device, depth + 1);
        if (one != 0 && rc == 0)
            rc = one;
    }
    (void)closedir(dir);
    return rc;
}

static int remove_entry(int dir_fd, const char *name, dev_t device, unsigned depth)
{
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (depth > 128)
        return -ELOOP;
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -EPERM;
    if (st.st_dev != device)
        return -EXDEV;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
        fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)fchmod(fd, 0700);
    int rc = remove_children(fd, device, depth);
    if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    return rc != 0 ? rc : -errno;
}

int zsb_remove_tree_at(int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    return remove_entry(dir_fd, name, st.st_dev, 0);
}

int zsb_random_hex(char *out, size_t bytes)
{
    unsigned char raw[64];
    if (bytes > sizeof(raw))
        return -EINVAL;
    for (size_t got = 0; got < bytes;) {
        ssize_t n = getrandom(raw + got, bytes - got, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        got += (size_t)n;
    }
    for (size_t i = 0; i < bytes; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", raw[i]);
    return 0;
}
