/* SPDX-License-Identifier: MIT */
#include "verifier/worker.h"

#include "verifier/child.h"
#include "verifier/scene.h"
#include "verifier/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESULT_MAX = 4 << 20 };

static void run_arm(const struct zsb_task *task, enum zsb_arm arm, struct zsb_place *place,
                    struct zsb_arm_result *arms)
{
    struct zsb_arm_spec spec = {.arm = arm,
                                .lab = task->lab,
                                .probe = task->probe,
                                .mode = task->mode,
                                .network = task->network,
                                .subject = task->subject,
                                .helper_path = task->helper_path,
                                .place = place,
                                .deadline_ms = task->canary ? ZSB_CANARY_DEADLINE_MS : ZSB_ARM_DEADLINE_MS};
    zsb_arm_run(&spec, &arms[arm]);
}

static void run_task(const struct zsb_task *task, struct zsb_arm_result *arms)
{
    struct zsb_place place = {.slot = task->slot};
    if (task->canary) {
        run_arm(task, ZSB_ARM_CONFINED, &place, arms);
        return;
    }
    run_arm(task, ZSB_ARM_BARE, &place, arms);
    zsb_verdict_mark_absent(task->probe, &arms[ZSB_ARM_BARE]);
    if (zsb_verdict_all_absent(&arms[ZSB_ARM_BARE]))
        return;
    run_arm(task, ZSB_ARM_BENIGN, &place, arms);
    run_arm(task, ZSB_ARM_CONFINED, &place, arms);
}

/* A placeholder keeps the number of the report's pipe free; what else the caller of the campaign left open
 * down there is none of an arm's business. */
static int clear_low_descriptors(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, ZSB_LAB_FD_MIN);
    if (high < 0 || close_range(ZSB_RESULT_FD_NUMBER, ZSB_LAB_FD_MIN - 1, 0) < 0)
        return -errno;
    *fd = high;
    ZSB_AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd >= 0 && null_fd != ZSB_RESULT_FD_NUMBER)
        return dup3(null_fd, ZSB_RESULT_FD_NUMBER, O_CLOEXEC) < 0 ? -errno : 0;
    return zsb_steal_fd(&null_fd) < 0 ? -errno : 0;
}

/* A session of its own: no probe, bare or confined, ever sees the terminal of whoever runs the campaign. */
static int settle(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (setsid() < 0)
        return -errno;
    return zsb_child_adopt_orphans();
}

_Noreturn static void work(const struct zsb_task *task, int fd)
{
    struct zsb_arm_result arms[ZSB_ARM_COUNT];
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    memset(arms, 0, sizeof(arms));
    int rc = settle();
    if (rc == 0)
        rc = clear_low_descriptors(&fd);
    if (rc == 0) {
        run_task(task, arms);
        rc = zsb_transport_write(arms, &text);
    }
    if (rc == 0)
        rc = zsb_write_all(fd, text.data, text.size_bytes);
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++)
        zsb_arm_result_clear(&arms[i]);
    zsb_buf_clear(&text);
    zsb_child_leave(rc == 0 ? 0 : 1);
}

int zsb_worker_start(const struct zsb_task *task, struct zsb_worker *out_worker)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = zsb_child_fork();
    if (pid == 0) {
        (void)close(fds[0]);
        work(task, fds[1]);
    }
    int rc = pid < 0 ? -errno : zsb_set_nonblock(fds[0], true);
    (void)close(fds[1]);
    if (rc != 0) {
        (void)close(fds[0]);
        return rc;
    }
    *out_worker =
        (struct zsb_worker){pid, fds[0], ZSB_BUF_INIT, zsb_now_us() + (int64_t)ZSB_WORKER_DEADLINE_MS * 1000};
    out_worker->text.max_bytes = RESULT_MAX;
    return 0;
}

bool zsb_worker_pump(struct zsb_worker *worker)
{
    char chunk[16384];
    if (zsb_now_us() > worker->deadline_us)
        (void)kill(worker->pid, SIGKILL);
    for (;;) {
        ssize_t n = read(worker->fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n <= 0)
            return true;
        zsb_buf_append(&worker->text, chunk, (size_t)n);
    }
}

const char *zsb_worker_finish(struct zsb_worker *worker, struct zsb_arm_result *arms)
{
    int status = 0;
    pid_t pid = -1;
    do
        pid = waitpid(worker->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    worker->pid = -1;
    if (pid > 0 && WIFSIGNALED(status))
        return "the worker of this trial was killed";
    if (worker->text.failed || worker->text.data == NULL)
        return "the worker of this trial failed";
    return zsb_transport_read(worker->text.data, worker->text.size_bytes, arms);
}

void zsb_worker_clear(struct zsb_worker *worker)
{
    if (worker->pid > 0) {
        (void)kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    zsb_cleanup_fd(&worker->fd);
    zsb_buf_clear(&worker->text);
    worker->pid = worker->fd = -1;
}
