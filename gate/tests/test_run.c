/* SPDX-License-Identifier: MIT
 *
 * `zuno-sandbox run`, live: what works, what does not, what is left behind, and what it exits with.
 */
#include "gate/tests/drive.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory; /* holds ws/ and whatever lies outside of it */
static char *workspace;

static void make_workspace(void)
{
    drive_adopt_orphans();
    directory = drive_make_directory();
    workspace = zsb_strdupf("%s/ws", directory);
    ck_assert_int_eq(mkdir(workspace, 0755), 0);
}

static void remove_workspace(void)
{
    ck_assert_msg(drive_all_gone(10000), "a process was left behind");
    free(workspace);
    drive_remove_directory(directory);
}

static void make_repository(void)
{
    const char *const argv[] = {"/bin/sh", "-c",
                                "git init -q . && echo one >tracked && git add tracked && "
                                "git -c user.name=t -c user.email=t@example.invalid commit -qm first",
                                NULL};
    ck_assert_int_eq(drive_wait(drive_start(argv, workspace)), 0);
}

#define RUN(script) DRIVE_IN(workspace, "run", "--", "sh", "-c", (script))
#define RUN_WRITE(script) DRIVE_IN(workspace, "run", "--mode", "workspace-write", "--", "sh", "-c", (script))

static void assert_no_stubs(void)
{
    static const char *const names[] = {".git", ".zuno", ".agents"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++)
        ck_assert_msg(!drive_exists(workspace, names[i]), "%s was left in the workspace", names[i]);
}

START_TEST(workspace_write_works_in_a_repository)
{
    make_repository();
    DRIVEN result =
        RUN_WRITE("echo ok > f && git status && python3 -c 'import multiprocessing as m; m.Lock()'");
    ck_assert_msg(result.code == 0, "exit %d\n%s%s", result.code, result.out, result.err);
    ck_assert_msg(strstr(result.out, "Untracked files") != NULL, "%s", result.out);
    ZSB_AUTO_FREE char *text = drive_read_file(workspace, "f");
    ck_assert_str_eq(text, "ok\n");
}
END_TEST

static const char *const attacks_on_git[] = {
    "echo x > .git/planted",
    "echo x >> .git/config",
    "echo x > .git/hooks/pre-commit",
    "mv .git moved",
    "rm -rf .git/HEAD",
    "ln -sf /etc/passwd .git/HEAD",
    "rm -rf .git && mkdir .git",
    "git -c user.name=t -c user.email=t@example.invalid commit --allow-empty -qm planted",
};

START_TEST(git_directory_is_unwritable)
{
    make_repository();
    ZSB_AUTO_FREE char *config = drive_read_file(workspace, ".git/config");
    DRIVEN result = RUN_WRITE(attacks_on_git[_i]);
    ck_assert_msg(result.code != 0 && result.code != 125, "%s: exit %d %s", attacks_on_git[_i], result.code,
                  result.err);
    ZSB_AUTO_FREE char *config_after = drive_read_file(workspace, ".git/config");
    ck_assert_str_eq(config, config_after);
    ck_assert(drive_exists(workspace, ".git/HEAD"));
    ck_assert(!drive_exists(workspace, ".git/planted"));
    ck_assert(!drive_exists(workspace, ".git/hooks/pre-commit"));
    ck_assert(!drive_exists(workspace, "moved"));
    ZSB_AUTO_FREE char *head = drive_read_file(workspace, ".git/HEAD");
    ck_assert_msg(strncmp(head, "ref:", 4) == 0, "%s", head);
}
END_TEST

static const char *const creations_of_git[] = {
    "mkdir .git",           "echo gitdir: /tmp/x > .git", "ln -s /tmp/x .git", "echo x > g && ln g .git",
    "mkdir g && mv g .git", "mkdir -p .agents/x",         "echo x > .zuno",    "git init -q .",
};

START_TEST(missing_git_cannot_be_created_and_leaves_no_stub)
{
    DRIVEN result = RUN_WRITE(creations_of_git[_i]);
    ck_assert_msg(result.code != 0 && result.code != 125, "%s: exit %d %s", creations_of_git[_i], result.code,
                  result.err);
    assert_no_stubs();
}
END_TEST

