/* SPDX-License-Identifier: MIT
 *
 * What one run of zuno-escapes knows: its words, the running attempt, and what was captured. Private to the
 * program and its tests; probes see only the functions of probe.h.
 */
#ifndef ZSB_CONTEXT_H
#define ZSB_CONTEXT_H

#include "escapes/probe.h"

#include <limits.h>

enum { ZSB_CAPTURE_MAX = 4096, ZSB_PATH_SLOTS = 16, ZSB_FLAG_DIGITS = 32 };

struct zsb_ctx {
    const char *const *words; /* "key=value", borrowed */
    size_t word_count;
    char plant[ZSB_FLAG_DIGITS + 1]; /* of the running attempt */
    unsigned char capture[ZSB_CAPTURE_MAX];
    size_t capture_bytes;
    char paths[ZSB_PATH_SLOTS][PATH_MAX];
    unsigned next_path;
};

/* Forgets what the last attempt captured and derives the plant flag of attempt `index`. */
void zsb_ctx_begin(struct zsb_ctx *ctx, size_t index);

/* Exactly 32 lowercase hex digits. */
bool zsb_is_flag(const char *text);

#endif
