/* SPDX-License-Identifier: MIT
 *
 * A second, independent layer for file writes, where the kernel has Landlock. It also closes what no
 * read-only mount closes: opening a host FIFO for writing. Never the only layer: without it the same mounts
 * stand, and the gate's probe of FIFOs says what is missing.
 */
#include "lib/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Own constants: the headers at hand may be older than the kernel. */
#define ACCESS_FS_WRITE_FILE (UINT64_C(1) << 1)
#define ACCESS_FS_REFER (UINT64_C(1) << 13)
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)
enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1, ABI_REFER = 2, ABI_TRUNCATE = 3 };

struct ruleset_attr {
    uint64_t handled_access_fs;
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

static int failed(struct zsb_error *err, int sys_errno, const char *what)
{
    return zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, sys_errno, "Landlock: %s", what);
}

static int add_rule(int ruleset_fd, int fd, uint64_t access)
{
    struct path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    return syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : -errno;
}

static int allow_path(int ruleset_fd, const char *path, uint64_t access, struct zsb_error *err)
{
    ZSB_AUTO_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 ? -errno : add_rule(ruleset_fd, fd, access);
    return rc == 0 ? 0 : failed(err, -rc, path);
}

/* What was handed in on purpose may be reopened (/dev/stderr). Pipes and sockets need no rule: they are
 * refused as objects (EBADFD) and never checked. */
static int allow_descriptor(int ruleset_fd, int fd, uint64_t access, struct zsb_error *err)
{
    int rc = add_rule(ruleset_fd, fd, access);
    return rc == 0 || rc == -EBADFD || rc == -EINVAL || rc == -EBADF ? 0 : failed(err, -rc, "descriptor");
}

static int allow_writes(const struct zsb_helper_config *config, int ruleset_fd, uint64_t access,
                        struct zsb_error *err)
{
    int rc = allow_path(ruleset_fd, "/dev", access, err);
    if (rc == 0)
        rc = allow_path(ruleset_fd, "/proc", access, err);
    for (size_t i = 0; rc == 0 && i < config->audit_count; i++)
        if (config->audits[i].kind == ZSB_AUDIT_WRITABLE || config->audits[i].kind == ZSB_AUDIT_SCRATCH)
            rc = allow_path(ruleset_fd, config->audits[i].path, access, err);
    for (int fd = STDIN_FILENO; rc == 0 && fd <= STDERR_FILENO; fd++)
        rc = allow_descriptor(ruleset_fd, fd, access, err);
    for (size_t i = 0; rc == 0 && i < config->grant_count; i++)
        rc = allow_descriptor(ruleset_fd, config->grants[i], access, err);
    return rc;
}

static bool has_writable_root(const struct zsb_helper_config *config)
{
    for (size_t i = 0; i < config->audit_count; i++)
        if (config->audits[i].kind == ZSB_AUDIT_WRITABLE)
            return true;
    return false;
}

int zsb_helper_landlock(const struct zsb_helper_config *config, struct zsb_error *err)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    /* Absent is one thing, an odd answer another. */
    if (abi < 0 && errno != ENOSYS && errno != EOPNOTSUPP)
        return failed(err, errno, "cannot be asked for its version");
    /* ABI 1 refuses every rename and link between directories, which builds need. */
    if (abi < (has_writable_root(config) ? ABI_REFER : 1))
        return 0;
    uint64_t write_access = ACCESS_FS_WRITE_FILE | (abi >= ABI_TRUNCATE ? ACCESS_FS_TRUNCATE : 0);
    uint64_t refer = abi >= ABI_REFER ? ACCESS_FS_REFER : 0;
    struct ruleset_attr attr = {.handled_access_fs = write_access | refer};
    ZSB_AUTO_FD int ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (ruleset_fd < 0)
        return failed(err, errno, "cannot create a ruleset");
    int rc = refer != 0 ? allow_path(ruleset_fd, "/", refer, err) : 0;
    if (rc == 0)
        rc = allow_writes(config, ruleset_fd, write_access, err);
    if (rc != 0)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_landlock_restrict_self, ruleset_fd, 0) != 0)
        return failed(err, errno, "cannot restrict");
    return 0;
}
