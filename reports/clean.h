/* SPDX-License-Identifier: MIT
 *
 * Foreign bytes made safe to print: a path, a launcher's name or a witness's words may hold anything.
 */
#ifndef ZSB_REPORTS_CLEAN_H
#define ZSB_REPORTS_CLEAN_H

#include "lib/util/util.h"

/* Appends `text` (NULL: nothing) as valid UTF-8; every byte that is not part of a well-formed sequence
 * becomes U+FFFD. */
void zsb_clean_utf8(struct zsb_buf *out, const char *text);
/* The same, and control and bidirectional-override characters become U+FFFD too: one line, as it stands. */
void zsb_clean_line(struct zsb_buf *out, const char *text);
/* Columns that valid UTF-8 takes, one per character. */
size_t zsb_clean_width(const char *text);

#endif
