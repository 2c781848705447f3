/* SPDX-License-Identifier: MIT
 *
 * Can a command trace at all, be it only its own child? (The roadmap takes tracing away; a tracer is the
 * shortest way around a filter that judges system calls by their numbers.)
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child asks to be traced and stays. It does not stop itself: being traced is what counts. */
static int ask_to_be_traced(struct zsb_ctx *ctx)
{
    (void)ctx;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? errno : 0;
}

static int traceme(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, ask_to_be_traced, true);
}

static int trace_a_child(bool seize)
{
    pid_t child = zsb_kit_fork();
    if (child < 0)
        return -1;
    while (child == 0)
        (void)pause();
    /* EXITKILL: the child must not go on untraced when this process is ended. */
    long rc = seize ? ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_EXITKILL)
                    : ptrace(PTRACE_ATTACH, child, NULL, NULL);
    int error = rc < 0 ? errno : 0;
    if (error != 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    return error;
}

static int seize(struct zsb_ctx *ctx)
{
    (void)ctx;
    return trace_a_child(true);
}

static int attach(struct zsb_ctx *ctx)
{
    (void)ctx;
    return trace_a_child(false);
}

static const struct zsb_attempt attempts[] = {
    {.name = "traceme", .witness = ZSB_WITNESS_TRACED, .target = "child", .run = traceme},
    {.name = "seize", .witness = ZSB_WITNESS_TRACED, .target = "child", .run = seize},
    {.name = "attach", .witness = ZSB_WITNESS_TRACED, .target = "child", .run = attach},
};

const struct zsb_probe zsb_probe_proc_ptrace_child = {
    .id = "proc.ptrace-child",
    .claim = "A command cannot trace, not even its own child.",
    .boundary = "process",
    .refs = "ptrace(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_syscall,
    .benign = zsb_kit_benign_child,
    .benign_claim = "starts a child of its own and waits for it",
    ZSB_KIT_ATTEMPTS(attempts),
};
