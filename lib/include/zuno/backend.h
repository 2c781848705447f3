/* SPDX-License-Identifier: MIT
 *
 * Backends: each turns a plan into a prepared command, or says with a typed error why it cannot.
 */
#ifndef ZUNO_BACKEND_H
#define ZUNO_BACKEND_H

#include <zuno/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zsb_backend; /* opaque, static storage */

struct zsb_backend_capabilities {
    const char *backend;  /* serialised name: "linux_bubblewrap", "danger_full_access" */
    char executable[256]; /* launcher path, "" for none */
    int read_only;
    int workspace_write;
    int danger_full_access;
    int network_isolation;
};

/* What is recorded of a trusted launcher (interop: launcher{...}). */
struct zsb_launcher_identity {
    char path[256];
    unsigned uid, gid, mode;
    unsigned long long device, inode;
    int root_owned, group_or_world_writable, special_permissions;
};

/* By command-line name ("bubblewrap", "native"); NULL when there is none. */
ZSB_API const struct zsb_backend *zsb_backend_find(const char *name);
/* What "auto" means for a mode: native for danger-full-access (explicit, never a fallback), else bubblewrap.
 */
ZSB_API const struct zsb_backend *zsb_backend_for_mode(enum zsb_mode mode);
/* Enumerate; NULL past the end. */
ZSB_API const struct zsb_backend *zsb_backend_at(size_t index);
ZSB_API const char *zsb_backend_name(const struct zsb_backend *backend);        /* "bubblewrap" */
ZSB_API const char *zsb_backend_serial_name(const struct zsb_backend *backend); /* "linux_bubblewrap" */
/* 1 when the backend enforces steps of this kind. */
ZSB_API int zsb_backend_enforces(const struct zsb_backend *backend, enum zsb_step_kind kind);

struct zsb_probe_options {
    const char *workspace;     /* canonical; a launcher inside it is never trusted; may be NULL */
    const char *helper_path;   /* NULL: the installed helper */
    const char *launcher_path; /* NULL: the fixed paths. Only tests and qualification runs set it. */
};
#define ZSB_PROBE_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        NULL, NULL, NULL                                                                                     \
    }

/* Discovery on this host, uncached: platform, launcher trust, required options, helper, namespaces by a
 * real throw-away launch. Errors: the unavailable and terminal codes, stage resolve.
 * Thread safe; starts and reaps child processes of its own. `out_launcher` may be NULL. */
ZSB_API ZSB_MUST_CHECK int zsb_backend_probe(const struct zsb_backend *backend,
                                             const struct zsb_probe_options *options,
                                             struct zsb_backend_capabilities *out_capabilities,
                                             struct zsb_launcher_identity *out_launcher,
                                             struct zsb_error *err);

#ifdef __cplusplus
}
#endif
#endif
