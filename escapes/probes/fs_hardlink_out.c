/* SPDX-License-Identifier: MIT
 *
 * Can a command give a file outside a second name where it may write, and write through that?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const struct zsb_kit_object objects[] = {
    {"out/hl-link", 'f', NULL, 0},
    {"out/hl-proc-fd", 'f', NULL, 0},
    {"out/hl-empty-path", 'f', NULL, 0},
    {"out/hl-move", 'f', NULL, 0},
};

/* AT_EMPTY_PATH needs CAP_DAC_READ_SEARCH on kernels before 6.10. */
static const int absent_empty_path[] = {EPERM, EINVAL, 0};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

/* `make_alias` names `outside` as `alias`; the write through the alias is what counts. */
static int write_through_alias(struct zsb_ctx *ctx, const char *outside,
                               int (*make_alias)(const char *outside, const char *alias))
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error != 0)
        return error;
    const char *alias = zsb_kit_in(&scratch, "alias");
    if (make_alias(zsb_path(ctx, outside), alias) < 0)
        return errno;
    return zsb_kit_write(alias, O_TRUNC);
}

static int alias_by_link(const char *outside, const char *alias)
{
    return link(outside, alias);
}

static int alias_by_proc_fd(const char *outside, const char *alias)
{
    char self[64];
    ZSB_KIT_FD fd = open(outside, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, alias, AT_SYMLINK_FOLLOW);
}

static int alias_by_empty_path(const char *outside, const char *alias)
{
    ZSB_KIT_FD fd = open(outside, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = linkat(fd, "", AT_FDCWD, alias, AT_EMPTY_PATH);
    if (rc < 0 &&
        errno == ENOENT) /* the descriptor is open: this is how linkat(2) says "capability missing" */
        errno = EPERM;
    return rc;
}

static int alias_by_move(const char *outside, const char *alias)
{
    return rename(outside, alias);
}

static int by_link(struct zsb_ctx *ctx)
{
    return write_through_alias(ctx, "out/hl-link", alias_by_link);
}

static int by_proc_fd(struct zsb_ctx *ctx)
{
    return write_through_alias(ctx, "out/hl-proc-fd", alias_by_proc_fd);
}

static int by_empty_path(struct zsb_ctx *ctx)
{
    return write_through_alias(ctx, "out/hl-empty-path", alias_by_empty_path);
}

static int by_move(struct zsb_ctx *ctx)
{
    return write_through_alias(ctx, "out/hl-move", alias_by_move);
}

static int benign(struct zsb_ctx *ctx)
{
    ZSB_KIT_SCRATCH scratch;
    if (zsb_kit_scratch_make(ctx, &scratch) != 0)
        return zsb_kit_benign_write(ctx);
    int error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 && link(zsb_kit_in(&scratch, "file"), zsb_kit_in(&scratch, "alias")) < 0)
        error = errno;
    return error != 0 ? error : zsb_kit_write(zsb_kit_in(&scratch, "alias"), O_APPEND);
}

static const struct zsb_attempt attempts[] = {
    {.name = "link", .target = "out/hl-link", .run = by_link},
    {.name = "proc-fd", .target = "out/hl-proc-fd", .run = by_proc_fd},
    {.name = "empty-path",
     .target = "out/hl-empty-path",
     .run = by_empty_path,
     .absent_errnos = absent_empty_path},
    {.name = "move", .target = "out/hl-move", .run = by_move},
};

const struct zsb_probe zsb_probe_fs_hardlink_out = {
    .id = "fs.hardlink-out",
    .claim = "A command cannot make a writable alias of a file outside.",
    .boundary = "filesystem",
    .refs = "link(2), rename(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_write,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "links a file of its own and writes through the second name",
    ZSB_KIT_ATTEMPTS(attempts),
};
