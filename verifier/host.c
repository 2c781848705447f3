/* SPDX-License-Identifier: MIT */
#include "verifier/host.h"

#include "lib/util/util.h"
#include "verifier/child.h"
#include "verifier/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_ERRNO_MAX = 200 };

/* Runs one step in a child. Returns its errno (0: it worked), or minus the signal that ended it. */
static int try(int (*step)(void))
{
    pid_t pid = zsb_child_fork();
    if (pid == 0) {
        int error = step();
        zsb_child_leave(error <= CHILD_ERRNO_MAX ? error : CHILD_ERRNO_MAX);
    }
    int status = 0;
    if (pid < 0)
        return errno;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int try_ia32(void)
{
#if defined(__x86_64__)
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core); /* on a kernel without it, this ends in SIGSEGV */
    (void)signal(SIGSEGV, SIG_DFL);
    long result = 20; /* getpid of the i386 table */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "cc", "r8", "r9", "r10", "r11");
    return result == getpid() ? 0 : ENOSYS;
#else
    return ENOSYS;
#endif
}

static int try_io_uring(void)
{
    unsigned char params[120] = {0}; /* struct io_uring_params */
    return syscall(SYS_io_uring_setup, 1U, params) < 0 ? errno : 0;
}

static int try_tiocsti(void)
{
    struct zsb_terminal terminal;
    zsb_terminal_init(&terminal);
    int waiting = 0;
    int rc = zsb_terminal_open(&terminal);
    if (rc == 0)
        rc = zsb_terminal_take_session(terminal.slave);
    if (rc == 0 && ioctl(terminal.slave, TIOCSTI, "x") < 0)
        rc = -errno;
    if (rc == 0 && (ioctl(terminal.slave, FIONREAD, &waiting) < 0 || waiting != 1))
        rc = -EIO;
    return -rc;
}

static int write_text(const char *path, const char *text)
{
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? errno : -zsb_write_all(fd, text, strlen(text));
}

/* Creating one is not enough: AppArmor lets it be made and then refuses everything in it. */
static int try_userns(void)
{
    char map[64];
    (void)snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return errno;
    int error = write_text("/proc/self/setgroups", "deny");
    if (error == 0)
        error = write_text("/proc/self/uid_map", map);
    if (error == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        error = errno;
    return error;
}

static int try_pidfd_getfd(void)
{
    int ends[2];
    int self = zsb_pidfd_open(getpid());
    if (self < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    return syscall(SYS_pidfd_getfd, self, ends[0], 0U) < 0 ? errno : 0;
}

static int try_ipv6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    ZSB_AUTO_FD int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? errno : 0;
}

static char *evidence(const char *what, int result)
{
    if (result == 0)
        return zsb_strdupf("%s works", what);
    if (result < 0)
        return zsb_strdupf("%s ends in signal %d", what, -result);
    return zsb_strdupf("%s answers %s", what,
                       strerrorname_np(result) != NULL ? strerrorname_np(result) : "an error");
}

static char *read_os_name(void)
{
    char *text = NULL;
    if (zsb_read_file_at(AT_FDCWD, "/etc/os-release", 1 << 16, &text, NULL) != 0)
        return strdup("");
    ZSB_AUTO_FREE char *owned = text;
    for (char *line = strtok(owned, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "PRETTY_NAME=", 12) != 0)
            continue;
        line += 12;
        size_t quote = *line == '"' || *line == '\'' ? 1 : 0;
        size_t size = strlen(line);
        return size >= 2 * quote && zsb_is_utf8(line) ? strndup(line + quote, size - 2 * quote) : strdup("");
    }
    return strdup("");
}

static bool is_complete(const struct zsb_host_facts *facts)
{
    return facts->kernel != NULL && facts->architecture != NULL && facts->os != NULL &&
           facts->ia32_evidence != NULL && facts->io_uring_evidence != NULL &&
           facts->tiocsti_evidence != NULL && facts->userns_evidence != NULL &&
           facts->pidfd_getfd_evidence != NULL;
}

int zsb_host_examine(struct zsb_host_facts *out_facts)
{
    struct zsb_host_facts facts = {0};
    struct utsname name;
    if (uname(&name) < 0)
        return -errno;
    int ia32 = try(try_ia32), io_uring = try(try_io_uring), tiocsti = try(try_tiocsti),
        userns = try(try_userns), pidfd_getfd = try(try_pidfd_getfd);
    facts.kernel = strdup(name.release);
    facts.architecture = strdup(name.machine);
    facts.os = read_os_name();
    facts.uid = (unsigned)geteuid();
    facts.ia32 = ia32 == 0;
    facts.io_uring = io_uring == 0;
    facts.tiocsti = tiocsti == 0;
    facts.userns = userns == 0;
    facts.pidfd_getfd = pidfd_getfd == 0;
    facts.ipv6 = try(try_ipv6) == 0;
    facts.ia32_evidence = evidence("a 32-bit system call (int 0x80)", ia32);
    facts.io_uring_evidence = evidence("io_uring_setup", io_uring);
    facts.tiocsti_evidence = evidence("TIOCSTI on a terminal of one's own", tiocsti);
    facts.userns_evidence = evidence("a user namespace of one's own", userns);
    facts.pidfd_getfd_evidence = evidence("pidfd_getfd on oneself", pidfd_getfd);
    if (!is_complete(&facts)) {
        zsb_host_clear(&facts);
        return -ENOMEM;
    }
    *out_facts = facts;
    return 0;
}

void zsb_host_clear(struct zsb_host_facts *facts)
{
    free(facts->kernel);
    free(facts->architecture);
    free(facts->os);
    free(facts->ia32_evidence);
    free(facts->io_uring_evidence);
    free(facts->tiocsti_evidence);
    free(facts->userns_evidence);
    free(facts->pidfd_getfd_evidence);
    memset(facts, 0, sizeof(*facts));
}

const char *zsb_host_missing(const struct zsb_host_facts *facts, unsigned needs)
{
    /* An ordinary user mounts only inside a user namespace. */
    bool needs_userns =
        (needs & ZSB_NEED_USERNS) != 0 || ((needs & ZSB_NEED_MOUNT_STAGE) != 0 && facts->uid != 0);
    if ((needs & ZSB_NEED_ROOT_CALLER) != 0 && facts->uid != 0)
        return "only root can do this unconfined, and the caller is not root";
    if ((needs & ZSB_NEED_IO_URING) != 0 && !facts->io_uring)
        return facts->io_uring_evidence;
    if ((needs & ZSB_NEED_IA32) != 0 && !facts->ia32)
        return facts->ia32_evidence;
    if ((needs & ZSB_NEED_TIOCSTI) != 0 && !facts->tiocsti)
        return facts->tiocsti_evidence;
    if (needs_userns && !facts->userns)
        return facts->userns_evidence;
    if ((needs & ZSB_NEED_PIDFD_GETFD) != 0 && !facts->pidfd_getfd)
        return facts->pidfd_getfd_evidence;
    return NULL;
}
