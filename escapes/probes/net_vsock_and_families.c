/* SPDX-License-Identifier: MIT
 *
 * Can a command make sockets of families that reach past the network namespace or deep into the kernel: the
 * hypervisor (vsock), raw packets, kernel crypto, netlink other than routes, Bluetooth? Also with network
 * allowed.
 *
 * The sockets are held: from outside they are "socket:[N]" among the process's descriptors, and this probe
 * holds no other socket.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#ifndef AF_VSOCK
#define AF_VSOCK 40
#endif

/* The kernel may lack the family, or give it only to root. */
static const int absent_family[] = {EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EPERM, EACCES, ENODEV, 0};
static const int absent_root[] = {EAFNOSUPPORT, EPERM, EACCES, 0};
static const int deny[] = {EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS, 0};

/* Left open on purpose. */
static int hold_socket(int family, int type, int protocol)
{
    return socket(family, type | SOCK_CLOEXEC, protocol) < 0 ? errno : 0;
}

static int vsock(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int packet(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_PACKET, SOCK_RAW, 0);
}

static int crypto(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

static int netlink_uevent(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int netlink_diagnosis(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG);
}

static int bluetooth(struct zsb_ctx *ctx)
{
    (void)ctx;
    return hold_socket(AF_BLUETOOTH, SOCK_RAW, 1);
}

static const struct zsb_attempt attempts[] = {
    {.name = "vsock",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "socket:",
     .run = vsock,
     .absent_errnos = absent_family},
    {.name = "packet",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "socket:",
     .run = packet,
     .absent_errnos = absent_root},
    {.name = "alg",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "socket:",
     .run = crypto,
     .absent_errnos = absent_family},
    {.name = "netlink-uevent", .witness = ZSB_WITNESS_DESCRIPTOR, .target = "socket:", .run = netlink_uevent},
    {.name = "netlink-sock-diag",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "socket:",
     .run = netlink_diagnosis,
     .absent_errnos = absent_family},
    {.name = "bluetooth",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "socket:",
     .run = bluetooth,
     .absent_errnos = absent_family},
};

const struct zsb_probe zsb_probe_net_vsock_and_families = {
    .id = "net.vsock-and-families",
    .claim =
        "A command cannot make sockets that reach the hypervisor, the wire or the kernel's inner services.",
    .boundary = "network",
    .refs = "vsock(7), packet(7), netlink(7), address_families(7)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
