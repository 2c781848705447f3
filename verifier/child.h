/* SPDX-License-Identifier: MIT
 *
 * Children of the verifier: every one dies with the process that started it, and leaves without running the
 * exit handlers it inherited.
 */
#ifndef ZSB_CHILD_H
#define ZSB_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* fork() whose child is killed when its parent goes away. */
pid_t zsb_child_fork(void);
/* Ends a forked child, keeping coverage counters. */
_Noreturn void zsb_child_leave(int status);
/* Becomes the adoptive parent of all orphans below, so that nothing started here gets lost. 0 or -errno. */
int zsb_child_adopt_orphans(void);
/* Ends every descendant and reaps it; gives up at the deadline (CLOCK_MONOTONIC). Returns whether none is
 * left. */
bool zsb_child_end_all(int64_t deadline_us);
int zsb_pidfd_open(pid_t pid); /* CLOEXEC; a descriptor or -1 with errno */

#endif
