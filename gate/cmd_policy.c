/* SPDX-License-Identifier: MIT */
#include "gate/cli.h"

#include <string.h>

ZSB_DEFINE_CLEANUP(zsb_policy, zsb_policy_free)
ZSB_DEFINE_CLEANUP(zsb_plan, zsb_plan_free)
ZSB_DEFINE_CLEANUP(zsb_prepared, zsb_prepared_free)

static struct zsb_policy_report_step *step_rows(const struct zsb_plan *plan,
                                                const struct zsb_backend *backend)
{
    struct zsb_policy_report_step *rows = calloc(zsb_plan_count(plan) + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < zsb_plan_count(plan); i++) {
        rows[i].step = *zsb_plan_step(plan, i);
        rows[i].enforced = zsb_backend_enforces(backend, rows[i].step.kind);
    }
    return rows;
}

/* A backend may enforce steps of a kind and still refuse one of them. It names the policy entry as "ENTRY:
 * rule". */
static void mark_refused(struct zsb_policy_report_step *rows, size_t count, const struct zsb_error *refusal)
{
    for (size_t i = 0; i < count && refusal->code == ZSB_E_UNSUPPORTED_POLICY; i++) {
        const size_t length = strlen(rows[i].step.origin);
        rows[i].refused = rows[i].enforced && strncmp(refusal->reason, rows[i].step.origin, length) == 0 &&
                          strncmp(refusal->reason + length, ": ", 2) == 0;
        rows[i].enforced = rows[i].enforced && !rows[i].refused;
    }
}

static int write_report(const struct zsb_options *options, const struct zsb_policy_report *report,
                        struct zsb_error *err)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    struct zsb_destination destination;
    int rc = zsb_destination_open(options, &destination, err);
    if (!rc && options->format == ZSB_FORMAT_JSON)
        rc = zsb_report_policy_json(report, &text, err);
    else if (!rc)
        rc = zsb_report_policy_text(report, &destination.style, &text, err);
    return rc ? rc : zsb_destination_write(&destination, &text, err);
}

/* What the backend makes of the policy: a command that does nothing is prepared, never started. */
static int prepare(const struct zsb_backend *backend, const struct zsb_policy *policy,
                   struct zsb_prepared **out_prepared, struct zsb_error *err)
{
    static const char *const argv[] = {"true", NULL};
    ZSB_AUTO_FREE char *helper = NULL;
    const int rc = zsb_cli_tool_path("zuno-sandbox-helper", &helper, err);
    if (rc)
        return rc;
    struct zsb_request request = ZSB_REQUEST_INIT;
    request.argv = argv;
    request.helper_path = helper;
    return zsb_prepare(backend, policy, &request, out_prepared, err);
}

static int show(const struct zsb_options *options, const struct zsb_policy *policy, struct zsb_error *err)
{
    __attribute__((cleanup(zsb_plan_cleanup))) struct zsb_plan *plan = NULL;
    __attribute__((cleanup(zsb_prepared_cleanup))) struct zsb_prepared *prepared = NULL;
    const struct zsb_backend *backend = zsb_options_backend(options);
    int rc = zsb_plan_new(policy, &plan, err);
    if (rc)
        return rc;
    ZSB_AUTO_FREE struct zsb_policy_report_step *rows = step_rows(plan, backend);
    if (!rows)
        return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    struct zsb_error refusal = ZSB_ERROR_INIT;
    const int refused = prepare(backend, policy, &prepared, &refusal);
    mark_refused(rows, refused ? zsb_plan_count(plan) : 0, &refusal);
    const struct zsb_policy_report report = {
        .mode = zsb_policy_mode(policy),
        .network = zsb_policy_network(policy),
        .workspace = zsb_policy_workspace(policy),
        .cwd = zsb_policy_cwd(policy),
        .backend = zsb_backend_name(backend),
        .backend_serial = zsb_backend_serial_name(backend),
        .steps = rows,
        .step_count = zsb_plan_count(plan),
        .launcher_argv = refused ? NULL : zsb_prepared_launcher_argv(prepared),
        .error = refused ? &refusal : NULL,
    };
    rc = write_report(options, &report, err);
    if (!rc && refused && err)
        *err = refusal;
    return rc ? rc : refused;
}

int zsb_cmd_policy(const struct zsb_options *options)
{
    if (options->words.count != 1 || strcmp(options->words.words[0], "show") != 0)
        return zsb_cli_usage("policy needs exactly one word: show");
    __attribute__((cleanup(zsb_policy_cleanup))) struct zsb_policy *policy = NULL;
    const struct zsb_policy_options policy_options = zsb_options_policy(options);
    struct zsb_error err = ZSB_ERROR_INIT;
    int rc = zsb_policy_new(&policy_options, &policy, &err);
    if (!rc)
        rc = show(options, policy, &err);
    if (!rc)
        return ZSB_EXIT_OK;
    zsb_cli_error(&err);
    return zsb_cli_exit_of(&err);
}
