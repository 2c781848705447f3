/* SPDX-License-Identifier: MIT
 *
 * What is said of a command that ended by itself, alike for a confined and a native one, and of one that
 * never ran. Without forks: sandboxes are not started below Check's.
 */
#include "lib/tests/live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const backends[] = {"bubblewrap", "native"};
static struct zsb_live live;

static void clear_live(void)
{
    zsb_live_clear(&live);
}

static void init(int index, enum zsb_mode mode)
{
    zsb_live_init(&live, backends[index % 2], mode);
}

static const struct {
    const char *script;
    int exited, exit_status, signal;
    const char *reason;
} ends[] = {
    {"exit 0", 1, 0, 0, "success"},
    {"exit 1", 1, 1, 0, "failure"},
    {"exit 42", 1, 42, 0, "any status"},
    {"exit 125", 1, 125, 0, "the sandbox's own number is no sandbox failure here"},
    {"exit 126", 1, 126, 0, "nor is this"},
    {"exit 255", 1, 255, 0, "largest status"},
    {"kill -TERM $$", 0, 0, SIGTERM, "ended by a signal"},
    {"kill -KILL $$", 0, 0, SIGKILL, "ended by SIGKILL of its own"},
    {"kill -SEGV $$", 0, 0, SIGSEGV, "crashed"},
    {"(sleep 2; echo late) & exit 3", 1, 3, 0, "a background job does not hold up the end"},
};

START_TEST(end_of_the_command_is_reported_exactly)
{
    size_t row = (size_t)_i / 2;
    init(_i, ZSB_MODE_READ_ONLY);
    (void)zsb_live_shell(&live, ends[row].script);
    ck_assert_msg(live.outcome.exited == ends[row].exited, "%s", ends[row].reason);
    ck_assert_msg(live.outcome.exit_status == ends[row].exit_status, "%s: %d", ends[row].reason,
                  live.outcome.exit_status);
    ck_assert_msg(live.outcome.signal == ends[row].signal, "%s: %d", ends[row].reason, live.outcome.signal);
    ck_assert_int_eq(live.outcome.error.code, ZSB_OK);
    ck_assert_int_eq(live.outcome.timed_out, 0);
    ck_assert_int_eq(live.outcome.cancelled, 0);
}
END_TEST

static void make_plain(void)
{
    zsb_test_write(zsb_test_at("program"), "#!/bin/sh\nexit 0\n");
}

static void make_without_interpreter(void)
{
    zsb_test_write(zsb_test_at("program"), "#!/nowhere/interpreter\n");
    ck_assert_int_eq(chmod(zsb_test_at("program"), 0755), 0);
}

static void make_garbage(void)
{
    zsb_test_write(zsb_test_at("program"), "\177ELFnot really");
    ck_assert_int_eq(chmod(zsb_test_at("program"), 0755), 0);
}

static void make_directory(void)
{
    zsb_test_mkdir(zsb_test_at("program"));
}

static const struct {
    void (*make)(void);
    const char *program; /* NULL: the one that was made */
    enum zsb_code code;
    int sys_errno;
    const char *reason;
} unstarted[] = {
    {NULL, "zsb-no-such-command", ZSB_E_NOT_FOUND, ENOENT, "not in PATH"},
    {NULL, "/nowhere/program", ZSB_E_NOT_FOUND, ENOENT, "no such path"},
    {NULL, "/etc/passwd/program", ZSB_E_NOT_FOUND, ENOTDIR, "below a file"},
    {make_plain, NULL, ZSB_E_NOT_EXECUTABLE, EACCES, "no execute bit"},
    {make_directory, NULL, ZSB_E_NOT_EXECUTABLE, EACCES, "a directory"},
    {make_without_interpreter, NULL, ZSB_E_NOT_FOUND, ENOENT, "its interpreter is missing"},
    {make_garbage, NULL, ZSB_E_NOT_EXECUTABLE, ENOEXEC, "no format that the kernel knows"},
};

