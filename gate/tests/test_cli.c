/* SPDX-License-Identifier: MIT
 *
 * The command line as users meet it, where no sandbox has to start: help, bad usage, bad input, the
 * catalogue.
 */
#include "gate/tests/drive.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory;

static void make_directory(void)
{
    directory = drive_make_directory();
    ZSB_AUTO_FREE char *workspace = zsb_strdupf("%s/ws", directory);
    ck_assert_int_eq(mkdir(workspace, 0755), 0);
    ZSB_AUTO_FREE char *link = zsb_strdupf("%s/ws/link", directory);
    ck_assert_int_eq(symlink("/etc", link), 0);
    drive_write_file(directory, "file", "text");
    drive_write_file(directory, "typo.json",
                     "{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"x\",\"argvs\":[\"{command}\"],"
                     "\"modes\":[\"read-only\"],\"network\":\"deny\"}");
    drive_write_file(directory, "broken.json", "{\"schema\":");
    drive_write_file(directory, "readonly.json",
                     "{\"schema\":\"zuno-sandbox/launcher/v1\",\"name\":\"x\",\"argv\":[\"{command}\"],"
                     "\"modes\":[\"read-only\"],\"network\":\"deny\"}");
}

static void remove_directory(void)
{
    drive_remove_directory(directory);
}

static void assert_one_line(const char *text, const char *why)
{
    const char *newline = strchr(text, '\n');
    ck_assert_msg(newline && newline[1] == '\0', "%s: not one line: '%s'", why, text);
    ck_assert_msg(strncmp(text, "zuno-sandbox: ", 14) == 0, "%s: '%s'", why, text);
}

/* Runs in the directory made above. */
static const struct {
    const char *why;
    int code;
    const char *says; /* part of the one line on stderr */
    const char *words[12];
} refused[] = {
    {"no command", 2, "no command given", {NULL}},
    {"unknown command", 2, "'rum' is not a command", {"rum"}},
    {"unknown option", 2, "--colour is not an option", {"run", "--colour", "--", "true"}},
    {"unknown mode", 2, "--mode: 'readonly'", {"run", "--mode", "readonly", "--", "true"}},
    {"mode without value", 2, "--mode needs a value", {"verify", "--mode"}},
    {"network of reports", 2, "--network: 'denied'", {"run", "--network", "denied", "--", "true"}},
    {"unknown backend", 2, "--backend: 'gvisor'", {"gate", "--backend", "gvisor"}},
    {"bad timeout", 2, "--timeout: 'soon'", {"run", "--timeout", "soon", "--", "true"}},
    {"bad format", 2, "--format: 'xml'", {"probes", "--format", "xml"}},
    {"empty argv", 2, "no command given", {"run", "--"}},
    {"no argv", 2, "no command given", {"run"}},
    {"empty program", 125, "", {"run", "--workspace", "ws", "--", ""}},
    {"missing workspace", 125, "policy: ", {"run", "--workspace", "nowhere", "--", "true"}},
    {"workspace is a file", 125, "policy: ", {"run", "--workspace", "file", "--", "true"}},
    {"root writable as workspace",
     125,
     "policy: ",
     {"run", "--mode", "workspace-write", "--workspace", "/", "--", "true"}},
    {"root writable",
     125,
     "policy: ",
     {"run", "--mode", "workspace-write", "--workspace", "ws", "--writable", "/", "--", "true"}},
    {"root writable by dots",
     125,
     "policy: ",
     {"run", "--mode", "workspace-write", "--workspace", "ws", "--writable", "/usr/..", "--", "true"}},
    {"relative root that is missing",
     125,
     "policy: ",
     {"run", "--mode", "workspace-write", "--workspace", "ws", "--writable", "no/such", "--", "true"}},
    {"writable root in read-only",
     125,
     "policy: ",
     {"run", "--workspace", "ws", "--writable", "/var/tmp", "--", "true"}},
    {"protected symlink",
     125,
     "policy: ",
     {"run", "--mode", "workspace-write", "--workspace", "ws", "--protect", "link", "--", "true"}},
    {"cwd missing", 125, "policy: ", {"run", "--workspace", "ws", "--cwd", "nowhere", "--", "true"}},
    {"full access without network",
     125,
     "policy: ",
     {"run", "--mode", "danger-full-access", "--network", "deny", "--", "true"}},
    {"outcome into nowhere", 125, "nowhere/o.json", {"run", "--outcome", "nowhere/o.json", "--", "true"}},
    {"output into nowhere", 2, "nowhere/o.json", {"verify", "--output", "nowhere/o.json"}},
    {"gate output into nowhere", 2, "nowhere/o.json", {"gate", "--output", "nowhere/o.json"}},
    {"launcher with a typo", 2, "typo.json", {"verify", "--launcher", "typo.json"}},
    {"launcher that is no JSON", 2, "broken.json", {"verify", "--launcher", "broken.json"}},
    {"launcher that is missing", 2, "nowhere.json", {"verify", "--launcher", "nowhere.json"}},
    {"launcher and backend",
     2,
     "exclude each other",
     {"verify", "--launcher", "readonly.json", "--backend", "bubblewrap"}},
    {"mode that the launcher lacks",
     2,
     "does not list 'workspace-write'",
     {"verify", "--launcher", "readonly.json", "--mode", "workspace-write"}},
    {"verifying full access", 2, "danger-full-access", {"verify", "--mode", "danger-full-access"}},
    {"verifying native", 3, "claims no confinement", {"verify", "--backend", "native"}},
    {"stray word", 2, "'now'", {"verify", "now"}},
    {"stray word of gate", 2, "'now'", {"gate", "now"}},
    {"no such probe", 2, "fs.no-such", {"probes", "show", "fs.no-such"}},
    {"show what", 2, "exactly one probe ID", {"probes", "show"}},
    {"probes what", 2, "'lost'", {"probes", "lost"}},
    {"list takes nothing", 2, "'all'", {"probes", "list", "all"}},
    {"policy what", 2, "show", {"policy"}},
    {"policy of nowhere", 2, "policy: ", {"policy", "show", "--workspace", "nowhere"}},
    {"policy that cannot be",
     2,
     "policy: ",
     {"policy", "show", "--mode", "danger-full-access", "--network", "deny"}},
};

