/* SPDX-License-Identifier: MIT */
#include "verifier/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { INPUT_MAX = 1 << 16 };

void zsb_terminal_init(struct zsb_terminal *terminal)
{
    *terminal = (struct zsb_terminal){-1, -1, ZSB_BUF_INIT};
    terminal->input.max_bytes = INPUT_MAX;
}

int zsb_terminal_open(struct zsb_terminal *terminal)
{
    struct termios settings;
    if (openpty(&terminal->master, &terminal->slave, NULL, NULL, NULL) < 0)
        return -errno;
    if (tcgetattr(terminal->slave, &settings) < 0)
        return -errno;
    cfmakeraw(&settings);
    if (tcsetattr(terminal->slave, TCSANOW, &settings) < 0)
        return -errno;
    int rc = zsb_set_cloexec(terminal->master, true);
    return rc != 0 ? rc : zsb_set_cloexec(terminal->slave, true);
}

void zsb_terminal_pump(struct zsb_terminal *terminal)
{
    char chunk[1024];
    int waiting = 0;
    while (terminal->slave >= 0 && ioctl(terminal->slave, FIONREAD, &waiting) == 0 && waiting > 0) {
        ssize_t n = read(terminal->slave, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        zsb_buf_append(&terminal->input, chunk, (size_t)n);
    }
}

void zsb_terminal_close(struct zsb_terminal *terminal)
{
    zsb_cleanup_fd(&terminal->master);
    zsb_cleanup_fd(&terminal->slave);
    zsb_buf_clear(&terminal->input);
    zsb_terminal_init(terminal);
}

int zsb_terminal_take_session(int slave)
{
    if (setsid() < 0)
        return -errno;
    return slave >= 0 && ioctl(slave, TIOCSCTTY, 0) < 0 ? -errno : 0;
}
