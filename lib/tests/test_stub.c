/* SPDX-License-Identifier: MIT
 *
 * Protected names that do not exist: nobody inside can create them, nobody outside finds anything afterwards,
 * whoever was killed. Without forks: sandboxes are not started below Check's.
 */
#include "lib/tests/live.h"
#include "lib/util/stub.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {".git", ".zuno", ".agents"};
static struct zsb_live live;

static void clear(void)
{
    zsb_live_clear(&live);
}

static void init(void)
{
    zsb_live_init(&live, "bubblewrap", ZSB_MODE_WORKSPACE_WRITE);
}

static const char *lock_of(const char *name)
{
    char lock[ZSB_STUB_LOCK_NAME_SIZE];
    struct stat st;
    ck_assert_int_eq(stat(zsb_test_dir(), &st), 0);
    zsb_stub_lock_name(&st, name, lock);
    return zsb_test_text("/dev/shm/%s", lock);
}

static void assert_no_stub(const char *reason)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++) {
        ck_assert_msg(!zsb_test_exists(zsb_test_at("%s", names[i])), "%s: %s is left", reason, names[i]);
        ck_assert_msg(!zsb_test_exists(lock_of(names[i])), "%s: lock of %s is left", reason, names[i]);
    }
}

/* For a while in a row: a keeper that was just started may still be about to make them. */
static void await_no_stub(const char *reason)
{
    enum { IN_A_ROW = 60 };
    for (int i = 0, clean = 0; i < 2000 && clean < IN_A_ROW; i++) {
        size_t left = 0;
        for (size_t k = 0; k < ZSB_ARRAY_SIZE(names); k++)
            left +=
                zsb_test_exists(zsb_test_at("%s", names[k])) || zsb_test_exists(lock_of(names[k])) ? 1 : 0;
        clean = left == 0 ? clean + 1 : 0;
        (void)poll(NULL, 0, 5);
    }
    assert_no_stub(reason);
}

/* %s: the name. Each must fail and leave nothing of its own. */
static const struct {
    const char *script;
    const char *reason;
} creations[] = {
    {"mkdir %s", "mkdir"},
    {"mkdir -p %s/hooks", "directory below"},
    {"echo x > %s", "file"},
    {"echo x > %s/config", "file below"},
    {"ln -s /etc %s", "symbolic link"},
    {"ln -sfn /etc %s", "symbolic link in its place"},
    {"echo x > f; ln f %s", "hard link"},
    {"echo x > f; ln -f f %s", "hard link in its place"},
    {"mkdir d; mv -T d %s", "rename of a directory over it"},
    {"mkdir d; touch d/x; mv -T d %s", "rename of a filled directory"},
    {"echo x > f; mv -T f %s", "rename of a file over it"},
    {"rmdir %s && mkdir %s", "removed and created"},
    {"mv %s away && mkdir %s", "moved away and created"},
    {"rm -rf %s; mkdir %s", "removed by force"},
    {"chmod 777 %s", "mode changed"},
    {"touch %s", "times changed"},
    {"mkfifo %s", "fifo"},
    {"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"%s\")'", "socket"},
    {"mount --bind /etc %s", "mount"},
    {"python3 -c 'import ctypes, sys; r = ctypes.CDLL(None).renameat2(-100, b\"d\", -100, b\"%s\", 2); "
     "sys.exit(0 if r == 0 else 1)'",
     "exchange"},
    {"cd ..; mkdir \"$OLDPWD/%s\"", "by absolute path"},
    {"mkdir sub; cd sub; mkdir ../%s", "by dots"},
};

START_TEST(absent_name_cannot_be_created)
{
    const char *name = names[(size_t)_i % ZSB_ARRAY_SIZE(names)];
    size_t row = (size_t)_i / ZSB_ARRAY_SIZE(names);
    ZSB_AUTO_BUF script = ZSB_BUF_INIT;
    for (const char *at = creations[row].script; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 's')
            zsb_buf_add(&script, (at++, name));
        else
            zsb_buf_addc(&script, *at);
    }
    init();
    zsb_test_mkdir(zsb_test_at("d"));
    zsb_test_command((const char *const[]){"rmdir", zsb_test_at("d"), NULL});
    (void)zsb_live_shell(&live, script.data);
    ck_assert_msg(live.outcome.exit_status != 0, "%s: \"%s\" succeeded", creations[row].reason, script.data);
    assert_no_stub(creations[row].reason);
}
END_TEST

START_TEST(command_sees_an_empty_directory_that_it_cannot_write)
{
    init();
    const char *output = zsb_live_shell(
        &live,
        "for n in .git .zuno .agents; do [ -d $n ] && [ -z \"$(ls -A $n 2>/dev/null)\" ] && echo $n; done");
    ck_assert_str_eq(output, ".git\n.zuno\n.agents\n");
    assert_no_stub("after");
}
END_TEST

