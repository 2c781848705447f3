/* SPDX-License-Identifier: MIT
 *
 * Standard streams and granted descriptors: what enters, what is relayed, what stays outside. Without forks:
 * sandboxes are not started below Check's.
 */
#include "lib/tests/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const backends[] = {"bubblewrap", "native"};
static struct zsb_live live;

static void clear(void)
{
    zsb_live_clear(&live);
}

static void init(int index)
{
    zsb_live_init(&live, backends[index % 2], ZSB_MODE_READ_ONLY);
}

static void inherit(int stream, int fd)
{
    live.run.stdio[stream] = ZSB_STDIO_INHERIT;
    live.run.stdio_fds[stream] = fd;
}

static int open_for(const char *name, int flags)
{
    int fd = open(zsb_test_at("%s", name), flags | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

START_TEST(outputs_are_captured_apart)
{
    init(_i);
    (void)zsb_live_shell(&live, "echo out; echo err >&2; printf 'a\\0b'");
    ck_assert_uint_eq(live.outcome.captured_bytes[1], 7);
    ck_assert_mem_eq(live.outcome.captured[1], "out\na\0b", 8);
    ck_assert_str_eq(live.outcome.captured[2], "err\n");
    ck_assert_ptr_null(live.outcome.captured[0]);
    ck_assert_int_eq(live.outcome.truncated[1], 0);
}
END_TEST

START_TEST(capture_stops_at_its_maximum_and_the_command_does_not)
{
    init(_i);
    live.run.capture_max_bytes = 10;
    (void)zsb_live_shell(&live, "printf 0123456789; echo ok >&2; seq 100000; echo end >&2");
    ck_assert_uint_eq(live.outcome.captured_bytes[1], 10);
    ck_assert_str_eq(live.outcome.captured[1], "0123456789");
    ck_assert_int_eq(live.outcome.truncated[1], 1);
    ck_assert_str_eq(live.outcome.captured[2], "ok\nend\n");
    ck_assert_int_eq(live.outcome.truncated[2], 0);
    ck_assert_int_eq(live.outcome.exit_status, 0);
}
END_TEST

START_TEST(capture_of_exactly_the_maximum_is_whole)
{
    init(_i);
    live.run.capture_max_bytes = 10;
    (void)zsb_live_shell(&live, "printf 0123456789");
    ck_assert_uint_eq(live.outcome.captured_bytes[1], 10);
    ck_assert_int_eq(live.outcome.truncated[1], 0);
}
END_TEST

START_TEST(default_maximum_is_a_mebibyte)
{
    init(_i);
    (void)zsb_live_shell(&live, "head -c 1048577 /dev/zero");
    ck_assert_uint_eq(live.outcome.captured_bytes[1], 1 << 20);
    ck_assert_int_eq(live.outcome.truncated[1], 1);
}
END_TEST

START_TEST(null_stream_is_the_null_device)
{
    init(_i);
    live.run.stdio[2] = ZSB_STDIO_NULL;
    ck_assert_str_eq(zsb_live_shell(&live, "cat; readlink /proc/self/fd/0 /proc/self/fd/2"),
                     "/dev/null\n/dev/null\n");
}
END_TEST

START_TEST(regular_file_as_input_is_relayed)
{
    init(_i);
    zsb_test_write(zsb_test_at("input"), "line one\nline two\n");
    ZSB_AUTO_FD int fd = open_for("input", O_RDWR);
    inherit(0, fd);
    ck_assert_str_eq(zsb_live_shell(&live, "readlink /proc/self/fd/0 | cut -c1-5; cat"),
                     "pipe:\nline one\nline two\n");
}
END_TEST

START_TEST(directory_as_input_is_the_end_of_input)
{
    init(_i);
    ZSB_AUTO_FD int fd = open(zsb_test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    inherit(0, fd);
    ck_assert_str_eq(zsb_live_shell(&live, "readlink /proc/self/fd/0 | cut -c1-5; cat; echo end"),
                     "pipe:\nend\n");
}
END_TEST

START_TEST(socket_as_input_and_output_is_relayed)
{
    int fds[2];
    char text[64];
    init(_i);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    ck_assert_int_eq(write(fds[1], "hello\n", 6), 6);
    ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
    inherit(0, fds[0]);
    inherit(1, fds[0]);
    (void)zsb_live_shell(&live, "readlink /proc/self/fd/0 | cut -c1-5; cat");
    ssize_t n = recv(fds[1], text, sizeof(text) - 1, MSG_DONTWAIT);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_str_eq(text, "pipe:\nhello\n");
    (void)close(fds[0]);
    (void)close(fds[1]);
}
END_TEST

START_TEST(pipe_enters_as_it_is)
{
    int fds[2];
    struct stat st;
    init(_i);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    ck_assert_int_eq(write(fds[1], "x\n", 2), 2);
    ck_assert_int_eq(fstat(fds[0], &st), 0);
    (void)close(fds[1]);
    inherit(0, fds[0]);
    const char *output = zsb_live_shell(&live, "readlink /proc/self/fd/0; cat");
    ck_assert_str_eq(output, zsb_test_text("pipe:[%llu]\nx\n", (unsigned long long)st.st_ino));
    (void)close(fds[0]);
}
END_TEST

START_TEST(file_as_output_is_a_pipe_inside)
{
    init(_i);
    ZSB_AUTO_FD int fd = open_for("output", O_WRONLY | O_CREAT);
    inherit(1, fd);
    (void)zsb_live_shell(&live, "readlink /proc/self/fd/1 | cut -c1-5; echo text");
    ck_assert_str_eq(zsb_test_read(zsb_test_at("output")), "pipe:\ntext\n");
    ck_assert_ptr_null(live.outcome.captured[1]);
}
END_TEST

START_TEST(two_outputs_to_one_file_keep_their_order)
{
    init(_i);
    ZSB_AUTO_FD int out = open_for("output", O_WRONLY | O_CREAT | (_i / 2 == 0 ? O_APPEND : 0));
    ZSB_AUTO_FD int err = fcntl(out, F_DUPFD_CLOEXEC, 3);
    inherit(1, out);
    inherit(2, err);
    (void)zsb_live_shell(&live, "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done");
    ck_assert_str_eq(zsb_test_read(zsb_test_at("output")),
                     "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\no6\ne6\no7\ne7\no8\ne8\no9\ne9\n");
}
END_TEST

START_TEST(large_output_arrives_byte_for_byte)
{
    enum { LINES = 4 << 20, LINE_BYTES = 16 };
    init(_i);
    ZSB_AUTO_FD int fd = open_for("output", O_RDWR | O_CREAT);
    inherit(1, fd);
    (void)zsb_live_shell(&live, "seq -f %015.0f 0 4194303");
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), (off_t)LINES * LINE_BYTES);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ZSB_AUTO_FREE char *block = malloc(1 << 20);
    long long expected = 0;
    for (ssize_t n; (n = read(fd, block, 1 << 20)) > 0;)
        for (ssize_t at = 0; at < n; at += LINE_BYTES, expected++)
            if (strtoll(block + at, NULL, 10) != expected || block[at + LINE_BYTES - 1] != '\n')
                ck_abort_msg("line %lld is wrong", expected);
    ck_assert_int_eq(expected, LINES);
}
END_TEST

START_TEST(large_input_arrives_byte_for_byte)
{
    init(_i);
    zsb_test_command((const char *const[]){"sh", "-c", "seq 2000000 > \"$0\"", zsb_test_at("input"), NULL});
    const char *const words[] = {
        "sh", "-c", "cksum < \"$0\" > \"$1\"", zsb_test_at("input"), zsb_test_at("sum"), NULL};
    zsb_test_command(words);
    ZSB_AUTO_FD int fd = open_for("input", O_RDONLY);
    inherit(0, fd);
    ck_assert_str_eq(zsb_live_shell(&live, "cksum"), zsb_test_read(zsb_test_at("sum")));
}
END_TEST

/* SIGPIPE would kill the caller. */
START_TEST(input_that_nobody_reads_does_not_hurt)
{
    init(_i);
    zsb_test_command((const char *const[]){"sh", "-c", "seq 200000 > \"$0\"", zsb_test_at("input"), NULL});
    ZSB_AUTO_FD int fd = open_for("input", O_RDONLY);
    inherit(0, fd);
    ck_assert_str_eq(zsb_live_shell(&live, "exec 0<&-; sleep 0.2; echo end"), "end\n");
    sigset_t pending;
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
}
END_TEST

START_TEST(output_that_cannot_be_written_does_not_hang)
{
    init(_i);
    ZSB_AUTO_FD int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    inherit(1, full);
    (void)zsb_live_shell(&live, "seq 100000; exit 4");
    ck_assert_int_eq(live.outcome.exit_status, 4);
}
END_TEST

/* Closes 0, 1, 2 as some daemons do; `closed` says which. */
static int run_without_streams(int index, unsigned closed)
{
    zsb_live_init(&live, backends[index % 2], ZSB_MODE_READ_ONLY);
    ZSB_AUTO_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        live.run.stdio[i] = ZSB_STDIO_INHERIT;
        if (dup2(null_fd, i) != i || ((closed & (1u << i)) != 0 && close(i) != 0))
            return 9;
    }
    const char *const words[] = {"sh", "-c", "echo out; echo err >&2; cat", NULL};
    if (zsb_live_prepare(&live, words) != 0)
        return 10;
    if (zsb_run(live.prepared, &live.run, &live.outcome, &live.err) != 0)
        return 11;
    if (live.outcome.stage != ZSB_STAGE_NONE)
        return 12;
    return live.outcome.exited && live.outcome.exit_status == 0 ? 0 : 13;
}

