/* SPDX-License-Identifier: MIT */
#include "gate/file.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

static void make_directory(void)
{
    snprintf(directory, sizeof(directory), "/tmp/zsb-test-file-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, directory), 0);
}

static char *in_directory(const char *name)
{
    return zsb_strdupf("%s/%s", directory, name);
}

static void assert_holds(const char *path, const char *text)
{
    ZSB_AUTO_FREE char *data = NULL;
    ck_assert_int_eq(zsb_read_file_at(AT_FDCWD, path, 4096, &data, NULL), 0);
    ck_assert_str_eq(data, text);
}

static size_t names_in_directory(void)
{
    size_t count = 0;
    DIR *dir = opendir(directory);
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

static void write_once(const char *path, const char *text)
{
    struct zsb_file *file = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_file_open(path, &file, &err) == 0, "%s", err.msg);
    ck_assert_msg(zsb_file_write(file, text, strlen(text), &err) == 0, "%s", err.msg);
    zsb_file_close(file);
}

START_TEST(file_is_complete_private_and_alone)
{
    ZSB_AUTO_FREE char *path = in_directory("outcome.json");
    write_once(path, "one");
    write_once(path, "two");
    assert_holds(path, "two");
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_uint_eq(names_in_directory(), 1);
}
END_TEST

START_TEST(nothing_is_left_when_nothing_was_written)
{
    ZSB_AUTO_FREE char *path = in_directory("outcome.json");
    struct zsb_file *file = NULL;
    ck_assert_int_eq(zsb_file_open(path, &file, NULL), 0);
    zsb_file_close(file);
    ck_assert_uint_eq(names_in_directory(), 0);
}
END_TEST

START_TEST(link_put_there_meanwhile_is_replaced_and_not_followed)
{
    ZSB_AUTO_FREE char *path = in_directory("outcome.json");
    ZSB_AUTO_FREE char *victim = in_directory("victim");
    write_once(victim, "untouched");
    struct zsb_file *file = NULL;
    ck_assert_int_eq(zsb_file_open(path, &file, NULL), 0);
    ck_assert_int_eq(symlink(victim, path), 0);
    ck_assert_int_eq(zsb_file_write(file, "text", 4, NULL), 0);
    zsb_file_close(file);
    assert_holds(victim, "untouched");
    assert_holds(path, "text");
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISREG(st.st_mode));
}
END_TEST

START_TEST(directory_swapped_meanwhile_does_not_redirect)
{
    ZSB_AUTO_FREE char *real = in_directory("real");
    ZSB_AUTO_FREE char *moved = in_directory("moved");
    ZSB_AUTO_FREE char *path = in_directory("real/outcome.json");
    ZSB_AUTO_FREE char *expected = in_directory("moved/outcome.json");
    ck_assert_int_eq(mkdir(real, 0700), 0);
    struct zsb_file *file = NULL;
    ck_assert_int_eq(zsb_file_open(path, &file, NULL), 0);
    ck_assert_int_eq(rename(real, moved), 0);
    ck_assert_int_eq(symlink("/nowhere", real), 0);
    ck_assert_int_eq(zsb_file_write(file, "text", 4, NULL), 0);
    zsb_file_close(file);
    assert_holds(expected, "text");
}
END_TEST

START_TEST(link_to_a_file_is_refused_and_left_alone)
{
    ZSB_AUTO_FREE char *path = in_directory("link");
    ZSB_AUTO_FREE char *victim = in_directory("victim");
    if (_i == 0)
        write_once(victim, "untouched"); /* else it dangles */
    ck_assert_int_eq(symlink(victim, path), 0);
    struct zsb_file *file = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_lt(zsb_file_open(path, &file, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.msg, "symbolic link"));
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    if (_i == 0)
        assert_holds(victim, "untouched");
    else
        ck_assert_int_eq(lstat(victim, &st), -1);
}
END_TEST

/* What /dev/stdout is, without risking the real one. */
START_TEST(link_to_our_own_output_is_written_through_and_stays_a_link)
{
    ZSB_AUTO_FREE char *path = in_directory("stdout");
    ZSB_AUTO_FREE char *target = in_directory("target");
    write_once(target, "before ");
    ck_assert_int_eq(symlink("/proc/self/fd/1", path), 0);
    ZSB_AUTO_FD int saved = dup(STDOUT_FILENO);
    ZSB_AUTO_FD int fd = open(target, O_WRONLY | O_APPEND | O_CLOEXEC);
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    struct zsb_file *file = NULL;
    const int opened = zsb_file_open(path, &file, NULL);
    const int written = opened ? opened : zsb_file_write(file, "after", 5, NULL);
    ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    zsb_file_close(file);
    ck_assert_int_eq(written, 0);
    assert_holds(target, "before after");
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(device_is_written_through_and_stays_a_device)
{
    write_once("/dev/null", "text");
    struct stat st;
    ck_assert_int_eq(lstat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

START_TEST(pipe_gets_the_text)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    char path[32];
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    write_once(path, "text");
    char text[8] = {0};
    ck_assert_int_eq(read(ends[0], text, sizeof(text) - 1), 4);
    ck_assert_str_eq(text, "text");
    close(ends[0]);
    close(ends[1]);
}
END_TEST

static const struct {
    const char *name; /* relative to the test's directory unless absolute */
    const char *why;
} impossible[] = {
    {"missing/outcome.json", "no such directory"},
    {"outcome.json/", "no name"},
    {".", "a directory"},
    {"..", "a directory"},
    {"sub", "an existing directory"},
    {"fifo", "a pipe nobody reads"},
    {"plain/outcome.json", "a file is no directory"},
    {"", "no name at all"},
};

START_TEST(impossible_destination_is_known_before_the_work)
{
    ZSB_AUTO_FREE char *sub = in_directory("sub");
    ZSB_AUTO_FREE char *fifo = in_directory("fifo");
    ZSB_AUTO_FREE char *plain = in_directory("plain");
    ck_assert_int_eq(mkdir(sub, 0700), 0);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    write_once(plain, "text");
    ZSB_AUTO_FREE char *path = in_directory(impossible[_i].name);
    struct zsb_file *file = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_file_open(path, &file, &err) < 0, "%s", impossible[_i].why);
    ck_assert_int_eq(err.code, ZSB_E_IO);
    ck_assert_msg(strstr(err.msg, path) != NULL, "%s", err.msg);
    ck_assert_ptr_null(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *tests = tcase_create("file");
    tcase_set_timeout(tests, 20);
    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    tcase_add_test(tests, file_is_complete_private_and_alone);
    tcase_add_test(tests, nothing_is_left_when_nothing_was_written);
    tcase_add_test(tests, link_put_there_meanwhile_is_replaced_and_not_followed);
    tcase_add_test(tests, directory_swapped_meanwhile_does_not_redirect);
    tcase_add_loop_test(tests, link_to_a_file_is_refused_and_left_alone, 0, 2);
    tcase_add_test(tests, link_to_our_own_output_is_written_through_and_stays_a_link);
    tcase_add_test(tests, device_is_written_through_and_stays_a_device);
    tcase_add_test(tests, pipe_gets_the_text);
    tcase_add_loop_test(tests, impossible_destination_is_known_before_the_work, 0,
                        (int)ZSB_ARRAY_SIZE(impossible));
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
