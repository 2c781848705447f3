/* SPDX-License-Identifier: MIT */
#include "verifier/campaign.h"

#include "lib/util/util.h"
#include "verifier/host.h"
#include "verifier/lab.h"
#include "verifier/launcher.h"
#include "verifier/verdict.h"
#include "verifier/worker.h"

#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MAX = 64, COMBINATIONS = 4 };

static const enum zsb_mode confined_modes[] = {ZSB_MODE_READ_ONLY, ZSB_MODE_WORKSPACE_WRITE};
static const enum zsb_network networks[] = {ZSB_NETWORK_DENIED, ZSB_NETWORK_ALLOWED};

/* Everything a running campaign holds. */
struct state {
    const struct zsb_campaign_options *options;
    struct zsb_campaign *campaign;
    struct zsb_lab lab;
    char *faults[COMBINATIONS]; /* per mode and network: why the subject runs nothing */
    size_t done;
    unsigned next_slot;
};

/* ---- selection */

static bool matches_glob(const struct zsb_campaign_options *options, const char *id)
{
    for (size_t i = 0; i < options->probe_glob_count; i++)
        if (fnmatch(options->probe_globs[i], id, 0) == 0)
            return true;
    return options->probe_glob_count == 0;
}

static bool wants_mode(const struct zsb_campaign_options *options, enum zsb_mode mode)
{
    bool wanted = false;
    for (size_t i = 0; i < options->mode_count; i++)
        wanted = wanted || options->modes[i] == mode;
    return wanted && (options->subject.kind == ZSB_SUBJECT_BACKEND ||
                      zsb_launcher_has_mode(options->subject.launcher, mode));
}

/* A backend is tried with either network; a launcher has the one it was written for. */
static bool wants_network(const struct zsb_campaign_options *options, enum zsb_network network)
{
    return options->subject.kind == ZSB_SUBJECT_BACKEND ||
           zsb_launcher_network(options->subject.launcher) == network;
}

static bool suits(const struct zsb_probe *probe, enum zsb_mode mode, enum zsb_network network)
{
    unsigned mode_bit = mode == ZSB_MODE_READ_ONLY ? ZSB_IN_READ_ONLY : ZSB_IN_WORKSPACE_WRITE;
    unsigned network_bit = network == ZSB_NETWORK_DENIED ? ZSB_NET_DENIED : ZSB_NET_ALLOWED;
    return (probe->modes & mode_bit) != 0 && (probe->networks & network_bit) != 0;
}

static int add_trial(struct zsb_campaign *campaign, const struct zsb_probe *probe, enum zsb_mode mode,
                     enum zsb_network network)
{
    void *trials = realloc(campaign->trials, (campaign->trial_count + 1) * sizeof(*campaign->trials));
    if (trials == NULL)
        return -ENOMEM;
    campaign->trials = trials;
    struct zsb_trial_result *trial = &campaign->trials[campaign->trial_count++];
    memset(trial, 0, sizeof(*trial));
    trial->probe = probe;
    trial->mode = mode;
    trial->network = network;
    trial->required = probe->required;
    trial->verdict = ZSB_VERDICT_ERROR;
    return 0;
}

static int select_of_probe(const struct zsb_campaign_options *options, const struct zsb_probe *probe,
                           struct zsb_campaign *campaign)
{
    int rc = 0;
    for (size_t m = 0; m < ZSB_ARRAY_SIZE(confined_modes); m++)
        for (size_t n = 0; n < ZSB_ARRAY_SIZE(networks) && rc == 0; n++)
            if (wants_mode(options, confined_modes[m]) && wants_network(options, networks[n]) &&
                suits(probe, confined_modes[m], networks[n]))
                rc = add_trial(campaign, probe, confined_modes[m], networks[n]);
    return rc;
}

