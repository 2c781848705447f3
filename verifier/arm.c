/* SPDX-License-Identifier: MIT */
#include "verifier/arm_internal.h"
#include "verifier/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STREAM_MAX = ZSB_REPORT_BYTES_MAX + 4096,
    END_WAIT_MS = 3000,     /* for the launcher's end, once the probe was let go */
    TERM_WAIT_MS = 400,     /* between a launcher's SIGTERM and SIGKILL */
    SURVIVOR_WAIT_MS = 500, /* what a torn-down sandbox may take until all is gone */
    CLEAN_UP_MS = 3000,
};

static const struct zsb_attempt no_attempts[1];
const struct zsb_probe zsb_canary_probe = {
    .id = "canary",
    .claim = "The subject runs its command.",
    .boundary = "process",
    .refs = "",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .attempts = no_attempts,
};

static const char *what_runs(const struct zsb_arm_spec *spec)
{
    return spec->probe == &zsb_canary_probe ? "canary" : spec->arm == ZSB_ARM_BENIGN ? "benign" : "attempt";
}

/* ---- before */

static int take_snapshot(struct zsb_arm_run *run, struct zsb_snapshot *out)
{
    static const char *const skip[] = {"bin", "hidden", NULL};
    return zsb_snapshot_take(run->scene.dir_fd, skip, out);
}

/* As they stand in a command line: each ends in a NUL. */
static int make_words(struct zsb_arm_run *run)
{
    ZSB_AUTO_STRV words = ZSB_STRV_INIT;
    zsb_scene_add_words(&run->scene, what_runs(run->spec), &words);
    for (size_t i = 0; i < words.count; i++)
        zsb_buf_append(&run->words, words.items[i], strlen(words.items[i]) + 1);
    return words.failed || run->words.failed ? -ENOMEM : 0;
}

static void make_form(struct zsb_arm_run *run)
{
    const struct zsb_arm_spec *spec = run->spec;
    run->form.nonce = run->scene.nonce;
    run->form.probe_id = spec->probe->id;
    run->form.what = spec->arm == ZSB_ARM_BENIGN ? "benign" : "attempt";
    run->form.names = run->names;
    for (size_t i = 0; i < run->result->attempt_count && i < ZSB_REPORT_ROWS_MAX; i++)
        run->names[run->form.name_count++] = run->result->attempts[i].name;
}

/* Starts the actor with three fresh pipes; ours are the reading ends. */
static int start_actor(struct zsb_arm_run *run)
{
    int pipes[STREAM_COUNT][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int rc = 0;
    for (size_t i = 0; i < STREAM_COUNT && rc == 0; i++)
        rc = pipe2(pipes[i], O_CLOEXEC) < 0 ? -errno : zsb_set_nonblock(pipes[i][0], true);
    ZSB_AUTO_FD int placeholder = fcntl(ZSB_RESULT_FD_NUMBER, F_DUPFD_CLOEXEC, ZSB_LAB_FD_MIN);
    if (rc == 0 && (placeholder < 0 || dup3(pipes[STREAM_RESULT][1], ZSB_RESULT_FD_NUMBER, O_CLOEXEC) < 0))
        rc = -errno;
    if (rc == 0) {
        const struct zsb_subject *subject = run->spec->subject;
        struct zsb_actor_start start = {
            .kind = run->spec->arm == ZSB_ARM_BARE          ? ZSB_ACTOR_BARE
                    : subject->kind == ZSB_SUBJECT_LAUNCHER ? ZSB_ACTOR_LAUNCHER
                                                            : ZSB_ACTOR_BACKEND,
            .scene = &run->scene,
            .what = what_runs(run->spec),
            .subject = subject,
            .helper_path = run->spec->helper_path,
            .result_fd = ZSB_RESULT_FD_NUMBER,
            .stdout_fd = pipes[STREAM_STDOUT][1],
            .stderr_fd = pipes[STREAM_STDERR][1],
            .reading_fds = {pipes[0][0], pipes[1][0], pipes[2][0]},
        };
        rc = zsb_actor_start(&start, &run->actor);
        (void)dup3(placeholder, ZSB_RESULT_FD_NUMBER, O_CLOEXEC);
    }
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        zsb_cleanup_fd(&pipes[i][1]);
        run->streams[i] = pipes[i][0];
    }
    return rc;
}

