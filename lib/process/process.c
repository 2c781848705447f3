/* SPDX-License-Identifier: MIT */
#include "lib/process/process_internal.h"
#include "lib/sys/spawn.h"
#include "lib/util/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_TERM_GRACE_MS = 2000,
    OUTPUT_GRACE_US = 500000,  /* after the tree's end; only an unconfined command's leftovers can need it */
    FORCED_WAIT_US = 10000000, /* a forced end that takes longer is reported as uncertain */
    SETUP_MAX_US = 30000000,   /* a launcher stuck on a dead automount or network mount */
    NATIVE_KILL_US = 5000000, /* an unconfined supervisor's time to end its tree before it is killed itself */
    POLL_MAX = 16,
};

/* Writing to a command that closed its input, or past a file size limit, must not kill the caller. */
struct write_guard {
    sigset_t before;
    sigset_t pending;
};

static sigset_t write_signals(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)sigaddset(&set, SIGXFSZ);
    return set;
}

static struct write_guard block_write_signals(void)
{
    struct write_guard guard;
    sigset_t set = write_signals();
    (void)sigpending(&guard.pending);
    (void)pthread_sigmask(SIG_BLOCK, &set, &guard.before);
    return guard;
}

static void restore_write_signals(const struct write_guard *guard)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    struct timespec now = {0};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(signals); i++) {
        sigset_t one;
        (void)sigemptyset(&one);
        (void)sigaddset(&one, signals[i]);
        if (sigismember(&guard->pending, signals[i]) == 0)
            while (sigtimedwait(&one, NULL, &now) > 0)
                continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

struct zsb_process {
    const struct zsb_prepared *prepared;
    struct zsb_run_options options;
    struct zsb_stream streams[3];
    struct zsb_keeper keeper;
    int status_fd;
    int launcher_fd; /* pidfd of what we started: the launcher, or the helper itself */
    pid_t launcher_pid;
    int keeper_watch; /* pidfd of the keeper while it has to live; -1: none, or it was replaced once already
                       */
    int helper_fd;    /* pidfd of the helper, PID 1 of the sandbox; -1 until it announced itself */
    bool launcher_gone, helper_gone, status_ended;
    int launcher_status;
    bool started, exited; /* the command executed; the command ended by itself */
    int wait_status;
    int64_t user_us, system_us, max_rss_kb;
    bool failed;
    struct zsb_error error;
    int64_t begin_us, end_us;
    int64_t deadline_us, force_at_us, forced_us;
    bool term_sent, forced, timed_out, cancelled, waited;
};

static int io_error(struct zsb_error *err, int sys_errno, const char *what)
{
    return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, sys_errno, "%s", what);
}

