/* SPDX-License-Identifier: MIT */
#include "verifier/child.h"

#include "lib/util/coverage.h"
#include "lib/util/util.h"
#include "verifier/procscan.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void zsb_child_leave(int status)
{
    ZSB_COVERAGE_DUMP();
    _exit(status);
}

pid_t zsb_child_fork(void)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    /* The parent may have died before the kernel was told to watch it. */
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) < 0 || getppid() != parent)
        _exit(127);
    /* What the verifier ignores, a program under test must not inherit as ignored. */
    (void)signal(SIGPIPE, SIG_DFL);
    return 0;
}

int zsb_child_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) < 0 ? -errno : 0;
}

int zsb_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0U);
}

bool zsb_child_end_all(int64_t deadline_us)
{
    const struct timespec pause = {0, 500000};
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);
        if (pid > 0 || (pid < 0 && errno == EINTR))
            continue;
        if (pid < 0)
            return true; /* ECHILD: orphans come to us, so no child means no descendant */
        zsb_procscan_kill_descendants(getpid());
        if (zsb_now_us() > deadline_us)
            return false;
        /* Killed, but not yet dead: there is no descriptor to wait on for "any child". */
        (void)nanosleep(&pause, NULL);
    }
}
