/* SPDX-License-Identifier: MIT
 *
 * Runs `ls -la` read-only and without a network in a directory, and shows what it printed.
 *
 * usage: example DIRECTORY [HELPER]
 *
 * HELPER is needed only where zuno-sandbox-helper is not in the place that the library was configured for.
 */
#include <zuno/sandbox.h>

#include <stdio.h>

static int complain(const struct zsb_error *err)
{
    fprintf(stderr, "%s (stage %s): %s\n", zsb_code_name(err->code), zsb_stage_name(err->stage), err->msg);
    return 125;
}

/* bubblewrap ended before the helper could speak. Discovery asks the kernel what it refuses, and answers with
 * a typed cause. */
static int explain_launcher(const struct zsb_backend *backend, const char *workspace, const char *helper,
                            const struct zsb_error *launcher_error)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    struct zsb_error cause = ZSB_ERROR_INIT;
    options.workspace = workspace;
    options.helper_path = helper;
    if (zsb_backend_probe(backend, &options, &capabilities, NULL, &cause) != 0)
        return complain(&cause);
    return complain(launcher_error); /* the host can do it: the launcher's own words are all there is */
}

static int run(const struct zsb_backend *backend, const struct zsb_policy *policy, const char *helper)
{
    static const char *const words[] = {"ls", "-la", NULL};
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_prepared *prepared = NULL;
    struct zsb_outcome outcome;
    struct zsb_request request = ZSB_REQUEST_INIT;
    struct zsb_run_options options = ZSB_RUN_OPTIONS_INIT;
    int result;

    request.argv = words;
    request.helper_path = helper;
    if (zsb_prepare(backend, policy, &request, &prepared, &err) != 0)
        return complain(&err);
    options.stdio[0] = ZSB_STDIO_NULL;
    options.stdio[1] = ZSB_STDIO_CAPTURE;
    options.timeout_ms = 10000;
    if (zsb_run(prepared, &options, &outcome, &err) != 0) {
        zsb_prepared_free(prepared);
        return complain(&err);
    }

    /* Only with stage none has the command run, and only then is its exit status its own. */
    if (outcome.stage == ZSB_STAGE_NONE) {
        fputs(outcome.captured[1], stdout);
        result = outcome.exited ? outcome.exit_status : 128 + outcome.signal;
    } else if (outcome.error.code == ZSB_E_LAUNCHER) {
        result = explain_launcher(backend, zsb_policy_workspace(policy), helper, &outcome.error);
    } else {
        result = complain(&outcome.error);
    }
    zsb_outcome_clear(&outcome);
    zsb_prepared_free(prepared);
    return result;
}

int main(int argc, char *argv[])
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    int result;

    if (argc < 2)
        return 2;
    options.mode = ZSB_MODE_READ_ONLY;
    options.network = ZSB_NETWORK_DENIED;
    options.workspace = argv[1];
    if (zsb_policy_new(&options, &policy, &err) != 0)
        return complain(&err);
    result = run(zsb_backend_for_mode(options.mode), policy, argc > 2 ? argv[2] : NULL);
    zsb_policy_free(policy);
    return result;
}
