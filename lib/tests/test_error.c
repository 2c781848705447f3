/* SPDX-License-Identifier: MIT */
#include "lib/tests/support.h"

#include <errno.h>
#include <string.h>
#include <zuno/sandbox.h>

/* The roadmap's list, written down once more. */
static const enum zsb_code eligible[] = {
    ZSB_E_UNSUPPORTED_PLATFORM, ZSB_E_UNSUPPORTED_ARCHITECTURE,      ZSB_E_WSL1_UNSUPPORTED,
    ZSB_E_BUBBLEWRAP_NOT_FOUND, ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY, ZSB_E_DEPLOYMENT_CAPABILITY_UNAVAILABLE,
};

static bool is_snake_case(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

START_TEST(every_code_has_its_own_name_and_summary)
{
    enum zsb_code code = (enum zsb_code)_i;
    const char *name = zsb_code_name(code);
    const char *summary = zsb_code_summary(code);
    ck_assert_msg(name != NULL && is_snake_case(name) && strcmp(name, "unknown") != 0, "code %d", _i);
    ck_assert_msg(summary != NULL && summary[0] >= 'A' && summary[0] <= 'Z', "%s: summary is a sentence",
                  name);
    ck_assert_msg(summary[strlen(summary) - 1] == '.' || strchr(summary, ';') != NULL,
                  "%s: summary ends as a sentence", name);
    ck_assert_msg(strchr(summary, '\n') == NULL, "%s: summary is one line", name);
    for (int other = 0; other < _i; other++) {
        ck_assert_str_ne(name, zsb_code_name((enum zsb_code)other));
        ck_assert_str_ne(summary, zsb_code_summary((enum zsb_code)other));
    }
}
END_TEST

START_TEST(every_stage_has_its_own_name)
{
    const char *name = zsb_stage_name((enum zsb_stage)_i);
    ck_assert_msg(name != NULL && is_snake_case(name) && strcmp(name, "unknown") != 0, "stage %d", _i);
    for (int other = 0; other < _i; other++)
        ck_assert_str_ne(name, zsb_stage_name((enum zsb_stage)other));
}
END_TEST

START_TEST(only_the_roadmaps_causes_allow_a_fallback)
{
    bool expected = false;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(eligible); i++)
        expected = expected || eligible[i] == (enum zsb_code)_i;
    ck_assert_msg(zsb_code_fallback_eligible((enum zsb_code)_i) == expected, "%s",
                  zsb_code_name((enum zsb_code)_i));
}
END_TEST

START_TEST(number_outside_the_enumeration_is_unknown_and_never_eligible)
{
    static const int outside[] = {-1, ZSB_E_COUNT, 1 << 30};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(outside); i++) {
        ck_assert_str_eq(zsb_code_name((enum zsb_code)outside[i]), "unknown");
        ck_assert_ptr_nonnull(zsb_code_summary((enum zsb_code)outside[i]));
        ck_assert_int_eq(zsb_code_fallback_eligible((enum zsb_code)outside[i]), 0);
        ck_assert_str_eq(zsb_stage_name((enum zsb_stage)outside[i]), "unknown");
    }
}
END_TEST

START_TEST(message_is_one_line_whatever_a_path_holds)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    int rc = zsb_error_set(&err, ZSB_E_IO, ZSB_STAGE_SPAWN, ENOENT, "%s", "a\nb\tc\x1b[31m\x7f");
    rc = zsb_error_detail(&err, rc, "sub\nject", "rea\rson");
    ck_assert_int_eq(rc, -ZSB_E_IO);
    ck_assert_str_eq(err.msg, "a?b?c?[31m?: No such file or directory");
    ck_assert_str_eq(err.subject, "sub?ject");
    ck_assert_str_eq(err.reason, "rea?son");
    ck_assert_int_eq(err.code, ZSB_E_IO);
    ck_assert_int_eq(err.stage, ZSB_STAGE_SPAWN);
    ck_assert_int_eq(err.sys_errno, ENOENT);
}
END_TEST

START_TEST(long_texts_are_cut_to_their_fields)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    char text[4096];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    int rc = zsb_error_set(&err, ZSB_E_IO, ZSB_STAGE_SPAWN, EPERM, "%s", text);
    (void)zsb_error_detail(&err, rc, text, text);
    ck_assert_uint_eq(strlen(err.msg), ZSB_ERROR_MSG_MAX - 1);
    ck_assert_uint_eq(strlen(err.subject), ZSB_ERROR_FIELD_MAX - 1);
    ck_assert_uint_eq(strlen(err.reason), ZSB_ERROR_FIELD_MAX - 1);
}
END_TEST

