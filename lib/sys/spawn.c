/* SPDX-License-Identifier: MIT */
#include "lib/sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { CHILD_STACK_BYTES = 64 << 10, FIRST_FREE_FD = 3 };

struct child {
    const struct zsb_spawn_options *options;
    int failed_errno; /* written by the child; the memory is shared until it executes */
};

static int move_stdio(const int stdio[3])
{
    int high[3];
    /* Away from 0..2 first, so that no source is overwritten before it was used. */
    for (int i = 0; i < 3; i++) {
        high[i] = fcntl(stdio[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (high[i] < 0)
            return -errno;
    }
    for (int i = 0; i < 3; i++)
        if (dup3(high[i], i, 0) < 0)
            return -errno;
    return 0;
}

static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        (void)sigaction(signal_number, &action, NULL);
}

/* Runs in the caller's memory, on a stack of its own, while the calling thread is suspended: only system
 * calls. */
__attribute__((no_sanitize("address"))) static int child_main(void *argument)
{
    struct child *child = argument;
    const struct zsb_spawn_options *options = child->options;
    sigset_t none;
    reset_signals();
    if (options->new_session)
        (void)setsid();
    int rc = move_stdio(options->stdio);
    if (rc == 0 && close_range(FIRST_FREE_FD, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        rc = -errno;
    for (size_t i = 0; rc == 0 && i < options->keep_count; i++)
        if (fcntl(options->keep_fds[i], F_SETFD, 0) < 0)
            rc = -errno;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (rc == 0) {
        (void)syscall(SYS_execveat, options->exec_fd, "", options->argv, options->envp, AT_EMPTY_PATH);
        rc = -errno;
    }
    child->failed_errno = -rc;
    _exit(127);
}

int zsb_spawn(const struct zsb_spawn_options *options, pid_t *out_pid, int *out_pid_fd)
{
    struct child child = {.options = options};
    sigset_t all;
    sigset_t before;
    int cancel_state = 0;
    int pid_fd = -1;
    char *stack =
        mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    (void)sigfillset(&all);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(child_main, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                      &child, &pid_fd);
    int clone_errno = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_setcancelstate(cancel_state, NULL);
    (void)munmap(stack, CHILD_STACK_BYTES);
    if (pid < 0)
        return -clone_errno;
    if (child.failed_errno != 0) {
        (void)zsb_pidfd_wait(pid_fd, -1, NULL);
        (void)close(pid_fd);
        return -child.failed_errno;
    }
    *out_pid = pid;
    *out_pid_fd = pid_fd;
    return 0;
}

static int status_of(const siginfo_t *info)
{
    return info->si_code == CLD_EXITED ? (info->si_status & 0xff) << 8 : info->si_status & 0x7f;
}

bool zsb_pidfd_wait(int pid_fd, int timeout_ms, int *out_status)
{
    struct pollfd wait = {.fd = pid_fd, .events = POLLIN};
    int64_t until_us = zsb_now_us() + (int64_t)timeout_ms * 1000;
    for (;;) {
        int64_t left_ms = timeout_ms < 0 ? -1 : (until_us - zsb_now_us()) / 1000;
        int n = poll(&wait, 1, timeout_ms < 0 ? -1 : left_ms > 0 ? (int)left_ms : 0);
        if (n > 0)
            break;
        if (n == 0 || errno != EINTR)
            return false;
    }
    siginfo_t info = {.si_pid = 0};
    int rc;
    do {
        rc = waitid((idtype_t)P_PIDFD, (id_t)pid_fd, &info, WEXITED);
    } while (rc < 0 && errno == EINTR);
    if (out_status != NULL)
        *out_status = rc == 0 ? status_of(&info) : -1;
    return true;
}
