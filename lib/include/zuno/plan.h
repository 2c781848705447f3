/* SPDX-License-Identifier: MIT
 *
 * Plan: a policy as an ordered list of typed steps. Each step names the policy entry that caused it, so
 * "nothing was dropped" can be read off the plan. Immutable; borrows from the policy, which must outlive it.
 */
#ifndef ZUNO_PLAN_H
#define ZUNO_PLAN_H

#include <zuno/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

enum zsb_step_kind {
    ZSB_STEP_NEW_NAMESPACE = 0, /* detail: user, pid, ipc, uts, cgroup, mount, net */
    ZSB_STEP_ROOT_READ_ONLY,
    ZSB_STEP_MINIMAL_DEV,
    ZSB_STEP_FRESH_PROC,
    ZSB_STEP_PROC_KNOBS_READ_ONLY,
    ZSB_STEP_PRIVATE_TMP,
    ZSB_STEP_PRIVATE_SHM,
    ZSB_STEP_VISIBLE, /* a path under a private mount that must stay visible read-only */
    ZSB_STEP_WRITABLE_ROOT,
    ZSB_STEP_PIN_ANCESTOR,    /* an ancestor of a nested protected path, made unrenamable */
    ZSB_STEP_PROTECT,         /* an existing protected path, made read-only */
    ZSB_STEP_PROTECT_MISSING, /* a protected name that does not exist: cannot be created */
    ZSB_STEP_DENY,            /* an existing path, neither readable nor writable */
    ZSB_STEP_DENY_MISSING,    /* a denied name that does not exist inside a writable root */
    ZSB_STEP_SESSION,
    ZSB_STEP_CLOSE_DESCRIPTORS,
    ZSB_STEP_DROP_CAPABILITIES,
    ZSB_STEP_NO_NEW_PRIVS,
    ZSB_STEP_SYSCALL_FILTER, /* detail: deny or allow (network) */
    ZSB_STEP_ENVIRONMENT,
    ZSB_STEP_CWD,
    ZSB_STEP_KIND_COUNT
};

struct zsb_step {
    enum zsb_step_kind kind;
    const char *path;   /* absolute canonical path, or "" */
    const char *detail; /* per kind, or "" */
    const char *origin; /* the policy entry: "mode", "network", "default", "writableRoots[0]", ... */
};

struct zsb_plan; /* opaque, immutable */

/* Errors: invalid_argument, no_memory (stage policy). */
ZSB_API ZSB_MUST_CHECK int zsb_plan_new(const struct zsb_policy *policy, struct zsb_plan **out_plan,
                                        struct zsb_error *err);
ZSB_API void zsb_plan_free(struct zsb_plan *plan);
ZSB_API size_t zsb_plan_count(const struct zsb_plan *plan);
/* NULL when out of range. Owned by the plan. */
ZSB_API const struct zsb_step *zsb_plan_step(const struct zsb_plan *plan, size_t index);
ZSB_API const char *zsb_step_kind_name(enum zsb_step_kind kind); /* "ROOT_READ_ONLY", ... */

#ifdef __cplusplus
}
#endif
#endif
