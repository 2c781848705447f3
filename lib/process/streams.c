/* SPDX-License-Identifier: MIT
 *
 * Standard streams. Pipes, terminals and the null device may enter a sandbox. Anything else on 0, 1 or 2 is
 * relayed through a pipe: a regular file could be reopened or mapped, a directory walked, a socket spoken to
 * elsewhere, a device opened for more.
 */
#include "lib/process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { DEFAULT_CAPTURE_BYTES = 1 << 20 };

int zsb_open_null(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3)) {
        (void)close(fd);
        return -ENXIO;
    }
    return fd;
}

static bool may_enter(int fd, const struct stat *st)
{
    if (S_ISFIFO(st->st_mode))
        return true;
    return S_ISCHR(st->st_mode) && (st->st_rdev == makedev(1, 3) || isatty(fd));
}

static int io_error(struct zsb_error *err, int sys_errno, const char *what)
{
    return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, sys_errno, "%s", what);
}

static int open_pipe(struct zsb_stream *stream, struct zsb_error *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return io_error(err, errno, "pipe");
    stream->child_fd = fds[stream->input ? 0 : 1];
    stream->child_fd_owned = true;
    stream->pipe_fd = fds[stream->input ? 1 : 0];
    int rc = zsb_set_nonblock(stream->pipe_fd, true);
    return rc == 0 ? 0 : io_error(err, -rc, "pipe");
}

static int open_null_stream(struct zsb_stream *stream, struct zsb_error *err)
{
    int fd = zsb_open_null();
    if (fd < 0)
        return io_error(err, -fd, "/dev/null");
    stream->child_fd = fd;
    stream->child_fd_owned = true;
    return 0;
}

/* 2>&1: one pipe for both keeps the order of what is written. */
static bool share_with(struct zsb_stream *stream, struct zsb_stream *other, int fd, const struct stat *st)
{
    struct stat other_st;
    if (other->pipe_fd < 0 || other->capture || other->peer_fd < 0 || fstat(other->peer_fd, &other_st) < 0 ||
        other_st.st_dev != st->st_dev || other_st.st_ino != st->st_ino)
        return false;
    if ((fcntl(fd, F_GETFL) & O_APPEND) != (fcntl(other->peer_fd, F_GETFL) & O_APPEND))
        return false;
    stream->child_fd = other->child_fd;
    return true;
}

static int open_inherited(struct zsb_stream streams[3], int index, int fd, struct zsb_error *err)
{
    struct zsb_stream *stream = &streams[index];
    struct stat st;
    if (fcntl(fd, F_GETFD) < 0)
        return open_null_stream(stream, err); /* the caller runs without it */
    if (fstat(fd, &st) < 0)
        return io_error(err, errno, "standard stream");
    if (may_enter(fd, &st)) {
        stream->child_fd = fd;
        return 0;
    }
    if (index == 2 && share_with(stream, &streams[1], fd, &st))
        return 0;
    stream->peer_fd = fd;
    stream->peer_is_socket = S_ISSOCK(st.st_mode);
    stream->peer_polls = !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISBLK(st.st_mode);
    return open_pipe(stream, err);
}

int zsb_streams_open(struct zsb_stream streams[3], const struct zsb_run_options *options,
                     struct zsb_error *err)
{
    for (int i = 0; i < 3; i++)
        streams[i] = (struct zsb_stream){.child_fd = -1, .pipe_fd = -1, .peer_fd = -1, .input = i == 0};
    for (int i = 0; i < 3; i++) {
        struct zsb_stream *stream = &streams[i];
        int rc = 0;
        switch (options->stdio[i]) {
        case ZSB_STDIO_INHERIT:
            rc = open_inherited(streams, i, options->stdio_fds[i] >= 0 ? options->stdio_fds[i] : i, err);
            break;
        case ZSB_STDIO_NULL:
            rc = open_null_stream(stream, err);
            break;
        case ZSB_STDIO_CAPTURE:
            if (i == 0)
                return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_SPAWN, 0,
                                     "standard input cannot be captured");
            stream->capture = true;
            stream->capture_max_bytes =
                options->capture_max_bytes > 0 ? options->capture_max_bytes : DEFAULT_CAPTURE_BYTES;
            rc = open_pipe(stream, err);
            break;
        }
        if (rc != 0)
            return rc;
    }
    return 0;
}

void zsb_streams_started(struct zsb_stream streams[3])
{
    for (int i = 0; i < 3; i++) {
        if (streams[i].child_fd_owned)
            zsb_cleanup_fd(&streams[i].child_fd);
        streams[i].child_fd = -1;
        streams[i].child_fd_owned = false;
    }
}

void zsb_streams_close(struct zsb_stream streams[3])
{
    zsb_streams_started(streams);
    for (int i = 0; i < 3; i++) {
        zsb_cleanup_fd(&streams[i].pipe_fd);
        streams[i].pipe_fd = -1;
        zsb_buf_clear(&streams[i].captured);
    }
}

