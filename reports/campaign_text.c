/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/text.h"

#include <string.h>

/* One column per mode and network that occurs. */
static const struct column {
    enum zsb_mode mode;
    enum zsb_network network;
    const char *head;
} all_columns[] = {
    {ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, "read-only"},
    {ZSB_MODE_READ_ONLY, ZSB_NETWORK_ALLOWED, "read-only+net"},
    {ZSB_MODE_WORKSPACE_WRITE, ZSB_NETWORK_DENIED, "workspace-write"},
    {ZSB_MODE_WORKSPACE_WRITE, ZSB_NETWORK_ALLOWED, "workspace-write+net"},
    {ZSB_MODE_DANGER_FULL_ACCESS, ZSB_NETWORK_DENIED, "full-access"},
    {ZSB_MODE_DANGER_FULL_ACCESS, ZSB_NETWORK_ALLOWED, "full-access+net"},
};
enum { COLUMNS = ZSB_ARRAY_SIZE(all_columns) };

static const struct zsb_trial_result *trial_at(const struct zsb_campaign *campaign, const char *probe,
                                               const struct column *column)
{
    for (size_t i = 0; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign->trials[i];
        if (trial->mode == column->mode && trial->network == column->network &&
            (!probe || strcmp(trial->probe->id, probe) == 0))
            return trial;
    }
    return NULL;
}

static size_t used_columns(const struct zsb_campaign *campaign, const struct column *used[COLUMNS])
{
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (trial_at(campaign, NULL, &all_columns[i]))
            used[count++] = &all_columns[i];
    }
    return count;
}

static bool first_of_its_probe(const struct zsb_campaign *campaign, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(campaign->trials[i].probe->id, campaign->trials[index].probe->id) == 0)
            return false;
    }
    return true;
}

static void add_verdict_cell(struct zsb_table *table, const struct zsb_trial_result *trial)
{
    if (!trial)
        zsb_table_cell(table, ZSB_TONE_DIM, "-");
    else
        zsb_table_cell(table, zsb_verdict_tone(trial->verdict), zsb_verdict_words(trial->verdict));
}

static void add_trials(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                       struct zsb_buf *out)
{
    const struct column *used[COLUMNS];
    const size_t count = used_columns(campaign, used);
    ZSB_AUTO_TABLE table;
    zsb_table_init(&table, count + 2);
    zsb_table_cell(&table, ZSB_TONE_DIM, "PROBE");
    for (size_t i = 0; i < count; i++)
        zsb_table_cell(&table, ZSB_TONE_DIM, used[i]->head);
    zsb_table_cell(&table, ZSB_TONE_PLAIN, "");
    for (size_t i = 0; i < campaign->trial_count; i++) {
        if (!first_of_its_probe(campaign, i))
            continue;
        const struct zsb_trial_result *trial = &campaign->trials[i];
        zsb_table_cell(&table, ZSB_TONE_PLAIN, trial->probe->id);
        for (size_t c = 0; c < count; c++)
            add_verdict_cell(&table, trial_at(campaign, trial->probe->id, used[c]));
        zsb_table_cell(&table, ZSB_TONE_DIM, trial->required ? "" : "not required");
    }
    zsb_table_write(&table, style, out);
}

static void add_indented(struct zsb_buf *out, const struct zsb_report_style *style, const char *label,
                         const char *text)
{
    zsb_buf_add(out, "      ");
    zsb_text_add(out, style, ZSB_TONE_DIM, label);
    zsb_text_add(out, style, ZSB_TONE_PLAIN, text);
    zsb_buf_addc(out, '\n');
}

static void add_arm_trouble(struct zsb_buf *out, const struct zsb_report_style *style,
                            const struct zsb_trial_result *trial)
{
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++) {
        const struct zsb_arm_result *arm = &trial->arms[i];
        if (arm->status == ZSB_ARM_COMPLETE || arm->status == ZSB_ARM_NOT_RUN)
            continue;
        ZSB_AUTO_BUF line = ZSB_BUF_INIT;
        const char *detail = arm->detail ? arm->detail : "";
        zsb_buf_addf(&line, "%s%s%s", zsb_arm_status_name(arm->status), *detail ? ": " : "", detail);
        ZSB_AUTO_BUF label = ZSB_BUF_INIT;
        zsb_buf_addf(&label, "%s arm ", zsb_arm_name((enum zsb_arm)i));
        add_indented(out, style, label.data, line.data);
    }
}

/* What the confined arm did and what was seen of it outside; the reader judges the verdict by this. */
static void add_attempts(struct zsb_buf *out, const struct zsb_report_style *style,
                         const struct zsb_arm_result *arm)
{
    for (size_t i = 0; i < arm->attempt_count; i++) {
        const struct zsb_attempt_result *attempt = &arm->attempts[i];
        if (!attempt->witnessed && !(attempt->saw && *attempt->saw) && attempt->sys_errno == 0)
            continue;
        const char *said = attempt->absent      ? "left out"
                           : !attempt->reached  ? "not reached"
                           : attempt->sys_errno ? zsb_errno_name(attempt->sys_errno)
                                                : "reported success";
        const char *saw = attempt->saw && *attempt->saw ? attempt->saw : "nothing";
        ZSB_AUTO_BUF line = ZSB_BUF_INIT;
        zsb_buf_addf(&line, "%s; the witness saw: %s", said, saw);
        ZSB_AUTO_BUF label = ZSB_BUF_INIT;
        zsb_buf_addf(&label, "%s: ", attempt->name);
        add_indented(out, style, label.data, line.data);
    }
}

