/* SPDX-License-Identifier: MIT */
#include "reports/text.h"

#include "reports/clean.h"

static const char *const tones[] = {
    [ZSB_TONE_PLAIN] = "",        [ZSB_TONE_GOOD] = "\x1b[32m", [ZSB_TONE_BAD] = "\x1b[1;31m",
    [ZSB_TONE_WARN] = "\x1b[33m", [ZSB_TONE_DIM] = "\x1b[2m",
};

static const struct {
    enum zsb_tone tone;
    const char *words;
} verdicts[ZSB_VERDICT_COUNT] = {
    [ZSB_VERDICT_HELD] = {ZSB_TONE_GOOD, "held"},
    [ZSB_VERDICT_ESCAPED] = {ZSB_TONE_BAD, "escaped"},
    [ZSB_VERDICT_INCONCLUSIVE] = {ZSB_TONE_WARN, "inconclusive"},
    [ZSB_VERDICT_NOT_APPLICABLE] = {ZSB_TONE_DIM, "not applicable"},
    [ZSB_VERDICT_ERROR] = {ZSB_TONE_WARN, "error"},
};

enum zsb_tone zsb_verdict_tone(enum zsb_verdict verdict)
{
    return (unsigned)verdict < ZSB_VERDICT_COUNT ? verdicts[verdict].tone : ZSB_TONE_BAD;
}

const char *zsb_verdict_words(enum zsb_verdict verdict)
{
    return (unsigned)verdict < ZSB_VERDICT_COUNT ? verdicts[verdict].words : "unknown";
}

static void add_toned(struct zsb_buf *out, const struct zsb_report_style *style, enum zsb_tone tone,
                      const char *cleaned)
{
    const bool coloured = style->colour && tone != ZSB_TONE_PLAIN && *cleaned;
    if (coloured)
        zsb_buf_add(out, tones[tone]);
    zsb_buf_add(out, cleaned);
    if (coloured)
        zsb_buf_add(out, "\x1b[0m");
}

void zsb_text_add(struct zsb_buf *out, const struct zsb_report_style *style, enum zsb_tone tone,
                  const char *text)
{
    ZSB_AUTO_BUF clean = ZSB_BUF_INIT;
    zsb_clean_line(&clean, text);
    if (clean.failed)
        out->failed = true;
    else
        add_toned(out, style, tone, clean.data ? clean.data : "");
}

void zsb_text_field(struct zsb_buf *out, const struct zsb_report_style *style, const char *label,
                    const char *text)
{
    zsb_buf_addf(out, "%-13s", label);
    zsb_text_add(out, style, ZSB_TONE_PLAIN, text);
    zsb_buf_addc(out, '\n');
}

void zsb_table_init(struct zsb_table *table, size_t columns)
{
    *table = (struct zsb_table){.columns = columns};
}

void zsb_table_clear(struct zsb_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->count = 0;
}

static bool room_for_one(struct zsb_table *table)
{
    if (table->count < table->capacity)
        return true;
    const size_t capacity = table->capacity ? table->capacity * 2 : 64;
    struct zsb_cell *cells = reallocarray(table->cells, capacity, sizeof(*cells));
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void zsb_table_cell(struct zsb_table *table, enum zsb_tone tone, const char *text)
{
    ZSB_AUTO_BUF clean = ZSB_BUF_INIT;
    zsb_clean_line(&clean, text);
    char *taken = zsb_buf_take(&clean);
    if (table->failed || !taken || !room_for_one(table)) {
        table->failed = true;
        free(taken);
        return;
    }
    table->cells[table->count++] = (struct zsb_cell){taken, tone};
}

static size_t column_width(const struct zsb_table *table, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        const size_t cell = zsb_clean_width(table->cells[i].text);
        width = cell > width ? cell : width;
    }
    return width;
}

/* Trailing empty cells are not padded out: no line ends in spaces. */
static size_t last_filled(const struct zsb_table *table, size_t row_start, size_t row_end)
{
    size_t last = row_start;
    for (size_t i = row_start; i < row_end; i++) {
        if (*table->cells[i].text)
            last = i;
    }
    return last;
}

static void write_row(const struct zsb_table *table, size_t start, const struct zsb_report_style *style,
                      struct zsb_buf *out)
{
    const size_t end = start + table->columns < table->count ? start + table->columns : table->count;
    const size_t last = last_filled(table, start, end);
    zsb_buf_add(out, "  ");
    for (size_t i = start; i <= last; i++) {
        const struct zsb_cell *cell = &table->cells[i];
        add_toned(out, style, cell->tone, cell->text);
        if (i == last)
            break;
        const size_t width = column_width(table, i - start);
        for (size_t n = zsb_clean_width(cell->text); n < width + 2; n++)
            zsb_buf_addc(out, ' ');
    }
    zsb_buf_addc(out, '\n');
}

void zsb_table_write(const struct zsb_table *table, const struct zsb_report_style *style, struct zsb_buf *out)
{
    if (table->failed)
        out->failed = true;
    for (size_t i = 0; i < table->count; i += table->columns)
        write_row(table, i, style, out);
}
