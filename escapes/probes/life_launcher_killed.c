/* SPDX-License-Identifier: MIT
 *
 * When the launcher is killed outright, does any process of the command stay? Nobody is left then to clean
 * up.
 */
#include "escapes/catalogue.h"
#include "escapes/survivor.h"
#include "escapes/toolkit.h"

#include <errno.h>

static const int deny[] = {EPERM, EAGAIN, ENOSYS, 0};

static int plain(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){.comm = "zsb-k-plain"});
}

static int session(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){.comm = "zsb-k-session", .own_session = true});
}

static int stopped(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){
        .comm = "zsb-k-stopped", .own_session = true, .orphaned = true, .stopped = true});
}

static int ignoring(struct zsb_ctx *ctx)
{
    (void)ctx;
    return zsb_survivor_start(&(struct zsb_survivor){
        .comm = "zsb-k-ignoring", .own_session = true, .orphaned = true, .ignores_signals = true});
}

static const struct zsb_attempt attempts[] = {
    {.name = "plain",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-k-plain",
     .run = plain,
     .effect_only = true},
    {.name = "setsid",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-k-session",
     .run = session,
     .effect_only = true},
    {.name = "stopped",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-k-stopped",
     .run = stopped,
     .effect_only = true},
    {.name = "ignoring",
     .witness = ZSB_WITNESS_SURVIVOR,
     .target = "zsb-k-ignoring",
     .run = ignoring,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_life_launcher_killed = {
    .id = "life.launcher-killed",
    .claim = "When the launcher is killed, no process of the command stays.",
    .boundary = "lifetime",
    .refs = "pid_namespaces(7), PR_SET_PDEATHSIG(2const)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .ending = ZSB_END_KILL_LAUNCHER,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_child,
    .benign_claim = "starts a child of its own and waits for it",
    ZSB_KIT_ATTEMPTS(attempts),
};
