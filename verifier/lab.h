/* SPDX-License-Identifier: MIT
 *
 * The lab: a disposable directory outside every sandbox, in which all trials of a campaign take place.
 *
 * <parent>/zuno-sandbox-lab.<uid>.<random>/     0700
 *     lock                                      locked for as long as the campaign lives
 *     bin/zuno-escapes                          the attacker's binary
 *     template-repo/, template-plain/           what every trial directory is copied from
 *     repo.<slot>/, plain.<slot>/               trial directories, see escapes/probe.h
 *
 * The parent is /var/tmp by default, because a private /tmp inside the sandbox would fake denials. A lab
 * whose owner died is found by its free lock and removed by the next campaign of the same user.
 */
#ifndef ZSB_LAB_H
#define ZSB_LAB_H

#include "escapes/probe.h"

#include <zuno/error.h>

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#define ZSB_LAB_PARENT "/var/tmp"
#define ZSB_LAB_PREFIX "zuno-sandbox-lab"
enum { ZSB_LAB_FD_MIN = 16 };

struct zsb_lab {
    int parent_fd, dir_fd, lock_fd;
    char name[NAME_MAX + 1];
    char path[PATH_MAX];         /* canonical, absolute */
    char escapes_path[PATH_MAX]; /* the lab's copy */
    char victim_path[PATH_MAX];  /* beside the original */
    dev_t escapes_device;
    ino_t escapes_inode;
};

/* Sweeps dead labs below `parent` (NULL: the default), then makes one. Errors: io, helper (stage spawn),
 * invalid_path for a parent that is no directory (stage policy). */
ZSB_MUST_CHECK int zsb_lab_open(const char *parent, const char *escapes_path, struct zsb_lab *out_lab,
                                struct zsb_error *err);
/* Removes the lab. Fine on a lab that was never opened after zsb_lab_init(). */
void zsb_lab_close(struct zsb_lab *lab);
void zsb_lab_init(struct zsb_lab *lab);

/* Removes every lab of this user below parent_fd whose lock is free; returns how many went. */
size_t zsb_lab_sweep(int parent_fd);

/* A fresh trial directory <lab>/<name> with the fixture of a probe; it goes with the lab. 0 or -errno;
 * *out_fd is the caller's. */
int zsb_lab_make_trial(const struct zsb_lab *lab, const char *name, enum zsb_fixture fixture, int *out_fd);
/* The same from a directory that was used before (lab_reset.c). -ENOENT when there is none; after any other
 * error it must not be used again. */
int zsb_lab_reset_trial(const struct zsb_lab *lab, const char *name, enum zsb_fixture fixture, int *out_fd);
/* Gives the directory a name that nobody will use, because something may still be at work in it. */
void zsb_lab_abandon_trial(const struct zsb_lab *lab, const char *name);
const char *zsb_lab_template(enum zsb_fixture fixture);

/* Makes both templates inside the lab (lab_template.c). */
ZSB_MUST_CHECK int zsb_lab_make_templates(const struct zsb_lab *lab, struct zsb_error *err);
/* Copies a tree: regular files, directories and links, with modes; all times set to a fixed past moment, so
 * that a write of the same bytes still shows. 0 or -errno. */
int zsb_lab_copy_tree(int from_dir_fd, const char *from, int to_dir_fd, const char *to);
int zsb_lab_set_past(int fd); /* 0 or -errno */
bool zsb_lab_is_past(const struct stat *st);
/* Writes a small file below dir_fd, creating it with `mode`. 0 or -errno. */
int zsb_lab_write_file(int dir_fd, const char *path, const char *text, mode_t mode);

#endif
