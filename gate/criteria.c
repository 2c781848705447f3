/* SPDX-License-Identifier: MIT */
#include "gate/criteria.h"

#include <fnmatch.h>
#include <string.h>

static void fail(struct zsb_finding *finding, const char *problem)
{
    finding->status = ZSB_CRITERION_FAILED;
    zsb_strv_add(&finding->problems, problem);
}

static void judge_backend(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                          struct zsb_finding *finding)
{
    (void)criterion;
    const struct zsb_campaign *campaign = input->campaign;
    if (!campaign) {
        ZSB_AUTO_BUF problem = ZSB_BUF_INIT;
        zsb_buf_addf(&problem, "%s: %s", zsb_code_name(input->backend_error->code),
                     input->backend_error->msg);
        fail(finding, problem.data);
        return;
    }
    if (campaign->subject_kind != ZSB_SUBJECT_BACKEND) {
        fail(finding, "a foreign launcher is not a backend");
        return;
    }
    if (!campaign->capabilities.read_only)
        fail(finding, "the backend does not claim read-only confinement");
    if (!campaign->capabilities.network_isolation)
        fail(finding, "the backend does not claim network isolation");
    zsb_buf_addf(&finding->evidence, "%s answered", campaign->subject_name);
    if (campaign->capabilities.executable[0])
        zsb_buf_addf(&finding->evidence, " at %s", campaign->capabilities.executable);
}

static void judge_compiled(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                           struct zsb_finding *finding)
{
    (void)criterion;
    const char *evidence = input->read_only_evidence ? input->read_only_evidence : "";
    if (!input->read_only_compiled)
        fail(finding, *evidence ? evidence : "no read-only policy was compiled");
    else
        zsb_buf_add(&finding->evidence, evidence);
}

static bool is_read_only_denied(const struct zsb_trial_result *trial)
{
    return trial->mode == ZSB_MODE_READ_ONLY && trial->network == ZSB_NETWORK_DENIED;
}

static bool belongs(const struct zsb_criterion *criterion, const char *probe_id)
{
    return (strncmp(probe_id, "fs.", 3) == 0) == criterion->filesystem;
}

struct tally {
    size_t required, held, not_applicable;
};

static bool has_text(const char *text)
{
    return text && *text;
}

/* An escape counts whether the probe is required or not; anything else only when it is. */
static const char *trial_problem(const struct zsb_trial_result *trial)
{
    switch (trial->verdict) {
    case ZSB_VERDICT_HELD:
        return NULL;
    case ZSB_VERDICT_ESCAPED:
        return "escaped";
    case ZSB_VERDICT_INCONCLUSIVE:
        return trial->required ? "inconclusive" : NULL;
    case ZSB_VERDICT_ERROR:
        return trial->required ? "error" : NULL;
    case ZSB_VERDICT_NOT_APPLICABLE:
        return trial->required && !has_text(trial->detail) ? "not applicable without evidence" : NULL;
    case ZSB_VERDICT_COUNT:
        break;
    }
    return "unknown verdict";
}

static bool same_problem(const struct zsb_trial_result *a, const struct zsb_trial_result *b)
{
    const char *problem = trial_problem(a);
    const char *other = trial_problem(b);
    return problem && other && strcmp(problem, other) == 0 && strcmp(a->probe->id, b->probe->id) == 0;
}

/* One line per probe and problem, with every mode in which it occurred. */
static void add_problem(const struct zsb_campaign *campaign, size_t index, struct zsb_finding *finding)
{
    const struct zsb_trial_result *trial = &campaign->trials[index];
    for (size_t i = 0; i < index; i++) {
        if (same_problem(&campaign->trials[i], trial))
            return;
    }
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_addf(&line, "%s %s", trial->probe->id, trial_problem(trial));
    for (size_t i = index; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *where = &campaign->trials[i];
        if (same_problem(where, trial))
            zsb_buf_addf(&line, "%s in %s, network %s", i == index ? "" : ";", zsb_mode_name(where->mode),
                         zsb_network_name(where->network));
    }
    fail(finding, line.data);
}

static void count_trial(const struct zsb_trial_result *trial, struct tally *tally)
{
    if (!trial->required)
        return;
    tally->required++;
    tally->held += trial->verdict == ZSB_VERDICT_HELD;
    tally->not_applicable += trial->verdict == ZSB_VERDICT_NOT_APPLICABLE;
}

static bool pattern_holds(const struct zsb_campaign *campaign, const char *pattern)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign->trials[i];
        if (trial->required && trial->verdict == ZSB_VERDICT_HELD && is_read_only_denied(trial) &&
            fnmatch(pattern, trial->probe->id, 0) == 0)
            return true;
    }
    return false;
}

