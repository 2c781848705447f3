/* SPDX-License-Identifier: MIT
 *
 * Criterion read_only_policy_compiled: compile a read-only policy with protected and denied paths and account
 * for every one of them in the plan.
 */
#ifndef ZSB_GATE_AUDIT_H
#define ZSB_GATE_AUDIT_H

#include "lib/util/util.h"

#include <zuno/sandbox.h>

/* True when the plan holds a step of `kind` or `missing_kind` for each of `count` entries of `list`
 * ("denyPaths", "protectedPaths"), and the backend enforces every step of the plan. What is missing is
 * written to `problem`. */
bool zsb_audit_entries(const struct zsb_plan *plan, const char *list, size_t count, enum zsb_step_kind kind,
                       enum zsb_step_kind missing_kind, struct zsb_buf *problem);
bool zsb_audit_enforced(const struct zsb_plan *plan, const struct zsb_backend *backend,
                        struct zsb_buf *problem);

/* The whole: policy, plan, audit, prepare; starts nothing. True when nothing was dropped; `evidence` says
 * what was counted or what failed. */
bool zsb_audit_read_only(const struct zsb_backend *backend, const char *helper_path,
                         struct zsb_buf *evidence);

#endif
