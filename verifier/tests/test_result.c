/* SPDX-License-Identifier: MIT
 *
 * The result protocol's reader: what counts as a report, and what spoils one.
 */
#include "verifier/result.h"
#include "verifier/tests/support.h"

#include <string.h>

#define NONCE "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define LINE(text) "ZSB1 " NONCE " " text "\n"
#define HELLO LINE("hello test.probe attempt fd")
#define FIRST LINE("result first 1 30 -")
#define SECOND LINE("result second 1 0 666c6167")
#define DONE LINE("done")

static const char *const names[] = {"first", "second"};
static const struct zsb_report_form form = {.nonce = NONCE,
                                            .probe_id = "test.probe",
                                            .what = "attempt",
                                            .channel = ZSB_CHANNEL_FD,
                                            .names = names,
                                            .name_count = 2};

START_TEST(a_whole_report_is_read)
{
    struct zsb_report report;
    const char text[] = HELLO FIRST SECOND DONE;
    zsb_result_parse(text, sizeof(text) - 1, &form, &report);
    ck_assert(zsb_report_is_complete(&report, &form));
    ck_assert(report.rows[0].reached);
    ck_assert_int_eq(report.rows[0].sys_errno, 30);
    ck_assert_ptr_null(report.rows[0].capture);
    ck_assert_uint_eq(report.rows[1].capture_size, 4);
    ck_assert_mem_eq(report.rows[1].capture, "flag", 4);
    zsb_report_clear(&report);
}
END_TEST

#define TEXT(literal) literal, sizeof(literal) - 1
static const struct {
    const char *text;
    size_t size;
    bool complete, hello, malformed;
    const char *reason;
} rows[] = {
    {TEXT(HELLO FIRST SECOND DONE), true, true, false, "a_report_is_complete"},
    {TEXT("noise\n" HELLO "\n" FIRST "more noise\n" SECOND DONE "tail"), true, true, false,
     "noise_is_somebody_elses"},
    {TEXT("ZSB1 " OTHER " hello test.probe attempt fd\n" HELLO FIRST SECOND DONE), true, true, false,
     "a_line_with_another_nonce_is_somebody_elses"},
    {TEXT("ZSB1 " OTHER " hello test.probe attempt fd\nZSB1 " OTHER " result first 1 30 -\nZSB1 " OTHER
          " result second 1 30 -\nZSB1 " OTHER " done\n"),
     false, false, false, "a_replayed_report_is_no_report"},
    {TEXT(""), false, false, false, "nothing_is_no_report"},
    {TEXT(HELLO FIRST SECOND "ZSB1 " NONCE " done"), false, true, false,
     "a_line_without_its_end_does_not_count"},
    {TEXT(HELLO FIRST), false, true, false, "a_truncated_report_is_incomplete"},
    {TEXT(HELLO FIRST "ZSB1 " NONCE " result sec"), false, true, false, "a_truncated_line_is_incomplete"},
    {TEXT(HELLO HELLO FIRST SECOND DONE), false, true, true, "a_second_hello_spoils_it"},
    {TEXT(FIRST SECOND DONE), false, false, true, "a_result_before_hello_spoils_it"},
    {TEXT(HELLO SECOND FIRST DONE), false, true, true, "results_out_of_order_spoil_it"},
    {TEXT(HELLO FIRST FIRST SECOND DONE), false, true, true, "a_repeated_result_spoils_it"},
    {TEXT(HELLO FIRST SECOND SECOND DONE), false, true, true, "more_results_than_attempts_spoil_it"},
    {TEXT(HELLO FIRST DONE), false, true, true, "done_before_every_result_spoils_it"},
    {TEXT(DONE), false, false, true, "done_alone_spoils_it"},
    {TEXT(HELLO FIRST SECOND DONE DONE), false, true, true, "a_line_after_done_spoils_it"},
    {TEXT(LINE("hello other.probe attempt fd")), false, false, true, "hello_of_another_probe_spoils_it"},
    {TEXT(LINE("hello test.probe benign fd")), false, false, true, "hello_of_another_arm_spoils_it"},
    {TEXT(LINE("hello test.probe attempt stdout")), false, false, true, "hello_of_another_channel_spoils_it"},
    {TEXT(LINE("hello test.probe attempt")), false, false, true, "a_short_hello_spoils_it"},
    {TEXT(HELLO LINE("result first 1 30")), false, true, true, "a_short_result_spoils_it"},
    {TEXT(HELLO LINE("result first 2 30 -")), false, true, true, "reached_is_0_or_1"},
    {TEXT(HELLO LINE("result first 1 -1 -")), false, true, true, "a_negative_errno_spoils_it"},
    {TEXT(HELLO LINE("result first 1 4096 -")), false, true, true, "an_errno_over_the_maximum_spoils_it"},
    {TEXT(HELLO LINE("result first 1 030 -")), false, true, true, "a_leading_zero_spoils_it"},
    {TEXT(HELLO LINE("result first 1 99999999999 -")), false, true, true, "a_huge_errno_spoils_it"},
    {TEXT(HELLO LINE("result first 1  -")), false, true, true, "an_empty_word_spoils_it"},
    {TEXT(HELLO LINE("result first 1 30 6")), false, true, true, "half_a_byte_of_capture_spoils_it"},
    {TEXT(HELLO LINE("result first 1 30 6G")), false, true, true, "capture_is_hex"},
    {TEXT(HELLO LINE("result first 1 30 6A")), false, true, true, "capture_is_lowercase_hex"},
    {TEXT(HELLO LINE("result first 1 30 ")), false, true, true, "an_empty_capture_spoils_it"},
    {TEXT(HELLO LINE("result first 1 30 - and more and more")), false, true, true, "too_many_words_spoil_it"},
    {TEXT(HELLO LINE("result first 1 3\0000 -")), false, true, true, "a_NUL_in_a_line_of_ours_spoils_it"},
    {TEXT("\0\0\0\n" HELLO FIRST SECOND DONE), true, true, false, "a_NUL_elsewhere_is_noise"},
    {TEXT(HELLO LINE("verdict held")), false, true, true, "an_unknown_line_spoils_it"},
    {TEXT(HELLO LINE("")), false, true, true, "an_empty_line_of_ours_spoils_it"},
    {TEXT(" " HELLO), false, false, false, "a_line_must_start_with_the_magic"},
    {TEXT("ZSB2 " NONCE " hello test.probe attempt fd\n"), false, false, false,
     "another_magic_is_somebody_elses"},
};

