/* SPDX-License-Identifier: MIT
 *
 * A stub holds a protected name that does not exist: an empty directory of a mode nobody uses, present on the
 * host only while a sandbox runs. Everyone who meets one must be able to tell it from a real entry.
 */
#ifndef ZSB_STUB_H
#define ZSB_STUB_H

#include <stdbool.h>
#include <sys/stat.h>

enum { ZSB_STUB_MODE = 01500, ZSB_STUB_LOCK_NAME_SIZE = 128 };

/* dir_fd may be O_PATH. True for an empty directory of ours with the stub mode. */
bool zsb_is_stub(int dir_fd, const struct stat *st);

/* Name of the lock file, in /dev/shm, that the users of one stub share: `dir` is the stub's directory. */
void zsb_stub_lock_name(const struct stat *dir, const char *name, char out[ZSB_STUB_LOCK_NAME_SIZE]);

#endif
