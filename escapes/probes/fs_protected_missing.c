/* SPDX-License-Identifier: MIT
 *
 * Can a command create .git, .zuno or .agents where they do not exist? The witness looks once, at the end, so
 * each way of creating stands in a probe of its own (fs.protected-missing-*), with one attempt per name;
 * here: mkdir.
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* Makes the directory and what a later git outside would run. */
static int create(struct zsb_ctx *ctx, const char *path)
{
    char config[PATH_MAX];
    (void)ctx;
    if (mkdir(path, 0755) < 0)
        return errno;
    (void)snprintf(config, sizeof(config), "%.4000s/config", path);
    return zsb_kit_write(config, O_CREAT | O_EXCL) == 0 ? 0 : -1;
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing = {
    .id = "fs.protected-missing",
    .claim = "A command cannot create .git, .zuno or .agents as a directory where they do not exist.",
    .refs = "CVE-2026-25725, mkdir(2)",
    .benign = benign,
    .benign_claim = "makes a directory with an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
