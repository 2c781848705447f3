/* SPDX-License-Identifier: MIT */
#include "escapes/survivor.h"

#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_TIMEOUT_MS = 4000, LOOK_EVERY_NS = 20000000 };

/* A timer may send SIGKILL, which ends also what is stopped. */
static int limit_life(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_sec = ZSB_SURVIVOR_LIFE_S}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0)
        return errno;
    return 0;
}

/* The report belongs to the probe; a survivor that held it, or the caller's streams, would keep readers
 * waiting. */
static void let_go_of_descriptors(void)
{
    int result_fd = zsb_kit_result_fd();
    if (result_fd >= 0)
        (void)close(result_fd);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
        (void)dup2(null_fd, fd);
}

static void ignore_signals(void)
{
    for (int number = 1; number < 32; number++)
        (void)signal(number, SIG_IGN);
}

/* Being ended by the one who adopted it is not what is tried here; being ended with the sandbox is. */
static void die_with_adopter(pid_t first_parent)
{
    static const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
    while (getppid() == first_parent)
        (void)nanosleep(&pause, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

__attribute__((noreturn)) static void survive(const struct zsb_survivor *survivor, pid_t first_parent,
                                              int ready_fd)
{
    int error = limit_life();
    let_go_of_descriptors();
    if (error == 0 && survivor->own_session && setsid() < 0)
        error = errno;
    if (survivor->ignores_signals)
        ignore_signals();
    (void)prctl(PR_SET_NAME, survivor->comm);
    /* Before it stops: afterwards it could do neither. */
    if (survivor->orphaned)
        die_with_adopter(first_parent);
    if (write(ready_fd, &error, sizeof(error)) != (ssize_t)sizeof(error) || error != 0)
        _exit(1);
    (void)close(ready_fd);
    if (survivor->stopped)
        (void)raise(SIGSTOP);
    if (!survivor->orphaned)
        die_with_adopter(first_parent);
    for (;;)
        (void)pause();
}

static int wait_until_ready(int fd)
{
    int error = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, READY_TIMEOUT_MS) != 1 || read(fd, &error, sizeof(error)) != (ssize_t)sizeof(error))
        return -1;
    return error;
}

int zsb_survivor_start(const struct zsb_survivor *survivor)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -1;
    ZSB_KIT_FD reader = pipe_fds[0];
    pid_t child = fork();
    if (child == 0) {
        pid_t middle = getpid();
        if (!survivor->orphaned)
            survive(survivor, getppid(), pipe_fds[1]);
        pid_t grandchild = fork();
        if (grandchild == 0)
            survive(survivor, middle, pipe_fds[1]);
        _exit(grandchild < 0 ? 1 : 0);
    }
    int failed_errno = errno;
    (void)close(pipe_fds[1]);
    if (child < 0)
        return failed_errno;
    if (survivor->orphaned)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    return wait_until_ready(reader);
}
