/* SPDX-License-Identifier: MIT */
#include "gate/options.h"

#include <check.h>
#include <string.h>

enum { MAX_WORDS = 12 };

static const struct {
    unsigned command;
    const char *words[MAX_WORDS];
    const char *message; /* part of the one line */
} wrong[] = {
    {ZSB_COMMAND_RUN, {"--no-such"}, "--no-such is not an option"},
    {ZSB_COMMAND_RUN, {"--no-such=value"}, "--no-such is not an option"},
    {ZSB_COMMAND_RUN, {"-x"}, "-x is not an option"},
    {ZSB_COMMAND_RUN, {"--mod", "read-only"}, "--mod is not an option"}, /* no abbreviations */
    {ZSB_COMMAND_RUN, {"--mode"}, "--mode needs a value"},
    {ZSB_COMMAND_RUN, {"--mode", "readonly"}, "--mode: 'readonly' is not"},
    {ZSB_COMMAND_RUN, {"--mode="}, "--mode: '' is not"},
    {ZSB_COMMAND_RUN, {"--mode", "read-only", "--mode", "workspace-write"}, "--mode is given twice"},
    {ZSB_COMMAND_VERIFY,
     {"--mode", "read-only", "--mode", "read-only"},
     "--mode: 'read-only' is given twice"},
    {ZSB_COMMAND_RUN, {"--network", "denied"}, "--network: 'denied' is not deny or allow"},
    {ZSB_COMMAND_RUN, {"--backend", "landlok"}, "--backend: 'landlok' is not"},
    {ZSB_COMMAND_RUN, {"--workspace", ""}, "--workspace: '' is empty"},
    {ZSB_COMMAND_RUN, {"--deny", ""}, "--deny: '' is empty"},
    {ZSB_COMMAND_RUN, {"--timeout", "0"}, "--timeout: '0' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "0.0"}, "--timeout: '0.0' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "-1"}, "--timeout: '-1' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "1e3"}, "--timeout: '1e3' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "1."}, "--timeout: '1.' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", ".5"}, "--timeout: '.5' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "1.5s"}, "--timeout: '1.5s' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "nan"}, "--timeout: 'nan' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "99999999999999999999"}, "--timeout: '99999999999999999999' is not"},
    {ZSB_COMMAND_RUN, {"--timeout", "31536001"}, "--timeout: '31536001' is not"},
    {ZSB_COMMAND_RUN, {"--jobs", "2"}, "--jobs is not an option of this command"},
    {ZSB_COMMAND_RUN, {"--help=yes"}, "--help takes no value"},
    {ZSB_COMMAND_VERIFY, {"--jobs", "0"}, "--jobs: '0' is not"},
    {ZSB_COMMAND_VERIFY, {"--jobs", "257"}, "--jobs: '257' is not"},
    {ZSB_COMMAND_VERIFY, {"--jobs", "two"}, "--jobs: 'two' is not"},
    {ZSB_COMMAND_VERIFY, {"--format", "yaml"}, "--format: 'yaml' is not"},
    {ZSB_COMMAND_VERIFY, {"--preview"}, "--preview is not an option of this command"},
    {ZSB_COMMAND_GATE, {"--mode", "read-only"}, "--mode is not an option of this command"},
    {ZSB_COMMAND_GATE, {"--probe", "fs.*"}, "--probe is not an option of this command"},
    {ZSB_COMMAND_GATE, {"--preview", "--preview"}, "--preview is given twice"},
    {ZSB_COMMAND_PROBES, {"list", "--output", "x"}, "--output is not an option of this command"},
    {ZSB_COMMAND_POLICY, {"show", "--timeout", "1"}, "--timeout is not an option of this command"},
};

static int parse(unsigned command, const char *const *words, struct zsb_options *options,
                 struct zsb_error *err)
{
    char *argv[MAX_WORDS + 2] = {(char *)"name"};
    for (size_t i = 0; i < MAX_WORDS && words[i]; i++)
        argv[i + 1] = (char *)words[i];
    return zsb_options_parse(command, command == ZSB_COMMAND_RUN, argv, options, err);
}

