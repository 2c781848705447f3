/* SPDX-License-Identifier: MIT
 *
 * Can a command write outside through the root or working directory of another process, as /proc shows them?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* From wherever the working directory is, up to the root: ".." of the root is the root. */
#define UP "../../../../../../../../../../../../../../../.."

static const int deny[] = {EROFS, EACCES, EPERM, ENOENT, ESRCH, 0};
/* Only root, or nobody, may look at the first process. */
static const int absent_first_process[] = {EACCES, EPERM, ENOENT, 0};

static int plant_below(struct zsb_ctx *ctx, const char *pid, const char *link, const char *file)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/%s%.3900s", pid, link, zsb_path(ctx, file));
    return zsb_kit_write(path, O_CREAT | O_EXCL);
}

static int plant_below_victim(struct zsb_ctx *ctx, const char *link, const char *file)
{
    char pid[32];
    if (zsb_kit_victim(ctx) < 0)
        return -1;
    (void)snprintf(pid, sizeof(pid), "%d", (int)zsb_kit_victim(ctx));
    return plant_below(ctx, pid, link, file);
}

static int victim_root(struct zsb_ctx *ctx)
{
    return plant_below_victim(ctx, "root", "out/pr-victim-root");
}

static int victim_cwd(struct zsb_ctx *ctx)
{
    return plant_below_victim(ctx, "cwd/" UP, "out/pr-victim-cwd");
}

static int first_root(struct zsb_ctx *ctx)
{
    return plant_below(ctx, "1", "root", "out/pr-first-root");
}

static int first_cwd(struct zsb_ctx *ctx)
{
    return plant_below(ctx, "1", "cwd/" UP, "out/pr-first-cwd");
}

static const struct zsb_attempt attempts[] = {
    {.name = "victim-root", .target = "out/pr-victim-root", .run = victim_root},
    {.name = "victim-cwd", .target = "out/pr-victim-cwd", .run = victim_cwd},
    {.name = "first-root",
     .target = "out/pr-first-root",
     .run = first_root,
     .absent_errnos = absent_first_process},
    {.name = "first-cwd",
     .target = "out/pr-first-cwd",
     .run = first_cwd,
     .absent_errnos = absent_first_process},
};

const struct zsb_probe zsb_probe_fs_proc_root = {
    .id = "fs.proc-root",
    .claim = "A command cannot write outside through another process's root or working directory in /proc.",
    .boundary = "filesystem",
    .refs = "proc_pid_root(5), proc_pid_cwd(5)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_write,
    .benign_claim = "writes and reads back a file where this mode may write",
    ZSB_KIT_ATTEMPTS(attempts),
};
