/* SPDX-License-Identifier: MIT */
#include "verifier/arm.h"

#include "lib/util/util.h"
#include "verifier/actor.h"
#include "verifier/child.h"
#include "verifier/procscan.h"
#include "verifier/result.h"
#include "verifier/snapshot.h"
#include "verifier/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STREAM_MAX = ZSB_REPORT_BYTES_MAX + 4096,
    ENDED_WAIT_MS = 500,    /* after the launcher's end, for whoever still holds a stream */
    END_WAIT_MS = 3000,     /* for the launcher's end, once the probe was let go */
    TERM_WAIT_MS = 400,     /* between a launcher's SIGTERM and SIGKILL */
    SURVIVOR_WAIT_MS = 500, /* what a torn-down sandbox may take until all is gone */
    CLEAN_UP_MS = 3000,
};
enum { STREAM_RESULT = 0, STREAM_STDOUT, STREAM_STDERR, STREAM_COUNT };

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

struct run {
    const struct zsb_arm_spec *spec;
    struct zsb_arm_result *result;
    struct zsb_scene scene;
    struct zsb_actor actor;
    int streams[STREAM_COUNT];
    struct zsb_buf texts[STREAM_COUNT];
    struct zsb_buf words; /* the probe's, as in its command line */
    struct zsb_report report;
    struct zsb_report_form form;
    const char *names[ZSB_REPORT_ROWS_MAX];
    struct zsb_snapshot before, after;
    struct zsb_procs held, survivors;
    int held_fds[ZSB_PROCS_MAX]; /* pidfds of `held` */
    bool timed_out;
};

static const char *what_runs(const struct zsb_arm_spec *spec)
{
    return spec->probe == &zsb_canary_probe ? "canary" : spec->arm == ZSB_ARM_BENIGN ? "benign" : "attempt";
}

static void fail(struct run *run, enum zsb_arm_status status, const char *detail)
{
    run->result->status = status;
    free(run->result->detail);
    run->result->detail = strdup(detail);
}

/* ---- before */

static int take_snapshot(struct run *run, struct zsb_snapshot *out)
{
    static const char *const skip[] = {"bin", "hidden", NULL};
    return zsb_snapshot_take(run->scene.dir_fd, skip, out);
}

/* As they stand in a command line: each ends in a NUL. */
static int make_words(struct run *run)
{
    ZSB_AUTO_STRV words = ZSB_STRV_INIT;
    zsb_scene_add_words(&run->scene, what_runs(run->spec), &words);
    for (size_t i = 0; i < words.count; i++)
        zsb_buf_append(&run->words, words.items[i], strlen(words.items[i]) + 1);
    return words.failed || run->words.failed ? -ENOMEM : 0;
}

static void make_form(struct run *run)
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
static int start_actor(struct run *run)
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

/* ---- the report */

static void close_stream(struct run *run, size_t index)
{
    zsb_cleanup_fd(&run->streams[index]);
    run->streams[index] = -1;
}

static void read_stream(struct run *run, size_t index)
{
    char chunk[8192];
    while (run->streams[index] >= 0) {
        ssize_t n = read(run->streams[index], chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_stream(run, index);
            return;
        }
        zsb_buf_append(&run->texts[index], chunk, (size_t)n);
    }
}

/* The pipe's report counts; the one on standard output only where the pipe says nothing at all. */
static void read_report(struct run *run)
{
    struct zsb_report report;
    const struct zsb_buf *text = &run->texts[STREAM_RESULT];
    run->form.channel = ZSB_CHANNEL_FD;
    zsb_result_parse(text->data, text->size_bytes, &run->form, &report);
    if (!report.hello && report.malformed == NULL) {
        zsb_report_clear(&report);
        text = &run->texts[STREAM_STDOUT];
        run->form.channel = ZSB_CHANNEL_STDOUT;
        zsb_result_parse(text->data, text->size_bytes, &run->form, &report);
    }
    zsb_report_clear(&run->report);
    run->report = report;
}

static bool is_flooded(const struct run *run)
{
    for (size_t i = 0; i < STREAM_COUNT; i++)
        if (run->texts[i].failed)
            return true;
    return false;
}

static bool may_come(const struct run *run)
{
    return run->streams[STREAM_RESULT] >= 0 || run->streams[STREAM_STDOUT] >= 0 || !run->actor.ended;
}

/* 0 when the time is up. */
static bool wait_for_more(struct run *run, int64_t deadline_us)
{
    struct pollfd fds[STREAM_COUNT + 1];
    int64_t left_us = deadline_us - zsb_now_us();
    if (left_us <= 0) {
        run->timed_out = true;
        return false;
    }
    for (size_t i = 0; i < STREAM_COUNT; i++)
        fds[i] = (struct pollfd){.fd = run->streams[i], .events = POLLIN};
    fds[STREAM_COUNT] = (struct pollfd){.fd = run->actor.ended ? -1 : run->actor.pidfd, .events = POLLIN};
    (void)poll(fds, STREAM_COUNT + 1, (int)(left_us / 1000) + 1);
    for (size_t i = 0; i < STREAM_COUNT; i++)
        read_stream(run, i);
    return true;
}

