/* SPDX-License-Identifier: MIT */
#include "escapes/protected_missing.h"

#include <errno.h>

const int zsb_protected_missing_deny[] = {EROFS,     EACCES, EPERM,  EXDEV,      EBUSY,
                                          ENOTEMPTY, EEXIST, EISDIR, EADDRINUSE, 0};

int zsb_protected_missing_twin(struct zsb_ctx *ctx, int (*create)(struct zsb_ctx *ctx, const char *path))
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    return create(ctx, zsb_kit_in(&scratch, "unprotected"));
}
