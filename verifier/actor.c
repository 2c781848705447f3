/* SPDX-License-Identifier: MIT */
#include "verifier/actor.h"

#include "lib/util/util.h"
#include "verifier/child.h"
#include "verifier/launcher.h"
#include "verifier/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEWS_MAX = 8192 };

/* Everything that a child needs, made before the fork. */
struct script {
    struct zsb_strv words, argv, environment;
    int cancel_fds[2], news_fds[2];
};

void zsb_actor_init(struct zsb_actor *actor)
{
    memset(actor, 0, sizeof(*actor));
    actor->pid = actor->pidfd = actor->cancel_fd = actor->news_fd = -1;
    actor->news.max_bytes = NEWS_MAX;
}

static int write_launcher_script(const struct zsb_actor_start *start, struct script *script)
{
    const struct zsb_scene *scene = start->scene;
    const struct zsb_launcher *launcher = start->subject->launcher;
    ZSB_AUTO_FREE char *workspace = zsb_strdupf("%s/ws", scene->path);
    ZSB_AUTO_FREE char *home = zsb_strdupf("%s/home", scene->path);
    ZSB_AUTO_STRV command = ZSB_STRV_INIT;
    zsb_strv_addf(&command, "%s/bin/zuno-escapes", scene->path);
    for (size_t i = 0; i < script->words.count; i++)
        zsb_strv_add(&command, script->words.items[i]);
    if (workspace == NULL || home == NULL || command.failed)
        return -ENOMEM;
    struct zsb_launch_values values = {workspace,   workspace,      home,    scene->path,
                                       scene->mode, scene->network, &command};
    return zsb_launcher_expand(launcher, &values, &script->argv, &script->environment);
}

static int write_script(const struct zsb_actor_start *start, struct script *script)
{
    const struct zsb_scene *scene = start->scene;
    zsb_scene_add_words(scene, start->what, &script->words);
    int rc = script->words.failed ? -ENOMEM : 0;
    if (rc == 0 && start->kind == ZSB_ACTOR_LAUNCHER)
        rc = write_launcher_script(start, script);
    if (rc == 0 && start->kind == ZSB_ACTOR_BARE) {
        zsb_strv_add(&script->argv, "zuno-escapes");
        for (size_t i = 0; i < script->words.count; i++)
            zsb_strv_add(&script->argv, script->words.items[i]);
    }
    bool own = start->kind == ZSB_ACTOR_LAUNCHER && start->subject->launcher->has_environment;
    for (size_t i = 0; i < scene->environment.count && !own; i++)
        zsb_strv_add(&script->environment, scene->environment.items[i]);
    zsb_strv_addf(&script->environment, "%s=%d", ZSB_RESULT_FD_ENV, start->result_fd);
    if (rc == 0 && start->kind == ZSB_ACTOR_BACKEND &&
        (pipe2(script->cancel_fds, O_CLOEXEC) < 0 || pipe2(script->news_fds, O_CLOEXEC) < 0))
        rc = -errno;
    return rc == 0 && (script->argv.failed || script->environment.failed) ? -ENOMEM : rc;
}

/* Standard streams, session and directory of the caller of a sandbox. */
static int take_place(const struct zsb_actor_start *start)
{
    ZSB_AUTO_FD int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int slave = start->scene->terminal.slave;
    int rc = zsb_terminal_take_session(slave);
    ZSB_AUTO_FD int ws_fd =
        openat(start->scene->dir_fd, "ws", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rc == 0 && (dup2(slave >= 0 ? slave : null_fd, 0) < 0 || dup2(start->stdout_fd, 1) < 0 ||
                    dup2(start->stderr_fd, 2) < 0 || ws_fd < 0 || fchdir(ws_fd) < 0))
        rc = -errno;
    return rc != 0 ? rc : zsb_set_cloexec(start->result_fd, false);
}

_Noreturn static void fail(const char *what, int negative_errno)
{
    (void)dprintf(2, "%s: %s\n", what, strerror(-negative_errno));
    zsb_child_leave(127);
}

_Noreturn static void play(const struct zsb_actor_start *start, struct script *script)
{
    const struct zsb_scene *scene = start->scene;
    int rc = take_place(start);
    if (rc != 0)
        fail("verifier: cannot set up the arm's process", rc);
    if (start->kind == ZSB_ACTOR_BACKEND) {
        /* The runner does not exec, so nothing is closed for it. */
        for (size_t i = 0; i < ZSB_ARRAY_SIZE(start->reading_fds); i++)
            (void)close(start->reading_fds[i]);
        (void)close(script->cancel_fds[1]);
        (void)close(script->news_fds[0]);
        zsb_child_leave(zsb_runner_main(start, &script->words, script->cancel_fds[0], script->news_fds[1]));
    }
    if (start->kind == ZSB_ACTOR_LAUNCHER) {
        (void)execvpe(script->argv.items[0], script->argv.items, script->environment.items);
        fail(script->argv.items[0], -errno);
    }
    if ((scene->probe->needs & ZSB_NEED_MOUNT_STAGE) != 0) {
        rc = zsb_stage_enter(scene->path);
        if (rc != 0)
            fail("verifier: cannot make the mount stage", rc);
    }
    (void)execve(scene->lab->escapes_path, script->argv.items, script->environment.items);
    fail(scene->lab->escapes_path, -errno);
}

