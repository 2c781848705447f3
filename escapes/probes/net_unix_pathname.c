/* SPDX-License-Identifier: MIT
 *
 * Can a command connect to a unix socket in the file system outside (a container engine, a user's service
 * manager, an ssh agent)? A read-only mount does not stop connect(2). Also with network allowed.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* EROFS: nowhere may the link of "planted-link" be planted. Neither ECONNREFUSED nor ENOENT: see toolkit.h.
 */
static const int deny[] = {EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, ENOSYS, EROFS, 0};

static int reach(struct zsb_ctx *ctx, const char *name)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_unix_address(name, false, &address, &size) < 0)
        return -1;
    return zsb_kit_connect_send(ctx, SOCK_STREAM, 0, &address, size);
}

static int direct(struct zsb_ctx *ctx)
{
    return reach(ctx, zsb_arg(ctx, "unix-stream"));
}

/* Relative to its directory, so that no absolute path appears in the call. */
static int relative(struct zsb_ctx *ctx)
{
    const char *path = zsb_arg(ctx, "unix-stream");
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    char directory[PATH_MAX];
    ZSB_KIT_FD back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (slash == NULL || back < 0)
        return -1;
    (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
    if (chdir(directory) < 0)
        return errno;
    int error = reach(ctx, slash + 1);
    return fchdir(back) < 0 ? -1 : error;
}

/* Through a magic link: what a rule on paths sees is /proc/self/fd/N. */
static int path_descriptor(struct zsb_ctx *ctx)
{
    char self[64];
    const char *path = zsb_arg(ctx, "unix-stream");
    ZSB_KIT_FD fd = path != NULL ? open(path, O_PATH | O_CLOEXEC) : -1;
    if (fd < 0)
        return path != NULL ? errno : -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return reach(ctx, self);
}

/* A link planted where this arm may write. */
static int planted_link(struct zsb_ctx *ctx)
{
    const char *path = zsb_arg(ctx, "unix-stream");
    ZSB_KIT_FD back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (path == NULL || back < 0)
        return -1;
    ZSB_KIT_SCRATCH scratch;
    int error = zsb_kit_scratch_make(ctx, &scratch);
    if (error != 0)
        return error;
    if (symlink(path, zsb_kit_in(&scratch, "link")) < 0)
        return errno;
    if (chdir(scratch.dir) < 0) /* keeps the name short enough for an address */
        return -1;
    error = reach(ctx, "link");
    return fchdir(back) < 0 ? -1 : error;
}

static const struct zsb_attempt attempts[] = {
    {.name = "direct", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-stream", .run = direct},
    {.name = "relative", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-stream", .run = relative},
    {.name = "path-descriptor",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "unix-stream",
     .run = path_descriptor},
    {.name = "planted-link", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-stream", .run = planted_link},
};

const struct zsb_probe zsb_probe_net_unix_pathname = {
    .id = "net.unix-pathname",
    .claim = "A command cannot connect to a unix socket that stands in the file system outside.",
    .boundary = "network",
    .refs = "unix(7), connect(2)",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
