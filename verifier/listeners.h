/* SPDX-License-Identifier: MIT
 *
 * Listeners outside the sandbox, on loopback, AF_UNIX and a FIFO. Whatever reaches them is kept: a connection
 * alone is already an escape, and the bytes tell which attempt it was.
 */
#ifndef ZSB_LISTENERS_H
#define ZSB_LISTENERS_H

#include "lib/util/util.h"

#include <stdbool.h>
#include <stddef.h>

enum zsb_listener {
    ZSB_LISTENER_TCP4 = 0,
    ZSB_LISTENER_TCP6,
    ZSB_LISTENER_UDP4,
    ZSB_LISTENER_UDP6,
    ZSB_LISTENER_UNIX_STREAM,
    ZSB_LISTENER_UNIX_DGRAM,
    ZSB_LISTENER_ABSTRACT_STREAM,
    ZSB_LISTENER_ABSTRACT_DGRAM,
    ZSB_LISTENER_FIFO, /* run/fifo, world-writable */
    ZSB_LISTENER_COUNT
};
enum { ZSB_LISTENER_PEERS_MAX = 32 };

struct zsb_listener_state {
    int fd;         /* -1: not there (no IPv6) */
    unsigned port;  /* inet */
    char name[108]; /* unix: path, or abstract name without its NUL */
    int peers[ZSB_LISTENER_PEERS_MAX];
    size_t peer_count;
    size_t peer_bytes[ZSB_LISTENER_PEERS_MAX];
    size_t contacts; /* connections or datagrams */
    size_t empty;    /* datagrams without bytes */
    struct zsb_buf data;
};

struct zsb_listeners {
    struct zsb_listener_state items[ZSB_LISTENER_COUNT];
};

void zsb_listeners_init(struct zsb_listeners *listeners);
/* Opens all of them; pathname sockets are made in run_fd, the directory `run_path`; abstract names end in
 * `unique`. 0 or -errno; a host without IPv6 just lacks the two. */
int zsb_listeners_open(struct zsb_listeners *listeners, int run_fd, const char *run_path, const char *unique);
/* Takes in everything that has arrived. Never blocks. */
void zsb_listeners_pump(struct zsb_listeners *listeners);
/* 1 when somebody was there who said nothing. */
bool zsb_listener_met_silence(const struct zsb_listener_state *state);
void zsb_listeners_close(struct zsb_listeners *listeners);

const char *zsb_listener_name(enum zsb_listener listener); /* "tcp4", ..., as in probe.h */
/* ZSB_LISTENER_COUNT when there is none of that name. */
enum zsb_listener zsb_listener_find(const char *name);

#endif
