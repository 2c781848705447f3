/* SPDX-License-Identifier: MIT
 *
 * The result protocol, read side. A pure function over bytes that may come from anyone: what does not carry
 * the nonce is somebody else's, what carries it and breaks the protocol spoils the report.
 */
#ifndef ZSB_RESULT_H
#define ZSB_RESULT_H

#include "escapes/probe.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ZSB_REPORT_ROWS_MAX = 64,
    ZSB_REPORT_BYTES_MAX = 1 << 20, /* a longer stream is not a report */
    ZSB_CAPTURE_BYTES_MAX = 4096,
};

enum zsb_channel { ZSB_CHANNEL_FD = 0, ZSB_CHANNEL_STDOUT };
const char *zsb_channel_name(enum zsb_channel channel); /* "fd", "stdout" */

struct zsb_report_row {
    bool present, reached;
    int sys_errno;
    unsigned char *capture; /* owned; NULL for none */
    size_t capture_size;
};

struct zsb_report {
    bool hello, done;
    const char *malformed; /* static text naming the broken rule, or NULL */
    struct zsb_report_row rows[ZSB_REPORT_ROWS_MAX];
    struct zsb_seal seal; /* over the rows seen */
    size_t row_count;     /* rows seen, always in the expected order */
};

/* What a report has to look like. */
struct zsb_report_form {
    const char *nonce;
    const char *probe_id;
    const char *what; /* "attempt" or "benign" */
    enum zsb_channel channel;
    const char *const *names; /* the results, in order */
    size_t name_count;        /* at most ZSB_REPORT_ROWS_MAX */
};

/* Reads all complete lines of `data`. Never fails: see `malformed`. The caller clears *out_report. */
void zsb_result_parse(const char *data, size_t size_bytes, const struct zsb_report_form *form,
                      struct zsb_report *out_report);
void zsb_report_clear(struct zsb_report *report);
/* 1: hello, every result in order and done were there, and nothing else with the nonce. */
bool zsb_report_is_complete(const struct zsb_report *report, const struct zsb_report_form *form);

#endif