static bool any_witnessed(const struct zsb_arm_result *arm)
{
    for (size_t i = 0; i < arm->attempt_count; i++) {
        if (arm->attempts[i].witnessed)
            return true;
    }
    return false;
}

static void add_explanation(struct zsb_buf *out, const struct zsb_report_style *style,
                            const struct zsb_trial_result *trial)
{
    zsb_buf_add(out, "  ");
    zsb_text_add(out, style, zsb_verdict_tone(trial->verdict), zsb_verdict_words(trial->verdict));
    zsb_buf_addf(out, "  %s  %s, network %s\n", trial->probe->id, zsb_mode_name(trial->mode),
                 zsb_network_name(trial->network));
    /* The detail of an escape is what its attempts say below. */
    const bool told_below =
        trial->verdict == ZSB_VERDICT_ESCAPED && any_witnessed(&trial->arms[ZSB_ARM_CONFINED]);
    if (trial->detail && *trial->detail && !told_below)
        add_indented(out, style, "", trial->detail);
    if (trial->verdict == ZSB_VERDICT_NOT_APPLICABLE)
        return;
    add_arm_trouble(out, style, trial);
    add_attempts(out, style, &trial->arms[ZSB_ARM_CONFINED]);
}

/* Worst first. */
static void add_explanations(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                             struct zsb_buf *out)
{
    static const enum zsb_verdict order[] = {ZSB_VERDICT_ESCAPED, ZSB_VERDICT_ERROR, ZSB_VERDICT_INCONCLUSIVE,
                                             ZSB_VERDICT_NOT_APPLICABLE};
    bool any = false;
    for (size_t v = 0; v < ZSB_ARRAY_SIZE(order); v++) {
        for (size_t i = 0; i < campaign->trial_count; i++) {
            if (campaign->trials[i].verdict != order[v])
                continue;
            zsb_buf_add(out, any ? "" : "\nwhat did not hold\n");
            add_explanation(out, style, &campaign->trials[i]);
            any = true;
        }
    }
}

static void add_counts(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                       struct zsb_buf *out)
{
    zsb_buf_addf(out, "\n%zu trials: ", campaign->trial_count);
    for (size_t v = 0; v < ZSB_VERDICT_COUNT; v++) {
        const enum zsb_tone tone =
            campaign->counts[v] ? zsb_verdict_tone((enum zsb_verdict)v) : ZSB_TONE_PLAIN;
        zsb_buf_addf(out, "%s%zu ", v ? ", " : "", campaign->counts[v]);
        zsb_text_add(out, style, tone, zsb_verdict_words((enum zsb_verdict)v));
    }
    zsb_buf_addf(out, " (%lld.%lld s)\n", (long long)(campaign->wall_us / 1000000),
                 (long long)(campaign->wall_us / 100000 % 10));
}

/* A pipe of their own is the better way; who reads the report should know which one it was. */
static void add_transport(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                          struct zsb_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < campaign->trial_count; i++) {
        bool on_stdout = false;
        for (size_t a = 0; a < ZSB_ARM_COUNT; a++) {
            const char *via = campaign->trials[i].arms[a].via;
            on_stdout = on_stdout || (via && strcmp(via, "stdout") == 0);
        }
        count += on_stdout;
    }
    if (count == 0)
        return;
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_addf(&line, "%zu of them reported on standard output: their result descriptor was closed", count);
    zsb_text_add(out, style, ZSB_TONE_DIM, line.data);
    zsb_buf_addc(out, '\n');
}

static void add_subject(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                        struct zsb_buf *out)
{
    const bool backend = campaign->subject_kind == ZSB_SUBJECT_BACKEND;
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_addf(&line, "%s %s", backend ? "backend" : "launcher", campaign->subject_name);
    if (backend && campaign->capabilities.executable[0])
        zsb_buf_addf(&line, ", %s", campaign->capabilities.executable);
    zsb_text_field(out, style, "subject", line.data);
}

static void add_host(const struct zsb_host_facts *host, const struct zsb_report_style *style,
                     struct zsb_buf *out)
{
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_addf(&line, "%s%sLinux %s, %s, uid %u", host->os ? host->os : "",
                 host->os && *host->os ? ", " : "", host->kernel ? host->kernel : "?",
                 host->architecture ? host->architecture : "?", host->uid);
    zsb_text_field(out, style, "host", line.data);
}

void zsb_campaign_text_add(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                           struct zsb_buf *out)
{
    add_subject(campaign, style, out);
    add_host(&campaign->host, style, out);
    zsb_buf_addc(out, '\n');
    add_trials(campaign, style, out);
    add_explanations(campaign, style, out);
    add_counts(campaign, style, out);
    add_transport(campaign, style, out);
}

int zsb_report_campaign_text(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                             struct zsb_buf *out, struct zsb_error *err)
{
    zsb_campaign_text_add(campaign, style, out);
    if (campaign->trial_count == 0)
        zsb_text_add(out, style, ZSB_TONE_WARN, "nothing was tried");
    else if (campaign->counts[ZSB_VERDICT_ESCAPED])
        zsb_text_add(out, style, ZSB_TONE_BAD, "something escaped");
    else if (campaign->required_not_held)
        zsb_text_add(out, style, ZSB_TONE_WARN, "not everything required is shown to hold");
    else
        zsb_text_add(out, style, ZSB_TONE_GOOD, "everything required held");
    zsb_buf_addc(out, '\n');
    return zsb_report_finish(out, err);
}
