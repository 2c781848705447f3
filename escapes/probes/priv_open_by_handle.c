/* SPDX-License-Identifier: MIT
 *
 * Can a command open files by handle, past every mount and mask ("Shocker")? One handle is asked for by name;
 * the other is guessed from the number that a directory lists, for a file that the policy denies: generation
 * 0 matches any on several file systems.
 */
#include "escapes/catalogue.h"
#include "escapes/toolkit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

enum { HANDLE_BYTES_MAX = 128, TYPE_INODE_AND_GENERATION = 1 /* FILEID_INO32_GEN */ };

union handle {
    struct file_handle head;
    unsigned char bytes[sizeof(struct file_handle) + HANDLE_BYTES_MAX];
};

/* EPERM: root without CAP_DAC_READ_SEARCH over this file system, as in a container. */
static const int absent_right[] = {EPERM, EACCES, ENOSYS, EOPNOTSUPP, ESTALE, EINVAL, EOVERFLOW, 0};
static const int deny[] = {EPERM, EACCES, ENOSYS, ESTALE, EOPNOTSUPP, ENOENT, 0};

static int open_handle(struct zsb_ctx *ctx, union handle *handle)
{
    ZSB_KIT_FD mount_fd = open(zsb_path(ctx, "out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mount_fd < 0)
        return errno;
    ZSB_KIT_FD fd = open_by_handle_at(mount_fd, &handle->head, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : zsb_kit_capture_fd(ctx, fd);
}

static int by_name(struct zsb_ctx *ctx)
{
    union handle handle;
    int mount_id = 0;
    memset(&handle, 0, sizeof(handle));
    handle.head.handle_bytes = HANDLE_BYTES_MAX;
    if (name_to_handle_at(AT_FDCWD, zsb_path(ctx, "out/secret.txt"), &handle.head, &mount_id, 0) < 0)
        return errno;
    return open_handle(ctx, &handle);
}

/* What the directory lists is the number below a mask that was mounted over the name. */
static ino_t listed_number(struct zsb_ctx *ctx, const char *directory, const char *name)
{
    ino_t number = 0;
    DIR *dir = opendir(zsb_path(ctx, directory));
    if (dir == NULL)
        return 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strcmp(entry->d_name, name) == 0)
            number = entry->d_ino;
    (void)closedir(dir);
    return number;
}

static int by_guess(struct zsb_ctx *ctx)
{
    union handle handle;
    uint32_t id[2] = {(uint32_t)listed_number(ctx, "deny", "file"), 0};
    if (id[0] == 0)
        return EACCES;
    memset(&handle, 0, sizeof(handle));
    handle.head.handle_bytes = sizeof(id);
    handle.head.handle_type = TYPE_INODE_AND_GENERATION;
    memcpy(handle.bytes + sizeof(struct file_handle), id, sizeof(id));
    return open_handle(ctx, &handle);
}

static const struct zsb_attempt attempts[] = {
    {.name = "name",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "file",
     .run = by_name,
     .absent_errnos = absent_right},
    {.name = "guess",
     .witness = ZSB_WITNESS_CAPTURE,
     .target = "deny-file",
     .run = by_guess,
     .absent_errnos = absent_right},
};

const struct zsb_probe zsb_probe_priv_open_by_handle = {
    .id = "priv.open-by-handle",
    .claim = "A command cannot open files by handle.",
    .boundary = "privilege",
    .refs = "open_by_handle_at(2)",
    .needs = ZSB_NEED_ROOT_CALLER,
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny,
    .benign = zsb_kit_benign_read,
    .benign_claim = "reads a file of the workspace by name",
    ZSB_KIT_ATTEMPTS(attempts),
};
