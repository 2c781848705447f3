/* SPDX-License-Identifier: MIT */
#include "lib/command/prepared_internal.h"

#include <string.h>

static const struct zsb_backend *const backends[] = {&zsb_backend_bubblewrap, &zsb_backend_native};

const struct zsb_backend *zsb_backend_at(size_t index)
{
    return index < ZSB_ARRAY_SIZE(backends) ? backends[index] : NULL;
}

const struct zsb_backend *zsb_backend_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(backends); i++)
        if (strcmp(name, backends[i]->name) == 0)
            return backends[i];
    return NULL;
}

const struct zsb_backend *zsb_backend_for_mode(enum zsb_mode mode)
{
    return mode == ZSB_MODE_DANGER_FULL_ACCESS ? &zsb_backend_native : &zsb_backend_bubblewrap;
}

const char *zsb_backend_name(const struct zsb_backend *backend)
{
    return backend->name;
}

const char *zsb_backend_serial_name(const struct zsb_backend *backend)
{
    return backend->serial_name;
}

int zsb_backend_enforces(const struct zsb_backend *backend, enum zsb_step_kind kind)
{
    return (unsigned)kind < ZSB_STEP_KIND_COUNT && backend->enforces[kind];
}

int zsb_backend_probe(const struct zsb_backend *backend, const struct zsb_probe_options *options,
                      struct zsb_backend_capabilities *out_capabilities,
                      struct zsb_launcher_identity *out_launcher, struct zsb_error *err)
{
    struct zsb_launcher_identity ignored;
    if (backend == NULL || options == NULL || out_capabilities == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_RESOLVE, 0,
                             "a required argument is NULL");
    return backend->probe(options, out_capabilities, out_launcher != NULL ? out_launcher : &ignored, err);
}
