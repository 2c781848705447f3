/* SPDX-License-Identifier: MIT
 *
 * Launcher trust: the fixed paths, never PATH, and the full check of interop.md; first failure wins.
 */
#ifndef ZSB_TRUST_H
#define ZSB_TRUST_H

#include "lib/util/util.h"

#include <zuno/backend.h>

#include <sys/stat.h>

/* Opens the first launcher that exists among the fixed paths (or `override`). Errors: bubblewrap_not_found,
 * untrusted_launcher; stage resolve. */
int zsb_launcher_open(const char *workspace, const char *override, int *out_fd,
                      struct zsb_launcher_identity *out_identity, struct zsb_error *err);
/* The rule that the file breaks, or NULL; a pure function of the stat data. */
const char *zsb_launcher_mode_rule(const struct stat *st);
/* The rule that an ancestor breaks, or NULL. */
const char *zsb_launcher_ancestor_rule(const struct stat *st);

#endif
