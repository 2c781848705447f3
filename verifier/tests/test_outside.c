/* SPDX-License-Identifier: MIT
 *
 * The objects outside: a witness that cannot see an attack would call everything held, so each is attacked
 * here.
 */
#include "verifier/child.h"
#include "verifier/listeners.h"
#include "verifier/procscan.h"
#include "verifier/terminal.h"
#include "verifier/tests/support.h"
#include "verifier/victim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLAG "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"

/* ---- victim */

static struct zsb_victim victim;
static int secret = -1;

static void start_victim(void)
{
    secret = memfd_create("secret", MFD_CLOEXEC);
    ck_assert_int_ge(secret, 0);
    ck_assert_int_eq((int)write(secret, FLAG, 32), 32);
    ck_assert_int_eq(zsb_victim_start(ZSB_TEST_VICTIM, FLAG, OTHER, secret, &victim), 0);
}

static void end_victim(void)
{
    zsb_victim_end(&victim);
    (void)close(secret);
}

START_TEST(the_victim_holds_its_flags_where_it_says)
{
    char text[4096], path[64];
    struct iovec here = {text, 32}, there = {(void *)victim.read_address, 32};
    ck_assert_int_eq((int)process_vm_readv(victim.pid, &here, 1, &there, 1, 0), 32);
    ck_assert_int_eq(memcmp(text, FLAG, 32), 0);
    (void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)victim.pid);
    ZSB_AUTO_FD int environment = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(environment, text, sizeof(text) - 1);
    ck_assert_int_gt((int)n, 0);
    ck_assert_ptr_nonnull(memmem(text, (size_t)n, OTHER, 32));
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)victim.pid, ZSB_VICTIM_SECRET_FD);
    ZSB_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq((int)pread(fd, text, 32, 0), 32);
    ck_assert_int_eq(memcmp(text, FLAG, 32), 0);
}
END_TEST

START_TEST(an_undisturbed_victim_reports_nothing)
{
    static const unsigned char zeros[ZSB_VICTIM_BUFFER_BYTES];
    zsb_victim_examine(&victim);
    ck_assert(victim.answered && !victim.dead && !victim.stopped);
    ck_assert(!zsb_victim_was_disturbed(&victim));
    ck_assert_mem_eq(victim.memory, zeros, sizeof(zeros));
}
END_TEST

START_TEST(written_memory_is_reported)
{
    char text[] = FLAG;
    struct iovec here = {text, 32}, there = {(void *)(victim.write_address + 100), 32};
    ck_assert_int_eq((int)process_vm_writev(victim.pid, &here, 1, &there, 1, 0), 32);
    zsb_victim_examine(&victim);
    ck_assert(victim.answered);
    ck_assert_mem_eq(victim.memory + 100, FLAG, 32);
}
END_TEST

static const char *const signals[] = {"USR1",  "USR2",    "TERM", "HUP", "INT",
                                      "RTMIN", "RTMIN+3", "STOP", "KILL"};

START_TEST(a_signal_is_reported_and_no_other)
{
    int number = zsb_signal_number(signals[_i]);
    ck_assert_int_gt(number, 0);
    ck_assert_int_eq(kill(victim.pid, number), 0);
    if (number == SIGSTOP || number == SIGKILL) {
        siginfo_t info;
        int what = number == SIGSTOP ? WSTOPPED : WEXITED;
        ck_assert_int_eq(waitid(P_PID, (id_t)victim.pid, &info, what | WNOWAIT), 0);
    }
    zsb_victim_examine(&victim);
    ck_assert(zsb_victim_was_disturbed(&victim));
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(signals); i++)
        ck_assert_msg(zsb_victim_received(&victim, zsb_signal_number(signals[i])) == ((int)i == _i),
                      "sent %s, asked about %s", signals[_i], signals[i]);
    ck_assert(victim.answered == (number != SIGKILL));
}
END_TEST

START_TEST(unknown_signal_names_are_zero)
{
    static const char *const unknown[] = {"", "USR3", "SIGUSR1", "RTMIN+", "RTMIN+99", "RTMINX", "usr1"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(unknown); i++)
        ck_assert_msg(zsb_signal_number(unknown[i]) == 0, "%s", unknown[i]);
    ck_assert(!zsb_victim_received(&victim, 0));
    ck_assert(!zsb_victim_received(&victim, 1000));
}
END_TEST

