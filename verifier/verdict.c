/* SPDX-License-Identifier: MIT */
#include "verifier/verdict.h"

#include "lib/util/util.h"
#include "verifier/scene.h"

#include <stdio.h>
#include <string.h>

const char *zsb_verdict_name(enum zsb_verdict verdict)
{
    static const char *const names[ZSB_VERDICT_COUNT] = {[ZSB_VERDICT_HELD] = "held",
                                                         [ZSB_VERDICT_ESCAPED] = "escaped",
                                                         [ZSB_VERDICT_INCONCLUSIVE] = "inconclusive",
                                                         [ZSB_VERDICT_NOT_APPLICABLE] = "not_applicable",
                                                         [ZSB_VERDICT_ERROR] = "error"};
    return (unsigned)verdict < ZSB_VERDICT_COUNT ? names[verdict] : "unknown";
}

static const char *errno_name(int number)
{
    const char *name = number > 0 ? strerrorname_np(number) : NULL;
    return name != NULL ? name : "an unknown errno";
}

static bool is_among(const int *errnos, int number)
{
    for (; errnos != NULL && *errnos != 0; errnos++)
        if (*errnos == number)
            return true;
    return false;
}

static const struct zsb_attempt *find_attempt(const struct zsb_probe *probe, const char *name)
{
    for (size_t i = 0; i < probe->attempt_count; i++)
        if (strcmp(probe->attempts[i].name, name) == 0)
            return &probe->attempts[i];
    return NULL;
}

static const struct zsb_attempt_result *find_row(const struct zsb_arm_result *arm, const char *name)
{
    for (size_t i = 0; i < arm->attempt_count; i++)
        if (strcmp(arm->attempts[i].name, name) == 0)
            return &arm->attempts[i];
    return NULL;
}

void zsb_verdict_mark_absent(const struct zsb_probe *probe, struct zsb_arm_result *bare)
{
    for (size_t i = 0; bare->status == ZSB_ARM_COMPLETE && i < bare->attempt_count; i++) {
        struct zsb_attempt_result *row = &bare->attempts[i];
        const struct zsb_attempt *attempt = find_attempt(probe, row->name);
        if (attempt == NULL || !is_among(attempt->absent_errnos, row->sys_errno))
            continue;
        row->absent = true;
        free(row->saw);
        row->saw = zsb_strdupf("not on this host: unconfined it answers %s", errno_name(row->sys_errno));
    }
}

bool zsb_verdict_all_absent(const struct zsb_arm_result *bare)
{
    for (size_t i = 0; i < bare->attempt_count; i++)
        if (!bare->attempts[i].absent)
            return false;
    return bare->status == ZSB_ARM_COMPLETE && bare->attempt_count > 0;
}

/* ---- rules; each says whether it matches, and why */

typedef bool (*rule)(const struct zsb_verdict_input *input, char *detail);
#define SAY(...) ((void)snprintf(detail, ZSB_VERDICT_DETAIL_MAX, __VA_ARGS__), true)

/* The attempts of the confined arm that count: those that the host has. */
static const struct zsb_attempt *counted(const struct zsb_verdict_input *input, size_t index)
{
    const struct zsb_attempt_result *row = &input->arms[ZSB_ARM_CONFINED].attempts[index];
    const struct zsb_attempt_result *bare = find_row(&input->arms[ZSB_ARM_BARE], row->name);
    return bare != NULL && bare->absent ? NULL : find_attempt(input->probe, row->name);
}

static bool a_witness_tripped(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    size_t used = 0;
    detail[0] = '\0';
    for (size_t i = 0; i < confined->attempt_count && used < ZSB_VERDICT_DETAIL_MAX / 2; i++) {
        const struct zsb_attempt_result *row = &confined->attempts[i];
        if (!row->witnessed)
            continue;
        int n = snprintf(detail + used, ZSB_VERDICT_DETAIL_MAX - used, "%s%s: %.200s", used > 0 ? "; " : "",
                         row->name, row->saw != NULL ? row->saw : "");
        used += n > 0 ? (size_t)n : 0;
    }
    return used > 0;
}

static bool it_could_not_be_run(const struct zsb_verdict_input *input, char *detail)
{
    return input->fault != NULL && SAY("%s", input->fault);
}

static bool a_host_fact_is_missing(const struct zsb_verdict_input *input, char *detail)
{
    return input->missing_fact != NULL && input->arms[ZSB_ARM_CONFINED].status == ZSB_ARM_NOT_RUN &&
           SAY("%s", input->missing_fact);
}

static bool every_attempt_is_absent(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *bare = &input->arms[ZSB_ARM_BARE];
    if (!zsb_verdict_all_absent(bare) || input->arms[ZSB_ARM_CONFINED].status != ZSB_ARM_NOT_RUN)
        return false;
    return SAY("%s: %s", bare->attempts[0].name,
               bare->attempts[0].saw != NULL ? bare->attempts[0].saw : "absent");
}

