/* SPDX-License-Identifier: MIT
 *
 * Drives the real program: start, capture, and account for every process that came of it.
 */
#ifndef ZSB_GATE_TESTS_DRIVE_H
#define ZSB_GATE_TESTS_DRIVE_H

#include "lib/util/util.h"

#include <sys/types.h>

struct drive {
    const char *const *words; /* after the program's name; NULL-terminated */
    const char *directory;    /* cwd; NULL: this one */
    const char *input;        /* stdin from a pipe; NULL: /dev/null */
};
struct driven {
    int code;  /* exit status; 128+n for a signal */
    char *out; /* stdout and stderr, NUL-terminated */
    char *err;
};

/* Runs to the end; aborts the test when the program cannot even be started. */
struct driven drive(const struct drive *how);
void driven_clear(struct driven *driven);
#define DRIVEN __attribute__((cleanup(driven_clear))) struct driven

/* `drive` with words only. */
#define DRIVE(...) drive(&(const struct drive){.words = (const char *const[]){__VA_ARGS__, NULL}})
#define DRIVE_IN(where, ...)                                                                                 \
    drive(&(const struct drive){.words = (const char *const[]){__VA_ARGS__, NULL}, .directory = (where)})

/* Starts argv (argv[0] a path) with all streams on /dev/null in `directory`, in a session of its own as a
 * harness is to whoever adopts its orphans. */
pid_t drive_start(const char *const argv[], const char *directory);
/* Exit code as above. */
int drive_wait(pid_t pid);

/* From now on orphans of everything started here become children of this process. */
void drive_adopt_orphans(void);
/* True when every child and every orphan is gone within the time; else kills those that this process can name
 * as its children and says false. */
bool drive_all_gone(int64_t timeout_ms);

/* Around the whole suite, in the process that runs it: whatever a failed test leaves, files or processes,
 * goes at the end. */
void drive_open(void);
void drive_close(void);

/* A disposable directory on a path that private /tmp does not hide. */
char *drive_make_directory(void);
void drive_remove_directory(char *path); /* also frees */
void drive_write_file(const char *directory, const char *name, const char *text);
char *drive_read_file(const char *directory, const char *name);
bool drive_exists(const char *directory, const char *name); /* lstat */

/* True when this host can confine at all. Live test programs call it first and exit with drive_skip(). */
bool drive_host_can(void);
int drive_skip(void); /* 77, or 1 with ZSB_MUST_WORK=1 */

#endif
