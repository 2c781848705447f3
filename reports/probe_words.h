/* SPDX-License-Identifier: MIT
 *
 * The serialised words of a probe's fields, one table for both formats.
 */
#ifndef ZSB_REPORTS_PROBE_WORDS_H
#define ZSB_REPORTS_PROBE_WORDS_H

#include "escapes/probe.h"

#include <stddef.h>

struct zsb_flag_word {
    unsigned flag;
    const char *word;
};
extern const struct zsb_flag_word zsb_need_words[];
extern const size_t zsb_need_word_count;
extern const struct zsb_flag_word zsb_mode_words[2];
extern const struct zsb_flag_word zsb_network_words[2];
const char *zsb_fixture_word(enum zsb_fixture fixture); /* "repo", "plain" */
const char *zsb_ending_word(enum zsb_ending ending);    /* "exit", "cancel", "kill-launcher" */

#endif
