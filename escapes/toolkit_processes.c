/* SPDX-License-Identifier: MIT */
#include "escapes/toolkit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORD_TIMEOUT_MS = 4000, CHILD_LIFE_S = 20, DESCRIPTOR_MAX = 4096 };

const int zsb_kit_deny_process[] = {ESRCH, EPERM, EACCES, ENOENT, ENOSYS, 0};
const int zsb_kit_deny_syscall[] = {EPERM, EACCES, ENOSYS, 0};

void zsb_kit_die_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Second line of defence: the death signal is lost when the parent was gone before it was asked for. */
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(CHILD_LIFE_S);
}

/* Returns once the child's death is tied to ours: a tracer that stopped it earlier would leave it behind,
 * stopped. */
pid_t zsb_kit_fork(void)
{
    int tied[2];
    char byte = 0;
    if (pipe2(tied, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        zsb_kit_die_with_parent();
        (void)close(tied[0]);
        (void)close(tied[1]);
        return 0;
    }
    int saved_errno = errno;
    (void)close(tied[1]);
    while (pid > 0 && read(tied[0], &byte, 1) < 0 && errno == EINTR)
        ;
    (void)close(tied[0]);
    errno = saved_errno;
    return pid;
}

int zsb_kit_word_open(struct zsb_kit_word *out_word)
{
    return pipe2(out_word->pipe_fds, O_CLOEXEC) < 0 ? errno : 0;
}

void zsb_kit_word_say(struct zsb_kit_word *word, int error, bool stays)
{
    if (write(word->pipe_fds[1], &error, sizeof(error)) != (ssize_t)sizeof(error))
        _exit(1);
    (void)close(word->pipe_fds[1]);
    while (stays && error == 0)
        (void)pause();
    _exit(0);
}

static int died_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGILL))
        return ENOSYS;
    return -1;
}

int zsb_kit_word_hear(struct zsb_kit_word *word, pid_t child, int failed_errno, bool stays)
{
    (void)close(word->pipe_fds[1]);
    ZSB_KIT_FD fd = word->pipe_fds[0];
    if (child < 0)
        return failed_errno;
    int error = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready = poll(&wait, 1, WORD_TIMEOUT_MS);
    ssize_t n = ready == 1 ? read(fd, &error, sizeof(error)) : -1;
    if (n != (ssize_t)sizeof(error)) {
        if (ready != 1)
            (void)kill(child, SIGKILL);
        return died_of(child);
    }
    if (!stays || error != 0)
        (void)died_of(child);
    return error;
}

int zsb_kit_in_child(struct zsb_ctx *ctx, int (*step)(struct zsb_ctx *ctx), bool stays)
{
    struct zsb_kit_word word;
    int error = zsb_kit_word_open(&word);
    if (error != 0)
        return -1;
    pid_t child = zsb_kit_fork();
    if (child == 0)
        zsb_kit_word_say(&word, step(ctx), stays);
    return zsb_kit_word_hear(&word, child, errno, stays);
}

uintptr_t zsb_kit_address(const struct zsb_ctx *ctx, const char *key)
{
    const char *text = zsb_arg(ctx, key);
    return text != NULL ? (uintptr_t)strtoull(text, NULL, 16) : 0;
}

pid_t zsb_kit_victim(const struct zsb_ctx *ctx)
{
    long pid = zsb_arg_long(ctx, "victim");
    bool whole = zsb_kit_address(ctx, "victim-read") != 0 && zsb_kit_address(ctx, "victim-write") != 0 &&
                 zsb_arg_long(ctx, "victim-fd") >= 0;
    /* 0, 1 and negative numbers mean other processes to kill(2) and friends. */
    return whole && pid > 1 && pid <= INT32_MAX ? (pid_t)pid : -1;
}

int zsb_kit_result_fd(void)
{
    const char *text = getenv(ZSB_RESULT_FD_ENV);
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || number > INT32_MAX)
        return -1;
    struct stat st;
    int flags = fcntl((int)number, F_GETFL);
    /* Another object may stand at that number where the launcher closed ours. */
    bool ours =
        flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat((int)number, &st) == 0 && S_ISFIFO(st.st_mode);
    return ours ? (int)number : -1;
}

int zsb_kit_each_descriptor(struct zsb_ctx *ctx, int (*visit)(struct zsb_ctx *ctx, int fd))
{
    /* By number, not by /proc/self/fd, which a launcher need not mount. */
    int result_fd = zsb_kit_result_fd();
    int error = EBADF;
    for (int fd = 3; fd < DESCRIPTOR_MAX; fd++)
        if (fd != result_fd && fcntl(fd, F_GETFD) >= 0 && visit(ctx, fd) == 0)
            error = 0;
    return error;
}

/* ---- allowed twins */

static int do_nothing(struct zsb_ctx *ctx)
{
    (void)ctx;
    return 0;
}

int zsb_kit_benign_child(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_nothing, false);
}

int zsb_kit_benign_memory(struct zsb_ctx *ctx)
{
    (void)ctx;
    static char source[] = "own memory";
    static char copy[sizeof(source)];
    ZSB_KIT_FD fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (pread(fd, copy, sizeof(copy), (off_t)(uintptr_t)source) != (ssize_t)sizeof(copy))
        return errno != 0 ? errno : EIO;
    return memcmp(source, copy, sizeof(copy)) == 0 ? 0 : EIO;
}
