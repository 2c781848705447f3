/* SPDX-License-Identifier: MIT
 *
 * Ending a command before its time: deadline, cancellation, kill, and others killing our processes. Nothing
 * of the tree may be left. Without forks: sandboxes are not started below Check's.
 */
#include "lib/tests/live.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const backends[] = {"bubblewrap", "native"};
static struct zsb_live live;
static const char *marker;

static void setup(void)
{
    marker = zsb_live_marker();
}

static void clear(void)
{
    zsb_live_clear(&live);
}

static void init(int index)
{
    zsb_live_init(&live, backends[index % 2], ZSB_MODE_WORKSPACE_WRITE);
}

/* The marker becomes $0 of every process of the script. */
static void start(const char *script)
{
    zsb_live_start(&live, (const char *const[]){"sh", "-c", script, marker, NULL});
}

static void run(const char *script)
{
    start(script);
    zsb_live_wait(&live);
}

static void assert_nobody_left(const char *reason)
{
    size_t left = zsb_live_count_marked(marker);
    ck_assert_msg(left == 0, "%s: %zu processes are left", reason, left);
}

static void assert_forced(const char *reason)
{
    ck_assert_msg(live.outcome.stage == ZSB_STAGE_NONE, "%s: %s", reason, live.outcome.error.msg);
    ck_assert_msg(live.outcome.exited == 0, "%s", reason);
    ck_assert_msg(live.outcome.signal == SIGKILL, "%s: signal %d", reason, live.outcome.signal);
}

START_TEST(command_past_its_deadline_gets_sigterm)
{
    init(_i);
    live.run.timeout_ms = 200;
    zsb_live_run(&live, (const char *const[]){"sleep", "1000", NULL});
    ck_assert_int_eq(live.outcome.timed_out, 1);
    ck_assert_int_eq(live.outcome.cancelled, 0);
    ck_assert_int_eq(live.outcome.signal, SIGTERM);
    ck_assert_int_ge(live.outcome.wall_us, 200000);
    ck_assert_int_lt(live.outcome.wall_us, 1900000); /* the grace of 2 s was not needed */
}
END_TEST

START_TEST(command_may_use_the_grace_to_clean_up)
{
    init(_i);
    live.run.timeout_ms = 300;
    run("trap 'echo cleaned; exit 7' TERM; sleep 1000 & wait");
    ck_assert_int_eq(live.outcome.timed_out, 1);
    ck_assert_int_eq(live.outcome.exited, 1);
    ck_assert_int_eq(live.outcome.exit_status, 7);
    ck_assert_str_eq(live.outcome.captured[1], "cleaned\n");
    if (_i == 0)
        assert_nobody_left("clean-up");
}
END_TEST

START_TEST(command_that_ignores_sigterm_is_killed_after_the_grace)
{
    init(_i);
    live.run.timeout_ms = 200;
    live.run.term_grace_ms = 300;
    run("trap '' TERM; while :; do sleep 1; done");
    ck_assert_int_eq(live.outcome.timed_out, 1);
    assert_forced("TERM ignored");
    ck_assert_int_ge(live.outcome.wall_us, 500000);
    ck_assert_int_lt(live.outcome.wall_us, 5000000);
    assert_nobody_left("TERM ignored");
}
END_TEST

START_TEST(no_grace_means_at_once)
{
    init(_i);
    live.run.timeout_ms = 200;
    live.run.term_grace_ms = 0;
    run("trap 'echo heard' TERM; while :; do sleep 1; done");
    assert_forced("no grace");
    ck_assert_str_eq(live.outcome.captured[1], "");
    ck_assert_int_lt(live.outcome.wall_us, 3000000);
}
END_TEST

static const struct {
    const char *script; /* leaves something behind and waits */
    const char *reason;
} survivors[] = {
    {"setsid sh -c 'while :; do sleep 1; done' $0 & sleep 1000", "session of its own"},
    {"(setsid sh -c '(sh -c \"sleep 1000; :\" '$0' &) & wait' $0 &) & sleep 1000", "double fork"},
    {"sh -c 'kill -STOP $$' $0 & sleep 1000", "stopped child"},
    {"kill -STOP $$", "stopped itself"},
    {"trap '' TERM HUP INT; sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' $0 & sleep 1000; sleep "
     "1000",
     "ignores signals"},
    {"i=0; while [ $i -lt 30 ]; do sh -c 'sleep 1000; :' $0 & i=$((i+1)); done; sleep 1000", "many children"},
    {"exec >/dev/null 2>&1 </dev/null; setsid sh -c 'exec sleep 1000' $0 & sleep 1000", "holds no stream"},
};

