/* SPDX-License-Identifier: MIT
 *
 * Can a command attach to a process outside and read or write its memory?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { FLAG_BYTES = 32, WAIT_ROUNDS = 200 };

/* Attaching stops the victim; it is let go again before the attempt ends. */
static int wait_until_stopped(pid_t pid)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    for (int i = 0; i < WAIT_ROUNDS; i++) {
        int status = 0;
        pid_t got = waitpid(pid, &status, WNOHANG | __WALL);
        if (got == pid && WIFSTOPPED(status))
            return 0;
        if (got < 0)
            return errno;
        (void)nanosleep(&pause, NULL);
    }
    return ETIMEDOUT;
}

static int peek(struct zsb_ctx *ctx, pid_t pid)
{
    long words[FLAG_BYTES / sizeof(long)];
    uintptr_t address = zsb_kit_address(ctx, "victim-read");
    for (size_t i = 0; i < ZSB_KIT_COUNT(words); i++) {
        errno = 0;
        words[i] = ptrace(PTRACE_PEEKDATA, pid, (void *)(address + i * sizeof(long)), NULL);
        if (errno != 0)
            return errno;
    }
    zsb_capture(ctx, words, sizeof(words));
    return 0;
}

static int poke(struct zsb_ctx *ctx, pid_t pid)
{
    long words[FLAG_BYTES / sizeof(long)];
    uintptr_t address = zsb_kit_address(ctx, "victim-write");
    memcpy(words, zsb_plant(ctx), sizeof(words));
    for (size_t i = 0; i < ZSB_KIT_COUNT(words); i++)
        if (ptrace(PTRACE_POKEDATA, pid, (void *)(address + i * sizeof(long)), (void *)words[i]) < 0)
            return errno;
    return 0;
}

static int attached(struct zsb_ctx *ctx, bool seize, int (*step)(struct zsb_ctx *ctx, pid_t pid))
{
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    if (ptrace(seize ? PTRACE_SEIZE : PTRACE_ATTACH, pid, NULL, NULL) < 0)
        return errno;
    if (seize && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
        return errno;
    int error = wait_until_stopped(pid);
    if (error == 0)
        error = step(ctx, pid);
    (void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return error;
}

static int attach_and_read(struct zsb_ctx *ctx)
{
    return attached(ctx, false, peek);
}

static int seize_and_write(struct zsb_ctx *ctx)
{
    return attached(ctx, true, poke);
}

static const struct zsb_attempt attempts[] = {
    {.name = "attach-read", .witness = ZSB_WITNESS_CAPTURE, .target = "memory", .run = attach_and_read},
    {.name = "seize-write", .witness = ZSB_WITNESS_MEMORY, .target = "victim", .run = seize_and_write},
};

const struct zsb_probe zsb_probe_proc_ptrace_outside = {
    .id = "proc.ptrace-outside",
    .claim = "A command cannot trace a process outside.",
    .boundary = "process",
    .refs = "ptrace(2)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = zsb_kit_benign_memory,
    .benign_claim = "reads its own memory",
    ZSB_KIT_ATTEMPTS(attempts),
};