START_TEST(plain_workspace_is_written_and_left_without_a_stub)
{
    DRIVEN result = RUN_WRITE("echo ok > f; ls -A");
    ck_assert_msg(result.code == 0, "%s", result.err);
    assert_no_stubs();
    ck_assert(drive_exists(workspace, "f"));
}
END_TEST

START_TEST(twenty_in_parallel_leave_no_stub)
{
    enum { RUNS = 20 };
    pid_t pids[RUNS];
    for (int i = 0; i < RUNS; i++) {
        char script[64];
        snprintf(script, sizeof(script), "echo ok > f%d; ! mkdir .git", i);
        const char *const argv[] = {ZSB_PROGRAM, "run",  "--mode", "workspace-write", "--", "sh",
                                    "-c",        script, NULL};
        pids[i] = drive_start(argv, workspace);
    }
    for (int i = 0; i < RUNS; i++)
        ck_assert_int_eq(drive_wait(pids[i]), 0);
    for (int i = 0; i < RUNS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "f%d", i);
        ck_assert(drive_exists(workspace, name));
    }
    assert_no_stubs();
}
END_TEST

static bool appears(const char *name)
{
    for (int i = 0; i < 500 && !drive_exists(workspace, name); i++)
        usleep(20000);
    return drive_exists(workspace, name);
}

static pid_t start_sleeper(void)
{
    const char *const argv[] = {
        ZSB_PROGRAM, "run", "--mode", "workspace-write",
        "--",        "sh",  "-c",     "trap '' TERM HUP INT; setsid sleep 600 & touch ready; sleep 600",
        NULL};
    const pid_t pid = drive_start(argv, workspace);
    ck_assert_msg(appears("ready"), "the command did not start");
    return pid;
}

START_TEST(killed_run_leaves_no_process_and_no_stub)
{
    const pid_t pid = start_sleeper();
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(drive_wait(pid), 128 + SIGKILL);
    ck_assert_msg(drive_all_gone(10000), "a process outlived the killed run");
    assert_no_stubs();
}
END_TEST

static const int endings[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

START_TEST(signal_to_run_ends_the_tree_and_is_its_exit_code)
{
    const pid_t pid = start_sleeper();
    ck_assert_int_eq(kill(pid, endings[_i]), 0);
    ck_assert_int_eq(drive_wait(pid), 128 + endings[_i]);
    ck_assert_msg(drive_all_gone(1000), "a process outlived the signalled run");
    assert_no_stubs();
}
END_TEST

/* The shell between stands for the harness; it gets no chance to say anything. */
START_TEST(end_of_the_harness_ends_the_tree)
{
    const char *const argv[] = {
        "/bin/sh",
        "-c",
        "\"$1\" run --mode workspace-write -- sh -c 'setsid sleep 600 & touch ready; sleep "
        "600'; true",
        "sh",
        ZSB_PROGRAM,
        NULL};
    const pid_t harness = drive_start(argv, workspace);
    ck_assert_msg(appears("ready"), "the command did not start");
    ck_assert_int_eq(kill(harness, SIGKILL), 0);
    ck_assert_int_eq(drive_wait(harness), 128 + SIGKILL);
    ck_assert_msg(drive_all_gone(10000), "a process outlived the harness");
    assert_no_stubs();
}
END_TEST

/* The harness ended before the program could look at it: there is nobody to run anything for. */
START_TEST(orphan_at_start_runs_nothing)
{
    const char *const argv[] = {
        "/bin/sh",
        "-c",
        "(sleep 0.3; \"$1\" run --mode workspace-write -- touch ran; echo $? >../code) & exit",
        "sh",
        ZSB_PROGRAM,
        NULL};
    ck_assert_int_eq(drive_wait(drive_start(argv, workspace)), 0);
    ck_assert(drive_all_gone(10000));
    /* The subshell outlived the harness and is the program's parent: that is no orphan. */
    ZSB_AUTO_FREE char *code = drive_read_file(directory, "code");
    ck_assert_str_eq(code, "0\n");
    ck_assert(drive_exists(workspace, "ran"));

    const char *const orphan[] = {
        "/bin/sh",
        "-c",
        "(sleep 0.3; exec \"$1\" run --mode workspace-write --outcome ../o.json -- touch "
        "ran-too) & exit",
        "sh",
        ZSB_PROGRAM,
        NULL};
    ck_assert_int_eq(drive_wait(drive_start(orphan, workspace)), 0);
    ck_assert(drive_all_gone(10000));
    ck_assert(!drive_exists(workspace, "ran-too"));
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"cancelled\":\ttrue"));
}
END_TEST

