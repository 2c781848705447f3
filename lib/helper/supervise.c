/* SPDX-License-Identifier: MIT
 *
 * PID 1 of a sandbox (or supervisor of a native command): run the command, report, take the tree along.
 */
#include "lib/helper/helper.h"
#include "lib/util/coverage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONFIG_MAX_BYTES = 64 << 20, DRAIN_GRACE_MS = 200, KILL_ROUNDS = 1000 };

struct run {
    const struct zsb_helper_config *config;
    pid_t child;
    int signal_fd;
    bool child_ended;
    bool asked_to_end;
    int wait_status;
    struct rusage usage;
};

static int report_failure(int status_fd, const struct zsb_error *err)
{
    char text[ZSB_WIRE_MAX];
    (void)snprintf(text, sizeof(text), "%s %d %d %d %s", ZSB_WIRE_FAILED, (int)err->stage, (int)err->code,
                   err->sys_errno, err->msg);
    (void)zsb_wire_send(status_fd, text, -1);
    return ZSB_HELPER_EXIT_FAILED;
}

/* A pidfd of ourselves lets library and keeper see our true end, pid namespace included, without a race. */
static int announce(const struct zsb_helper_config *config, struct zsb_error *err)
{
    ZSB_AUTO_FD int pid_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pid_fd < 0)
        return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_CONFINE, errno, "pidfd_open");
    int rc = zsb_wire_send(config->status_fd, ZSB_WIRE_PID, pid_fd);
    if (rc == 0 && config->keeper_fd >= 0)
        rc = zsb_wire_send(config->keeper_fd, ZSB_WIRE_PID, pid_fd);
    if (config->keeper_fd >= 0)
        (void)close(config->keeper_fd);
    return rc == 0 ? 0 : zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_CONFINE, -rc, "cannot announce");
}

/* Only 0, 1, 2, the grants and what the caller still needs stay open. */
static void close_others(const struct zsb_helper_config *config, const int *also, size_t also_count)
{
    unsigned next = 3;
    for (;;) {
        unsigned keep = ~0U;
        for (size_t i = 0; i < config->grant_count; i++)
            if ((unsigned)config->grants[i] >= next && (unsigned)config->grants[i] < keep)
                keep = (unsigned)config->grants[i];
        for (size_t i = 0; i < also_count; i++)
            if (also[i] >= 0 && (unsigned)also[i] >= next && (unsigned)also[i] < keep)
                keep = (unsigned)also[i];
        if (keep > next)
            (void)close_range(next, keep - 1, 0);
        if (keep == ~0U)
            return;
        next = keep + 1;
    }
}

static int enter_cwd(const struct zsb_helper_config *config, struct zsb_error *err)
{
    struct stat st;
    if (chdir(config->cwd) < 0 || stat(".", &st) < 0)
        return zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_CONFINE, errno, "working directory \"%s\"",
                             config->cwd);
    if (st.st_dev != config->cwd_device || st.st_ino != config->cwd_inode)
        return zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_CONFINE, 0,
                             "working directory \"%s\" is not the directory that the policy named",
                             config->cwd);
    return 0;
}

/* A crash would hand memory to the host's core handler, outside the sandbox. 1 is the value that stops pipe
 * handlers too (core(5)); 0 stops files only. */
static void forbid_core_dumps(void)
{
    const struct rlimit none = {1, 1};
    (void)setrlimit(RLIMIT_CORE, &none);
}

/* execvp() answers EACCES also when it merely passed a directory of PATH that it could not search: whether
 * the command was found anywhere decides between 126 and 127. */
static int search_errno(const char *program, int exec_errno)
{
    const char *path = getenv("PATH");
    if (exec_errno != EACCES || path == NULL || strchr(program, '/') != NULL)
        return exec_errno;
    while (true) {
        size_t n = strcspn(path, ":");
        ZSB_AUTO_FREE char *candidate =
            zsb_strdupf("%.*s/%s", n > 0 ? (int)n : 1, n > 0 ? path : ".", program);
        if (candidate == NULL || access(candidate, F_OK) == 0)
            return exec_errno;
        if (path[n] == '\0')
            return ENOENT;
        path += n + 1;
    }
}