static int check_globs(const struct zsb_campaign_options *options, struct zsb_error *err)
{
    for (size_t i = 0; i < options->probe_glob_count; i++) {
        bool found = false;
        for (size_t p = 0; zsb_probe_at(p) != NULL && !found; p++)
            found = fnmatch(options->probe_globs[i], zsb_probe_at(p)->id, 0) == 0;
        if (!found)
            return zsb_error_detail(err,
                                    zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                                                  "no probe matches \"%s\"", options->probe_globs[i]),
                                    "probe", options->probe_globs[i]);
    }
    return 0;
}

static int select_trials(const struct zsb_campaign_options *options, struct zsb_campaign *campaign,
                         struct zsb_error *err)
{
    int rc = check_globs(options, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; zsb_probe_at(i) != NULL; i++)
        if (matches_glob(options, zsb_probe_at(i)->id) &&
            select_of_probe(options, zsb_probe_at(i), campaign) != 0)
            return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    if (campaign->trial_count == 0) {
        rc = zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                           "no probe has a trial in the chosen modes with this subject");
        return zsb_error_detail(err, rc, "mode", "no trial");
    }
    return 0;
}

/* ---- the subject */

static int examine_subject(const struct zsb_campaign_options *options, struct zsb_campaign *campaign,
                           struct zsb_error *err)
{
    const struct zsb_subject *subject = &options->subject;
    campaign->subject_kind = subject->kind;
    campaign->subject_name =
        strdup(subject->kind == ZSB_SUBJECT_BACKEND ? zsb_backend_name(subject->backend)
                                                    : zsb_launcher_name(subject->launcher));
    if (campaign->subject_name == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_RESOLVE);
    if (subject->kind == ZSB_SUBJECT_LAUNCHER)
        return 0;
    struct zsb_probe_options probe = ZSB_PROBE_OPTIONS_INIT;
    probe.helper_path = options->helper_path;
    int rc = zsb_backend_probe(subject->backend, &probe, &campaign->capabilities,
                               &campaign->launcher_identity, err);
    campaign->has_launcher_identity = rc == 0 && campaign->launcher_identity.path[0] != '\0';
    if (rc == 0 && !campaign->capabilities.read_only) {
        const char *name = zsb_backend_name(subject->backend);
        rc = zsb_error_set(err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_RESOLVE, 0,
                           "backend %s claims no confinement: there is nothing to verify", name);
        rc = zsb_error_detail(err, rc, name, "claims no confinement");
    }
    return rc;
}

/* ---- running tasks */

typedef void (*task_done)(struct state *state, size_t index, const char *failure,
                          struct zsb_arm_result *arms);

struct queue {
    struct zsb_task *tasks;
    size_t *indexes; /* what the caller knows a task by */
    size_t count, started;
    task_done done;
    struct zsb_worker workers[JOBS_MAX];
    size_t of_worker[JOBS_MAX];
    unsigned slots[JOBS_MAX];
    unsigned jobs;
};

static unsigned job_count(const struct zsb_campaign_options *options)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = options->jobs > 0 ? options->jobs : cores > 0 ? (unsigned)cores : 1;
    return jobs < JOBS_MAX ? jobs : JOBS_MAX;
}

static void finish_worker(struct state *state, struct queue *queue, unsigned slot)
{
    struct zsb_arm_result arms[ZSB_ARM_COUNT];
    memset(arms, 0, sizeof(arms));
    const char *failure = zsb_worker_finish(&queue->workers[slot], arms);
    /* What a broken worker left behind may still be at work in its directory. */
    if (failure != NULL)
        queue->slots[slot] = state->next_slot++;
    queue->done(state, queue->indexes[queue->of_worker[slot]], failure, arms);
    zsb_worker_clear(&queue->workers[slot]);
}

static int start_workers(struct queue *queue)
{
    for (unsigned slot = 0; slot < queue->jobs; slot++) {
        if (queue->workers[slot].pid > 0 || queue->started == queue->count)
            continue;
        queue->tasks[queue->started].slot = queue->slots[slot];
        int rc = zsb_worker_start(&queue->tasks[queue->started], &queue->workers[slot]);
        if (rc != 0)
            return rc;
        queue->of_worker[slot] = queue->started++;
    }
    return 0;
}

