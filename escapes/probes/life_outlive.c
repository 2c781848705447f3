/* SPDX-License-Identifier: MIT
 *
 * When the caller cancels, does any process of the command stay: one in a session of its own, a double fork,
 * a stopped one, one that ignores every signal that it may ignore?
 */
#include "escapes/catalogue.h"
#include "escapes/survivor.h"
#include "escapes/toolkit.h"

#include <errno.h>

static const int deny[] = {EPERM, EAGAIN, ENOSYS, 0};

static int plain(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){.comm = "zsb-plain"});
}

static int session(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){.comm = "zsb-session", .own_session = true});
}

static int double_fork(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(
        &(struct zsb_survivor){.comm = "zsb-double-fork", .own_session = true, .orphaned = true});
}

static int stopped(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){
        .comm = "zsb-stopped", .own_session = true, .orphaned = true, .stopped = true});
}

static int ignoring(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){
        .comm = "zsb-ignoring", .own_session = true, .orphaned = true, .ignores_signals = true});
}

/* That a survivor was started says nothing: only whether it is still there when the arm has ended. */
static const struct zsb_attempt attempts[] = {
    {.name = "plain",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-plain",
     .run = plain,
     .effect_only = true},
    {.name = "setsid",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-session",
     .run = session,
     .effect_only = true},
    {.name = "double-fork",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-double-fork",
     .run = double_fork,
     .effect_only = true},
    {.name = "stopped",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-stopped",
     .run = stopped,
     .effect_only = true},
    {.name = "ignoring",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-ignoring",
     .run = ignoring,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_life_outlive = {
    .id = "life.outlive",
    .claim = "When the caller cancels, no process of the command stays.",
    .boundary = "lifetime",
    .refs = "setsid(2), pid_namespaces(7), PR_SET_PDEATHSIG(2const)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .ending = ZSB_END_CANCEL,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_child,
    .benign_claim = "starts a child of its own and waits for it",
    ZSB_KIT_ATTEMPTS(attempts),
};
