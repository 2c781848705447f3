/* SPDX-License-Identifier: MIT */
#include "lib/tests/support.h"
#include "lib/util/stub.h"
#include "lib/util/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

START_TEST(buffer_grows_and_stays_terminated)
{
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    for (int i = 0; i < 1000; i++)
        zsb_buf_addf(&buf, "%03d", i);
    zsb_buf_addc(&buf, '!');
    ck_assert_uint_eq(buf.size_bytes, 3001);
    ck_assert_uint_eq(strlen(buf.data), 3001);
    ck_assert(!buf.failed);
}
END_TEST

static const struct {
    size_t max_bytes;
    const char *first;
    const char *second;
    bool fails;
    const char *kept;
    const char *reason;
} maxima[] = {
    {4, "abcd", "", false, "abcd", "exactly the maximum fits"},
    {4, "abc", "de", true, "abc", "an append that does not fit adds nothing of itself"},
    {4, "abcde", "", true, NULL, "a first append that is too large leaves no data"},
    {4, "abcde", "x", true, NULL, "a failed buffer stays failed"},
};

START_TEST(buffer_never_passes_its_maximum)
{
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    buf.max_bytes = maxima[_i].max_bytes;
    zsb_buf_add(&buf, maxima[_i].first);
    zsb_buf_add(&buf, maxima[_i].second);
    ck_assert_msg(buf.failed == maxima[_i].fails, "%s", maxima[_i].reason);
    ck_assert_msg(maxima[_i].kept == NULL ? buf.size_bytes == 0 : strcmp(buf.data, maxima[_i].kept) == 0,
                  "%s", maxima[_i].reason);
    ZSB_AUTO_FREE char *taken = zsb_buf_take(&buf);
    ck_assert_msg((taken == NULL) == maxima[_i].fails, "%s", maxima[_i].reason);
    ck_assert_uint_eq(buf.size_bytes, 0);
    ck_assert_uint_eq(buf.max_bytes, maxima[_i].max_bytes);
}
END_TEST

START_TEST(default_maximum_is_64_mebibytes)
{
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    ZSB_AUTO_FREE char *chunk = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(chunk);
    for (int i = 0; i < 64; i++)
        zsb_buf_append(&buf, chunk, 1 << 20);
    ck_assert(!buf.failed);
    zsb_buf_addc(&buf, 'x');
    ck_assert(buf.failed);
    ck_assert_uint_eq(buf.size_bytes, (size_t)64 << 20);
}
END_TEST

START_TEST(size_that_would_overflow_is_refused)
{
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    zsb_buf_addc(&buf, 'a');
    zsb_buf_append(&buf, "b", SIZE_MAX);
    ck_assert(buf.failed);
    ck_assert_str_eq(buf.data, "a");
}
END_TEST

START_TEST(taking_an_empty_buffer_gives_an_empty_string)
{
    struct zsb_buf buf = ZSB_BUF_INIT;
    ZSB_AUTO_FREE char *taken = zsb_buf_take(&buf);
    ck_assert_str_eq(taken, "");
}
END_TEST

START_TEST(string_vector_copies_and_is_null_terminated)
{
    ZSB_AUTO_STRV v = ZSB_STRV_INIT;
    char word[] = "word";
    zsb_strv_add(&v, word);
    word[0] = 'W';
    for (int i = 1; i < 100; i++)
        zsb_strv_addf(&v, "%d", i);
    ck_assert(!v.failed);
    ck_assert_uint_eq(v.count, 100);
    ck_assert_str_eq(v.items[0], "word");
    ck_assert_str_eq(v.items[99], "99");
    ck_assert_ptr_null(v.items[100]);
}
END_TEST

