/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/text.h"

#include <string.h>

static const struct {
    enum zsb_tone tone;
    const char *words;
} statuses[] = {
    [ZSB_CRITERION_PASSED] = {ZSB_TONE_GOOD, "passed"},
    [ZSB_CRITERION_FAILED] = {ZSB_TONE_BAD, "FAILED"},
    [ZSB_CRITERION_NOT_EVALUATED] = {ZSB_TONE_WARN, "not evaluated"},
};

static void add_criteria(const struct zsb_gate_result *gate, const struct zsb_report_style *style,
                         struct zsb_buf *out)
{
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, 3);
    for (size_t i = 0; i < gate->criterion_count; i++) {
        const struct zsb_criterion_result *criterion = &gate->criteria[i];
        zsb_table_cell(&table, ZSB_TONE_PLAIN, criterion->id);
        zsb_table_cell(&table, statuses[criterion->status].tone, statuses[criterion->status].words);
        zsb_table_cell(&table, ZSB_TONE_PLAIN, criterion->evidence);
    }
    zsb_buf_add(out, "\ncriteria\n");
    zsb_table_write(&table, style, out);
}

static void add_profiles(const struct zsb_gate_result *gate, const struct zsb_report_style *style,
                         struct zsb_buf *out)
{
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, 4);
    for (size_t i = 0; i < gate->profile_count; i++) {
        const struct zsb_profile_result *profile = &gate->profiles[i];
        zsb_table_cell(&table, ZSB_TONE_PLAIN, profile->profile);
        zsb_table_cell(&table, profile->grant ? ZSB_TONE_GOOD : ZSB_TONE_BAD,
                       profile->grant ? "grant" : "refuse");
        zsb_table_cell(&table, ZSB_TONE_PLAIN, zsb_mode_name(profile->mode));
        ZSB_AUTO_BUF network = ZSB_BUF_INIT;
        zsb_buf_addf(&network, "network %s", zsb_network_name(profile->network));
        zsb_table_cell(&table, ZSB_TONE_PLAIN, network.data);
    }
    zsb_buf_add(out, "\nshell for read-only agents\n");
    zsb_table_write(&table, style, out);
}

static bool said_before(const struct zsb_gate_result *gate, size_t profile_index, size_t reason_index)
{
    const char *reason = gate->profiles[profile_index].reasons[reason_index];
    for (size_t p = 0; p < profile_index; p++) {
        for (size_t r = 0; r < gate->profiles[p].reason_count; r++) {
            if (strcmp(gate->profiles[p].reasons[r], reason) == 0)
                return true;
        }
    }
    return false;
}

/* Profiles mostly share their reasons: each is said once. */
static void add_reasons(const struct zsb_gate_result *gate, const struct zsb_report_style *style,
                        struct zsb_buf *out)
{
    zsb_buf_add(out, "\nreasons\n");
    for (size_t p = 0; p < gate->profile_count; p++) {
        for (size_t r = 0; r < gate->profiles[p].reason_count; r++) {
            if (said_before(gate, p, r))
                continue;
            zsb_buf_add(out, "  ");
            zsb_text_add(out, style, ZSB_TONE_PLAIN, gate->profiles[p].reasons[r]);
            zsb_buf_addc(out, '\n');
        }
    }
}

static void add_unevaluated(const struct zsb_gate_result *gate, const struct zsb_report_style *style,
                            struct zsb_buf *out)
{
    ZSB_AUTO_BUF names = ZSB_BUF_INIT;
    for (size_t i = 0; i < gate->criterion_count; i++) {
        if (gate->criteria[i].status == ZSB_CRITERION_NOT_EVALUATED)
            zsb_buf_addf(&names, "%s%s", names.size_bytes ? ", " : "", gate->criteria[i].id);
    }
    if (!names.size_bytes)
        return;
    zsb_buf_addc(out, '\n');
    zsb_buf_addf(&names, "%s", gate->preview ? " (preview: they do not block)" : " (they block the grant)");
    zsb_text_field(out, style, "unevaluated", names.data);
}

int zsb_report_gate_text(const struct zsb_gate_result *gate, const struct zsb_report_style *style,
                         struct zsb_buf *out, struct zsb_error *err)
{
    if (gate->campaign) {
        zsb_campaign_text_add(gate->campaign, style, out);
    } else {
        zsb_buf_addf(
            out, "backend unavailable, nothing was tried\n  %s: ", zsb_code_name(gate->backend_error.code));
        zsb_text_add(out, style, ZSB_TONE_BAD, gate->backend_error.msg);
        zsb_buf_addc(out, '\n');
    }
    add_criteria(gate, style, out);
    add_profiles(gate, style, out);
    add_reasons(gate, style, out);
    add_unevaluated(gate, style, out);
    zsb_buf_add(out, "\ndecision     ");
    zsb_text_add(out, style, gate->grant ? ZSB_TONE_GOOD : ZSB_TONE_BAD, gate->grant ? "grant" : "refuse");
    zsb_buf_addf(out, "%s\n", gate->preview ? " (preview)" : "");
    return zsb_report_finish(out, err);
}
