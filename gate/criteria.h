/* SPDX-License-Identifier: MIT
 *
 * The criteria of the registration gate and the profiles it decides for, as tables.
 */
#ifndef ZSB_GATE_CRITERIA_H
#define ZSB_GATE_CRITERIA_H

#include "gate/gate.h"
#include "lib/util/util.h"

/* What a criterion found: its findings are one line each and become the reasons of a refusal. */
struct zsb_finding {
    enum zsb_criterion_status status;
    struct zsb_buf evidence;
    struct zsb_strv problems;
};

struct zsb_criterion {
    const char *id;
    const char *title;
    void (*judge)(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                  struct zsb_finding *finding);
    const char *not_evaluated; /* what is missing to evaluate it; with no judge */
    bool filesystem;           /* of judge_trials: the fs.* probes, or all the others */
    /* At least one required trial of each of these must hold in read-only mode with network denied; NULL
     * ends. */
    const char *const *must_hold;
};

/* NULL past the end. */
const struct zsb_criterion *zsb_criterion_at(size_t index);

struct zsb_profile {
    const char *name;
    enum zsb_mode mode;
    enum zsb_network network;
    const char *note; /* or NULL; always said */
};
const struct zsb_profile *zsb_profile_at(size_t index);

#endif
