/* SPDX-License-Identifier: MIT
 *
 * Which kernel facility does this host refuse? Tried one by one in this throw-away process, by errno and
 * never by a launcher's text.
 */
#include "lib/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int put(const char *path, const char *text)
{
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : zsb_write_all(fd, text, strlen(text));
}

static uid_t outer_uid;
static gid_t outer_gid;

static int try_user(void)
{
    outer_uid = geteuid();
    outer_gid = getegid();
    return unshare(CLONE_NEWUSER) == 0 ? 0 : -errno;
}

static int try_maps(void)
{
    char map[64];
    int rc = put("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "%u %u 1", outer_uid, outer_uid);
    if (rc == 0)
        rc = put("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "%u %u 1", outer_gid, outer_gid);
    return rc != 0 ? rc : put("/proc/self/gid_map", map);
}

static int try_mount(void)
{
    if (unshare(CLONE_NEWNS) != 0)
        return -errno;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : -errno;
}

static int try_ipc(void)
{
    return unshare(CLONE_NEWIPC | CLONE_NEWUTS) == 0 ? 0 : -errno;
}

static int try_pid(void)
{
    return unshare(CLONE_NEWPID) == 0 ? 0 : -errno;
}

static int try_proc(void)
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        _exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ? 0 : errno);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -ECHILD;
    return -WEXITSTATUS(status);
}

static int try_network(void)
{
    return unshare(CLONE_NEWNET) == 0 ? 0 : -errno;
}

static int try_loopback(void)
{
    ZSB_AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return -errno;
    request.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0 ? 0 : -errno;
}

static const struct facility {
    const char *name;
    int (*attempt)(void);
    bool network;
} facilities[] = {
    {"user_namespace", try_user, false},      {"uid_map", try_maps, false},
    {"mount_namespace", try_mount, false},    {"ipc_namespace", try_ipc, false},
    {"pid_namespace", try_pid, false},        {"procfs_mount", try_proc, false},
    {"network_namespace", try_network, true}, {"loopback", try_loopback, true},
};

/* Prints "NAME ERRNO" of the first refusal, or "ok 0". */
int zsb_helper_diagnose(const char *verb)
{
    bool network = strcmp(verb, "deny") == 0;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(facilities); i++) {
        if (facilities[i].network && !network)
            continue;
        int rc = facilities[i].attempt();
        if (rc != 0) {
            (void)dprintf(STDOUT_FILENO, "%s %d\n", facilities[i].name, -rc);
            return 1;
        }
    }
    (void)dprintf(STDOUT_FILENO, "ok 0\n");
    return 0;
}