START_TEST(command_that_cannot_start_is_its_own_failure)
{
    size_t row = (size_t)_i / 2;
    if (unstarted[row].make != NULL)
        unstarted[row].make();
    const char *program = unstarted[row].program != NULL ? unstarted[row].program : zsb_test_at("program");
    init(_i, ZSB_MODE_READ_ONLY);
    zsb_live_run(&live, (const char *const[]){program, NULL});
    /* execvp() hands a file without a known format to sh, which then fails by itself. */
    if (unstarted[row].sys_errno == ENOEXEC && live.outcome.stage == ZSB_STAGE_NONE) {
        ck_assert_int_ne(live.outcome.exit_status, 0);
        return;
    }
    ck_assert_msg(live.outcome.stage == ZSB_STAGE_EXEC, "%s: %s", unstarted[row].reason,
                  live.outcome.error.msg);
    ck_assert_msg(live.outcome.error.code == unstarted[row].code, "%s: %s", unstarted[row].reason,
                  live.outcome.error.msg);
    ck_assert_msg(live.outcome.error.sys_errno == unstarted[row].sys_errno, "%s: %s", unstarted[row].reason,
                  live.outcome.error.msg);
    ck_assert_ptr_nonnull(strstr(live.outcome.error.msg, program));
    ck_assert_str_eq(live.outcome.error.subject, program);
    ck_assert_int_eq(live.outcome.exited, 0);
    ck_assert_int_eq(live.outcome.signal, 0);
}
END_TEST

START_TEST(directory_that_vanished_is_a_failure_of_confinement)
{
    init(_i, ZSB_MODE_READ_ONLY);
    zsb_test_mkdir(zsb_test_at("gone"));
    live.policy_options.cwd = "gone";
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), 0);
    ck_assert_int_eq(rmdir(zsb_test_at("gone")), 0);
    if (_i / 2 == 1)
        zsb_test_mkdir(zsb_test_at("gone")); /* another one of the same name */
    zsb_live_run(&live, NULL);
    /* A reused inode number is the same directory for all that anybody can tell. */
    if (_i / 2 == 1 && live.outcome.stage == ZSB_STAGE_NONE)
        return;
    ck_assert_msg(live.outcome.stage == ZSB_STAGE_CONFINE, "%s", live.outcome.error.msg);
    ck_assert_int_eq(live.outcome.error.code, ZSB_E_INVALID_PATH);
    ck_assert_ptr_nonnull(strstr(live.outcome.error.msg, zsb_test_at("gone")));
}
END_TEST

START_TEST(unsearchable_directory_of_the_path_is_not_the_command)
{
    zsb_test_mkdir(zsb_test_at("closed"));
    ck_assert_int_eq(chmod(zsb_test_at("closed"), 0), 0);
    const char *path = zsb_test_text("PATH=%s:/usr/bin:/bin", zsb_test_at("closed"));
    const char *const set[] = {path, NULL};
    init(_i, ZSB_MODE_READ_ONLY);
    live.policy_options.env_set = set;
    zsb_live_run(&live, (const char *const[]){"zsb-no-such-command", NULL});
    ck_assert_int_eq(live.outcome.stage, ZSB_STAGE_EXEC);
    ck_assert_int_eq(live.outcome.error.code, ZSB_E_NOT_FOUND);
}
END_TEST

START_TEST(command_is_looked_up_in_the_policys_path)
{
    static const char *const set[] = {"PATH=/nowhere", NULL};
    init(_i, ZSB_MODE_READ_ONLY);
    live.policy_options.env_set = set;
    zsb_live_run(&live, (const char *const[]){"true", NULL});
    ck_assert_int_eq(live.outcome.stage, ZSB_STAGE_EXEC);
    ck_assert_int_eq(live.outcome.error.code, ZSB_E_NOT_FOUND);
}
END_TEST

START_TEST(command_has_the_policys_environment_and_directory)
{
    static const char *const callers[] = {"PATH=/usr/bin:/bin", "SECRET=1", "LANG=C", NULL};
    static const char *const set[] = {"ONE=two words", NULL};
    init(_i, ZSB_MODE_READ_ONLY);
    zsb_test_mkdir(zsb_test_at("sub"));
    live.policy_options.environment = callers;
    live.policy_options.env_set = set;
    live.policy_options.cwd = "sub";
    const char *output = zsb_live_shell(&live, "env | grep -v -e '^_=' -e '^PWD=' | sort; pwd");
    const char *tmpdir = _i == 0 ? "TMPDIR=/tmp\n" : "";
    ck_assert_str_eq(output, zsb_test_text("LANG=C\nONE=two words\nPATH=/usr/bin:/bin\n%s%s\n", tmpdir,
                                           zsb_test_at("sub")));
}
END_TEST