START_TEST(signal_that_the_caller_ignores_stays_ignored)
{
    const char *const argv[] = {
        "/bin/sh",
        "-c",
        "trap '' HUP; exec \"$1\" run --mode workspace-write -- sh -c 'touch ready; sleep "
        "1; exit 6'",
        "sh",
        ZSB_PROGRAM,
        NULL};
    const pid_t pid = drive_start(argv, workspace);
    ck_assert_msg(appears("ready"), "the command did not start");
    ck_assert_int_eq(kill(pid, SIGHUP), 0);
    ck_assert_int_eq(drive_wait(pid), 6);
}
END_TEST

START_TEST(read_only_is_the_default_and_denies_writes)
{
    DRIVEN result = RUN("echo x > f");
    ck_assert_int_ne(result.code, 0);
    ck_assert(!drive_exists(workspace, "f"));
}
END_TEST

START_TEST(outside_is_never_writable)
{
    ZSB_AUTO_FREE char *script = zsb_strdupf("echo x > %s/out", directory);
    DRIVEN result = RUN_WRITE(script);
    ck_assert_int_ne(result.code, 0);
    ck_assert(!drive_exists(directory, "out"));
}
END_TEST

START_TEST(options_shape_the_policy)
{
    ZSB_AUTO_FREE char *second = zsb_strdupf("%s/second", directory);
    ck_assert_int_eq(mkdir(second, 0755), 0);
    drive_write_file(workspace, "secret", "s3cret");
    drive_write_file(workspace, "kept", "kept");
    DRIVEN result =
        DRIVE_IN(directory, "run", "--mode", "workspace-write", "--workspace", "ws", "--writable", second,
                 "--deny", "secret", "--protect", "kept", "--cwd", ".", "--", "sh", "-c",
                 "echo x > ../second/f || exit 1; cat secret && exit 2; echo x > kept && exit 3; pwd");
    ck_assert_msg(result.code == 0, "exit %d %s", result.code, result.err);
    ck_assert_msg(strncmp(result.out, workspace, strlen(workspace)) == 0, "%s", result.out);
    ck_assert(drive_exists(second, "f"));
    ZSB_AUTO_FREE char *kept = drive_read_file(workspace, "kept");
    ck_assert_str_eq(kept, "kept");
}
END_TEST

static const struct {
    const char *script;
    int code;
} exits[] = {
    {"exit 0", 0},       {"exit 7", 7},        {"exit 125", 125},      {"exit 255", 255},
    {"kill -9 $$", 137}, {"kill -15 $$", 143}, {"kill -SEGV $$", 139},
};

START_TEST(exit_is_the_commands_own)
{
    DRIVEN result = RUN(exits[_i].script);
    ck_assert_msg(result.code == exits[_i].code, "%s: exit %d %s", exits[_i].script, result.code, result.err);
    ck_assert_str_eq(result.err, "");
}
END_TEST

START_TEST(command_that_is_missing_is_127)
{
    DRIVEN result = DRIVE_IN(workspace, "run", "--outcome", "../o.json", "--", "no-such-command-here");
    ck_assert_int_eq(result.code, 127);
    ck_assert_msg(strncmp(result.err, "zuno-sandbox: exec: ", 20) == 0, "%s", result.err);
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"stage\":\t\"exec\""));
    ck_assert_ptr_nonnull(strstr(outcome, "\"code\":\t\"not_found\""));
}
END_TEST

