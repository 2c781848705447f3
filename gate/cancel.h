/* SPDX-License-Identifier: MIT
 *
 * One descriptor that becomes readable when `run` has to end its command: a signal for us, or the end of the
 * process above us. Signals are caught by handlers, not blocked or ignored, because a mask or SIG_IGN would
 * pass into the command; those that the caller had ignored (nohup, a shell's background job) stay ignored.
 *
 * Once per process. Async signals only write to an eventfd.
 */
#ifndef ZSB_GATE_CANCEL_H
#define ZSB_GATE_CANCEL_H

#include <zuno/error.h>

#include <sys/types.h>

struct zsb_cancel {
    int poll_fd; /* readable: cancel; an epoll descriptor over the other two */
    int event_fd;
    int parent_fd; /* -1: the parent is not visible from here */
};

/* `parent` is getppid() as it was when the program started. Errors: io (stage spawn). */
ZSB_MUST_CHECK int zsb_cancel_open(pid_t parent, struct zsb_cancel *out_cancel, struct zsb_error *err);
void zsb_cancel_close(struct zsb_cancel *cancel);
/* The signal to report: the first that arrived, or SIGHUP when the parent ended, or 0. */
int zsb_cancel_signal(const struct zsb_cancel *cancel);

#endif