START_TEST(nobody_survives_the_end)
{
    size_t row = (size_t)_i / 2;
    init(_i);
    live.run.timeout_ms = 400;
    live.run.term_grace_ms = 100;
    run(survivors[row].script);
    ck_assert_msg(live.outcome.timed_out == 1, "%s", survivors[row].reason);
    assert_nobody_left(survivors[row].reason);
    ck_assert_msg(live.outcome.wall_us < 5000000, "%s: %lld us", survivors[row].reason,
                  (long long)live.outcome.wall_us);
}
END_TEST

START_TEST(nobody_survives_the_commands_own_end)
{
    init(0);
    run("setsid sh -c 'sleep 1000; :' $0 & sh -c 'sleep 1000; :' $0 & echo done");
    ck_assert_str_eq(live.outcome.captured[1], "done\n");
    ck_assert_int_eq(live.outcome.exited, 1);
    ck_assert_int_lt(live.outcome.wall_us, 5000000);
    assert_nobody_left("own end");
}
END_TEST

/* openai/codex#6575: a grandchild holds the pipe open. */
START_TEST(holder_of_the_output_does_not_hold_up_the_end)
{
    init(_i);
    run("sleep 3 & echo done");
    ck_assert_str_eq(live.outcome.captured[1], "done\n");
    ck_assert_int_eq(live.outcome.exit_status, 0);
    ck_assert_int_lt(live.outcome.wall_us, 2500000);
}
END_TEST

START_TEST(readable_descriptor_cancels)
{
    int fds[2];
    init(_i);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    live.run.cancel_fd = fds[0];
    start("echo x > started; sleep 1000");
    zsb_live_await(zsb_test_at("started"));
    (void)poll(NULL, 0, 50); /* the helper tells of the start just after it */
    if (_i / 2 == 0)
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
    else
        (void)close(zsb_steal_fd(&fds[1])); /* its other end is gone */
    zsb_live_wait(&live);
    (void)close(fds[0]);
    if (fds[1] >= 0)
        (void)close(fds[1]);
    ck_assert_int_eq(live.outcome.cancelled, 1);
    ck_assert_int_eq(live.outcome.timed_out, 0);
    ck_assert_int_eq(live.outcome.exited, 0);
    ck_assert_int_eq(live.outcome.signal, SIGTERM);
    assert_nobody_left("cancelled");
}
END_TEST

START_TEST(cancelled_before_the_start_never_runs_long)
{
    int fds[2];
    init(_i);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    (void)close(fds[1]);
    live.run.cancel_fd = fds[0];
    run("sleep 1000");
    (void)close(fds[0]);
    ck_assert_int_eq(live.outcome.cancelled, 1);
    ck_assert_int_eq(live.outcome.exited, 0);
    ck_assert_int_lt(live.outcome.wall_us, 5000000);
    assert_nobody_left("cancelled early");
}
END_TEST

