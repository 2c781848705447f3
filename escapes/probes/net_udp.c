/* SPDX-License-Identifier: MIT
 *
 * With network denied, can a command send a datagram to a UDP port outside, connected or not?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <unistd.h>

/* A datagram may be lost without an error in an empty network namespace; toolkit_sockets.c waits for the
 * refusal on a connected socket, so "connected" runs in every arm and the others are judged by their effect.
 */
static int connected(struct zsb_ctx *ctx, bool v6)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_inet_address(v6, zsb_arg_long(ctx, v6 ? "udp6" : "udp4"), &address, &size) < 0)
        return v6 ? EAFNOSUPPORT : -1;
    return zsb_kit_connect_send(ctx, SOCK_DGRAM, 0, &address, size);
}

static int connected_v4(struct zsb_ctx *ctx)
{
    return connected(ctx, false);
}

static int connected_v6(struct zsb_ctx *ctx)
{
    return connected(ctx, true);
}

static int unconnected(struct zsb_ctx *ctx, enum zsb_kit_send how)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    ZSB_KIT_FD fd = -1;
    if (zsb_kit_inet_address(false, zsb_arg_long(ctx, "udp4"), &address, &size) < 0)
        return -1;
    int error = zsb_kit_socket(AF_INET, SOCK_DGRAM, 0, &fd);
    return error != 0 ? error : zsb_kit_send_to(ctx, fd, how, &address, size);
}

static int by_sendto(struct zsb_ctx *ctx)
{
    return unconnected(ctx, ZSB_KIT_SENDTO);
}

static int by_sendmsg(struct zsb_ctx *ctx)
{
    return unconnected(ctx, ZSB_KIT_SENDMSG);
}

static int by_sendmmsg(struct zsb_ctx *ctx)
{
    return unconnected(ctx, ZSB_KIT_SENDMMSG);
}

static const struct zsb_attempt attempts[] = {
    {.name = "v4", .witness = ZSB_WITNESS_ACCEPT, .target = "udp4", .run = connected_v4},
    {.name = "v6",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "udp6",
     .run = connected_v6,
     .absent_errnos = zsb_kit_absent_ipv6},
    {.name = "sendto",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "udp4",
     .run = by_sendto,
     .effect_only = true},
    {.name = "sendmsg",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "udp4",
     .run = by_sendmsg,
     .effect_only = true},
    {.name = "sendmmsg",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "udp4",
     .run = by_sendmmsg,
     .effect_only = true},
};

const struct zsb_probe zsb_probe_net_udp = {
    .id = "net.udp",
    .claim = "With network denied, a command cannot send a datagram to a UDP port.",
    .boundary = "network",
    .refs = "udp(7), sendmmsg(2)",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_network,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
