/* SPDX-License-Identifier: MIT
 *
 * What backends see of a plan beyond the public step: the opened policy entry behind it.
 */
#ifndef ZSB_PLAN_INTERNAL_H
#define ZSB_PLAN_INTERNAL_H

#include "lib/policy/policy_internal.h"

#include <zuno/plan.h>

/* step.detail of an entry that another step already enforces. */
#define ZSB_CARRIED_BY_READ_ONLY_ROOT "carried by ROOT_READ_ONLY"
#define ZSB_CARRIED_BY_PRIVATE_TMP "carried by PRIVATE_TMP"
#define ZSB_CARRIED_BY_DENY "carried by DENY"

struct zsb_plan_step {
    struct zsb_step step;
    const struct zsb_path *entry;      /* existing paths */
    const struct zsb_missing *missing; /* names held absent */
};

const struct zsb_plan_step *zsb_plan_step_full(const struct zsb_plan *plan,
                                               size_t index); /* NULL past the end */

#endif
