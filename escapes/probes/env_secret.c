/* SPDX-License-Identifier: MIT
 *
 * Does a secret of the caller's environment reach the command: in its own environment, or in that of any
 * process that it can see (the launcher's first process, a helper, its parent)?
 *
 * Reading an environment succeeds also when nothing secret is in it; only the captured flag counts. The last
 * attempt includes the process itself, so that it works unconfined, too.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int deny[] = {ENODATA, ENOENT, EACCES, EPERM, 0};

static int own_variables(struct zsb_ctx *ctx)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        zsb_kit_capture_flags(ctx, *entry, strlen(*entry));
    return 0;
}

/* What exec left on the stack, also where the program cleared its variables since. */
static int own_file(struct zsb_ctx *ctx)
{
    return zsb_kit_capture_flags_of(ctx, "/proc/self/environ");
}

static bool read_one(struct zsb_ctx *ctx, const char *pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    (void)zsb_kit_capture_flags_of(ctx, path);
    return true;
}

/* The likeliest first, because only so much is kept: parent, first process, then everybody. */
static int every_process(struct zsb_ctx *ctx)
{
    char parent[32];
    (void)snprintf(parent, sizeof(parent), "%d", (int)getppid());
    (void)read_one(ctx, parent);
    (void)read_one(ctx, "1");
    (void)read_one(ctx, "self");
    return zsb_kit_each_process(ctx, read_one);
}

static int benign(struct zsb_ctx *ctx)
{
    (void)ctx;
    if (setenv("ZSB_OWN_VARIABLE", "own", 1) < 0)
        return errno;
    const char *value = getenv("ZSB_OWN_VARIABLE");
    return value != NULL && strcmp(value, "own") == 0 ? 0 : EIO;
}

static const struct zsb_attempt attempts[] = {
    {.name = "variables",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "caller-env",
     .run = own_variables,
     .effect_only = true},
    {.name = "proc-self",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "caller-env",
     .run = own_file,
     .effect_only = true},
    {.name = "every-process",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "caller-env",
     .run = every_process,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_env_secret = {
    .id = "env.secret",
    .claim = "A secret in the caller's environment does not reach the command.",
    .boundary = "environment",
    .refs = "environ(7), proc_pid_environ(5)",
    .needs = ZSB_NEED_SECRET_ENV,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "sets and reads a variable of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
