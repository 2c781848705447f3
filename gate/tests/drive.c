/* SPDX-License-Identifier: MIT */
#include "gate/tests/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not Check's assertions: drive_host_can() runs before any test does. */
static void must(bool fact, const char *what, int number)
{
    if (fact)
        return;
    fprintf(stderr, "drive: %s: %s\n", what, strerror(number));
    abort();
}

static pid_t spawn(const char *const argv[], const char *directory, const int fds[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++) {
        if (fds[i] < 0)
            posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
        else
            posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    }
    if (directory)
        posix_spawn_file_actions_addchdir_np(&actions, directory);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t pid = -1;
    const int rc = posix_spawn(&pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    must(rc == 0, argv[0], rc);
    return pid;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int drive_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        must(errno == EINTR, "waitpid", errno);
    return code_of(status);
}

static const char **with_program(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    const char **argv = calloc(count + 2, sizeof(*argv));
    must(argv != NULL, "calloc", errno);
    argv[0] = ZSB_PROGRAM;
    memcpy(argv + 1, words, count * sizeof(*words));
    return argv;
}

static int input_pipe(const char *input)
{
    int ends[2];
    must(pipe2(ends, O_CLOEXEC) == 0, "pipe2", errno);
    must(strlen(input) < 4096, "input", 0); /* fits into the pipe: nobody has to read */
    must(zsb_write_all(ends[1], input, strlen(input)) == 0, "write", errno);
    close(ends[1]);
    return ends[0];
}

static char *contents(int fd)
{
    char *text = NULL;
    must(lseek(fd, 0, SEEK_SET) == 0, "lseek", errno);
    must(zsb_read_fd(fd, 64 << 20, &text, NULL) == 0, "read", errno);
    return text;
}

struct driven drive(const struct drive *how)
{
    ZSB_AUTO_FREE const char **argv = with_program(how->words);
    ZSB_AUTO_FD int in = how->input ? input_pipe(how->input) : -1;
    ZSB_AUTO_FD int out = memfd_create("out", MFD_CLOEXEC);
    ZSB_AUTO_FD int err = memfd_create("err", MFD_CLOEXEC);
    must(out >= 0 && err >= 0, "memfd_create", errno);
    const pid_t pid = spawn(argv, how->directory, (const int[]){in, out, err});
    const int code = drive_wait(pid);
    return (struct driven){code, contents(out), contents(err)};
}

void driven_clear(struct driven *driven)
{
    free(driven->out);
    free(driven->err);
}

pid_t drive_start(const char *const argv[], const char *directory)
{
    return spawn(argv, directory, (const int[]){-1, -1, -1});
}

void drive_adopt_orphans(void)
{
    must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "prctl", errno);
}

static bool reap_until_none(int64_t timeout_ms)
{
    const int64_t deadline = zsb_now_us() + timeout_ms * 1000;
    do {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return true;
        if (pid == 0)
            usleep(2000);
    } while (zsb_now_us() < deadline);
    return false;
}

static void show_process(pid_t pid)
{
    static const char *const files[] = {"cmdline", "status", "wchan"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(files); i++) {
        char path[64];
        ZSB_AUTO_FREE char *text = NULL;
        size_t size = 0;
        snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
        if (zsb_read_file_at(AT_FDCWD, path, 65536, &text, &size))
            continue;
        for (size_t c = 0; c < size; c++)
            text[c] = text[c] ? text[c] : ' ';
        fprintf(stderr, "left behind: %d: %.600s\n", pid, text);
    }
}

/* Only our own children: /proc/self/task/TID/children names exactly those. */
static void kill_children(void)
{
    ZSB_AUTO_FREE char *children = NULL;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    if (zsb_read_file_at(AT_FDCWD, path, 65536, &children, NULL))
        return;
    char *rest = children;
    for (const char *word; (word = strsep(&rest, " "));) {
        uint64_t pid = 0;
        if (!zsb_parse_u64(word, INT32_MAX, &pid) || pid <= 1)
            continue;
        show_process((pid_t)pid);
        kill((pid_t)pid, SIGKILL);
    }
}

bool drive_all_gone(int64_t timeout_ms)
{
    if (reap_until_none(timeout_ms))
        return true;
    for (int i = 0; i < 50 && !reap_until_none(100); i++)
        kill_children();
    return false;
}

static char base[] = "/var/tmp/zsb-gate-test-XXXXXX";

void drive_open(void)
{
    drive_adopt_orphans();
    must(mkdtemp(base) != NULL, base, errno);
}

void drive_close(void)
{
    drive_all_gone(100);
    must(zsb_remove_tree_at(AT_FDCWD, base) == 0, base, errno);
}

char *drive_make_directory(void)
{
    char *path = zsb_strdupf("%s/XXXXXX", base);
    must(path != NULL, "strdup", errno);
    must(mkdtemp(path) != NULL, path, errno);
    return path;
}

void drive_remove_directory(char *path)
{
    must(zsb_remove_tree_at(AT_FDCWD, path) == 0, path, errno);
    free(path);
}

void drive_write_file(const char *directory, const char *name, const char *text)
{
    ZSB_AUTO_FREE char *path = zsb_strdupf("%s/%s", directory, name);
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    must(fd >= 0, path, errno);
    must(zsb_write_all(fd, text, strlen(text)) == 0, path, errno);
}

char *drive_read_file(const char *directory, const char *name)
{
    ZSB_AUTO_FREE char *path = zsb_strdupf("%s/%s", directory, name);
    char *text = NULL;
    const int rc = zsb_read_file_at(AT_FDCWD, path, 1 << 20, &text, NULL);
    must(rc == 0, path, -rc);
    return text;
}

bool drive_exists(const char *directory, const char *name)
{
    ZSB_AUTO_FREE char *path = zsb_strdupf("%s/%s", directory, name);
    struct stat st;
    return lstat(path, &st) == 0;
}

bool drive_host_can(void)
{
    DRIVEN result = DRIVE_IN("/", "run", "--", "true");
    if (result.code)
        fprintf(stderr, "this host cannot confine: %s", result.err);
    return result.code == 0;
}

int drive_skip(void)
{
    const char *must_work = getenv("ZSB_MUST_WORK");
    return must_work && strcmp(must_work, "1") == 0 ? 1 : 77;
}
