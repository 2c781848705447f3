/* SPDX-License-Identifier: MIT */
#include "lib/util/util.h"

#include <zuno/policy.h>

#include <string.h>

static const char *const mode_names[] = {
    [ZSB_MODE_READ_ONLY] = "read-only",
    [ZSB_MODE_WORKSPACE_WRITE] = "workspace-write",
    [ZSB_MODE_DANGER_FULL_ACCESS] = "danger-full-access",
};

const char *zsb_mode_name(enum zsb_mode mode)
{
    return (size_t)mode < ZSB_ARRAY_SIZE(mode_names) ? mode_names[mode] : "unknown";
}

int zsb_mode_parse(const char *text, enum zsb_mode *out_mode)
{
    for (size_t i = 0; text != NULL && i < ZSB_ARRAY_SIZE(mode_names); i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            *out_mode = (enum zsb_mode)i;
            return 0;
        }
    }
    return -ZSB_E_INVALID_ARGUMENT;
}

const char *zsb_network_name(enum zsb_network network)
{
    return network == ZSB_NETWORK_ALLOWED ? "allowed" : "denied";
}

const char *zsb_network_option(enum zsb_network network)
{
    return network == ZSB_NETWORK_ALLOWED ? "allow" : "deny";
}

int zsb_network_parse_option(const char *text, enum zsb_network *out_network)
{
    if (text != NULL && strcmp(text, "deny") == 0)
        *out_network = ZSB_NETWORK_DENIED;
    else if (text != NULL && strcmp(text, "allow") == 0)
        *out_network = ZSB_NETWORK_ALLOWED;
    else
        return -ZSB_E_INVALID_ARGUMENT;
    return 0;
}
