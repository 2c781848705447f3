/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/reports.h"

static void add_step(struct zsb_json *json, cJSON *steps, const struct zsb_policy_report_step *row)
{
    cJSON *out = zsb_json_object(json, steps, NULL);
    zsb_json_string(json, out, "kind", zsb_step_kind_name(row->step.kind));
    zsb_json_string(json, out, "path", row->step.path);
    zsb_json_string(json, out, "detail", row->step.detail);
    zsb_json_string(json, out, "origin", row->step.origin);
    zsb_json_bool(json, out, "enforced", row->enforced);
}

int zsb_report_policy_json(const struct zsb_policy_report *report, struct zsb_buf *out, struct zsb_error *err)
{
    ZSB_AUTO_JSON json;
    zsb_json_init(&json, "zuno-sandbox/policy/v1");
    cJSON *policy = zsb_json_object(&json, json.root, "policy");
    zsb_json_string(&json, policy, "mode", zsb_mode_name(report->mode));
    zsb_json_string(&json, policy, "network", zsb_network_name(report->network));
    zsb_json_string(&json, policy, "workspace", report->workspace);
    zsb_json_string(&json, policy, "cwd", report->cwd);
    cJSON *backend = zsb_json_object(&json, json.root, "backend");
    zsb_json_string(&json, backend, "name", report->backend);
    zsb_json_string(&json, backend, "serial_name", report->backend_serial);
    cJSON *steps = zsb_json_array(&json, json.root, "steps");
    for (size_t i = 0; i < report->step_count; i++)
        add_step(&json, steps, &report->steps[i]);
    zsb_json_bool(&json, json.root, "prepared", report->launcher_argv != NULL);
    cJSON *argv = zsb_json_array(&json, json.root, "launcher_argv");
    for (const char *const *word = report->launcher_argv; word && *word; word++)
        zsb_json_string(&json, argv, NULL, *word);
    zsb_json_error(&json, json.root, "error", report->launcher_argv ? NULL : report->error);
    return zsb_json_print(&json, out, err);
}
