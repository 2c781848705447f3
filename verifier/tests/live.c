/* SPDX-License-Identifier: MIT */
#include "verifier/tests/live.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void zsb_live_need_bubblewrap(void)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.helper_path = ZSB_TEST_HELPER;
    if (zsb_backend_probe(zsb_backend_find("bubblewrap"), &options, &capabilities, NULL, &err) == 0)
        return;
    const char *must = getenv("ZSB_MUST_WORK");
    (void)fprintf(stderr, "no sandbox on this host: %s\n", err.msg);
    exit(must != NULL && strcmp(must, "1") == 0 ? 1 : 77);
}

struct zsb_launcher *zsb_live_launcher(const char *argv, const char *dir)
{
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ZSB_AUTO_FREE char *text = zsb_strdupf(
        "{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"test\",\"argv\":%s,"
        "\"modes\":[\"read-only\"],\"network\":\"deny\",\"environment\":{\"PATH\":\"/usr/bin:/bin\"}}",
        argv);
    ck_assert_msg(zsb_launcher_parse(text, strlen(text), "test.json", dir, &launcher, &err) == 0, "%s",
                  err.msg);
    return launcher;
}

static void run(struct zsb_campaign_options *options, struct zsb_campaign *out_campaign)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_test_dir dir;
    zsb_test_dir_make(&dir);
    options->helper_path = ZSB_TEST_HELPER;
    options->escapes_path = ZSB_TEST_ESCAPES;
    options->lab_parent = dir.path;
    ck_assert_msg(zsb_campaign_run(options, out_campaign, &err) == 0, "%s", err.msg);
    ck_assert_msg(zsb_test_count_entries(dir.path) == 0, "the lab was left behind in %s", dir.path);
    zsb_test_dir_remove(&dir);
}

void zsb_live_run(struct zsb_launcher *launcher, const char *const *globs, size_t glob_count,
                  struct zsb_campaign *out_campaign)
{
    static const enum zsb_mode modes[] = {ZSB_MODE_READ_ONLY};
    struct zsb_campaign_options options = {.subject = {.kind = ZSB_SUBJECT_LAUNCHER, .launcher = launcher},
                                           .modes = modes,
                                           .mode_count = ZSB_ARRAY_SIZE(modes),
                                           .probe_globs = globs,
                                           .probe_glob_count = glob_count};
    run(&options, out_campaign);
}

void zsb_live_run_backend(const char *const *globs, size_t glob_count, struct zsb_campaign *out_campaign)
{
    static const enum zsb_mode modes[] = {ZSB_MODE_READ_ONLY, ZSB_MODE_WORKSPACE_WRITE};
    struct zsb_campaign_options options = {
        .subject = {.kind = ZSB_SUBJECT_BACKEND, .backend = zsb_backend_find("bubblewrap")},
        .modes = modes,
        .mode_count = ZSB_ARRAY_SIZE(modes),
        .probe_globs = globs,
        .probe_glob_count = glob_count};
    run(&options, out_campaign);
}

const struct zsb_trial_result *zsb_live_trial(const struct zsb_campaign *campaign, const char *probe)
{
    for (size_t i = 0; i < campaign->trial_count; i++)
        if (strcmp(campaign->trials[i].probe->id, probe) == 0)
            return &campaign->trials[i];
    ck_abort_msg("no trial of %s", probe);
    return NULL;
}

char *zsb_live_others(const struct zsb_campaign *campaign, enum zsb_verdict verdict)
{
    struct zsb_buf text = ZSB_BUF_INIT;
    zsb_buf_add(&text, "");
    for (size_t i = 0; i < campaign->trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign->trials[i];
        if (trial->verdict != verdict)
            zsb_buf_addf(&text, "\n  %s %s (%s): %s", zsb_verdict_name(trial->verdict), trial->probe->id,
                         zsb_mode_name(trial->mode), trial->detail);
    }
    return text.data != NULL ? zsb_buf_take(&text) : strdup("");
}
