/* SPDX-License-Identifier: MIT
 *
 * Can a command copy memory into a process outside?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static int write_memory(struct zsb_ctx *ctx)
{
    char data[64];
    memcpy(data, zsb_plant(ctx), strlen(zsb_plant(ctx)) + 1);
    struct iovec local = {.iov_base = data, .iov_len = strlen(data)};
    struct iovec remote = {.iov_base = (void *)zsb_kit_address(ctx, "victim-write"), .iov_len = strlen(data)};
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    return process_vm_writev(pid, &local, 1, &remote, 1, 0) < 0 ? errno : 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "writev", .witness = ZSB_WITNESS_MEMORY, .target = "victim", .run = write_memory},
};

const struct zsb_probe zsb_probe_proc_vm_writev = {
    .id = "proc.vm-writev",
    .claim = "A command cannot copy memory into a process outside.",
    .boundary = "process",
    .refs = "process_vm_writev(2)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = zsb_kit_benign_memory,
    .benign_claim = "reads its own memory",
    ZSB_KIT_ATTEMPTS(attempts),
};
