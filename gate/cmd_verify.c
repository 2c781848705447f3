/* SPDX-License-Identifier: MIT */
#include "gate/cli.h"

#include <stdio.h>

ZSB_DEFINE_CLEANUP(zsb_launcher, zsb_launcher_free)

struct selection {
    enum zsb_mode modes[3];
    size_t count;
};

/* A mode that was asked for must be one that the launcher file declares; without asking it is read-only, or
 * what the launcher has. */
static int select_for_launcher(const struct zsb_launcher *launcher, const struct zsb_options *options,
                               struct selection *selection)
{
    static const enum zsb_mode confined[] = {ZSB_MODE_READ_ONLY, ZSB_MODE_WORKSPACE_WRITE};
    for (size_t i = 0; i < options->mode_count; i++) {
        if (!zsb_launcher_has_mode(launcher, options->modes[i]))
            return zsb_cli_usage("--mode: %s does not list '%s' in its modes", options->launcher,
                                 zsb_mode_name(options->modes[i]));
    }
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(confined) && selection->count == 0; i++) {
        if (zsb_launcher_has_mode(launcher, confined[i]))
            selection->modes[selection->count++] = confined[i];
    }
    return selection->count ? 0 : zsb_cli_usage("--launcher: %s lists no confined mode", options->launcher);
}

static int select_modes(const struct zsb_options *options, const struct zsb_launcher *launcher,
                        struct selection *selection)
{
    for (size_t i = 0; i < options->mode_count; i++) {
        if (options->modes[i] == ZSB_MODE_DANGER_FULL_ACCESS)
            return zsb_cli_usage("--mode: danger-full-access promises nothing that could be verified");
        selection->modes[selection->count++] = options->modes[i];
    }
    if (launcher)
        return select_for_launcher(launcher, options, selection);
    if (selection->count == 0)
        selection->modes[selection->count++] = ZSB_MODE_READ_ONLY;
    return 0;
}

static int write_report(const struct zsb_options *options, struct zsb_destination *destination,
                        const struct zsb_campaign *campaign, struct zsb_error *err)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    const int rc = options->format == ZSB_FORMAT_JSON
                       ? zsb_report_campaign_json(campaign, &text, err)
                       : zsb_report_campaign_text(campaign, &destination->style, &text, err);
    return rc ? rc : zsb_destination_write(destination, &text, err);
}

/* An escape outweighs everything else. */
static int exit_of(const struct zsb_campaign *campaign)
{
    if (campaign->counts[ZSB_VERDICT_ESCAPED])
        return ZSB_EXIT_ESCAPED;
    return campaign->required_not_held || campaign->trial_count == 0 ? ZSB_EXIT_FAULT : ZSB_EXIT_OK;
}

static int fail(const struct zsb_error *err)
{
    zsb_cli_error(err);
    return zsb_cli_exit_of(err);
}

static int verify(const struct zsb_options *options, const struct zsb_subject *subject,
                  struct zsb_destination *destination)
{
    struct selection selection = {.count = 0};
    const int wrong = select_modes(options, subject->launcher, &selection);
    if (wrong)
        return wrong;
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_campaign campaign = {0};
    if (zsb_cli_campaign(subject, selection.modes, selection.count, options, &campaign, &err))
        return fail(&err);
    int code = exit_of(&campaign);
    if (write_report(options, destination, &campaign, &err)) {
        zsb_cli_error(&err);
        code = code == ZSB_EXIT_ESCAPED ? code : ZSB_EXIT_FAULT;
    }
    zsb_campaign_clear(&campaign);
    return code;
}

int zsb_cmd_verify(const struct zsb_options *options)
{
    if (options->words.count)
        return zsb_cli_usage("verify takes no argument '%s'", options->words.words[0]);
    if (options->launcher && options->backend)
        return zsb_cli_usage("--launcher and --backend exclude each other");
    struct zsb_error err = ZSB_ERROR_INIT;
    __attribute__((cleanup(zsb_launcher_cleanup))) struct zsb_launcher *launcher = NULL;
    if (options->launcher && zsb_launcher_load(options->launcher, &launcher, &err)) {
        zsb_cli_error(&err);
        return ZSB_EXIT_USAGE;
    }
    const struct zsb_subject subject = {
        .kind = launcher ? ZSB_SUBJECT_LAUNCHER : ZSB_SUBJECT_BACKEND,
        .backend = launcher ? NULL : zsb_options_backend(options),
        .launcher = launcher,
    };
    __attribute__((cleanup(zsb_destination_close))) struct zsb_destination destination;
    if (zsb_destination_open(options, &destination, &err)) {
        zsb_cli_error(&err);
        return ZSB_EXIT_USAGE;
    }
    return verify(options, &subject, &destination);
}
