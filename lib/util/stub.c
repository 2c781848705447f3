/* SPDX-License-Identifier: MIT */
#include "lib/util/stub.h"
#include "lib/util/util.h"

#include <dirent.h>
#include <fcntl.h>
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
