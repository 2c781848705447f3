/* SPDX-License-Identifier: MIT */
#include "verifier/arm_internal.h"
#include "verifier/child.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void zsb_arm_fail(struct zsb_arm_run *run, enum zsb_arm_status status, const char *detail)
{
    run->result->status = status;
    free(run->result->detail);
    run->result->detail = strdup(detail);
}

struct zsb_proc_mark zsb_arm_mark(const struct zsb_arm_run *run)
{
    const struct zsb_lab *lab = run->spec->lab;
    return (struct zsb_proc_mark){.nonce = run->scene.nonce,
                                  .exe_device = lab->escapes_device,
                                  .exe_inode = lab->escapes_inode,
                                  .words = run->words.data,
                                  .words_size = run->words.size_bytes};
}

static void find_held(struct zsb_arm_run *run)
{
    struct zsb_proc_mark mark = zsb_arm_mark(run);
    (void)zsb_procscan_find(&mark, &run->held);
    for (size_t i = 0; i < run->held.count; i++)
        run->held_fds[i] = zsb_pidfd_open(run->held.items[i].pid);
}

struct zsb_witness_input zsb_arm_witness_input(struct zsb_arm_run *run)
{
    return (struct zsb_witness_input){.spec = run->spec,
                                      .scene = &run->scene,
                                      .report = &run->report,
                                      .held = &run->held,
                                      .survivors = &run->survivors};
}

/* A report is only as good as the process behind it: the lab's own binary, running exactly these words, not
 * stopped or traced, bearing the seal of exactly this report, and holding the pipe that the report came
 * through. NULL, or what is wrong. */
static const char *attest(const struct zsb_arm_run *run)
{
    char link_text[64], saw[256];
    struct stat st;
    const struct zsb_proc *first = zsb_procs_first(&run->held);
    if (first == NULL)
        return "a report came, but no process of the probe was seen outside";
    if (first->state == 'T' || first->state == 't')
        return "a report came, but the probe's process is stopped";
    struct zsb_proc_status status;
    if (zsb_proc_read_status(first->pid, &status) != 0 || status.tracer != 0)
        return "a report came, but the probe's process is traced";
    char seal[ZSB_SEAL_NAME_SIZE];
    zsb_seal_name(&run->report.seal, seal);
    if (strcmp(first->comm, seal) != 0)
        return "a report came, but it is not the one that the probe's process gave";
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

static void inspect(struct zsb_arm_run *run)
{
    struct zsb_witness_input input = zsb_arm_witness_input(run);
    find_held(run);
    const char *blind = zsb_witness_hold(&input, run->result);
    const char *unattested = attest(run);
    if (unattested != NULL)
        zsb_arm_fail(run, ZSB_ARM_UNATTESTED, unattested);
    else if (run->held.overflow)
        zsb_arm_fail(run, ZSB_ARM_UNATTESTED, "more processes than the witness can look at");
    else if (blind != NULL)
        zsb_arm_fail(run, ZSB_ARM_UNATTESTED, blind);
    else
        zsb_arm_fail(run, ZSB_ARM_COMPLETE, "");
}

void zsb_arm_judge_report(struct zsb_arm_run *run)
{
    char detail[256];
    if (zsb_report_is_complete(&run->report, &run->form)) {
        inspect(run);
        return;
    }
    if (run->report.malformed != NULL) {
        (void)snprintf(detail, sizeof(detail), "the report breaks the protocol: %s", run->report.malformed);
        zsb_arm_fail(run, ZSB_ARM_NO_REPORT, detail);
    } else if (zsb_arm_is_flooded(run)) {
        zsb_arm_fail(run, ZSB_ARM_NO_REPORT, "too much output for a report");
    } else if (run->timed_out && !run->actor.ended) {
        (void)snprintf(detail, sizeof(detail), "no report within %lld ms", (long long)run->spec->deadline_ms);
        zsb_arm_fail(run, ZSB_ARM_TIMED_OUT, detail);
    } else if (run->report.hello) {
        zsb_arm_fail(run, ZSB_ARM_CRASHED, "the probe started, but did not finish");
    } else {
        zsb_arm_fail(run, ZSB_ARM_NO_REPORT, "ended without a report");
    }
}

/* Last line of what the launcher said. */
static void add_last_words(struct zsb_arm_run *run)
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

void zsb_arm_explain(struct zsb_arm_run *run)
{
    char how[ZSB_ERROR_MSG_MAX];
    bool failed = false;
    if (run->result->status == ZSB_ARM_COMPLETE)
        return;
    zsb_actor_describe(&run->actor, how, sizeof(how), &failed);
    if (failed && run->result->status == ZSB_ARM_NO_REPORT && !run->report.hello)
        zsb_arm_fail(run, ZSB_ARM_LAUNCH_FAILED, how);
    else {
        char *detail = zsb_strdupf("%s (%s)", run->result->detail, how);
        if (detail != NULL) {
            free(run->result->detail);
            run->result->detail = detail;
        }
    }
    add_last_words(run);
}
