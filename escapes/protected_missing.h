/* SPDX-License-Identifier: MIT
 *
 * What the fs.protected-missing probes share: the same three names, one way of creating per probe.
 */
#ifndef ZSB_PROTECTED_MISSING_H
#define ZSB_PROTECTED_MISSING_H

#include "escapes/probe.h"
#include "escapes/toolkit.h"

/* A sandbox may hold a name by an unwritable mount point; then the name exists, is busy, or is a directory.
 */
extern const int zsb_protected_missing_deny[];

/* The same creation under an unprotected name where this mode may write. */
int zsb_protected_missing_twin(struct zsb_ctx *ctx, int (*create)(struct zsb_ctx *ctx, const char *path));

#define ZSB_PROTECTED_MISSING_STEPS(create)                                                                  \
    static int create_git(struct zsb_ctx *ctx)                                                               \
    {                                                                                                        \
        return create(ctx, zsb_path(ctx, "ws/.git"));                                                        \
    }                                                                                                        \
    static int create_zuno(struct zsb_ctx *ctx)                                                              \
    {                                                                                                        \
        return create(ctx, zsb_path(ctx, "ws/.zuno"));                                                       \
    }                                                                                                        \
    static int create_agents(struct zsb_ctx *ctx)                                                            \
    {                                                                                                        \
        return create(ctx, zsb_path(ctx, "ws/.agents"));                                                     \
    }                                                                                                        \
    static const struct zsb_attempt attempts[] = {                                                           \
        {.name = "git", .target = "ws/.git", .run = create_git},                                             \
        {.name = "zuno", .target = "ws/.zuno", .run = create_zuno},                                          \
        {.name = "agents", .target = "ws/.agents", .run = create_agents},                                    \
    };

#define ZSB_PROTECTED_MISSING_COMMON                                                                         \
    .boundary = "filesystem", .modes = ZSB_IN_BOTH, .networks = ZSB_NET_DENIED,                              \
    .fixture = ZSB_FIXTURE_PLAIN, .required = true, .deny_errnos = zsb_protected_missing_deny,               \
    ZSB_KIT_ATTEMPTS(attempts)

#endif