static _Noreturn void become_command(const struct zsb_helper_config *config, int error_fd)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)setsid();
    if (config->native)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    else
        forbid_core_dumps();
    int keep[] = {error_fd, config->program_fd};
    close_others(config, keep, ZSB_ARRAY_SIZE(keep));
    for (size_t i = 0; i < config->grant_count; i++)
        (void)zsb_set_cloexec(config->grants[i], false);
    environ = config->environment;
    ZSB_COVERAGE_DUMP();
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (config->program_fd >= 0) {
        (void)zsb_set_cloexec(config->program_fd, true);
        (void)syscall(SYS_execveat, config->program_fd, "", config->argv, environ, AT_EMPTY_PATH);
    } else {
        (void)execvp(config->argv[0], config->argv);
    }
    int failed_errno = search_errno(config->argv[0], errno);
    (void)zsb_write_all(error_fd, &failed_errno, sizeof(failed_errno));
    _exit(ZSB_HELPER_EXIT_FAILED);
}

/* 0 when the command was executed; the pipe is close-on-exec, so silence is success. */
static int wait_for_exec(const struct zsb_helper_config *config, int error_fd, struct zsb_error *err)
{
    int failed_errno = 0;
    ssize_t n;
    do {
        n = read(error_fd, &failed_errno, sizeof(failed_errno));
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(failed_errno))
        return 0;
    enum zsb_code code =
        failed_errno == ENOENT || failed_errno == ENOTDIR ? ZSB_E_NOT_FOUND : ZSB_E_NOT_EXECUTABLE;
    return zsb_error_set(err, code, ZSB_STAGE_EXEC, failed_errno, "%s", config->argv[0]);
}

static int start_command(struct run *run, struct zsb_error *err)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_CONFINE, errno, "pipe");
    ZSB_AUTO_FD int read_fd = pipe_fds[0];
    ZSB_AUTO_FD int write_fd = pipe_fds[1];
    run->child = fork();
    if (run->child < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_CONFINE, errno, "fork");
    if (run->child == 0)
        become_command(run->config, write_fd);
    (void)close(zsb_steal_fd(&write_fd));
    return wait_for_exec(run->config, read_fd, err);
}

/* Reaps whoever ended; true while children remain. */
static bool reap(struct run *run)
{
    for (;;) {
        int status = 0;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid == 0)
            return true;
        if (pid < 0)
            return errno == EINTR;
        if (pid == run->child) {
            run->child_ended = true;
            run->wait_status = status;
            run->usage = usage;
        }
    }
}

static void drain_signal(int signal_fd)
{
    struct signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof(info)) > 0)
        continue;
}

/* Direct children by /proc; orphans of the tree become ours (subreaper), so rounds of this reach everyone. */
static void kill_children(void)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        uint64_t pid = 0;
        char path[64];
        ZSB_AUTO_FREE char *stat_text = NULL;
        if (!zsb_parse_u64(entry->d_name, INT32_MAX, &pid))
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        if (zsb_read_file_at(AT_FDCWD, path, 4096, &stat_text, NULL) != 0)
            continue;
        const char *after_name = strrchr(stat_text, ')');
        int parent = -1;
        if (after_name != NULL && sscanf(after_name + 1, " %*c %d", &parent) == 1 && parent == getpid())
            (void)kill((pid_t)pid, SIGKILL);
    }
    (void)closedir(proc);
}

/* Native only: in a sandbox our own end takes the pid namespace along. */
static void kill_tree(struct run *run)
{
    for (int round = 0; round < KILL_ROUNDS && reap(run); round++) {
        kill_children();
        struct pollfd wait = {.fd = run->signal_fd, .events = POLLIN};
        (void)poll(&wait, 1, 5);
        drain_signal(run->signal_fd);
    }
}

/* False when the caller is gone or wants the end. */
static bool obey(struct run *run)
{
    char text[ZSB_WIRE_MAX];
    int fd = -1;
    int n = zsb_wire_receive(run->config->status_fd, text, &fd);
    zsb_cleanup_fd(&fd);
    if (n <= 0)
        return false;
    if (strcmp(text, ZSB_WIRE_TERM) != 0)
        return true;
    run->asked_to_end = true;
    if (!run->child_ended)
        (void)kill(-run->child, SIGTERM);
    return true;
}

/* Until the command ended and, for a short grace, its leftovers. False when the caller is gone. */
static bool watch(struct run *run)
{
    int64_t drain_until_us = 0;
    for (;;) {
        bool remain = reap(run);
        if (run->child_ended && !remain)
            return true;
        int timeout_ms = -1;
        if (run->child_ended) {
            if (drain_until_us == 0)
                drain_until_us = zsb_now_us() + DRAIN_GRACE_MS * 1000;
            int64_t left_us = drain_until_us - zsb_now_us();
            if (left_us <= 0)
                return true;
            timeout_ms = (int)(left_us / 1000) + 1;
        }
        struct pollfd fds[] = {{.fd = run->signal_fd, .events = POLLIN},
                               {.fd = run->config->status_fd, .events = POLLIN}};
        int n = poll(fds, ZSB_ARRAY_SIZE(fds), timeout_ms);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && (fds[0].revents & POLLIN) != 0)
            drain_signal(run->signal_fd);
        if (n > 0 && fds[1].revents != 0 && !obey(run))
            return false;
    }
}