static bool wait_for_workers(struct state *state, struct queue *queue)
{
    struct pollfd fds[JOBS_MAX];
    bool any = false;
    for (unsigned slot = 0; slot < queue->jobs; slot++) {
        bool runs = queue->workers[slot].pid > 0;
        fds[slot] = (struct pollfd){.fd = runs ? queue->workers[slot].fd : -1, .events = POLLIN};
        any = any || runs;
    }
    if (!any)
        return false;
    (void)poll(fds, queue->jobs, 1000);
    for (unsigned slot = 0; slot < queue->jobs; slot++)
        if (queue->workers[slot].pid > 0 && zsb_worker_pump(&queue->workers[slot]))
            finish_worker(state, queue, slot);
    return true;
}

static int run_queue(struct state *state, struct queue *queue, struct zsb_error *err)
{
    queue->jobs = job_count(state->options);
    for (unsigned slot = 0; slot < queue->jobs; slot++) {
        queue->workers[slot] = (struct zsb_worker){-1, -1, ZSB_BUF_INIT, 0};
        queue->slots[slot] = state->next_slot++;
    }
    int rc = start_workers(queue);
    while (rc == 0 && wait_for_workers(state, queue))
        rc = start_workers(queue);
    for (unsigned slot = 0; slot < queue->jobs; slot++)
        zsb_worker_clear(&queue->workers[slot]);
    return rc == 0 ? 0 : zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot start a worker");
}

static struct zsb_task make_task(struct state *state, const struct zsb_probe *probe, enum zsb_mode mode,
                                 enum zsb_network network)
{
    return (struct zsb_task){.lab = &state->lab,
                             .probe = probe,
                             .mode = mode,
                             .network = network,
                             .subject = &state->options->subject,
                             .helper_path = state->options->helper_path,
                             .canary = probe == &zsb_canary_probe};
}

/* ---- preflight: a subject that runs nothing is found out once, not in every trial */

static size_t combination(enum zsb_mode mode, enum zsb_network network)
{
    return (mode == ZSB_MODE_READ_ONLY ? 0U : 2U) + (network == ZSB_NETWORK_DENIED ? 0U : 1U);
}

static void canary_done(struct state *state, size_t index, const char *failure, struct zsb_arm_result *arms)
{
    const struct zsb_arm_result *arm = &arms[ZSB_ARM_CONFINED];
    if (failure != NULL)
        state->faults[index] = zsb_strdupf("canary: %s", failure);
    else if (arm->status != ZSB_ARM_COMPLETE)
        state->faults[index] = zsb_strdupf("the subject runs no command: canary %s: %s",
                                           zsb_arm_status_name(arm->status), arm->detail);
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++)
        zsb_arm_result_clear(&arms[i]);
}

static int run_canaries(struct state *state, struct zsb_error *err)
{
    struct zsb_task tasks[COMBINATIONS];
    size_t indexes[COMBINATIONS];
    bool wanted[COMBINATIONS] = {false};
    struct queue queue = {.tasks = tasks, .indexes = indexes, .done = canary_done};
    for (size_t i = 0; i < state->campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &state->campaign->trials[i];
        size_t index = combination(trial->mode, trial->network);
        if (wanted[index])
            continue;
        wanted[index] = true;
        tasks[queue.count] = make_task(state, &zsb_canary_probe, trial->mode, trial->network);
        indexes[queue.count++] = index;
    }
    return run_queue(state, &queue, err);
}

/* ---- trials */

static void decide(struct state *state, struct zsb_trial_result *trial, const char *fault)
{
    char detail[ZSB_VERDICT_DETAIL_MAX] = "";
    struct zsb_verdict_input input = {.probe = trial->probe,
                                      .mode = trial->mode,
                                      .arms = trial->arms,
                                      .missing_fact =
                                          zsb_host_missing(&state->campaign->host, trial->probe->needs),
                                      .fault = fault};
    trial->verdict = zsb_verdict_decide(&input, detail);
    trial->detail = strdup(detail);
    state->done++;
    if (state->options->progress != NULL)
        state->options->progress(state->options->progress_user, state->done, state->campaign->trial_count,
                                 trial);
}

