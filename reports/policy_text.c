/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/text.h"

static void add_steps(struct zsb_buf *out, const struct zsb_report_style *style,
                      const struct zsb_policy_report *report)
{
    static const char *const head[] = {"STEP", "PATH", "DETAIL", "FROM", "ENFORCED"};
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, ZSB_ARRAY_SIZE(head));
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(head); i++)
        zsb_table_cell(&table, ZSB_TONE_DIM, head[i]);
    for (size_t i = 0; i < report->step_count; i++) {
        const struct zsb_policy_report_step *row = &report->steps[i];
        zsb_table_cell(&table, ZSB_TONE_PLAIN, zsb_step_kind_name(row->step.kind));
        zsb_table_cell(&table, ZSB_TONE_PLAIN, *row->step.path ? row->step.path : "-");
        zsb_table_cell(&table, ZSB_TONE_PLAIN, *row->step.detail ? row->step.detail : "-");
        zsb_table_cell(&table, ZSB_TONE_PLAIN, row->step.origin);
        zsb_table_cell(&table, row->enforced ? ZSB_TONE_GOOD : ZSB_TONE_BAD,
                       row->enforced  ? "yes"
                       : row->refused ? "refused"
                                      : "no");
    }
    zsb_table_write(&table, style, out);
}

static void add_argv(struct zsb_buf *out, const struct zsb_report_style *style, const char *const *argv)
{
    zsb_buf_add(out, "\nlauncher argv\n");
    if (!*argv)
        zsb_buf_add(out, "  none: this backend starts the command itself\n");
    for (; *argv; argv++) {
        zsb_buf_add(out, "  ");
        zsb_text_add(out, style, ZSB_TONE_PLAIN, *argv);
        zsb_buf_addc(out, '\n');
    }
}

static void add_refusal(struct zsb_buf *out, const struct zsb_report_style *style,
                        const struct zsb_error *error)
{
    zsb_buf_add(out, "\nthe backend refuses this policy\n");
    zsb_buf_addf(out, "  %s (stage %s): ", zsb_code_name(error->code), zsb_stage_name(error->stage));
    zsb_text_add(out, style, ZSB_TONE_BAD, error->msg);
    zsb_buf_addc(out, '\n');
}

int zsb_report_policy_text(const struct zsb_policy_report *report, const struct zsb_report_style *style,
                           struct zsb_buf *out, struct zsb_error *err)
{
    zsb_buf_addf(out, "%-13s%s, network %s\n", "policy", zsb_mode_name(report->mode),
                 zsb_network_name(report->network));
    zsb_text_field(out, style, "workspace", report->workspace);
    zsb_text_field(out, style, "cwd", report->cwd);
    zsb_buf_addf(out, "%-13s%s (%s)\n\n", "backend", report->backend, report->backend_serial);
    add_steps(out, style, report);
    if (report->launcher_argv)
        add_argv(out, style, report->launcher_argv);
    else if (report->error)
        add_refusal(out, style, report->error);
    return zsb_report_finish(out, err);
}
