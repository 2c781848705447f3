/* SPDX-License-Identifier: MIT
 *
 * Can a command reach a unix socket outside that has no path but an abstract name? Such names follow the
 * network namespace, not the file system. Also with network allowed, where that namespace is shared.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <unistd.h>

/* In a network namespace of its own the name does not exist: ECONNREFUSED. */
static const int deny[] = {EPERM,           EACCES, EAFNOSUPPORT, EPROTONOSUPPORT,
                           ESOCKTNOSUPPORT, ENOSYS, ECONNREFUSED, 0};

static int stream(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_unix_address(zsb_arg(ctx, "abstract-stream"), true, &address, &size) < 0)
        return -1;
    return zsb_kit_connect_send(ctx, SOCK_STREAM, 0, &address, size);
}

static int datagram(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    ZSB_KIT_FD fd = -1;
    if (zsb_kit_unix_address(zsb_arg(ctx, "abstract-dgram"), true, &address, &size) < 0)
        return -1;
    int error = zsb_kit_socket(AF_UNIX, SOCK_DGRAM, 0, &fd);
    return error != 0 ? error : zsb_kit_send_to(ctx, fd, ZSB_KIT_SENDTO, &address, size);
}

static int datagram_from_pair(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    int pair[2];
    if (zsb_kit_unix_address(zsb_arg(ctx, "abstract-dgram"), true, &address, &size) < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    ZSB_KIT_FD left = pair[0];
    ZSB_KIT_FD right = pair[1];
    (void)right;
    return zsb_kit_send_to(ctx, left, ZSB_KIT_SENDMSG, &address, size);
}

static const struct zsb_attempt attempts[] = {
    {.name = "stream", .witness = ZSB_WITNESS_ACCEPT, .target = "abstract-stream", .run = stream},
    {.name = "datagram", .witness = ZSB_WITNESS_ACCEPT, .target = "abstract-dgram", .run = datagram},
    {.name = "datagram-pair",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "abstract-dgram",
     .run = datagram_from_pair},
};

const struct zsb_probe zsb_probe_net_unix_abstract = {
    .id = "net.unix-abstract",
    .claim = "A command cannot reach an abstract unix socket outside.",
    .boundary = "network",
    .refs = "unix(7), landlock(7)",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