START_TEST(command_that_is_not_executable_is_126)
{
    drive_write_file(workspace, "plain", "text");
    DRIVEN result = DRIVE_IN(workspace, "run", "--", "./plain");
    ck_assert_msg(result.code == 126, "exit %d %s", result.code, result.err);
    ck_assert_msg(strncmp(result.err, "zuno-sandbox: exec: ", 20) == 0, "%s", result.err);
}
END_TEST

START_TEST(outcome_tells_exit_125_from_a_failed_sandbox)
{
    DRIVEN own = DRIVE_IN(workspace, "run", "--outcome", "../o.json", "--", "sh", "-c", "exit 125");
    ck_assert_int_eq(own.code, 125);
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"stage\":\t\"none\""));
    ck_assert_ptr_nonnull(strstr(outcome, "\"exit_status\":\t125"));
    ck_assert_ptr_nonnull(strstr(outcome, "\"certain\":\ttrue"));
    ck_assert_ptr_nonnull(strstr(outcome, "\"backend\":\t\"linux_bubblewrap\""));
}
END_TEST

START_TEST(timeout_ends_the_tree_even_when_it_ignores_sigterm)
{
    const int64_t start = zsb_now_us();
    DRIVEN result = DRIVE_IN(workspace, "run", "--timeout", "0.3", "--outcome", "../o.json", "--", "sh", "-c",
                             "trap '' TERM; setsid sleep 600 & sleep 600; sleep 600");
    ck_assert_msg(result.code == 128 + SIGKILL || result.code == 128 + SIGTERM, "exit %d", result.code);
    ck_assert_int_lt(zsb_now_us() - start, 10000000);
    ck_assert_msg(strstr(result.err, "zuno-sandbox: timeout: ") == result.err, "%s", result.err);
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"timed_out\":\ttrue"));
    ck_assert_msg(drive_all_gone(1000), "a process outlived the timeout");
}
END_TEST

START_TEST(timed_out_command_never_passes_as_success)
{
    DRIVEN result = DRIVE_IN(workspace, "run", "--timeout", "0.3", "--", "sh", "-c",
                             "trap 'exit 0' TERM; sleep 600 & wait");
    ck_assert_int_eq(result.code, 128 + SIGTERM);
}
END_TEST

START_TEST(command_faster_than_its_timeout_is_not_touched)
{
    DRIVEN result = DRIVE_IN(workspace, "run", "--timeout", "60", "--", "sh", "-c", "exit 4");
    ck_assert_int_eq(result.code, 4);
    ck_assert_str_eq(result.err, "");
}
END_TEST

START_TEST(streams_are_the_callers)
{
    static const char *const words[] = {"run", "--", "sh", "-c", "cat; echo e >&2", NULL};
    DRIVEN result = drive(&(const struct drive){.words = words, .directory = workspace, .input = "typed\n"});
    ck_assert_int_eq(result.code, 0);
    ck_assert_str_eq(result.out, "typed\n");
    ck_assert_str_eq(result.err, "e\n");
}
END_TEST

/* Our own handlers and masks are ours: the command starts with the caller's. */
static uint64_t signal_mask(const char *status, const char *label)
{
    const char *line = strstr(status, label);
    ck_assert_msg(line != NULL, "%s", status);
    /* Real-time signals 32 and 33 are glibc's own: its posix_spawn(), which started us, leaves them ignored.
     */
    return strtoull(line + strlen(label), NULL, 16) & 0x7FFFFFFF;
}

START_TEST(command_inherits_no_signal_setting_of_ours)
{
    DRIVEN result = DRIVE_IN(workspace, "run", "--timeout", "60", "--", "cat", "/proc/self/status");
    static const char *const labels[] = {"SigBlk:", "SigIgn:", "SigCgt:"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(labels); i++)
        ck_assert_msg(signal_mask(result.out, labels[i]) == 0, "%s", result.out);
}
END_TEST