START_TEST(kill_at_any_moment_leaves_nobody)
{
    init(_i);
    start("sleep 1000");
    (void)poll(NULL, 0, 3 * (_i / 2)); /* from before the launcher runs to after the command does */
    zsb_process_kill(live.process);
    zsb_process_kill(live.process);
    zsb_live_wait(&live);
    assert_forced("kill");
    assert_nobody_left("kill");
    /* The launcher's second process waits without end for a first one that was killed. */
    ck_assert_uint_eq(zsb_live_count_marked(zsb_test_dir()), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(freeing_a_running_command_ends_it)
{
    init(_i);
    start("echo x > started; sleep 1000");
    zsb_live_await(zsb_test_at("started"));
    zsb_process_free(live.process);
    live.process = NULL;
    assert_nobody_left("free");
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(launcher_killed_by_others_takes_the_tree_along)
{
    init(_i);
    start("echo x > started; exec sleep 1000"); /* unconfined, only the command itself is tied to its
                                                   supervisor */
    zsb_live_await(zsb_test_at("started"));
    int launcher = zsb_process_launcher_pid(live.process);
    ck_assert_int_gt(launcher, 1);
    ck_assert_int_eq(kill(launcher, SIGKILL), 0);
    zsb_live_wait(&live);
    ck_assert_int_eq(live.outcome.exited, 0);
    ck_assert_int_lt(live.outcome.wall_us, 10000000);
    assert_nobody_left("launcher killed");
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

/* The only child of a process, by /proc. */
static int child_of(int pid)
{
    const char *path = zsb_test_text("/proc/%d/task/%d/children", pid, pid);
    return atoi(zsb_test_read(path));
}

START_TEST(first_process_killed_by_others_is_told)
{
    init(0);
    start("echo x > started; sleep 1000");
    zsb_live_await(zsb_test_at("started"));
    int first = child_of(zsb_process_launcher_pid(live.process));
    ck_assert_int_gt(first, 1);
    ck_assert_int_eq(kill(first, SIGKILL), 0);
    zsb_live_wait(&live);
    ck_assert_int_eq(live.outcome.stage, ZSB_STAGE_CONFINE);
    ck_assert_int_eq(live.outcome.error.code, ZSB_E_HELPER);
    assert_nobody_left("PID 1 killed");
}
END_TEST

/* The harness dies: nobody is left to wait. */
START_TEST(death_of_the_caller_ends_the_tree)
{
    pid_t caller = fork();
    ck_assert_int_ge(caller, 0);
    if (caller == 0) {
        init(_i);
        if (zsb_live_prepare(&live, (const char *const[]){"sh", "-c", "echo x > started; sleep 1000", marker,
                                                          NULL}) != 0 ||
            zsb_process_start(live.prepared, &live.run, &live.process, NULL) != 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    zsb_live_await(zsb_test_at("started"));
    ck_assert_int_eq(kill(caller, SIGKILL), 0);
    ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
    for (int i = 0; i < 1000 && (zsb_live_count_marked(marker) > 0 || zsb_test_exists(zsb_test_at(".git")));
         i++)
        (void)poll(NULL, 0, 5);
    assert_nobody_left("caller killed");
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

static void *start_in_thread(void *unused)
{
    (void)unused;
    start("echo x > started; sleep 0.5; echo done");
    return NULL;
}

/* PDEATHSIG follows threads; a command must not. */
START_TEST(command_outlives_the_thread_that_started_it)
{
    pthread_t thread;
    init(_i);
    ck_assert_int_eq(pthread_create(&thread, NULL, start_in_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    zsb_live_wait(&live);
    ck_assert_msg(live.outcome.exited == 1, "%s, signal %d", live.outcome.error.msg, live.outcome.signal);
    ck_assert_str_eq(live.outcome.captured[1], "done\n");
}
END_TEST

/* anthropics/claude-code#45717: the command's group must not be the caller's. */
START_TEST(command_has_a_session_of_its_own)
{
    init(_i);
    run("ps -o sid= -p $$; kill -TERM 0; sleep 100");
    ck_assert_int_eq(live.outcome.signal, SIGTERM);
    ck_assert_int_ne(atoi(live.outcome.captured[1]), getsid(0));
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("ending");
    TCase *tests = zsb_test_case(suite, "ending", 60);
    tcase_add_checked_fixture(tests, setup, clear);
    tcase_add_loop_test(tests, command_past_its_deadline_gets_sigterm, 0, 2);
    tcase_add_loop_test(tests, command_may_use_the_grace_to_clean_up, 0, 2);
    tcase_add_loop_test(tests, command_that_ignores_sigterm_is_killed_after_the_grace, 0, 2);
    tcase_add_loop_test(tests, no_grace_means_at_once, 0, 2);
    tcase_add_loop_test(tests, nobody_survives_the_end, 0, 2 * (int)ZSB_ARRAY_SIZE(survivors));
    tcase_add_test(tests, nobody_survives_the_commands_own_end);
    tcase_add_loop_test(tests, holder_of_the_output_does_not_hold_up_the_end, 0, 2);
    tcase_add_loop_test(tests, readable_descriptor_cancels, 0, 4);
    tcase_add_loop_test(tests, cancelled_before_the_start_never_runs_long, 0, 2);
    tcase_add_loop_test(tests, kill_at_any_moment_leaves_nobody, 0, 40);
    tcase_add_loop_test(tests, freeing_a_running_command_ends_it, 0, 2);
    tcase_add_loop_test(tests, launcher_killed_by_others_takes_the_tree_along, 0, 2);
    tcase_add_test(tests, first_process_killed_by_others_is_told);
    tcase_add_loop_test(tests, death_of_the_caller_ends_the_tree, 0, 2);
    tcase_add_loop_test(tests, command_outlives_the_thread_that_started_it, 0, 2);
    tcase_add_loop_test(tests, command_has_a_session_of_its_own, 0, 2);
    return zsb_test_run(suite, CK_NOFORK);
}
