/* SPDX-License-Identifier: MIT
 *
 * One running arm, as arm.c, arm_report.c and arm_hold.c share it.
 */
#ifndef ZSB_ARM_INTERNAL_H
#define ZSB_ARM_INTERNAL_H

#include "lib/util/util.h"
#include "verifier/actor.h"
#include "verifier/arm.h"
#include "verifier/procscan.h"
#include "verifier/result.h"
#include "verifier/scene.h"
#include "verifier/snapshot.h"
#include "verifier/witness.h"

enum { STREAM_RESULT = 0, STREAM_STDOUT, STREAM_STDERR, STREAM_COUNT };

struct zsb_arm_run {
    const struct zsb_arm_spec *spec;
    struct zsb_arm_result *result;
    struct zsb_scene scene;
    struct zsb_actor actor;
    int streams[STREAM_COUNT];
    struct zsb_buf texts[STREAM_COUNT];
    struct zsb_buf words; /* the probe's, as in its command line */
    struct zsb_report report;
    struct zsb_report_form form;
    const char *names[ZSB_REPORT_ROWS_MAX];
    struct zsb_snapshot before, after;
    struct zsb_procs held, survivors;
    int held_fds[ZSB_PROCS_MAX]; /* pidfds of `held` */
    bool timed_out;
};

/* Sets status and detail of the result. */
void zsb_arm_fail(struct zsb_arm_run *run, enum zsb_arm_status status, const char *detail);

/* arm_report.c: the streams, and the report that comes through them. */
void zsb_arm_read_stream(struct zsb_arm_run *run, size_t index); /* never blocks */
void zsb_arm_close_stream(struct zsb_arm_run *run, size_t index);
bool zsb_arm_is_flooded(const struct zsb_arm_run *run);
/* Until the report is done or spoiled, nothing more can come, or the time is up. */
void zsb_arm_gather(struct zsb_arm_run *run);

/* arm_hold.c: while the arm holds still. */
struct zsb_proc_mark zsb_arm_mark(const struct zsb_arm_run *run);
struct zsb_witness_input zsb_arm_witness_input(struct zsb_arm_run *run);
/* Attests a complete report and lets the witnesses look; else says what is wrong with it. */
void zsb_arm_judge_report(struct zsb_arm_run *run);
/* Adds to the detail of a failed arm how its process ended and what it said last. */
void zsb_arm_explain(struct zsb_arm_run *run);

#endif