static const struct {
    const char *text;
    bool valid;
    const char *reason;
} utf8[] = {
    {"", true, "the empty string is valid"},
    {"plain", true, "ASCII is valid"},
    {"\x7f", true, "DEL is ASCII"},
    {"\xc2\x80", true, "U+0080 is the first of two bytes"},
    {"\xdf\xbf", true, "U+07FF is the last of two bytes"},
    {"\xe0\xa0\x80", true, "U+0800 is the first of three bytes"},
    {"\xed\x9f\xbf", true, "U+D7FF is the last before the surrogates"},
    {"\xee\x80\x80", true, "U+E000 is the first after the surrogates"},
    {"\xef\xbf\xbf", true, "U+FFFF is valid UTF-8"},
    {"\xf0\x90\x80\x80", true, "U+10000 is the first of four bytes"},
    {"\xf4\x8f\xbf\xbf", true, "U+10FFFF is the last code point"},
    {"a\xc3\xa4z", true, "mixed lengths are valid"},
    {"\x80", false, "a continuation byte cannot start"},
    {"\xbf", false, "a continuation byte cannot start"},
    {"\xc0\x80", false, "overlong NUL"},
    {"\xc0\xaf", false, "overlong slash"},
    {"\xc1\xbf", false, "overlong DEL"},
    {"\xe0\x80\xaf", false, "overlong slash in three bytes"},
    {"\xe0\x9f\xbf", false, "overlong U+07FF"},
    {"\xf0\x80\x80\xaf", false, "overlong slash in four bytes"},
    {"\xf0\x8f\xbf\xbf", false, "overlong U+FFFF"},
    {"\xed\xa0\x80", false, "first surrogate"},
    {"\xed\xbf\xbf", false, "last surrogate"},
    {"\xf4\x90\x80\x80", false, "U+110000 is above Unicode"},
    {"\xf5\x80\x80\x80", false, "F5 never occurs"},
    {"\xff", false, "FF never occurs"},
    {"\xc3", false, "cut short at the end"},
    {"\xe2\x82", false, "cut short at the end"},
    {"\xf0\x9f\x98", false, "cut short at the end"},
    {"\xc3(", false, "continuation byte is missing"},
    {"ok\xe2\x28\xa1", false, "bad second byte"},
};

START_TEST(utf8_is_what_the_rfc_says)
{
    ck_assert_msg(zsb_is_utf8(utf8[_i].text) == utf8[_i].valid, "%s", utf8[_i].reason);
}
END_TEST

static const struct {
    const char *path;
    const char *root;
    bool within;
    const char *reason;
} within[] = {
    {"/a/b", "/a/b", true, "a path is within itself"},
    {"/a/b/c", "/a/b", true, "a child is within"},
    {"/a/bc", "/a/b", false, "a longer name is another name"},
    {"/a", "/a/b", false, "a parent is not within"},
    {"/", "/", true, "the root is within itself"},
    {"/x", "/", true, "everything is within the root"},
    {"x", "/", false, "a relative path is not"},
    {"/a/b", "/a/b/", true, "a trailing slash of the root does not matter"},
    {"/a/bc", "/a/b//", false, "nor do several, also where it is not within"},
    {"", "/", false, "nothing is not within"},
    {"/ab", "//", true, "several slashes are the root"},
};

START_TEST(path_is_within_by_components)
{
    ck_assert_msg(zsb_path_within(within[_i].path, within[_i].root) == within[_i].within, "%s",
                  within[_i].reason);
}
END_TEST

static const struct {
    const char *text;
    uint64_t max;
    bool valid;
    uint64_t value;
    const char *reason;
} numbers[] = {
    {"0", 10, true, 0, "zero"},
    {"10", 10, true, 10, "the maximum itself"},
    {"11", 10, false, 0, "above the maximum"},
    {"007", 10, true, 7, "leading zeros are decimal"},
    {"18446744073709551615", UINT64_MAX, true, UINT64_MAX, "the largest"},
    {"18446744073709551616", UINT64_MAX, false, 0, "one more wraps"},
    {"99999999999999999999999", UINT64_MAX, false, 0, "many digits wrap"},
    {"", 10, false, 0, "empty"},
    {NULL, 10, false, 0, "no text"},
    {"-1", 10, false, 0, "sign"},
    {"+1", 10, false, 0, "sign"},
    {" 1", 10, false, 0, "space in front"},
    {"1 ", 10, false, 0, "space behind"},
    {"1x", 10, false, 0, "letters behind"},
    {"0x1", 10, false, 0, "hexadecimal"},
};

