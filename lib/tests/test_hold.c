/* SPDX-License-Identifier: MIT
 *
 * The keeper of missing names, instrumented, with this program in the library's place.
 */
#include "lib/helper/helper.h"
#include "lib/tests/support.h"
#include "lib/util/coverage.h"
#include "lib/util/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    pid_t pid;
    int socket_fd;
};

/* Holds `name`, and `second` unless NULL, in a directory. */
static struct keeper start_keeper(const char *directory, const char *name, const char *second)
{
    int fds[2];
    int dir_fd = open(directory, O_PATH | O_DIRECTORY);
    ck_assert_int_ge(dir_fd, 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        /* As after an exec: nothing of the other keepers stays open. */
        for (int fd = 3; fd < 64; fd++)
            if (fd != dir_fd && fd != fds[1])
                (void)close(fd);
        ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
        zsb_strv_add(&argv, "zuno-sandbox-helper");
        zsb_strv_add(&argv, "hold");
        zsb_strv_add(&argv, "--socket");
        zsb_strv_addf(&argv, "%d", fds[1]);
        zsb_strv_addf(&argv, "%d:%s", dir_fd, name);
        if (second != NULL)
            zsb_strv_addf(&argv, "%d:%s", dir_fd, second);
        int status = zsb_helper_main((int)argv.count, argv.items);
        ZSB_COVERAGE_DUMP();
        _exit(status);
    }
    (void)close(dir_fd);
    (void)close(fds[1]);
    return (struct keeper){pid, fds[0]};
}

static const char *answer_of(const struct keeper *keeper)
{
    char text[ZSB_WIRE_MAX];
    int fd = -1;
    int n = zsb_wire_receive(keeper->socket_fd, text, &fd);
    ck_assert_int_eq(fd, -1);
    return n > 0 ? zsb_test_text("%s", text) : "";
}

static int status_of(struct keeper *keeper)
{
    int status = 0;
    ck_assert_int_eq(waitpid(keeper->pid, &status, 0), keeper->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int let_go(struct keeper *keeper)
{
    (void)close(keeper->socket_fd);
    return status_of(keeper);
}

static void assert_stub(const char *path)
{
    struct stat st;
    ZSB_AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    ck_assert_msg(fd >= 0 && fstat(fd, &st) == 0, "%s: %s", path, strerror(errno));
    ck_assert(zsb_is_stub(fd, &st));
}

START_TEST(name_is_held_until_the_library_lets_go)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", ".zuno");
    ck_assert_str_eq(answer_of(&keeper), "hh");
    assert_stub(zsb_test_at(".git"));
    assert_stub(zsb_test_at(".zuno"));
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), 0);
}
END_TEST

