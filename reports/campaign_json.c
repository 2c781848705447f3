/* SPDX-License-Identifier: MIT */
#include "reports/campaign_json.h"

static void add_fact(struct zsb_json *json, cJSON *facts, const char *key, bool available,
                     const char *evidence)
{
    cJSON *fact = zsb_json_object(json, facts, key);
    zsb_json_bool(json, fact, "available", available);
    zsb_json_string(json, fact, "evidence", evidence);
}

static void add_host(struct zsb_json *json, cJSON *object, const struct zsb_host_facts *host)
{
    cJSON *out = zsb_json_object(json, object, "host");
    zsb_json_string(json, out, "kernel", host->kernel);
    zsb_json_string(json, out, "architecture", host->architecture);
    zsb_json_string(json, out, "os", host->os);
    zsb_json_uint(json, out, "uid", host->uid);
    cJSON *facts = zsb_json_object(json, out, "facts");
    add_fact(json, facts, "ia32", host->ia32, host->ia32_evidence);
    add_fact(json, facts, "io_uring", host->io_uring, host->io_uring_evidence);
    add_fact(json, facts, "tiocsti", host->tiocsti, host->tiocsti_evidence);
    add_fact(json, facts, "userns", host->userns, host->userns_evidence);
    add_fact(json, facts, "pidfd_getfd", host->pidfd_getfd, host->pidfd_getfd_evidence);
    add_fact(json, facts, "ipv6", host->ipv6, "");
}

/* camelCase: the harness's own shape of backend capabilities, and of a launcher's identity below. */
static void add_capabilities(struct zsb_json *json, cJSON *subject, const struct zsb_backend_capabilities *c)
{
    cJSON *out = zsb_json_object(json, subject, "capabilities");
    zsb_json_string(json, out, "backend", c->backend);
    if (c->executable[0])
        zsb_json_string(json, out, "executable", c->executable);
    else
        zsb_json_null(json, out, "executable");
    zsb_json_bool(json, out, "readOnly", c->read_only);
    zsb_json_bool(json, out, "workspaceWrite", c->workspace_write);
    zsb_json_bool(json, out, "dangerFullAccess", c->danger_full_access);
    zsb_json_bool(json, out, "networkIsolation", c->network_isolation);
}

static void add_launcher(struct zsb_json *json, cJSON *subject, const struct zsb_launcher_identity *l)
{
    cJSON *out = zsb_json_object(json, subject, "launcher");
    zsb_json_string(json, out, "path", l->path);
    zsb_json_uint(json, out, "uid", l->uid);
    zsb_json_uint(json, out, "gid", l->gid);
    zsb_json_uint(json, out, "mode", l->mode);
    zsb_json_uint(json, out, "device", l->device);
    zsb_json_uint(json, out, "inode", l->inode);
    zsb_json_bool(json, out, "rootOwned", l->root_owned);
    zsb_json_bool(json, out, "groupOrWorldWritable", l->group_or_world_writable);
    zsb_json_bool(json, out, "specialPermissions", l->special_permissions);
}

static void add_subject(struct zsb_json *json, cJSON *object, const struct zsb_campaign *campaign)
{
    const bool backend = campaign->subject_kind == ZSB_SUBJECT_BACKEND;
    cJSON *out = zsb_json_object(json, object, "subject");
    zsb_json_string(json, out, "kind", backend ? "backend" : "launcher");
    zsb_json_string(json, out, "name", campaign->subject_name);
    if (backend)
        add_capabilities(json, out, &campaign->capabilities);
    else
        zsb_json_null(json, out, "capabilities");
    if (campaign->has_launcher_identity)
        add_launcher(json, out, &campaign->launcher_identity);
    else
        zsb_json_null(json, out, "launcher");
}

static void add_attempt(struct zsb_json *json, cJSON *attempts, const struct zsb_attempt_result *attempt)
{
    cJSON *out = zsb_json_object(json, attempts, NULL);
    zsb_json_string(json, out, "name", attempt->name);
    zsb_json_bool(json, out, "reached", attempt->reached);
    zsb_json_int(json, out, "errno", attempt->sys_errno);
    zsb_json_string(json, out, "errno_name", zsb_errno_name(attempt->sys_errno));
    zsb_json_bool(json, out, "witnessed", attempt->witnessed);
    zsb_json_string(json, out, "saw", attempt->saw);
    zsb_json_bool(json, out, "absent", attempt->absent);
}

static void add_arm(struct zsb_json *json, cJSON *trial, const char *key, const struct zsb_arm_result *arm)
{
    cJSON *out = zsb_json_object(json, trial, key);
    zsb_json_string(json, out, "status", zsb_arm_status_name(arm->status));
    zsb_json_string(json, out, "via", arm->via);
    zsb_json_string(json, out, "detail", arm->detail);
    zsb_json_int(json, out, "wall_us", arm->wall_us);
    cJSON *attempts = zsb_json_array(json, out, "attempts");
    for (size_t i = 0; i < arm->attempt_count; i++)
        add_attempt(json, attempts, &arm->attempts[i]);
}

static void add_trial(struct zsb_json *json, cJSON *trials, const struct zsb_trial_result *trial)
{
    static const char *const arms[ZSB_ARM_COUNT] = {
        [ZSB_ARM_BARE] = "bare", [ZSB_ARM_BENIGN] = "benign", [ZSB_ARM_CONFINED] = "confined"};
    cJSON *out = zsb_json_object(json, trials, NULL);
    zsb_json_string(json, out, "probe", trial->probe->id);
    zsb_json_string(json, out, "mode", zsb_mode_name(trial->mode));
    zsb_json_string(json, out, "network", zsb_network_name(trial->network));
    zsb_json_string(json, out, "verdict", zsb_verdict_name(trial->verdict));
    zsb_json_bool(json, out, "required", trial->required);
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++)
        add_arm(json, out, arms[i], &trial->arms[i]);
    zsb_json_string(json, out, "detail", trial->detail);
}

static void add_summary(struct zsb_json *json, cJSON *object, const struct zsb_campaign *campaign)
{
    static const char *const keys[ZSB_VERDICT_COUNT] = {
        [ZSB_VERDICT_HELD] = "held",
        [ZSB_VERDICT_ESCAPED] = "escaped",
        [ZSB_VERDICT_INCONCLUSIVE] = "inconclusive",
        [ZSB_VERDICT_NOT_APPLICABLE] = "not_applicable",
        [ZSB_VERDICT_ERROR] = "error",
    };
    cJSON *out = zsb_json_object(json, object, "summary");
    for (size_t i = 0; i < ZSB_VERDICT_COUNT; i++)
        zsb_json_uint(json, out, keys[i], campaign->counts[i]);
}

void zsb_campaign_json_fill(struct zsb_json *json, cJSON *object, const struct zsb_campaign *campaign)
{
    add_host(json, object, &campaign->host);
    add_subject(json, object, campaign);
    cJSON *trials = zsb_json_array(json, object, "trials");
    for (size_t i = 0; i < campaign->trial_count; i++)
        add_trial(json, trials, &campaign->trials[i]);
    add_summary(json, object, campaign);
    zsb_json_uint(json, object, "required_not_held", campaign->required_not_held);
    zsb_json_int(json, object, "wall_us", campaign->wall_us);
}

int zsb_report_campaign_json(const struct zsb_campaign *campaign, struct zsb_buf *out, struct zsb_error *err)
{
    ZSB_AUTO_JSON json;
    zsb_json_init(&json, ZSB_CAMPAIGN_SCHEMA);
    zsb_campaign_json_fill(&json, json.root, campaign);
    return zsb_json_print(&json, out, err);
}
