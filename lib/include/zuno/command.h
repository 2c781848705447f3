/* SPDX-License-Identifier: MIT
 *
 * PreparedCommand: the only thing the process layer accepts. A backend makes it from a policy and a
 * request; nobody else can. Preparing starts nothing and leaves nothing behind.
 */
#ifndef ZUNO_COMMAND_H
#define ZUNO_COMMAND_H

#include <zuno/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zsb_prepared; /* opaque; one prepared command may be started many times */

struct zsb_request {
    const char *const *argv; /* NULL-terminated, argv[0] is looked up in the policy's PATH */
    int program_fd;          /* >= 3: execute this descriptor instead of argv[0]; borrowed until started */
    const int *grant_fds;    /* descriptors that enter under the same number (>= 3); borrowed until started */
    size_t grant_fd_count;
    const char *helper_path;   /* NULL: the installed helper */
    const char *launcher_path; /* NULL: the fixed paths */
};
#define ZSB_REQUEST_INIT                                                                                     \
    {                                                                                                        \
        NULL, -1, NULL, 0, NULL, NULL                                                                        \
    }
#define ZSB_REQUEST_GRANTS_MAX 64

/* Compiles the plan entry by entry; an entry that no enforced step carries is unsupported_policy.
 * Re-checks launcher and helper identity. Errors: stages policy, resolve. The policy must outlive the
 * prepared command. Thread safe. */
ZSB_API ZSB_MUST_CHECK int zsb_prepare(const struct zsb_backend *backend, const struct zsb_policy *policy,
                                       const struct zsb_request *request, struct zsb_prepared **out_prepared,
                                       struct zsb_error *err);
ZSB_API void zsb_prepared_free(struct zsb_prepared *prepared);
ZSB_API const struct zsb_backend *zsb_prepared_backend(const struct zsb_prepared *prepared);
/* 1 when the command will run confined, 0 for the native backend. */
ZSB_API int zsb_prepared_confined(const struct zsb_prepared *prepared);
/* The launcher's argument vector for people (policy show); NULL-terminated, owned by the prepared command.
 * Empty for native. */
ZSB_API const char *const *zsb_prepared_launcher_argv(const struct zsb_prepared *prepared);

#ifdef __cplusplus
}
#endif
#endif
