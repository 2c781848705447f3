/* SPDX-License-Identifier: MIT
 *
 * Process: start a prepared command, wait for it, end its whole tree.
 *
 * start -> wait -> free. The caller's memory is never copied (CLONE_VM|CLONE_VFORK). One struct
 * zsb_process belongs to one thread at a time; a command outlives the thread that started it, and dies
 * with the process that started it. Nothing here touches signal dispositions of the caller.
 */
#ifndef ZUNO_PROCESS_H
#define ZUNO_PROCESS_H

#include <zuno/command.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum zsb_stdio {
    ZSB_STDIO_INHERIT = 0, /* pipes, terminals and /dev/null enter; anything else is relayed */
    ZSB_STDIO_NULL,
    ZSB_STDIO_CAPTURE /* output only: kept in the outcome, up to capture_max_bytes each */
};

struct zsb_run_options {
    enum zsb_stdio stdio[3];
    int stdio_fds[3];           /* what INHERIT means, -1: the caller's 0, 1, 2 */
    uint64_t capture_max_bytes; /* 0: 1 MiB; more is read and dropped, `truncated` says so */
    int64_t timeout_ms;         /* <= 0: none */
    int64_t term_grace_ms;      /* between SIGTERM to the command and the forced end; < 0: 2000 */
    int cancel_fd;              /* readable (or hung up): cancel; -1: none */
};
#define ZSB_RUN_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        {ZSB_STDIO_INHERIT, ZSB_STDIO_INHERIT, ZSB_STDIO_INHERIT}, {-1, -1, -1}, 0, 0, -1, -1                \
    }

struct zsb_outcome {
    enum zsb_stage stage;   /* NONE: the command ran and ended; else where it failed */
    struct zsb_error error; /* code OK when stage is NONE */
    int exited;             /* the command ended by itself with exit_status */
    int exit_status;
    int signal; /* the command was ended by this signal, else 0 */
    int timed_out;
    int cancelled;
    int certain; /* the whole tree is known to be gone */
    int64_t wall_us, user_us, system_us;
    int64_t max_rss_bytes;
    char *captured[3]; /* [1], [2]: NUL-terminated captures, else NULL; owned by the outcome */
    size_t captured_bytes[3];
    int truncated[3];
};

struct zsb_process; /* opaque */

/* Starts. Errors: io, no_memory, limit, helper, launcher, invalid_path (stage spawn). */
ZSB_API ZSB_MUST_CHECK int zsb_process_start(const struct zsb_prepared *prepared,
                                             const struct zsb_run_options *options,
                                             struct zsb_process **out_process, struct zsb_error *err);
/* Runs the loop until the whole tree is gone; fills *out_outcome (clear it with zsb_outcome_clear).
 * Returns 0 also when the command or the confinement failed: the outcome says which. */
ZSB_API ZSB_MUST_CHECK int zsb_process_wait(struct zsb_process *process, struct zsb_outcome *out_outcome,
                                            struct zsb_error *err);
/* Ends the whole tree now (forced). Safe at any time after start; wait() still has to be called. */
ZSB_API void zsb_process_kill(struct zsb_process *process);
/* Pid of the process that we started (launcher, or supervisor for native), for observation only. */
ZSB_API int zsb_process_launcher_pid(const struct zsb_process *process);
/* Kills what still runs, reaps, frees. NULL is fine. */
ZSB_API void zsb_process_free(struct zsb_process *process);
ZSB_API void zsb_outcome_clear(struct zsb_outcome *outcome);
/* start + wait + free. */
ZSB_API ZSB_MUST_CHECK int zsb_run(const struct zsb_prepared *prepared, const struct zsb_run_options *options,
                                   struct zsb_outcome *out_outcome, struct zsb_error *err);

#ifdef __cplusplus
}
#endif
#endif