START_TEST(number_is_decimal_and_whole)
{
    uint64_t value = 4711;
    ck_assert_msg(zsb_parse_u64(numbers[_i].text, numbers[_i].max, &value) == numbers[_i].valid, "%s",
                  numbers[_i].reason);
    ck_assert_msg(value == (numbers[_i].valid ? numbers[_i].value : 4711), "%s", numbers[_i].reason);
}
END_TEST

START_TEST(file_over_the_maximum_is_refused_whole)
{
    const char *path = zsb_test_at("file");
    char *data = NULL;
    size_t size = 0;
    zsb_test_write(path, "12345");
    ck_assert_int_eq(zsb_read_file_at(AT_FDCWD, path, 5, &data, &size), 0);
    ck_assert_uint_eq(size, 5);
    ck_assert_str_eq(data, "12345");
    free(data);
    ck_assert_int_eq(zsb_read_file_at(AT_FDCWD, path, 4, &data, &size), -EFBIG);
    ck_assert_int_eq(zsb_read_file_at(AT_FDCWD, zsb_test_at("none"), 4, &data, &size), -ENOENT);
}
END_TEST

START_TEST(descriptor_flags_are_set_and_cleared)
{
    ZSB_AUTO_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(zsb_set_cloexec(fd, false), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), 0);
    ck_assert_int_eq(zsb_set_cloexec(fd, true), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(zsb_set_nonblock(fd, true), 0);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(zsb_set_nonblock(fd, false), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(zsb_set_cloexec(-1, true), -EBADF);
    ck_assert_int_eq(zsb_set_nonblock(-1, true), -EBADF);
}
END_TEST

START_TEST(stolen_things_are_no_longer_owned)
{
    int fd = 7;
    ck_assert_int_eq(zsb_steal_fd(&fd), 7);
    ck_assert_int_eq(fd, -1);
    char text[] = "x";
    char *pointer = text;
    ck_assert_ptr_eq(zsb_steal_ptr(&pointer), text);
    ck_assert_ptr_null(pointer);
}
END_TEST

START_TEST(cleanup_keeps_errno)
{
    errno = EDOM;
    {
        ZSB_AUTO_FREE char *text = malloc(8);
        ZSB_AUTO_FD int fd = 9999; /* closing it fails with EBADF */
        (void)text;
        (void)fd;
    }
    ck_assert_int_eq(errno, EDOM);
}
END_TEST

START_TEST(random_hex_has_the_length_asked_for_and_varies)
{
    char one[33];
    char two[33];
    ck_assert_int_eq(zsb_random_hex(one, 16), 0);
    ck_assert_int_eq(zsb_random_hex(two, 16), 0);
    ck_assert_uint_eq(strlen(one), 32);
    ck_assert_uint_eq(strspn(one, "0123456789abcdef"), 32);
    ck_assert_str_ne(one, two);
    ck_assert_int_eq(zsb_random_hex(NULL, 65), -EINVAL);
}
END_TEST

START_TEST(removing_a_tree_does_not_follow_links)
{
    zsb_test_mkdir(zsb_test_at("outside"));
    zsb_test_write(zsb_test_at("outside/kept"), "kept");
    zsb_test_mkdir(zsb_test_at("tree"));
    zsb_test_mkdir(zsb_test_at("tree/deep"));
    zsb_test_write(zsb_test_at("tree/deep/file"), "gone");
    zsb_test_symlink(zsb_test_at("outside"), zsb_test_at("tree/link"));
    zsb_test_symlink(zsb_test_at("outside/kept"), zsb_test_at("tree/deep/link"));
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("tree")), 0);
    ck_assert(!zsb_test_exists(zsb_test_at("tree")));
    ck_assert_str_eq(zsb_test_read(zsb_test_at("outside/kept")), "kept");
}
END_TEST

