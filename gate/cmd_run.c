/* SPDX-License-Identifier: MIT */
#include "gate/cancel.h"
#include "gate/cli.h"
#include "gate/file.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

ZSB_DEFINE_CLEANUP(zsb_policy, zsb_policy_free)
ZSB_DEFINE_CLEANUP(zsb_prepared, zsb_prepared_free)
ZSB_DEFINE_CLEANUP(zsb_file, zsb_file_close)

/* Read before anything else can take time. */
static pid_t parent_at_start;

__attribute__((constructor)) static void remember_parent(void)
{
    parent_at_start = getppid();
}

static int prepare(const struct zsb_options *options, const char *helper, struct zsb_policy **out_policy,
                   struct zsb_prepared **out_prepared, struct zsb_error *err)
{
    const struct zsb_policy_options policy_options = zsb_options_policy(options);
    const int rc = zsb_policy_new(&policy_options, out_policy, err);
    if (rc)
        return rc;
    struct zsb_request request = ZSB_REQUEST_INIT;
    request.argv = options->words.words;
    request.helper_path = helper;
    return zsb_prepare(zsb_options_backend(options), *out_policy, &request, out_prepared, err);
}

/* A launcher that ended early says nothing typed; the host does, when asked facility by facility. */
static void name_the_cause(const struct zsb_options *options, const struct zsb_policy *policy,
                           const char *helper, struct zsb_outcome *outcome)
{
    struct zsb_backend_capabilities capabilities;
    struct zsb_error cause = ZSB_ERROR_INIT;
    const struct zsb_probe_options probe = {.workspace = zsb_policy_workspace(policy), .helper_path = helper};
    if (outcome->error.code != ZSB_E_LAUNCHER || outcome->cancelled || outcome->timed_out)
        return;
    if (zsb_backend_probe(zsb_options_backend(options), &probe, &capabilities, NULL, &cause) == 0)
        return;
    outcome->error = cause;
    outcome->stage = cause.stage;
}

static int run(const struct zsb_options *options, struct zsb_cancel *cancel, struct zsb_outcome *outcome,
               struct zsb_error *err)
{
    __attribute__((cleanup(zsb_policy_cleanup))) struct zsb_policy *policy = NULL;
    __attribute__((cleanup(zsb_prepared_cleanup))) struct zsb_prepared *prepared = NULL;
    ZSB_AUTO_FREE char *helper = NULL;
    int rc = zsb_cancel_open(parent_at_start, cancel, err);
    if (!rc)
        rc = zsb_cli_tool_path("zuno-sandbox-helper", &helper, err);
    if (!rc)
        rc = prepare(options, helper, &policy, &prepared, err);
    if (rc)
        return rc;
    if (zsb_cancel_signal(cancel)) { /* nothing is started for a caller that is gone already */
        *outcome = (struct zsb_outcome){.cancelled = 1, .certain = 1};
        return 0;
    }
    struct zsb_run_options run_options = ZSB_RUN_OPTIONS_INIT;
    run_options.timeout_ms = options->timeout_ms;
    run_options.cancel_fd = cancel->poll_fd;
    rc = zsb_run(prepared, &run_options, outcome, err);
    if (!rc)
        name_the_cause(options, policy, helper, outcome);
    return rc;
}

/* A failure before the process layer becomes an outcome like any other: nothing ran, so nothing is left. */
static void fail_outcome(struct zsb_outcome *outcome, const struct zsb_error *err)
{
    *outcome = (struct zsb_outcome){.error = *err, .certain = 1};
    outcome->stage = err->stage == ZSB_STAGE_NONE ? ZSB_STAGE_SPAWN : err->stage;
    outcome->error.stage = outcome->stage;
}

static int exit_of_failure(const struct zsb_outcome *outcome)
{
    if (outcome->stage == ZSB_STAGE_EXEC && outcome->error.code == ZSB_E_NOT_FOUND)
        return ZSB_EXIT_NOT_FOUND;
    if (outcome->stage == ZSB_STAGE_EXEC && outcome->error.code == ZSB_E_NOT_EXECUTABLE)
        return ZSB_EXIT_NOT_EXECUTABLE;
    return ZSB_EXIT_SANDBOX;
}

/* A command that we ended never passes as one that succeeded, whatever it made of our SIGTERM. */
static int exit_of(const struct zsb_outcome *outcome, int cancel_signal)
{
    if (outcome->cancelled)
        return ZSB_EXIT_SIGNAL + (cancel_signal ? cancel_signal : SIGTERM);
    if (outcome->stage != ZSB_STAGE_NONE)
        return exit_of_failure(outcome);
    if (outcome->timed_out)
        return ZSB_EXIT_SIGNAL + (outcome->signal ? outcome->signal : SIGTERM);
    return outcome->exited ? outcome->exit_status : ZSB_EXIT_SIGNAL + outcome->signal;
}

static int write_outcome(const struct zsb_options *options, struct zsb_file *file,
                         const struct zsb_outcome *outcome, struct zsb_error *err)
{
    const struct zsb_policy_options policy = zsb_options_policy(options);
    const struct zsb_outcome_report report = {
        .outcome = outcome,
        .backend = zsb_backend_serial_name(zsb_options_backend(options)),
        .mode = policy.mode,
        .network = policy.network,
    };
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    const int rc = zsb_report_outcome_json(&report, &text, err);
    return rc ? rc : zsb_file_write(file, text.data, text.size_bytes, err);
}

static void explain(const struct zsb_options *options, const struct zsb_outcome *outcome)
{
    if (outcome->stage != ZSB_STAGE_NONE)
        zsb_cli_error(&outcome->error);
    else if (outcome->timed_out)
        zsb_cli_say("timeout", "the command was ended after %lld.%03lld s",
                    (long long)(options->timeout_ms / 1000), (long long)(options->timeout_ms % 1000));
    if (!outcome->certain)
        zsb_cli_say("uncertain", "a process of the command may still be alive");
}

int zsb_cmd_run(const struct zsb_options *options)
{
    if (options->words.count == 0)
        return zsb_cli_usage("no command given: zuno-sandbox run [OPTION]... [--] PROGRAM [ARG]...");
    __attribute__((cleanup(zsb_file_cleanup))) struct zsb_file *file = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (options->outcome && zsb_file_open(options->outcome, &file, &err)) {
        zsb_cli_error(&err);
        return ZSB_EXIT_SANDBOX;
    }
    struct zsb_cancel cancel = {-1, -1, -1};
    struct zsb_outcome outcome = {0};
    if (run(options, &cancel, &outcome, &err))
        fail_outcome(&outcome, &err);
    explain(options, &outcome);
    int code = exit_of(&outcome, zsb_cancel_signal(&cancel));
    if (file && write_outcome(options, file, &outcome, &err)) {
        zsb_cli_error(&err);
        code = ZSB_EXIT_SANDBOX;
    }
    zsb_outcome_clear(&outcome);
    zsb_cancel_close(&cancel);
    return code;
}
