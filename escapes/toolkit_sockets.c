/* SPDX-License-Identifier: MIT */
#include "escapes/toolkit.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { SOCKET_TIMEOUT_MS = 2000, REFUSAL_WAIT_MS = 20 };

const int zsb_kit_deny_network[] = {EPERM,        EACCES,   EAFNOSUPPORT,    EPROTONOSUPPORT,
                                    ENETUNREACH,  ENETDOWN, EHOSTUNREACH,    EADDRNOTAVAIL,
                                    ECONNREFUSED, ENOSYS,   ESOCKTNOSUPPORT, 0};
const int zsb_kit_deny_unix[] = {EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, ENOSYS, 0};
const int zsb_kit_absent_ipv6[] = {EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH, 0};

int zsb_kit_unix_address(const char *name, bool abstract, struct sockaddr_storage *out_address,
                         socklen_t *out_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t lead = abstract ? 1 : 0;
    if (name == NULL || strlen(name) + 1 > sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path + lead, name, strlen(name));
    memset(out_address, 0, sizeof(*out_address));
    memcpy(out_address, &address, sizeof(address));
    /* An abstract name has no end mark: its length counts. */
    *out_size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + lead + strlen(name) + (abstract ? 0 : 1));
    return 0;
}

int zsb_kit_inet_address(bool v6, long port, struct sockaddr_storage *out_address, socklen_t *out_size)
{
    if (port < 1 || port > 65535)
        return -1;
    memset(out_address, 0, sizeof(*out_address));
    if (v6) {
        struct sockaddr_in6 address = {
            .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        memcpy(out_address, &address, sizeof(address));
        *out_size = sizeof(address);
    } else {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
        memcpy(out_address, &address, sizeof(address));
        *out_size = sizeof(address);
    }
    return 0;
}

int zsb_kit_socket(int family, int type, int protocol, int *out_fd)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return errno;
    struct timeval limit = {.tv_sec = SOCKET_TIMEOUT_MS / 1000};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    *out_fd = fd;
    return 0;
}

int zsb_kit_send(struct zsb_ctx *ctx, int fd)
{
    const char *flag = zsb_plant(ctx);
    return send(fd, flag, strlen(flag), MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* A datagram to nobody is refused a moment later; what the kernel says then is the decisive answer. */
static int late_refusal(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_DGRAM)
        return 0;
    struct pollfd wait = {.fd = fd, .events = 0};
    int error = 0;
    size = sizeof(error);
    if (poll(&wait, 1, REFUSAL_WAIT_MS) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0)
        return error;
    return 0;
}

int zsb_kit_connect_send(struct zsb_ctx *ctx, int type, int protocol, const struct sockaddr_storage *address,
                         socklen_t size)
{
    ZSB_KIT_FD fd = -1;
    int error = zsb_kit_socket(address->ss_family, type, protocol, &fd);
    if (error != 0)
        return error;
    if (connect(fd, (const struct sockaddr *)address, size) < 0)
        return errno;
    error = zsb_kit_send(ctx, fd);
    return error != 0 || address->ss_family == AF_UNIX ? error : late_refusal(fd);
}

int zsb_kit_send_to(struct zsb_ctx *ctx, int fd, enum zsb_kit_send how,
                    const struct sockaddr_storage *address, socklen_t size)
{
    char flag[64];
    struct sockaddr_storage to = *address;
    memcpy(flag, zsb_plant(ctx), strlen(zsb_plant(ctx)) + 1);
    struct iovec part = {.iov_base = flag, .iov_len = strlen(flag)};
    struct mmsghdr message = {
        .msg_hdr = {.msg_name = &to, .msg_namelen = size, .msg_iov = &part, .msg_iovlen = 1}};
    ssize_t n = -1;
    switch (how) {
    case ZSB_KIT_SENDTO:
        n = sendto(fd, flag, strlen(flag), MSG_NOSIGNAL, (const struct sockaddr *)address, size);
        break;
    case ZSB_KIT_SENDMSG:
        n = sendmsg(fd, &message.msg_hdr, MSG_NOSIGNAL);
        break;
    case ZSB_KIT_SENDMMSG:
        n = sendmmsg(fd, &message, 1, MSG_NOSIGNAL);
        break;
    }
    return n < 0 ? errno : 0;
}

/* ---- allowed twin */

int zsb_kit_benign_socketpair(struct zsb_ctx *ctx)
{
    (void)ctx;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    ZSB_KIT_FD left = pair[0];
    ZSB_KIT_FD right = pair[1];
    char byte = 'x';
    if (send(left, &byte, 1, MSG_NOSIGNAL) != 1 || recv(right, &byte, 1, 0) != 1)
        return errno != 0 ? errno : EIO;
    return 0;
}
