/* SPDX-License-Identifier: MIT
 *
 * The runner: a harness in miniature. It makes a policy for the scene, prepares the probe as a command and
 * starts it through the library, exactly as `zuno-sandbox run` does.
 */
#include "lib/util/util.h"
#include "verifier/actor.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

ZSB_DEFINE_CLEANUP(zsb_policy, zsb_policy_free)
ZSB_DEFINE_CLEANUP(zsb_prepared, zsb_prepared_free)
ZSB_DEFINE_CLEANUP(zsb_process, zsb_process_free)

static int report(int news_fd, int failed, const char *text)
{
    (void)dprintf(news_fd, "outcome %d %s\n", failed, text);
    return failed;
}

static int make_policy(const struct zsb_actor_start *start, struct zsb_policy **out_policy,
                       struct zsb_error *err)
{
    const struct zsb_scene *scene = start->scene;
    ZSB_AUTO_FREE char *workspace = zsb_strdupf("%s/ws", scene->path);
    ZSB_AUTO_STRV denied = ZSB_STRV_INIT;
    ZSB_AUTO_STRV set = ZSB_STRV_INIT;
    zsb_strv_addf(&denied, "%s/deny/file", scene->path);
    zsb_strv_addf(&denied, "%s/deny/dir", scene->path);
    zsb_strv_addf(&denied, "%s/ws/private", scene->path);
    zsb_strv_addf(&set, "HOME=%s/home", scene->path);
    zsb_strv_addf(&set, "%s=%d", ZSB_RESULT_FD_ENV, start->result_fd);
    if (workspace == NULL || denied.failed || set.failed)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.mode = scene->mode;
    options.network = scene->network;
    options.workspace = workspace;
    options.deny_paths = (const char *const *)denied.items;
    options.deny_path_count = denied.count;
    /* options.environment stays NULL: a harness has its secrets in its own environment, and so have we. */
    options.env_set = (const char *const *)set.items;
    return zsb_policy_new(&options, out_policy, err);
}

static int prepare(const struct zsb_actor_start *start, const struct zsb_policy *policy,
                   const struct zsb_strv *words, int program_fd, struct zsb_prepared **out_prepared,
                   struct zsb_error *err)
{
    ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
    zsb_strv_add(&argv, "zuno-escapes");
    for (size_t i = 0; i < words->count; i++)
        zsb_strv_add(&argv, words->items[i]);
    if (argv.failed)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    struct zsb_request request = ZSB_REQUEST_INIT;
    request.argv = (const char *const *)argv.items;
    request.program_fd = program_fd;
    request.grant_fds = &start->result_fd;
    request.grant_fd_count = 1;
    request.helper_path = start->helper_path;
    return zsb_prepare(start->subject->backend, policy, &request, out_prepared, err);
}

int zsb_runner_main(const struct zsb_actor_start *start, const struct zsb_strv *words, int cancel_fd,
                    int news_fd)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    environ = start->scene->environment.items;
    __attribute__((cleanup(zsb_policy_cleanup))) struct zsb_policy *policy = NULL;
    __attribute__((cleanup(zsb_prepared_cleanup))) struct zsb_prepared *prepared = NULL;
    __attribute__((cleanup(zsb_process_cleanup))) struct zsb_process *process = NULL;
    struct zsb_run_options options = ZSB_RUN_OPTIONS_INIT;
    struct zsb_outcome outcome = {0};
    options.cancel_fd = cancel_fd;
    options.term_grace_ms = 0;
    ZSB_AUTO_FD int program_fd = open(start->scene->lab->escapes_path, O_RDONLY | O_CLOEXEC);
    if (program_fd < 0)
        return report(news_fd, 1, "cannot open the lab's zuno-escapes");
    int rc = make_policy(start, &policy, &err);
    if (rc == 0)
        rc = prepare(start, policy, words, program_fd, &prepared, &err);
    if (rc == 0)
        rc = zsb_process_start(prepared, &options, &process, &err);
    if (rc == 0) {
        (void)dprintf(news_fd, "launcher %d\n", zsb_process_launcher_pid(process));
        /* The report's end is seen when the last writer is gone; we are none. */
        (void)close(start->result_fd);
        rc = zsb_process_wait(process, &outcome, &err);
    }
    if (rc != 0)
        return report(news_fd, 1, err.msg);
    rc = outcome.stage != ZSB_STAGE_NONE ? report(news_fd, 1, outcome.error.msg)
         : !outcome.certain              ? report(news_fd, 0, "the library is not certain that all is gone")
         : outcome.cancelled             ? report(news_fd, 0, "cancelled")
                                         : report(news_fd, 0, "ran to its end");
    zsb_outcome_clear(&outcome);
    return rc;
}