START_TEST(setting_an_error_forgets_the_one_before)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    (void)zsb_error_detail(&err, zsb_error_set(&err, ZSB_E_IO, ZSB_STAGE_SPAWN, EPERM, "one"), "s", "r");
    (void)zsb_error_no_memory(&err, ZSB_STAGE_POLICY);
    ck_assert_int_eq(err.code, ZSB_E_NO_MEMORY);
    ck_assert_int_eq(err.sys_errno, 0);
    ck_assert_str_eq(err.subject, "");
    ck_assert_str_eq(err.reason, "");
}
END_TEST

START_TEST(caller_may_not_want_the_error)
{
    ck_assert_int_eq(zsb_error_set(NULL, ZSB_E_LIMIT, ZSB_STAGE_POLICY, 0, "x"), -ZSB_E_LIMIT);
    ck_assert_int_eq(zsb_error_detail(NULL, -ZSB_E_LIMIT, "s", "r"), -ZSB_E_LIMIT);
}
END_TEST

/* interop: reports and records say denied/allowed, options say deny/allow. */
START_TEST(names_of_modes_and_networks_are_the_harness_ones)
{
    static const char *const modes[] = {"read-only", "workspace-write", "danger-full-access"};
    for (int i = 0; i < 3; i++) {
        enum zsb_mode mode = ZSB_MODE_READ_ONLY;
        ck_assert_str_eq(zsb_mode_name((enum zsb_mode)i), modes[i]);
        ck_assert_int_eq(zsb_mode_parse(modes[i], &mode), 0);
        ck_assert_int_eq(mode, i);
    }
    static const char *const wrong[] = {"", "readonly", "read_only", "READ-ONLY", "read-only ", NULL};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(wrong); i++) {
        enum zsb_mode mode = ZSB_MODE_WORKSPACE_WRITE;
        ck_assert_int_eq(zsb_mode_parse(wrong[i], &mode), -ZSB_E_INVALID_ARGUMENT);
        ck_assert_int_eq(mode, ZSB_MODE_WORKSPACE_WRITE);
    }
    ck_assert_str_eq(zsb_mode_name((enum zsb_mode)77), "unknown");
    ck_assert_str_eq(zsb_network_name(ZSB_NETWORK_DENIED), "denied");
    ck_assert_str_eq(zsb_network_name(ZSB_NETWORK_ALLOWED), "allowed");
    ck_assert_str_eq(zsb_network_option(ZSB_NETWORK_DENIED), "deny");
    ck_assert_str_eq(zsb_network_option(ZSB_NETWORK_ALLOWED), "allow");
    enum zsb_network network = ZSB_NETWORK_ALLOWED;
    ck_assert_int_eq(zsb_network_parse_option("deny", &network), 0);
    ck_assert_int_eq(network, ZSB_NETWORK_DENIED);
    ck_assert_int_eq(zsb_network_parse_option("allow", &network), 0);
    ck_assert_int_eq(network, ZSB_NETWORK_ALLOWED);
    ck_assert_int_eq(zsb_network_parse_option("denied", &network), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_network_parse_option("allowed", &network), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_network_parse_option(NULL, &network), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(network, ZSB_NETWORK_ALLOWED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *tests = zsb_test_case(suite, "error", 20);
    tcase_add_loop_test(tests, every_code_has_its_own_name_and_summary, 0, ZSB_E_COUNT);
    tcase_add_loop_test(tests, every_stage_has_its_own_name, 0, ZSB_STAGE_COUNT);
    tcase_add_loop_test(tests, only_the_roadmaps_causes_allow_a_fallback, 0, ZSB_E_COUNT);
    tcase_add_test(tests, number_outside_the_enumeration_is_unknown_and_never_eligible);
    tcase_add_test(tests, message_is_one_line_whatever_a_path_holds);
    tcase_add_test(tests, long_texts_are_cut_to_their_fields);
    tcase_add_test(tests, setting_an_error_forgets_the_one_before);
    tcase_add_test(tests, caller_may_not_want_the_error);
    tcase_add_test(tests, names_of_modes_and_networks_are_the_harness_ones);
    return zsb_test_run(suite, CK_FORK);
}
