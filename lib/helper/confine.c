/* SPDX-License-Identifier: MIT */
#include "lib/helper/helper.h"
#include "lib/seccomp/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

static int held(struct zsb_error *err, const char *set)
{
    int rc = zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, 0, "capability set \"%s\" is not empty",
                           set);
    return zsb_error_detail(err, rc, set, "capability set is not empty");
}

static bool flag_set(cap_t caps, cap_value_t cap, cap_flag_t flag)
{
    cap_flag_value_t value = CAP_SET;
    return cap_get_flag(caps, cap, flag, &value) != 0 || value == CAP_SET;
}

static void free_caps(cap_t *caps)
{
    if (*caps != NULL)
        (void)cap_free(*caps);
}

int zsb_helper_check_capabilities(struct zsb_error *err)
{
    ZSB_AUTO(free_caps) cap_t caps = cap_get_proc();
    if (caps == NULL)
        return zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, errno, "capabilities cannot be read");
    for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
        if (flag_set(caps, cap, CAP_EFFECTIVE))
            return held(err, "effective");
        if (flag_set(caps, cap, CAP_PERMITTED))
            return held(err, "permitted");
        if (flag_set(caps, cap, CAP_INHERITABLE))
            return held(err, "inheritable");
        if (cap_get_bound(cap) != 0)
            return held(err, "bounding");
        if (cap_get_ambient(cap) != 0)
            return held(err, "ambient");
    }
    return 0;
}

int zsb_helper_confine(enum zsb_network network, struct zsb_error *err)
{
    int rc = zsb_helper_check_capabilities(err);
    if (rc != 0)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, errno, "NoNewPrivs cannot be set");
    struct zsb_filter_program filter = zsb_filter_builtin(network);
    /* The kernel does not write through the pointer; struct sock_fprog merely lacks the const. */
    struct sock_fprog program = {.len = filter.length,
                                 .filter = (struct sock_filter *)(uintptr_t)filter.instructions};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return zsb_error_set(err, ZSB_E_SECCOMP, ZSB_STAGE_CONFINE, errno,
                             "the syscall filter cannot be installed");
    return 0;
}

int zsb_helper_become(const char *verb, char **argv)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    enum zsb_network network = ZSB_NETWORK_DENIED;
    if (zsb_network_parse_option(verb, &network) != 0 || close_range(3, ~0U, 0) != 0 ||
        zsb_helper_confine(network, &err) != 0) {
        (void)dprintf(STDERR_FILENO, "zuno-sandbox-helper: %s\n",
                      err.code != ZSB_OK ? err.msg : "cannot confine");
        return ZSB_HELPER_EXIT_FAILED;
    }
    (void)execvp(argv[0], argv);
    int saved_errno = errno;
    (void)dprintf(STDERR_FILENO, "zuno-sandbox-helper: %s: %s\n", argv[0], strerror(saved_errno));
    return saved_errno == ENOENT ? ZSB_HELPER_EXIT_NOT_FOUND : ZSB_HELPER_EXIT_NOT_EXECUTABLE;
}