START_TEST(a_victim_that_does_not_exist_is_an_error)
{
    struct zsb_victim none;
    ck_assert_int_lt(zsb_victim_start("/nonexistent", FLAG, OTHER, secret, &none), 0);
    ck_assert_int_lt(zsb_victim_start("/bin/true", FLAG, OTHER, secret, &none), 0);
}
END_TEST

/* ---- listeners */

static struct zsb_test_dir dir;
static struct zsb_listeners listeners;

static void open_listeners(void)
{
    zsb_test_dir_make(&dir);
    zsb_listeners_init(&listeners);
    ck_assert_int_eq(zsb_listeners_open(&listeners, dir.fd, dir.path, FLAG), 0);
}

static void close_listeners(void)
{
    zsb_listeners_close(&listeners);
    zsb_test_dir_remove(&dir);
}

/* Connects (and sends, unless `text` is NULL) as a probe would. */
static void contact(unsigned which, const char *text)
{
    const struct zsb_listener_state *state = &listeners.items[which];
    struct sockaddr_storage address = {0};
    socklen_t size = 0;
    bool stream = which == ZSB_LISTENER_TCP4 || which == ZSB_LISTENER_TCP6 ||
                  which == ZSB_LISTENER_UNIX_STREAM || which == ZSB_LISTENER_ABSTRACT_STREAM;
    if (which == ZSB_LISTENER_FIFO) {
        ZSB_AUTO_FD int fifo = open(state->name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        ck_assert_int_eq((int)write(fifo, text, strlen(text)), (int)strlen(text));
        return;
    }
    if (state->port != 0) {
        bool v6 = which == ZSB_LISTENER_TCP6 || which == ZSB_LISTENER_UDP6;
        struct sockaddr_in *v4_address = (struct sockaddr_in *)&address;
        struct sockaddr_in6 *v6_address = (struct sockaddr_in6 *)&address;
        address.ss_family = v6 ? AF_INET6 : AF_INET;
        if (v6) {
            v6_address->sin6_port = htons((uint16_t)state->port);
            v6_address->sin6_addr = in6addr_loopback;
        } else {
            v4_address->sin_port = htons((uint16_t)state->port);
            v4_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        }
        size = v6 ? sizeof(*v6_address) : sizeof(*v4_address);
    } else {
        struct sockaddr_un *unix_address = (struct sockaddr_un *)&address;
        size_t at = state->name[0] == '/' ? 0 : 1;
        unix_address->sun_family = AF_UNIX;
        memcpy(unix_address->sun_path + at, state->name, strlen(state->name));
        size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + strlen(state->name));
    }
    ZSB_AUTO_FD int fd = socket(address.ss_family, (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, size), 0);
    if (text != NULL)
        ck_assert_int_eq((int)send(fd, text, strlen(text), 0), (int)strlen(text));
}

START_TEST(every_listener_keeps_what_reaches_it)
{
    struct zsb_listener_state *state = &listeners.items[_i];
    if (state->fd < 0)
        return; /* no IPv6 here */
    contact((unsigned)_i, FLAG);
    contact((unsigned)_i, OTHER);
    zsb_listeners_pump(&listeners);
    /* A FIFO keeps no borders between writers. */
    ck_assert_uint_eq(state->contacts, _i == ZSB_LISTENER_FIFO ? 1 : 2);
    ck_assert_ptr_nonnull(memmem(state->data.data, state->data.size_bytes, FLAG, 32));
    ck_assert_ptr_nonnull(memmem(state->data.data, state->data.size_bytes, OTHER, 32));
    ck_assert(!zsb_listener_met_silence(state));
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++)
        ck_assert_msg(i == (unsigned)_i || listeners.items[i].contacts == 0, "%s heard it, too",
                      zsb_listener_name((enum zsb_listener)i));
}
END_TEST

