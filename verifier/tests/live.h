/* SPDX-License-Identifier: MIT
 *
 * Campaigns against real launchers, for the live tests.
 */
#ifndef ZSB_VERIFIER_TEST_LIVE_H
#define ZSB_VERIFIER_TEST_LIVE_H

#include "verifier/campaign.h"
#include "verifier/tests/support.h"

/* Ends the program with 77 (CTest: skipped) when bubblewrap cannot build a sandbox here; with ZSB_MUST_WORK=1
 * that is a failure. */
void zsb_live_need_bubblewrap(void);

/* A launcher whose argv is the JSON list `argv`, in read-only mode, with the network denied. Placeholders as
 * usual; {dir} is `dir`. */
struct zsb_launcher *zsb_live_launcher(const char *argv, const char *dir);

/* Runs a campaign in read-only mode (or both, see live.c) in a lab parent of its own, which must be empty
 * afterwards. */
void zsb_live_run(struct zsb_launcher *launcher, const char *const *globs, size_t glob_count,
                  struct zsb_campaign *out_campaign);
void zsb_live_run_backend(const char *const *globs, size_t glob_count, struct zsb_campaign *out_campaign);

/* The verdict of a probe's first trial; fails the test when there is none. */
const struct zsb_trial_result *zsb_live_trial(const struct zsb_campaign *campaign, const char *probe);
/* What did not turn out as `verdict`, for a message. */
char *zsb_live_others(const struct zsb_campaign *campaign, enum zsb_verdict verdict);

#endif
