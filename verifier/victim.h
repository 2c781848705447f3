/* SPDX-License-Identifier: MIT
 *
 * The victim: an outside process of the same user that probes try to read, write, signal and rob. It is a
 * program of its own (victim_main.c), so that its memory, its environment and its descriptors hold the flags
 * and nothing else.
 *
 * Conversation over a socket pair on the victim's standard input: we send the memory flag and a newline; it
 * answers "ready <read-address> <write-address> <descriptor>\n"; to every "report\n" it answers "signals
 * <number>:<count>...\n" and "memory <hex of the write buffer>\n".
 */
#ifndef ZSB_VICTIM_H
#define ZSB_VICTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ZSB_VICTIM_ENV "ZSB_VICTIM_SECRET"
enum { ZSB_VICTIM_SECRET_FD = 20, ZSB_VICTIM_BUFFER_BYTES = 1024, ZSB_VICTIM_SIGNALS = 65 };

struct zsb_victim {
    pid_t pid;
    int socket;
    unsigned long read_address, write_address;
    /* filled by zsb_victim_examine() */
    bool stopped;
    bool dead;
    int death_signal;
    unsigned counts[ZSB_VICTIM_SIGNALS];
    unsigned char memory[ZSB_VICTIM_BUFFER_BYTES];
    bool answered;
};

void zsb_victim_init(struct zsb_victim *victim);
/* Starts it. secret_fd is an open file that will be the victim's descriptor ZSB_VICTIM_SECRET_FD; borrowed.
 * 0 or -errno. */
int zsb_victim_start(const char *program, const char *memory_flag, const char *environment_flag,
                     int secret_fd, struct zsb_victim *out_victim);
/* Looks at it from outside (stopped? dead?), lets it go on when it was stopped, and asks for its report. */
void zsb_victim_examine(struct zsb_victim *victim);
/* "USR1", "STOP", "RTMIN", "RTMIN+3", ... as a number; 0 when unknown. */
int zsb_signal_number(const char *name);
/* 1 when zsb_victim_examine() saw this signal's effect. */
bool zsb_victim_received(const struct zsb_victim *victim, int signal_number);
/* 1 when it received any signal that nobody of ours sent, or died. */
bool zsb_victim_was_disturbed(const struct zsb_victim *victim);
void zsb_victim_end(struct zsb_victim *victim);

#endif