/* A child `.git` would hide the repository above: git must still find it. */
START_TEST(git_finds_the_repository_above)
{
    ck_assert_int_eq(setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1), 0);
    ck_assert_int_eq(setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1), 0);
    zsb_test_command((const char *const[]){"git", "init", "--quiet", zsb_test_dir(), NULL});
    zsb_test_mkdir(zsb_test_at("sub"));
    init();
    live.policy_options.workspace = zsb_test_at("sub");
    const char *output = zsb_live_shell(&live, "git -c safe.directory='*' rev-parse --show-toplevel");
    ck_assert_str_eq(output, zsb_test_text("%s\n", zsb_test_dir()));
    ck_assert(!zsb_test_exists(zsb_test_at("sub/.git")));
}
END_TEST

START_TEST(existing_name_is_protected_and_stays_as_it_was)
{
    struct stat before;
    struct stat after;
    zsb_test_mkdir(zsb_test_at(".git"));
    zsb_test_write(zsb_test_at(".git/config"), "mine");
    ck_assert_int_eq(stat(zsb_test_at(".git"), &before), 0);
    init();
    const char *output = zsb_live_shell(
        &live,
        "(echo x > .git/config; echo x > .git/new; rm -rf .git; mv .git away; mkdir .git/d) 2>/dev/null; "
        "cat .git/config");
    ck_assert_str_eq(output, "mine");
    ck_assert_int_eq(stat(zsb_test_at(".git"), &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    ck_assert_uint_eq(before.st_mode, after.st_mode);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_at(".git")), 1);
}
END_TEST

static void start_and_await(void)
{
    zsb_live_start(&live, (const char *const[]){"sh", "-c", "echo x > started; sleep 1000", NULL});
    zsb_live_await(zsb_test_at("started"));
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++)
        ck_assert(zsb_test_exists(zsb_test_at("%s", names[i])));
}

START_TEST(stubs_go_with_a_killed_sandbox)
{
    init();
    start_and_await();
    zsb_process_kill(live.process);
    zsb_live_wait(&live);
    assert_no_stub("killed");
}
END_TEST

