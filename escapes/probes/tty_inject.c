/* SPDX-License-Identifier: MIT
 *
 * Can a command type into the caller's terminal, so that the caller's shell runs it afterwards?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

/* ENOTTY, ENXIO: the terminal was replaced, or is not the controlling one any more. */
static const int deny[] = {EPERM, EACCES, EIO, ENOTTY, ENXIO, ENOENT, ENOSYS, ENODEV, 0};
/* A pseudo-terminal is no console: pasting works on consoles only. */
static const int absent_console[] = {ENOTTY, EINVAL, EPERM, 0};

static int type_flag(struct zsb_ctx *ctx, int fd)
{
    for (const char *c = zsb_plant(ctx); *c != '\0'; c++)
        if (ioctl(fd, TIOCSTI, c) < 0)
            return errno;
    /* A line ends, so that a reader in line mode gets it. */
    return ioctl(fd, TIOCSTI, "\n") < 0 ? errno : 0;
}

static int on_input(struct zsb_ctx *ctx)
{
    return type_flag(ctx, STDIN_FILENO);
}

static int on_controlling(struct zsb_ctx *ctx)
{
    ZSB_KIT_FD fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? errno : type_flag(ctx, fd);
}

/* The kernel compares 32 bits of the request; a filter that compares 64 is passed (CVE-2019-10063). */
static int with_high_bits(struct zsb_ctx *ctx)
{
    for (const char *c = zsb_plant(ctx); *c != '\0'; c++)
        if (ioctl(STDIN_FILENO, (unsigned long)TIOCSTI | (1UL << 32), c) < 0)
            return errno;
    return ioctl(STDIN_FILENO, (unsigned long)TIOCSTI | (1UL << 32), "\n") < 0 ? errno : 0;
}

/* Paste selection: only asked for; there is nothing selected on a pseudo-terminal. */
static int paste(struct zsb_ctx *ctx)
{
    char request = 3;
    (void)ctx;
    return ioctl(STDIN_FILENO, TIOCLINUX, &request) < 0 ? errno : 0;
}

static int benign(struct zsb_ctx *ctx)
{
    char text[8];
    (void)ctx;
    ZSB_KIT_FD leader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (leader < 0 || grantpt(leader) < 0 || unlockpt(leader) < 0)
        return errno;
    ZSB_KIT_FD follower = open(ptsname(leader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (follower < 0 || write(leader, "typed\n", 6) != 6 || read(follower, text, sizeof(text)) <= 0)
        return errno != 0 ? errno : EIO;
    return 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "standard-input", .witness = ZSB_WITNESS_TERMINAL, .target = "terminal", .run = on_input},
    {.name = "controlling-terminal",
     .witness = ZSB_WITNESS_TERMINAL,
     .target = "terminal",
     .run = on_controlling},
    {.name = "high-bits", .witness = ZSB_WITNESS_TERMINAL, .target = "terminal", .run = with_high_bits},
    {.name = "paste",
     .witness = ZSB_WITNESS_TERMINAL,
     .target = "terminal",
     .run = paste,
     .absent_errnos = absent_console},
};

const struct zsb_probe zsb_probe_tty_inject = {
    .id = "tty.inject",
    .claim = "A command cannot type into the caller's terminal.",
    .boundary = "terminal",
    .refs = "CVE-2017-5226, CVE-2019-10063, CVE-2023-28100, TIOCSTI(2const), ioctl_console(2)",
    .needs = ZSB_NEED_TERMINAL | ZSB_NEED_TIOCSTI,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "types into a terminal of its own",
    ZSB_KIT_ATTEMPTS(attempts),
};