START_TEST(arguments_arrive_byte_for_byte)
{
    init(_i, ZSB_MODE_READ_ONLY);
    zsb_live_run(&live, (const char *const[]){"printf", "%s|", "", "a b", "$HOME", "'\"\\", "--",
                                              "\xff\x01\n", "a=b", NULL});
    ck_assert_str_eq(live.outcome.captured[1], "|a b|$HOME|'\"\\|--|\xff\x01\n|a=b|");
}
END_TEST

START_TEST(resources_are_measured)
{
    init(_i, ZSB_MODE_READ_ONLY);
    (void)zsb_live_shell(&live, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    ck_assert_int_gt(live.outcome.user_us + live.outcome.system_us, 1000);
    ck_assert_int_gt(live.outcome.wall_us, 0);
    ck_assert_int_gt(live.outcome.max_rss_bytes, 100000);
}
END_TEST

START_TEST(program_may_be_a_descriptor)
{
    init(_i, ZSB_MODE_READ_ONLY);
    ZSB_AUTO_FD int fd = open(ZSB_TEST_HELPER, O_RDONLY | O_CLOEXEC);
    live.request.program_fd = fd;
    zsb_live_run(&live, (const char *const[]){"any-name", "true", NULL});
    ck_assert_msg(live.outcome.exited && live.outcome.exit_status == 0, "%s", live.outcome.error.msg);
}
END_TEST

START_TEST(prepared_command_runs_many_times)
{
    init(_i, ZSB_MODE_READ_ONLY);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(zsb_live_shell(&live, "echo x"), "x\n");
        zsb_outcome_clear(&live.outcome);
    }
}
END_TEST

