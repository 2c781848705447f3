/* SPDX-License-Identifier: MIT
 *
 * What a worker says comes back as it was, or not at all.
 */
#include "verifier/tests/support.h"
#include "verifier/worker.h"

#include <errno.h>
#include <string.h>

static void make_arms(struct zsb_arm_result *arms, const char *saw)
{
    memset(arms, 0, ZSB_ARM_COUNT * sizeof(*arms));
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++) {
        arms[i].status = ZSB_ARM_COMPLETE;
        arms[i].via = strdup("fd");
        arms[i].detail = strdup("a \"detail\"\n");
        arms[i].wall_us = 123456;
        arms[i].attempt_count = 1;
        arms[i].attempts = calloc(1, sizeof(*arms[i].attempts));
        arms[i].attempts[0] = (struct zsb_attempt_result){.name = strdup("first"),
                                                          .reached = true,
                                                          .sys_errno = EROFS,
                                                          .witnessed = i == 0,
                                                          .saw = strdup(saw)};
    }
}

static void clear_arms(struct zsb_arm_result *arms)
{
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++)
        zsb_arm_result_clear(&arms[i]);
}

START_TEST(arms_come_back_as_they_were)
{
    struct zsb_arm_result sent[ZSB_ARM_COUNT], got[ZSB_ARM_COUNT];
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    make_arms(sent, "out/a: bytes");
    ck_assert_int_eq(zsb_transport_write(sent, &text), 0);
    ck_assert_ptr_null(zsb_transport_read(text.data, text.size_bytes, got));
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++) {
        ck_assert_int_eq((int)got[i].status, (int)ZSB_ARM_COMPLETE);
        ck_assert_str_eq(got[i].via, "fd");
        ck_assert_str_eq(got[i].detail, "a \"detail\"\n");
        ck_assert_int_eq(got[i].wall_us, 123456);
        ck_assert_uint_eq(got[i].attempt_count, 1);
        ck_assert_str_eq(got[i].attempts[0].name, "first");
        ck_assert_str_eq(got[i].attempts[0].saw, "out/a: bytes");
        ck_assert_int_eq(got[i].attempts[0].sys_errno, EROFS);
        ck_assert(got[i].attempts[0].reached && !got[i].attempts[0].absent);
        ck_assert(got[i].attempts[0].witnessed == (i == 0));
    }
    clear_arms(sent);
    clear_arms(got);
}
END_TEST

START_TEST(bytes_that_are_no_text_are_masked)
{
    struct zsb_arm_result sent[ZSB_ARM_COUNT], got[ZSB_ARM_COUNT];
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    make_arms(sent, "out/\xff\xfe");
    ck_assert_int_eq(zsb_transport_write(sent, &text), 0);
    ck_assert_ptr_null(zsb_transport_read(text.data, text.size_bytes, got));
    ck_assert_str_eq(got[0].attempts[0].saw, "out/??");
    clear_arms(sent);
    clear_arms(got);
}
END_TEST

START_TEST(no_part_of_a_message_is_taken_for_a_whole)
{
    struct zsb_arm_result sent[ZSB_ARM_COUNT], got[ZSB_ARM_COUNT];
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    make_arms(sent, "");
    ck_assert_int_eq(zsb_transport_write(sent, &text), 0);
    for (size_t size = 0; size < text.size_bytes; size++) {
        ZSB_AUTO_FREE char *part = strndup(text.data, size);
        ck_assert_msg(zsb_transport_read(part, size, got) != NULL, "%zu of %zu bytes", size, text.size_bytes);
    }
    clear_arms(sent);
}
END_TEST

#define ROW "{\"name\":\"a\",\"reached\":true,\"absent\":false,\"errno\":0,\"witnessed\":false,\"saw\":\"\"}"
#define ARM(status, rows)                                                                                    \
    "{\"status\":" status ",\"via\":\"\",\"detail\":\"\",\"wall_us\":0,\"attempts\":[" rows "]}"
static const char *const broken[] = {
    "null",
    "[]",
    "[" ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("1", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("99", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("-1", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("\"complete\"", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("1", "{}") "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("1", "{\"name\":\"a\",\"reached\":1,\"absent\":false,\"errno\":0,\"witnessed\":false,\"saw\":"
                 "\"\"}") "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[" ARM("1", "{\"name\":\"a\",\"reached\":true,\"absent\":false,\"errno\":99999,\"witnessed\":false,"
                 "\"saw\":\"\"}") "," ARM("1", ROW) "," ARM("1", ROW) "]",
    "[null,null,null]",
    "[" ARM("1", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "] trailing",
};

START_TEST(anything_else_is_refused)
{
    struct zsb_arm_result got[ZSB_ARM_COUNT];
    ck_assert_msg(zsb_transport_read(broken[_i], strlen(broken[_i]), got) != NULL, "%s", broken[_i]);
}
END_TEST

START_TEST(the_rows_above_are_broken_by_one_thing_only)
{
    struct zsb_arm_result got[ZSB_ARM_COUNT];
    const char fine[] = "[" ARM("1", ROW) "," ARM("1", ROW) "," ARM("1", ROW) "]";
    ck_assert_ptr_null(zsb_transport_read(fine, sizeof(fine) - 1, got));
    clear_arms(got);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transport");
    TCase *tcase = tcase_create("json");
    tcase_add_test(tcase, arms_come_back_as_they_were);
    tcase_add_test(tcase, bytes_that_are_no_text_are_masked);
    tcase_add_test(tcase, no_part_of_a_message_is_taken_for_a_whole);
    tcase_add_loop_test(tcase, anything_else_is_refused, 0, (int)ZSB_ARRAY_SIZE(broken));
    tcase_add_test(tcase, the_rows_above_are_broken_by_one_thing_only);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
