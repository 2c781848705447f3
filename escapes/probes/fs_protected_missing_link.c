/* SPDX-License-Identifier: MIT
 *
 * Can a command give a file of the workspace the name .git, .zuno or .agents as a second name?
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* From a file of its own first: in workspace-write mode that one lies on the same mount. */
static int create(struct zsb_ctx *ctx, const char *path)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 && link(zsb_kit_in(&scratch, "file"), path) < 0)
        error = errno;
    return error;
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing_link = {
    .id = "fs.protected-missing-link",
    .claim = "A command cannot link a file as .git, .zuno or .agents where they do not exist.",
    .refs = "link(2)",
    .benign = benign,
    .benign_claim = "links a file of its own as an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
