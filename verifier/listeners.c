/* SPDX-License-Identifier: MIT */
#include "verifier/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { DATA_MAX = 1 << 20, BACKLOG = 16 };

static const struct kind {
    const char *name;
    int domain, type;
    bool abstract;
} kinds[ZSB_LISTENER_COUNT] = {
    [ZSB_LISTENER_TCP4] = {"tcp4", AF_INET, SOCK_STREAM, false},
    [ZSB_LISTENER_TCP6] = {"tcp6", AF_INET6, SOCK_STREAM, false},
    [ZSB_LISTENER_UDP4] = {"udp4", AF_INET, SOCK_DGRAM, false},
    [ZSB_LISTENER_UDP6] = {"udp6", AF_INET6, SOCK_DGRAM, false},
    [ZSB_LISTENER_UNIX_STREAM] = {"unix-stream", AF_UNIX, SOCK_STREAM, false},
    [ZSB_LISTENER_UNIX_DGRAM] = {"unix-dgram", AF_UNIX, SOCK_DGRAM, false},
    [ZSB_LISTENER_ABSTRACT_STREAM] = {"abstract-stream", AF_UNIX, SOCK_STREAM, true},
    [ZSB_LISTENER_ABSTRACT_DGRAM] = {"abstract-dgram", AF_UNIX, SOCK_DGRAM, true},
    [ZSB_LISTENER_FIFO] = {"fifo", AF_UNSPEC, 0, false},
};

const char *zsb_listener_name(enum zsb_listener listener)
{
    return (unsigned)listener < ZSB_LISTENER_COUNT ? kinds[listener].name : "unknown";
}

enum zsb_listener zsb_listener_find(const char *name)
{
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (enum zsb_listener)i;
    return ZSB_LISTENER_COUNT;
}

void zsb_listeners_init(struct zsb_listeners *listeners)
{
    memset(listeners, 0, sizeof(*listeners));
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        listeners->items[i].fd = -1;
        listeners->items[i].data.max_bytes = DATA_MAX;
    }
}

static int bind_inet(int fd, int domain, struct zsb_listener_state *state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *address = domain == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t length = domain == AF_INET ? sizeof(v4) : sizeof(v6);
    if (bind(fd, address, length) < 0 || getsockname(fd, address, &length) < 0)
        return -errno;
    state->port = ntohs(domain == AF_INET ? v4.sin_port : v6.sin6_port);
    return 0;
}

/* A trial directory may lie deeper than sun_path reaches, so the socket is bound by way of the directory's
 * descriptor. The path told to the probe is the real one. */
static int bind_unix(int fd, const struct kind *kind, int run_fd, const char *run_path, const char *unique,
                     struct zsb_listener_state *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t name_size = 0;
    int n;
    if (kind->abstract) {
        n = snprintf(state->name, sizeof(state->name), "zuno-sandbox-%s-%s", kind->name, unique);
        memcpy(address.sun_path + 1, state->name, (size_t)n);
        name_size = (size_t)n + 1;
    } else {
        n = snprintf(state->name, sizeof(state->name), "%s/%s", run_path, kind->name);
        if (n < 0 || (size_t)n >= sizeof(state->name))
            return -ENAMETOOLONG;
        (void)unlinkat(run_fd, kind->name, 0); /* of the arm before */
        name_size = (size_t)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
                                     run_fd, kind->name) +
                    1;
    }
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + name_size);
    return bind(fd, (struct sockaddr *)&address, length) < 0 ? -errno : 0;
}

static int open_fifo(struct zsb_listener_state *state, int run_fd, const char *run_path)
{
    (void)snprintf(state->name, sizeof(state->name), "%s/fifo", run_path);
    (void)unlinkat(run_fd, "fifo", 0);
    if (mkfifoat(run_fd, "fifo", 0666) < 0)
        return -errno;
    /* Both ways, so that it stays readable with no writer. */
    state->fd = openat(run_fd, "fifo", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return state->fd < 0 ? -errno : 0;
}

static int open_one(struct zsb_listeners *listeners, unsigned index, int run_fd, const char *run_path,
                    const char *unique)
{
    const struct kind *kind = &kinds[index];
    struct zsb_listener_state *state = &listeners->items[index];
    if (index == ZSB_LISTENER_FIFO)
        return open_fifo(state, run_fd, run_path);
    ZSB_AUTO_FD int fd = socket(kind->domain, kind->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = kind->domain == AF_UNIX ? bind_unix(fd, kind, run_fd, run_path, unique, state)
                                     : bind_inet(fd, kind->domain, state);
    if (rc == 0 && kind->type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
        rc = -errno;
    if (rc == 0)
        state->fd = zsb_steal_fd(&fd);
    return rc;
}

int zsb_listeners_open(struct zsb_listeners *listeners, int run_fd, const char *run_path, const char *unique)
{
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        int rc = open_one(listeners, i, run_fd, run_path, unique);
        if (rc != 0 && kinds[i].domain != AF_INET6)
            return rc;
    }
    return 0;
}

static size_t take_data(struct zsb_listener_state *state, int fd, bool datagrams)
{
    char chunk[4096];
    size_t taken = 0;
    for (;;) {
        ssize_t n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (n == 0 && !datagrams))
            return taken;
        taken += (size_t)n;
        state->contacts += datagrams ? 1 : 0;
        state->empty += n == 0 ? 1 : 0;
        zsb_buf_append(&state->data, chunk, (size_t)n);
        zsb_buf_addc(&state->data, '\n');
    }
}

static void take_fifo(struct zsb_listener_state *state)
{
    char chunk[4096];
    for (ssize_t n; (n = read(state->fd, chunk, sizeof(chunk))) > 0;) {
        state->contacts++;
        zsb_buf_append(&state->data, chunk, (size_t)n);
        zsb_buf_addc(&state->data, '\n');
    }
}

static void take_connections(struct zsb_listener_state *state)
{
    for (;;) {
        int peer = accept4(state->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (peer < 0 && errno == EINTR)
            continue;
        if (peer < 0)
            return;
        state->contacts++;
        if (state->peer_count < ZSB_LISTENER_PEERS_MAX)
            state->peers[state->peer_count++] = peer;
        else
            (void)close(peer);
    }
}

void zsb_listeners_pump(struct zsb_listeners *listeners)
{
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        struct zsb_listener_state *state = &listeners->items[i];
        if (state->fd < 0)
            continue;
        if (i == ZSB_LISTENER_FIFO) {
            take_fifo(state);
            continue;
        }
        if (kinds[i].type == SOCK_DGRAM) {
            (void)take_data(state, state->fd, true);
            continue;
        }
        take_connections(state);
        for (size_t p = 0; p < state->peer_count; p++)
            state->peer_bytes[p] += take_data(state, state->peers[p], false);
    }
}

bool zsb_listener_met_silence(const struct zsb_listener_state *state)
{
    for (size_t p = 0; p < state->peer_count; p++)
        if (state->peer_bytes[p] == 0)
            return true;
    return state->empty > 0;
}

void zsb_listeners_close(struct zsb_listeners *listeners)
{
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        struct zsb_listener_state *state = &listeners->items[i];
        for (size_t p = 0; p < state->peer_count; p++)
            (void)close(state->peers[p]);
        zsb_cleanup_fd(&state->fd);
        zsb_buf_clear(&state->data);
    }
    zsb_listeners_init(listeners);
}
