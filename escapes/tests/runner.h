/* SPDX-License-Identifier: MIT
 *
 * Runs the real zuno-escapes bare in a disposable lab. Probes never run inside the test process.
 */
#ifndef ZSB_ESCAPES_TEST_RUNNER_H
#define ZSB_ESCAPES_TEST_RUNNER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TEST_NONCE_FORM "%032llx"
#define TEST_PLANT "0123456789abcdef0123456789abcdef"

struct lab {
    char path[PATH_MAX];
    char nonce[33];
};

/* Every lab lies in one directory of this run, which main() removes also when tests failed half-way. Call
 * both there. */
void labs_begin(void);
void labs_end(void);

/* The directories and files that probe.h lists, with all three protected directories when `repository`. */
void lab_open(struct lab *lab, bool repository);
void lab_close(struct lab *lab);
/* "<lab>/<relative>", static storage, overwritten by the next call. */
const char *lab_path(const struct lab *lab, const char *relative);

enum result_channel {
    RESULT_PIPE,       /* a pipe, its writing end inherited */
    RESULT_CLOSED,     /* ZSB_RESULT_FD names a closed descriptor */
    RESULT_NOT_A_PIPE, /* ... a regular file */
    RESULT_UNSET,      /* no ZSB_RESULT_FD at all */
    RESULT_READ_END,   /* ... a pipe that cannot be written */
};

struct program {
    pid_t pid;
    int result_fd, stdout_fd, stderr_fd; /* reading ends */
};

/* Starts `zuno-escapes words...` (NULL-terminated) with the words of the lab added when `lab` is given. */
void program_start(struct program *program, const struct lab *lab, enum result_channel channel,
                   const char *const *words);
/* Reads until a line that ends in `last` or the end; the text is the caller's to free. */
char *program_read_until(int fd, const char *last);
/* Waits up to timeout_ms; the exit status, 128 + signal, or -1 on timeout. */
int program_wait(struct program *program, int timeout_ms);
/* Closes everything, kills what is left. */
void program_end(struct program *program);

/* Living processes (zombies do not count) whose command line holds the lab's nonce. */
size_t processes_of(const struct lab *lab);
/* Waits until there are `wanted` of them. */
bool wait_for_processes(const struct lab *lab, size_t wanted, int timeout_ms);
void sleep_ms(int ms);

#endif
