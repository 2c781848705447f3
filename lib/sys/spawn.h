/* SPDX-License-Identifier: MIT
 *
 * Start a program by descriptor without copying the caller's memory (clone with CLONE_VM and CLONE_VFORK),
 * with exactly the descriptors named, default signal dispositions and, on request, a session of its own.
 */
#ifndef ZSB_SPAWN_H
#define ZSB_SPAWN_H

#include "lib/util/util.h"

#include <sys/types.h>

struct zsb_spawn_options {
    int exec_fd;
    char *const *argv;
    char *const *envp;
    int stdio[3];        /* become 0, 1, 2; each >= 0 */
    const int *keep_fds; /* stay open under their numbers */
    size_t keep_count;
    bool new_session;
};

/* 0 with the pid and a close-on-exec pidfd, or -errno (of clone or exec). Thread safe. */
int zsb_spawn(const struct zsb_spawn_options *options, pid_t *out_pid, int *out_pid_fd);

/* Waits at most timeout_ms (< 0: for ever) for the end; fills *out_status like waitpid when it could be had
 * (another waiter of the process may have taken it: then -1). True when the process is gone. Reaps. */
bool zsb_pidfd_wait(int pid_fd, int timeout_ms, int *out_status);

#endif
