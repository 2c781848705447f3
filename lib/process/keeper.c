/* SPDX-License-Identifier: MIT */
#include "lib/process/process_internal.h"
#include "lib/sys/spawn.h"
#include "lib/util/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READY_TIMEOUT_MS = 10000, FINISH_TIMEOUT_MS = 10000 };

static int keeper_error(struct zsb_error *err, int sys_errno, const char *what)
{
    return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_SPAWN, sys_errno, "keeper of protected names: %s",
                         what);
}

static int spawn_keeper(const struct zsb_prepared *prepared, int socket_fd, int *out_pid_fd,
                        struct zsb_error *err)
{
    ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
    ZSB_AUTO_FREE int *keep = calloc(prepared->held_count + 1, sizeof(*keep));
    ZSB_AUTO_FD int null_fd = zsb_open_null();
    if (keep == NULL || null_fd < 0)
        return keeper_error(err, null_fd < 0 ? -null_fd : ENOMEM, "cannot prepare");
    zsb_strv_add(&argv, "zuno-sandbox-helper");
    zsb_strv_add(&argv, "hold");
    zsb_strv_add(&argv, "--socket");
    zsb_strv_addf(&argv, "%d", socket_fd);
    keep[0] = socket_fd;
    for (size_t i = 0; i < prepared->held_count; i++) {
        zsb_strv_addf(&argv, "%d:%s", prepared->held[i]->parent_fd, prepared->held[i]->name);
        keep[i + 1] = prepared->held[i]->parent_fd;
    }
    if (argv.failed)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    char *none[] = {NULL};
    struct zsb_spawn_options options = {.exec_fd = prepared->helper_fd,
                                        .argv = argv.items,
                                        .envp = none,
                                        .stdio = {null_fd, null_fd, null_fd},
                                        .keep_fds = keep,
                                        .keep_count = prepared->held_count + 1,
                                        .new_session = true};
    pid_t pid = 0;
    int rc = zsb_spawn(&options, &pid, out_pid_fd);
    return rc == 0 ? 0 : keeper_error(err, -rc, "cannot start");
}

static int parse_states(const struct zsb_prepared *prepared, const char *text, bool *held,
                        struct zsb_error *err)
{
    int stage = 0;
    int code = 0;
    int sys_errno = 0;
    int name_at = 0;
    if (sscanf(text, ZSB_WIRE_FAILED " %d %d %d %n", &stage, &code, &sys_errno, &name_at) == 3) {
        int rc = zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_SPAWN, sys_errno,
                               "protected name \"%s\" cannot be held absent", text + name_at);
        return zsb_error_detail(err, rc, text + name_at, "cannot be held absent");
    }
    if (strlen(text) != prepared->held_count || strspn(text, "hs") != prepared->held_count)
        return keeper_error(err, 0, "unexpected answer");
    for (size_t i = 0; i < prepared->held_count; i++)
        held[i] = text[i] == 'h';
    return 0;
}

