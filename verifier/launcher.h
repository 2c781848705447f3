/* SPDX-License-Identifier: MIT
 *
 * Foreign launchers: the file that describes one, and its expansion into an argument vector. The public part
 * is in campaign.h.
 */
#ifndef ZSB_LAUNCHER_H
#define ZSB_LAUNCHER_H

#include "lib/util/util.h"
#include "verifier/campaign.h"

enum {
    ZSB_LAUNCHER_FILE_MAX = 64 << 10,
    ZSB_LAUNCHER_WORDS_MAX = 1024,
    ZSB_LAUNCHER_NAME_MAX = 128,
};

struct zsb_launcher {
    char *name;
    char *dir; /* of the launcher file, absolute */
    struct zsb_strv argv;
    struct zsb_strv environment; /* "KEY=value", not yet expanded */
    bool has_environment;
    unsigned modes; /* bit per enum zsb_mode */
    enum zsb_network network;
};

/* What the placeholders stand for in one arm. */
struct zsb_launch_values {
    const char *workspace, *cwd, *home, *lab;
    enum zsb_mode mode;
    enum zsb_network network;
    const struct zsb_strv *command;
};

/* Expands into `argv` and, when the launcher has one, `environment`. 0 or -ENOMEM. */
int zsb_launcher_expand(const struct zsb_launcher *launcher, const struct zsb_launch_values *values,
                        struct zsb_strv *argv, struct zsb_strv *environment);

/* The rule that a word of the file breaks, or NULL. */
const char *zsb_launcher_word_rule(const char *word, bool is_argument);

#endif
