/* SPDX-License-Identifier: MIT
 *
 * Bytes on the result pipe from a hostile launcher: whatever they are, a report counts as complete only when
 * it is. The nonce is known here; without it nothing is even read.
 */
#include "verifier/result.h"

#include <string.h>

static const char nonce[] = "00112233445566778899aabbccddeeff";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static const char *const names[] = {"first", "second"};
    const struct zsb_report_form form = {.nonce = nonce,
                                         .probe_id = "fs.x",
                                         .what = "attempt",
                                         .channel = ZSB_CHANNEL_FD,
                                         .names = names,
                                         .name_count = 2};
    struct zsb_report report;
    zsb_result_parse((const char *)data, size_bytes, &form, &report);
    if (zsb_report_is_complete(&report, &form) &&
        (!report.hello || !report.done || report.row_count != 2 || report.malformed != NULL ||
         memmem(data, size_bytes, nonce, sizeof(nonce) - 1) == NULL))
        __builtin_trap();
    for (size_t i = 0; i < report.row_count; i++)
        if (report.rows[i].capture_size > ZSB_CAPTURE_BYTES_MAX)
            __builtin_trap();
    zsb_report_clear(&report);
    return 0;
}
