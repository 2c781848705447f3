/* SPDX-License-Identifier: MIT
 *
 * Steps that many probes share. Everything returns 0 or a positive errno unless it says otherwise; nothing
 * prints or judges. Private to escapes/.
 */
#ifndef ZSB_TOOLKIT_H
#define ZSB_TOOLKIT_H

#include "escapes/probe.h"

#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define ZSB_KIT_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ZSB_KIT_ATTEMPTS(array) .attempts = (array), .attempt_count = ZSB_KIT_COUNT(array)

void zsb_kit_close(int *fd);
#define ZSB_KIT_FD __attribute__((cleanup(zsb_kit_close))) int

/* ---- what real denials answer
 * -------------------------------------------------------------------------------- */

/* A write that a mount, a rule or a filter refuses. ENOENT is absent on purpose: a sandbox that merely hides
 * the outside (a private /tmp over the lab) would look like one that refuses. */
extern const int zsb_kit_deny_write[];
/* Reading what is hidden, masked or refused. ENODATA is ours: an empty mask was read. */
extern const int zsb_kit_deny_read[];
/* Another process that is out of view or out of reach. */
extern const int zsb_kit_deny_process[];
/* Refused sockets and unreachable peers in another network namespace. */
extern const int zsb_kit_deny_network[];
/* A unix socket that stands in the file system. ECONNREFUSED and ENOENT would mean that the path was looked
 * at. */
extern const int zsb_kit_deny_unix[];
/* Refused system calls. */
extern const int zsb_kit_deny_syscall[];
/* The host's IPv6 is off, so no listener stands there. */
extern const int zsb_kit_absent_ipv6[];
/* The file system has no such operation. */
extern const int zsb_kit_absent_operation[];

/* ---- lab objects (run in the verifier)
 * -------------------------------------------------------------------------- */

struct zsb_kit_object {
    const char *path; /* below the trial directory */
    char kind;        /* 'd' directory, 'f' file, 'l' symbolic link */
    const char
        *text;   /* bytes of a file, target of a link; a link target that starts with '@' is made absolute */
    mode_t mode; /* 0: 0755 and 0644 */
};
/* 0 or -errno, as zsb_probe.prepare. */
int zsb_kit_prepare(int lab_fd, const struct zsb_kit_object *objects, size_t count);

/* ---- files
 * -------------------------------------------------------------------------------------------------------- */

/* Opens for writing with extra flags, adds one line, closes. */
int zsb_kit_write(const char *path, int flags);
int zsb_kit_write_at(int dir_fd, const char *path, int flags);
/* Opens and hands over the first bytes. ENODATA when there are none. */
int zsb_kit_capture(struct zsb_ctx *ctx, const char *path);
int zsb_kit_capture_at(struct zsb_ctx *ctx, int dir_fd, const char *path);
int zsb_kit_capture_fd(struct zsb_ctx *ctx, int fd);
/* Hands over only what looks like a flag (runs of exactly 32 hex digits), because environments are long. */
void zsb_kit_capture_flags(struct zsb_ctx *ctx, const char *data, size_t size_bytes);
/* Every flag in a whole file. */
int zsb_kit_capture_flags_of(struct zsb_ctx *ctx, const char *path);
/* Names of processes below /proc; false from `visit` stops. */
int zsb_kit_each_process(struct zsb_ctx *ctx, bool (*visit)(struct zsb_ctx *ctx, const char *pid));

/* A private directory where this arm may write: below ws/, else /tmp, else /dev/shm. Removed (shallowly) at
 * the end of its scope, so that nothing stays on a host whose /tmp is shared. */
struct zsb_kit_scratch {
    char dir[PATH_MAX];
    char paths[4][PATH_MAX + NAME_MAX + 2];
    unsigned next;
};
/* The errno of the workspace when no place is writable: then nothing can be planted, which is the denial. */
int zsb_kit_scratch_make(struct zsb_ctx *ctx, struct zsb_kit_scratch *out_scratch);
void zsb_kit_scratch_remove(struct zsb_kit_scratch *scratch);
/* "<dir>/<name>", valid until 4 further calls. */
const char *zsb_kit_in(struct zsb_kit_scratch *scratch, const char *name);
#define ZSB_KIT_SCRATCH __attribute__((cleanup(zsb_kit_scratch_remove))) struct zsb_kit_scratch