START_TEST(path_with_odd_characters_works)
{
    ZSB_AUTO_FREE char *odd = zsb_strdupf("%s/\xC3\xA9 \n\x1b[2J' \" $(x) %%s", directory);
    ck_assert_int_eq(mkdir(odd, 0755), 0);
    DRIVEN result = DRIVE_IN(directory, "run", "--mode", "workspace-write", "--workspace", odd, "--", "sh",
                             "-c", "echo ok > f");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert(drive_exists(odd, "f"));
    DRIVEN policy = DRIVE_IN(directory, "policy", "show", "--workspace", odd);
    ck_assert_int_eq(policy.code, 0);
    ck_assert_ptr_null(strchr(policy.out, '\x1b'));
}
END_TEST

START_TEST(path_that_is_no_utf8_is_a_clear_error)
{
    ZSB_AUTO_FREE char *odd = zsb_strdupf("%s/w\xFFs", directory);
    ck_assert_int_eq(mkdir(odd, 0755), 0);
    DRIVEN result = DRIVE_IN(directory, "run", "--workspace", odd, "--outcome", "o.json", "--", "true");
    ck_assert_int_eq(result.code, 125);
    ck_assert_msg(strstr(result.err, "not valid UTF-8") != NULL, "%s", result.err);
    ck_assert(zsb_is_utf8(result.err));
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert(zsb_is_utf8(outcome));
}
END_TEST

/* Denies the first `count` files of d/, then reads one of them and one that is open. */
static struct driven run_denying(size_t count)
{
    ZSB_AUTO_STRV words = ZSB_STRV_INIT;
    zsb_strv_add(&words, "run");
    for (size_t i = 0; i < count; i++) {
        ZSB_AUTO_FREE char *name = zsb_strdupf("d/%zu", i);
        drive_write_file(workspace, name, "secret\n");
        zsb_strv_addf(&words, "--deny=%s", name);
    }
    static const char *const command[] = {"--", "sh", "-c", "cat d/0 2>&1 && exit 1; cat open"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(command); i++)
        zsb_strv_add(&words, command[i]);
    ck_assert(!words.failed);
    return drive(&(const struct drive){.words = (const char *const *)words.items, .directory = workspace});
}

static void make_denied_directory(void)
{
    ZSB_AUTO_FREE char *many = zsb_strdupf("%s/d", workspace);
    ck_assert_int_eq(mkdir(many, 0755), 0);
    drive_write_file(workspace, "open", "open\n");
}

START_TEST(five_hundred_denied_paths_work)
{
    make_denied_directory();
    DRIVEN result = run_denying(500);
    ck_assert_msg(result.code == 0, "exit %d %.2000s", result.code, result.err);
    ck_assert_ptr_null(strstr(result.out, "secret"));
    ck_assert_ptr_nonnull(strstr(result.out, "open\n"));
}
END_TEST

START_TEST(ten_thousand_denied_paths_work_or_are_refused_clearly)
{
    make_denied_directory();
    DRIVEN result = run_denying(10000);
    ck_assert_ptr_null(strstr(result.out, "secret"));
    if (result.code == 0) {
        ck_assert_ptr_nonnull(strstr(result.out, "open\n"));
        return;
    }
    ck_assert_msg(result.code == 125, "exit %d %.2000s", result.code, result.err);
    ck_assert_msg(strncmp(result.err, "zuno-sandbox: policy: ", 22) == 0, "%.2000s", result.err);
    ck_assert_msg(strstr(result.err, "at most") != NULL, "%.2000s", result.err);
}
END_TEST

/* Root loses what lets it read everything, so the command could not stand there either. */
START_TEST(unreadable_cwd_is_a_clear_error)
{
    ZSB_AUTO_FREE char *closed = zsb_strdupf("%s/closed", directory);
    ck_assert_int_eq(mkdir(closed, 0755), 0);
    const char *const argv[] = {
        "/bin/sh",   "-c", "chmod 000 . && exec \"$1\" run --outcome \"$2\" -- true", "sh", ZSB_PROGRAM,
        "/dev/null", NULL};
    const int code = drive_wait(drive_start(argv, closed));
    ck_assert_int_eq(chmod(closed, 0755), 0);
    ck_assert_int_eq(code, 125);
}
END_TEST