START_TEST(a_connection_without_bytes_is_noticed)
{
    contact(ZSB_LISTENER_TCP4, FLAG);
    contact(ZSB_LISTENER_TCP4, NULL);
    contact(ZSB_LISTENER_UNIX_STREAM, NULL);
    contact(ZSB_LISTENER_UNIX_DGRAM, "");
    zsb_listeners_pump(&listeners);
    ck_assert(zsb_listener_met_silence(&listeners.items[ZSB_LISTENER_TCP4]));
    ck_assert(zsb_listener_met_silence(&listeners.items[ZSB_LISTENER_UNIX_STREAM]));
    ck_assert(zsb_listener_met_silence(&listeners.items[ZSB_LISTENER_UNIX_DGRAM]));
    ck_assert(!zsb_listener_met_silence(&listeners.items[ZSB_LISTENER_ABSTRACT_STREAM]));
}
END_TEST

START_TEST(listeners_are_found_by_name)
{
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++)
        ck_assert_uint_eq((unsigned)zsb_listener_find(zsb_listener_name((enum zsb_listener)i)), i);
    ck_assert_int_eq((int)zsb_listener_find("tcp"), (int)ZSB_LISTENER_COUNT);
    ck_assert_str_eq(zsb_listener_name(ZSB_LISTENER_COUNT), "unknown");
}
END_TEST

/* ---- terminal */

START_TEST(only_typed_input_is_seen)
{
    struct zsb_terminal terminal;
    zsb_terminal_init(&terminal);
    ck_assert_int_eq(zsb_terminal_open(&terminal), 0);
    ck_assert_int_eq((int)write(terminal.slave, "output", 6), 6); /* to the screen, not into the keyboard */
    zsb_terminal_pump(&terminal);
    ck_assert_uint_eq(terminal.input.size_bytes, 0);
    ck_assert_int_eq((int)write(terminal.master, FLAG, 32), 32); /* what a keyboard does */
    struct pollfd typed = {.fd = terminal.slave, .events = POLLIN};
    ck_assert_int_eq(poll(&typed, 1, 5000), 1);
    zsb_terminal_pump(&terminal);
    ck_assert_uint_eq(terminal.input.size_bytes, 32);
    ck_assert_mem_eq(terminal.input.data, FLAG, 32);
    zsb_terminal_close(&terminal);
}
END_TEST

/* ---- processes */

/* A child that waits until it is killed; `name` becomes its comm. */
static pid_t start_sleeper(const char *name)
{
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = zsb_child_fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)prctl(PR_SET_NAME, name);
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static void end_sleeper(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(a_process_is_known_by_nonce_binary_and_words)
{
    char self[PATH_MAX];
    struct stat st;
    static const struct {
        const char *words;
        size_t size;
        bool genuine;
    } cases[] = {
        {"-c\0read line; : " FLAG, sizeof("-c\0read line; : " FLAG), true},
        {"-c\0read line; : " OTHER, sizeof("-c\0read line; : " OTHER), false},
        {"", 0, false},
    };
    ck_assert_ptr_nonnull(realpath("/bin/sh", self));
    ck_assert_int_eq(stat(self, &st), 0);
    int input[2]; /* the shell waits for a line that never comes */
    ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
    pid_t pid = zsb_child_fork();
    if (pid == 0) {
        (void)dup2(input[0], 0);
        (void)execl("/bin/sh", "sh", "-c", "read line; : " FLAG, (char *)NULL);
        _exit(127);
    }
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(cases); i++) {
        struct zsb_proc_mark mark = {FLAG, st.st_dev, st.st_ino, cases[i].words, cases[i].size};
        struct zsb_procs procs;
        int64_t deadline_us = zsb_now_us() + 5000000;
        do /* until it has executed */
            ck_assert_int_eq(zsb_procscan_find(&mark, &procs), 0);
        while (procs.count == 0 && zsb_now_us() < deadline_us);
        ck_assert_uint_eq(procs.count, 1);
        ck_assert_int_eq(procs.items[0].pid, pid);
        ck_assert_msg(procs.items[0].genuine == cases[i].genuine, "row %zu", i);
        ck_assert((zsb_procs_first(&procs) != NULL) == cases[i].genuine);
        mark.exe_inode++;
        ck_assert_int_eq(zsb_procscan_find(&mark, &procs), 0);
        ck_assert(!procs.items[0].genuine);
    }
    zsb_procscan_kill_marked(FLAG);
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)close(input[0]);
    (void)close(input[1]);
}
END_TEST

