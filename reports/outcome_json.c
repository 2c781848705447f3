/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/reports.h"

/* A command that did not end by itself has no exit status: null, so that nobody reads a success from it. */
static void add_int_or_null(struct zsb_json *json, const char *key, bool present, int value)
{
    if (present)
        zsb_json_int(json, json->root, key, value);
    else
        zsb_json_null(json, json->root, key);
}

int zsb_report_outcome_json(const struct zsb_outcome_report *report, struct zsb_buf *out,
                            struct zsb_error *err)
{
    const struct zsb_outcome *o = report->outcome;
    ZSB_AUTO_JSON json;
    zsb_json_init(&json, "zuno-sandbox/outcome/v1");
    zsb_json_string(&json, json.root, "stage", zsb_stage_name(o->stage));
    zsb_json_string(&json, json.root, "code", zsb_code_name(o->error.code));
    zsb_json_int(&json, json.root, "errno", o->error.sys_errno);
    zsb_json_string(&json, json.root, "subject", o->error.subject);
    zsb_json_string(&json, json.root, "reason", o->error.reason);
    zsb_json_string(&json, json.root, "message", o->error.msg);
    zsb_json_bool(&json, json.root, "exited", o->exited);
    add_int_or_null(&json, "exit_status", o->exited, o->exit_status);
    add_int_or_null(&json, "signal", o->signal > 0, o->signal);
    zsb_json_bool(&json, json.root, "timed_out", o->timed_out);
    zsb_json_bool(&json, json.root, "cancelled", o->cancelled);
    zsb_json_bool(&json, json.root, "certain", o->certain);
    zsb_json_int(&json, json.root, "wall_us", o->wall_us);
    zsb_json_int(&json, json.root, "user_us", o->user_us);
    zsb_json_int(&json, json.root, "system_us", o->system_us);
    zsb_json_int(&json, json.root, "max_rss_bytes", o->max_rss_bytes);
    zsb_json_string(&json, json.root, "backend", report->backend);
    zsb_json_string(&json, json.root, "mode", zsb_mode_name(report->mode));
    zsb_json_string(&json, json.root, "network", zsb_network_name(report->network));
    return zsb_json_print(&json, out, err);
}
