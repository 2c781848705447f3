/* SPDX-License-Identifier: MIT
 *
 * Can a command open a performance event? The interface has a long record of kernel holes, and it looks at
 * other processes. The event is a software one of the process itself, and is held.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int absent_perf[] = {ENOSYS, ENOENT, EACCES, EPERM, EOPNOTSUPP, 0};

/* Left open on purpose. */
static int hold_event(struct zsb_ctx *ctx)
{
    struct perf_event_attr attr;
    (void)ctx;
    memset(&attr, 0, sizeof(attr));
    attr.type = PERF_TYPE_SOFTWARE;
    attr.size = sizeof(attr);
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0 ? errno : 0;
}

static int benign(struct zsb_ctx *ctx)
{
    struct rusage usage;
    (void)ctx;
    return getrusage(RUSAGE_SELF, &usage) < 0 ? errno : 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "software-event",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "anon_inode:[perf_event]",
     .run = hold_event,
     .absent_errnos = absent_perf},
};

const struct zsb_probe zsb_probe_priv_perf_event = {
    .id = "priv.perf-event",
    .claim = "A command cannot open performance events.",
    .boundary = "privilege",
    .refs = "perf_event_open(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_syscall,
    .benign = benign,
    .benign_claim = "asks for its own resource usage",
    ZSB_KIT_ATTEMPTS(attempts),
};
