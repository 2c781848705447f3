/* SPDX-License-Identifier: MIT
 *
 * Parts of one running command: standard streams (streams.c), keeper of missing names (keeper.c), the loop
 * (process.c).
 */
#ifndef ZSB_PROCESS_INTERNAL_H
#define ZSB_PROCESS_INTERNAL_H

#include "lib/command/prepared_internal.h"

#include <zuno/process.h>

#include <poll.h>

/* One standard stream of the command. */
struct zsb_stream {
    int child_fd; /* what the command gets; closed after the start */
    bool child_fd_owned;
    int pipe_fd; /* our end of a pipe, or -1 when the descriptor itself enters */
    int peer_fd; /* relay: the caller's descriptor, borrowed */
    bool input;  /* we write into pipe_fd */
    bool peer_is_socket;
    bool peer_polls; /* the peer can block (not a regular file) */
    struct zsb_buf captured;
    bool capture;
    bool truncated;
    uint64_t capture_max_bytes;
    char chunk[16384]; /* input read from the peer and not yet written, or output not yet written to the peer
                        */
    size_t chunk_begin, chunk_end;
    bool source_ended;
    int64_t bytes;
};

int zsb_streams_open(struct zsb_stream streams[3], const struct zsb_run_options *options,
                     struct zsb_error *err);
void zsb_streams_close(struct zsb_stream streams[3]);
/* After the start: the command's ends are its own now. */
void zsb_streams_started(struct zsb_stream streams[3]);
/* Adds what the streams wait for to fds (room for 6); returns how many. */
size_t zsb_streams_poll(struct zsb_stream streams[3], struct pollfd *fds);
/* Moves what can be moved without blocking. */
void zsb_streams_move(struct zsb_stream streams[3]);
/* True when every output reached its end and nothing is left to write out. */
bool zsb_streams_outputs_done(const struct zsb_stream streams[3]);
void zsb_streams_stop_input(struct zsb_stream streams[3]);

struct zsb_keeper {
    int pid_fd;    /* -1: none needed */
    int helper_fd; /* the end that the helper inherits; closed after the start */
    bool *held;    /* by index of prepared->held: false where nobody could create the name anyway */
};

int zsb_keeper_start(struct zsb_keeper *keeper, const struct zsb_prepared *prepared, struct zsb_error *err);
/* The keeper died while the sandbox lives: another one takes over its stubs and watches sandbox_pid_fd. */
void zsb_keeper_revive(struct zsb_keeper *keeper, const struct zsb_prepared *prepared, int sandbox_pid_fd);
/* Waits for the stubs to be gone; when the keeper was killed, another one sweeps. True when all is clean. */
bool zsb_keeper_finish(struct zsb_keeper *keeper, const struct zsb_prepared *prepared);
void zsb_keeper_clear(struct zsb_keeper *keeper);

/* A read-write /dev/null, close-on-exec, or -errno. */
int zsb_open_null(void);

#endif
