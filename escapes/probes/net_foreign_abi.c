/* SPDX-License-Identifier: MIT
 *
 * Can a command get past a filter by calling the kernel with the numbers of another ABI: i386 (int 0x80 from
 * 64-bit code) and x32 (bit 30 of the number)? The same number means another call there. Also with network
 * allowed.
 *
 * i386 calls take 32-bit pointers, so everything they point at lies in one page below 4 GiB. Each attempt
 * runs in a child: where the ABI is missing or killed, that child dies and the attempt reports ENOSYS.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int deny[] = {EPERM, EACCES, ENOSYS, EROFS, 0};
static const int absent_abi[] = {ENOSYS, 0};

#if defined(__x86_64__) && !defined(__ILP32__)

enum {
    IA32_OPEN = 5,
    IA32_WRITE = 4,
    IA32_GETPID = 20,
    IA32_PTRACE = 26,
    IA32_SOCKETCALL = 102,
    IA32_SOCKET = 359,
    IA32_CONNECT = 362,
    SOCKETCALL_SOCKET = 1,
    SOCKETCALL_CONNECT = 3,
    X32_BIT = 0x40000000,
    X32_SOCKET = X32_BIT + SYS_socket,
    X32_CONNECT = X32_BIT + SYS_connect,
    X32_WRITE = X32_BIT + SYS_write,
};

struct low_page {
    struct sockaddr_storage address;
    uint32_t arguments[4];
    char flag[64];
    char path[PATH_MAX - 512];
};

static long ia32(long number, uint32_t a, uint32_t b, uint32_t c)
{
    long result = number;
    /* r8 to r11 are not kept by every kernel on this entry. */
    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     : "b"(a), "c"(b), "d"(c), "S"(0), "D"(0)
                     : "r8", "r9", "r10", "r11", "memory");
    return (int)result;
}

static uint32_t low(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static struct low_page *low_page(struct zsb_ctx *ctx, socklen_t *out_size)
{
    struct low_page *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if ((void *)page == MAP_FAILED)
        return NULL;
    if (zsb_kit_unix_address(zsb_arg(ctx, "unix-stream"), false, &page->address, out_size) < 0)
        return NULL;
    memcpy(page->flag, zsb_plant(ctx), strlen(zsb_plant(ctx)) + 1);
    (void)strncpy(page->path, zsb_path(ctx, "out/ia32"), sizeof(page->path) - 1);
    return page;
}

static int send_flag(long rc, long fd, const struct low_page *page)
{
    if (rc >= 0)
        rc = ia32(IA32_WRITE, (uint32_t)fd, low(page->flag), (uint32_t)strlen(page->flag));
    return rc < 0 ? (int)-rc : 0;
}

static int do_socket(struct zsb_ctx *ctx)
{
    socklen_t size = 0;
    struct low_page *page = low_page(ctx, &size);
    if (page == NULL)
        return -1;
    long fd = ia32(IA32_SOCKET, AF_UNIX, SOCK_STREAM, 0);
    long rc = fd < 0 ? fd : ia32(IA32_CONNECT, (uint32_t)fd, low(&page->address), size);
    return send_flag(rc, fd, page);
}

static int do_socketcall(struct zsb_ctx *ctx)
{
    socklen_t size = 0;
    struct low_page *page = low_page(ctx, &size);
    if (page == NULL)
        return -1;
    memcpy(page->arguments, (uint32_t[]){AF_UNIX, SOCK_STREAM, 0, 0}, sizeof(page->arguments));
    long fd = ia32(IA32_SOCKETCALL, SOCKETCALL_SOCKET, low(page->arguments), 0);
    memcpy(page->arguments, (uint32_t[]){(uint32_t)fd, low(&page->address), size, 0},
           sizeof(page->arguments));
    long rc = fd < 0 ? fd : ia32(IA32_SOCKETCALL, SOCKETCALL_CONNECT, low(page->arguments), 0);
    return send_flag(rc, fd, page);
}

static int do_open(struct zsb_ctx *ctx)
{
    socklen_t size = 0;
    struct low_page *page = low_page(ctx, &size);
    if (page == NULL)
        return -1;
    long fd = ia32(IA32_OPEN, low(page->path), O_WRONLY | O_CREAT | O_EXCL, 0644);
    return fd < 0 ? (int)-fd : 0;
}

static int do_ptrace(struct zsb_ctx *ctx)
{
    (void)ctx;
    long rc = ia32(IA32_PTRACE, PTRACE_TRACEME, 0, 0);
    return rc < 0 ? (int)-rc : 0;
}

static int do_x32(struct zsb_ctx *ctx)
{
    struct sockaddr_storage address;
    socklen_t size = 0;
    const char *flag = zsb_plant(ctx);
    if (zsb_kit_unix_address(zsb_arg(ctx, "unix-stream"), false, &address, &size) < 0)
        return -1;
    long fd = syscall(X32_SOCKET, AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || syscall(X32_CONNECT, fd, &address, size) < 0 ||
        syscall(X32_WRITE, fd, flag, strlen(flag)) < 0)
        return errno;
    return 0;
}

static int do_getpid(struct zsb_ctx *ctx)
{
    (void)ctx;
    long pid = ia32(IA32_GETPID, 0, 0, 0);
    return pid < 0 ? (int)-pid : pid == getpid() ? 0 : EIO;
}

#else /* no foreign ABI of this kind: the trial is not applicable, and says so by ZSB_NEED_IA32 */

static int unknown_abi(struct zsb_ctx *ctx)
{
    (void)ctx;
    return ENOSYS;
}

#define do_socket unknown_abi
#define do_socketcall unknown_abi
#define do_open unknown_abi
#define do_ptrace unknown_abi
#define do_x32 unknown_abi
#define do_getpid unknown_abi

#endif

static int ia32_socket(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_socket, false);
}

static int ia32_socketcall(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_socketcall, false);
}

static int ia32_open(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_open, false);
}

static int ia32_ptrace(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_ptrace, true);
}

static int x32_socket(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_x32, false);
}

static int benign(struct zsb_ctx *ctx)
{
    return zsb_kit_in_child(ctx, do_getpid, false);
}

static const struct zsb_attempt attempts[] = {
    {.name = "ia32-socket", .witness = ZSB_WITNESS_ACCEPT, .target = "unix-stream", .run = ia32_socket},
    {.name = "ia32-socketcall",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "unix-stream",
     .run = ia32_socketcall},
    {.name = "ia32-open", .target = "out/ia32", .run = ia32_open},
    {.name = "ia32-ptrace", .witness = ZSB_WITNESS_TRACED, .target = "child", .run = ia32_ptrace},
    {.name = "x32-socket",
     .witness = ZSB_WITNESS_ACCEPT,
     .target = "unix-stream",
     .run = x32_socket,
     .absent_errnos = absent_abi},
};

const struct zsb_probe zsb_probe_net_foreign_abi = {
    .id = "net.foreign-abi",
    .claim = "A command cannot get past the filter by the numbers of another ABI.",
    .boundary = "network",
    .refs = "seccomp(2), syscall(2)",
    .needs = ZSB_NEED_LISTENERS | ZSB_NEED_IA32,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_BOTH,
    .required = true,
    .deny_errnos = deny,
    .benign = benign,
    .benign_claim = "asks for its process number by int 0x80",
    ZSB_KIT_ATTEMPTS(attempts),
};
