/* SPDX-License-Identifier: MIT
 *
 * Can a command read the environment of a process outside, known by its number or found by looking around?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <stdio.h>

static const int deny[] = {ESRCH, EPERM, EACCES, ENOENT, ENODATA, 0};

static int by_number(struct zsb_ctx *ctx)
{
    char path[64];
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    return zsb_kit_capture_flags_of(ctx, path);
}

static int by_thread(struct zsb_ctx *ctx)
{
    char path[96];
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/environ", (int)pid, (int)pid);
    return zsb_kit_capture_flags_of(ctx, path);
}

static bool read_one(struct zsb_ctx *ctx, const char *pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    (void)zsb_kit_capture_flags_of(ctx, path);
    return true;
}

static int by_looking_around(struct zsb_ctx *ctx)
{
    return zsb_kit_each_process(ctx, read_one);
}

static int benign(struct zsb_ctx *ctx)
{
    int error = zsb_kit_capture_flags_of(ctx, "/proc/self/environ");
    return error == ENODATA ? 0 : error; /* an empty environment was read as well */
}

static const struct zsb_attempt attempts[] = {
    {.name = "number", .witness = ZSB_WITNESS_CAPTURE, .target = "environ", .run = by_number},
    {.name = "thread", .witness = ZSB_WITNESS_CAPTURE, .target = "environ", .run = by_thread},
    /* Inside, /proc lists the sandbox's own processes: looking around succeeds and finds nothing. */
    {.name = "every-process",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "environ",
     .run = by_looking_around,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_proc_environ_outside = {
    .id = "proc.environ-outside",
    .claim = "A command cannot read the environment of a process outside.",
    .boundary = "process",
    .refs = "proc_pid_environ(5)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "reads its own environment through /proc",
    ZSB_KIT_ATTEMPTS(attempts),
};
