/* SPDX-License-Identifier: MIT
 *
 * Can a command rename a directory of its own to .git, .zuno or .agents where they do not exist?
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static int create(struct zsb_ctx *ctx, const char *path)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && mkdir(zsb_kit_in(&scratch, "ready"), 0755) < 0)
        error = errno;
    if (error == 0 && zsb_kit_write(zsb_kit_in(&scratch, "ready/config"), O_CREAT | O_EXCL) != 0)
        return -1;
    if (error == 0 && rename(zsb_kit_in(&scratch, "ready"), path) < 0)
        error = errno;
    return error;
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing_rename = {
    .id = "fs.protected-missing-rename",
    .claim = "A command cannot rename a directory to .git, .zuno or .agents where they do not exist.",
    .refs = "rename(2)",
    .benign = benign,
    .benign_claim = "renames a directory of its own to an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