START_TEST(bad_input_is_one_line_and_its_exit_code)
{
    DRIVEN result = drive(&(const struct drive){.words = refused[_i].words, .directory = directory});
    ck_assert_msg(result.code == refused[_i].code, "%s: exit %d: %s", refused[_i].why, result.code,
                  result.err);
    ck_assert_msg(*result.out == '\0', "%s: %s", refused[_i].why, result.out);
    assert_one_line(result.err, refused[_i].why);
    ck_assert_msg(strstr(result.err, refused[_i].says) != NULL, "%s: '%s'", refused[_i].why, result.err);
}
END_TEST

static const char *const helps[][3] = {
    {"--help"},           {"help"},           {"run", "--help"},
    {"verify", "--help"}, {"gate", "--help"}, {"probes", "--help"},
    {"policy", "--help"},
};

START_TEST(help_is_on_stdout_and_exits_0)
{
    const char *const words[] = {helps[_i][0], helps[_i][1], NULL};
    DRIVEN result = drive(&(const struct drive){.words = words});
    ck_assert_int_eq(result.code, 0);
    ck_assert_str_eq(result.err, "");
    ck_assert_msg(strncmp(result.out, "usage: zuno-sandbox", 19) == 0, "%s", result.out);
    if (helps[_i][1])
        ck_assert_ptr_nonnull(strstr(result.out, "Exit:"));
}
END_TEST

START_TEST(help_wins_over_everything_that_is_missing)
{
    DRIVEN result = DRIVE("run", "--workspace", "/nowhere", "--help");
    ck_assert_int_eq(result.code, 0);
}
END_TEST

START_TEST(help_of_the_command_is_the_commands)
{
    DRIVEN result =
        DRIVE("run", "--mode", "danger-full-access", "--backend", "native", "--", "echo", "--help");
    ck_assert_ptr_null(strstr(result.out, "usage: zuno-sandbox"));
}
END_TEST

START_TEST(version_is_printed)
{
    DRIVEN result = DRIVE("--version");
    ck_assert_int_eq(result.code, 0);
    ck_assert_msg(strncmp(result.out, "zuno-sandbox ", 13) == 0, "%s", result.out);
}
END_TEST

