/* SPDX-License-Identifier: MIT */
#include "lib/tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* One per program, so that what a failed test leaves is removed, too. */
static char base[] = "/var/tmp/zsb-lib-test-XXXXXX";
static char hidden_base[] = "/tmp/zsb-lib-test-XXXXXX";
static char *directory;
static struct zsb_strv texts = ZSB_STRV_INIT;
static unsigned alarm_s;

static const char *keep(char *owned)
{
    ck_assert_ptr_nonnull(owned);
    zsb_strv_add(&texts, owned);
    free(owned);
    ck_assert(!texts.failed);
    return texts.items[texts.count - 1];
}

void zsb_test_setup(void)
{
    directory = zsb_strdupf("%s/XXXXXX", base);
    ck_assert_ptr_nonnull(directory);
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

void zsb_test_teardown(void)
{
    int rc = zsb_remove_tree_at(AT_FDCWD, directory);
    zsb_cleanup_free(&directory);
    directory = NULL;
    zsb_strv_clear(&texts);
    ck_assert_msg(rc == 0, "cannot remove the test directory: %s", strerror(-rc));
}

const char *zsb_test_hidden_dir(void)
{
    char *path = zsb_strdupf("%s/XXXXXX", hidden_base);
    ck_assert(path != NULL && mkdtemp(path) != NULL);
    return keep(path);
}

const char *zsb_test_dir(void)
{
    return directory;
}

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

const char *zsb_test_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    return keep(text);
}

const char *zsb_test_at(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ZSB_AUTO_FREE char *name = format_text(format, args);
    va_end(args);
    ck_assert_ptr_nonnull(name);
    return keep(zsb_strdupf("%s/%s", directory, name));
}

void zsb_test_mkdir(const char *path)
{
    ck_assert_msg(mkdir(path, 0755) == 0, "mkdir %s: %s", path, strerror(errno));
}

void zsb_test_write(const char *path, const char *text)
{
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ck_assert_msg(fd >= 0, "open %s: %s", path, strerror(errno));
    ck_assert_int_eq(zsb_write_all(fd, text, strlen(text)), 0);
}

void zsb_test_symlink(const char *target, const char *path)
{
    ck_assert_msg(symlink(target, path) == 0, "symlink %s: %s", path, strerror(errno));
}

const char *zsb_test_read(const char *path)
{
    char *text = NULL;
    int rc = zsb_read_file_at(AT_FDCWD, path, 1 << 20, &text, NULL);
    ck_assert_msg(rc == 0, "read %s: %s", path, strerror(-rc));
    return keep(text);
}

bool zsb_test_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static bool is_real_name(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

size_t zsb_test_count_names(const char *path)
{
    DIR *dir = opendir(path);
    ck_assert_msg(dir != NULL, "opendir %s: %s", path, strerror(errno));
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += is_real_name(entry) ? 1 : 0;
    (void)closedir(dir);
    return count;
}

size_t zsb_test_count_fds(void)
{
    return zsb_test_count_names("/proc/self/fd") - 1; /* the directory itself */
}

void zsb_test_command(const char *const argv[])
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int null_fd = open("/dev/null", O_RDWR);
        if (null_fd >= 0 && dup2(null_fd, 1) == 1 && dup2(null_fd, 2) == 2)
            (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s %s: status %d", argv[0],
                  argv[1] != NULL ? argv[1] : "", status);
}

const char *zsb_test_output(const char *const argv[], void (*prepare)(void), int *out_status)
{
    int fds[2];
    char *text = NULL;
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (dup2(fds[1], 1) != 1 || dup2(fds[1], 2) != 2)
            _exit(127);
        if (prepare != NULL)
            prepare();
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(fds[1]);
    ck_assert_int_eq(zsb_read_fd(fds[0], 1 << 20, &text, NULL), 0);
    (void)close(fds[0]);
    ck_assert_int_eq(waitpid(pid, out_status, 0), pid);
    return keep(text);
}

bool zsb_test_private_srv(void)
{
    static bool private;
    if (!private && (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0))
        return false;
    if (private && umount2("/srv", MNT_DETACH) < 0)
        return false;
    private = true;
    return mount("test", "/srv", "tmpfs", 0, "mode=755") == 0;
}

bool zsb_test_has_capability(int capability)
{
    cap_t caps = cap_get_proc();
    cap_flag_value_t value = CAP_CLEAR;
    bool has = caps != NULL && cap_get_flag(caps, capability, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
    if (caps != NULL)
        (void)cap_free(caps);
    return has;
}

int zsb_test_cannot(const char *reason)
{
    const char *must = getenv("ZSB_MUST_WORK");
    (void)fprintf(stderr, "this host cannot run all tests: %s\n", reason);
    return must != NULL && strcmp(must, "1") == 0 ? EXIT_FAILURE : 77;
}

/* Without forks Check cannot time out; the default action of SIGALRM can. */
static void start_alarm(void)
{
    (void)alarm(alarm_s);
}

static void stop_alarm(void)
{
    (void)alarm(0);
}

TCase *zsb_test_case(Suite *suite, const char *name, int timeout_s)
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, timeout_s);
    if (alarm_s < (unsigned)timeout_s)
        alarm_s = (unsigned)timeout_s;
    tcase_add_checked_fixture(tests, start_alarm, stop_alarm);
    tcase_add_checked_fixture(tests, zsb_test_setup, zsb_test_teardown);
    suite_add_tcase(suite, tests);
    return tests;
}

static bool remove_base(const char *path)
{
    int rc = zsb_remove_tree_at(AT_FDCWD, path);
    if (rc != 0)
        (void)fprintf(stderr, "%s: %s\n", path, strerror(-rc));
    return rc == 0;
}

int zsb_test_run(Suite *suite, enum fork_status fork_status)
{
    if (mkdtemp(base) == NULL || chmod(base, 0755) < 0 || mkdtemp(hidden_base) == NULL) {
        perror("directory for tests");
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(suite);
    /* CK_FORK=no still wins, for valgrind. */
    if (fork_status == CK_NOFORK)
        srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    bool clean = remove_base(base);
    clean = remove_base(hidden_base) && clean;
    return failed == 0 && clean ? EXIT_SUCCESS : EXIT_FAILURE;
}
