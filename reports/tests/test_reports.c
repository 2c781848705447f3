/* SPDX-License-Identifier: MIT
 *
 * Golden files. After an intended change: ZSB_UPDATE_GOLDEN=1 test_reports, then read the diff.
 */
#include "reports/tests/fixture.h"

#include "reports/clean.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REPORTS = 24 };

START_TEST(report_matches_its_golden_file)
{
    const struct fixture_report *report = fixture_report_at((size_t)_i);
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(report->write(&text, &err), 0);
    ZSB_AUTO_FREE char *path = zsb_strdupf("%s/%s", ZSB_GOLDEN_DIR, report->name);
    if (getenv("ZSB_UPDATE_GOLDEN")) {
        ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        ck_assert_int_eq(zsb_write_all(fd, text.data, text.size_bytes), 0);
    }
    ZSB_AUTO_FREE char *golden = NULL;
    ck_assert_msg(zsb_read_file_at(AT_FDCWD, path, 1 << 20, &golden, NULL) == 0, "%s cannot be read", path);
    ck_assert_msg(strcmp(golden, text.data) == 0, "%s differs; the report is now:\n%s", report->name,
                  text.data);
}
END_TEST

START_TEST(report_is_valid_utf8_and_json_parses)
{
    const struct fixture_report *report = fixture_report_at((size_t)_i);
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    ck_assert_int_eq(report->write(&text, NULL), 0);
    ck_assert_msg(zsb_is_utf8(text.data), "%s", report->name);
    if (report->json) {
        cJSON *parsed = cJSON_Parse(text.data);
        ck_assert_msg(parsed != NULL, "%s", report->name);
        cJSON_Delete(parsed);
    }
}
END_TEST

START_TEST(text_report_holds_no_escape_without_colour_and_no_trailing_space)
{
    const struct fixture_report *report = fixture_report_at((size_t)_i);
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    ck_assert_int_eq(report->write(&text, NULL), 0);
    if (!report->json)
        ck_assert_msg(!strstr(text.data, " \n"), "%s has a trailing space", report->name);
    if (!strstr(report->name, "colour"))
        ck_assert_msg(!strchr(text.data, '\x1b'), "%s has an escape", report->name);
    else
        ck_assert_ptr_nonnull(strchr(text.data, '\x1b'));
}
END_TEST

START_TEST(report_that_does_not_fit_is_an_error)
{
    const struct fixture_report *report = fixture_report_at((size_t)_i);
    struct zsb_buf small = ZSB_BUF_INIT;
    small.max_bytes = 16;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_lt(report->write(&small, &err), 0);
    ck_assert_int_eq(err.code, ZSB_E_LIMIT);
    zsb_buf_clear(&small);
}
END_TEST

START_TEST(every_report_is_in_these_loops)
{
    ck_assert_ptr_nonnull(fixture_report_at(REPORTS - 1));
    ck_assert_ptr_null(fixture_report_at(REPORTS));
}
END_TEST

static const struct {
    const char *in, *utf8, *line, *why;
} cleanings[] = {
    {"plain", "plain", "plain", "ascii stays"},
    {"", "", "", "empty stays"},
    {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\xA7", "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\xA7",
     "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\xA7", "well-formed sequences of every length stay"},
    {"a\xFFz", "a\xEF\xBF\xBDz", "a\xEF\xBF\xBDz", "a byte that never occurs"},
    {"\xC3", "\xEF\xBF\xBD", "\xEF\xBF\xBD", "a sequence cut off by the end"},
    {"\xE2\x82z", "\xEF\xBF\xBD\xEF\xBF\xBDz", "\xEF\xBF\xBD\xEF\xBF\xBDz",
     "a sequence cut off by a character"},
    {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD", "\xEF\xBF\xBD\xEF\xBF\xBD", "overlong"},
    {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
     "surrogate"},
    {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "past U+10FFFF"},
    {"a\nb\x1b[2J\x7f", "a\nb\x1b[2J\x7f",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD[2J\xEF\xBF\xBD",
     "controls go from lines only"},
    {"\xC2\x9B", "\xC2\x9B", "\xEF\xBF\xBD", "C1 controls steer terminals too"},
    {"\xE2\x80\xAE"
     "x",
     "\xE2\x80\xAE"
     "x",
     "\xEF\xBF\xBDx", "bidirectional override"},
};

START_TEST(foreign_bytes_are_cleaned)
{
    ZSB_AUTO_BUF utf8 = ZSB_BUF_INIT;
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_add(&utf8, "");
    zsb_buf_add(&line, "");
    zsb_clean_utf8(&utf8, cleanings[_i].in);
    zsb_clean_line(&line, cleanings[_i].in);
    ck_assert_msg(strcmp(utf8.data ? utf8.data : "", cleanings[_i].utf8) == 0, "%s", cleanings[_i].why);
    ck_assert_msg(strcmp(line.data ? line.data : "", cleanings[_i].line) == 0, "%s", cleanings[_i].why);
}
END_TEST

/* Every pair and many longer strings of bytes: the result is always valid, and valid input never changes. */
START_TEST(any_bytes_become_valid_utf8)
{
    uint32_t state = 12345;
    for (unsigned round = 0; round < 65536 + 20000; round++) {
        char text[9] = {0};
        if (round < 65536) {
            text[0] = (char)(round >> 8);
            text[1] = (char)(round & 0xFF);
        } else {
            for (size_t i = 0; i < 8; i++) {
                state = state * 1664525u + 1013904223u;
                text[i] = (char)(state >> 24);
            }
        }
        ZSB_AUTO_BUF clean = ZSB_BUF_INIT;
        zsb_clean_utf8(&clean, text);
        const char *result = clean.data ? clean.data : "";
        ck_assert(zsb_is_utf8(result));
        if (zsb_is_utf8(text))
            ck_assert_str_eq(result, text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reports");
    TCase *golden = tcase_create("golden");
    tcase_set_timeout(golden, 30);
    tcase_add_loop_test(golden, report_matches_its_golden_file, 0, REPORTS);
    tcase_add_loop_test(golden, report_is_valid_utf8_and_json_parses, 0, REPORTS);
    tcase_add_loop_test(golden, text_report_holds_no_escape_without_colour_and_no_trailing_space, 0, REPORTS);
    tcase_add_loop_test(golden, report_that_does_not_fit_is_an_error, 0, REPORTS);
    tcase_add_test(golden, every_report_is_in_these_loops);
    suite_add_tcase(suite, golden);
    TCase *clean = tcase_create("clean");
    tcase_set_timeout(clean, 60);
    tcase_add_loop_test(clean, foreign_bytes_are_cleaned, 0, (int)ZSB_ARRAY_SIZE(cleanings));
    tcase_add_test(clean, any_bytes_become_valid_utf8);
    suite_add_tcase(suite, clean);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
