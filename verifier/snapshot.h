/* SPDX-License-Identifier: MIT
 *
 * A tree as it stands: names, types, modes, owners, sizes, times, link counts, link texts, extended
 * attributes and bytes. Two snapshots give the list of what changed in between. Reading a file changes
 * nothing that is compared.
 */
#ifndef ZSB_SNAPSHOT_H
#define ZSB_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct zsb_snapshot_entry {
    char *path; /* relative to the root of the snapshot; "" is the root */
    struct stat st;
    char *text; /* link text or first bytes of a file; NULL when there are none or they cannot be read */
    size_t text_size;
    char *xattrs; /* name NUL value-length value ... */
    size_t xattrs_size;
    bool unreadable;
};

struct zsb_snapshot {
    struct zsb_snapshot_entry *entries; /* sorted by path */
    size_t count, capacity;
};
#define ZSB_SNAPSHOT_INIT                                                                                    \
    {                                                                                                        \
        NULL, 0, 0                                                                                           \
    }

struct zsb_change {
    const char *path; /* borrowed from one of the two snapshots */
    char what[96];    /* "created", "removed", "bytes, mtime", ... */
};

/* Takes a snapshot below dir_fd. `skip` names entries of the root to leave out (NULL-terminated, may be
 * NULL). Unreadable parts are recorded as such. 0 or -errno. */
int zsb_snapshot_take(int dir_fd, const char *const *skip, struct zsb_snapshot *out);
void zsb_snapshot_clear(struct zsb_snapshot *snapshot);

/* Everything that differs, sorted by path; the caller frees *out. 0 or -ENOMEM. */
int zsb_snapshot_diff(const struct zsb_snapshot *before, const struct zsb_snapshot *after,
                      struct zsb_change **out, size_t *out_count);

/* 1 when both trees hold the same, whatever their inode numbers and times. */
bool zsb_snapshot_same_content(const struct zsb_snapshot *a, const struct zsb_snapshot *b);

#endif
