/* SPDX-License-Identifier: MIT */
#include "gate/criteria.h"

const char *zsb_criterion_status_name(enum zsb_criterion_status status)
{
    switch (status) {
    case ZSB_CRITERION_PASSED:
        return "passed";
    case ZSB_CRITERION_FAILED:
        return "failed";
    case ZSB_CRITERION_NOT_EVALUATED:
        return "not_evaluated";
    }
    return "unknown";
}

static void finding_clear(struct zsb_finding *finding)
{
    zsb_buf_clear(&finding->evidence);
    zsb_strv_clear(&finding->problems);
}

static void judge(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                  struct zsb_finding *finding)
{
    if (!criterion->judge) {
        finding->status = ZSB_CRITERION_NOT_EVALUATED;
        zsb_buf_add(&finding->evidence, criterion->not_evaluated);
        return;
    }
    criterion->judge(criterion, input, finding);
}

/* Evidence is one line for people: the tally, then the first problems. Every problem is a reason of the
 * profiles. */
enum { PROBLEMS_SHOWN = 3 };

static char *evidence_text(const struct zsb_finding *finding)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    if (finding->evidence.data)
        zsb_buf_add(&text, finding->evidence.data);
    for (size_t i = 0; i < finding->problems.count && i < PROBLEMS_SHOWN; i++)
        zsb_buf_addf(&text, "%s%s", text.size_bytes ? "; " : "", finding->problems.items[i]);
    if (finding->problems.count > PROBLEMS_SHOWN)
        zsb_buf_addf(&text, "; and %zu more", finding->problems.count - PROBLEMS_SHOWN);
    text.failed = text.failed || finding->evidence.failed || finding->problems.failed;
    return zsb_buf_take(&text);
}

static void add_blocking_reasons(const struct zsb_criterion *criterion, const struct zsb_finding *finding,
                                 bool preview, struct zsb_strv *reasons)
{
    if (finding->status == ZSB_CRITERION_FAILED) {
        for (size_t i = 0; i < finding->problems.count; i++)
            zsb_strv_addf(reasons, "%s: %s", criterion->id, finding->problems.items[i]);
    } else if (finding->status == ZSB_CRITERION_NOT_EVALUATED && !preview) {
        zsb_strv_addf(reasons, "%s: not evaluated: %s", criterion->id, criterion->not_evaluated);
    }
}

static int decide_criterion(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                            struct zsb_gate_result *result, struct zsb_strv *reasons)
{
    __attribute__((cleanup(finding_clear))) struct zsb_finding finding = {ZSB_CRITERION_PASSED, ZSB_BUF_INIT,
                                                                          ZSB_STRV_INIT};
    judge(criterion, input, &finding);
    const size_t reasons_before = reasons->count;
    add_blocking_reasons(criterion, &finding, input->preview, reasons);
    char *evidence = evidence_text(&finding);
    if (!evidence || reasons->failed)
        return -ZSB_E_NO_MEMORY;
    result->criteria[result->criterion_count++] = (struct zsb_criterion_result){
        .id = criterion->id, .title = criterion->title, .status = finding.status, .evidence = evidence};
    if (reasons->count > reasons_before)
        result->grant = false;
    return 0;
}

static void add_grant_reasons(const struct zsb_gate_result *result, struct zsb_strv *reasons)
{
    size_t evaluated = 0;
    for (size_t i = 0; i < result->criterion_count; i++)
        evaluated += result->criteria[i].status != ZSB_CRITERION_NOT_EVALUATED;
    zsb_strv_addf(reasons, "%zu of %zu criteria passed, none failed", evaluated, result->criterion_count);
    if (evaluated < result->criterion_count)
        zsb_strv_addf(reasons, "preview: %zu criteria were not evaluated",
                      result->criterion_count - evaluated);
}

static int decide_profile(const struct zsb_profile *profile, const struct zsb_strv *blocking,
                          struct zsb_gate_result *result)
{
    ZSB_AUTO_STRV reasons = ZSB_STRV_INIT;
    for (size_t i = 0; i < blocking->count; i++)
        zsb_strv_add(&reasons, blocking->items[i]);
    if (result->grant)
        add_grant_reasons(result, &reasons);
    if (profile->note)
        zsb_strv_add(&reasons, profile->note);
    if (reasons.failed || !reasons.items)
        return -ZSB_E_NO_MEMORY;
    struct zsb_profile_result *out = &result->profiles[result->profile_count++];
    *out = (struct zsb_profile_result){.profile = profile->name,
                                       .grant = result->grant,
                                       .mode = profile->mode,
                                       .network = profile->network,
                                       .reason_count = reasons.count};
    out->reasons = zsb_steal_ptr(&reasons.items);
    reasons.count = 0;
    return 0;
}

static int decide_all(const struct zsb_gate_input *input, struct zsb_gate_result *result)
{
    ZSB_AUTO_STRV reasons = ZSB_STRV_INIT;
    const struct zsb_criterion *criterion;
    for (size_t i = 0; (criterion = zsb_criterion_at(i)); i++) {
        if (decide_criterion(criterion, input, result, &reasons))
            return -ZSB_E_NO_MEMORY;
    }
    const struct zsb_profile *profile;
    for (size_t i = 0; (profile = zsb_profile_at(i)); i++) {
        if (decide_profile(profile, &reasons, result))
            return -ZSB_E_NO_MEMORY;
    }
    return 0;
}

static int make_room(struct zsb_gate_result *result)
{
    size_t criterion_count = 0, profile_count = 0;
    while (zsb_criterion_at(criterion_count))
        criterion_count++;
    while (zsb_profile_at(profile_count))
        profile_count++;
    result->criteria = calloc(criterion_count, sizeof(*result->criteria));
    result->profiles = calloc(profile_count, sizeof(*result->profiles));
    return result->criteria && result->profiles ? 0 : -ZSB_E_NO_MEMORY;
}

int zsb_gate_decide(const struct zsb_gate_input *input, struct zsb_gate_result *out_result,
                    struct zsb_error *err)
{
    if (!input->campaign && !input->backend_error)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_NONE, 0,
                             "the gate needs a campaign or the error that prevented it");
    struct zsb_gate_result result = {.campaign = input->campaign, .preview = input->preview, .grant = true};
    if (!input->campaign)
        result.backend_error = *input->backend_error;
    if (make_room(&result) || decide_all(input, &result)) {
        zsb_gate_clear(&result);
        return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    }
    *out_result = result;
    return 0;
}

void zsb_gate_clear(struct zsb_gate_result *result)
{
    for (size_t i = 0; i < result->criterion_count; i++)
        free(result->criteria[i].evidence);
    for (size_t i = 0; i < result->profile_count; i++) {
        for (size_t r = 0; r < result->profiles[i].reason_count; r++)
            free(result->profiles[i].reasons[r]);
        free(result->profiles[i].reasons);
    }
    free(result->criteria);
    free(result->profiles);
    *result = (struct zsb_gate_result){0};
}