START_TEST(probes_are_listed_by_default_and_each_can_be_shown)
{
    DRIVEN list = DRIVE("probes");
    DRIVEN explicit_list = DRIVE("probes", "list");
    ck_assert_int_eq(list.code, 0);
    ck_assert_str_eq(list.out, explicit_list.out);
    size_t shown = 0;
    char *rest = list.out;
    for (char *line; (line = strsep(&rest, "\n")) && *line; shown++) {
        line += strspn(line, " ");
        line[strcspn(line, " ")] = '\0';
        DRIVEN one = DRIVE("probes", "show", line);
        ck_assert_msg(one.code == 0 && strstr(one.out, line), "%s: %s", line, one.err);
    }
    ck_assert_uint_ge(shown, 35);
}
END_TEST

START_TEST(nothing_is_written_when_the_policy_fails_but_the_outcome_is)
{
    DRIVEN result = DRIVE_IN(directory, "run", "--workspace", "nowhere", "--outcome", "o.json", "--", "true");
    ck_assert_int_eq(result.code, 125);
    ZSB_AUTO_FREE char *outcome = drive_read_file(directory, "o.json");
    ck_assert_ptr_nonnull(strstr(outcome, "\"stage\":\t\"policy\""));
    ck_assert_ptr_nonnull(strstr(outcome, "\"code\":\t\"invalid_path\""));
    ck_assert_ptr_nonnull(strstr(outcome, "\"exited\":\tfalse"));
}
END_TEST

START_TEST(directory_that_went_away_is_a_clear_error)
{
    ZSB_AUTO_FREE char *gone = zsb_strdupf("%s/gone", directory);
    ck_assert_int_eq(mkdir(gone, 0700), 0);
    const char *const argv[] = {"/bin/sh", "-c", "cd \"$1\" && rmdir \"$1\" && exec \"$2\" run -- true",
                                "sh",      gone, ZSB_PROGRAM,
                                NULL};
    ck_assert_int_eq(drive_wait(drive_start(argv, NULL)), 125);
}
END_TEST

START_TEST(native_never_claims_confinement)
{
    DRIVEN result = DRIVE_IN(directory, "run", "--backend", "native", "--workspace", "ws", "--", "true");
    ck_assert_int_eq(result.code, 125);
    DRIVEN policy = DRIVE_IN(directory, "policy", "show", "--backend", "native", "--workspace", "ws");
    ck_assert_int_eq(policy.code, 2);
    ck_assert_ptr_nonnull(strstr(policy.out, "unsupported_policy"));
    ck_assert_ptr_nonnull(strstr(policy.out, "ROOT_READ_ONLY"));
}
END_TEST

START_TEST(closed_stdout_is_an_error_and_not_a_crash)
{
    const char *const argv[] = {"/bin/sh", "-c", "exec \"$1\" probes list >&-", "sh", ZSB_PROGRAM, NULL};
    ck_assert_int_eq(drive_wait(drive_start(argv, NULL)), 4);
}
END_TEST

START_TEST(full_device_is_an_error)
{
    const char *const argv[] = {"/bin/sh", "-c",        "exec \"$1\" probes list >/dev/full",
                                "sh",      ZSB_PROGRAM, NULL};
    ck_assert_int_eq(drive_wait(drive_start(argv, NULL)), 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *tests = tcase_create("cli");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    tcase_add_loop_test(tests, bad_input_is_one_line_and_its_exit_code, 0, (int)ZSB_ARRAY_SIZE(refused));
    tcase_add_loop_test(tests, help_is_on_stdout_and_exits_0, 0, (int)ZSB_ARRAY_SIZE(helps));
    tcase_add_test(tests, help_wins_over_everything_that_is_missing);
    tcase_add_test(tests, help_of_the_command_is_the_commands);
    tcase_add_test(tests, version_is_printed);
    tcase_add_test(tests, probes_are_listed_by_default_and_each_can_be_shown);
    tcase_add_test(tests, nothing_is_written_when_the_policy_fails_but_the_outcome_is);
    tcase_add_test(tests, directory_that_went_away_is_a_clear_error);
    tcase_add_test(tests, native_never_claims_confinement);
    tcase_add_test(tests, closed_stdout_is_an_error_and_not_a_crash);
    tcase_add_test(tests, full_device_is_an_error);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    drive_open();
    srunner_run_all(runner, CK_ENV);
    drive_close();
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
