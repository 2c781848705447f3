/* SPDX-License-Identifier: MIT
 *
 * A terminal outside the sandbox. The arm gets its slave side as standard input and controlling terminal;
 * what becomes readable on the slave was typed into it by somebody, and nobody of ours types.
 */
#ifndef ZSB_TERMINAL_H
#define ZSB_TERMINAL_H

#include "lib/util/util.h"

struct zsb_terminal {
    int master, slave;
    struct zsb_buf input;
};

void zsb_terminal_init(struct zsb_terminal *terminal);
int zsb_terminal_open(struct zsb_terminal *terminal); /* raw, no echo; 0 or -errno */
/* Reads what was typed. Must be called while the session that owns the terminal still lives: its end hangs
 * the terminal up and drops the input. */
void zsb_terminal_pump(struct zsb_terminal *terminal);
void zsb_terminal_close(struct zsb_terminal *terminal);
/* In a child: a session of its own, with `slave` as its controlling terminal when it is >= 0. 0 or -errno. */
int zsb_terminal_take_session(int slave);

#endif