static void clear_script(struct script *script)
{
    zsb_strv_clear(&script->words);
    zsb_strv_clear(&script->argv);
    zsb_strv_clear(&script->environment);
    for (size_t i = 0; i < 2; i++) {
        zsb_cleanup_fd(&script->cancel_fds[i]);
        zsb_cleanup_fd(&script->news_fds[i]);
    }
}

int zsb_actor_start(const struct zsb_actor_start *start, struct zsb_actor *out_actor)
{
    struct script script = {ZSB_STRV_INIT, ZSB_STRV_INIT, ZSB_STRV_INIT, {-1, -1}, {-1, -1}};
    struct zsb_actor actor;
    zsb_actor_init(&actor);
    actor.kind = start->kind;
    int rc = write_script(start, &script);
    if (rc == 0) {
        actor.pid = zsb_child_fork();
        if (actor.pid == 0)
            play(start, &script);
        rc = actor.pid < 0 ? -errno : 0;
    }
    if (rc == 0) {
        actor.pidfd = zsb_pidfd_open(actor.pid);
        rc = actor.pidfd < 0 ? -errno : 0;
    }
    if (rc == 0 && start->kind == ZSB_ACTOR_BACKEND) {
        actor.cancel_fd = zsb_steal_fd(&script.cancel_fds[1]);
        actor.news_fd = zsb_steal_fd(&script.news_fds[0]);
        rc = zsb_set_nonblock(actor.news_fd, true);
    }
    clear_script(&script);
    if (rc != 0) {
        zsb_actor_clear(&actor);
        return rc;
    }
    *out_actor = actor;
    return 0;
}

bool zsb_actor_has_ended(struct zsb_actor *actor)
{
    if (!actor->ended && actor->pid > 0)
        actor->ended = waitpid(actor->pid, &actor->wait_status, WNOHANG) == actor->pid;
    return actor->ended;
}

static void hear_news(struct zsb_actor *actor)
{
    char chunk[1024];
    while (actor->news_fd >= 0) {
        ssize_t n = read(actor->news_fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        zsb_buf_append(&actor->news, chunk, (size_t)n);
    }
}

void zsb_actor_kill(struct zsb_actor *actor)
{
    if (actor->pid > 0 && !zsb_actor_has_ended(actor))
        (void)kill(actor->pid, SIGKILL);
}

void zsb_actor_cancel(struct zsb_actor *actor)
{
    if (actor->kind == ZSB_ACTOR_BACKEND)
        zsb_cleanup_fd(&actor->cancel_fd);
    else if (actor->kind == ZSB_ACTOR_BARE)
        zsb_actor_kill(actor);
    else if (!zsb_actor_has_ended(actor))
        (void)kill(actor->pid, SIGTERM);
    actor->cancel_fd = -1;
}

void zsb_actor_kill_launcher(struct zsb_actor *actor)
{
    int launcher = 0;
    if (actor->kind != ZSB_ACTOR_BACKEND) {
        zsb_actor_kill(actor);
        return;
    }
    hear_news(actor);
    /* The runner has not reaped it yet: a command that still holds keeps its launcher. */
    if (actor->news.data != NULL && sscanf(actor->news.data, "launcher %d\n", &launcher) == 1 && launcher > 1)
        (void)kill((pid_t)launcher, SIGKILL);
}

static void describe_status(const struct zsb_actor *actor, char *out, size_t size)
{
    int status = actor->wait_status;
    if (!actor->ended)
        (void)snprintf(out, size, "still running");
    else if (WIFSIGNALED(status))
        (void)snprintf(out, size, "ended by signal %d", WTERMSIG(status));
    else
        (void)snprintf(out, size, "exit status %d", WEXITSTATUS(status));
}

void zsb_actor_describe(struct zsb_actor *actor, char *out, size_t size, bool *out_failed)
{
    int failed = 0, at = 0;
    *out_failed = actor->ended && WIFEXITED(actor->wait_status) && WEXITSTATUS(actor->wait_status) == 127;
    describe_status(actor, out, size);
    if (actor->kind != ZSB_ACTOR_BACKEND)
        return;
    hear_news(actor);
    const char *outcome = actor->news.data != NULL ? strstr(actor->news.data, "outcome ") : NULL;
    if (outcome == NULL || sscanf(outcome, "outcome %d %n", &failed, &at) != 1)
        return;
    *out_failed = failed != 0;
    (void)snprintf(out, size, "%.*s", (int)strcspn(outcome + at, "\n"), outcome + at);
}

void zsb_actor_clear(struct zsb_actor *actor)
{
    if (actor->pid > 0 && !zsb_actor_has_ended(actor)) {
        (void)kill(actor->pid, SIGKILL);
        while (waitpid(actor->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    zsb_cleanup_fd(&actor->pidfd);
    zsb_cleanup_fd(&actor->cancel_fd);
    zsb_cleanup_fd(&actor->news_fd);
    zsb_buf_clear(&actor->news);
    zsb_actor_init(actor);
}
