/* SPDX-License-Identifier: MIT
 *
 * Lines of mountinfo: mount points may carry any name that a user could give a directory.
 */
#include "lib/helper/helper.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    uint64_t id = 0;
    char *point = NULL;
    bool writable = false;
    char *line = strndup((const char *)data, size_bytes);
    if (line == NULL)
        return 0;
    const size_t length = strlen(line);
    if (zsb_mountinfo_parse_line(line, &id, &point, &writable) &&
        (point < line || point > line + length || point[0] != '/'))
        __builtin_trap();
    free(line);
    return 0;
}
