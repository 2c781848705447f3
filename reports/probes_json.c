/* SPDX-License-Identifier: MIT */
#include "reports/json.h"
#include "reports/probe_words.h"
#include "reports/reports.h"

static void add_flags(struct zsb_json *json, cJSON *out, const char *key, const struct zsb_flag_word *words,
                      size_t count, unsigned flags)
{
    cJSON *array = zsb_json_array(json, out, key);
    for (size_t i = 0; i < count; i++) {
        if (flags & words[i].flag)
            zsb_json_string(json, array, NULL, words[i].word);
    }
}

/* An attempt without modes of its own runs in all modes of its probe. */
static void add_attempt(struct zsb_json *json, cJSON *attempts, const struct zsb_attempt *attempt,
                        unsigned probe_modes)
{
    cJSON *out = zsb_json_object(json, attempts, NULL);
    zsb_json_string(json, out, "name", attempt->name);
    zsb_json_string(json, out, "witness", zsb_witness_name(attempt->witness));
    zsb_json_string(json, out, "target", attempt->target);
    zsb_json_bool(json, out, "effect_only", attempt->effect_only);
    add_flags(json, out, "modes", zsb_mode_words, ZSB_ARRAY_SIZE(zsb_mode_words),
              attempt->modes ? attempt->modes : probe_modes);
}

static void add_probe(struct zsb_json *json, cJSON *probes, const struct zsb_probe *probe)
{
    cJSON *out = zsb_json_object(json, probes, NULL);
    zsb_json_string(json, out, "id", probe->id);
    zsb_json_string(json, out, "claim", probe->claim);
    zsb_json_string(json, out, "boundary", probe->boundary);
    zsb_json_bool(json, out, "required", probe->required);
    add_flags(json, out, "modes", zsb_mode_words, ZSB_ARRAY_SIZE(zsb_mode_words), probe->modes);
    add_flags(json, out, "networks", zsb_network_words, ZSB_ARRAY_SIZE(zsb_network_words), probe->networks);
    add_flags(json, out, "needs", zsb_need_words, zsb_need_word_count, probe->needs);
    zsb_json_string(json, out, "fixture", zsb_fixture_word(probe->fixture));
    zsb_json_string(json, out, "ending", zsb_ending_word(probe->ending));
    cJSON *errnos = zsb_json_array(json, out, "deny_errnos");
    for (const int *number = probe->deny_errnos; number && *number; number++)
        zsb_json_string(json, errnos, NULL, zsb_errno_name(*number));
    zsb_json_string(json, out, "benign", probe->benign_claim);
    cJSON *attempts = zsb_json_array(json, out, "attempts");
    for (size_t i = 0; i < probe->attempt_count; i++)
        add_attempt(json, attempts, &probe->attempts[i], probe->modes);
    zsb_json_string(json, out, "refs", probe->refs);
}

int zsb_report_probes_json(const struct zsb_probes_report *report, struct zsb_buf *out, struct zsb_error *err)
{
    ZSB_AUTO_JSON json;
    zsb_json_init(&json, "zuno-sandbox/probes/v1");
    cJSON *probes = zsb_json_array(&json, json.root, "probes");
    for (size_t i = 0; i < report->count; i++)
        add_probe(&json, probes, report->probes[i]);
    return zsb_json_print(&json, out, err);
}
