/* SPDX-License-Identifier: MIT */
#include "gate/audit.h"
#include "gate/catalogue.h"
#include "gate/cli.h"
#include "gate/gate.h"

static int write_report(const struct zsb_options *options, struct zsb_destination *destination,
                        const struct zsb_gate_result *result, struct zsb_error *err)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    const int rc = options->format == ZSB_FORMAT_JSON
                       ? zsb_report_gate_json(result, &text, err)
                       : zsb_report_gate_text(result, &destination->style, &text, err);
    return rc ? rc : zsb_destination_write(destination, &text, err);
}

/* A refusal because something escaped, or because the verifier could not tell, are different findings. */
static int exit_of(const struct zsb_gate_result *result)
{
    if (!result->campaign)
        return ZSB_EXIT_UNAVAILABLE;
    if (result->grant)
        return ZSB_EXIT_OK;
    const bool escaped = result->campaign->counts[ZSB_VERDICT_ESCAPED] != 0;
    return !escaped && result->campaign->required_not_held ? ZSB_EXIT_FAULT : ZSB_EXIT_ESCAPED;
}

static int decide(const struct zsb_options *options, struct zsb_gate_input *input,
                  struct zsb_destination *destination)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_gate_result result = {0};
    ZSB_AUTO_FREE const struct zsb_probe **probes = zsb_catalogue_array(&input->probe_count);
    input->probes = probes;
    input->preview = options->preview;
    int rc = probes ? zsb_gate_decide(input, &result, &err) : zsb_error_no_memory(&err, ZSB_STAGE_NONE);
    if (!rc)
        rc = write_report(options, destination, &result, &err);
    int code = exit_of(&result);
    if (rc) {
        zsb_cli_error(&err);
        code = ZSB_EXIT_FAULT;
    }
    zsb_gate_clear(&result);
    return code;
}

/* Without a helper program nothing can be compiled; the campaign has said so already. */
static bool audit(const struct zsb_backend *backend, struct zsb_buf *evidence)
{
    ZSB_AUTO_FREE char *helper = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (zsb_cli_tool_path("zuno-sandbox-helper", &helper, &err)) {
        zsb_buf_add(evidence, err.msg);
        return false;
    }
    return zsb_audit_read_only(backend, helper, evidence);
}

static int gate(const struct zsb_options *options, struct zsb_destination *destination)
{
    static const enum zsb_mode modes[] = {ZSB_MODE_READ_ONLY, ZSB_MODE_WORKSPACE_WRITE};
    const struct zsb_subject subject = {.kind = ZSB_SUBJECT_BACKEND, .backend = zsb_options_backend(options)};
    struct zsb_error unavailable = ZSB_ERROR_INIT;
    struct zsb_campaign campaign = {0};
    const bool ran =
        zsb_cli_campaign(&subject, modes, ZSB_ARRAY_SIZE(modes), options, &campaign, &unavailable) == 0;
    if (!ran) {
        zsb_cli_error(&unavailable);
        const int code = zsb_cli_exit_of(&unavailable);
        if (code != ZSB_EXIT_UNAVAILABLE)
            return code;
    }
    ZSB_AUTO_BUF evidence = ZSB_BUF_INIT;
    const bool compiled = audit(subject.backend, &evidence);
    struct zsb_gate_input input = {
        .campaign = ran ? &campaign : NULL,
        .backend_error = ran ? NULL : &unavailable,
        .read_only_compiled = compiled,
        .read_only_evidence = evidence.data,
    };
    const int code = decide(options, &input, destination);
    if (ran)
        zsb_campaign_clear(&campaign);
    return code;
}

int zsb_cmd_gate(const struct zsb_options *options)
{
    if (options->words.count)
        return zsb_cli_usage("gate takes no argument '%s'", options->words.words[0]);
    __attribute__((cleanup(zsb_destination_close))) struct zsb_destination destination;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (zsb_destination_open(options, &destination, &err)) {
        zsb_cli_error(&err);
        return ZSB_EXIT_USAGE;
    }
    return gate(options, &destination);
}
