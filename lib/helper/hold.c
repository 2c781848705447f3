/* SPDX-License-Identifier: MIT
 *
 * Keeper of missing protected names. A mount point must exist in the filesystem, so the name is held by a
 * stub directory while a sandbox runs. The keeper outlives every other process of ours except the sandbox's
 * PID 1, whose pidfd tells it when the stubs may go. Parallel sandboxes share a stub through a lock: shared
 * while in use, exclusive to remove. The lock is a file where no sandbox can reach it, since each has a
 * /dev/shm and /tmp of its own; a lock on the stub itself could be taken by any sandbox of this uid that sees
 * it.
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

enum { ATTEMPTS = 400, ATTEMPT_WAIT_MS = 5, ANNOUNCE_MAX_MS = 60000 };

/* Both are private in every sandbox. */
static const char *const lock_parents[] = {"/dev/shm", "/tmp"};

struct held_name {
    int dir_fd;
    const char *name;
    char lock_name[ZSB_STUB_LOCK_NAME_SIZE];
    int lock_fd; /* -1: none */
    bool held;   /* false with a lock: nobody of this uid can create the name */
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

static int open_lock_directory(void)
{
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < ZSB_ARRAY_SIZE(lock_parents); i++)
        fd = open(lock_parents[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* 1: shared lock taken; 0: try again; -1: failed with errno. */
static int try_lock(struct held_name *held, int lock_dir_fd)
{
    ZSB_AUTO_FD int fd =
        openat(lock_dir_fd, held->lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (st.st_uid != geteuid() || !S_ISREG(st.st_mode)) {
        errno = EPERM; /* somebody else sits on the name */
        return -1;
    }
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    if (!same_inode(lock_dir_fd, held->lock_name, fd))
        return 0; /* the last user removed it meanwhile */
    held->lock_fd = zsb_steal_fd(&fd);
    return 1;
}

static int lock(struct held_name *held, int lock_dir_fd)
{
    struct stat st;
    if (fstat(held->dir_fd, &st) < 0)
        return -errno;
    zsb_stub_lock_name(&st, held->name, held->lock_name);
    for (int i = 0; i < ATTEMPTS; i++) {
        int locked = try_lock(held, lock_dir_fd);
        if (locked != 0)
            return locked < 0 ? -errno : 0;
        pause_ms(ATTEMPT_WAIT_MS);
    }
    return -EBUSY;
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

static int is_our_stub(const struct held_name *held)
{
    ZSB_AUTO_FD int fd = openat(held->dir_fd, held->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    return zsb_is_stub(fd, &st) ? 0 : -EEXIST;
}

static int hold(struct held_name *held, int lock_dir_fd)
{
    int rc = lock(held, lock_dir_fd);
    if (rc != 0)
        return rc;
    if (mkdirat(held->dir_fd, held->name, ZSB_STUB_MODE) < 0 && errno != EEXIST)
        return cannot_be_created(held, errno) ? 0 : -errno;
    rc = is_our_stub(held);
    held->held = rc == 0;
    return rc;
}

static void remove_stub(const struct held_name *held)
{
    ZSB_AUTO_FD int fd = openat(held->dir_fd, held->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & 07777) != ZSB_STUB_MODE || st.st_uid != geteuid())
        return;
    if (unlinkat(held->dir_fd, held->name, AT_REMOVEDIR) < 0 && errno == ENOTEMPTY)
        (void)fchmod(fd, 0755); /* somebody outside filled it: it is theirs now */
}

static void release(struct held_name *held, int lock_dir_fd)
{
    if (held->lock_fd < 0)
        return;
    /* Turning shared into exclusive lets go in between, so of all sharers the last one to try succeeds. */
    if (flock(held->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        if (held->held)
            remove_stub(held);
        (void)unlinkat(lock_dir_fd, held->lock_name, 0);
    }
    (void)close(zsb_steal_fd(&held->lock_fd));
}

/* The helper announces itself or nobody is left who could. A launcher stuck half-way without a caller (both
 * were killed) would hold the socket for ever, hence the limit; a helper that came later could not announce
 * itself and would refuse to start anything. */
static int await_announcement(int socket_fd)
{
    char text[ZSB_WIRE_MAX];
    int64_t until_us = zsb_now_us() + (int64_t)ANNOUNCE_MAX_MS * 1000;
    for (;;) {
        struct pollfd wait = {.fd = socket_fd, .events = POLLIN};
        int64_t left_ms = (until_us - zsb_now_us()) / 1000;
        int n = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        int pid_fd = -1;
        if (n <= 0 || zsb_wire_receive(socket_fd, text, &pid_fd) <= 0)
            return -1;
        if (pid_fd >= 0)
            return pid_fd;
    }
}

/* Until the sandbox's first process is gone, or it is certain that there will be none. */
static void wait_for_sandbox(int socket_fd)
{
    ZSB_AUTO_FD int pid_fd = await_announcement(socket_fd);
    (void)close(socket_fd);
    struct pollfd wait = {.fd = pid_fd, .events = POLLIN};
    while (pid_fd >= 0 && poll(&wait, 1, -1) < 0 && errno == EINTR)
        continue;
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
static int hold_all(struct held_name *names, int count, int lock_dir_fd, int socket_fd)
{
    ZSB_AUTO_BUF states = ZSB_BUF_INIT;
    for (int i = 0; i < count; i++) {
        int rc = lock_dir_fd < 0 ? lock_dir_fd : hold(&names[i], lock_dir_fd);
        if (rc != 0) {
            char text[ZSB_WIRE_MAX];
            (void)snprintf(text, sizeof(text), "%s %d %d %d %.200s", ZSB_WIRE_FAILED, (int)ZSB_STAGE_SPAWN,
                           (int)ZSB_E_INVALID_PATH, -rc, names[i].name);
            (void)zsb_wire_send(socket_fd, text, -1);
            return -1;
        }
        zsb_buf_addc(&states, names[i].held ? 'h' : 's');
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
    ZSB_AUTO_FD int lock_dir_fd = open_lock_directory();
    int rc = hold_all(names, count, lock_dir_fd, (int)socket_fd);
    if (rc == 0)
        wait_for_sandbox((int)socket_fd);
    for (int i = count - 1; i >= 0; i--)
        release(&names[i], lock_dir_fd);
    return rc == 0 ? 0 : ZSB_HELPER_EXIT_FAILED;
}
