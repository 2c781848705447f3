/* SPDX-License-Identifier: MIT
 *
 * Can a command make a user namespace, and with it capabilities over new kernel surface? A child sits in each
 * one that was made, for inspection. The kinds differ so that the witness can tell the calls apart; all
 * include "user".
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int deny[] = {EPERM, EACCES, ENOSYS, ENOSPC, EUSERS, 0}; /* ENOSPC: a limit of namespaces */
static const int absent_clone3[] = {ENOSYS, 0};

static int do_unshare_user(struct zsb_ctx *ctx)
{
    (void)ctx;
    return unshare(CLONE_NEWUSER) < 0 ? errno : 0;
}

static int do_unshare_mount(struct zsb_ctx *ctx)
{
    (void)ctx;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? errno : 0;
}

static int by_unshare(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_unshare_user, true);
}

static int by_unshare_mount(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_unshare_mount, true);
}

static int by_clone(struct zsb_ctx *ctx)
{
    struct zsb_kit_word word;
    (void)ctx;
    if (zsb_kit_word_open(&word) != 0)
        return -1;
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL, 0L);
    if (child == 0) {
        zsb_kit_die_with_parent();
        zsb_kit_word_say(&word, 0, true);
    }
    return zsb_kit_word_hear(&word, child, errno, true);
}

static int by_clone3(struct zsb_ctx *ctx)
{
    struct zsb_kit_word word;
    struct clone_args args;
    (void)ctx;
    if (zsb_kit_word_open(&word) != 0)
        return -1;
    memset(&args, 0, sizeof(args));
    args.flags = CLONE_NEWUSER | CLONE_NEWPID;
    args.exit_signal = SIGCHLD;
    pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (child == 0) {
        zsb_kit_die_with_parent();
        zsb_kit_word_say(&word, 0, true);
    }
    return zsb_kit_word_hear(&word, child, errno, true);
}

static const struct zsb_attempt attempts[] = {
    {.name = "unshare", .witness = ZSB_WITNESS_NAMESPACE, .target = "user", .run = by_unshare},
    {.name = "unshare-mount", .witness = ZSB_WITNESS_NAMESPACE, .target = "mnt", .run = by_unshare_mount},
    {.name = "clone", .witness = ZSB_WITNESS_NAMESPACE, .target = "net", .run = by_clone},
    {.name = "clone3",
     .witness = ZSB_WITNESS_NAMESPACE,
     .target = "pid",
     .run = by_clone3,
     .absent_errnos = absent_clone3},
};

const struct zsb_probe zsb_probe_priv_user_namespace = {
    .id = "priv.user-namespace",
    .claim = "A command cannot make a user namespace.",
    .boundary = "privilege",
    .refs = "CVE-2021-41133, CVE-2022-0185, user_namespaces(7), clone(2), unshare(2)",
    .needs = ZSB_NEED_USERNS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_child,
    .benign_claim = "starts a child in the namespaces it has",
    ZSB_KIT_ATTEMPTS(attempts),
};
