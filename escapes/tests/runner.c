/* SPDX-License-Identifier: MIT */
#include "escapes/tests/runner.h"

#include "escapes/probe.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_TIMEOUT_MS = 10000, WORDS_MAX = 32 };

void sleep_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&pause, NULL);
}

/* ---- lab */

static char labs_path[64];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void labs_begin(void)
{
    (void)snprintf(labs_path, sizeof(labs_path), "/var/tmp/zsb-escapes-test.XXXXXX");
    if (mkdtemp(labs_path) == NULL) {
        perror(labs_path);
        exit(EXIT_FAILURE);
    }
}

void labs_end(void)
{
    (void)nftw(labs_path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *lab_path(const struct lab *lab, const char *relative)
{
    static char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%.3800s/%s", lab->path, relative);
    return path;
}

static void put_directory(const struct lab *lab, const char *relative)
{
    ck_assert_msg(mkdir(lab_path(lab, relative), 0755) == 0, "mkdir %s: %s", relative, strerror(errno));
}

static void put_file(const struct lab *lab, const char *relative, const char *text)
{
    FILE *file = fopen(lab_path(lab, relative), "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

void lab_open(struct lab *lab, bool repository)
{
    static const char *const directories[] = {"ws",   "ws/sub",   "ws/private", "out",
                                              "deny", "deny/dir", "home",       "run"};
    static const char *const protected_names[] = {"ws/.git", "ws/.zuno", "ws/.agents"};
    static unsigned long long number;
    struct timespec now;
    ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
    (void)snprintf(lab->nonce, sizeof(lab->nonce), "%016llx%08x%08llx",
                   (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec,
                   (unsigned)getpid(), ++number);
    (void)snprintf(lab->path, sizeof(lab->path), "%s/lab.XXXXXX", labs_path);
    ck_assert_ptr_nonnull(mkdtemp(lab->path));
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
        put_directory(lab, directories[i]);
    for (size_t i = 0; repository && i < sizeof(protected_names) / sizeof(protected_names[0]); i++)
        put_directory(lab, protected_names[i]);
    if (repository)
        put_file(lab, "ws/.git/HEAD", "ref: refs/heads/main\n");
    put_file(lab, "ws/tracked.txt", "tracked\n");
    put_file(lab, "ws/sub/file.txt", "file\n");
    put_file(lab, "ws/private/secret", "11111111111111111111111111111111");
    put_file(lab, "out/secret.txt", "22222222222222222222222222222222");
    put_file(lab, "deny/file", "33333333333333333333333333333333");
    put_file(lab, "deny/dir/secret", "44444444444444444444444444444444");
}

void lab_close(struct lab *lab)
{
    (void)nftw(lab->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    ck_assert_int_eq(access(lab->path, F_OK), -1);
}

/* ---- program */

struct ends {
    int result[2], out[2], err[2];
};

static void become_program(const struct ends *ends, enum result_channel channel, char *const *argv)
{
    char number[16];
    int result = ends->result[1];
    int null_fd = open("/dev/null", O_RDWR);
    (void)dup2(null_fd, STDIN_FILENO);
    (void)dup2(ends->out[1], STDOUT_FILENO);
    (void)dup2(ends->err[1], STDERR_FILENO);
    if (channel == RESULT_READ_END)
        result = ends->result[0];
    if (channel == RESULT_NOT_A_PIPE)
        result = open("/dev/null", O_WRONLY);
    /* A number that nothing else has, also not what a test driver left open. */
    int inherited = fcntl(result, F_DUPFD, 100);
    if (channel == RESULT_CLOSED)
        (void)close(inherited);
    (void)snprintf(number, sizeof(number), "%d", inherited);
    if (channel == RESULT_UNSET)
        (void)unsetenv(ZSB_RESULT_FD_ENV);
    else
        (void)setenv(ZSB_RESULT_FD_ENV, number, 1);
    (void)setenv("ZSB_LAB_TOKEN", "55555555555555555555555555555555", 1);
    (void)execv(ZSB_TEST_PROGRAM, argv);
    _exit(127);
}

void program_start(struct program *program, const struct lab *lab, enum result_channel channel,
                   const char *const *words)
{
    static char text[4][PATH_MAX + 16];
    char *argv[WORDS_MAX] = {(char *)"zuno-escapes"};
    struct ends ends;
    size_t n = 1;
    for (size_t i = 0; words[i] != NULL; i++)
        argv[n++] = (char *)words[i];
    if (lab != NULL) {
        (void)snprintf(text[0], sizeof(text[0]), "nonce=%s", lab->nonce);
        (void)snprintf(text[1], sizeof(text[1]), "lab=%s", lab->path);
        (void)snprintf(text[2], sizeof(text[2]), "plant=%s", TEST_PLANT);
        (void)snprintf(text[3], sizeof(text[3]), "mode=workspace-write");
        for (size_t i = 0; i < 4; i++)
            argv[n++] = text[i];
    }
    ck_assert_int_eq(pipe2(ends.result, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(ends.out, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(ends.err, O_CLOEXEC), 0);
    program->pid = fork();
    ck_assert_int_ge(program->pid, 0);
    if (program->pid == 0)
        become_program(&ends, channel, argv);
    (void)close(ends.result[1]);
    (void)close(ends.out[1]);
    (void)close(ends.err[1]);
    program->result_fd = ends.result[0];
    program->stdout_fd = ends.out[0];
    program->stderr_fd = ends.err[0];
}

char *program_read_until(int fd, const char *last)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = calloc(1, capacity);
    ck_assert_ptr_nonnull(text);
    while (size + 1 < capacity) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ck_assert_msg(poll(&ready, 1, READ_TIMEOUT_MS) == 1, "no answer in time; so far: %s", text);
        ssize_t got = read(fd, text + size, capacity - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
        size_t tail = last != NULL ? strlen(last) : 0;
        if (last != NULL && size > tail && text[size - 1] == '\n' &&
            strncmp(text + size - 1 - tail, last, tail) == 0)
            break;
    }
    return text;
}

int program_wait(struct program *program, int timeout_ms)
{
    int status = 0;
    for (int waited = 0; waited <= timeout_ms; waited += 5) {
        if (waitpid(program->pid, &status, WNOHANG) == program->pid) {
            program->pid = -1;
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        sleep_ms(5);
    }
    return -1;
}

void program_end(struct program *program)
{
    if (program->pid > 0) {
        (void)kill(program->pid, SIGKILL);
        (void)waitpid(program->pid, NULL, 0);
    }
    if (program->result_fd >= 0)
        (void)close(program->result_fd);
    (void)close(program->stdout_fd);
    (void)close(program->stderr_fd);
}

/* ---- processes */

/* A zombie's command line is empty. */
static bool has_nonce(const char *pid, const char *nonce)
{
    char path[64], text[8192];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
    if (fd >= 0)
        (void)close(fd);
    return n > 0 && memmem(text, (size_t)n, nonce, strlen(nonce)) != NULL;
}

size_t processes_of(const struct lab *lab)
{
    size_t count = 0;
    DIR *dir = opendir("/proc");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && has_nonce(entry->d_name, lab->nonce))
            count++;
    (void)closedir(dir);
    return count;
}

bool wait_for_processes(const struct lab *lab, size_t wanted, int timeout_ms)
{
    for (int waited = 0; waited <= timeout_ms; waited += 20) {
        if (processes_of(lab) == wanted)
            return true;
        sleep_ms(20);
    }
    return false;
}