/* A caller that ignores SIGCHLD has the kernel reap; the status must not come from there. */
START_TEST(caller_that_ignores_children_gets_the_status)
{
    init(_i, ZSB_MODE_WORKSPACE_WRITE);
    ck_assert(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    (void)zsb_live_shell(&live, "exit 42");
    ck_assert(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
    ck_assert_int_eq(live.outcome.exit_status, 42);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(misuse_is_an_invalid_argument)
{
    struct zsb_process *process = NULL;
    struct zsb_outcome outcome;
    init(_i, ZSB_MODE_READ_ONLY);
    ck_assert_int_eq(zsb_process_start(NULL, &live.run, &process, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_process_wait(NULL, &outcome, NULL), -ZSB_E_INVALID_ARGUMENT);
    zsb_process_free(NULL);
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), 0);
    ck_assert_int_eq(zsb_process_start(live.prepared, NULL, &process, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_process_start(live.prepared, &live.run, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    live.run.stdio[0] = ZSB_STDIO_CAPTURE;
    ck_assert_int_eq(zsb_process_start(live.prepared, &live.run, &process, NULL), -ZSB_E_INVALID_ARGUMENT);
    live.run.stdio[0] = ZSB_STDIO_NULL;
    zsb_live_start(&live, NULL);
    ck_assert_int_eq(zsb_process_wait(live.process, &live.outcome, NULL), 0);
    ck_assert_int_eq(zsb_process_wait(live.process, &outcome, NULL), -ZSB_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(no_descriptor_and_no_child_is_left)
{
    size_t before = zsb_test_count_fds();
    for (int i = 0; i < 5; i++) {
        init(_i, ZSB_MODE_WORKSPACE_WRITE);
        (void)zsb_live_shell(&live, i % 2 == 0 ? "echo x" : "exit 9");
        zsb_live_clear(&live);
    }
    init(_i, ZSB_MODE_WORKSPACE_WRITE);
    zsb_live_run(&live, (const char *const[]){"/none", NULL});
    zsb_live_clear(&live);
    ck_assert_uint_eq(zsb_test_count_fds(), before);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), 0);
}
END_TEST

enum { THREADS = 50 };

struct job {
    pthread_t thread;
    int index;
    const char *backend;
    const char *directory;
    bool right;
};

/* Check's assertions belong to the main thread: only the result travels. */
static void *run_job(void *argument)
{
    struct job *job = argument;
    char text[32];
    const char *const words[] = {"sh", "-c", text, NULL};
    struct zsb_policy_options policy_options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_request request = ZSB_REQUEST_INIT;
    struct zsb_run_options run = ZSB_RUN_OPTIONS_INIT;
    struct zsb_outcome outcome = {.error = ZSB_ERROR_INIT};
    struct zsb_policy *policy = NULL;
    struct zsb_prepared *prepared = NULL;
    bool native = strcmp(job->backend, "native") == 0;
    (void)snprintf(text, sizeof(text), "echo %d; exit %d", job->index, job->index);
    policy_options.mode = native ? ZSB_MODE_DANGER_FULL_ACCESS : ZSB_MODE_WORKSPACE_WRITE;
    policy_options.network = native ? ZSB_NETWORK_ALLOWED : ZSB_NETWORK_DENIED;
    policy_options.workspace = job->directory;
    request.argv = words;
    request.helper_path = ZSB_TEST_HELPER;
    run.stdio[0] = ZSB_STDIO_NULL;
    run.stdio[1] = run.stdio[2] = ZSB_STDIO_CAPTURE;
    if (zsb_policy_new(&policy_options, &policy, NULL) == 0 &&
        zsb_prepare(zsb_backend_find(job->backend), policy, &request, &prepared, NULL) == 0 &&
        zsb_run(prepared, &run, &outcome, NULL) == 0)
        job->right = outcome.exited && outcome.exit_status == job->index && outcome.certain &&
                     atoi(outcome.captured[1]) == job->index;
    zsb_outcome_clear(&outcome);
    zsb_prepared_free(prepared);
    zsb_policy_free(policy);
    return NULL;
}

START_TEST(fifty_threads_do_not_disturb_each_other)
{
    struct job jobs[THREADS];
    size_t before = zsb_test_count_fds();
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.index = i, .backend = backends[_i], .directory = zsb_test_dir()};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(jobs[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(jobs[i].right, "thread %d", i);
    ck_assert_uint_eq(zsb_test_count_fds(), before);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), 0);
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("outcome");
    TCase *tests = zsb_test_case(suite, "outcome", 120);
    tcase_add_checked_fixture(tests, NULL, clear_live);
    tcase_add_loop_test(tests, end_of_the_command_is_reported_exactly, 0, 2 * (int)ZSB_ARRAY_SIZE(ends));
    tcase_add_loop_test(tests, command_that_cannot_start_is_its_own_failure, 0,
                        2 * (int)ZSB_ARRAY_SIZE(unstarted));
    tcase_add_loop_test(tests, directory_that_vanished_is_a_failure_of_confinement, 0, 4);
    tcase_add_loop_test(tests, unsearchable_directory_of_the_path_is_not_the_command, 0, 2);
    tcase_add_loop_test(tests, command_is_looked_up_in_the_policys_path, 0, 2);
    tcase_add_loop_test(tests, command_has_the_policys_environment_and_directory, 0, 2);
    tcase_add_loop_test(tests, arguments_arrive_byte_for_byte, 0, 2);
    tcase_add_loop_test(tests, resources_are_measured, 0, 2);
    tcase_add_loop_test(tests, program_may_be_a_descriptor, 0, 2);
    tcase_add_loop_test(tests, prepared_command_runs_many_times, 0, 2);
    tcase_add_loop_test(tests, caller_that_ignores_children_gets_the_status, 0, 2);
    tcase_add_loop_test(tests, misuse_is_an_invalid_argument, 0, 2);
    tcase_add_loop_test(tests, no_descriptor_and_no_child_is_left, 0, 2);
    tcase_add_loop_test(tests, fifty_threads_do_not_disturb_each_other, 0, 2);
    return zsb_test_run(suite, CK_NOFORK);
}