START_TEST(removing_a_link_leaves_its_target)
{
    zsb_test_mkdir(zsb_test_at("outside"));
    zsb_test_write(zsb_test_at("outside/kept"), "kept");
    zsb_test_symlink("outside", zsb_test_at("link"));
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("link")), 0);
    ck_assert(!zsb_test_exists(zsb_test_at("link")));
    ck_assert(zsb_test_exists(zsb_test_at("outside/kept")));
}
END_TEST

START_TEST(removing_a_tree_opens_directories_of_mode_0000)
{
    zsb_test_mkdir(zsb_test_at("tree"));
    zsb_test_mkdir(zsb_test_at("tree/shut"));
    zsb_test_mkdir(zsb_test_at("tree/shut/inner"));
    zsb_test_write(zsb_test_at("tree/shut/inner/file"), "x");
    ck_assert_int_eq(chmod(zsb_test_at("tree/shut/inner"), 0), 0);
    ck_assert_int_eq(chmod(zsb_test_at("tree/shut"), 0), 0);
    ck_assert_int_eq(chmod(zsb_test_at("tree"), 0500), 0);
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("tree")), 0);
    ck_assert(!zsb_test_exists(zsb_test_at("tree")));
}
END_TEST

START_TEST(removing_what_is_not_there_is_success)
{
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("none")), 0);
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("none/below")), 0);
}
END_TEST

START_TEST(tree_too_deep_to_walk_is_an_error)
{
    ZSB_AUTO_FD int dir = open(zsb_test_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(mkdirat(dir, "d", 0755), 0);
        int next = openat(dir, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(next, 0);
        (void)close(dir);
        dir = next;
    }
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, zsb_test_at("d")), -ELOOP);
    zsb_test_command((const char *const[]){"rm", "-rf", zsb_test_at("d"), NULL});
}
END_TEST

static const struct {
    mode_t mode;
    bool directory;
    bool filled;
    bool stub;
    const char *reason;
} stubs[] = {
    {ZSB_STUB_MODE, true, false, true, "empty directory of ours with the stub mode"},
    {ZSB_STUB_MODE, true, true, false, "somebody filled it: it is real now"},
    {0755, true, false, false, "an ordinary empty directory is real"},
    {0500, true, false, false, "sticky bit is missing"},
    {ZSB_STUB_MODE, false, false, false, "a file is never a stub"},
};

START_TEST(stub_is_told_from_a_real_entry)
{
    const char *path = zsb_test_at("entry");
    if (stubs[_i].directory)
        zsb_test_mkdir(path);
    else
        zsb_test_write(path, "");
    if (stubs[_i].filled)
        zsb_test_write(zsb_test_at("entry/file"), "");
    ck_assert_int_eq(chmod(path, stubs[_i].mode), 0);
    ZSB_AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_msg(zsb_is_stub(fd, &st) == stubs[_i].stub, "%s", stubs[_i].reason);
}
END_TEST

START_TEST(stub_of_somebody_else_is_real)
{
    zsb_test_mkdir(zsb_test_at("entry"));
    ck_assert_int_eq(chmod(zsb_test_at("entry"), ZSB_STUB_MODE), 0);
    ZSB_AUTO_FD int fd = open(zsb_test_at("entry"), O_PATH | O_CLOEXEC);
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    st.st_uid = geteuid() + 1;
    ck_assert(!zsb_is_stub(fd, &st));
}
END_TEST