START_TEST(caller_without_standard_streams_can_run_commands)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(run_without_streams(_i, (unsigned)_i / 2 + 1));
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "closed 0x%x: status 0x%x", (unsigned)_i / 2 + 1, (unsigned)status);
}
END_TEST

/* B41: what the caller forgot to close stays outside; what it grants enters under its number. */
START_TEST(only_grants_enter)
{
    init(_i);
    zsb_test_write(zsb_test_at("granted"), "granted");
    zsb_test_write(zsb_test_at("forgotten"), "forgotten");
    enum { GRANT = 9, FORGOTTEN = 60 }; /* dash reads one digit */
    int file = open_for("granted", O_RDONLY);
    int grants[] = {fcntl(file, F_DUPFD, GRANT)};
    (void)close(file);
    ck_assert_int_eq(grants[0], GRANT);
    int forgotten[] = {open(zsb_test_at("forgotten"), O_RDWR), open("/", O_RDONLY | O_DIRECTORY),
                       socket(AF_INET, SOCK_DGRAM, 0), fcntl(0, F_DUPFD, FORGOTTEN)};
    live.request.grant_fds = grants;
    live.request.grant_fd_count = 1;
    /* The loop's own directory is open while it reads: ls would show its own. */
    const char *output = zsb_live_shell(
        &live,
        "cat <&9; i=3; while [ $i -lt 256 ]; do [ -e /proc/$$/fd/$i ] && echo \" $i\"; i=$((i+1)); done");
    /* dash keeps a copy of nothing; only the grant is there. */
    ck_assert_str_eq(output, "granted 9\n");
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(forgotten); i++)
        (void)close(forgotten[i]);
    (void)close(grants[0]);
}
END_TEST