START_TEST(descendants_are_ended_and_nobody_else)
{
    ck_assert_int_eq(zsb_child_adopt_orphans(), 0);
    pid_t child = start_sleeper("zsb-test-child");
    pid_t parent = getppid();
    ck_assert(zsb_child_end_all(zsb_now_us() + 5000000));
    ck_assert_int_eq(kill(child, 0), -1);
    ck_assert_int_eq(kill(parent, 0), 0);
    ck_assert(zsb_child_end_all(zsb_now_us()));
}
END_TEST

START_TEST(status_and_namespaces_of_a_process_are_read)
{
    struct zsb_proc_status status;
    ino_t mine = 0, other = 0;
    pid_t pid = start_sleeper("a) b (c");
    ck_assert_int_eq(zsb_proc_read_status(pid, &status), 0);
    ck_assert_int_eq(status.tracer, 0);
    ck_assert_int_eq(zsb_proc_namespace(getpid(), "user", &mine), 0);
    ck_assert_int_eq(zsb_proc_namespace(pid, "user", &other), 0);
    ck_assert(mine == other);
    ck_assert_int_lt(zsb_proc_namespace(pid, "no-such-kind", &other), 0);
    end_sleeper(pid);
    ck_assert_int_lt(zsb_proc_read_status(pid, &status), 0);
}
END_TEST

START_TEST(descriptors_are_found_by_path_text_and_prefix)
{
    char saw[256], path[PATH_MAX + 8];
    struct zsb_test_dir place;
    zsb_test_dir_make(&place);
    (void)snprintf(path, sizeof(path), "%s/file", place.path);
    ck_assert_int_eq(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    static const struct {
        int flags;
        bool found;
    } cases[] = {{O_RDONLY, false}, {O_WRONLY, true}, {O_RDWR, true}, {O_PATH, false}};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(cases); i++) {
        ZSB_AUTO_FD int fd = open(path, cases[i].flags | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_msg(zsb_proc_has_descriptor(getpid(), path, saw, sizeof(saw)) == cases[i].found, "row %zu",
                      i);
    }
    ZSB_AUTO_FD int fd = memfd_create("zsb-test", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(zsb_proc_has_descriptor(getpid(), "/memfd:zsb-test (deleted)", saw, sizeof(saw)), 1);
    int pair[2];
    ck_assert_int_eq(zsb_proc_has_descriptor(getpid(), "socket:", saw, sizeof(saw)), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(zsb_proc_has_descriptor(getpid(), "socket:", saw, sizeof(saw)), 1);
    ck_assert_int_eq(zsb_proc_has_descriptor(getpid(), "socket", saw, sizeof(saw)), 0);
    (void)close(pair[0]);
    (void)close(pair[1]);
    zsb_test_dir_remove(&place);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outside");
    TCase *victims = tcase_create("victim");
    tcase_add_checked_fixture(victims, start_victim, end_victim);
    tcase_add_test(victims, the_victim_holds_its_flags_where_it_says);
    tcase_add_test(victims, an_undisturbed_victim_reports_nothing);
    tcase_add_test(victims, written_memory_is_reported);
    tcase_add_loop_test(victims, a_signal_is_reported_and_no_other, 0, (int)ZSB_ARRAY_SIZE(signals));
    tcase_add_test(victims, unknown_signal_names_are_zero);
    tcase_add_test(victims, a_victim_that_does_not_exist_is_an_error);
    suite_add_tcase(suite, victims);
    TCase *ears = tcase_create("listeners");
    tcase_add_checked_fixture(ears, open_listeners, close_listeners);
    tcase_add_loop_test(ears, every_listener_keeps_what_reaches_it, 0, ZSB_LISTENER_COUNT);
    tcase_add_test(ears, a_connection_without_bytes_is_noticed);
    tcase_add_test(ears, listeners_are_found_by_name);
    suite_add_tcase(suite, ears);
    TCase *others = tcase_create("terminal and processes");
    tcase_add_test(others, only_typed_input_is_seen);
    tcase_add_test(others, a_process_is_known_by_nonce_binary_and_words);
    tcase_add_test(others, descendants_are_ended_and_nobody_else);
    tcase_add_test(others, status_and_namespaces_of_a_process_are_read);
    tcase_add_test(others, descriptors_are_found_by_path_text_and_prefix);
    suite_add_tcase(suite, others);
    return zsb_test_main(suite);
}
