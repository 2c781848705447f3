/* SPDX-License-Identifier: MIT
 *
 * Internal helpers shared by every room but escapes/: cleanup attributes that keep errno, a growing byte
 * buffer with a maximum, error setting, descriptor and file helpers.
 */
#ifndef ZSB_UTIL_H
#define ZSB_UTIL_H

#include <zuno/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define ZSB_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

void zsb_cleanup_free(void *pointer_to_pointer);
void zsb_cleanup_fd(int *fd);
#define ZSB_AUTO_FREE __attribute__((cleanup(zsb_cleanup_free)))
#define ZSB_AUTO_FD __attribute__((cleanup(zsb_cleanup_fd)))
/* ZSB_AUTO(zsb_policy_free_ptr) style: name a function taking a pointer to the variable. */
#define ZSB_AUTO(cleanup_function) __attribute__((cleanup(cleanup_function)))
/* Defines zsb_x_cleanup(struct zsb_x **) that calls free_function and keeps errno. */
#define ZSB_DEFINE_CLEANUP(type, free_function)                                                              \
    static inline void type##_cleanup(struct type **object)                                                  \
    {                                                                                                        \
        free_function(*object);                                                                              \
    }

int zsb_steal_fd(int *fd);     /* returns *fd and sets it to -1 */
void *zsb_steal_ptr(void *pp); /* returns *(void **)pp and sets it to NULL */

/* Fills *err when not NULL and returns -code. sys_errno 0: no system call failed; else strerror is
 * appended to the message. */
ZSB_PRINTF(5, 6)
int zsb_error_set(struct zsb_error *err, enum zsb_code code, enum zsb_stage stage, int sys_errno,
                  const char *format, ...);
/* Adds the typed fields to an error already set; either may be NULL. Returns -err->code (0 for NULL err
 * never happens in practice: pass the code through). */
int zsb_error_detail(struct zsb_error *err, int negative_code, const char *subject, const char *reason);
int zsb_error_no_memory(struct zsb_error *err, enum zsb_stage stage);

struct zsb_buf {
    char *data; /* always NUL-terminated once anything was added */
    size_t size_bytes;
    size_t capacity_bytes;
    size_t max_bytes; /* 0: 64 MiB */
    bool failed;      /* an append did not fit; data is what fit before it */
};
#define ZSB_BUF_INIT                                                                                         \
    {                                                                                                        \
        NULL, 0, 0, 0, false                                                                                 \
    }
void zsb_buf_clear(struct zsb_buf *buf);
void zsb_buf_append(struct zsb_buf *buf, const void *data, size_t size_bytes);
void zsb_buf_add(struct zsb_buf *buf, const char *text);
void zsb_buf_addc(struct zsb_buf *buf, char c);
ZSB_PRINTF(2, 3) void zsb_buf_addf(struct zsb_buf *buf, const char *format, ...);
char *zsb_buf_take(struct zsb_buf *buf); /* caller frees; NULL when failed; resets the buffer */
#define ZSB_AUTO_BUF __attribute__((cleanup(zsb_buf_clear))) struct zsb_buf

/* NULL-terminated vector of owned strings. */
struct zsb_strv {
    char **items;
    size_t count;
    size_t capacity;
    bool failed;
};
#define ZSB_STRV_INIT                                                                                        \
    {                                                                                                        \
        NULL, 0, 0, false                                                                                    \
    }
void zsb_strv_clear(struct zsb_strv *v);
void zsb_strv_add(struct zsb_strv *v, const char *text); /* copies */
ZSB_PRINTF(2, 3) void zsb_strv_addf(struct zsb_strv *v, const char *format, ...);
#define ZSB_AUTO_STRV __attribute__((cleanup(zsb_strv_clear))) struct zsb_strv

char *zsb_strdupf(const char *format, ...) ZSB_PRINTF(1, 2);
bool zsb_is_utf8(const char *text);
bool zsb_path_within(const char *path, const char *root);          /* lexical: equal or beneath */
bool zsb_parse_u64(const char *text, uint64_t max, uint64_t *out); /* decimal, whole string */

int zsb_write_all(int fd, const void *data, size_t size_bytes); /* 0 or -errno; retries EINTR */
/* Whole file up to max_bytes, NUL-terminated, caller frees. 0 or -errno (-EFBIG over the maximum). */
int zsb_read_file_at(int dir_fd, const char *path, size_t max_bytes, char **out_data, size_t *out_size);
int zsb_read_fd(int fd, size_t max_bytes, char **out_data, size_t *out_size);
int zsb_set_cloexec(int fd, bool on);
int zsb_set_nonblock(int fd, bool on);
/* A copy at 3 or above of a descriptor below, which is closed; a caller without standard streams gets such.
 */
int zsb_fd_above_stdio(int fd);
int64_t zsb_now_us(void); /* CLOCK_MONOTONIC */
/* Remove a tree below dir_fd without following links or leaving its device. 0 or -errno. */
int zsb_remove_tree_at(int dir_fd, const char *name);
/* Cryptographic random bytes as lowercase hex; out holds 2*bytes+1. 0 or -errno. */
int zsb_random_hex(char *out, size_t bytes);

#endif
