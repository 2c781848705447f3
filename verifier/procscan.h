/* SPDX-License-Identifier: MIT
 *
 * Processes seen from outside, by way of /proc: which belong to an arm, and what state they are in. An arm's
 * processes are known by its nonce, which stands in the command line of the probe and of everything it forks.
 */
#ifndef ZSB_PROCSCAN_H
#define ZSB_PROCSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ZSB_PROCS_MAX = 64 };

struct zsb_proc {
    pid_t pid, parent;
    char state;
    char comm[32];
    unsigned long long start_time;
    bool genuine; /* executes the lab's copy of zuno-escapes with exactly the words it was given */
};

struct zsb_procs {
    struct zsb_proc items[ZSB_PROCS_MAX];
    size_t count;
    bool overflow;
};

/* What an arm's processes are known by. */
struct zsb_proc_mark {
    const char *nonce;
    dev_t exe_device; /* of the genuine binary */
    ino_t exe_inode;
    const char *words; /* its arguments behind argv[0], each with its NUL */
    size_t words_size;
};

/* Every living process whose command line holds the nonce, oldest first. 0 or -errno. */
int zsb_procscan_find(const struct zsb_proc_mark *mark, struct zsb_procs *out);
/* The arm's first process: the oldest genuine one whose parent is not among them. NULL when there is none. */
const struct zsb_proc *zsb_procs_first(const struct zsb_procs *procs);

struct zsb_proc_status {
    pid_t tracer;
    bool any_capability;
    char capabilities[96]; /* the sets that are not empty, for people */
    bool no_new_privs;
    int seccomp; /* 0 none, 1 strict, 2 filter */
};
int zsb_proc_read_status(pid_t pid, struct zsb_proc_status *out); /* 0 or -errno */
/* Identity of a namespace ("user", "mnt", "net", "pid", ...). 0 or -errno. */
int zsb_proc_namespace(pid_t pid, const char *kind, ino_t *out);
/* Looks for an open descriptor on `target`: link text, or an absolute path (then only one open for writing
 * counts). 1 found (its text in `saw`), 0 not, -errno when the process could not be inspected. */
int zsb_proc_has_descriptor(pid_t pid, const char *target, char *saw, size_t saw_size);

/* SIGKILL to every descendant of `root`, and to nobody else. */
void zsb_procscan_kill_descendants(pid_t root);

/* SIGKILL to every process whose command line holds `mark`, a random text that only our own processes were
 * given. */
void zsb_procscan_kill_marked(const char *mark);

#endif
