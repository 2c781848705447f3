/* SPDX-License-Identifier: MIT */
#include "lib/helper/helper.h"
#include "lib/tests/fuzz.h"

#include <string.h>

static void check_accepted(const struct zsb_helper_config *config)
{
    ZSB_FUZZ_CHECK(config->status_fd >= 0);
    ZSB_FUZZ_CHECK(config->cwd != NULL && config->cwd[0] == '/');
    ZSB_FUZZ_CHECK(config->argc > 0 && config->argv[config->argc] == NULL);
    for (size_t i = 0; i < config->argc; i++)
        ZSB_FUZZ_CHECK(config->argv[i] != NULL);
    ZSB_FUZZ_CHECK(config->environment != NULL && config->environment[config->environment_count] == NULL);
    for (size_t i = 0; i < config->audit_count; i++)
        ZSB_FUZZ_CHECK(config->audits[i].path[0] == '/' && config->audits[i].kind < ZSB_AUDIT_KIND_COUNT);
    for (size_t i = 0; i < config->grant_count; i++)
        ZSB_FUZZ_CHECK(config->grants[i] >= 3);
    ZSB_FUZZ_CHECK(config->outer_count <= ZSB_ARRAY_SIZE(config->outer));
}

void zsb_fuzz_config(const uint8_t *data, size_t size_bytes)
{
    struct zsb_helper_config config;
    struct zsb_error err = ZSB_ERROR_INIT;
    char *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    ZSB_FUZZ_CHECK(copy != NULL);
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    int rc = zsb_helper_config_parse(copy, size_bytes, &config, &err);
    if (rc == 0) {
        check_accepted(&config);
        zsb_helper_config_clear(&config); /* frees the copy */
        return;
    }
    ZSB_FUZZ_CHECK(err.code == ZSB_E_HELPER || err.code == ZSB_E_NO_MEMORY);
    ZSB_FUZZ_CHECK(err.stage == ZSB_STAGE_CONFINE && strchr(err.msg, '\n') == NULL);
    free(copy);
}

ZSB_FUZZ_ENTRY(zsb_fuzz_config)
