/* SPDX-License-Identifier: MIT */
#include "verifier/stage.h"

#include "lib/util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int write_map(const char *path, const char *text)
{
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : zsb_write_all(fd, text, strlen(text));
}

static int enter_namespaces(void)
{
    char uid_map[64], gid_map[64];
    (void)snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned)geteuid());
    (void)snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned)getegid());
    if (geteuid() == 0)
        return unshare(CLONE_NEWNS) < 0 ? -errno : 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -errno;
    int rc = write_map("/proc/self/setgroups", "deny");
    if (rc == 0)
        rc = write_map("/proc/self/uid_map", uid_map);
    return rc != 0 ? rc : write_map("/proc/self/gid_map", gid_map);
}

int zsb_stage_enter(const char *trial_path)
{
    char out[PATH_MAX];
    int n = snprintf(out, sizeof(out), "%s/out", trial_path);
    if (n < 0 || (size_t)n >= sizeof(out))
        return -ENAMETOOLONG;
    int rc = enter_namespaces();
    if (rc != 0)
        return rc;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(out, out, NULL, MS_BIND | MS_REC, NULL) < 0 ||
        mount(NULL, out, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
        return -errno;
    return 0;
}