START_TEST(stubs_go_with_a_killed_caller)
{
    pid_t caller = fork();
    ck_assert_int_ge(caller, 0);
    if (caller == 0) {
        init();
        if (zsb_live_prepare(&live,
                             (const char *const[]){"sh", "-c", "echo x > started; sleep 1000", NULL}) != 0 ||
            zsb_process_start(live.prepared, &live.run, &live.process, NULL) != 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    if (_i == 0)
        zsb_live_await(zsb_test_at("started"));
    else
        (void)poll(NULL, 0, _i); /* some moment of the start */
    ck_assert_int_eq(kill(caller, SIGKILL), 0);
    ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
    await_no_stub("caller killed");
}
END_TEST

/* The child of a process that is a keeper, by its arguments; 0 for none. */
static int keeper_of(pid_t caller)
{
    int found = 0;
    DIR *proc = opendir("/proc");
    ck_assert_ptr_nonnull(proc);
    for (const struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        uint64_t pid = 0;
        char *text = NULL;
        size_t size = 0;
        int parent = 0;
        ZSB_AUTO_FREE char *command = zsb_strdupf("/proc/%s/cmdline", entry->d_name);
        ZSB_AUTO_FREE char *stat_path = zsb_strdupf("/proc/%s/stat", entry->d_name);
        if (!zsb_parse_u64(entry->d_name, INT32_MAX, &pid) ||
            zsb_read_file_at(AT_FDCWD, command, 1 << 16, &text, &size) != 0)
            continue;
        bool holds = memmem(text, size, "\0hold\0", 6) != NULL;
        free(text);
        if (!holds || zsb_read_file_at(AT_FDCWD, stat_path, 4096, &text, NULL) != 0)
            continue;
        if (sscanf(strrchr(text, ')') + 1, " %*c %d", &parent) == 1 && parent == caller)
            found = (int)pid;
        free(text);
    }
    (void)closedir(proc);
    return found;
}

START_TEST(stubs_go_after_the_keeper_was_killed)
{
    init();
    start_and_await();
    int keeper = keeper_of(getpid());
    ck_assert_int_gt(keeper, 1);
    ck_assert_int_eq(kill(keeper, SIGKILL), 0);
    (void)poll(NULL, 0, 50);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++)
        ck_assert_msg(zsb_test_exists(zsb_test_at("%s", names[i])), "%s is still held", names[i]);
    zsb_process_kill(live.process);
    zsb_live_wait(&live);
    assert_no_stub("keeper killed");
}
END_TEST

static _Noreturn void run_and_exit(const char *script)
{
    init();
    if (zsb_live_prepare(&live, (const char *const[]){"sh", "-c", script, NULL}) != 0 ||
        zsb_run(live.prepared, &live.run, &live.outcome, NULL) != 0)
        _exit(99);
    _exit(live.outcome.exit_status);
}

/* The keeper first, then the caller: another keeper has taken over in between. */
START_TEST(killed_keeper_is_replaced_while_the_sandbox_runs)
{
    pid_t caller = fork();
    ck_assert_int_ge(caller, 0);
    if (caller == 0)
        run_and_exit("echo x > started; sleep 1000");
    zsb_live_await(zsb_test_at("started"));
    int first = keeper_of(caller);
    ck_assert_int_gt(first, 1);
    ck_assert_int_eq(kill(first, SIGKILL), 0);
    int second = 0;
    for (int i = 0; i < 1000 && (second <= 1 || second == first); i++) {
        (void)poll(NULL, 0, 5);
        second = keeper_of(caller);
    }
    ck_assert_int_gt(second, 1);
    ck_assert_int_ne(second, first);
    ck_assert(zsb_test_exists(zsb_test_at(".git")));
    ck_assert_int_eq(kill(caller, SIGKILL), 0);
    ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
    await_no_stub("keeper and caller killed");
}
END_TEST

START_TEST(name_is_still_held_after_its_keeper_was_killed)
{
    pid_t caller = fork();
    ck_assert_int_ge(caller, 0);
    if (caller == 0)
        run_and_exit(
            "echo x > started; while [ ! -e go ]; do sleep 0.05; done; mkdir .git && exit 1; exit 42");
    zsb_live_await(zsb_test_at("started"));
    ck_assert_int_eq(kill(keeper_of(caller), SIGKILL), 0);
    (void)poll(NULL, 0, 100);
    zsb_test_write(zsb_test_at("go"), "");
    int status = 0;
    ck_assert_int_eq(waitpid(caller, &status, 0), caller);
    ck_assert_int_eq(WEXITSTATUS(status), 42);
    assert_no_stub("keeper killed, command ended");
}
END_TEST

START_TEST(stub_left_by_a_crash_is_removed_by_the_next_run)
{
    zsb_test_mkdir(zsb_test_at(".git"));
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
    init();
    (void)zsb_live_shell(&live, "mkdir .git/x");
    ck_assert_int_ne(live.outcome.exit_status, 0);
    assert_no_stub("left over");
}
END_TEST

enum { PARALLEL = 20 };

static void *run_one(void *argument)
{
    const char *directory = argument;
    const char *const words[] = {"sh", "-c",
                                 "for n in .git .zuno .agents; do mkdir $n && exit 1; done; exit 0", NULL};
    struct zsb_policy_options policy_options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_request request = ZSB_REQUEST_INIT;
    struct zsb_run_options run = ZSB_RUN_OPTIONS_INIT;
    struct zsb_outcome outcome = {.error = ZSB_ERROR_INIT};
    struct zsb_policy *policy = NULL;
    struct zsb_prepared *prepared = NULL;
    bool right = false;
    policy_options.mode = ZSB_MODE_WORKSPACE_WRITE;
    policy_options.workspace = directory;
    request.argv = words;
    request.helper_path = ZSB_TEST_HELPER;
    run.stdio[0] = ZSB_STDIO_NULL;
    run.stdio[1] = run.stdio[2] = ZSB_STDIO_CAPTURE;
    if (zsb_policy_new(&policy_options, &policy, NULL) == 0 &&
        zsb_prepare(zsb_backend_find("bubblewrap"), policy, &request, &prepared, NULL) == 0 &&
        zsb_run(prepared, &run, &outcome, NULL) == 0)
        right = outcome.exited && outcome.exit_status == 0 && outcome.certain;
    zsb_outcome_clear(&outcome);
    zsb_prepared_free(prepared);
    zsb_policy_free(policy);
    return right ? argument : NULL;
}

START_TEST(twenty_sandboxes_share_one_workspace)
{
    pthread_t threads[PARALLEL];
    void *directory = (void *)(uintptr_t)zsb_test_dir();
    for (int i = 0; i < PARALLEL; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_one, directory), 0);
    size_t right = 0;
    for (int i = 0; i < PARALLEL; i++) {
        void *result = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        right += result != NULL ? 1 : 0;
    }
    ck_assert_uint_eq(right, PARALLEL);
    assert_no_stub("twenty in parallel");
}
END_TEST

