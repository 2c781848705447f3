/* SPDX-License-Identifier: MIT
 *
 * Processes that try to outlive their sandbox. Safe to lose track of: a survivor is killed by the kernel
 * after ZSB_SURVIVOR_LIFE_S seconds also when it is stopped or ignores everything, and it dies with whoever
 * adopts it.
 */
#ifndef ZSB_SURVIVOR_H
#define ZSB_SURVIVOR_H

#include <stdbool.h>

enum { ZSB_SURVIVOR_LIFE_S = 25 };

struct zsb_survivor {
    const char *comm;     /* at most 15 characters; the witness's target */
    bool own_session;     /* setsid */
    bool orphaned;        /* its parent exits at once */
    bool ignores_signals; /* everything that can be ignored */
    bool stopped;         /* SIGSTOP to itself */
};

/* 0 once the survivor is in place; else the positive errno of what failed. */
int zsb_survivor_start(const struct zsb_survivor *survivor);

#endif
