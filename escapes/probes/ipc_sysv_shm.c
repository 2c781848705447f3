/* SPDX-License-Identifier: MIT
 *
 * Can a command attach a System V shared memory segment that exists outside, read it and write it?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

enum { FLAG_BYTES = 32, WRITE_OFFSET = 64, OWN_BYTES = 4096 };

/* EINVAL, EIDRM: no segment has that number in this namespace. */
static const int deny[] = {EINVAL, EIDRM, EACCES, EPERM, ENOSYS, 0};

static int attach(struct zsb_ctx *ctx, int flags, void (*use)(struct zsb_ctx *ctx, char *segment))
{
    long id = zsb_arg_long(ctx, "shmid");
    if (id < 0)
        return -1;
    char *segment = shmat((int)id, NULL, flags);
    if ((void *)segment == (void *)-1)
        return errno;
    use(ctx, segment);
    return shmdt(segment) < 0 ? errno : 0;
}

static void capture(struct zsb_ctx *ctx, char *segment)
{
    zsb_capture(ctx, segment, FLAG_BYTES);
}

static void plant(struct zsb_ctx *ctx, char *segment)
{
    memcpy(segment + WRITE_OFFSET, zsb_plant(ctx), FLAG_BYTES);
}

static int read_segment(struct zsb_ctx *ctx)
{
    return attach(ctx, SHM_RDONLY, capture);
}

static int write_segment(struct zsb_ctx *ctx)
{
    return attach(ctx, 0, plant);
}

static int benign(struct zsb_ctx *ctx)
{
    (void)ctx;
    int id = shmget(IPC_PRIVATE, OWN_BYTES, IPC_CREAT | 0600);
    if (id < 0)
        return errno;
    char *segment = shmat(id, NULL, 0);
    int error = (void *)segment == (void *)-1 ? errno : 0;
    if (error == 0) {
        segment[0] = 'x';
        (void)shmdt(segment);
    }
    return shmctl(id, IPC_RMID, NULL) < 0 ? errno : error;
}

static const struct zsb_attempt attempts[] = {
    {.name = "read", .witness = ZSB_WITNESS_CAPTURE, .target = "shm", .run = read_segment},
    {.name = "write", .witness = ZSB_WITNESS_SHM, .target = "segment", .run = write_segment},
};

const struct zsb_probe zsb_probe_ipc_sysv_shm = {
    .id = "ipc.sysv-shm",
    .claim = "A command cannot attach shared memory of the outside.",
    .boundary = "ipc",
    .refs = "shmop(2), ipc_namespaces(7)",
    .needs = ZSB_NEED_SHM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "makes, writes and removes a segment of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