START_TEST(real_entry_made_meanwhile_survives)
{
    init();
    start_and_await();
    ck_assert_int_eq(rmdir(zsb_test_at(".zuno")), 0);
    zsb_test_mkdir(zsb_test_at(".zuno"));
    zsb_test_write(zsb_test_at(".zuno/config"), "mine");
    zsb_process_kill(live.process);
    zsb_live_wait(&live);
    ck_assert_str_eq(zsb_test_read(zsb_test_at(".zuno/config")), "mine");
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(stub_filled_meanwhile_survives)
{
    struct stat st;
    init();
    start_and_await();
    ck_assert_int_eq(chmod(zsb_test_at(".git"), 01700), 0);
    zsb_test_write(zsb_test_at(".git/config"), "mine");
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
    zsb_process_kill(live.process);
    zsb_live_wait(&live);
    ck_assert_str_eq(zsb_test_read(zsb_test_at(".git/config")), "mine");
    ck_assert_int_eq(stat(zsb_test_at(".git"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0755);
    ck_assert(!zsb_test_exists(zsb_test_at(".zuno")));
}
END_TEST

/* Between policy and start: never covered, never removed, a typed error. */
START_TEST(real_entry_made_after_the_policy_is_an_error)
{
    init();
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), 0);
    zsb_test_write(zsb_test_at(".git"), "gitdir: x");
    ck_assert_int_eq(zsb_process_start(live.prepared, &live.run, &live.process, &live.err),
                     -ZSB_E_INVALID_PATH);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_SPAWN);
    ck_assert_str_eq(live.err.subject, ".git");
    ck_assert_str_eq(zsb_test_read(zsb_test_at(".git")), "gitdir: x");
    ck_assert(!zsb_test_exists(zsb_test_at(".zuno")));
}
END_TEST

/* anthropics/claude-code#79997: what nobody of this uid can create needs no stub. */
START_TEST(workspace_of_somebody_else_works_without_stubs)
{
    init();
    live.policy_options.workspace = "/var/lib";
    ck_assert_str_eq(zsb_live_shell(&live, "mkdir .git 2>/dev/null || echo refused"), "refused\n");
    ck_assert(!zsb_test_exists("/var/lib/.git"));
}
END_TEST

START_TEST(own_workspace_without_write_permission_is_a_typed_error)
{
    zsb_test_mkdir(zsb_test_at("ws"));
    ck_assert_int_eq(chmod(zsb_test_at("ws"), 0555), 0);
    init();
    live.policy_options.workspace = zsb_test_at("ws");
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), 0);
    ck_assert_int_eq(zsb_process_start(live.prepared, &live.run, &live.process, &live.err),
                     -ZSB_E_INVALID_PATH);
    ck_assert_str_eq(live.err.subject, ".git");
}
END_TEST

START_TEST(nested_missing_name_cannot_be_reached_by_moving_its_ancestors)
{
    static const char *const protects[] = {"a/b/kept"};
    zsb_test_mkdir(zsb_test_at("a"));
    zsb_test_mkdir(zsb_test_at("a/b"));
    init();
    live.policy_options.protected_paths = protects;
    live.policy_options.protected_path_count = 1;
    (void)zsb_live_shell(&live, "mv a c || mv a/b a/c || rmdir a/b/kept || mkdir -p x/b/kept && mv -T x a");
    ck_assert_int_ne(live.outcome.exit_status, 0);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_at("a/b")), 0);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_at("a")), 1);
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("stub");
    TCase *tests = zsb_test_case(suite, "stub", 60);
    tcase_add_checked_fixture(tests, NULL, clear);
    tcase_add_loop_test(tests, absent_name_cannot_be_created, 0,
                        (int)(ZSB_ARRAY_SIZE(names) * ZSB_ARRAY_SIZE(creations)));
    tcase_add_test(tests, command_sees_an_empty_directory_that_it_cannot_write);
    tcase_add_test(tests, git_finds_the_repository_above);
    tcase_add_test(tests, existing_name_is_protected_and_stays_as_it_was);
    tcase_add_test(tests, stubs_go_with_a_killed_sandbox);
    tcase_add_loop_test(tests, stubs_go_with_a_killed_caller, 0, 15);
    tcase_add_test(tests, stubs_go_after_the_keeper_was_killed);
    tcase_add_test(tests, killed_keeper_is_replaced_while_the_sandbox_runs);
    tcase_add_test(tests, name_is_still_held_after_its_keeper_was_killed);
    tcase_add_test(tests, stub_left_by_a_crash_is_removed_by_the_next_run);
    tcase_add_test(tests, twenty_sandboxes_share_one_workspace);
    tcase_add_test(tests, real_entry_made_meanwhile_survives);
    tcase_add_test(tests, stub_filled_meanwhile_survives);
    tcase_add_test(tests, real_entry_made_after_the_policy_is_an_error);
    tcase_add_test(tests, nested_missing_name_cannot_be_reached_by_moving_its_ancestors);
    if (geteuid() != 0) {
        tcase_add_test(tests, workspace_of_somebody_else_works_without_stubs);
        tcase_add_test(tests, own_workspace_without_write_permission_is_a_typed_error);
    }
    return zsb_test_run(suite, CK_NOFORK);
}
