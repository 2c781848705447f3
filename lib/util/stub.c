/* SPDX-License-Identifier: MIT */
#include "lib/util/stub.h"
#include "lib/util/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool zsb_is_stub(int dir_fd, const struct stat *st)
{
    if (!S_ISDIR(st->st_mode) || (st->st_mode & 07777) != ZSB_STUB_MODE || st->st_uid != geteuid())
        return false;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        zsb_cleanup_fd(&fd);
        return false;
    }
    bool empty = true;
    for (struct dirent *entry; empty && (entry = readdir(dir)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    (void)closedir(dir);
    return empty;
}

void zsb_stub_lock_name(const struct stat *dir, const char *name, char out[ZSB_STUB_LOCK_NAME_SIZE])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: names may be longer than a file name's rest */
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    (void)snprintf(out, ZSB_STUB_LOCK_NAME_SIZE, "zuno-sandbox.%u.%llx.%llx.%016llx", (unsigned)geteuid(),
                   (unsigned long long)dir->st_dev, (unsigned long long)dir->st_ino,
                   (unsigned long long)hash);
}
