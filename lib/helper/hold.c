/* SPDX-License-Identifier: MIT
 *
 * Keeper of missing protected names. A mount point must exist in the filesystem, so the name is held by a
 * stub directory while a sandbox runs. The keeper outlives every other process of ours except the sandbox's
 * PID 1, whose pidfd tells it when the stubs may go. Stubs are shared by parallel sandboxes through flock:
 * shared while in use, exclusive to remove.
 */
#include "lib/helper/helper.h"
#include "lib/util/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 400, ATTEMPT_WAIT_MS = 5 };

struct held_name {
    int dir_fd;
    const char *name;
    int lock_fd; /* -1: not held, because nobody of this uid can create it */
};

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

static bool same_inode(int dir_fd, const char *name, int fd)
{
    struct stat by_name;
    struct stat by_fd;
    return fstatat(dir_fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &by_fd) == 0 &&
           by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

/* Without write access to the directory the command, same uid and no capabilities, cannot create the name
 * either; unless it owns the directory and could grant itself that access. */
static bool cannot_be_created(const struct held_name *held, int mkdir_errno)
{
    struct stat st;
    if (mkdir_errno == EROFS)
        return true;
    return (mkdir_errno == EACCES || mkdir_errno == EPERM) && fstat(held->dir_fd, &st) == 0 &&
           st.st_uid != geteuid();
}

/* 1: held or not needed; 0: try again; -1: failed with errno. */
static int try_hold(struct held_name *held)
{
    if (mkdirat(held->dir_fd, held->name, ZSB_STUB_MODE) < 0 && errno != EEXIST)
        return cannot_be_created(held, errno) ? 1 : -1;
    ZSB_AUTO_FD int fd = openat(held->dir_fd, held->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    struct stat st;
    if (!same_inode(held->dir_fd, held->name, fd) || fstat(fd, &st) < 0)
        return 0;
    if (!zsb_is_stub(fd, &st)) {
        errno = EEXIST;
        return -1;
    }
    held->lock_fd = zsb_steal_fd(&fd);
    return 1;
}

static int hold(struct held_name *held)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        int rc = try_hold(held);
        if (rc != 0)
            return rc < 0 ? -errno : 0;
        pause_ms(ATTEMPT_WAIT_MS);
    }
    return -EBUSY;
}

static void release(struct held_name *held)
{
    if (held->lock_fd < 0)
        return;
    (void)close(zsb_steal_fd(&held->lock_fd));
    ZSB_AUTO_FD int fd = openat(held->dir_fd, held->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    /* Whoever still shares the lock removes it later. */
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !same_inode(held->dir_fd, held->name, fd) ||
        fstat(fd, &st) < 0)
        return;
    if ((st.st_mode & 07777) != ZSB_STUB_MODE || st.st_uid != geteuid())
        return;
    if (unlinkat(held->dir_fd, held->name, AT_REMOVEDIR) < 0 && errno == ENOTEMPTY)
        (void)fchmod(fd, 0755); /* somebody outside filled it: it is theirs now */
}

/* Until the sandbox's first process is gone, or it is certain that there will be none. */
static void wait_for_sandbox(int socket_fd)
{
    char text[ZSB_WIRE_MAX];
    for (;;) {
        ZSB_AUTO_FD int pid_fd = -1;
        int n = zsb_wire_receive(socket_fd, text, &pid_fd);
        if (n <= 0)
            return;
        if (pid_fd < 0)
            continue;
        struct pollfd wait = {.fd = pid_fd, .events = POLLIN};
        while (poll(&wait, 1, -1) < 0 && errno == EINTR)
            continue;
        return;
    }
}

static bool parse_names(int argc, char **argv, struct held_name *names)
{
    for (int i = 0; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        uint64_t fd = 0;
        if (colon == NULL || colon[1] == '\0' || strchr(colon + 1, '/') != NULL)
            return false;
        *colon = '\0';
        if (!zsb_parse_u64(argv[i], INT32_MAX, &fd))
            return false;
        names[i] = (struct held_name){.dir_fd = (int)fd, .name = colon + 1, .lock_fd = -1};
    }
    return true;
}

/* One character a name: 'h' held, 's' skipped; or "failed". */
static int hold_all(struct held_name *names, int count, int socket_fd)
{
    ZSB_AUTO_BUF states = ZSB_BUF_INIT;
    for (int i = 0; i < count; i++) {
        int rc = hold(&names[i]);
        if (rc != 0) {
            char text[ZSB_WIRE_MAX];
            (void)snprintf(text, sizeof(text), "%s %d %d %d %.200s", ZSB_WIRE_FAILED, (int)ZSB_STAGE_SPAWN,
                           (int)ZSB_E_INVALID_PATH, -rc, names[i].name);
            (void)zsb_wire_send(socket_fd, text, -1);
            return -1;
        }
        zsb_buf_addc(&states, names[i].lock_fd >= 0 ? 'h' : 's');
    }
    return states.failed || zsb_wire_send(socket_fd, states.data, -1) != 0 ? -1 : 0;
}

static void ignore_signals(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
}

int zsb_helper_hold(int argc, char **argv)
{
    uint64_t socket_fd = 0;
    if (argc < 3 || strcmp(argv[0], "--socket") != 0 || !zsb_parse_u64(argv[1], INT32_MAX, &socket_fd))
        return ZSB_HELPER_EXIT_FAILED;
    int count = argc - 2;
    ZSB_AUTO_FREE struct held_name *names = calloc((size_t)count, sizeof(*names));
    if (names == NULL || !parse_names(count, argv + 2, names))
        return ZSB_HELPER_EXIT_FAILED;
    ignore_signals();
    (void)umask(0);
    int rc = hold_all(names, count, (int)socket_fd);
    if (rc == 0)
        wait_for_sandbox((int)socket_fd);
    for (int i = count - 1; i >= 0; i--)
        release(&names[i]);
    return rc == 0 ? 0 : ZSB_HELPER_EXIT_FAILED;
}
