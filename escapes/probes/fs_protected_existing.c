/* SPDX-License-Identifier: MIT
 *
 * Can a command change, move or replace .git, .zuno or .agents where they exist? Every way is tried on each
 * name.
 *
 * The directory itself is moved away and put back, exchanged and exchanged back, so that the evidence inside
 * stays: its change time tells. Whatever changes inside is seen there, too; the attempts on what is inside
 * have targets of their own.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_OF(name)                                                                                     \
    {"ws/" name "/pe-write", 'f', NULL, 0}, {"ws/" name "/pe-unlink", 'f', NULL, 0},                         \
        {"ws/" name "/pe-replace", 'f', NULL, 0}, {"ws/" name "/pe-chmod", 'f', NULL, 0},                    \
    {                                                                                                        \
        "ws/" name "/pe-rmdir", 'd', NULL, 0                                                                 \
    }

static const struct zsb_kit_object objects[] = {OBJECTS_OF(".git"), OBJECTS_OF(".zuno"),
                                                OBJECTS_OF(".agents")};

/* ENOTEMPTY, EEXIST: a name held by a mount point. */
static const int deny[] = {EROFS, EACCES, EPERM, EXDEV, EBUSY, ENOTEMPTY, EEXIST, 0};

static int prepare(int lab_fd)
{
    return zsb_kit_prepare(lab_fd, objects, ZSB_KIT_COUNT(objects));
}

static const char *inside(struct zsb_ctx *ctx, const char *name, const char *file)
{
    char relative[128];
    (void)snprintf(relative, sizeof(relative), "ws/%s%s%s", name, file[0] != '\0' ? "/" : "", file);
    return zsb_path(ctx, relative);
}

static int write_in(struct zsb_ctx *ctx, const char *name)
{
    return zsb_kit_write(inside(ctx, name, "pe-write"), O_APPEND);
}

static int create_in(struct zsb_ctx *ctx, const char *name)
{
    return zsb_kit_write(inside(ctx, name, "pe-create"), O_CREAT | O_EXCL);
}

static int unlink_in(struct zsb_ctx *ctx, const char *name)
{
    return unlink(inside(ctx, name, "pe-unlink")) < 0 ? errno : 0;
}

static int rmdir_in(struct zsb_ctx *ctx, const char *name)
{
    return rmdir(inside(ctx, name, "pe-rmdir")) < 0 ? errno : 0;
}

static int chmod_in(struct zsb_ctx *ctx, const char *name)
{
    return chmod(inside(ctx, name, "pe-chmod"), 0777) < 0 ? errno : 0;
}

static int replace_in(struct zsb_ctx *ctx, const char *name)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0)
        error = zsb_kit_write(zsb_kit_in(&scratch, "file"), O_CREAT | O_EXCL);
    if (error == 0 && rename(zsb_kit_in(&scratch, "file"), inside(ctx, name, "pe-replace")) < 0)
        error = errno;
    return error;
}

static int move_away(struct zsb_ctx *ctx, const char *name)
{
    char moved[128];
    (void)snprintf(moved, sizeof(moved), "ws/pe-moved%s", name);
    if (rename(inside(ctx, name, ""), zsb_path(ctx, moved)) < 0)
        return errno;
    return rename(zsb_path(ctx, moved), inside(ctx, name, "")) < 0 ? -1 : 0;
}

/* A directory of the attacker's takes the place, and gives it back. */
static int exchange(struct zsb_ctx *ctx, const char *name)
{
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error == 0 && mkdir(zsb_kit_in(&scratch, "new"), 0755) < 0)
        error = errno;
    const char *new = zsb_kit_in(&scratch, "new");
    const char *protected = inside(ctx, name, "");
    if (error == 0 && renameat2(AT_FDCWD, new, AT_FDCWD, protected, RENAME_EXCHANGE) < 0)
        error = errno;
    if (error == 0 && renameat2(AT_FDCWD, new, AT_FDCWD, protected, RENAME_EXCHANGE) < 0)
        return -1;
    return error;
}

#define STEPS_OF(suffix, name)                                                                               \
    static int write_##suffix(struct zsb_ctx *ctx)                                                           \
    {                                                                                                        \
        return write_in(ctx, name);                                                                          \
    }                                                                                                        \
    static int create_##suffix(struct zsb_ctx *ctx)                                                          \
    {                                                                                                        \
        return create_in(ctx, name);                                                                         \
    }                                                                                                        \
    static int unlink_##suffix(struct zsb_ctx *ctx)                                                          \
    {                                                                                                        \
        return unlink_in(ctx, name);                                                                         \
    }                                                                                                        \
    static int rmdir_##suffix(struct zsb_ctx *ctx)                                                           \
    {                                                                                                        \
        return rmdir_in(ctx, name);                                                                          \
    }                                                                                                        \
    static int chmod_##suffix(struct zsb_ctx *ctx)                                                           \
    {                                                                                                        \
        return chmod_in(ctx, name);                                                                          \
    }                                                                                                        \
    static int replace_##suffix(struct zsb_ctx *ctx)                                                         \
    {                                                                                                        \
        return replace_in(ctx, name);                                                                        \
    }                                                                                                        \
    static int move_##suffix(struct zsb_ctx *ctx)                                                            \
    {                                                                                                        \
        return move_away(ctx, name);                                                                         \
    }                                                                                                        \
    static int exchange_##suffix(struct zsb_ctx *ctx)                                                        \
    {                                                                                                        \
        return exchange(ctx, name);                                                                          \
    }

STEPS_OF(git, ".git")
STEPS_OF(zuno, ".zuno")
STEPS_OF(agents, ".agents")

#define ATTEMPTS_OF(suffix, dir)                                                                             \
    {.name = "write-" #suffix, .target = "ws/" dir "/pe-write", .run = write_##suffix},                      \
        {.name = "create-" #suffix, .target = "ws/" dir "/pe-create", .run = create_##suffix},               \
        {.name = "unlink-" #suffix, .target = "ws/" dir "/pe-unlink", .run = unlink_##suffix},               \
        {.name = "rmdir-" #suffix, .target = "ws/" dir "/pe-rmdir", .run = rmdir_##suffix},                  \
        {.name = "chmod-" #suffix, .target = "ws/" dir "/pe-chmod", .run = chmod_##suffix},                  \
        {.name = "replace-" #suffix, .target = "ws/" dir "/pe-replace", .run = replace_##suffix},            \
        {.name = "rename-" #suffix, .target = "ws/" dir, .run = move_##suffix},                              \
    {                                                                                                        \
        .name = "exchange-" #suffix, .target = "ws/" dir, .run = exchange_##suffix,                          \
        .absent_errnos = zsb_kit_absent_operation                                                            \
    }

static int benign(struct zsb_ctx *ctx)
{
    int error = zsb_kit_capture(ctx, zsb_path(ctx, "ws/.git/HEAD"));
    return error != 0 ? error : zsb_kit_benign_write(ctx);
}

static const struct zsb_attempt attempts[] = {ATTEMPTS_OF(git, ".git"), ATTEMPTS_OF(zuno, ".zuno"),
                                              ATTEMPTS_OF(agents, ".agents")};

const struct zsb_probe zsb_probe_fs_protected_existing = {
    .id = "fs.protected-existing",
    .claim = "A command cannot change, move or replace .git, .zuno or .agents.",
    .boundary = "filesystem",
    .refs = "CVE-2026-26268, CVE-2026-25725, rename(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .prepare = prepare,
    .benign = benign,
    .benign_claim = "reads .git/HEAD and writes a file where this mode may write",
    ZSB_KIT_ATTEMPTS(attempts),
};
