/* SPDX-License-Identifier: MIT
 *
 * The helper's configuration: strict, and nothing in it points outside the block it came in.
 */
#include "lib/helper/helper.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static bool inside(const struct zsb_helper_config *config, const char *text, size_t size_bytes)
{
    return text >= config->data && text <= config->data + size_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct zsb_helper_config config;
    struct zsb_error err = ZSB_ERROR_INIT;
    /* As read from the descriptor: one NUL follows the data. */
    char *copy = calloc(1, size_bytes + 1);
    if (copy == NULL)
        return 0;
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    if (zsb_helper_config_parse(copy, size_bytes, &config, &err) != 0) {
        if (err.code == ZSB_OK)
            __builtin_trap();
        free(copy);
        return 0;
    }
    if (config.argc == 0 || config.argv[config.argc] != NULL)
        __builtin_trap();
    for (size_t i = 0; i < config.audit_count; i++)
        if (config.audits[i].kind >= ZSB_AUDIT_KIND_COUNT ||
            !inside(&config, config.audits[i].path, size_bytes))
            __builtin_trap();
    zsb_helper_config_clear(&config);
    return 0;
}