static bool the_confined_arm_is_incomplete(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    if (confined->status == ZSB_ARM_COMPLETE && confined->attempt_count > 0)
        return false;
    return SAY("confined arm %s: %.500s", zsb_arm_status_name(confined->status),
               confined->detail != NULL ? confined->detail : "");
}

static bool an_attempt_was_not_reached(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    for (size_t i = 0; i < confined->attempt_count; i++)
        if (counted(input, i) != NULL && !confined->attempts[i].reached)
            return SAY("%s: the attempt was not reached", confined->attempts[i].name);
    return false;
}

static bool a_success_was_not_witnessed(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    for (size_t i = 0; i < confined->attempt_count; i++) {
        const struct zsb_attempt *attempt = counted(input, i);
        if (attempt != NULL && confined->attempts[i].sys_errno == 0 && !attempt->effect_only)
            return SAY("%s: the probe says it succeeded, but no witness saw it", confined->attempts[i].name);
    }
    return false;
}

static bool a_denial_is_no_denial(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    for (size_t i = 0; i < confined->attempt_count; i++) {
        int number = confined->attempts[i].sys_errno;
        if (counted(input, i) != NULL && number != 0 && !is_among(input->probe->deny_errnos, number))
            return SAY("%s: %s is not what a denial answers", confined->attempts[i].name, errno_name(number));
    }
    return false;
}

static bool the_bare_arm_is_incomplete(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *bare = &input->arms[ZSB_ARM_BARE];
    return bare->status != ZSB_ARM_COMPLETE && SAY("bare arm %s: %.500s", zsb_arm_status_name(bare->status),
                                                   bare->detail != NULL ? bare->detail : "");
}

static bool the_attack_does_not_work_bare(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *bare = &input->arms[ZSB_ARM_BARE];
    for (size_t i = 0; i < bare->attempt_count; i++) {
        const struct zsb_attempt_result *row = &bare->attempts[i];
        /* Both: attempts may share what the witness watches, and one must not vouch for another. */
        if (!row->absent && (!row->witnessed || row->sys_errno != 0))
            return SAY("%s: unconfined it does not work either (%s), so the denial proves nothing", row->name,
                       row->sys_errno == 0 ? "no witness saw it" : errno_name(row->sys_errno));
    }
    return false;
}

static bool the_benign_arm_is_incomplete(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *benign = &input->arms[ZSB_ARM_BENIGN];
    return benign->status != ZSB_ARM_COMPLETE &&
           SAY("benign arm %s: %.500s", zsb_arm_status_name(benign->status),
               benign->detail != NULL ? benign->detail : "");
}

static bool the_benign_twin_fails(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *benign = &input->arms[ZSB_ARM_BENIGN];
    for (size_t i = 0; i < benign->attempt_count; i++)
        if (!benign->attempts[i].reached || benign->attempts[i].sys_errno != 0)
            return SAY("the allowed twin fails, too (%s), so the denial proves nothing",
                       benign->attempts[i].sys_errno != 0 ? errno_name(benign->attempts[i].sys_errno)
                                                          : "not reached");
    return benign->attempt_count == 0 && SAY("the allowed twin did not run");
}

static bool it_held(const struct zsb_verdict_input *input, char *detail)
{
    const struct zsb_arm_result *confined = &input->arms[ZSB_ARM_CONFINED];
    size_t absent = 0;
    for (size_t i = 0; i < confined->attempt_count; i++)
        absent += counted(input, i) == NULL ? 1 : 0;
    return absent > 0 ? SAY("%zu attempts failed, %zu left out", confined->attempt_count - absent, absent)
                      : SAY("%zu attempts failed", confined->attempt_count);
}

/* The order is the contract: see "Verdict, first match" in docs/architecture.md. */
static const struct {
    enum zsb_verdict verdict;
    rule matches;
} rules[] = {
    {ZSB_VERDICT_ESCAPED, a_witness_tripped},
    {ZSB_VERDICT_ERROR, it_could_not_be_run},
    {ZSB_VERDICT_NOT_APPLICABLE, a_host_fact_is_missing},  /* never run: no error is possible before */
    {ZSB_VERDICT_NOT_APPLICABLE, every_attempt_is_absent}, /* likewise */
    {ZSB_VERDICT_ERROR, the_confined_arm_is_incomplete},
    {ZSB_VERDICT_ERROR, an_attempt_was_not_reached},
    {ZSB_VERDICT_ERROR, a_success_was_not_witnessed},
    {ZSB_VERDICT_ERROR, a_denial_is_no_denial},
    {ZSB_VERDICT_INCONCLUSIVE, the_bare_arm_is_incomplete},
    {ZSB_VERDICT_INCONCLUSIVE, the_attack_does_not_work_bare},
    {ZSB_VERDICT_INCONCLUSIVE, the_benign_arm_is_incomplete},
    {ZSB_VERDICT_INCONCLUSIVE, the_benign_twin_fails},
    {ZSB_VERDICT_HELD, it_held},
};

enum zsb_verdict zsb_verdict_decide(const struct zsb_verdict_input *input, char *detail)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(rules); i++)
        if (rules[i].matches(input, detail))
            return rules[i].verdict;
    return ZSB_VERDICT_ERROR;
}
