/* SPDX-License-Identifier: MIT */
#include "lib/helper/helper.h"
#include "lib/tests/fuzz.h"

#include <string.h>

void zsb_fuzz_mountinfo(const uint8_t *data, size_t size_bytes)
{
    uint64_t id = 0;
    char *point = NULL;
    bool writable = false;
    char *line = malloc(size_bytes + 1);
    ZSB_FUZZ_CHECK(line != NULL);
    if (size_bytes > 0)
        memcpy(line, data, size_bytes);
    line[size_bytes] = '\0';
    if (zsb_mountinfo_parse_line(line, &id, &point, &writable)) {
        ZSB_FUZZ_CHECK(point >= line && point < line + size_bytes && point[0] == '/');
        ZSB_FUZZ_CHECK(point + strlen(point) <= line + size_bytes);
    }
    free(line);
}

ZSB_FUZZ_ENTRY(zsb_fuzz_mountinfo)