static int await_states(const struct zsb_prepared *prepared, int socket_fd, bool *held, struct zsb_error *err)
{
    char text[ZSB_WIRE_MAX];
    int fd = -1;
    struct pollfd wait = {.fd = socket_fd, .events = POLLIN};
    int64_t until_us = zsb_now_us() + READY_TIMEOUT_MS * 1000LL;
    int n;
    do {
        n = poll(&wait, 1, (int)((until_us - zsb_now_us()) / 1000));
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return keeper_error(err, n == 0 ? ETIMEDOUT : errno, "no answer");
    n = zsb_wire_receive(socket_fd, text, &fd);
    zsb_cleanup_fd(&fd);
    return n > 0 ? parse_states(prepared, text, held, err) : keeper_error(err, 0, "ended early");
}

static int start(struct zsb_keeper *keeper, const struct zsb_prepared *prepared, bool *held,
                 struct zsb_error *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return keeper_error(err, errno, "socketpair");
    keeper->helper_fd = fds[0];
    ZSB_AUTO_FD int keeper_end = fds[1];
    int rc = spawn_keeper(prepared, keeper_end, &keeper->pid_fd, err);
    (void)close(zsb_steal_fd(&keeper_end));
    return rc != 0 ? rc : await_states(prepared, keeper->helper_fd, held, err);
}

int zsb_keeper_start(struct zsb_keeper *keeper, const struct zsb_prepared *prepared, struct zsb_error *err)
{
    *keeper = (struct zsb_keeper){.pid_fd = -1, .helper_fd = -1};
    if (prepared->held_count == 0)
        return 0;
    if (prepared->held_count > ZSB_WIRE_MAX - 1)
        return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_SPAWN, 0, "more than %d missing names to hold",
                             ZSB_WIRE_MAX - 1);
    keeper->held = calloc(prepared->held_count, sizeof(*keeper->held));
    if (keeper->held == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    int rc = start(keeper, prepared, keeper->held, err);
    if (rc != 0) {
        /* Closing our end tells it to clean up. */
        zsb_cleanup_fd(&keeper->helper_fd);
        keeper->helper_fd = -1;
        if (keeper->pid_fd >= 0)
            (void)zsb_pidfd_wait(keeper->pid_fd, FINISH_TIMEOUT_MS, NULL);
        zsb_keeper_clear(keeper);
    }
    return rc;
}

void zsb_keeper_revive(struct zsb_keeper *keeper, const struct zsb_prepared *prepared, int sandbox_pid_fd)
{
    (void)zsb_pidfd_wait(keeper->pid_fd, 0, NULL);
    struct zsb_keeper next = {.pid_fd = -1, .helper_fd = -1};
    ZSB_AUTO_FREE bool *ignored = calloc(prepared->held_count, sizeof(*ignored));
    if (ignored == NULL || start(&next, prepared, ignored, NULL) != 0 ||
        zsb_wire_send(next.helper_fd, ZSB_WIRE_PID, sandbox_pid_fd) != 0) {
        /* The end of the run sweeps in any case. */
        zsb_keeper_clear(&next);
        return;
    }
    zsb_cleanup_fd(&next.helper_fd);
    zsb_cleanup_fd(&keeper->pid_fd);
    keeper->pid_fd = next.pid_fd;
}

bool zsb_keeper_finish(struct zsb_keeper *keeper, const struct zsb_prepared *prepared)
{
    if (keeper->pid_fd < 0)
        return true;
    zsb_cleanup_fd(&keeper->helper_fd);
    keeper->helper_fd = -1;
    int status = -1;
    bool ended = zsb_pidfd_wait(keeper->pid_fd, FINISH_TIMEOUT_MS, &status);
    if (ended && status == 0)
        return true;
    if (!ended)
        return false;
    /* Killed (or reaped by somebody else, which costs only this sweep): another keeper holds and lets go. */
    struct zsb_keeper sweeper = {.pid_fd = -1, .helper_fd = -1};
    ZSB_AUTO_FREE bool *ignored = calloc(prepared->held_count, sizeof(*ignored));
    bool clean = ignored != NULL && start(&sweeper, prepared, ignored, NULL) == 0;
    zsb_cleanup_fd(&sweeper.helper_fd);
    sweeper.helper_fd = -1;
    if (sweeper.pid_fd >= 0)
        clean = zsb_pidfd_wait(sweeper.pid_fd, FINISH_TIMEOUT_MS, NULL) && clean;
    zsb_keeper_clear(&sweeper);
    return clean;
}

void zsb_keeper_clear(struct zsb_keeper *keeper)
{
    zsb_cleanup_fd(&keeper->helper_fd);
    zsb_cleanup_fd(&keeper->pid_fd);
    zsb_cleanup_free(&keeper->held);
    *keeper = (struct zsb_keeper){.pid_fd = -1, .helper_fd = -1};
}
