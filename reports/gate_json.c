/* SPDX-License-Identifier: MIT */
#include "reports/campaign_json.h"

static void add_criteria(struct zsb_json *json, const struct zsb_gate_result *gate)
{
    cJSON *criteria = zsb_json_array(json, json->root, "criteria");
    for (size_t i = 0; i < gate->criterion_count; i++) {
        const struct zsb_criterion_result *criterion = &gate->criteria[i];
        cJSON *out = zsb_json_object(json, criteria, NULL);
        zsb_json_string(json, out, "id", criterion->id);
        zsb_json_string(json, out, "title", criterion->title);
        zsb_json_string(json, out, "status", zsb_criterion_status_name(criterion->status));
        zsb_json_string(json, out, "evidence", criterion->evidence);
    }
}

static void add_unevaluated(struct zsb_json *json, const struct zsb_gate_result *gate)
{
    cJSON *unevaluated = zsb_json_array(json, json->root, "unevaluated");
    for (size_t i = 0; i < gate->criterion_count; i++) {
        if (gate->criteria[i].status == ZSB_CRITERION_NOT_EVALUATED)
            zsb_json_string(json, unevaluated, NULL, gate->criteria[i].id);
    }
}

static void add_profile(struct zsb_json *json, cJSON *profiles, const struct zsb_profile_result *profile)
{
    cJSON *out = zsb_json_object(json, profiles, NULL);
    zsb_json_string(json, out, "profile", profile->profile);
    zsb_json_string(json, out, "shell", profile->grant ? "grant" : "refuse");
    zsb_json_string(json, out, "mode", zsb_mode_name(profile->mode));
    zsb_json_string(json, out, "network", zsb_network_name(profile->network));
    cJSON *reasons = zsb_json_array(json, out, "reasons");
    for (size_t i = 0; i < profile->reason_count; i++)
        zsb_json_string(json, reasons, NULL, profile->reasons[i]);
}

static void add_campaign(struct zsb_json *json, const struct zsb_campaign *campaign)
{
    if (!campaign) {
        zsb_json_null(json, json->root, "campaign");
        return;
    }
    cJSON *out = zsb_json_object(json, json->root, "campaign");
    zsb_json_string(json, out, "schema", ZSB_CAMPAIGN_SCHEMA);
    zsb_campaign_json_fill(json, out, campaign);
}

int zsb_report_gate_json(const struct zsb_gate_result *gate, struct zsb_buf *out, struct zsb_error *err)
{
    ZSB_AUTO_JSON json;
    zsb_json_init(&json, "zuno-sandbox/gate/v1");
    zsb_json_string(&json, json.root, "decision", gate->grant ? "grant" : "refuse");
    zsb_json_bool(&json, json.root, "preview", gate->preview);
    add_criteria(&json, gate);
    add_unevaluated(&json, gate);
    cJSON *profiles = zsb_json_array(&json, json.root, "profiles");
    for (size_t i = 0; i < gate->profile_count; i++)
        add_profile(&json, profiles, &gate->profiles[i]);
    zsb_json_error(&json, json.root, "error", gate->campaign ? NULL : &gate->backend_error);
    add_campaign(&json, gate->campaign);
    return zsb_json_print(&json, out, err);
}
