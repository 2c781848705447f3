/* SPDX-License-Identifier: MIT
 *
 * Aligned plain-text tables with optional colour. Colour never carries meaning of its own.
 */
#ifndef ZSB_REPORTS_TEXT_H
#define ZSB_REPORTS_TEXT_H

#include "reports/reports.h"

enum zsb_tone { ZSB_TONE_PLAIN = 0, ZSB_TONE_GOOD, ZSB_TONE_BAD, ZSB_TONE_WARN, ZSB_TONE_DIM };

struct zsb_cell {
    char *text; /* cleaned */
    enum zsb_tone tone;
};
struct zsb_table {
    size_t columns;
    struct zsb_cell *cells; /* row by row */
    size_t count, capacity;
    bool failed;
};
void zsb_table_init(struct zsb_table *table, size_t columns);
void zsb_table_clear(struct zsb_table *table);
#define ZSB_AUTO_TABLE __attribute__((cleanup(zsb_table_clear))) struct zsb_table
/* Cells fill rows from the left. `text` may hold foreign bytes. */
void zsb_table_cell(struct zsb_table *table, enum zsb_tone tone, const char *text);
/* Each row: two spaces, then the cells, padded to their column and two spaces apart. A table that failed
 * fails the buffer. */
void zsb_table_write(const struct zsb_table *table, const struct zsb_report_style *style,
                     struct zsb_buf *out);

/* `text` cleaned, in colour when the style wants it. */
void zsb_text_add(struct zsb_buf *out, const struct zsb_report_style *style, enum zsb_tone tone,
                  const char *text);
/* "label     text\n", the label padded to a common width. */
void zsb_text_field(struct zsb_buf *out, const struct zsb_report_style *style, const char *label,
                    const char *text);

enum zsb_tone zsb_verdict_tone(enum zsb_verdict verdict);
/* "not applicable" for people. */
const char *zsb_verdict_words(enum zsb_verdict verdict);

/* The parts of the campaign report that the gate report repeats. */
void zsb_campaign_text_add(const struct zsb_campaign *campaign, const struct zsb_report_style *style,
                           struct zsb_buf *out);

#endif