static bool chunk_empty(const struct zsb_stream *stream)
{
    return stream->chunk_begin == stream->chunk_end;
}

size_t zsb_streams_poll(struct zsb_stream streams[3], struct pollfd *fds)
{
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        const struct zsb_stream *stream = &streams[i];
        bool empty = chunk_empty(stream);
        if (stream->pipe_fd < 0 && empty)
            continue;
        if (stream->input) {
            /* POLLERR on the pipe says that the command closed its input; watched always. */
            fds[count++] = (struct pollfd){.fd = stream->pipe_fd, .events = (short)(empty ? 0 : POLLOUT)};
            if (empty && !stream->source_ended)
                fds[count++] = (struct pollfd){.fd = stream->peer_fd, .events = POLLIN};
        } else if (!empty) {
            fds[count++] = (struct pollfd){.fd = stream->peer_fd, .events = POLLOUT};
        } else {
            fds[count++] = (struct pollfd){.fd = stream->pipe_fd, .events = POLLIN};
        }
    }
    return count;
}

static bool ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    return poll(&one, 1, 0) > 0;
}

static bool transient(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void end_input(struct zsb_stream *stream)
{
    zsb_cleanup_fd(&stream->pipe_fd);
    stream->pipe_fd = -1;
    stream->chunk_begin = stream->chunk_end = 0;
}

static void move_input(struct zsb_stream *stream)
{
    if (stream->pipe_fd < 0)
        return;
    struct pollfd closed = {.fd = stream->pipe_fd};
    if (poll(&closed, 1, 0) > 0 && (closed.revents & POLLERR) != 0) {
        end_input(stream);
        return;
    }
    if (chunk_empty(stream) && !stream->source_ended &&
        (!stream->peer_polls || ready(stream->peer_fd, POLLIN))) {
        ssize_t n = read(stream->peer_fd, stream->chunk, sizeof(stream->chunk));
        if (n > 0) {
            stream->chunk_begin = 0;
            stream->chunk_end = (size_t)n;
        } else if (!transient(n)) {
            stream->source_ended = true; /* a directory answers EISDIR: no input */
        }
    }
    if (!chunk_empty(stream)) {
        ssize_t n = write(stream->pipe_fd, stream->chunk + stream->chunk_begin,
                          stream->chunk_end - stream->chunk_begin);
        if (n > 0)
            stream->chunk_begin += (size_t)n;
        else if (!transient(n))
            end_input(stream);
    }
    if (stream->source_ended && chunk_empty(stream))
        end_input(stream);
}

static void keep_captured(struct zsb_stream *stream)
{
    size_t n = stream->chunk_end;
    uint64_t room = stream->capture_max_bytes - stream->captured.size_bytes;
    if (n > room) {
        n = (size_t)room;
        stream->truncated = true;
    }
    zsb_buf_append(&stream->captured, stream->chunk, n);
    stream->chunk_begin = stream->chunk_end = 0;
}

static void write_out(struct zsb_stream *stream)
{
    if (chunk_empty(stream) || (stream->peer_polls && !ready(stream->peer_fd, POLLOUT)))
        return;
    const char *data = stream->chunk + stream->chunk_begin;
    size_t size = stream->chunk_end - stream->chunk_begin;
    ssize_t n = stream->peer_is_socket ? send(stream->peer_fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                       : write(stream->peer_fd, data, size);
    if (n > 0)
        stream->chunk_begin += (size_t)n;
    else if (!transient(n))
        stream->chunk_begin =
            stream->chunk_end; /* the target is full or gone: what a command would see, too */
}

static void move_output(struct zsb_stream *stream)
{
    write_out(stream);
    if (stream->pipe_fd < 0 || !chunk_empty(stream))
        return;
    ssize_t n = read(stream->pipe_fd, stream->chunk, sizeof(stream->chunk));
    if (n > 0) {
        stream->bytes += n;
        stream->chunk_begin = 0;
        stream->chunk_end = (size_t)n;
        if (stream->capture)
            keep_captured(stream);
        else
            write_out(stream);
    } else if (!transient(n)) {
        zsb_cleanup_fd(&stream->pipe_fd);
        stream->pipe_fd = -1;
    }
}

void zsb_streams_move(struct zsb_stream streams[3])
{
    move_input(&streams[0]);
    move_output(&streams[1]);
    move_output(&streams[2]);
}

bool zsb_streams_outputs_done(const struct zsb_stream streams[3])
{
    return streams[1].pipe_fd < 0 && streams[2].pipe_fd < 0 && chunk_empty(&streams[1]) &&
           chunk_empty(&streams[2]);
}

void zsb_streams_stop_input(struct zsb_stream streams[3])
{
    end_input(&streams[0]);
}
