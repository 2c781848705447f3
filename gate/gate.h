/* SPDX-License-Identifier: MIT
 *
 * The registration gate: criteria table, profile table, decision. A pure function of its inputs; nothing here
 * touches the kernel.
 */
#ifndef ZSB_GATE_H
#define ZSB_GATE_H

#include "verifier/campaign.h"

enum zsb_criterion_status { ZSB_CRITERION_PASSED = 0, ZSB_CRITERION_FAILED, ZSB_CRITERION_NOT_EVALUATED };
const char *
zsb_criterion_status_name(enum zsb_criterion_status status); /* "passed", "failed", "not_evaluated" */

struct zsb_criterion_result {
    const char *id;    /* "backend_probe", ... static */
    const char *title; /* the roadmap's words; static */
    enum zsb_criterion_status status;
    char *evidence;
};

struct zsb_profile_result {
    const char *profile; /* "plan", ...; static */
    bool grant;
    enum zsb_mode mode;
    enum zsb_network network;
    char **reasons; /* NULL-terminated */
    size_t reason_count;
};

struct zsb_gate_input {
    const struct zsb_campaign *campaign;   /* NULL when the backend was unavailable */
    const struct zsb_error *backend_error; /* why, when campaign is NULL */
    int read_only_compiled;                /* 1: compiled and audited, 0: failed */
    const char *read_only_evidence;
    bool preview; /* unevaluated criteria are listed but do not block */
    /* The catalogue: a required probe of it that the campaign did not try in read-only mode with network
     * denied fails its criterion. An empty catalogue fails every criterion that rests on trials. */
    const struct zsb_probe *const *probes;
    size_t probe_count;
};

struct zsb_gate_result {
    const struct zsb_campaign *campaign;
    struct zsb_criterion_result *criteria;
    size_t criterion_count;
    struct zsb_profile_result *profiles;
    size_t profile_count;
    bool preview;
    bool grant;
    struct zsb_error backend_error; /* code OK unless campaign is NULL */
};

/* The campaign is borrowed by the result. Errors: no_memory, invalid_argument (neither campaign nor
 * backend_error). */
ZSB_MUST_CHECK int zsb_gate_decide(const struct zsb_gate_input *input, struct zsb_gate_result *out_result,
                                   struct zsb_error *err);
void zsb_gate_clear(struct zsb_gate_result *result);

#endif
