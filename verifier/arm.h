/* SPDX-License-Identifier: MIT
 *
 * One arm of a trial: build the scene, run the probe in it, look while it holds still, end it as the probe
 * asks, look again, leave nothing behind.
 */
#ifndef ZSB_ARM_H
#define ZSB_ARM_H

#include "verifier/campaign.h"
#include "verifier/lab.h"

struct zsb_place; /* scene.h */

struct zsb_arm_spec {
    enum zsb_arm arm;
    const struct zsb_lab *lab;
    const struct zsb_probe *probe;
    enum zsb_mode mode;
    enum zsb_network network;
    const struct zsb_subject *subject;
    const char *helper_path;
    struct zsb_place *place;
    int64_t deadline_ms; /* for the report */
};
enum {
    ZSB_ARM_DEADLINE_MS = 10000,
    ZSB_CANARY_DEADLINE_MS = 5000,
    /* The report's pipe always enters under this number, because a shell script can name only one digit. The
     * worker holds a placeholder there. */
    ZSB_RESULT_FD_NUMBER = 3,
};

/* The canary: a probe without attempts. Its arm says whether a subject runs anything at all. */
extern const struct zsb_probe zsb_canary_probe;

/* Runs it in the calling process, which must be a worker: one that adopts orphans and has no children. Always
 * fills *out_result; the caller clears it. */
void zsb_arm_run(const struct zsb_arm_spec *spec, struct zsb_arm_result *out_result);
void zsb_arm_result_clear(struct zsb_arm_result *result);

/* Rows of the attempts that belong to this arm; 0 or -ENOMEM. */
int zsb_arm_make_rows(const struct zsb_arm_spec *spec, struct zsb_arm_result *result);
/* Appends a row for something seen that no attempt accounts for. */
void zsb_arm_add_extra(struct zsb_arm_result *result, const char *name, const char *saw);

#endif