START_TEST(wrong_word_is_one_line_that_names_it)
{
    struct zsb_options options;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(parse(wrong[_i].command, wrong[_i].words, &options, &err), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_msg(strstr(err.msg, wrong[_i].message) != NULL, "'%s' lacks '%s'", err.msg, wrong[_i].message);
    ck_assert_ptr_null(strchr(err.msg, '\n'));
    zsb_options_clear(&options);
}
END_TEST

static const struct {
    const char *text;
    int64_t milliseconds;
} timeouts[] = {
    {"1", 1000},
    {"0.5", 500},
    {"2.25", 2250},
    {"0.001", 1},
    {"0.0001", 1},
    {"1.0010", 1001},
    {"31536000", 31536000000},
    {"0.9999999999999999999999", 1000},
    {"007", 7000},
};

START_TEST(timeout_is_seconds_rounded_up_to_milliseconds)
{
    const char *words[MAX_WORDS] = {"--timeout", timeouts[_i].text};
    struct zsb_options options;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(parse(ZSB_COMMAND_RUN, words, &options, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(options.timeout_ms, timeouts[_i].milliseconds);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(run_takes_every_option_and_leaves_the_command_alone)
{
    char *argv[] = {(char *)"run",
                    (char *)"--mode",
                    (char *)"workspace-write",
                    (char *)"--network=allow",
                    (char *)"--backend",
                    (char *)"bubblewrap",
                    (char *)"--workspace",
                    (char *)"/w",
                    (char *)"--writable",
                    (char *)"a",
                    (char *)"--writable",
                    (char *)"b",
                    (char *)"--protect",
                    (char *)"p",
                    (char *)"--deny=d=1",
                    (char *)"--cwd",
                    (char *)"sub",
                    (char *)"--outcome",
                    (char *)"o.json",
                    (char *)"--",
                    (char *)"sh",
                    (char *)"--mode",
                    (char *)"--",
                    (char *)"-c",
                    NULL};
    struct zsb_options options;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_options_parse(ZSB_COMMAND_RUN, true, argv, &options, &err) == 0, "%s", err.msg);
    const struct zsb_policy_options policy = zsb_options_policy(&options);
    ck_assert_int_eq(policy.mode, ZSB_MODE_WORKSPACE_WRITE);
    ck_assert_int_eq(policy.network, ZSB_NETWORK_ALLOWED);
    ck_assert_str_eq(policy.workspace, "/w");
    ck_assert_uint_eq(policy.writable_root_count, 2);
    ck_assert_str_eq(policy.writable_roots[1], "b");
    ck_assert_uint_eq(policy.protected_path_count, 1);
    ck_assert_uint_eq(policy.deny_path_count, 1);
    ck_assert_str_eq(policy.deny_paths[0], "d=1");
    ck_assert_str_eq(policy.cwd, "sub");
    ck_assert_str_eq(options.outcome, "o.json");
    ck_assert_str_eq(zsb_backend_name(zsb_options_backend(&options)), "bubblewrap");
    static const char *const command[] = {"sh", "--mode", "--", "-c"};
    ck_assert_uint_eq(options.words.count, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(options.words.words[i], command[i]);
    ck_assert_ptr_null(options.words.words[4]);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(first_word_of_run_starts_the_command_without_dashes_too)
{
    const char *words[MAX_WORDS] = {"--mode", "read-only", "ls", "--format", "x"};
    struct zsb_options options;
    ck_assert_int_eq(parse(ZSB_COMMAND_RUN, words, &options, NULL), 0);
    ck_assert_uint_eq(options.words.count, 3);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(other_commands_take_options_after_their_words)
{
    const char *words[MAX_WORDS] = {"show", "fs.write-outside", "--format", "json"};
    struct zsb_options options;
    ck_assert_int_eq(parse(ZSB_COMMAND_PROBES, words, &options, NULL), 0);
    ck_assert_uint_eq(options.words.count, 2);
    ck_assert_int_eq(options.format, ZSB_FORMAT_JSON);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(defaults_are_the_narrow_ones)
{
    const char *words[MAX_WORDS] = {NULL};
    struct zsb_options options;
    ck_assert_int_eq(parse(ZSB_COMMAND_RUN, words, &options, NULL), 0);
    const struct zsb_policy_options policy = zsb_options_policy(&options);
    ck_assert_int_eq(policy.mode, ZSB_MODE_READ_ONLY);
    ck_assert_int_eq(policy.network, ZSB_NETWORK_DENIED);
    ck_assert_str_eq(policy.workspace, ".");
    ck_assert_ptr_null(policy.cwd);
    ck_assert_ptr_eq(zsb_options_backend(&options), zsb_backend_find("bubblewrap"));
    ck_assert_int_eq(options.timeout_ms, 0);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(full_access_has_network_unless_denied_on_the_command_line)
{
    const char *words[MAX_WORDS] = {"--mode", "danger-full-access", _i ? "--network" : NULL, "deny"};
    struct zsb_options options;
    ck_assert_int_eq(parse(ZSB_COMMAND_RUN, words, &options, NULL), 0);
    ck_assert_int_eq(zsb_options_policy(&options).network, _i ? ZSB_NETWORK_DENIED : ZSB_NETWORK_ALLOWED);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(verify_keeps_modes_and_globs_in_order)
{
    const char *words[MAX_WORDS] = {"--mode", "workspace-write", "--mode",  "read-only", "--probe",
                                    "fs.*",   "--probe",         "net.tcp", "--jobs",    "3"};
    struct zsb_options options;
    ck_assert_int_eq(parse(ZSB_COMMAND_VERIFY, words, &options, NULL), 0);
    ck_assert_uint_eq(options.mode_count, 2);
    ck_assert_int_eq(options.modes[0], ZSB_MODE_WORKSPACE_WRITE);
    ck_assert_int_eq(options.modes[1], ZSB_MODE_READ_ONLY);
    ck_assert_uint_eq(options.probes.count, 2);
    ck_assert_str_eq(options.probes.words[1], "net.tcp");
    ck_assert_uint_eq(options.jobs, 3);
    zsb_options_clear(&options);
}
END_TEST

START_TEST(help_lists_exactly_the_options_of_the_command)
{
    ZSB_AUTO_BUF run = ZSB_BUF_INIT;
    ZSB_AUTO_BUF gate = ZSB_BUF_INIT;
    zsb_options_help(ZSB_COMMAND_RUN, &run);
    zsb_options_help(ZSB_COMMAND_GATE, &gate);
    ck_assert_ptr_nonnull(strstr(run.data, "--timeout SECONDS"));
    ck_assert_ptr_nonnull(strstr(run.data, "--deny PATH"));
    ck_assert_ptr_null(strstr(run.data, "--jobs"));
    ck_assert_ptr_nonnull(strstr(gate.data, "--preview"));
    ck_assert_ptr_null(strstr(gate.data, "--probe"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("options");
    tcase_set_timeout(tests, 20);
    tcase_add_loop_test(tests, wrong_word_is_one_line_that_names_it, 0, (int)ZSB_ARRAY_SIZE(wrong));
    tcase_add_loop_test(tests, timeout_is_seconds_rounded_up_to_milliseconds, 0,
                        (int)ZSB_ARRAY_SIZE(timeouts));
    tcase_add_test(tests, run_takes_every_option_and_leaves_the_command_alone);
    tcase_add_test(tests, first_word_of_run_starts_the_command_without_dashes_too);
    tcase_add_test(tests, other_commands_take_options_after_their_words);
    tcase_add_test(tests, defaults_are_the_narrow_ones);
    tcase_add_loop_test(tests, full_access_has_network_unless_denied_on_the_command_line, 0, 2);
    tcase_add_test(tests, verify_keeps_modes_and_globs_in_order);
    tcase_add_test(tests, help_lists_exactly_the_options_of_the_command);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
