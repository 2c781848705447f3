/* SPDX-License-Identifier: MIT
 *
 * The lab: what it holds, who may sweep it, and that a killed owner leaves nothing behind for long.
 */
#include "verifier/child.h"
#include "verifier/lab.h"
#include "verifier/snapshot.h"
#include "verifier/tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct zsb_test_dir dir;

static void set_up(void)
{
    zsb_test_dir_make(&dir);
}

static void tear_down(void)
{
    zsb_test_dir_remove(&dir);
}

static void open_lab(struct zsb_lab *lab)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_lab_open(dir.path, ZSB_TEST_ESCAPES, lab, &err) == 0, "%s", err.msg);
}

START_TEST(a_lab_is_private_and_goes_when_closed)
{
    struct zsb_lab lab;
    struct stat st, copy;
    open_lab(&lab);
    ck_assert_int_eq(fstat(lab.dir_fd, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(lab.escapes_path, &copy), 0);
    ck_assert_uint_eq(copy.st_mode & 07777, 0755);
    ck_assert(copy.st_dev == lab.escapes_device && copy.st_ino == lab.escapes_inode);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 1);
    zsb_lab_close(&lab);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 0);
    zsb_lab_close(&lab); /* closing twice is closing once */
}
END_TEST

static const struct {
    enum zsb_fixture fixture;
    const char *path;
    bool exists;
} places[] = {
    {ZSB_FIXTURE_REPO, "ws/tracked.txt", true},
    {ZSB_FIXTURE_REPO, "ws/sub/file.txt", true},
    {ZSB_FIXTURE_REPO, "ws/private/secret", true},
    {ZSB_FIXTURE_REPO, "ws/.git/HEAD", true},
    {ZSB_FIXTURE_REPO, "ws/.git/config", true},
    {ZSB_FIXTURE_REPO, "ws/.git/hooks/pre-commit", true},
    {ZSB_FIXTURE_REPO, "ws/.zuno/config.json", true},
    {ZSB_FIXTURE_REPO, "ws/.agents/readme", true},
    {ZSB_FIXTURE_REPO, "out/secret.txt", true},
    {ZSB_FIXTURE_REPO, "deny/file", true},
    {ZSB_FIXTURE_REPO, "deny/dir/secret", true},
    {ZSB_FIXTURE_REPO, "home", true},
    {ZSB_FIXTURE_REPO, "run", true},
    {ZSB_FIXTURE_REPO, "bin/zuno-escapes", true},
    {ZSB_FIXTURE_PLAIN, "ws/tracked.txt", true},
    {ZSB_FIXTURE_PLAIN, "ws/.git", false},
    {ZSB_FIXTURE_PLAIN, "ws/.zuno", false},
    {ZSB_FIXTURE_PLAIN, "ws/.agents", false},
};

START_TEST(a_trial_directory_holds_what_probe_h_promises)
{
    struct zsb_lab lab;
    int fds[2] = {-1, -1};
    open_lab(&lab);
    ck_assert_int_eq(zsb_lab_make_trial(&lab, "repo", ZSB_FIXTURE_REPO, &fds[ZSB_FIXTURE_REPO]), 0);
    ck_assert_int_eq(zsb_lab_make_trial(&lab, "plain", ZSB_FIXTURE_PLAIN, &fds[ZSB_FIXTURE_PLAIN]), 0);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(places); i++) {
        struct stat st;
        bool exists = fstatat(fds[places[i].fixture], places[i].path, &st, AT_SYMLINK_NOFOLLOW) == 0;
        ck_assert_msg(exists == places[i].exists, "%s", places[i].path);
    }
    (void)close(fds[0]);
    (void)close(fds[1]);
    zsb_lab_close(&lab);
}
END_TEST

/* Made by the real git, so a real git must find nothing wrong with it. */
START_TEST(the_repository_is_a_real_and_clean_one)
{
    struct zsb_lab lab;
    int fd = -1;
    open_lab(&lab);
    ck_assert_int_eq(zsb_lab_make_trial(&lab, "repo", ZSB_FIXTURE_REPO, &fd), 0);
    (void)close(fd);
    ZSB_AUTO_FREE char *command =
        zsb_strdupf("cd '%s/repo/ws' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null && "
                    "git fsck --strict >/dev/null 2>&1 && test -z \"$(git diff HEAD --stat)\" && "
                    "test \"$(git log --format=%%s)\" = lab",
                    lab.path);
    ck_assert_int_eq(system(command), 0);
    zsb_lab_close(&lab);
}
END_TEST

START_TEST(a_living_lab_is_not_swept)
{
    struct zsb_lab first, second;
    open_lab(&first);
    open_lab(&second); /* sweeps before it is made */
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 2);
    ck_assert_uint_eq(zsb_lab_sweep(dir.fd), 0);
    zsb_lab_close(&second);
    zsb_lab_close(&first);
}
END_TEST

