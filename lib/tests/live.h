/* SPDX-License-Identifier: MIT
 *
 * One command in a sandbox, for tests: init, change what matters, run or start and wait, clear.
 */
#ifndef ZSB_TESTS_LIVE_H
#define ZSB_TESTS_LIVE_H

#include "lib/tests/support.h"

#include <zuno/sandbox.h>

struct zsb_live {
    const char *backend; /* "bubblewrap" or "native" */
    struct zsb_policy_options policy_options;
    struct zsb_request request;
    struct zsb_run_options run;
    struct zsb_policy *policy;
    struct zsb_prepared *prepared;
    struct zsb_process *process;
    struct zsb_outcome outcome;
    struct zsb_error err;
};

/* False, with the reason on stderr, when this host cannot build a sandbox. */
bool zsb_live_host_can(void);

/* Workspace: the test's directory. No input, output captured, 30 s, a small environment. For "native" the
 * mode is danger-full-access. */
void zsb_live_init(struct zsb_live *live, const char *backend, enum zsb_mode mode);
void zsb_live_clear(struct zsb_live *live);
/* Policy and prepared command; 0 or the code, with live->err. */
int zsb_live_prepare(struct zsb_live *live, const char *const argv[]);
/* The rest fail the test on an error of the library. Prepares when that was not done. */
void zsb_live_start(struct zsb_live *live, const char *const argv[]);
void zsb_live_wait(struct zsb_live *live);
void zsb_live_run(struct zsb_live *live, const char *const argv[]);
/* sh -c SCRIPT; the command must have run, wherever it ended. Returns its output. */
const char *zsb_live_shell(struct zsb_live *live, const char *script);
/* All of it: read-only unless told otherwise, with "bubblewrap". Must exit with 0. */
const char *zsb_live_output(enum zsb_mode mode, const char *script);

/* A word that no other process has in its command line, and how many have. */
const char *zsb_live_marker(void);
size_t zsb_live_count_marked(const char *marker);
/* Until the path exists, at most 10 s; fails the test otherwise. */
void zsb_live_await(const char *path);

#endif
