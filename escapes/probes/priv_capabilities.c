/* SPDX-License-Identifier: MIT
 *
 * Does a command hold any capability, may it gain privileges by exec, or run without a system call filter?
 * The witness reads the three from outside; the attempts make use of what there is.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The host's own confinement (a container's filter, say) already shows what is asked about: nothing to
 * compare. */
static const int absent_already[] = {EALREADY, 0};
static const int deny[] = {EPERM, EACCES, EINVAL, EALREADY, ENOSYS, 0};

static bool holds_any(const struct __user_cap_data_struct data[2])
{
    return (data[0].effective | data[0].permitted | data[0].inheritable | data[1].effective |
            data[1].permitted | data[1].inheritable) != 0;
}

/* Raises everything that is permitted; what only stands in the bounding set comes back with a set-user-ID
 * program. */
static int capabilities(struct zsb_ctx *ctx)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[2];
    (void)ctx;
    memset(data, 0, sizeof(data));
    if (syscall(SYS_capget, &header, data) < 0)
        return errno;
    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted;
    if (syscall(SYS_capset, &header, data) < 0)
        return errno;
    for (unsigned long capability = 0; capability <= CAP_LAST_CAP; capability++)
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1)
            return 0;
    return holds_any(data) ? 0 : EALREADY;
}

static int no_new_privs(struct zsb_ctx *ctx)
{
    (void)ctx;
    int set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    return set < 0 ? errno : set == 1 ? EALREADY : 0;
}

static int seccomp(struct zsb_ctx *ctx)
{
    (void)ctx;
    int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    return mode < 0 ? errno : mode != 0 ? EALREADY : 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "capabilities",
     .witness = ZSB_WITNESS_PRIVILEGE,
     .target = "capabilities",
     .run = capabilities,
     .effect_only = true,
     .absent_errnos = absent_already},
    {.name = "no-new-privs",
     .witness = ZSB_WITNESS_PRIVILEGE,
     .target = "no-new-privs",
     .run = no_new_privs,
     .effect_only = true,
     .absent_errnos = absent_already},
    {.name = "seccomp",
     .witness = ZSB_WITNESS_PRIVILEGE,
     .target = "seccomp",
     .run = seccomp,
     .effect_only = true,
     .absent_errnos = absent_already},
};

const struct zsb_probe zsb_probe_priv_capabilities = {
    .id = "priv.capabilities",
    .claim =
        "A command holds no capability, cannot gain privileges by exec, and runs under a system call filter.",
    .boundary = "privilege",
    .refs = "capabilities(7), PR_SET_NO_NEW_PRIVS(2const), seccomp(2), proc_pid_status(5)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_child,
    .benign_claim = "starts a child of its own and waits for it",
    ZSB_KIT_ATTEMPTS(attempts),
};
