/* SPDX-License-Identifier: MIT */
#include "gate/cancel.h"

#include "lib/util/util.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t first_signal;
static volatile sig_atomic_t wake_fd = -1;

static void on_signal(int number)
{
    const int saved_errno = errno;
    const uint64_t one = 1;
    if (!first_signal)
        first_signal = number;
    if (wake_fd >= 0 && write(wake_fd, &one, sizeof(one)) < 0) {
        /* Only a full counter fails, and then it is readable already. */
    }
    errno = saved_errno;
}

static int fail(const char *what, struct zsb_error *err)
{
    return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, errno, "cannot %s", what);
}

static int catch_signals(struct zsb_error *err)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(ending_signals); i++) {
        struct sigaction before;
        if (sigaction(ending_signals[i], NULL, &before))
            return fail("read a signal's disposition", err);
        if (before.sa_handler != SIG_IGN && sigaction(ending_signals[i], &action, NULL))
            return fail("catch a signal", err);
    }
    return 0;
}

static int watch(const struct zsb_cancel *cancel, int fd, struct zsb_error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(cancel->poll_fd, EPOLL_CTL_ADD, fd, &event) ? fail("watch a descriptor", err) : 0;
}

/* A child is born into its parent's session. In another one than its parent, and not the leader of its own,
 * it was orphaned and adopted between fork and now. */
static bool was_orphaned(pid_t parent)
{
    const pid_t session = getsid(0);
    return session != getpid() && getsid(parent) != session;
}

/* A parent that ended before we could watch it: then we have another one by now, and that one means nothing.
 * A parent outside of our pid namespace shows as 0 and cannot be watched. */
static int watch_parent(pid_t parent, struct zsb_cancel *cancel, struct zsb_error *err)
{
    if (parent <= 0)
        return 0;
    cancel->parent_fd = (int)syscall(SYS_pidfd_open, parent, 0);
    if (cancel->parent_fd < 0 && errno != ESRCH)
        return fail("watch the parent process", err);
    if (cancel->parent_fd < 0 || getppid() != parent || was_orphaned(parent)) {
        on_signal(SIGHUP);
        return 0;
    }
    return watch(cancel, cancel->parent_fd, err);
}

int zsb_cancel_open(pid_t parent, struct zsb_cancel *out_cancel, struct zsb_error *err)
{
    struct zsb_cancel cancel = {-1, -1, -1};
    cancel.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    cancel.poll_fd = epoll_create1(EPOLL_CLOEXEC);
    int rc = cancel.event_fd < 0 || cancel.poll_fd < 0 ? fail("make a descriptor for cancellation", err) : 0;
    if (!rc)
        rc = watch(&cancel, cancel.event_fd, err);
    wake_fd = cancel.event_fd;
    if (!rc)
        rc = catch_signals(err);
    if (!rc)
        rc = watch_parent(parent, &cancel, err);
    if (rc) {
        zsb_cancel_close(&cancel);
        return rc;
    }
    *out_cancel = cancel;
    return 0;
}

void zsb_cancel_close(struct zsb_cancel *cancel)
{
    wake_fd = -1;
    if (cancel->poll_fd >= 0)
        close(cancel->poll_fd);
    if (cancel->event_fd >= 0)
        close(cancel->event_fd);
    if (cancel->parent_fd >= 0)
        close(cancel->parent_fd);
    *cancel = (struct zsb_cancel){-1, -1, -1};
}

int zsb_cancel_signal(const struct zsb_cancel *cancel)
{
    if (first_signal)
        return first_signal;
    struct pollfd parent = {.fd = cancel->parent_fd, .events = POLLIN};
    return cancel->parent_fd >= 0 && poll(&parent, 1, 0) == 1 ? SIGHUP : 0;
}