static void trial_done(struct state *state, size_t index, const char *failure, struct zsb_arm_result *arms)
{
    struct zsb_trial_result *trial = &state->campaign->trials[index];
    memcpy(trial->arms, arms, sizeof(trial->arms));
    decide(state, trial, failure);
}

static int run_trials(struct state *state, struct zsb_error *err)
{
    struct zsb_campaign *campaign = state->campaign;
    ZSB_AUTO_FREE struct zsb_task *tasks = calloc(campaign->trial_count, sizeof(*tasks));
    ZSB_AUTO_FREE size_t *indexes = calloc(campaign->trial_count, sizeof(*indexes));
    struct queue queue = {.tasks = tasks, .indexes = indexes, .done = trial_done};
    if (tasks == NULL || indexes == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    for (size_t i = 0; i < campaign->trial_count; i++) {
        struct zsb_trial_result *trial = &campaign->trials[i];
        const char *fault = state->faults[combination(trial->mode, trial->network)];
        if (fault != NULL || zsb_host_missing(&campaign->host, trial->probe->needs) != NULL) {
            decide(state, trial, fault);
            continue;
        }
        tasks[queue.count] = make_task(state, trial->probe, trial->mode, trial->network);
        indexes[queue.count++] = i;
    }
    return run_queue(state, &queue, err);
}

static void fill_texts(struct zsb_campaign *campaign)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        struct zsb_trial_result *trial = &campaign->trials[i];
        for (size_t a = 0; a < ZSB_ARM_COUNT; a++) {
            struct zsb_arm_result *arm = &trial->arms[a];
            arm->via = arm->via != NULL ? arm->via : strdup("");
            arm->detail = arm->detail != NULL ? arm->detail : strdup("");
        }
    }
}

static void count(struct zsb_campaign *campaign)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign->trials[i];
        campaign->counts[trial->verdict]++;
        if (trial->required && trial->verdict != ZSB_VERDICT_HELD &&
            trial->verdict != ZSB_VERDICT_NOT_APPLICABLE)
            campaign->required_not_held++;
    }
}

static int run(struct state *state, struct zsb_error *err)
{
    int rc = zsb_lab_open(state->options->lab_parent, state->options->escapes_path, &state->lab, err);
    if (rc != 0)
        return rc;
    int host = zsb_host_examine(&state->campaign->host);
    if (host != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -host, "cannot examine the host");
    rc = run_canaries(state, err);
    return rc != 0 ? rc : run_trials(state, err);
}

int zsb_campaign_run(const struct zsb_campaign_options *options, struct zsb_campaign *out_campaign,
                     struct zsb_error *err)
{
    int64_t started_us = zsb_now_us();
    struct zsb_campaign campaign;
    struct state state = {.options = options, .campaign = &campaign};
    memset(&campaign, 0, sizeof(campaign));
    zsb_lab_init(&state.lab);
    int rc = select_trials(options, &campaign, err);
    if (rc == 0)
        rc = examine_subject(options, &campaign, err);
    if (rc == 0)
        rc = run(&state, err);
    zsb_lab_close(&state.lab);
    for (size_t i = 0; i < COMBINATIONS; i++)
        free(state.faults[i]);
    if (rc != 0) {
        zsb_campaign_clear(&campaign);
        return rc;
    }
    fill_texts(&campaign);
    count(&campaign);
    campaign.wall_us = zsb_now_us() - started_us;
    *out_campaign = campaign;
    return 0;
}

void zsb_campaign_clear(struct zsb_campaign *campaign)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        for (size_t a = 0; a < ZSB_ARM_COUNT; a++)
            zsb_arm_result_clear(&campaign->trials[i].arms[a]);
        free(campaign->trials[i].detail);
    }
    free(campaign->trials);
    free(campaign->subject_name);
    zsb_host_clear(&campaign->host);
    memset(campaign, 0, sizeof(*campaign));
}