/* ---- the end */

static void wait_for_end(struct zsb_arm_run *run, int64_t wait_ms)
{
    int64_t deadline_us = zsb_now_us() + wait_ms * 1000;
    while (!zsb_actor_has_ended(&run->actor)) {
        int64_t left_us = deadline_us - zsb_now_us();
        struct pollfd fds[] = {{.fd = run->actor.pidfd, .events = POLLIN},
                               {.fd = run->streams[STREAM_STDERR], .events = POLLIN}};
        if (left_us <= 0)
            return;
        (void)poll(fds, 2, (int)(left_us / 1000) + 1);
        zsb_arm_read_stream(run, STREAM_STDERR);
    }
}

static void release(struct zsb_arm_run *run)
{
    zsb_arm_close_stream(run, STREAM_RESULT);
    zsb_arm_close_stream(run, STREAM_STDOUT);
}

static bool is_over(const struct zsb_arm_run *run)
{
    return run->result->status != ZSB_ARM_COMPLETE;
}

static void end(struct zsb_arm_run *run)
{
    enum zsb_ending ending = run->spec->arm == ZSB_ARM_BENIGN ? ZSB_END_EXIT : run->spec->probe->ending;
    if (is_over(run)) {
        zsb_actor_cancel(&run->actor);
        release(run);
        wait_for_end(run, TERM_WAIT_MS);
    } else if (ending == ZSB_END_CANCEL) {
        zsb_actor_cancel(&run->actor);
        wait_for_end(run, run->actor.kind == ZSB_ACTOR_LAUNCHER ? TERM_WAIT_MS : END_WAIT_MS);
    } else if (ending == ZSB_END_KILL_LAUNCHER) {
        zsb_actor_kill_launcher(&run->actor);
        wait_for_end(run, END_WAIT_MS);
    } else {
        release(run);
        wait_for_end(run, END_WAIT_MS);
        if (!zsb_actor_has_ended(&run->actor))
            zsb_arm_fail(run, ZSB_ARM_TIMED_OUT, "the sandbox did not end with its command");
    }
    zsb_actor_kill(&run->actor);
    wait_for_end(run, END_WAIT_MS);
    release(run);
}

static bool expects_survivors(const struct zsb_probe *probe)
{
    for (size_t i = 0; i < probe->attempt_count; i++)
        if (probe->attempts[i].witness == ZSB_WITNESS_SURVIVOR)
            return true;
    return false;
}

/* A process seen while the arm held is gone when its descriptor says so. */
static void wait_for_held(struct zsb_arm_run *run, int64_t wait_ms)
{
    int64_t deadline_us = zsb_now_us() + wait_ms * 1000;
    for (size_t i = 0; i < run->held.count; i++) {
        int64_t left_us = deadline_us - zsb_now_us();
        struct pollfd pfd = {.fd = run->held_fds[i], .events = POLLIN};
        if (run->held_fds[i] >= 0)
            (void)poll(&pfd, 1, left_us > 0 ? (int)(left_us / 1000) + 1 : 0);
    }
}

static void look_for_survivors(struct zsb_arm_run *run)
{
    struct zsb_proc_mark mark = zsb_arm_mark(run);
    if (!expects_survivors(run->spec->probe) || run->spec->arm == ZSB_ARM_BENIGN)
        return;
    if (run->spec->arm == ZSB_ARM_CONFINED)
        wait_for_held(run, SURVIVOR_WAIT_MS);
    (void)zsb_procscan_find(&mark, &run->survivors);
}