/* The child makes a lab and stands still in it; then it is killed without a chance to clean up. */
START_TEST(the_lab_of_a_killed_owner_is_swept)
{
    struct zsb_lab lab;
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = zsb_child_fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int fd = -1;
        if (zsb_lab_open(dir.path, ZSB_TEST_ESCAPES, &lab, NULL) != 0 ||
            zsb_lab_make_trial(&lab, "t0", ZSB_FIXTURE_REPO, &fd) != 0 || fchmodat(fd, "out", 0000, 0) != 0)
            _exit(1);
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
    ck_assert_uint_eq(zsb_lab_sweep(dir.fd), 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 1);
    open_lab(&lab);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 1);
    zsb_lab_close(&lab);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 0);
    (void)close(ready[0]);
}
END_TEST

START_TEST(what_is_not_a_dead_lab_of_ours_stays)
{
    char name[128];
    (void)snprintf(name, sizeof(name), "%s.%u.0000000000000000", ZSB_LAB_PREFIX, (unsigned)geteuid());
    /* A link of a lab's name, another user's lab, a young directory without a lock. */
    ck_assert_int_eq(mkdirat(dir.fd, "precious", 0700), 0);
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "precious/lock", "", 0600), 0);
    ck_assert_int_eq(symlinkat("precious", dir.fd, name), 0);
    ck_assert_int_eq(mkdirat(dir.fd, ZSB_LAB_PREFIX ".99999.0000000000000000", 0700), 0);
    name[strlen(name) - 1] = '1';
    ck_assert_int_eq(mkdirat(dir.fd, name, 0700), 0);
    ck_assert_uint_eq(zsb_lab_sweep(dir.fd), 0);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 4);
    ck_assert_int_eq(faccessat(dir.fd, "precious/lock", F_OK, 0), 0);
}
END_TEST

/* Sweeping removes links, never what they lead to. */
START_TEST(sweeping_follows_no_link)
{
    char name[128];
    (void)snprintf(name, sizeof(name), "%s.%u.2222222222222222", ZSB_LAB_PREFIX, (unsigned)geteuid());
    ck_assert_int_eq(mkdirat(dir.fd, "precious", 0700), 0);
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "precious/file", "", 0600), 0);
    ck_assert_int_eq(mkdirat(dir.fd, name, 0700), 0);
    ZSB_AUTO_FD int fd = openat(dir.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(zsb_lab_write_file(fd, "lock", "", 0600), 0);
    ck_assert_int_eq(symlinkat("../precious", fd, "link"), 0);
    ck_assert_uint_eq(zsb_lab_sweep(dir.fd), 1);
    ck_assert_int_eq(faccessat(dir.fd, "precious/file", F_OK, 0), 0);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 1);
}
END_TEST

static int damage_bytes(int fd)
{
    return zsb_lab_write_file(fd, "ws/tracked.txt", "something else", 0644);
}
static int damage_same_size(int fd)
{
    return zsb_lab_write_file(fd, "ws/tracked.txt", "A tracked file of the workspace\n", 0644);
}
static int damage_mode(int fd)
{
    return fchmodat(fd, "ws/sub/file.txt", 0777, 0);
}
static int damage_directory_mode(int fd)
{
    return fchmodat(fd, "out", 0000, 0);
}
static int damage_remove(int fd)
{
    return zsb_remove_tree_at(fd, "ws/.git");
}
static int damage_add(int fd)
{
    int rc = mkdirat(fd, "out/new", 0000);
    return rc != 0 ? rc : zsb_lab_write_file(fd, "new", "x", 0600);
}
static int damage_link_in(int fd)
{
    return linkat(fd, "ws/tracked.txt", fd, "out/alias", 0);
}
static int damage_symlink(int fd)
{
    int rc = unlinkat(fd, "ws/tracked.txt", 0);
    return rc != 0 ? rc : symlinkat("../out/secret.txt", fd, "ws/tracked.txt");
}
static int damage_directory_to_link(int fd)
{
    int rc = renameat(fd, "ws/sub", fd, "ws/other");
    return rc != 0 ? rc : symlinkat("/etc", fd, "ws/sub");
}
static int damage_type(int fd)
{
    int rc = zsb_remove_tree_at(fd, "deny/dir");
    return rc != 0 ? rc : mkfifoat(fd, "deny/dir", 0600);
}
static int damage_xattr(int fd)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/out/secret.txt", fd);
    return setxattr(path, "user.zsb", "x", 1, 0) < 0 && errno != EOPNOTSUPP ? -1 : 0;
}
static int damage_nothing(int fd)
{
    (void)fd;
    return 0;
}

