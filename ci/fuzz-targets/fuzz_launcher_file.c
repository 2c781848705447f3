/* SPDX-License-Identifier: MIT
 *
 * A launcher file from anywhere: parsed or refused with a message, never half parsed.
 */
#include "verifier/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct zsb_launcher *launcher = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    int rc = zsb_launcher_parse((const char *)data, size_bytes, "fuzz.json", "/nowhere", &launcher, &err);
    if (rc == 0 && (launcher == NULL || zsb_launcher_name(launcher) == NULL))
        __builtin_trap();
    if (rc != 0 && (launcher != NULL || err.code == ZSB_OK || err.msg[0] == '\0'))
        __builtin_trap();
    zsb_launcher_free(launcher);
    return 0;
}