START_TEST(only_a_strict_report_counts)
{
    struct zsb_report report;
    zsb_result_parse(rows[_i].text, rows[_i].size, &form, &report);
    ck_assert_msg(zsb_report_is_complete(&report, &form) == rows[_i].complete, "%s", rows[_i].reason);
    ck_assert_msg(report.hello == rows[_i].hello, "%s", rows[_i].reason);
    ck_assert_msg((report.malformed != NULL) == rows[_i].malformed, "%s: %s", rows[_i].reason,
                  report.malformed != NULL ? report.malformed : "well-formed");
    zsb_report_clear(&report);
}
END_TEST

/* What a reader sees while the bytes come in must never be complete before the last one. */
START_TEST(no_prefix_of_a_report_is_complete)
{
    const char text[] = HELLO FIRST SECOND DONE;
    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        struct zsb_report report;
        zsb_result_parse(text, size, &form, &report);
        ck_assert_msg(!zsb_report_is_complete(&report, &form), "complete after %zu bytes", size);
        ck_assert_msg(report.malformed == NULL, "spoiled after %zu bytes: %s", size, report.malformed);
        zsb_report_clear(&report);
    }
}
END_TEST

START_TEST(a_capture_of_the_maximum_is_read_and_a_longer_one_spoils_it)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        ZSB_AUTO_BUF text = ZSB_BUF_INIT;
        struct zsb_report report;
        zsb_buf_add(&text, HELLO "ZSB1 " NONCE " result first 1 0 ");
        for (size_t i = 0; i < ZSB_CAPTURE_BYTES_MAX + extra; i++)
            zsb_buf_add(&text, "61");
        zsb_buf_add(&text, "\n");
        zsb_result_parse(text.data, text.size_bytes, &form, &report);
        ck_assert_uint_eq(report.row_count, 1 - extra);
        ck_assert((report.malformed != NULL) == (extra == 1));
        zsb_report_clear(&report);
    }
}
END_TEST

START_TEST(a_stream_over_the_maximum_is_no_report)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    struct zsb_report report;
    zsb_buf_add(&text, HELLO FIRST SECOND DONE);
    while (text.size_bytes <= ZSB_REPORT_BYTES_MAX)
        zsb_buf_add(&text, "padding padding padding padding padding padding padding padding padding\n");
    zsb_result_parse(text.data, text.size_bytes, &form, &report);
    ck_assert(!zsb_report_is_complete(&report, &form));
    ck_assert_ptr_nonnull(report.malformed);
    zsb_report_clear(&report);
}
END_TEST

START_TEST(a_report_without_attempts_is_hello_and_done)
{
    struct zsb_report_form canary = form;
    struct zsb_report report;
    const char text[] = HELLO DONE;
    canary.name_count = 0;
    zsb_result_parse(text, sizeof(text) - 1, &canary, &report);
    ck_assert(zsb_report_is_complete(&report, &canary));
    zsb_report_clear(&report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("result");
    TCase *tcase = tcase_create("protocol");
    tcase_add_test(tcase, a_whole_report_is_read);
    tcase_add_loop_test(tcase, only_a_strict_report_counts, 0, (int)ZSB_ARRAY_SIZE(rows));
    tcase_add_test(tcase, no_prefix_of_a_report_is_complete);
    tcase_add_test(tcase, a_capture_of_the_maximum_is_read_and_a_longer_one_spoils_it);
    tcase_add_test(tcase, a_stream_over_the_maximum_is_no_report);
    tcase_add_test(tcase, a_report_without_attempts_is_hello_and_done);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