static const struct {
    int (*act)(int fd);
    const char *reason;
} damages[] = {
    {damage_nothing, "an untouched one"},
    {damage_bytes, "other bytes"},
    {damage_same_size, "other bytes of the same size"},
    {damage_mode, "another mode"},
    {damage_directory_mode, "a closed directory"},
    {damage_remove, "a removed repository"},
    {damage_add, "new names"},
    {damage_link_in, "a hard link between two places"},
    {damage_symlink, "a link in a file's place"},
    {damage_directory_to_link, "a link in a directory's place"},
    {damage_type, "a fifo in a directory's place"},
    {damage_xattr, "an extended attribute"},
};

START_TEST(a_damaged_trial_directory_is_made_whole)
{
    static const char *const skip[] = {"bin", NULL};
    struct zsb_lab lab;
    struct zsb_snapshot fresh = ZSB_SNAPSHOT_INIT, reset = ZSB_SNAPSHOT_INIT;
    int used_fd = -1, reset_fd = -1;
    open_lab(&lab);
    ck_assert_int_eq(zsb_lab_reset_trial(&lab, "used", ZSB_FIXTURE_REPO, &reset_fd), -ENOENT);
    ck_assert_int_eq(zsb_lab_make_trial(&lab, "used", ZSB_FIXTURE_REPO, &used_fd), 0);
    ck_assert_int_eq(zsb_snapshot_take(used_fd, skip, &fresh), 0);
    ck_assert_msg(damages[_i].act(used_fd) == 0, "%s: %s", damages[_i].reason, strerror(errno));
    ck_assert_int_eq(zsb_lab_reset_trial(&lab, "used", ZSB_FIXTURE_REPO, &reset_fd), 0);
    ck_assert_int_eq(zsb_snapshot_take(reset_fd, skip, &reset), 0);
    ck_assert_msg(zsb_snapshot_same_content(&fresh, &reset), "%s", damages[_i].reason);
    ck_assert_int_eq(faccessat(reset_fd, "bin/zuno-escapes", X_OK, 0), 0);
    zsb_snapshot_clear(&fresh);
    zsb_snapshot_clear(&reset);
    (void)close(used_fd);
    (void)close(reset_fd);
    zsb_lab_close(&lab);
}
END_TEST

START_TEST(an_abandoned_trial_directory_is_not_found_again)
{
    struct zsb_lab lab;
    int fd = -1;
    open_lab(&lab);
    ck_assert_int_eq(zsb_lab_make_trial(&lab, "used", ZSB_FIXTURE_PLAIN, &fd), 0);
    (void)close(fd);
    zsb_lab_abandon_trial(&lab, "used");
    ck_assert_int_eq(zsb_lab_reset_trial(&lab, "used", ZSB_FIXTURE_PLAIN, &fd), -ENOENT);
    zsb_lab_close(&lab);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 0);
}
END_TEST

static const struct {
    const char *parent, *escapes;
    enum zsb_code code;
} failures[] = {
    {"/nonexistent", ZSB_TEST_ESCAPES, ZSB_E_INVALID_PATH},
    {"/dev/null", ZSB_TEST_ESCAPES, ZSB_E_INVALID_PATH},
    {NULL, "/nonexistent/zuno-escapes", ZSB_E_HELPER},
    {NULL, "/dev/null", ZSB_E_HELPER}, /* nothing stands beside it */
};

START_TEST(a_lab_that_cannot_be_made_leaves_nothing)
{
    struct zsb_lab lab;
    struct zsb_error err = ZSB_ERROR_INIT;
    const char *parent = failures[_i].parent != NULL ? failures[_i].parent : dir.path;
    ck_assert_int_eq(zsb_lab_open(parent, failures[_i].escapes, &lab, &err), -(int)failures[_i].code);
    ck_assert_uint_gt(strlen(err.msg), 0);
    ck_assert_uint_eq(zsb_test_count_entries(dir.path), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lab");
    TCase *tcase = tcase_create("lab");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_lab_is_private_and_goes_when_closed);
    tcase_add_test(tcase, a_trial_directory_holds_what_probe_h_promises);
    tcase_add_test(tcase, the_repository_is_a_real_and_clean_one);
    tcase_add_test(tcase, a_living_lab_is_not_swept);
    tcase_add_test(tcase, the_lab_of_a_killed_owner_is_swept);
    tcase_add_test(tcase, what_is_not_a_dead_lab_of_ours_stays);
    tcase_add_test(tcase, sweeping_follows_no_link);
    tcase_add_loop_test(tcase, a_damaged_trial_directory_is_made_whole, 0, (int)ZSB_ARRAY_SIZE(damages));
    tcase_add_test(tcase, an_abandoned_trial_directory_is_not_found_again);
    tcase_add_loop_test(tcase, a_lab_that_cannot_be_made_leaves_nothing, 0, (int)ZSB_ARRAY_SIZE(failures));
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
