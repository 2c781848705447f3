/* SPDX-License-Identifier: MIT
 *
 * Can a command create .git, .zuno or .agents by less usual means: a fifo, a socket, an unnamed file that is
 * linked in? One means per name.
 */
#include "escapes/catalogue.h"
#include "escapes/protected_missing.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int make_fifo(const char *path)
{
    return mknod(path, S_IFIFO | 0644, 0) < 0 ? errno : 0;
}

static int make_socket(const char *path)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    ZSB_KIT_FD fd = -1;
    int error = zsb_kit_socket(AF_UNIX, SOCK_STREAM, 0, &fd);
    /* Where unix sockets are refused altogether, no name can be bound: that refusal decides. */
    if (error != 0)
        return error;
    if (zsb_kit_unix_address(path, false, &address, &size) < 0)
        return -1;
    return bind(fd, (const struct sockaddr *)&address, size) < 0 ? errno : 0;
}

static int link_unnamed(const char *path)
{
    char parent[PATH_MAX], self[64];
    const char *slash = strrchr(path, '/');
    (void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
    ZSB_KIT_FD fd = open(parent, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EOPNOTSUPP || errno == EISDIR ? zsb_kit_write(path, O_CREAT) : errno;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
}

static int create(struct zsb_ctx *ctx, const char *path)
{
    (void)ctx;
    const char *name = strrchr(path, '/');
    if (strcmp(name, "/.git") == 0)
        return make_fifo(path);
    return strcmp(name, "/.zuno") == 0 ? make_socket(path) : link_unnamed(path);
}

ZSB_PROTECTED_MISSING_STEPS(create)

static int benign(struct zsb_ctx *ctx)
{
    return zsb_protected_missing_twin(ctx, create);
}

const struct zsb_probe zsb_probe_fs_protected_missing_node = {
    .id = "fs.protected-missing-node",
    .claim = "A command cannot create .git, .zuno or .agents as a fifo, a socket or a linked unnamed file.",
    .refs = "mknod(2), bind(2), open(2), linkat(2)",
    .benign = benign,
    .benign_claim = "links an unnamed file as an unprotected name",
    ZSB_PROTECTED_MISSING_COMMON,
};
