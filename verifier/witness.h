/* SPDX-License-Identifier: MIT
 *
 * Witnesses: what was seen from outside, and for which attempt it counts. They never ask the probe.
 */
#ifndef ZSB_WITNESS_H
#define ZSB_WITNESS_H

#include "verifier/arm.h"
#include "verifier/procscan.h"
#include "verifier/result.h"
#include "verifier/scene.h"
#include "verifier/snapshot.h"

struct zsb_witness_input {
    const struct zsb_arm_spec *spec;
    struct zsb_scene *scene;
    const struct zsb_report *report;
    const struct zsb_procs *held;      /* processes of the arm while it held still */
    const struct zsb_procs *survivors; /* ... after its end */
    const struct zsb_change *changes;
    size_t change_count;
};

/* While the arm holds: tracers, namespaces, privileges, descriptors, terminal input. Returns NULL, or why the
 * witness could not look (static text). */
const char *zsb_witness_hold(const struct zsb_witness_input *input, struct zsb_arm_result *result);
/* After its end: everything else. In the confined arm, what no attempt accounts for becomes a row of its own.
 */
void zsb_witness_end(const struct zsb_witness_input *input, struct zsb_arm_result *result);

/* 1 when `path` is `target` or lies below it. */
bool zsb_witness_covers(const char *target, const char *path);

#endif
