/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/probe_words.h"
#include "reports/text.h"

static void join_flags(struct zsb_buf *out, const struct zsb_flag_word *words, size_t count, unsigned flags)
{
    const char *separator = "";
    for (size_t i = 0; i < count; i++) {
        if (flags & words[i].flag) {
            zsb_buf_addf(out, "%s%s", separator, words[i].word);
            separator = ", ";
        }
    }
    if (!*separator)
        zsb_buf_add(out, "none");
}

static void flags_field(struct zsb_buf *out, const struct zsb_report_style *style, const char *label,
                        const struct zsb_flag_word *words, size_t count, unsigned flags)
{
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    join_flags(&line, words, count, flags);
    zsb_text_field(out, style, label, line.data);
}

int zsb_report_probes_text(const struct zsb_probes_report *report, const struct zsb_report_style *style,
                           struct zsb_buf *out, struct zsb_error *err)
{
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, 3);
    for (size_t i = 0; i < report->count; i++) {
        const struct zsb_probe *probe = report->probes[i];
        ZSB_AUTO_BUF modes = ZSB_BUF_INIT;
        join_flags(&modes, zsb_mode_words, ZSB_ARRAY_SIZE(zsb_mode_words), probe->modes);
        zsb_table_cell(&table, ZSB_TONE_PLAIN, probe->id);
        zsb_table_cell(&table, ZSB_TONE_DIM, modes.data);
        zsb_table_cell(&table, ZSB_TONE_PLAIN, probe->claim);
    }
    zsb_table_write(&table, style, out);
    return zsb_report_finish(out, err);
}

static void add_errnos(struct zsb_buf *out, const struct zsb_report_style *style, const int *errnos)
{
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    for (const int *number = errnos; number && *number; number++)
        zsb_buf_addf(&line, "%s%s", number == errnos ? "" : ", ", zsb_errno_name(*number));
    zsb_text_field(out, style, "denied by", line.data ? line.data : "any refusal");
}

static void add_attempts(struct zsb_buf *out, const struct zsb_report_style *style,
                         const struct zsb_probe *probe)
{
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, 3);
    for (size_t i = 0; i < probe->attempt_count; i++) {
        const struct zsb_attempt *attempt = &probe->attempts[i];
        zsb_table_cell(&table, ZSB_TONE_PLAIN, attempt->name);
        zsb_table_cell(&table, ZSB_TONE_DIM, zsb_witness_name(attempt->witness));
        zsb_table_cell(&table, ZSB_TONE_PLAIN, attempt->target);
    }
    zsb_buf_add(out, "\nattempts, and what the witness outside watches\n");
    zsb_table_write(&table, style, out);
}

int zsb_report_probe_text(const struct zsb_probe *probe, const struct zsb_report_style *style,
                          struct zsb_buf *out, struct zsb_error *err)
{
    zsb_text_field(out, style, "probe", probe->id);
    zsb_text_field(out, style, "claim", probe->claim);
    zsb_text_field(out, style, "boundary", probe->boundary);
    zsb_text_field(out, style, "required", probe->required ? "yes" : "no");
    flags_field(out, style, "modes", zsb_mode_words, ZSB_ARRAY_SIZE(zsb_mode_words), probe->modes);
    flags_field(out, style, "networks", zsb_network_words, ZSB_ARRAY_SIZE(zsb_network_words),
                probe->networks);
    flags_field(out, style, "needs", zsb_need_words, zsb_need_word_count, probe->needs);
    zsb_text_field(out, style, "fixture", zsb_fixture_word(probe->fixture));
    zsb_text_field(out, style, "ending", zsb_ending_word(probe->ending));
    add_errnos(out, style, probe->deny_errnos);
    zsb_text_field(out, style, "benign twin", probe->benign_claim);
    if (probe->refs && *probe->refs)
        zsb_text_field(out, style, "refs", probe->refs);
    add_attempts(out, style, probe);
    return zsb_report_finish(out, err);
}
