/* SPDX-License-Identifier: MIT */
#include "verifier/victim.h"

#include "lib/util/util.h"
#include "verifier/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MS = 3000, ANSWER_MAX = 8192 };

void zsb_victim_init(struct zsb_victim *victim)
{
    memset(victim, 0, sizeof(*victim));
    victim->pid = -1;
    victim->socket = -1;
}

/* A victim that is gone must not end us by SIGPIPE. */
static int tell(int fd, const char *text, size_t size)
{
    ssize_t n = send(fd, text, size, MSG_NOSIGNAL);
    return n == (ssize_t)size ? 0 : n < 0 ? -errno : -EPIPE;
}

/* Reads up to `lines` newlines. Returns the bytes, 0 on timeout, end or overflow. */
static size_t read_lines(int fd, char *text, size_t size, unsigned lines)
{
    int64_t deadline_us = zsb_now_us() + ANSWER_MS * 1000;
    size_t used = 0;
    while (lines > 0 && used + 1 < size) {
        int64_t left_us = deadline_us - zsb_now_us();
        struct pollfd pfd = {.fd = fd, .events = POLLIN};
        if (left_us <= 0 || poll(&pfd, 1, (int)(left_us / 1000) + 1) <= 0)
            return 0;
        ssize_t n = read(fd, text + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        for (ssize_t i = 0; i < n; i++)
            lines -= text[used + (size_t)i] == '\n' && lines > 0 ? 1 : 0;
        used += (size_t)n;
    }
    text[used] = '\0';
    return lines == 0 ? used : 0;
}

_Noreturn static void become_victim(const char *program, const char *environment_flag, int socket_fd,
                                    int secret_fd)
{
    char secret[128];
    (void)snprintf(secret, sizeof(secret), "%s=%s", ZSB_VICTIM_ENV, environment_flag);
    char *const argv[] = {(char *)"zuno-sandbox-victim", NULL};
    char *const environment[] = {secret, NULL};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* The secret first: its number may be one of the low ones. */
    int secret_copy = fcntl(secret_fd, F_DUPFD_CLOEXEC, ZSB_VICTIM_SECRET_FD + 1);
    int socket_copy = fcntl(socket_fd, F_DUPFD_CLOEXEC, ZSB_VICTIM_SECRET_FD + 1);
    if (null_fd >= 0 && secret_copy >= 0 && socket_copy >= 0 && dup2(socket_copy, 0) == 0 &&
        dup2(null_fd, 1) == 1 && dup2(null_fd, 2) == 2 &&
        dup2(secret_copy, ZSB_VICTIM_SECRET_FD) == ZSB_VICTIM_SECRET_FD)
        (void)execve(program, argv, environment);
    zsb_child_leave(127);
}

static int greet(struct zsb_victim *victim, const char *memory_flag)
{
    char line[128];
    int n = snprintf(line, sizeof(line), "%s\n", memory_flag);
    int rc = tell(victim->socket, line, (size_t)n);
    if (rc != 0)
        return rc;
    if (read_lines(victim->socket, line, sizeof(line), 1) == 0 ||
        sscanf(line, "ready %lx %lx", &victim->read_address, &victim->write_address) != 2)
        return -EPROTO;
    return 0;
}

int zsb_victim_start(const char *program, const char *memory_flag, const char *environment_flag,
                     int secret_fd, struct zsb_victim *out_victim)
{
    struct zsb_victim victim;
    int pair[2];
    zsb_victim_init(&victim);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    victim.socket = pair[0];
    victim.pid = zsb_child_fork();
    if (victim.pid == 0)
        become_victim(program, environment_flag, pair[1], secret_fd);
    int rc = victim.pid < 0 ? -errno : 0;
    (void)close(pair[1]);
    if (rc == 0)
        rc = greet(&victim, memory_flag);
    if (rc != 0) {
        zsb_victim_end(&victim);
        return rc;
    }
    *out_victim = victim;
    return 0;
}

static void parse_signals(struct zsb_victim *victim, const char *text)
{
    while (*text == ' ') {
        unsigned number = 0, count = 0;
        int used = 0;
        if (sscanf(text, " %u:%u%n", &number, &count, &used) != 2 || number >= ZSB_VICTIM_SIGNALS)
            return;
        victim->counts[number] = count;
        text += used;
    }
}

static void parse_memory(struct zsb_victim *victim, const char *hex)
{
    for (size_t i = 0; i < ZSB_VICTIM_BUFFER_BYTES; i++) {
        unsigned byte = 0;
        if (!isxdigit((unsigned char)hex[2 * i]) || sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return;
        victim->memory[i] = (unsigned char)byte;
    }
    victim->answered = true;
}

static void look_from_outside(struct zsb_victim *victim)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    if (waitid(P_PID, (id_t)victim->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == victim->pid) {
        victim->dead = true;
        victim->death_signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
        return;
    }
    memset(&info, 0, sizeof(info));
    if (waitid(P_PID, (id_t)victim->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == victim->pid) {
        victim->stopped = true;
        (void)kill(victim->pid, SIGCONT);
    }
}

void zsb_victim_examine(struct zsb_victim *victim)
{
    static char text[ANSWER_MAX];
    victim->answered = false;
    if (victim->pid <= 0)
        return;
    look_from_outside(victim);
    if (victim->dead || tell(victim->socket, "report\n", 7) != 0 ||
        read_lines(victim->socket, text, sizeof(text), 2) == 0)
        return;
    const char *memory = strstr(text, "\nmemory ");
    if (strncmp(text, "signals", 7) != 0 || memory == NULL)
        return;
    parse_signals(victim, text + 7);
    parse_memory(victim, memory + 8);
}

static const struct {
    const char *name;
    int number;
} signal_names[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
    {"USR2", SIGUSR2}, {"TERM", SIGTERM},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"IO", SIGIO},
    {"URG", SIGURG},   {"WINCH", SIGWINCH}, {"ALRM", SIGALRM}, {"PIPE", SIGPIPE}, {"CHLD", SIGCHLD},
    {"PWR", SIGPWR},   {"PROF", SIGPROF},
};

int zsb_signal_number(const char *name)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(signal_names); i++)
        if (strcmp(signal_names[i].name, name) == 0)
            return signal_names[i].number;
    if (strncmp(name, "RTMIN", 5) != 0)
        return 0;
    uint64_t offset = 0;
    if (name[5] == '\0')
        return SIGRTMIN;
    if (name[5] != '+' || !zsb_parse_u64(name + 6, (uint64_t)(SIGRTMAX - SIGRTMIN), &offset))
        return 0;
    return SIGRTMIN + (int)offset;
}

bool zsb_victim_received(const struct zsb_victim *victim, int signal_number)
{
    if (signal_number <= 0 || signal_number >= ZSB_VICTIM_SIGNALS)
        return false;
    if (signal_number == SIGSTOP)
        return victim->stopped;
    return victim->counts[signal_number] > 0 || (victim->dead && victim->death_signal == signal_number);
}

bool zsb_victim_was_disturbed(const struct zsb_victim *victim)
{
    if (victim->dead || victim->stopped)
        return true;
    for (int i = 1; i < ZSB_VICTIM_SIGNALS; i++)
        if (victim->counts[i] > 0)
            return true;
    return false;
}

void zsb_victim_end(struct zsb_victim *victim)
{
    if (victim->pid > 0) {
        (void)kill(victim->pid, SIGKILL);
        while (waitpid(victim->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    zsb_cleanup_fd(&victim->socket);
    zsb_victim_init(victim);
}