/* ---- processes
 * ---------------------------------------------------------------------------------------------------- */

/* Forks a child that dies with this process. As fork(2). */
pid_t zsb_kit_fork(void);
/* Makes this (child) process die with its parent. */
void zsb_kit_die_with_parent(void);
/* Runs `step` in a child and returns its errno; the child stays (for inspection) when `stays` and it
 * succeeded. A child that dies of SIGSEGV, SIGILL or SIGSYS before it reported: ENOSYS. */
int zsb_kit_in_child(struct zsb_ctx *ctx, int (*step)(struct zsb_ctx *ctx), bool stays);
/* For a child made by other means: tell the parent / wait for the word (then reap it, unless it stays). */
struct zsb_kit_word {
    int pipe_fds[2];
};
int zsb_kit_word_open(struct zsb_kit_word *out_word);
/* In the child; never returns: stays when error is 0 and `stays`, else exits. */
__attribute__((noreturn)) void zsb_kit_word_say(struct zsb_kit_word *word, int error, bool stays);
/* In the parent; -1 when the child could not be made is passed through as `failed_errno`. */
int zsb_kit_word_hear(struct zsb_kit_word *word, pid_t child, int failed_errno, bool stays);
/* The victim's pid, or -1 where the trial did not name a victim completely: then nothing was attempted. */
pid_t zsb_kit_victim(const struct zsb_ctx *ctx);
uintptr_t zsb_kit_address(const struct zsb_ctx *ctx, const char *key);
/* Every descriptor of the process other than 0, 1, 2 and the result pipe. 0 when `visit` returned 0 for one
 * of them, else EBADF. */
int zsb_kit_each_descriptor(struct zsb_ctx *ctx, int (*visit)(struct zsb_ctx *ctx, int fd));
/* The result pipe's number, or -1 when the report goes to stdout. */
int zsb_kit_result_fd(void);

/* ---- sockets
 * ------------------------------------------------------------------------------------------------------ */

/* Address of a socket in the file system or (abstract) in the namespace; 0 or -1 when the name is too long.
 */
int zsb_kit_unix_address(const char *name, bool abstract, struct sockaddr_storage *out_address,
                         socklen_t *out_size);
int zsb_kit_inet_address(bool v6, long port, struct sockaddr_storage *out_address, socklen_t *out_size);
/* socket, connect, send the plant flag. */
int zsb_kit_connect_send(struct zsb_ctx *ctx, int type, int protocol, const struct sockaddr_storage *address,
                         socklen_t size);
/* The plant flag in one datagram by sendto, sendmsg or sendmmsg. */
enum zsb_kit_send { ZSB_KIT_SENDTO, ZSB_KIT_SENDMSG, ZSB_KIT_SENDMMSG };
int zsb_kit_send_to(struct zsb_ctx *ctx, int fd, enum zsb_kit_send how,
                    const struct sockaddr_storage *address, socklen_t size);
/* Sends the plant flag on a connected socket. */
int zsb_kit_send(struct zsb_ctx *ctx, int fd);
/* Bounds how long a blocking connect or send may take. */
int zsb_kit_socket(int family, int type, int protocol, int *out_fd);

/* ---- allowed twins
 * ------------------------------------------------------------------------------------------------ */

/* Writes and reads back a file where this mode may write; in memory where read-only mode leaves no such
 * place.
 */
int zsb_kit_benign_write(struct zsb_ctx *ctx);
int zsb_kit_benign_read(struct zsb_ctx *ctx);       /* ws/tracked.txt */
int zsb_kit_benign_socketpair(struct zsb_ctx *ctx); /* a stream pair of its own */
int zsb_kit_benign_memory(struct zsb_ctx *ctx);     /* its own memory, through /proc/self/mem */
int zsb_kit_benign_child(struct zsb_ctx *ctx);      /* a plain child, waited for */

#endif
