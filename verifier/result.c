/* SPDX-License-Identifier: MIT */
#include "verifier/result.h"

#include "lib/util/util.h"

#include <string.h>

enum { WORDS_MAX = 8, ERRNO_MAX = 4095 };

/* Words of one line; they point into the line and are not NUL-terminated. */
struct words {
    const char *at[WORDS_MAX];
    size_t length[WORDS_MAX];
    size_t count; /* WORDS_MAX + 1 when there are more */
};

const char *zsb_channel_name(enum zsb_channel channel)
{
    return channel == ZSB_CHANNEL_FD ? "fd" : "stdout";
}

/* One space between words, none at the ends: anything else gives an empty word, which matches nothing. */
static void split(const char *line, size_t size, struct words *out)
{
    out->count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && line[i] != ' ')
            continue;
        if (out->count == WORDS_MAX) {
            out->count = WORDS_MAX + 1;
            return;
        }
        out->at[out->count] = line + start;
        out->length[out->count++] = i - start;
        start = i + 1;
    }
}

static bool word_is(const struct words *words, size_t index, const char *text)
{
    return index < words->count && words->length[index] == strlen(text) &&
           memcmp(words->at[index], text, words->length[index]) == 0;
}

static bool parse_number(const char *text, size_t length, int max, int *out)
{
    int value = 0;
    if (length == 0 || length > 4 || (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *out = value;
    return value <= max;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "-" for nothing, else lowercase hex. */
static bool parse_capture(const char *text, size_t length, struct zsb_report_row *row)
{
    if (length == 1 && text[0] == '-')
        return true;
    if (length == 0 || length % 2 != 0 || length / 2 > ZSB_CAPTURE_BYTES_MAX)
        return false;
    unsigned char *bytes = malloc(length / 2);
    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return false;
        }
        bytes[i / 2] = (unsigned char)(high * 16 + low);
    }
    row->capture = bytes;
    row->capture_size = length / 2;
    return true;
}

static const char *take_hello(const struct words *words, const struct zsb_report_form *form,
                              struct zsb_report *report)
{
    if (report->hello)
        return "a second hello";
    if (words->count != 6 || !word_is(words, 3, form->probe_id) || !word_is(words, 4, form->what))
        return "hello of another run";
    if (!word_is(words, 5, zsb_channel_name(form->channel)))
        return "hello on another channel than it names";
    report->hello = true;
    return NULL;
}

static const char *take_result(const struct words *words, const struct zsb_report_form *form,
                               struct zsb_report *report)
{
    if (!report->hello)
        return "a result before hello";
    if (report->row_count >= form->name_count)
        return "more results than attempts";
    if (words->count != 7 || !word_is(words, 3, form->names[report->row_count]))
        return "a result that is not the next attempt's";
    struct zsb_report_row *row = &report->rows[report->row_count];
    int reached = 0;
    if (!parse_number(words->at[4], words->length[4], 1, &reached) ||
        !parse_number(words->at[5], words->length[5], ERRNO_MAX, &row->sys_errno) ||
        !parse_capture(words->at[6], words->length[6], row))
        return "a result with a bad number or capture";
    row->reached = reached == 1;
    row->present = true;
    const char *end = words->at[6] + words->length[6];
    zsb_seal_add(&report->seal, words->at[2], (size_t)(end - words->at[2]));
    report->row_count++;
    return NULL;
}

static const char *take_done(const struct words *words, const struct zsb_report_form *form,
                             struct zsb_report *report)
{
    if (words->count != 3 || !report->hello || report->row_count != form->name_count)
        return "done before every result";
    report->done = true;
    return NULL;
}

/* Returns the broken rule, or NULL. */
static const char *take_line(const char *line, size_t size, const struct zsb_report_form *form,
                             struct zsb_report *report)
{
    struct words words;
    split(line, size, &words);
    if (!word_is(&words, 0, ZSB_RESULT_MAGIC) || !word_is(&words, 1, form->nonce))
        return NULL;
    if (memchr(line, '\0', size) != NULL)
        return "a NUL byte in a line of ours";
    if (words.count > WORDS_MAX)
        return "too many words";
    if (report->done)
        return "a line after done";
    if (word_is(&words, 2, "hello"))
        return take_hello(&words, form, report);
    if (word_is(&words, 2, "result"))
        return take_result(&words, form, report);
    if (word_is(&words, 2, "done"))
        return take_done(&words, form, report);
    return "an unknown line";
}

void zsb_result_parse(const char *data, size_t size_bytes, const struct zsb_report_form *form,
                      struct zsb_report *out_report)
{
    memset(out_report, 0, sizeof(*out_report));
    zsb_seal_begin(&out_report->seal, form->nonce);
    if (form->name_count > ZSB_REPORT_ROWS_MAX) {
        out_report->malformed = "more attempts than a report can hold";
        return;
    }
    if (size_bytes > ZSB_REPORT_BYTES_MAX) {
        out_report->malformed = "a report longer than a report can be";
        return;
    }
    size_t start = 0;
    while (start < size_bytes && out_report->malformed == NULL) {
        const char *end = memchr(data + start, '\n', size_bytes - start);
        if (end == NULL)
            return; /* not complete yet; a line without its end never counts */
        out_report->malformed = take_line(data + start, (size_t)(end - data) - start, form, out_report);
        start = (size_t)(end - data) + 1;
    }
}

void zsb_report_clear(struct zsb_report *report)
{
    for (size_t i = 0; i < ZSB_REPORT_ROWS_MAX; i++)
        free(report->rows[i].capture);
    memset(report, 0, sizeof(*report));
}

bool zsb_report_is_complete(const struct zsb_report *report, const struct zsb_report_form *form)
{
    return report->malformed == NULL && report->hello && report->done &&
           report->row_count == form->name_count;
}