static void gather(struct run *run)
{
    int64_t deadline_us = zsb_now_us() + run->spec->deadline_ms * 1000;
    while (may_come(run) && wait_for_more(run, deadline_us)) {
        bool had_ended = run->actor.ended;
        read_report(run);
        if (run->report.done || run->report.malformed != NULL || is_flooded(run))
            return;
        if (zsb_actor_has_ended(&run->actor) && !had_ended) {
            int64_t soon_us = zsb_now_us() + (int64_t)ENDED_WAIT_MS * 1000;
            deadline_us = soon_us < deadline_us ? soon_us : deadline_us;
        }
    }
}

/* ---- while it holds */

static struct zsb_proc_mark arm_mark(const struct run *run)
{
    const struct zsb_lab *lab = run->spec->lab;
    return (struct zsb_proc_mark){.nonce = run->scene.nonce,
                                  .exe_device = lab->escapes_device,
                                  .exe_inode = lab->escapes_inode,
                                  .words = run->words.data,
                                  .words_size = run->words.size_bytes};
}

static void find_held(struct run *run)
{
    struct zsb_proc_mark mark = arm_mark(run);
    (void)zsb_procscan_find(&mark, &run->held);
    for (size_t i = 0; i < run->held.count; i++)
        run->held_fds[i] = zsb_pidfd_open(run->held.items[i].pid);
}

static struct zsb_witness_input witness_input(struct run *run)
{
    return (struct zsb_witness_input){.spec = run->spec,
                                      .scene = &run->scene,
                                      .report = &run->report,
                                      .held = &run->held,
                                      .survivors = &run->survivors};
}

/* A report is only as good as the process behind it: the lab's own binary, running exactly these words, not
 * stopped, and holding the pipe that the report came through. NULL, or what is wrong. */
static const char *attest(const struct run *run)
{
    char link_text[64], saw[256];
    struct stat st;
    const struct zsb_proc *first = zsb_procs_first(&run->held);
    if (first == NULL)
        return "a report came, but no process of the probe was seen outside";
    if (first->state == 'T' || first->state == 't')
        return "a report came, but the probe's process is stopped";
    if (run->form.channel == ZSB_CHANNEL_STDOUT) /* there a launcher may well stand in between */
        return NULL;
    if (run->streams[STREAM_RESULT] < 0 || fstat(run->streams[STREAM_RESULT], &st) < 0)
        return "a report came, but nobody holds its pipe any more";
    (void)snprintf(link_text, sizeof(link_text), "pipe:[%llu]", (unsigned long long)st.st_ino);
    int rc = zsb_proc_has_descriptor(first->pid, link_text, saw, sizeof(saw));
    return rc > 0    ? NULL
           : rc == 0 ? "a report came, but the probe's process does not hold its pipe"
                     : "a report came, but the probe's process could not be inspected";
}

static void inspect(struct run *run)
{
    struct zsb_witness_input input = witness_input(run);
    find_held(run);
    const char *blind = zsb_witness_hold(&input, run->result);
    const char *unattested = attest(run);
    if (unattested != NULL)
        fail(run, ZSB_ARM_UNATTESTED, unattested);
    else if (run->held.overflow)
        fail(run, ZSB_ARM_UNATTESTED, "more processes than the witness can look at");
    else if (blind != NULL)
        fail(run, ZSB_ARM_UNATTESTED, blind);
    else
        fail(run, ZSB_ARM_COMPLETE, "");
}

static void judge_report(struct run *run)
{
    char detail[256];
    if (zsb_report_is_complete(&run->report, &run->form)) {
        inspect(run);
        return;
    }
    if (run->report.malformed != NULL) {
        (void)snprintf(detail, sizeof(detail), "the report breaks the protocol: %s", run->report.malformed);
        fail(run, ZSB_ARM_NO_REPORT, detail);
    } else if (is_flooded(run)) {
        fail(run, ZSB_ARM_NO_REPORT, "too much output for a report");
    } else if (run->timed_out && !run->actor.ended) {
        (void)snprintf(detail, sizeof(detail), "no report within %lld ms", (long long)run->spec->deadline_ms);
        fail(run, ZSB_ARM_TIMED_OUT, detail);
    } else if (run->report.hello) {
        fail(run, ZSB_ARM_CRASHED, "the probe started, but did not finish");
    } else {
        fail(run, ZSB_ARM_NO_REPORT, "ended without a report");
    }
}

/* ---- the end */

static void wait_for_end(struct run *run, int64_t wait_ms)
{
    int64_t deadline_us = zsb_now_us() + wait_ms * 1000;
    while (!zsb_actor_has_ended(&run->actor)) {
        int64_t left_us = deadline_us - zsb_now_us();
        struct pollfd fds[] = {{.fd = run->actor.pidfd, .events = POLLIN},
                               {.fd = run->streams[STREAM_STDERR], .events = POLLIN}};
        if (left_us <= 0)
            return;
        (void)poll(fds, 2, (int)(left_us / 1000) + 1);
        read_stream(run, STREAM_STDERR);
    }
}