static int report_exit(const struct run *run)
{
    char text[ZSB_WIRE_MAX];
    (void)snprintf(text, sizeof(text), "%s %d %lld %lld %ld", ZSB_WIRE_EXIT, run->wait_status,
                   (long long)run->usage.ru_utime.tv_sec * 1000000 + run->usage.ru_utime.tv_usec,
                   (long long)run->usage.ru_stime.tv_sec * 1000000 + run->usage.ru_stime.tv_usec,
                   run->usage.ru_maxrss);
    return zsb_wire_send(run->config->status_fd, text, -1) == 0 ? 0 : ZSB_HELPER_EXIT_FAILED;
}

static int open_signals(struct run *run, struct zsb_error *err)
{
    sigset_t all;
    sigset_t child;
    (void)sigfillset(&all);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_CONFINE, errno, "sigprocmask");
    run->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signal_fd >= 0 ? 0 : zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_CONFINE, errno, "signalfd");
}

static int prepare(struct run *run, struct zsb_error *err)
{
    const struct zsb_helper_config *config = run->config;
    if (config->native) {
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
            return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_SPAWN, errno, "cannot become a subreaper");
        return 0;
    }
    /* The command shares our uid: nothing of ours may be traced, read or stolen by it. */
    if (prctl(PR_SET_DUMPABLE, 0) != 0)
        return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_CONFINE, errno, "cannot become undumpable");
    int rc = zsb_helper_audit(config, err);
    if (rc == 0)
        rc = enter_cwd(config, err);
    if (rc == 0)
        rc = zsb_helper_check_capabilities(err);
    if (rc == 0)
        rc = zsb_helper_landlock(config, err);
    return rc != 0 ? rc : zsb_helper_confine(config->network, err);
}

static int supervise(const struct zsb_helper_config *config)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct run run = {.config = config, .signal_fd = -1};
    int keep[] = {config->status_fd, config->program_fd};
    if (!config->native && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return ZSB_HELPER_EXIT_FAILED;
    if (announce(config, &err) != 0)
        return report_failure(config->status_fd, &err);
    close_others(config, keep, ZSB_ARRAY_SIZE(keep));
    (void)zsb_set_cloexec(config->status_fd, true);
    if (open_signals(&run, &err) != 0 || prepare(&run, &err) != 0)
        return report_failure(config->status_fd, &err);
    if (config->native && enter_cwd(config, &err) != 0)
        return report_failure(config->status_fd, &err);
    if (start_command(&run, &err) != 0)
        return report_failure(config->status_fd, &err);
    (void)zsb_wire_send(config->status_fd, ZSB_WIRE_STARTED, -1);
    bool finished = watch(&run);
    /* A command that ended by itself may leave something running on purpose, one that was ended may not. */
    if (config->native && (!finished || run.asked_to_end))
        kill_tree(&run);
    return finished ? report_exit(&run) : ZSB_HELPER_EXIT_FAILED;
}

int zsb_helper_supervise(int config_fd, const char *verb)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_helper_config config;
    enum zsb_network network = ZSB_NETWORK_ALLOWED;
    bool native = strcmp(verb, "native") == 0;
    if (!native && zsb_network_parse_option(verb, &network) != 0)
        return ZSB_HELPER_EXIT_FAILED;
    char *data = NULL;
    size_t size = 0;
    if (lseek(config_fd, 0, SEEK_SET) < 0 || zsb_read_fd(config_fd, CONFIG_MAX_BYTES, &data, &size) != 0)
        return ZSB_HELPER_EXIT_FAILED;
    if (zsb_helper_config_parse(data, size, &config, &err) != 0) {
        free(data);
        (void)dprintf(STDERR_FILENO, "zuno-sandbox-helper: %s\n", err.msg);
        return ZSB_HELPER_EXIT_FAILED;
    }
    (void)close(config_fd);
    config.native = native;
    config.network = network;
    int status = supervise(&config);
    zsb_helper_config_clear(&config);
    return status;
}
