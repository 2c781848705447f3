/* SPDX-License-Identifier: MIT
 *
 * Can a command read or write the memory file of a process outside, by process or by thread?
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FLAG_BYTES = 32 };

/* The same file by process and by thread; a rule may know only one of the two. */
static const char by_process[] = "/proc/%d/mem";
static const char by_thread[] = "/proc/%d/task/%d/mem";

static int open_memory(pid_t pid, const char *form, int flags)
{
    char path[96];
    if (form == by_process)
        (void)snprintf(path, sizeof(path), by_process, (int)pid);
    else
        (void)snprintf(path, sizeof(path), by_thread, (int)pid, (int)pid);
    return open(path, flags | O_CLOEXEC);
}

static int read_memory(struct zsb_ctx *ctx, const char *form)
{
    char data[FLAG_BYTES];
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    ZSB_KIT_FD fd = open_memory(pid, form, O_RDONLY);
    if (fd < 0)
        return errno;
    ssize_t n = pread(fd, data, sizeof(data), (off_t)zsb_kit_address(ctx, "victim-read"));
    if (n < 0)
        return errno;
    zsb_capture(ctx, data, (size_t)n);
    return 0;
}

static int read_by_process(struct zsb_ctx *ctx)
{
    return read_memory(ctx, by_process);
}

static int read_by_thread(struct zsb_ctx *ctx)
{
    return read_memory(ctx, by_thread);
}

static int write_memory(struct zsb_ctx *ctx)
{
    const char *flag = zsb_plant(ctx);
    pid_t pid = zsb_kit_victim(ctx);
    if (pid < 0)
        return -1;
    ZSB_KIT_FD fd = open_memory(pid, by_process, O_RDWR);
    if (fd < 0)
        return errno;
    return pwrite(fd, flag, strlen(flag), (off_t)zsb_kit_address(ctx, "victim-write")) < 0 ? errno : 0;
}

static const struct zsb_attempt attempts[] = {
    {.name = "read", .witness = ZSB_WITNESS_CAPTURE, .target = "memory", .run = read_by_process},
    {.name = "read-thread", .witness = ZSB_WITNESS_CAPTURE, .target = "memory", .run = read_by_thread},
    {.name = "write", .witness = ZSB_WITNESS_MEMORY, .target = "victim", .run = write_memory},
};

const struct zsb_probe zsb_probe_proc_mem_file = {
    .id = "proc.mem-file",
    .claim = "A command cannot read or write another process's memory through /proc.",
    .boundary = "process",
    .refs = "proc_pid_mem(5)",
    .needs = ZSB_NEED_VICTIM,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = zsb_kit_deny_process,
    .benign = zsb_kit_benign_memory,
    .benign_claim = "reads its own memory",
    ZSB_KIT_ATTEMPTS(attempts),
};
