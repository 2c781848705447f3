/* SPDX-License-Identifier: MIT
 *
 * Inside of a prepared command: shared by backends (which make it) and process (which starts it).
 */
#ifndef ZSB_PREPARED_INTERNAL_H
#define ZSB_PREPARED_INTERNAL_H

#include "lib/plan/plan_internal.h"
#include "lib/policy/policy_internal.h"

#include <zuno/command.h>

struct zsb_prepared {
    const struct zsb_backend *backend;
    const struct zsb_policy *policy;
    struct zsb_plan *plan;
    bool confined;
    int helper_fd;
    int launcher_fd;               /* -1: the helper is started directly */
    struct zsb_strv launcher_argv; /* up to and without "-- HELPER ..." */
    struct zsb_strv argv;
    int program_fd;
    int *grants;
    size_t grant_count;
    struct zsb_buf config;           /* fixed part of the helper's configuration, NUL-separated */
    const struct zsb_missing **held; /* names to be held absent while the sandbox runs */
    size_t held_count;
};

struct zsb_backend {
    const char *name;
    const char *serial_name;
    bool enforces[ZSB_STEP_KIND_COUNT];
    int (*probe)(const struct zsb_probe_options *options, struct zsb_backend_capabilities *out_capabilities,
                 struct zsb_launcher_identity *out_launcher, struct zsb_error *err);
    /* Fills launcher_fd, launcher_argv, config and held; everything else is there already. */
    int (*compile)(struct zsb_prepared *prepared, const struct zsb_request *request, struct zsb_error *err);
};

extern const struct zsb_backend zsb_backend_bubblewrap;
extern const struct zsb_backend zsb_backend_native;

/* lib/process/discovery.c: discovery ends with a real launch, so it stands above the process layer. */
int zsb_bubblewrap_probe(const struct zsb_probe_options *options,
                         struct zsb_backend_capabilities *out_capabilities,
                         struct zsb_launcher_identity *out_launcher, struct zsb_error *err);

/* Adds "key=value" NUL to the configuration. */
ZSB_PRINTF(3, 4) void zsb_config_add(struct zsb_buf *config, const char *key, const char *format, ...);
/* Opens and checks the helper: regular, executable, owned by root or the caller, not writable by others. */
int zsb_helper_open(const char *path, int *out_fd, struct zsb_error *err);

#endif
