/* SPDX-License-Identifier: MIT
 *
 * Can a command plant .git, .zuno or .agents as a symbolic link where they do not exist?
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <unistd.h>

static int create(struct zsb_ctx *ctx, const char *path)
{
    (void)ctx;
    return symlink("sub", path) < 0 ? errno : 0;
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing_symlink = {
    .id = "fs.protected-missing-symlink",
    .claim = "A command cannot plant .git, .zuno or .agents as a symbolic link where they do not exist.",
    .refs = "symlink(2)",
    .benign = benign,
    .benign_claim = "makes a link with an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
