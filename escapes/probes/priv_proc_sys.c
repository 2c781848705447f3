/* SPDX-License-Identifier: MIT
 *
 * Can a command open kernel settings for writing? Root without any capability still owns most of /proc/sys.
 *
 * The files are opened and held, never written: the value belongs to the host, and even writing it back would
 * change it for a moment. A different setting per way, so that the witness can tell.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* In a container the host's /proc/sys is read-only for everybody. */
static const int absent_setting[] = {ENOENT, EROFS, EACCES, EPERM, 0};
static const int deny[] = {EROFS, EACCES, EPERM, ENOENT, 0};

/* Left open on purpose. O_TRUNC is absent on purpose. */
static int hold(const char *path)
{
    return open(path, O_WRONLY | O_CLOEXEC) < 0 ? errno : 0;
}

static int direct(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold("/proc/sys/kernel/core_pattern");
}

static int first_root(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold("/proc/1/root/proc/sys/kernel/printk");
}

static int self_root(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold("/proc/self/root/proc/sys/vm/overcommit_memory");
}

static int reopen(struct zsb_ctx *ctx)
{
    char self[64];
    (void)ctx;
    ZSB_KIT_FD fd = open("/proc/sys/kernel/core_uses_pid", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return hold(self);
}

static int benign(struct zsb_ctx *ctx)
{
    return zsb_kit_capture(ctx, "/proc/sys/kernel/ostype");
}

static const struct zsb_attempt attempts[] = {
    {.name = "direct",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "/proc/sys/kernel/core_pattern",
     .run = direct,
     .absent_errnos = absent_setting},
    {.name = "first-root",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "/proc/sys/kernel/printk",
     .run = first_root,
     .absent_errnos = absent_setting},
    {.name = "self-root",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "/proc/sys/vm/overcommit_memory",
     .run = self_root,
     .absent_errnos = absent_setting},
    {.name = "reopen",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "/proc/sys/kernel/core_uses_pid",
     .run = reopen,
     .absent_errnos = absent_setting},
};

const struct zsb_probe zsb_probe_priv_proc_sys = {
    .id = "priv.proc-sys",
    .claim = "A command cannot open kernel settings for writing.",
    .boundary = "privilege",
    .refs = "proc_sys_kernel(5), core(5)",
    .needs = ZSB_NEED_ROOT_CALLER,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "reads a kernel setting",
    ZSB_KIT_ATTEMPTS(attempts),
};