/* The helper's configuration as a sealed anonymous file. */
static int make_config(const struct zsb_prepared *prepared, const struct zsb_keeper *keeper, int status_fd,
                       int *out_fd, struct zsb_error *err)
{
    ZSB_AUTO_BUF config = ZSB_BUF_INIT;
    zsb_buf_append(&config, prepared->config.data, prepared->config.size_bytes);
    zsb_config_add(&config, "status", "%d", status_fd);
    if (keeper->helper_fd >= 0)
        zsb_config_add(&config, "keeper", "%d", keeper->helper_fd);
    for (size_t i = 0; i < prepared->held_count; i++)
        if (keeper->held[i])
            zsb_config_add(&config, "held", "0:0:%s", prepared->held[i]->path);
    if (config.failed)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    ZSB_AUTO_FD int fd = memfd_create("zuno-sandbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return io_error(err, errno, "memfd_create");
    int rc = zsb_write_all(fd, config.data, config.size_bytes);
    if (rc != 0)
        return io_error(err, -rc, "helper configuration");
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return io_error(err, errno, "helper configuration");
    *out_fd = zsb_steal_fd(&fd);
    return 0;
}

static void make_argv(const struct zsb_prepared *prepared, const struct zsb_keeper *keeper, int config_fd,
                      struct zsb_strv *argv)
{
    for (size_t i = 0; i < prepared->launcher_argv.count; i++)
        zsb_strv_add(argv, prepared->launcher_argv.items[i]);
    for (size_t i = 0; i < prepared->held_count; i++) {
        if (!keeper->held[i])
            continue;
        zsb_strv_add(argv, "--ro-bind");
        zsb_strv_add(argv, prepared->held[i]->path);
        zsb_strv_add(argv, prepared->held[i]->path);
    }
    if (prepared->launcher_fd >= 0) {
        zsb_strv_add(argv, "--");
        /* By descriptor: the helper may lie where the sandbox cannot see it. */
        zsb_strv_addf(argv, "/proc/self/fd/%d", prepared->helper_fd);
    } else {
        zsb_strv_add(argv, "zuno-sandbox-helper");
    }
    zsb_strv_add(argv,
                 prepared->confined ? zsb_network_option(zsb_policy_network(prepared->policy)) : "native");
    zsb_strv_add(argv, "--config");
    zsb_strv_addf(argv, "%d", config_fd);
}

static int launch(struct zsb_process *process, int status_child, struct zsb_error *err)
{
    const struct zsb_prepared *prepared = process->prepared;
    ZSB_AUTO_FD int config_fd = -1;
    int rc = make_config(prepared, &process->keeper, status_child, &config_fd, err);
    if (rc != 0)
        return rc;
    ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
    make_argv(prepared, &process->keeper, config_fd, &argv);
    int keep[ZSB_REQUEST_GRANTS_MAX + 5];
    size_t keep_count = 0;
    keep[keep_count++] = status_child;
    keep[keep_count++] = config_fd;
    keep[keep_count++] = prepared->helper_fd;
    if (process->keeper.helper_fd >= 0)
        keep[keep_count++] = process->keeper.helper_fd;
    if (prepared->program_fd >= 0)
        keep[keep_count++] = prepared->program_fd;
    for (size_t i = 0; i < prepared->grant_count; i++)
        keep[keep_count++] = prepared->grants[i];
    if (argv.failed)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    char *none[] = {NULL};
    struct zsb_spawn_options options = {
        .exec_fd = prepared->launcher_fd >= 0 ? prepared->launcher_fd : prepared->helper_fd,
        .argv = argv.items,
        .envp = none,
        .stdio = {process->streams[0].child_fd, process->streams[1].child_fd, process->streams[2].child_fd},
        .keep_fds = keep,
        .keep_count = keep_count,
        .new_session = true};
    rc = zsb_spawn(&options, &process->launcher_pid, &process->launcher_fd);
    if (rc != 0)
        return zsb_error_set(err, prepared->launcher_fd >= 0 ? ZSB_E_LAUNCHER : ZSB_E_HELPER, ZSB_STAGE_SPAWN,
                             -rc, "cannot start %s",
                             prepared->launcher_fd >= 0 ? prepared->launcher_argv.items[0] : "the helper");
    return 0;
}

static int begin(struct zsb_process *process, struct zsb_error *err)
{
    int fds[2];
    int rc = zsb_streams_open(process->streams, &process->options, err);
    if (rc == 0)
        rc = zsb_keeper_start(&process->keeper, process->prepared, err);
    if (rc != 0)
        return rc;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return io_error(err, errno, "socketpair");
    process->status_fd = fds[0];
    ZSB_AUTO_FD int status_child = fds[1];
    rc = launch(process, status_child, err);
    if (rc != 0)
        return rc;
    zsb_streams_started(process->streams);
    zsb_cleanup_fd(&process->keeper.helper_fd);
    process->keeper.helper_fd = -1;
    process->keeper_watch = process->keeper.pid_fd;
    return 0;
}

int zsb_process_start(const struct zsb_prepared *prepared, const struct zsb_run_options *options,
                      struct zsb_process **out_process, struct zsb_error *err)
{
    if (prepared == NULL || options == NULL || out_process == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_SPAWN, 0, "a required argument is NULL");
    struct zsb_process *process = calloc(1, sizeof(*process));
    if (process == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    process->prepared = prepared;
    process->options = *options;
    process->status_fd = process->launcher_fd = process->helper_fd = process->keeper_watch = -1;
    process->keeper.pid_fd = process->keeper.helper_fd = -1;
    for (int i = 0; i < 3; i++)
        process->streams[i].child_fd = process->streams[i].pipe_fd = -1;
    process->begin_us = zsb_now_us();
    if (options->timeout_ms > 0)
        process->deadline_us = process->begin_us + options->timeout_ms * 1000;
    struct write_guard guard = block_write_signals();
    int rc = begin(process, err);
    restore_write_signals(&guard);
    if (rc != 0) {
        zsb_cleanup_fd(&process->status_fd);
        process->status_fd = -1;
        zsb_streams_close(process->streams);
        zsb_cleanup_fd(&process->keeper.helper_fd);
        process->keeper.helper_fd = -1;
        (void)zsb_keeper_finish(&process->keeper, prepared);
        zsb_keeper_clear(&process->keeper);
        free(process);
        return rc;
    }
    *out_process = process;
    return 0;
}

int zsb_process_launcher_pid(const struct zsb_process *process)
{
    return process->launcher_pid;
}

static void send_signal(int pid_fd, int signal_number)
{
    if (pid_fd >= 0)
        (void)syscall(SYS_pidfd_send_signal, pid_fd, signal_number, NULL, 0);
}

/* Before its second process has a session of its own, that waits for the first without end when the first is
 * killed: both are one group until then. The number is ours only as long as the launcher was not reaped. */
static void kill_launcher_group(const struct zsb_process *process)
{
    siginfo_t info = {.si_pid = 0};
    if (process->launcher_gone || !process->prepared->confined)
        return;
    if (waitid((idtype_t)P_PIDFD, (id_t)process->launcher_fd, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        (void)kill(-process->launcher_pid, SIGKILL);
}

/* The end of PID 1 takes the namespace along, stopped processes included. Before it announced itself, the
 * closed status socket stops it from starting anything. An unconfined supervisor ends its tree itself. */
void zsb_process_kill(struct zsb_process *process)
{
    if (process->forced)
        return;
    process->forced = true;
    process->forced_us = zsb_now_us();
    zsb_cleanup_fd(&process->status_fd);
    process->status_fd = -1;
    process->status_ended = true;
    if (!process->prepared->confined)
        return;
    if (process->helper_fd >= 0) {
        send_signal(process->helper_fd, SIGKILL);
        return;
    }
    kill_launcher_group(process);
    send_signal(process->launcher_fd, SIGKILL);
}

static void protocol_error(struct zsb_process *process, const char *text)
{
    process->failed = true;
    (void)zsb_error_set(&process->error, ZSB_E_HELPER, ZSB_STAGE_CONFINE, 0, "unexpected message \"%.40s\"",
                        text);
    zsb_process_kill(process);
}

static bool take_failure(struct zsb_process *process, const char *text)
{
    int stage = 0;
    int code = 0;
    int sys_errno = 0;
    int at = 0;
    if (sscanf(text, ZSB_WIRE_FAILED " %d %d %d %n", &stage, &code, &sys_errno, &at) != 3 || stage <= 0 ||
        stage >= ZSB_STAGE_COUNT || code <= 0 || code >= ZSB_E_COUNT || at == 0)
        return false;
    process->failed = true;
    /* The helper's message already tells the errno. */
    (void)zsb_error_set(&process->error, (enum zsb_code)code, (enum zsb_stage)stage, 0, "%s", text + at);
    process->error.sys_errno = sys_errno;
    if (stage == ZSB_STAGE_EXEC) /* the command itself; the helper knows no name that is worth more */
        (void)zsb_error_detail(&process->error, -code, process->prepared->argv.items[0], NULL);
    return true;
}

static bool take_exit(struct zsb_process *process, const char *text)
{
    int status = 0;
    int64_t user_us = 0;
    int64_t system_us = 0;
    int64_t rss_kb = 0;
    if (sscanf(text, ZSB_WIRE_EXIT " %d %" SCNd64 " %" SCNd64 " %" SCNd64, &status, &user_us, &system_us,
               &rss_kb) != 4)
        return false;
    process->exited = true;
    process->wait_status = status;
    process->user_us = user_us;
    process->system_us = system_us;
    process->max_rss_kb = rss_kb;
    return true;
}

static void read_status(struct zsb_process *process)
{
    char text[ZSB_WIRE_MAX];
    ZSB_AUTO_FD int fd = -1;
    int n = zsb_wire_receive(process->status_fd, text, &fd);
    if (n == -EAGAIN)
        return;
    if (n <= 0) {
        process->status_ended = true;
        return;
    }
    if (strcmp(text, ZSB_WIRE_PID) == 0 && fd >= 0 && process->helper_fd < 0)
        process->helper_fd = zsb_steal_fd(&fd);
    else if (strcmp(text, ZSB_WIRE_STARTED) == 0)
        process->started = true;
    else if (!take_failure(process, text) && !take_exit(process, text))
        protocol_error(process, text);
}

static void drain_status(struct zsb_process *process)
{
    if (process->status_fd < 0)
        return;
    (void)zsb_set_nonblock(process->status_fd, true);
    while (!process->status_ended && process->status_fd >= 0) {
        struct pollfd one = {.fd = process->status_fd, .events = POLLIN};
        if (poll(&one, 1, 0) <= 0)
            return;
        read_status(process);
    }
}

static void ask_to_end(struct zsb_process *process)
{
    if (process->term_sent || process->forced)
        return;
    drain_status(process); /* it may have started already */
    if (process->forced)
        return;
    int64_t grace_ms =
        process->options.term_grace_ms >= 0 ? process->options.term_grace_ms : DEFAULT_TERM_GRACE_MS;
    process->term_sent = true;
    process->force_at_us = zsb_now_us() + grace_ms * 1000;
    if (!process->started || grace_ms == 0 || zsb_wire_send(process->status_fd, ZSB_WIRE_TERM, -1) != 0)
        zsb_process_kill(process);
}

static bool tree_gone(const struct zsb_process *process)
{
    if (!process->launcher_gone)
        return false;
    return process->helper_fd >= 0 ? process->helper_gone : process->status_ended;
}

static int64_t earliest(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Milliseconds until something is due, -1 for never. */
static int next_timeout_ms(const struct zsb_process *process)
{
    int64_t due_us = 0;
    if (!process->started && !process->forced)
        due_us = process->begin_us + SETUP_MAX_US;
    if (!process->term_sent && !process->forced && !process->exited)
        due_us = earliest(due_us, process->deadline_us);
    if (process->term_sent && !process->forced)
        due_us = earliest(due_us, process->force_at_us);
    if (process->forced)
        due_us = earliest(due_us, process->forced_us +
                                      (process->prepared->confined ? FORCED_WAIT_US : NATIVE_KILL_US));
    if (process->end_us != 0)
        due_us = earliest(due_us, process->end_us + OUTPUT_GRACE_US);
    if (due_us == 0)
        return -1;
    int64_t left_us = due_us - zsb_now_us();
    return left_us <= 0 ? 0 : (int)(left_us / 1000 > 60000 ? 60000 : left_us / 1000 + 1);
}

static void act_on_time(struct zsb_process *process)
{
    int64_t now_us = zsb_now_us();
    if (!process->started && !process->forced && !process->failed &&
        now_us >= process->begin_us + SETUP_MAX_US) {
        process->failed = true;
        (void)zsb_error_set(&process->error, ZSB_E_LAUNCHER, ZSB_STAGE_CONFINE, 0,
                            "the sandbox was not ready after %d s", SETUP_MAX_US / 1000000);
        zsb_process_kill(process);
    }
    if (process->deadline_us != 0 && now_us >= process->deadline_us && !process->term_sent &&
        !process->forced && !process->exited) {
        process->timed_out = true;
        ask_to_end(process);
    }
    if (process->term_sent && !process->forced && now_us >= process->force_at_us)
        zsb_process_kill(process);
    if (process->forced && !process->prepared->confined && now_us >= process->forced_us + NATIVE_KILL_US)
        send_signal(process->launcher_fd, SIGKILL);
}

/* True when the loop is done. */
static bool finished(struct zsb_process *process)
{
    int64_t now_us = zsb_now_us();
    if (process->forced && now_us >= process->forced_us + 2 * FORCED_WAIT_US)
        return true;
    if (!tree_gone(process))
        return false;
    if (process->end_us == 0) {
        process->end_us = now_us;
        zsb_streams_stop_input(process->streams);
    }
    return zsb_streams_outputs_done(process->streams) || now_us >= process->end_us + OUTPUT_GRACE_US;
}

struct watched {
    struct pollfd fds[POLL_MAX];
    size_t count;
    size_t status, cancel, launcher, helper, keeper; /* index, or POLL_MAX */
};

static size_t watch(struct watched *set, int fd)
{
    set->fds[set->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    return set->count++;
}

static void collect(struct zsb_process *process, struct watched *set)
{
    *set = (struct watched){
        .status = POLL_MAX, .cancel = POLL_MAX, .launcher = POLL_MAX, .helper = POLL_MAX, .keeper = POLL_MAX};
    set->count = zsb_streams_poll(process->streams, set->fds);
    if (!process->status_ended)
        set->status = watch(set, process->status_fd);
    if (process->options.cancel_fd >= 0 && !process->cancelled)
        set->cancel = watch(set, process->options.cancel_fd);
    if (!process->launcher_gone)
        set->launcher = watch(set, process->launcher_fd);
    if (process->helper_fd >= 0 && !process->helper_gone)
        set->helper = watch(set, process->helper_fd);
    if (process->keeper_watch >= 0 && process->helper_fd >= 0 && !process->helper_gone)
        set->keeper = watch(set, process->keeper_watch);
}

static bool fired(const struct watched *set, size_t index)
{
    return index < POLL_MAX && set->fds[index].revents != 0;
}

/* Asked anew: the helper's last words and its end may have come after the poll that saw the launcher end. */
static bool helper_is_alive(struct zsb_process *process)
{
    drain_status(process);
    struct pollfd helper = {.fd = process->helper_fd, .events = POLLIN};
    if (process->helper_fd >= 0 && poll(&helper, 1, 0) == 1)
        process->helper_gone = true;
    return process->helper_fd >= 0 && !process->helper_gone;
}

static void act(struct zsb_process *process, const struct watched *set)
{
    zsb_streams_move(process->streams);
    if (fired(set, set->status))
        read_status(process);
    if (fired(set, set->cancel)) {
        process->cancelled = true;
        ask_to_end(process);
    }
    if (fired(set, set->helper))
        process->helper_gone = true;
    if (fired(set, set->keeper)) {
        process->keeper_watch = -1;
        if (helper_is_alive(process))
            zsb_keeper_revive(&process->keeper, process->prepared, process->helper_fd);
    }
    if (fired(set, set->launcher)) {
        kill_launcher_group(process);
        (void)zsb_pidfd_wait(process->launcher_fd, 0, &process->launcher_status);
        process->launcher_gone = true;
        if (!process->prepared->confined)
            process->helper_gone = true;
        else if (helper_is_alive(process) && !process->exited)
            zsb_process_kill(process); /* somebody killed the launcher: its child must not go on */
    }
}

static int loop(struct zsb_process *process, struct zsb_error *err)
{
    struct watched set;
    while (!finished(process)) {
        collect(process, &set);
        int n = poll(set.fds, (nfds_t)set.count, next_timeout_ms(process));
        if (n < 0 && errno != EINTR) {
            int rc = io_error(err, errno, "poll");
            zsb_process_kill(process);
            return rc;
        }
        if (n > 0)
            act(process, &set);
        act_on_time(process);
    }
    drain_status(process);
    return 0;
}

static void describe_silence(struct zsb_process *process)
{
    if (process->failed || process->exited || process->forced)
        return;
    process->failed = true;
    int status = process->launcher_status;
    if (process->helper_fd >= 0)
        (void)zsb_error_set(&process->error, ZSB_E_HELPER, ZSB_STAGE_CONFINE, 0,
                            "the sandbox was ended from outside before the command finished");
    else if (status >= 0 && WIFEXITED(status))
        (void)zsb_error_set(&process->error, ZSB_E_LAUNCHER, ZSB_STAGE_CONFINE, 0,
                            "the launcher ended with status %d before the sandbox was ready",
                            WEXITSTATUS(status));
    else
        (void)zsb_error_set(&process->error, ZSB_E_LAUNCHER, ZSB_STAGE_CONFINE, 0,
                            "the launcher was killed before the sandbox was ready");
}

static void fill_outcome(struct zsb_process *process, bool clean, struct zsb_outcome *outcome)
{
    *outcome = (struct zsb_outcome){.error = ZSB_ERROR_INIT};
    describe_silence(process);
    if (process->failed) {
        outcome->stage = process->error.stage;
        outcome->error = process->error;
    } else if (process->exited && WIFEXITED(process->wait_status)) {
        outcome->exited = 1;
        outcome->exit_status = WEXITSTATUS(process->wait_status);
    } else if (process->exited) {
        outcome->signal = WTERMSIG(process->wait_status);
    } else {
        outcome->signal = SIGKILL; /* the forced end */
    }
    outcome->timed_out = process->timed_out;
    outcome->cancelled = process->cancelled;
    outcome->certain = tree_gone(process) && clean;
    outcome->wall_us = (process->end_us != 0 ? process->end_us : zsb_now_us()) - process->begin_us;
    outcome->user_us = process->user_us;
    outcome->system_us = process->system_us;
    outcome->max_rss_bytes = process->max_rss_kb * 1024;
    for (int i = 1; i < 3; i++) {
        struct zsb_stream *stream = &process->streams[i];
        if (!stream->capture)
            continue;
        outcome->captured_bytes[i] = stream->captured.size_bytes;
        outcome->truncated[i] = stream->truncated;
        outcome->captured[i] = zsb_buf_take(&stream->captured);
    }
}

int zsb_process_wait(struct zsb_process *process, struct zsb_outcome *out_outcome, struct zsb_error *err)
{
    if (process == NULL || out_outcome == NULL || process->waited)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_SPAWN, 0, "not waitable");
    struct write_guard guard = block_write_signals();
    int rc = loop(process, err);
    restore_write_signals(&guard);
    if (rc != 0)
        return rc;
    bool clean = zsb_keeper_finish(&process->keeper, process->prepared);
    process->waited = true;
    fill_outcome(process, clean, out_outcome);
    return 0;
}

void zsb_process_free(struct zsb_process *process)
{
    if (process == NULL)
        return;
    if (!process->waited) {
        struct zsb_outcome outcome;
        zsb_process_kill(process);
        if (zsb_process_wait(process, &outcome, NULL) == 0)
            zsb_outcome_clear(&outcome);
    }
    zsb_streams_close(process->streams);
    zsb_cleanup_fd(&process->status_fd);
    zsb_cleanup_fd(&process->launcher_fd);
    zsb_cleanup_fd(&process->helper_fd);
    zsb_keeper_clear(&process->keeper);
    free(process);
}

void zsb_outcome_clear(struct zsb_outcome *outcome)
{
    for (int i = 0; i < 3; i++)
        zsb_cleanup_free(&outcome->captured[i]);
    *outcome = (struct zsb_outcome){.error = ZSB_ERROR_INIT};
}

int zsb_run(const struct zsb_prepared *prepared, const struct zsb_run_options *options,
            struct zsb_outcome *out_outcome, struct zsb_error *err)
{
    struct zsb_process *process = NULL;
    int rc = zsb_process_start(prepared, options, &process, err);
    if (rc == 0)
        rc = zsb_process_wait(process, out_outcome, err);
    zsb_process_free(process);
    return rc;
}