static void look_again(struct zsb_arm_run *run)
{
    struct zsb_change *changes = NULL;
    struct zsb_witness_input input = zsb_arm_witness_input(run);
    zsb_listeners_pump(&run->scene.listeners);
    zsb_terminal_pump(&run->scene.terminal);
    zsb_victim_examine(&run->scene.victim);
    int rc = take_snapshot(run, &run->after);
    if (rc == 0)
        rc = zsb_snapshot_diff(&run->before, &run->after, &changes, &input.change_count);
    ZSB_AUTO_FREE struct zsb_change *owned = changes;
    input.changes = owned;
    if (rc != 0)
        zsb_arm_fail(run, ZSB_ARM_UNATTESTED, "the trial directory could not be read again");
    else if (run->scene.victim.pid > 0 && !run->scene.victim.dead && !run->scene.victim.answered)
        zsb_arm_fail(run, ZSB_ARM_UNATTESTED, "the victim does not answer");
    else
        run->spec->place->is_clean = input.change_count == 0;
    zsb_witness_end(&input, run->result);
}

/* ---- all of it */

static void take_rows(struct zsb_arm_run *run)
{
    for (size_t i = 0; i < run->report.row_count && i < run->result->attempt_count; i++) {
        run->result->attempts[i].reached = run->report.rows[i].reached;
        run->result->attempts[i].sys_errno = run->report.rows[i].sys_errno;
    }
    run->result->via = strdup(run->report.hello ? zsb_channel_name(run->form.channel) : "");
}

static void perform(struct zsb_arm_run *run)
{
    char detail[256];
    int rc = zsb_scene_open(&run->scene, run->spec->lab, run->spec->probe, run->spec->mode,
                            run->spec->network, run->spec->place);
    if (rc != 0) {
        (void)snprintf(detail, sizeof(detail), "the verifier could not set up %s: %s", run->scene.trouble,
                       strerror(-rc));
        zsb_arm_fail(run, ZSB_ARM_LAUNCH_FAILED, detail);
        return;
    }
    make_form(run);
    rc = make_words(run);
    if (rc == 0)
        rc = take_snapshot(run, &run->before);
    if (rc == 0)
        rc = start_actor(run);
    if (rc != 0) {
        (void)snprintf(detail, sizeof(detail), "the verifier could not start the arm: %s", strerror(-rc));
        zsb_arm_fail(run, ZSB_ARM_LAUNCH_FAILED, detail);
        return;
    }
    zsb_arm_gather(run);
    take_rows(run);
    zsb_arm_judge_report(run);
    end(run);
    look_for_survivors(run);
    look_again(run);
    zsb_arm_explain(run);
}

static void clear(struct zsb_arm_run *run)
{
    zsb_actor_clear(&run->actor);
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        zsb_arm_close_stream(run, i);
        zsb_buf_clear(&run->texts[i]);
    }
    for (size_t i = 0; i < run->held.count; i++)
        zsb_cleanup_fd(&run->held_fds[i]);
    zsb_procscan_kill_marked(run->scene.nonce);
    zsb_victim_end(&run->scene.victim);
    if (!zsb_child_end_all(zsb_now_us() + (int64_t)CLEAN_UP_MS * 1000)) {
        zsb_lab_abandon_trial(run->spec->lab, run->spec->place->name);
        run->spec->place->is_clean = false;
    }
    zsb_scene_close(&run->scene);
    zsb_buf_clear(&run->words);
    zsb_report_clear(&run->report);
    zsb_snapshot_clear(&run->before);
    zsb_snapshot_clear(&run->after);
}

void zsb_arm_run(const struct zsb_arm_spec *spec, struct zsb_arm_result *out_result)
{
    int64_t started_us = zsb_now_us();
    memset(out_result, 0, sizeof(*out_result));
    struct zsb_arm_run *run = calloc(1, sizeof(*run));
    if (run == NULL || zsb_arm_make_rows(spec, out_result) != 0) {
        out_result->status = ZSB_ARM_LAUNCH_FAILED;
        free(run);
        return;
    }
    run->spec = spec;
    run->result = out_result;
    zsb_actor_init(&run->actor);
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        run->streams[i] = -1;
        run->texts[i].max_bytes = STREAM_MAX;
    }
    perform(run);
    clear(run);
    free(run);
    out_result->wall_us = zsb_now_us() - started_us;
}
