/* SPDX-License-Identifier: MIT
 *
 * Can a command send a datagram to a unix socket outside? A datagram socket needs no connect(2): any of the
 * three sending calls takes an address, and so does either end of a datagram pair. Also with network allowed.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <unistd.h>

static int address_of(struct zsb_ctx *ctx, struct sockaddr_storage *address, socklen_t *size)
{
    return zsb_kit_unix_address(zsb_arg(ctx, "unix-dgram"), false, address, size);
}

static int from_socket(struct zsb_ctx *ctx, enum zsb_kit_send how)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    ZSB_KIT_FD fd = -1;
    if (address_of(ctx, &address, &size) < 0)
        return -1;
    int error = zsb_kit_socket(AF_UNIX, SOCK_DGRAM, 0, &fd);
    return error != 0 ? error : zsb_kit_send_to(ctx, fd, how, &address, size);
}

/* SOCK_RAW is SOCK_DGRAM by another number for AF_UNIX. */
static int from_pair(struct zsb_ctx *ctx, int type, enum zsb_kit_send how)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    int pair[2];
    if (address_of(ctx, &address, &size) < 0)
        return -1;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    ZSB_KIT_FD left = pair[0];
    ZSB_KIT_FD right = pair[1];
    (void)right;
    return zsb_kit_send_to(ctx, left, how, &address, size);
}

static int by_sendto(struct zsb_ctx *ctx)
{
    return from_socket(ctx, ZSB_KIT_SENDTO);
}

static int by_sendmsg(struct zsb_ctx *ctx)
{
    return from_socket(ctx, ZSB_KIT_SENDMSG);
}

static int by_sendmmsg(struct zsb_ctx *ctx)
{
    return from_socket(ctx, ZSB_KIT_SENDMMSG);
}

static int connected(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (address_of(ctx, &address, &size) < 0)
        return -1;
    return zsb_kit_connect_send(ctx, SOCK_DGRAM, 0, &address, size);
}

static int pair_sendto(struct zsb_ctx *ctx)
{
    return from_pair(ctx, SOCK_DGRAM, ZSB_KIT_SENDTO);
}

static int pair_sendmsg(struct zsb_ctx *ctx)
{
    return from_pair(ctx, SOCK_DGRAM, ZSB_KIT_SENDMSG);
}

static int pair_sendmmsg(struct zsb_ctx *ctx)
{
    return from_pair(ctx, SOCK_DGRAM, ZSB_KIT_SENDMMSG);
}

static int raw_pair_sendto(struct zsb_ctx *ctx)
{
    return from_pair(ctx, SOCK_RAW, ZSB_KIT_SENDTO);
}

static const struct zsb_attempt attempts[] = {
    {.name = "sendto", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = by_sendto},
    {.name = "sendmsg", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = by_sendmsg},
    {.name = "sendmmsg", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = by_sendmmsg},
    {.name = "connect", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = connected},
    {.name = "pair-sendto", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = pair_sendto},
    {.name = "pair-sendmsg", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = pair_sendmsg},
    {.name = "pair-sendmmsg", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-dgram", .run = pair_sendmmsg},
    {.name = "raw-pair-sendto",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "unix-dgram",
     .run = raw_pair_sendto},
};

const struct zsb_probe zsb_probe_net_unix_datagram = {
    .id = "net.unix-datagram",
    .claim = "A command cannot send a datagram to a unix socket outside, not even from one end of a pair.",
    .boundary = "network",
    .refs = "unix(7), sendmsg(2), sendmmsg(2), socketpair(2)",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = zsb_kit_deny_unix,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
