/* SPDX-License-Identifier: MIT
 *
 * Can a command copy memory out of a process outside?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <sys/uio.h>

enum { FLAG_BYTES = 32 };

static int read_memory(struct zsb_ctx *ctx)
{
    char data[FLAG_BYTES];
    struct iovec local = {.iov_base = data, .iov_len = sizeof(data)};
    struct iovec remote = {.iov_base = (void *)zsb_kit_address(ctx, "victim-read"), .iov_len = sizeof(data)};
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (n < 0)
        return errno;
    zsb_capture(ctx, data, (size_t)n);
    return 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "readv", .witness = ZSB_WITNESS_CAPTURE, .target = "memory", .run = read_memory},
};

const struct zsb_probe zsb_probe_proc_vm_readv = {
    .id = "proc.vm-readv",
    .claim = "A command cannot copy memory out of a process outside.",
    .boundary = "process",
    .refs = "process_vm_readv(2)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = zsb_kit_benign_memory,
    .benign_claim = "reads its own memory",
    ZSB_KIT_ATTEMPTS(attempts),
};
