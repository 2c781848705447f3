/* SPDX-License-Identifier: MIT
 *
 * Workers: one process per trial, so that a trial can neither harm nor outlive the campaign, and several can
 * run at once. What a worker found comes back over a pipe (transport.c) and is read as strictly as anything
 * else.
 */
#ifndef ZSB_WORKER_H
#define ZSB_WORKER_H

#include "lib/util/util.h"
#include "verifier/arm.h"

struct zsb_task {
    const struct zsb_lab *lab;
    const struct zsb_probe *probe;
    enum zsb_mode mode;
    enum zsb_network network;
    const struct zsb_subject *subject;
    const char *helper_path;
    unsigned slot; /* names the trial directory; no two workers at once may have the same */
    bool canary;   /* only the confined arm, and only to see whether anything runs */
};

struct zsb_worker {
    pid_t pid; /* -1: none */
    int fd;
    struct zsb_buf text;
    int64_t deadline_us;
};
enum { ZSB_WORKER_DEADLINE_MS = 90000 };

int zsb_worker_start(const struct zsb_task *task, struct zsb_worker *out_worker); /* 0 or -errno */
/* Takes what has come. 1: the worker is finished and reaped, see zsb_worker_finish(); 0: not yet. */
bool zsb_worker_pump(struct zsb_worker *worker);
/* Reads its result into arms[ZSB_ARM_COUNT]. NULL, or why there is none (static text, or in `worker`). */
const char *zsb_worker_finish(struct zsb_worker *worker, struct zsb_arm_result *arms);
void zsb_worker_clear(struct zsb_worker *worker); /* kills and reaps */

/* The format between them: JSON of this process's own making. */
int zsb_transport_write(const struct zsb_arm_result *arms, struct zsb_buf *out); /* 0 or -ENOMEM */
/* NULL, or the rule that the text breaks. Fills `arms` only on success; the caller clears them. */
const char *zsb_transport_read(const char *text, size_t size_bytes, struct zsb_arm_result *arms);

#endif
