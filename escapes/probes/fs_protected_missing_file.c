/* SPDX-License-Identifier: MIT
 *
 * Can a command create .git, .zuno or .agents as a file where they do not exist? (A .git file names another
 * repository by "gitdir:".)
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>

static int create(struct zsb_ctx *ctx, const char *path)
{
    (void)ctx;
    return zsb_kit_write(path, O_CREAT);
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing_file = {
    .id = "fs.protected-missing-file",
    .claim = "A command cannot create .git, .zuno or .agents as a file where they do not exist.",
    .refs = "CVE-2026-25725, open(2)",
    .benign = benign,
    .benign_claim = "creates a file with an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