START_TEST(message_travels_with_its_descriptor)
{
    int fds[2];
    char text[ZSB_WIRE_MAX];
    int received = -1;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    ck_assert_int_eq(zsb_wire_send(fds[0], ZSB_WIRE_PID, fds[0]), 0);
    ck_assert_int_eq(zsb_wire_receive(fds[1], text, &received), (int)strlen(ZSB_WIRE_PID));
    ck_assert_str_eq(text, ZSB_WIRE_PID);
    ck_assert_int_ge(received, 0);
    ck_assert_int_eq(fcntl(received, F_GETFD), FD_CLOEXEC);
    (void)close(received);
    ck_assert_int_eq(zsb_wire_send(fds[0], ZSB_WIRE_TERM, -1), 0);
    ck_assert_int_gt(zsb_wire_receive(fds[1], text, &received), 0);
    ck_assert_int_eq(received, -1);
    (void)close(fds[0]);
    ck_assert_int_eq(zsb_wire_receive(fds[1], text, &received), 0);
    ck_assert_int_eq(zsb_wire_send(fds[1], "x", -1), -EPIPE);
    (void)close(fds[1]);
    ck_assert_int_eq(zsb_wire_receive(-1, text, &received), -EBADF);
}
END_TEST

START_TEST(message_longer_than_the_maximum_is_cut_and_terminated)
{
    int fds[2];
    char text[ZSB_WIRE_MAX];
    char longer[2 * ZSB_WIRE_MAX];
    int received = -1;
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    ck_assert_int_eq(zsb_wire_send(fds[0], longer, -1), 0);
    ck_assert_int_eq(zsb_wire_receive(fds[1], text, &received), ZSB_WIRE_MAX - 1);
    ck_assert_uint_eq(strlen(text), ZSB_WIRE_MAX - 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("util");
    TCase *tests = zsb_test_case(suite, "util", 20);
    tcase_add_test(tests, buffer_grows_and_stays_terminated);
    tcase_add_loop_test(tests, buffer_never_passes_its_maximum, 0, (int)ZSB_ARRAY_SIZE(maxima));
    tcase_add_test(tests, default_maximum_is_64_mebibytes);
    tcase_add_test(tests, size_that_would_overflow_is_refused);
    tcase_add_test(tests, taking_an_empty_buffer_gives_an_empty_string);
    tcase_add_test(tests, string_vector_copies_and_is_null_terminated);
    tcase_add_loop_test(tests, utf8_is_what_the_rfc_says, 0, (int)ZSB_ARRAY_SIZE(utf8));
    tcase_add_loop_test(tests, path_is_within_by_components, 0, (int)ZSB_ARRAY_SIZE(within));
    tcase_add_loop_test(tests, number_is_decimal_and_whole, 0, (int)ZSB_ARRAY_SIZE(numbers));
    tcase_add_test(tests, file_over_the_maximum_is_refused_whole);
    tcase_add_test(tests, descriptor_flags_are_set_and_cleared);
    tcase_add_test(tests, stolen_things_are_no_longer_owned);
    tcase_add_test(tests, cleanup_keeps_errno);
    tcase_add_test(tests, random_hex_has_the_length_asked_for_and_varies);
    tcase_add_test(tests, removing_a_tree_does_not_follow_links);
    tcase_add_test(tests, removing_a_link_leaves_its_target);
    tcase_add_test(tests, removing_a_tree_opens_directories_of_mode_0000);
    tcase_add_test(tests, removing_what_is_not_there_is_success);
    tcase_add_test(tests, tree_too_deep_to_walk_is_an_error);
    tcase_add_loop_test(tests, stub_is_told_from_a_real_entry, 0, (int)ZSB_ARRAY_SIZE(stubs));
    tcase_add_test(tests, stub_of_somebody_else_is_real);
    tcase_add_test(tests, message_travels_with_its_descriptor);
    tcase_add_test(tests, message_longer_than_the_maximum_is_cut_and_terminated);
    return zsb_test_run(suite, CK_FORK);
}
