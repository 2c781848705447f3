/* SPDX-License-Identifier: MIT */
#include "lib/policy/policy_internal.h"
#include "lib/tests/support.h"

#include <string.h>

static const char *const callers[] = {
    "PATH=/bin",
    "HOME=/home/u",
    "LANG=C.UTF-8",
    "LC_ALL=C",
    "TZ=UTC",
    "TERM=xterm",
    "TMPDIR=/home/u/tmp",
    "AWS_SECRET_ACCESS_KEY=s",
    "GITHUB_TOKEN=s",
    "SSH_AUTH_SOCK=/x",
    "DOCKER_HOST=x",
    "DBUS_SESSION_BUS_ADDRESS=x",
    "LD_PRELOAD=/e.so",
    "BASH_ENV=/e",
    "GIT_SSH_COMMAND=e",
    "XDG_RUNTIME_DIR=/run/user/1",
    "HOMEX=s",
    "LCX=s",
    "NOEQUALS",
    "path=lower",
    NULL,
};

static const char *const secrets[] = {
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "LD_PRELOAD",
    "BASH_ENV",
    "GIT_SSH_COMMAND",
    "XDG_RUNTIME_DIR",
    "HOMEX",
    "LCX",
    "NOEQUALS",
    "path",
};

static struct zsb_strv built;

static void clear_built(void)
{
    zsb_strv_clear(&built);
}

static const char *value_of(const char *name)
{
    const char *found = NULL;
    size_t n = strlen(name);
    for (size_t i = 0; i < built.count; i++) {
        if (strncmp(built.items[i], name, n) != 0 || built.items[i][n] != '=')
            continue;
        ck_assert_msg(found == NULL, "%s stands twice", name);
        found = built.items[i] + n + 1;
    }
    return found;
}

static void build(enum zsb_mode mode, enum zsb_env_inherit inherit, const char *const *environment,
                  const char *const *set)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.mode = mode;
    options.env_inherit = inherit;
    options.environment = environment;
    options.env_set = set;
    ck_assert_msg(zsb_environment_build(&options, "/tmp", &built, &err) == 0, "%s", err.msg);
}

START_TEST(core_keeps_what_tools_need)
{
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, callers, NULL);
    ck_assert_str_eq(value_of("PATH"), "/bin");
    ck_assert_str_eq(value_of("HOME"), "/home/u");
    ck_assert_str_eq(value_of("LC_ALL"), "C");
    ck_assert_uint_eq(built.count, 7); /* six of the list and TMPDIR */
}
END_TEST

START_TEST(core_drops_everything_else)
{
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, callers, NULL);
    for (size_t i = 0; i < built.count; i++)
        ck_assert_msg(strncmp(built.items[i], secrets[_i], strlen(secrets[_i])) != 0 ||
                          strchr("=", built.items[i][strlen(secrets[_i])]) == NULL,
                      "%s entered as %s", secrets[_i], built.items[i]);
}
END_TEST

START_TEST(temporary_directory_is_the_private_one)
{
    build(ZSB_MODE_WORKSPACE_WRITE, ZSB_ENV_ALL, callers, NULL);
    ck_assert_str_eq(value_of("TMPDIR"), "/tmp");
    ck_assert_str_eq(value_of("GITHUB_TOKEN"), "s");
    ck_assert_ptr_null(value_of("NOEQUALS"));
}
END_TEST

START_TEST(full_access_keeps_the_callers_temporary_directory)
{
    build(ZSB_MODE_DANGER_FULL_ACCESS, ZSB_ENV_ALL, callers, NULL);
    ck_assert_str_eq(value_of("TMPDIR"), "/home/u/tmp");
}
END_TEST

START_TEST(without_inheritance_only_settings_remain)
{
    static const char *const set[] = {"ONE=1", NULL};
    build(ZSB_MODE_DANGER_FULL_ACCESS, ZSB_ENV_NONE, callers, set);
    ck_assert_uint_eq(built.count, 1);
    ck_assert_str_eq(value_of("ONE"), "1");
}
END_TEST

START_TEST(path_falls_back_when_the_caller_has_none)
{
    static const char *const none[] = {NULL};
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, none, NULL);
    ck_assert_ptr_nonnull(value_of("PATH"));
    ck_assert_ptr_nonnull(strstr(value_of("PATH"), "/usr/bin"));
}
END_TEST

START_TEST(settings_come_last_and_replace)
{
    static const char *const set[] = {"PATH=/one", "PATH=/two=2", "TMPDIR=/dev/shm", "EMPTY=", NULL};
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, callers, set);
    ck_assert_str_eq(value_of("PATH"), "/two=2");
    ck_assert_str_eq(value_of("TMPDIR"), "/dev/shm");
    ck_assert_str_eq(value_of("EMPTY"), "");
}
END_TEST

START_TEST(last_of_two_equal_names_of_the_caller_wins)
{
    static const char *const twice[] = {"HOME=/first", "HOME=/second", NULL};
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, twice, NULL);
    ck_assert_str_eq(value_of("HOME"), "/second");
}
END_TEST

START_TEST(without_an_environment_the_process_has_one)
{
    ck_assert_int_eq(setenv("LC_ZSB_TEST", "here", 1), 0);
    ck_assert_int_eq(setenv("ZSB_TEST_SECRET", "here", 1), 0);
    build(ZSB_MODE_READ_ONLY, ZSB_ENV_CORE, NULL, NULL);
    ck_assert_str_eq(value_of("LC_ZSB_TEST"), "here");
    ck_assert_ptr_null(value_of("ZSB_TEST_SECRET"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("environment");
    TCase *tests = zsb_test_case(suite, "environment", 20);
    tcase_add_checked_fixture(tests, NULL, clear_built);
    tcase_add_test(tests, core_keeps_what_tools_need);
    tcase_add_loop_test(tests, core_drops_everything_else, 0, (int)ZSB_ARRAY_SIZE(secrets));
    tcase_add_test(tests, temporary_directory_is_the_private_one);
    tcase_add_test(tests, full_access_keeps_the_callers_temporary_directory);
    tcase_add_test(tests, without_inheritance_only_settings_remain);
    tcase_add_test(tests, path_falls_back_when_the_caller_has_none);
    tcase_add_test(tests, settings_come_last_and_replace);
    tcase_add_test(tests, last_of_two_equal_names_of_the_caller_wins);
    tcase_add_test(tests, without_an_environment_the_process_has_one);
    return zsb_test_run(suite, CK_FORK);
}