START_TEST(several_grants_keep_their_numbers)
{
    enum { COUNT = ZSB_REQUEST_GRANTS_MAX };
    int grants[COUNT];
    init(_i);
    for (int i = 0; i < COUNT; i++) {
        const char *name = zsb_test_text("file%d", i);
        zsb_test_write(zsb_test_at("%s", name), zsb_test_text("%d\n", i));
        int fd = open_for(name, O_RDONLY);
        grants[i] = fcntl(fd, F_DUPFD, 100 + 2 * i);
        (void)close(fd);
        ck_assert_int_eq(grants[i], 100 + 2 * i);
    }
    live.request.grant_fds = grants;
    live.request.grant_fd_count = COUNT;
    const char *output =
        zsb_live_shell(&live, "i=100; while [ $i -lt 228 ]; do cat /proc/self/fd/$i; i=$((i+2)); done");
    ZSB_AUTO_BUF expected = ZSB_BUF_INIT;
    for (int i = 0; i < COUNT; i++) {
        zsb_buf_addf(&expected, "%d\n", i);
        (void)close(grants[i]);
    }
    ck_assert_str_eq(output, expected.data);
}
END_TEST

static const struct {
    int fd;
    size_t count;
    enum zsb_code code;
    const char *reason;
} bad_grants[] = {
    {0, 1, ZSB_E_INVALID_ARGUMENT, "a standard stream is no grant"},
    {2, 1, ZSB_E_INVALID_ARGUMENT, "a standard stream is no grant"},
    {-1, 1, ZSB_E_INVALID_ARGUMENT, "negative"},
    {9999, 1, ZSB_E_INVALID_ARGUMENT, "not open"},
    {3, ZSB_REQUEST_GRANTS_MAX + 1, ZSB_E_LIMIT, "too many"},
};

