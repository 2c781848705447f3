/* SPDX-License-Identifier: MIT
 *
 * The verdict of a trial: a pure function of what its arms showed. First matching rule wins; see the table in
 * verdict.c.
 */
#ifndef ZSB_VERDICT_H
#define ZSB_VERDICT_H

#include "verifier/campaign.h"

#include <stddef.h>

enum { ZSB_VERDICT_DETAIL_MAX = 640 };

struct zsb_verdict_input {
    const struct zsb_probe *probe;
    enum zsb_mode mode;
    const struct zsb_arm_result *arms; /* ZSB_ARM_COUNT of them */
    const char *missing_fact;          /* evidence that the host makes the attack impossible, or NULL */
    const char *fault;                 /* why the trial could not be run at all, or NULL */
};

/* `detail` holds ZSB_VERDICT_DETAIL_MAX bytes: one line that says why. */
enum zsb_verdict zsb_verdict_decide(const struct zsb_verdict_input *input, char *detail);
/* Marks in the bare arm, which attempts the host lacks the feature for. */
void zsb_verdict_mark_absent(const struct zsb_probe *probe, struct zsb_arm_result *bare);
/* 1 when the bare arm ran and nothing of the attack exists on this host. */
bool zsb_verdict_all_absent(const struct zsb_arm_result *bare);

#endif
