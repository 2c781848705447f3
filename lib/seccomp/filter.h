/* SPDX-License-Identifier: MIT
 *
 * The syscall filter: a table of refusals with a reason per row, compiled by libseccomp at build time into
 * two BPF programs (network denied, network allowed) that the helper installs. Not a public header.
 */
#ifndef ZSB_FILTER_H
#define ZSB_FILTER_H

#include <zuno/policy.h>

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zsb_filter_action {
    ZSB_FILTER_EPERM = 0, /* policy denial */
    ZSB_FILTER_ENOSYS     /* callers have a well-known fallback */
};

enum zsb_filter_match {
    ZSB_MATCH_CALL = 0, /* every use */
    ZSB_MATCH_MASKED,   /* all of masked[]: (args[arg] & mask) == value, on the low 32 bits that the kernel
                           looks at */
    ZSB_MATCH_NOT_IN,   /* low 32 bits of args[masked[0].arg] are none of allowed[] */
};

struct zsb_filter_arg {
    unsigned arg;
    uint32_t mask;
    uint32_t value;
};

enum { ZSB_FILTER_DENIED = 1u << 0, ZSB_FILTER_ALLOWED = 1u << 1, ZSB_FILTER_ALWAYS = 3u };

struct zsb_filter_row {
    const char *syscall;
    int number; /* > 0: a number of the unified table (>= 424, same on every ABI); matched by number */
    enum zsb_filter_action action;
    unsigned networks; /* in which programs the row stands */
    enum zsb_filter_match match;
    struct zsb_filter_arg masked[2];
    unsigned masked_count;
    const uint32_t *allowed;
    unsigned allowed_count;
    const char *reason;
};

/* Calls above this number are newer than the table and answer ENOSYS. */
enum { ZSB_FILTER_NEWEST_REVIEWED = 469 };

const struct zsb_filter_row *zsb_filter_row_at(size_t index); /* NULL past the end */

/* Fresh compile by libseccomp; caller frees *out_program. Errors: seccomp, unsupported_architecture. */
int zsb_filter_compile(enum zsb_network network, struct sock_filter **out_program, unsigned short *out_length,
                       struct zsb_error *err);

/* The program compiled at build time. Static storage. */
struct zsb_filter_program {
    const struct sock_filter *instructions;
    unsigned short length;
};
struct zsb_filter_program zsb_filter_builtin(enum zsb_network network);

#endif