static void release(struct run *run)
{
    close_stream(run, STREAM_RESULT);
    close_stream(run, STREAM_STDOUT);
}

static bool is_over(const struct run *run)
{
    return run->result->status != ZSB_ARM_COMPLETE;
}

static void end(struct run *run)
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
            fail(run, ZSB_ARM_TIMED_OUT, "the sandbox did not end with its command");
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
static void wait_for_held(struct run *run, int64_t wait_ms)
{
    int64_t deadline_us = zsb_now_us() + wait_ms * 1000;
    for (size_t i = 0; i < run->held.count; i++) {
        int64_t left_us = deadline_us - zsb_now_us();
        struct pollfd pfd = {.fd = run->held_fds[i], .events = POLLIN};
        if (run->held_fds[i] >= 0)
            (void)poll(&pfd, 1, left_us > 0 ? (int)(left_us / 1000) + 1 : 0);
    }
}

static void look_for_survivors(struct run *run)
{
    struct zsb_proc_mark mark = arm_mark(run);
    if (!expects_survivors(run->spec->probe) || run->spec->arm == ZSB_ARM_BENIGN)
        return;
    if (run->spec->arm == ZSB_ARM_CONFINED)
        wait_for_held(run, SURVIVOR_WAIT_MS);
    (void)zsb_procscan_find(&mark, &run->survivors);
}

static void look_again(struct run *run)
{
    struct zsb_change *changes = NULL;
    struct zsb_witness_input input = witness_input(run);
    zsb_listeners_pump(&run->scene.listeners);
    zsb_terminal_pump(&run->scene.terminal);
    zsb_victim_examine(&run->scene.victim);
    int rc = take_snapshot(run, &run->after);
    if (rc == 0)
        rc = zsb_snapshot_diff(&run->before, &run->after, &changes, &input.change_count);
    ZSB_AUTO_FREE struct zsb_change *owned = changes;
    input.changes = owned;
    if (rc != 0)
        fail(run, ZSB_ARM_UNATTESTED, "the trial directory could not be read again");
    else if (run->scene.victim.pid > 0 && !run->scene.victim.dead && !run->scene.victim.answered)
        fail(run, ZSB_ARM_UNATTESTED, "the victim does not answer");
    else
        run->spec->place->is_clean = input.change_count == 0;
    zsb_witness_end(&input, run->result);
}

/* ---- the result */

/* Last line of what the launcher said. */
static void add_last_words(struct run *run)
{
    const struct zsb_buf *text = &run->texts[STREAM_STDERR];
    size_t end_at = text->size_bytes;
    while (end_at > 0 && (unsigned char)text->data[end_at - 1] <= ' ')
        end_at--;
    size_t start = end_at;
    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    if (end_at == start)
        return;
    char *detail = zsb_strdupf("%s; it said: %.*s", run->result->detail,
                               (int)(end_at - start < 200 ? end_at - start : 200), text->data + start);
    for (char *c = detail; c != NULL && *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (detail != NULL) {
        free(run->result->detail);
        run->result->detail = detail;
    }
}

static void explain(struct run *run)
{
    char how[ZSB_ERROR_MSG_MAX];
    bool failed = false;
    if (run->result->status == ZSB_ARM_COMPLETE)
        return;
    zsb_actor_describe(&run->actor, how, sizeof(how), &failed);
    if (failed && run->result->status == ZSB_ARM_NO_REPORT && !run->report.hello)
        fail(run, ZSB_ARM_LAUNCH_FAILED, how);
    else {
        char *detail = zsb_strdupf("%s (%s)", run->result->detail, how);
        if (detail != NULL) {
            free(run->result->detail);
            run->result->detail = detail;
        }
    }
    add_last_words(run);
}

static void take_rows(struct run *run)
{
    for (size_t i = 0; i < run->report.row_count && i < run->result->attempt_count; i++) {
        run->result->attempts[i].reached = run->report.rows[i].reached;
        run->result->attempts[i].sys_errno = run->report.rows[i].sys_errno;
    }
    run->result->via = strdup(run->report.hello ? zsb_channel_name(run->form.channel) : "");
}

static void perform(struct run *run)
{
    char detail[256];
    int rc = zsb_scene_open(&run->scene, run->spec->lab, run->spec->probe, run->spec->mode,
                            run->spec->network, run->spec->place);
    if (rc != 0) {
        (void)snprintf(detail, sizeof(detail), "the verifier could not set up %s: %s", run->scene.trouble,
                       strerror(-rc));
        fail(run, ZSB_ARM_LAUNCH_FAILED, detail);
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
        fail(run, ZSB_ARM_LAUNCH_FAILED, detail);
        return;
    }
    gather(run);
    take_rows(run);
    judge_report(run);
    end(run);
    look_for_survivors(run);
    look_again(run);
    explain(run);
}

static void clear(struct run *run)
{
    zsb_actor_clear(&run->actor);
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        close_stream(run, i);
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
    struct run *run = calloc(1, sizeof(*run));
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