static bool tried(const struct zsb_campaign *campaign, const char *probe_id)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign->trials[i];
        if (is_read_only_denied(trial) && trial->required && strcmp(trial->probe->id, probe_id) == 0)
            return true;
    }
    return false;
}

static void check_must_hold(const struct zsb_criterion *criterion, const struct zsb_campaign *campaign,
                            struct zsb_finding *finding)
{
    for (const char *const *pattern = criterion->must_hold; *pattern; pattern++) {
        if (pattern_holds(campaign, *pattern))
            continue;
        ZSB_AUTO_BUF line = ZSB_BUF_INIT;
        zsb_buf_addf(&line, "no required %s trial held in read-only, network denied", *pattern);
        fail(finding, line.data);
    }
}

/* A required probe may never be skipped. */
static void check_complete(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                           struct zsb_finding *finding)
{
    if (input->probe_count == 0)
        fail(finding, "the catalogue of probes is empty");
    for (size_t i = 0; i < input->probe_count; i++) {
        const struct zsb_probe *probe = input->probes[i];
        if (!probe->required || !belongs(criterion, probe->id) || !(probe->modes & ZSB_IN_READ_ONLY) ||
            !(probe->networks & ZSB_NET_DENIED) || tried(input->campaign, probe->id))
            continue;
        ZSB_AUTO_BUF line = ZSB_BUF_INIT;
        zsb_buf_addf(&line, "%s was not tried in read-only, network denied", probe->id);
        fail(finding, line.data);
    }
}

static void judge_trials(const struct zsb_criterion *criterion, const struct zsb_gate_input *input,
                         struct zsb_finding *finding)
{
    if (!input->campaign) {
        fail(finding, "nothing was tried: the backend is unavailable");
        return;
    }
    struct tally tally = {0};
    for (size_t i = 0; i < input->campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &input->campaign->trials[i];
        if (!belongs(criterion, trial->probe->id))
            continue;
        count_trial(trial, &tally);
        if (trial_problem(trial))
            add_problem(input->campaign, i, finding);
    }
    if (tally.required == 0)
        fail(finding, "no required trial");
    else if (tally.not_applicable == tally.required)
        fail(finding, "every required trial was not applicable");
    check_must_hold(criterion, input->campaign, finding);
    check_complete(criterion, input, finding);
    zsb_buf_addf(&finding->evidence, "%zu of %zu required trials held", tally.held, tally.required);
    if (tally.not_applicable)
        zsb_buf_addf(&finding->evidence, ", %zu not applicable", tally.not_applicable);
}

static const char *const writes_must_hold[] = {
    "fs.write-workspace", /* inside the workspace */
    "fs.write-outside",   /* outside the workspace */
    "fs.symlink-*",       /* through symlinks */
    NULL,
};
static const char *const restrictions_must_hold[] = {"proc.*", "net.*", NULL};

static const struct zsb_criterion criteria[] = {
    {
        .id = "backend_probe",
        .title = "the backend probe succeeds",
        .judge = judge_backend,
    },
    {
        .id = "read_only_policy_compiled",
        .title = "a read-only policy can be compiled without dropping a deny or protected path",
        .judge = judge_compiled,
    },
    {
        .id = "writes_denied",
        .title = "attempted writes inside the workspace, outside the workspace, and through symlinks fail",
        .judge = judge_trials,
        .filesystem = true,
        .must_hold = writes_must_hold,
    },
    {
        .id = "process_and_network_restrictions",
        .title = "process and network restrictions pass platform tests",
        .judge = judge_trials,
        .must_hold = restrictions_must_hold,
    },
    {
        .id = "lifecycle",
        .title =
            "cancellation, timeout promotion, restart reconciliation, logs, usage, and durable tool events "
            "still work through PreparedCommand",
        .not_evaluated = "the durable execution journal does not exist yet",
    },
    {
        .id = "unavailable_backends",
        .title = "unavailable backends produce a clear error or a trusted native fallback that is recorded",
        .not_evaluated = "the resolver does not exist yet",
    },
    {
        .id = "verifier_mutation_score",
        .title = "every sabotaged variant of the backend is caught by a probe",
        .not_evaluated = "the sabotaged variants do not exist yet",
    },
};

static const struct zsb_profile profiles[] = {
    {"plan", ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, NULL},
    {"explorer", ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, NULL},
    {"librarian", ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED,
     "librarian: webfetch and web_search keep their own network-research policy, outside the Shell"},
    {"oracle", ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, NULL},
    {"looker", ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, NULL},
};

const struct zsb_criterion *zsb_criterion_at(size_t index)
{
    return index < ZSB_ARRAY_SIZE(criteria) ? &criteria[index] : NULL;
}

const struct zsb_profile *zsb_profile_at(size_t index)
{
    return index < ZSB_ARRAY_SIZE(profiles) ? &profiles[index] : NULL;
}