START_TEST(native_full_access_runs_as_asked)
{
    DRIVEN result = DRIVE_IN(workspace, "run", "--mode", "danger-full-access", "--outcome", "o.json", "--",
                             "sh", "-c", "exit 3");
    ck_assert_msg(result.code == 3, "exit %d %s", result.code, result.err);
    ZSB_AUTO_FREE char *outcome = drive_read_file(workspace, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"backend\":\t\"danger_full_access\""));
}
END_TEST

START_TEST(policy_show_prints_plan_and_launcher)
{
    DRIVEN result =
        DRIVE_IN(workspace, "policy", "show", "--mode", "workspace-write", "--deny", "/etc/shadow");
    ck_assert_msg(result.code == 0, "%s", result.err);
    static const char *const parts[] = {"WRITABLE_ROOT", "PROTECT_MISSING", "DENY",
                                        "denyPaths[0]",  "launcher argv",   "bwrap"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(parts); i++)
        ck_assert_msg(strstr(result.out, parts[i]) != NULL, "no %s in\n%s", parts[i], result.out);
    ck_assert_ptr_null(strstr(result.out, "  no\n"));
    assert_no_stubs();
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, workspace_write_works_in_a_repository);
    tcase_add_loop_test(tests, git_directory_is_unwritable, 0, (int)ZSB_ARRAY_SIZE(attacks_on_git));
    tcase_add_loop_test(tests, missing_git_cannot_be_created_and_leaves_no_stub, 0,
                        (int)ZSB_ARRAY_SIZE(creations_of_git));
    tcase_add_test(tests, plain_workspace_is_written_and_left_without_a_stub);
    tcase_add_test(tests, twenty_in_parallel_leave_no_stub);
    tcase_add_test(tests, killed_run_leaves_no_process_and_no_stub);
    tcase_add_loop_test(tests, signal_to_run_ends_the_tree_and_is_its_exit_code, 0,
                        (int)ZSB_ARRAY_SIZE(endings));
    tcase_add_test(tests, end_of_the_harness_ends_the_tree);
    tcase_add_test(tests, orphan_at_start_runs_nothing);
    tcase_add_test(tests, signal_that_the_caller_ignores_stays_ignored);
    tcase_add_test(tests, read_only_is_the_default_and_denies_writes);
    tcase_add_test(tests, outside_is_never_writable);
    tcase_add_test(tests, options_shape_the_policy);
    tcase_add_loop_test(tests, exit_is_the_commands_own, 0, (int)ZSB_ARRAY_SIZE(exits));
    tcase_add_test(tests, command_that_is_missing_is_127);
    tcase_add_test(tests, command_that_is_not_executable_is_126);
    tcase_add_test(tests, outcome_tells_exit_125_from_a_failed_sandbox);
    tcase_add_test(tests, timeout_ends_the_tree_even_when_it_ignores_sigterm);
    tcase_add_test(tests, timed_out_command_never_passes_as_success);
    tcase_add_test(tests, command_faster_than_its_timeout_is_not_touched);
    tcase_add_test(tests, streams_are_the_callers);
    tcase_add_test(tests, command_inherits_no_signal_setting_of_ours);
    tcase_add_test(tests, path_with_odd_characters_works);
    tcase_add_test(tests, path_that_is_no_utf8_is_a_clear_error);
    tcase_add_test(tests, five_hundred_denied_paths_work);
    tcase_add_test(tests, ten_thousand_denied_paths_work_or_are_refused_clearly);
    tcase_add_test(tests, unreadable_cwd_is_a_clear_error);
    tcase_add_test(tests, native_full_access_runs_as_asked);
    tcase_add_test(tests, policy_show_prints_plan_and_launcher);
}

int main(void)
{
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin",
           1); /* what "not found" means must not depend on the caller */
    if (!drive_host_can())
        return drive_skip();
    Suite *suite = suite_create("run");
    TCase *tests = tcase_create("run");
    tcase_set_timeout(tests, 90);
    tcase_add_checked_fixture(tests, make_workspace, remove_workspace);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    drive_open();
    srunner_run_all(runner, CK_ENV);
    drive_close();
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
