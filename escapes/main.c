/* SPDX-License-Identifier: MIT
 *
 * zuno-escapes: runs one arm of one trial, as probe.h describes. Static, so that it runs inside any sandbox.
 *
 *   zuno-escapes attempt ID key=value...   every attempt of the probe
 *   zuno-escapes benign ID key=value...    its allowed twin
 *   zuno-escapes canary key=value...       nothing: says hello and done
 *   zuno-escapes list                      the ids
 */
#include "escapes/catalogue.h"
#include "escapes/context.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, RUN_LIMIT_S = 20 };
enum role { ROLE_ATTEMPT, ROLE_BENIGN, ROLE_CANARY };

static struct zsb_ctx context; /* big, and one per process */

struct report {
    int fd;
    const char *nonce;
    struct zsb_seal seal;
};

static int usage(const char *what, const char *word)
{
    (void)fprintf(stderr, "zuno-escapes: %s%s%s\n", what, word != NULL ? ": " : "", word != NULL ? word : "");
    return EXIT_USAGE;
}

/* A reader that went away is no reason to fail: the hold ends at once, and the verifier has what it wanted.
 */
static void say(const struct report *report, const char *line)
{
    size_t size = strlen(line);
    while (size > 0) {
        ssize_t n = write(report->fd, line, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        line += n;
        size -= (size_t)n;
    }
}

static void say_hello(const struct report *report, const char *id, enum role role)
{
    char line[256];
    (void)snprintf(line, sizeof(line), "%s %s hello %s %s %s\n", ZSB_RESULT_MAGIC, report->nonce, id,
                   role == ROLE_BENIGN ? "benign" : "attempt", report->fd == STDOUT_FILENO ? "stdout" : "fd");
    say(report, line);
}

static void say_result(struct report *report, const char *name, int error)
{
    static char line[2 * ZSB_CAPTURE_MAX + 256];
    int n = snprintf(line, sizeof(line), "%s %s result %s %d %d ", ZSB_RESULT_MAGIC, report->nonce, name,
                     error >= 0, error > 0 ? error : 0);
    char *end = line + n;
    for (size_t i = 0; i < context.capture_bytes; i++)
        end += sprintf(end, "%02x", context.capture[i]);
    end += sprintf(end, context.capture_bytes == 0 ? "-\n" : "\n");
    const char *words = line + sizeof(ZSB_RESULT_MAGIC) + strlen(report->nonce) + 1;
    zsb_seal_add(&report->seal, words, (size_t)(end - words) - 1);
    say(report, line);
}

static void say_done(const struct report *report)
{
    char line[128];
    char name[ZSB_SEAL_NAME_SIZE];
    zsb_seal_name(&report->seal, name);
    (void)prctl(PR_SET_NAME, name);
    (void)snprintf(line, sizeof(line), "%s %s done\n", ZSB_RESULT_MAGIC, report->nonce);
    say(report, line);
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Stands still so that processes and descriptors can be inspected. POLLERR: the reader closed its end. */
static void hold(const struct report *report)
{
    int64_t deadline = now_ms() + ZSB_HOLD_MS;
    struct pollfd end = {.fd = report->fd, .events = 0};
    for (int64_t left = ZSB_HOLD_MS; left > 0; left = deadline - now_ms())
        if (poll(&end, 1, (int)left) > 0)
            return;
}

static void run_attempts(struct report *report, const struct zsb_probe *probe)
{
    unsigned mode = zsb_read_only_mode(&context) ? ZSB_IN_READ_ONLY : ZSB_IN_WORKSPACE_WRITE;
    for (size_t i = 0; i < probe->attempt_count; i++) {
        const struct zsb_attempt *attempt = &probe->attempts[i];
        if (attempt->modes != 0 && (attempt->modes & mode) == 0)
            continue;
        zsb_ctx_begin(&context, i);
        say_result(report, attempt->name, attempt->run(&context));
    }
}

static void run_benign(struct report *report, const struct zsb_probe *probe)
{
    zsb_ctx_begin(&context, 0);
    say_result(report, "benign", probe->benign(&context));
}

static bool is_word(const char *word)
{
    size_t key = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return key > 0 && word[key] == '=';
}

static int check_words(enum role role)
{
    for (size_t i = 0; i < context.word_count; i++)
        if (!is_word(context.words[i]))
            return usage("not key=value", context.words[i]);
    if (!zsb_is_flag(zsb_arg(&context, "nonce")))
        return usage("nonce must be 32 hex digits", NULL);
    if (role == ROLE_CANARY)
        return 0;
    const char *lab = zsb_arg(&context, "lab");
    const char *mode = zsb_arg(&context, "mode");
    if (lab == NULL || lab[0] != '/')
        return usage("lab must be an absolute path", lab);
    if (mode != NULL && strcmp(mode, "read-only") != 0 && strcmp(mode, "workspace-write") != 0)
        return usage("mode must be read-only or workspace-write", mode);
    if (role == ROLE_ATTEMPT && !zsb_is_flag(zsb_arg(&context, "plant")))
        return usage("plant must be 32 hex digits", NULL);
    return 0;
}

static int run(enum role role, const struct zsb_probe *probe)
{
    int wrong = check_words(role);
    if (wrong != 0)
        return wrong;
    /* Whatever hangs, this process does not stay: SIGALRM kills by default. */
    (void)signal(SIGALRM, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)alarm(RUN_LIMIT_S);
    int result_fd = zsb_kit_result_fd();
    struct report report = {.fd = result_fd >= 0 ? result_fd : STDOUT_FILENO,
                            .nonce = zsb_arg(&context, "nonce")};
    zsb_seal_begin(&report.seal, report.nonce != NULL ? report.nonce : "");
    say_hello(&report, probe != NULL ? probe->id : "canary", role);
    if (role == ROLE_ATTEMPT)
        run_attempts(&report, probe);
    else if (role == ROLE_BENIGN)
        run_benign(&report, probe);
    say_done(&report);
    hold(&report);
    return 0;
}

static int list(void)
{
    for (size_t i = 0; zsb_probe_at(i) != NULL; i++)
        (void)puts(zsb_probe_at(i)->id);
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    bool needs_probe = strcmp(command, "attempt") == 0 || strcmp(command, "benign") == 0;
    int first_word = needs_probe ? 3 : 2;
    context.words = (const char *const *)argv + (first_word < argc ? first_word : argc);
    context.word_count = first_word < argc ? (size_t)(argc - first_word) : 0;
    if (strcmp(command, "list") == 0)
        return argc == 2 ? list() : usage("list takes no words", argv[2]);
    if (strcmp(command, "canary") == 0)
        return run(ROLE_CANARY, NULL);
    if (!needs_probe)
        return usage("expected attempt, benign, canary or list", argc > 1 ? command : NULL);
    if (argc < 3)
        return usage("expected a probe id", NULL);
    const struct zsb_probe *probe = zsb_probe_find(argv[2]);
    if (probe == NULL)
        return usage("no such probe", argv[2]);
    return run(command[0] == 'a' ? ROLE_ATTEMPT : ROLE_BENIGN, probe);
}