START_TEST(bad_grant_is_refused)
{
    size_t row = (size_t)_i / 2;
    int grants[ZSB_REQUEST_GRANTS_MAX + 1];
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(grants); i++)
        grants[i] = bad_grants[row].fd;
    init(_i);
    live.request.grant_fds = grants;
    live.request.grant_fd_count = bad_grants[row].count;
    ck_assert_msg(zsb_live_prepare(&live, (const char *const[]){"true", NULL}) == -(int)bad_grants[row].code,
                  "%s: %s", bad_grants[row].reason, live.err.msg);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_POLICY);
}
END_TEST

START_TEST(program_descriptor_that_is_not_open_or_a_stream_is_refused)
{
    init(_i);
    live.request.program_fd = _i / 2 == 0 ? 9999 : 0;
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), -ZSB_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(empty_command_is_refused)
{
    const char *const words[] = {_i / 2 == 0 ? NULL : "", NULL};
    init(_i);
    ck_assert_int_eq(zsb_live_prepare(&live, words), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_POLICY);
}
END_TEST

/* No descriptor to be had: a typed error, and nothing started or left. */
START_TEST(exhausted_descriptors_are_an_error)
{
    struct rlimit before;
    init(_i);
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), 0);
    size_t open_now = zsb_test_count_fds();
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t room = 0; room < 12; room++) {
        struct rlimit tight = {.rlim_cur = open_now + room, .rlim_max = before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
        int rc = zsb_run(live.prepared, &live.run, &live.outcome, &live.err);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (rc == 0) {
            ck_assert_int_eq(live.outcome.certain, 1);
            zsb_outcome_clear(&live.outcome);
        } else {
            ck_assert_msg(live.err.stage == ZSB_STAGE_SPAWN, "%s", live.err.msg);
        }
        ck_assert_uint_eq(zsb_test_count_fds(), open_now);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    }
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("streams");
    TCase *tests = zsb_test_case(suite, "streams", 60);
    tcase_add_checked_fixture(tests, NULL, clear);
    tcase_add_loop_test(tests, outputs_are_captured_apart, 0, 2);
    tcase_add_loop_test(tests, capture_stops_at_its_maximum_and_the_command_does_not, 0, 2);
    tcase_add_loop_test(tests, capture_of_exactly_the_maximum_is_whole, 0, 2);
    tcase_add_loop_test(tests, default_maximum_is_a_mebibyte, 0, 2);
    tcase_add_loop_test(tests, null_stream_is_the_null_device, 0, 2);
    tcase_add_loop_test(tests, regular_file_as_input_is_relayed, 0, 2);
    tcase_add_loop_test(tests, directory_as_input_is_the_end_of_input, 0, 2);
    tcase_add_loop_test(tests, socket_as_input_and_output_is_relayed, 0, 2);
    tcase_add_loop_test(tests, pipe_enters_as_it_is, 0, 2);
    tcase_add_loop_test(tests, file_as_output_is_a_pipe_inside, 0, 2);
    tcase_add_loop_test(tests, two_outputs_to_one_file_keep_their_order, 0, 4);
    tcase_add_loop_test(tests, large_output_arrives_byte_for_byte, 0, 2);
    tcase_add_loop_test(tests, large_input_arrives_byte_for_byte, 0, 2);
    tcase_add_loop_test(tests, input_that_nobody_reads_does_not_hurt, 0, 2);
    tcase_add_loop_test(tests, output_that_cannot_be_written_does_not_hang, 0, 2);
    tcase_add_loop_test(tests, caller_without_standard_streams_can_run_commands, 0, 14);
    tcase_add_loop_test(tests, only_grants_enter, 0, 2);
    tcase_add_loop_test(tests, several_grants_keep_their_numbers, 0, 2);
    tcase_add_loop_test(tests, bad_grant_is_refused, 0, 2 * (int)ZSB_ARRAY_SIZE(bad_grants));
    tcase_add_loop_test(tests, program_descriptor_that_is_not_open_or_a_stream_is_refused, 0, 4);
    tcase_add_loop_test(tests, empty_command_is_refused, 0, 4);
    tcase_add_loop_test(tests, exhausted_descriptors_are_an_error, 0, 2);
    return zsb_test_run(suite, CK_NOFORK);
}
