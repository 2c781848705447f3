/* SPDX-License-Identifier: MIT
 *
 * Can a command make sockets and open files through io_uring, whose operations no system call filter sees?
 * One raw ring per attempt, no library. Also with network allowed: what is reached is a unix socket and a
 * file.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_ENTRIES = 4, OPERATION_SOCKET = 45 /* IORING_OP_SOCKET, newer than some headers */ };

struct ring {
    int fd;
    struct io_uring_params params;
    unsigned char *submissions, *completions;
    size_t submissions_bytes, completions_bytes;
    struct io_uring_sqe *entries;
};

static void *map_ring(int fd, size_t size_bytes, uint64_t offset)
{
    return mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

static void ring_close(struct ring *ring)
{
    if (ring->fd >= 0) {
        (void)munmap(ring->submissions, ring->submissions_bytes);
        (void)munmap(ring->completions, ring->completions_bytes);
        (void)munmap(ring->entries, RING_ENTRIES * sizeof(*ring->entries));
        (void)close(ring->fd);
    }
}

static int ring_open(struct ring *ring)
{
    memset(ring, 0, sizeof(*ring));
    ring->fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &ring->params);
    if (ring->fd < 0)
        return errno;
    ring->submissions_bytes = ring->params.sq_off.array + ring->params.sq_entries * sizeof(uint32_t);
    ring->completions_bytes =
        ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
    ring->submissions = map_ring(ring->fd, ring->submissions_bytes, IORING_OFF_SQ_RING);
    ring->completions = map_ring(ring->fd, ring->completions_bytes, IORING_OFF_CQ_RING);
    ring->entries = map_ring(ring->fd, RING_ENTRIES * sizeof(*ring->entries), IORING_OFF_SQES);
    if (ring->submissions != MAP_FAILED && ring->completions != MAP_FAILED &&
        (void *)ring->entries != MAP_FAILED)
        return 0;
    (void)close(ring->fd);
    ring->fd = -1;
    return -1;
}

static uint32_t *word_at(unsigned char *base, uint32_t offset)
{
    return (uint32_t *)(void *)(base + offset);
}

/* Submits one operation and waits for it. The result, or a negative errno. */
static int ring_do(struct ring *ring, const struct io_uring_sqe *operation)
{
    uint32_t *tail = word_at(ring->submissions, ring->params.sq_off.tail);
    uint32_t mask = *word_at(ring->submissions, ring->params.sq_off.ring_mask);
    uint32_t slot = *tail & mask;
    ring->entries[slot] = *operation;
    word_at(ring->submissions, ring->params.sq_off.array)[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
        return -errno;
    uint32_t *head = word_at(ring->completions, ring->params.cq_off.head);
    uint32_t done_mask = *word_at(ring->completions, ring->params.cq_off.ring_mask);
    const struct io_uring_cqe *done =
        (const struct io_uring_cqe *)(const void *)(ring->completions + ring->params.cq_off.cqes);
    int result = done[*head & done_mask].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static int connect_and_send(struct zsb_ctx *ctx, struct ring *ring, int fd)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (zsb_kit_unix_address(zsb_arg(ctx, "unix-stream"), false, &address, &size) < 0)
        return -1;
    struct io_uring_sqe connect = {
        .opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uint64_t)(uintptr_t)&address, .off = size};
    struct io_uring_sqe send = {.opcode = IORING_OP_SEND,
                                .fd = fd,
                                .addr = (uint64_t)(uintptr_t)zsb_plant(ctx),
                                .len = (uint32_t)strlen(zsb_plant(ctx))};
    int rc = ring_do(ring, &connect);
    if (rc >= 0)
        rc = ring_do(ring, &send);
    return rc < 0 ? -rc : 0;
}

static int socket_by_ring(struct zsb_ctx *ctx)
{
    struct ring ring __attribute__((cleanup(ring_close)));
    struct io_uring_sqe make = {.opcode = OPERATION_SOCKET, .fd = AF_UNIX, .off = SOCK_STREAM};
    int error = ring_open(&ring);
    if (error != 0)
        return error;
    ZSB_KIT_FD fd = ring_do(&ring, &make);
    return fd < 0 ? -fd : connect_and_send(ctx, &ring, fd);
}

static int connect_by_ring(struct zsb_ctx *ctx)
{
    struct ring ring __attribute__((cleanup(ring_close)));
    ZSB_KIT_FD fd = -1;
    int error = ring_open(&ring);
    if (error == 0)
        error = zsb_kit_socket(AF_UNIX, SOCK_STREAM, 0, &fd);
    return error != 0 ? error : connect_and_send(ctx, &ring, fd);
}

static int create_by_ring(struct zsb_ctx *ctx)
{
    struct ring ring __attribute__((cleanup(ring_close)));
    struct io_uring_sqe create = {.opcode = IORING_OP_OPENAT,
                                  .fd = AT_FDCWD,
                                  .addr = (uint64_t)(uintptr_t)zsb_path(ctx, "out/uring"),
                                  .len = 0644,
                                  .open_flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC};
    int error = ring_open(&ring);
    if (error != 0)
        return error;
    ZSB_KIT_FD fd = ring_do(&ring, &create);
    return fd < 0 ? -fd : 0;
}

/* Older kernels have rings without this operation. */
static const int absent_operation[] = {EINVAL, EOPNOTSUPP, 0};
static const int deny[] = {EPERM, EACCES, ENOSYS, EROFS, 0};

static const struct zsb_attempt attempts[] = {
    {.name = "socket",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "unix-stream",
     .run = socket_by_ring,
     .absent_errnos = absent_operation},
    {.name = "connect", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-stream", .run = connect_by_ring},
    {.name = "create", .target = "out/uring", .run = create_by_ring},
};

const struct zsb_probe zsb_probe_net_io_uring = {
    .id = "net.io-uring",
    .claim = "A command cannot reach sockets or files through io_uring.",
    .boundary = "network",
    .refs = "io_uring_setup(2), io_uring_enter(2)",
    .needs = ZSB_NEED_LISTENERS | ZSB_NEED_IO_URING,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_socketpair,
    .benign_claim = "talks over a stream socket pair of its own, by plain calls",
    ZSB_KIT_ATTEMPTS(attempts),
};
