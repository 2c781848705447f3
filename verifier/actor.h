/* SPDX-License-Identifier: MIT
 *
 * The process that plays one arm: the probe itself (bare), a foreign launcher, or a runner that uses the
 * library as a harness would. All three are children of the worker, in a session of their own.
 */
#ifndef ZSB_ACTOR_H
#define ZSB_ACTOR_H

#include "verifier/scene.h"

enum zsb_actor_kind { ZSB_ACTOR_BARE = 0, ZSB_ACTOR_LAUNCHER, ZSB_ACTOR_BACKEND };

struct zsb_actor_start {
    enum zsb_actor_kind kind;
    const struct zsb_scene *scene;
    const char *what;                  /* "attempt", "benign" or "canary" */
    const struct zsb_subject *subject; /* unused for bare */
    const char *helper_path;
    int result_fd, stdout_fd, stderr_fd; /* writing ends, borrowed */
    int reading_fds[3];                  /* their other ends, which no child may keep open */
};

struct zsb_actor {
    enum zsb_actor_kind kind;
    pid_t pid;
    int pidfd;
    int cancel_fd; /* backend: closing it cancels */
    int news_fd;   /* backend: what the runner says */
    struct zsb_buf news;
    bool ended;
    int wait_status;
};

void zsb_actor_init(struct zsb_actor *actor);
int zsb_actor_start(const struct zsb_actor_start *start, struct zsb_actor *out_actor); /* 0 or -errno */
/* Cancels as the caller of a sandbox would: library forced end, launcher SIGTERM (SIGKILL is the arm's
 * business), bare SIGKILL. */
void zsb_actor_cancel(struct zsb_actor *actor);
/* SIGKILL of the launcher process alone. */
void zsb_actor_kill_launcher(struct zsb_actor *actor);
/* SIGKILL of the process we started. */
void zsb_actor_kill(struct zsb_actor *actor);
/* Notes the end when it has come. Never blocks. */
bool zsb_actor_has_ended(struct zsb_actor *actor);
/* How it ended, or what the library said: one line for people. `out_failed` is set when the sandbox, not the
 * command, failed. */
void zsb_actor_describe(struct zsb_actor *actor, char *out, size_t size, bool *out_failed);
void zsb_actor_clear(struct zsb_actor *actor); /* kills and reaps */

/* Body of the runner (runner.c). Writes "launcher PID\n" and "outcome FAILED MESSAGE\n" to news_fd. */
int zsb_runner_main(const struct zsb_actor_start *start, const struct zsb_strv *words, int cancel_fd,
                    int news_fd);

#endif
