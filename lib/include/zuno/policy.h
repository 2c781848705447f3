/* SPDX-License-Identifier: MIT
 *
 * Policy: what a command may do. Created once from options, immutable afterwards.
 *
 * zsb_policy_new() resolves and opens every path once (beneath its real parent, links not followed in
 * the last component) and keeps it open; later stages use the descriptors, never the text again.
 */
#ifndef ZUNO_POLICY_H
#define ZUNO_POLICY_H

#include <zuno/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum zsb_mode { ZSB_MODE_READ_ONLY = 0, ZSB_MODE_WORKSPACE_WRITE, ZSB_MODE_DANGER_FULL_ACCESS };
enum zsb_network { ZSB_NETWORK_DENIED = 0, ZSB_NETWORK_ALLOWED };
enum zsb_env_inherit { ZSB_ENV_CORE = 0, ZSB_ENV_NONE, ZSB_ENV_ALL };

struct zsb_policy; /* opaque, immutable, may be shared between threads */

struct zsb_policy_options {
    enum zsb_mode mode;
    enum zsb_network network;
    const char *workspace;             /* required; an existing directory; relative to the caller's cwd */
    const char *const *writable_roots; /* directories, relative to the workspace; workspace-write only */
    size_t writable_root_count;
    const char *const *protected_paths; /* beyond the defaults; relative to the workspace */
    size_t protected_path_count;
    const char *const *deny_paths; /* neither readable nor writable; relative to the workspace */
    size_t deny_path_count;
    const char *cwd; /* NULL: the workspace; relative to the workspace */
    enum zsb_env_inherit env_inherit;
    const char *const *environment; /* the caller's environment, NULL: the process's `environ` */
    const char *const *env_set;     /* NULL-terminated "KEY=VALUE", applied last; may be NULL */
};

#define ZSB_POLICY_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        ZSB_MODE_READ_ONLY, ZSB_NETWORK_DENIED, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, ZSB_ENV_CORE, NULL,   \
            NULL                                                                                             \
    }

/* Most paths (roots, protected and denied together) that a policy may hold. */
#define ZSB_POLICY_PATHS_MAX 16384

/* Validates, resolves and opens. The caller owns *out_policy and frees it with zsb_policy_free().
 * Errors: invalid_argument, invalid_policy, invalid_path, limit, no_memory, io; all stage policy. */
ZSB_API ZSB_MUST_CHECK int zsb_policy_new(const struct zsb_policy_options *options,
                                          struct zsb_policy **out_policy, struct zsb_error *err);
ZSB_API void zsb_policy_free(struct zsb_policy *policy); /* NULL is fine */

ZSB_API enum zsb_mode zsb_policy_mode(const struct zsb_policy *policy);
ZSB_API enum zsb_network zsb_policy_network(const struct zsb_policy *policy);
/* Canonical absolute paths, owned by the policy. */
ZSB_API const char *zsb_policy_workspace(const struct zsb_policy *policy);
ZSB_API const char *zsb_policy_cwd(const struct zsb_policy *policy);

/* "read-only", "workspace-write", "danger-full-access" */
ZSB_API const char *zsb_mode_name(enum zsb_mode mode);
ZSB_API int zsb_mode_parse(const char *text, enum zsb_mode *out_mode); /* 0, or -ZSB_E_INVALID_ARGUMENT */
/* reports, snapshots, records: "denied", "allowed" */
ZSB_API const char *zsb_network_name(enum zsb_network network);
/* configuration, command line, helper argv: "deny", "allow" */
ZSB_API const char *zsb_network_option(enum zsb_network network);
ZSB_API int zsb_network_parse_option(const char *text, enum zsb_network *out_network);

#ifdef __cplusplus
}
#endif
#endif
