/* SPDX-License-Identifier: MIT
 *
 * Can a command handle page faults itself? Stalling the kernel at a chosen access wins races. User mode
 * faults only, which needs no right on most hosts; by call and by device. The descriptors are held.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some headers: UFFD_USER_MODE_ONLY and USERFAULTFD_IOC_NEW. */
enum { USER_MODE_ONLY = 1 };
#define REQUEST_NEW _IO(0xAA, 0x00)

static const int absent_call[] = {ENOSYS, EPERM, EINVAL, 0};
static const int absent_device[] = {ENOENT, EACCES, EPERM, ENXIO, ENODEV, ENOTTY, 0};
static const int deny[] = {EPERM, EACCES, ENOSYS, ENOENT, 0};

/* Left open on purpose. */
static int by_call(struct zsb_ctx *ctx)
{
    (void)ctx;
    return syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY) < 0 ? errno : 0;
}

static int by_device(struct zsb_ctx *ctx)
{
    (void)ctx;
    ZSB_KIT_FD device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return errno;
    return ioctl(device, REQUEST_NEW, O_CLOEXEC | USER_MODE_ONLY) < 0 ? errno : 0;
}

static int benign(struct zsb_ctx *ctx)
{
    (void)ctx;
    void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return errno;
    int error = mprotect(page, 4096, PROT_READ | PROT_WRITE) < 0 ? errno : 0;
    (void)munmap(page, 4096);
    return error;
}

static const struct zsb_attempt attempts[] = {
    {.name = "call",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "anon_inode:[userfaultfd]",
     .run = by_call,
     .absent_errnos = absent_call},
    {.name = "device",
     .witness = ZSB_WITNESS_DESCRIPTOR,
     .target = "anon_inode:[userfaultfd]",
     .run = by_device,
     .absent_errnos = absent_device},
};

const struct zsb_probe zsb_probe_priv_userfaultfd = {
    .id = "priv.userfaultfd",
    .claim = "A command cannot handle page faults in user space.",
    .boundary = "privilege",
    .refs = "userfaultfd(2)",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "maps a page and changes its protection",
    ZSB_KIT_ATTEMPTS(attempts),
};
