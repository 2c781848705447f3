/* SPDX-License-Identifier: MIT */
#include "verifier/arm_internal.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { ENDED_WAIT_MS = 500 }; /* after the launcher's end, for whoever still holds a stream */

void zsb_arm_close_stream(struct zsb_arm_run *run, size_t index)
{
    zsb_cleanup_fd(&run->streams[index]);
    run->streams[index] = -1;
}

void zsb_arm_read_stream(struct zsb_arm_run *run, size_t index)
{
    char chunk[8192];
    while (run->streams[index] >= 0) {
        ssize_t n = read(run->streams[index], chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            zsb_arm_close_stream(run, index);
            return;
        }
        zsb_buf_append(&run->texts[index], chunk, (size_t)n);
    }
}

/* The pipe's report counts; the one on standard output only where the pipe says nothing at all. */
static void read_report(struct zsb_arm_run *run)
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

bool zsb_arm_is_flooded(const struct zsb_arm_run *run)
{
    for (size_t i = 0; i < STREAM_COUNT; i++)
        if (run->texts[i].failed)
            return true;
    return false;
}

static bool may_come(const struct zsb_arm_run *run)
{
    return run->streams[STREAM_RESULT] >= 0 || run->streams[STREAM_STDOUT] >= 0 || !run->actor.ended;
}

/* 0 when the time is up. */
static bool wait_for_more(struct zsb_arm_run *run, int64_t deadline_us)
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
        zsb_arm_read_stream(run, i);
    return true;
}

void zsb_arm_gather(struct zsb_arm_run *run)
{
    int64_t deadline_us = zsb_now_us() + run->spec->deadline_ms * 1000;
    while (may_come(run) && wait_for_more(run, deadline_us)) {
        bool had_ended = run->actor.ended;
        read_report(run);
        if (run->report.done || run->report.malformed != NULL || zsb_arm_is_flooded(run))
            return;
        if (zsb_actor_has_ended(&run->actor) && !had_ended) {
            int64_t soon_us = zsb_now_us() + (int64_t)ENDED_WAIT_MS * 1000;
            deadline_us = soon_us < deadline_us ? soon_us : deadline_us;
        }
    }
}
