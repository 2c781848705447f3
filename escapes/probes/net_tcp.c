/* SPDX-License-Identifier: MIT
 *
 * With network denied, can a command reach a TCP port outside? Also by the two ways that port rules forget:
 * Fast Open (no connect call) and MPTCP (another protocol number).
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static const int absent_fast_open[] = {EOPNOTSUPP, 0};
static const int absent_mptcp[] = {EPROTONOSUPPORT, ENOPROTOOPT, EINVAL, 0};

/* EINPROGRESS and EAGAIN would be a blocked connect: a timeout proves nothing and is not among the denials.
 */
static int reach(struct zsb_ctx *ctx, bool v6, int protocol)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_inet_address(v6, zsb_arg_long(ctx, v6 ? "tcp6" : "tcp4"), &address, &size) < 0)
        return v6 ? EAFNOSUPPORT : -1;
    return zsb_kit_connect_send(ctx, SOCK_STREAM, protocol, &address, size);
}

static int v4(struct zsb_ctx *ctx)
{
    return reach(ctx, false, 0);
}

static int v6(struct zsb_ctx *ctx)
{
    return reach(ctx, true, 0);
}

static int mptcp(struct zsb_ctx *ctx)
{
    return reach(ctx, false, IPPROTO_MPTCP);
}

static int fast_open(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    const char *flag = zsb_plant(ctx);
    ZSB_KIT_FD fd = -1;
    if (zsb_kit_inet_address(false, zsb_arg_long(ctx, "tcp4"), &address, &size) < 0)
        return -1;
    int error = zsb_kit_socket(AF_INET, SOCK_STREAM, 0, &fd);
    if (error != 0)
        return error;
    ssize_t n =
        sendto(fd, flag, strlen(flag), MSG_FASTOPEN | MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    return n < 0 ? errno : 0;
}

/* An IPv4 destination in an IPv6 socket. */
static int mapped(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_inet_address(true, zsb_arg_long(ctx, "tcp4"), &address, &size) < 0)
        return -1;
    static const unsigned char v4_loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    struct sockaddr_in6 in6;
    memcpy(&in6, &address, sizeof(in6));
    memcpy(&in6.sin6_addr, v4_loopback, sizeof(v4_loopback));
    memcpy(&address, &in6, sizeof(in6));
    return zsb_kit_connect_send(ctx, SOCK_STREAM, 0, &address, size);
}

static const struct zsb_attempt attempts[] = {
    {.name = "v4", .witness = ZSB_WITNESS_ACCEPT, .target = "tcp4", .run = v4},
    {.name = "v6",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "tcp6",
     .run = v6,
     .absent_errnos = zsb_kit_absent_ipv6},
    {.name = "v4-mapped",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "tcp4",
     .run = mapped,
     .absent_errnos = zsb_kit_absent_ipv6},
    {.name = "fast-open",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "tcp4",
     .run = fast_open,
     .absent_errnos = absent_fast_open},
    {.name = "mptcp",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "tcp4",
     .run = mptcp,
     .absent_errnos = absent_mptcp},
};

const struct zsb_probe zsb_probe_net_tcp = {
    .id = "net.tcp",
    .claim = "With network denied, a command cannot reach a TCP port.",
    .boundary = "network",
    .refs = "tcp(7), landlock(7), MPTCP: RFC 8684, Fast Open: RFC 7413",
    .needs = ZSB_NEED_LISTENERS,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_network,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
