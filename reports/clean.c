/* SPDX-License-Identifier: MIT */
#include "reports/clean.h"

#include <stdint.h>
#include <string.h>

/* Unicode 15, table 3-7: the second byte of some leads has a narrower range, which keeps out overlong forms,
 * surrogates and everything past U+10FFFF. */
static const struct lead {
    unsigned char first, last; /* range of the lead byte */
    unsigned char length;      /* of the whole sequence */
    unsigned char second_min, second_max;
} leads[] = {
    {0x01, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static bool tail_fits(const struct lead *lead, const unsigned char *s)
{
    for (size_t i = 1; i < lead->length; i++) {
        const unsigned char low = i == 1 ? lead->second_min : 0x80;
        const unsigned char high = i == 1 ? lead->second_max : 0xBF;
        if (s[i] < low || s[i] > high) /* the terminating NUL is below every low */
            return false;
    }
    return true;
}

/* Length of the well-formed sequence at s, 0 when there is none. */
static size_t sequence_length(const unsigned char *s)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(leads); i++) {
        if (*s >= leads[i].first && *s <= leads[i].last)
            return tail_fits(&leads[i], s) ? leads[i].length : 0;
    }
    return 0;
}

static uint32_t decode(const unsigned char *s, size_t length)
{
    static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = s[0] & mask[length];
    for (size_t i = 1; i < length; i++)
        point = (point << 6) | (s[i] & 0x3Fu);
    return point;
}

/* C0, DEL and C1 steer terminals; the bidirectional controls reorder what a reader sees. */
static bool repaints(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1F}, {0x7F, 0x9F}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(ranges); i++) {
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    }
    return false;
}

static void clean(struct zsb_buf *out, const char *text, bool line)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    while (*s) {
        const size_t length = sequence_length(s);
        if (length == 0 || (line && repaints(decode(s, length))))
            zsb_buf_add(out, "\xEF\xBF\xBD");
        else
            zsb_buf_append(out, s, length);
        s += length ? length : 1;
    }
}

void zsb_clean_utf8(struct zsb_buf *out, const char *text)
{
    clean(out, text, false);
}

void zsb_clean_line(struct zsb_buf *out, const char *text)
{
    clean(out, text, true);
}

size_t zsb_clean_width(const char *text)
{
    size_t width = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        width += (*s & 0xC0) != 0x80;
    return width;
}
