/* SPDX-License-Identifier: MIT
 *
 * zuno-sandbox-victim: see victim.h. It waits, counts the signals it gets and answers its owner; when the
 * owner goes away, so does it.
 */
#include "verifier/victim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t counts[ZSB_VICTIM_SIGNALS];
static char read_buffer[64];
static volatile unsigned char write_buffer[ZSB_VICTIM_BUFFER_BYTES];

static void count_signal(int number)
{
    if (number > 0 && number < ZSB_VICTIM_SIGNALS)
        counts[number] = counts[number] + 1;
}

static void count_signals(void)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    (void)sigfillset(&action.sa_mask);
    for (int number = 1; number < ZSB_VICTIM_SIGNALS; number++) {
        /* SIGCONT is what the owner sends after a stop; faults must stay faults. */
        if (number == SIGCONT || number == SIGSEGV || number == SIGBUS || number == SIGILL ||
            number == SIGFPE)
            continue;
        (void)sigaction(number, &action, NULL);
    }
}

static int read_line(char *line, size_t size)
{
    size_t used = 0;
    while (used + 1 < size) {
        ssize_t n = read(STDIN_FILENO, line + used, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        if (line[used] == '\n') {
            line[used] = '\0';
            return 0;
        }
        used++;
    }
    return -1;
}

static int say(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDIN_FILENO, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

static int report(void)
{
    static char text[ZSB_VICTIM_SIGNALS * 16 + 2 * ZSB_VICTIM_BUFFER_BYTES + 64];
    size_t at = (size_t)snprintf(text, sizeof(text), "signals");
    for (int number = 1; number < ZSB_VICTIM_SIGNALS; number++)
        if (counts[number] > 0)
            at += (size_t)snprintf(text + at, sizeof(text) - at, " %d:%d", number, (int)counts[number]);
    at += (size_t)snprintf(text + at, sizeof(text) - at, "\nmemory ");
    for (size_t i = 0; i < ZSB_VICTIM_BUFFER_BYTES; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%02x", write_buffer[i]);
    text[at++] = '\n';
    return say(text, at);
}

int main(void)
{
    char line[64];
    count_signals();
#ifdef PR_SET_PTRACER
    /* Yama would refuse every unrelated tracer and thereby hold the attack in the sandbox's place. Without
     * Yama this fails and nothing is lost. */
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0UL, 0UL, 0UL);
#endif
    if (read_line(read_buffer, sizeof(read_buffer)) < 0)
        return 1;
    int n = snprintf(line, sizeof(line), "ready %lx %lx\n", (unsigned long)read_buffer,
                     (unsigned long)write_buffer);
    if (n < 0 || say(line, (size_t)n) < 0)
        return 1;
    while (read_line(line, sizeof(line)) == 0)
        if (strcmp(line, "report") != 0 || report() < 0)
            return 1;
    return 0;
}
