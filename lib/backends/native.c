/* SPDX-License-Identifier: MIT
 *
 * Explicit native execution: preserves program and arguments, never claims confinement.
 */
#include "lib/command/prepared_internal.h"

#include <string.h>

static int native_probe(const struct zsb_probe_options *options,
                        struct zsb_backend_capabilities *out_capabilities,
                        struct zsb_launcher_identity *out_launcher, struct zsb_error *err)
{
    ZSB_AUTO_FD int helper_fd = -1;
    int rc = zsb_helper_open(options->helper_path, &helper_fd, err);
    if (rc != 0)
        return rc;
    *out_launcher = (struct zsb_launcher_identity){.path = ""};
    *out_capabilities =
        (struct zsb_backend_capabilities){.backend = "danger_full_access", .danger_full_access = 1};
    return 0;
}

static int native_compile(struct zsb_prepared *prepared, const struct zsb_request *request,
                          struct zsb_error *err)
{
    (void)request;
    (void)err;
    prepared->confined = false;
    return 0;
}

const struct zsb_backend zsb_backend_native = {
    .name = "native",
    .serial_name = "danger_full_access",
    .enforces = {[ZSB_STEP_ENVIRONMENT] = true, [ZSB_STEP_CWD] = true},
    .probe = native_probe,
    .compile = native_compile,
};