START_TEST(name_is_held_until_the_sandbox_is_gone)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&keeper), "h");
    pid_t sandbox = fork();
    ck_assert_int_ge(sandbox, 0);
    if (sandbox == 0)
        for (;;)
            (void)pause();
    int pid_fd = (int)syscall(SYS_pidfd_open, sandbox, 0);
    ck_assert_int_eq(zsb_wire_send(keeper.socket_fd, "words without a descriptor", -1), 0);
    ck_assert_int_eq(zsb_wire_send(keeper.socket_fd, ZSB_WIRE_PID, pid_fd), 0);
    (void)close(pid_fd);
    (void)close(keeper.socket_fd); /* the library was killed */
    (void)poll(NULL, 0, 100);
    assert_stub(zsb_test_at(".git"));
    ck_assert_int_eq(kill(sandbox, SIGKILL), 0);
    ck_assert_int_eq(waitpid(sandbox, NULL, 0), sandbox);
    ck_assert_int_eq(status_of(&keeper), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(signals_of_a_terminal_do_not_end_it)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM};
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&keeper), "h");
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(signals); i++)
        ck_assert_int_eq(kill(keeper.pid, signals[i]), 0);
    (void)poll(NULL, 0, 50);
    ck_assert_int_eq(waitpid(keeper.pid, NULL, WNOHANG), 0);
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(last_of_several_keepers_removes_the_stub)
{
    struct keeper keepers[4];
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(keepers); i++) {
        keepers[i] = start_keeper(zsb_test_dir(), ".git", NULL);
        ck_assert_str_eq(answer_of(&keepers[i]), "h");
    }
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(keepers); i++) {
        assert_stub(zsb_test_at(".git"));
        ck_assert_int_eq(let_go(&keepers[i]), 0);
    }
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(stub_of_a_killed_keeper_is_taken_over)
{
    struct keeper first = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&first), "h");
    ck_assert_int_eq(kill(first.pid, SIGKILL), 0);
    ck_assert_int_eq(let_go(&first), -1);
    assert_stub(zsb_test_at(".git"));
    struct keeper second = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&second), "h");
    ck_assert_int_eq(let_go(&second), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

static void make_file(void)
{
    zsb_test_write(zsb_test_at(".git"), "gitdir: x");
}

static void make_directory(void)
{
    zsb_test_mkdir(zsb_test_at(".git"));
}

static void make_link(void)
{
    zsb_test_symlink("elsewhere", zsb_test_at(".git"));
}

static void make_filled(void)
{
    zsb_test_mkdir(zsb_test_at(".git"));
    zsb_test_write(zsb_test_at(".git/config"), "");
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
}

static const struct {
    void (*make)(void);
    const char *reason;
} existing[] = {
    {make_file, "a file came into being"},
    {make_directory, "a directory came into being"},
    {make_link, "a dangling link came into being"},
    {make_filled, "a directory of the stub's mode that is not empty"},
};

START_TEST(real_entry_is_an_error_and_left_alone)
{
    existing[_i].make();
    struct stat before;
    struct stat after;
    ck_assert_int_eq(lstat(zsb_test_at(".git"), &before), 0);
    struct keeper keeper = start_keeper(zsb_test_dir(), ".zuno", ".git");
    const char *answer = answer_of(&keeper);
    ck_assert_msg(strncmp(answer, "failed ", 7) == 0, "%s: %s", existing[_i].reason, answer);
    ck_assert_msg(strstr(answer, ".git") != NULL, "%s: %s", existing[_i].reason, answer);
    ck_assert_int_eq(let_go(&keeper), ZSB_HELPER_EXIT_FAILED);
    ck_assert_int_eq(lstat(zsb_test_at(".git"), &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    ck_assert_uint_eq(before.st_mode, after.st_mode);
    /* What was held before the failure is let go. */
    ck_assert(!zsb_test_exists(zsb_test_at(".zuno")));
}
END_TEST

START_TEST(stub_filled_from_outside_becomes_an_ordinary_directory)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    struct stat st;
    ck_assert_str_eq(answer_of(&keeper), "h");
    ck_assert_int_eq(chmod(zsb_test_at(".git"), 01700), 0);
    zsb_test_write(zsb_test_at(".git/config"), "mine");
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert_int_eq(stat(zsb_test_at(".git"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0755);
    ck_assert_str_eq(zsb_test_read(zsb_test_at(".git/config")), "mine");
}
END_TEST

START_TEST(entry_that_took_the_stubs_place_survives)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&keeper), "h");
    ck_assert_int_eq(rmdir(zsb_test_at(".git")), 0);
    if (_i == 0)
        zsb_test_mkdir(zsb_test_at(".git"));
    else
        zsb_test_write(zsb_test_at(".git"), "gitdir: x");
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert(zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(directory_made_ours_by_chmod_survives)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&keeper), "h");
    ck_assert_int_eq(chmod(zsb_test_at(".git"), 0755), 0);
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert(zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

static int open_lock(char path[256])
{
    char name[ZSB_STUB_LOCK_NAME_SIZE];
    struct stat st;
    ck_assert_int_eq(stat(zsb_test_dir(), &st), 0);
    zsb_stub_lock_name(&st, ".git", name);
    (void)snprintf(path, 256, "/dev/shm/%s", name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    return fd;
}

START_TEST(remover_at_work_is_waited_for)
{
    char lock[256];
    zsb_test_mkdir(zsb_test_at(".git"));
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
    int fd = open_lock(lock);
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    (void)poll(NULL, 0, 100);
    ck_assert_int_eq(rmdir(zsb_test_at(".git")), 0);
    ck_assert_int_eq(unlink(lock), 0);
    (void)close(fd);
    ck_assert_str_eq(answer_of(&keeper), "h");
    assert_stub(zsb_test_at(".git"));
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
}
END_TEST

START_TEST(lock_that_never_opens_is_busy)
{
    char lock[256];
    zsb_test_mkdir(zsb_test_at(".git"));
    ck_assert_int_eq(chmod(zsb_test_at(".git"), ZSB_STUB_MODE), 0);
    int fd = open_lock(lock);
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    const char *answer = answer_of(&keeper);
    const char *expected = zsb_test_text("failed %d %d %d .git", ZSB_STAGE_SPAWN, ZSB_E_INVALID_PATH, EBUSY);
    ck_assert_str_eq(answer, expected);
    ck_assert_int_eq(let_go(&keeper), ZSB_HELPER_EXIT_FAILED);
    (void)close(fd);
    ck_assert_int_eq(unlink(lock), 0);
}

START_TEST(lock_on_the_stub_itself_does_not_matter)
{
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    ck_assert_str_eq(answer_of(&keeper), "h");
    int fd = open(zsb_test_at(".git"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_SH), 0);
    ck_assert_int_eq(let_go(&keeper), 0);
    ck_assert(!zsb_test_exists(zsb_test_at(".git")));
    (void)close(fd);
}
END_TEST

START_TEST(name_that_nobody_of_this_uid_can_create_is_skipped)
{
    if (geteuid() == 0) {
        ck_assert(zsb_test_private_srv());
        ck_assert_int_eq(mount("none", "/srv", "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
    }
    /* Root meets a read-only filesystem, everybody else a directory of root's. */
    struct keeper keeper = start_keeper(geteuid() == 0 ? "/srv" : "/", ".zsb-test", NULL);
    ck_assert_str_eq(answer_of(&keeper), "s");
    ck_assert_int_eq(let_go(&keeper), 0);
}
END_TEST

START_TEST(own_directory_without_write_permission_cannot_be_skipped)
{
    ck_assert_int_eq(chmod(zsb_test_dir(), 0500), 0);
    struct keeper keeper = start_keeper(zsb_test_dir(), ".git", NULL);
    const char *expected = zsb_test_text("failed %d %d %d .git", ZSB_STAGE_SPAWN, ZSB_E_INVALID_PATH, EACCES);
    ck_assert_str_eq(answer_of(&keeper), expected);
    ck_assert_int_eq(let_go(&keeper), ZSB_HELPER_EXIT_FAILED);
    ck_assert_int_eq(chmod(zsb_test_dir(), 0700), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hold");
    TCase *tests = zsb_test_case(suite, "hold", 30);
    tcase_add_test(tests, name_is_held_until_the_library_lets_go);
    tcase_add_test(tests, name_is_held_until_the_sandbox_is_gone);
    tcase_add_test(tests, signals_of_a_terminal_do_not_end_it);
    tcase_add_test(tests, last_of_several_keepers_removes_the_stub);
    tcase_add_test(tests, stub_of_a_killed_keeper_is_taken_over);
    tcase_add_loop_test(tests, real_entry_is_an_error_and_left_alone, 0, (int)ZSB_ARRAY_SIZE(existing));
    tcase_add_test(tests, stub_filled_from_outside_becomes_an_ordinary_directory);
    tcase_add_loop_test(tests, entry_that_took_the_stubs_place_survives, 0, 2);
    tcase_add_test(tests, directory_made_ours_by_chmod_survives);
    tcase_add_test(tests, remover_at_work_is_waited_for);
    tcase_add_test(tests, lock_that_never_opens_is_busy);
    tcase_add_test(tests, lock_on_the_stub_itself_does_not_matter);
    bool root = geteuid() == 0;
    bool may_mount = zsb_test_has_capability(CAP_SYS_ADMIN);
    if (!root || may_mount)
        tcase_add_test(tests, name_that_nobody_of_this_uid_can_create_is_skipped);
    if (!zsb_test_has_capability(CAP_DAC_OVERRIDE))
        tcase_add_test(tests, own_directory_without_write_permission_cannot_be_skipped);
    int status = zsb_test_run(suite, CK_FORK);
    return status == 0 && root && !may_mount ? zsb_test_cannot("root may not mount") : status;
}
