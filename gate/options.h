/* SPDX-License-Identifier: MIT
 *
 * The command line, parsed by one table for all subcommands. No abbreviations, `--name value` and
 * `--name=value`,
 * `--` ends the options; an option that may not repeat and is given twice is an error, because a reader
 * cannot tell which one counts.
 */
#ifndef ZSB_GATE_OPTIONS_H
#define ZSB_GATE_OPTIONS_H

#include "lib/util/util.h"

#include <zuno/sandbox.h>

/* Subcommands, as bits: the table says which option each takes. */
enum zsb_command_bit {
    ZSB_COMMAND_RUN = 1u << 0,
    ZSB_COMMAND_VERIFY = 1u << 1,
    ZSB_COMMAND_GATE = 1u << 2,
    ZSB_COMMAND_PROBES = 1u << 3,
    ZSB_COMMAND_POLICY = 1u << 4,
};

enum zsb_format { ZSB_FORMAT_TEXT = 0, ZSB_FORMAT_JSON };

struct zsb_word_list {
    const char **words;
    size_t count;
};

struct zsb_options {
    enum zsb_mode modes[3]; /* in the order given, each once; empty: the default */
    size_t mode_count;
    bool network_given;
    enum zsb_network network;
    const struct zsb_backend *backend; /* NULL: the default */
    const char *launcher, *workspace, *cwd, *outcome, *output;
    struct zsb_word_list writable, protect, deny, probes;
    int64_t timeout_ms; /* 0: none */
    unsigned jobs;      /* 0: cores */
    enum zsb_format format;
    bool preview, help;
    struct zsb_word_list words; /* what is not an option; NULL-terminated */
};

/* Borrows from argv; argv[0] is the subcommand. `words_end_options`: the first word that is no option starts
 * a foreign command line. Errors: invalid_argument (stage none, one line that names the option), no_memory.
 * Clear *out_options in any case. */
ZSB_MUST_CHECK int zsb_options_parse(unsigned command, bool words_end_options, char *const argv[],
                                     struct zsb_options *out_options, struct zsb_error *err);
void zsb_options_clear(struct zsb_options *options);

/* Appends the option lines of a subcommand's help. */
void zsb_options_help(unsigned command, struct zsb_buf *out);

/* The first mode, or read-only. */
enum zsb_mode zsb_options_mode(const struct zsb_options *options);
/* The policy that --mode, --network, --workspace, --writable, --protect, --deny and --cwd ask for; borrows.
 * Network is denied unless asked for, or allowed with danger-full-access. */
struct zsb_policy_options zsb_options_policy(const struct zsb_options *options);
/* The chosen backend, or "auto". */
const struct zsb_backend *zsb_options_backend(const struct zsb_options *options);

#endif
