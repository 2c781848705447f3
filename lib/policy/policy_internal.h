/* SPDX-License-Identifier: MIT
 *
 * What a policy holds after resolution. Read by plan, backends, command and process; written only by
 * lib/policy.
 */
#ifndef ZSB_POLICY_INTERNAL_H
#define ZSB_POLICY_INTERNAL_H

#include "lib/util/util.h"

#include <zuno/policy.h>

#include <sys/stat.h>

/* An existing path, opened once with O_PATH and never resolved again. */
struct zsb_path {
    char *path;   /* canonical, absolute */
    char *origin; /* the policy entry that asked for it */
    int fd;
    struct stat st;
};

/* A name that does not exist. */
struct zsb_missing {
    char *path;
    char *origin;
    char *name;    /* last component of path */
    int parent_fd; /* O_PATH; -1 outside the writable roots, where nothing can create it */
};

struct zsb_path_list {
    struct zsb_path *items;
    size_t count;
    size_t capacity;
};

struct zsb_missing_list {
    struct zsb_missing *items;
    size_t count;
    size_t capacity;
};

struct zsb_policy {
    enum zsb_mode mode;
    enum zsb_network network;
    struct zsb_path workspace;
    struct zsb_path cwd;
    char *private_tmp;          /* canonical path of the host's /tmp, NULL when it has none */
    struct zsb_path_list roots; /* outer before inner */
    struct zsb_path_list pins;  /* ancestors of protected and denied paths inside a root */
    struct zsb_path_list protects;
    struct zsb_path_list denies;
    struct zsb_missing_list missing_protects;
    struct zsb_missing_list missing_denies;
    struct zsb_strv environment;
};

/* lib/policy/paths.c: all take text from the caller, report stage policy. */
void zsb_path_clear(struct zsb_path *path);
void zsb_path_list_clear(struct zsb_path_list *list);
void zsb_missing_clear(struct zsb_missing *missing);
void zsb_missing_list_clear(struct zsb_missing_list *list);
int zsb_path_list_push(struct zsb_path_list *list, struct zsb_path *taken, struct zsb_error *err);
int zsb_missing_list_push(struct zsb_missing_list *list, struct zsb_missing *taken, struct zsb_error *err);
/* invalid_path with kind and rule. */
int zsb_path_error(struct zsb_error *err, const char *kind, const char *path, int sys_errno,
                   const char *rule);
/* "base/path" or an absolute path, without ".", "//" and a trailing "/"; refuses "", "..", non-UTF-8,
 * overlong. */
int zsb_path_absolute(const char *kind, const char *base, const char *path, char **out_path,
                      struct zsb_error *err);
/* Canonicalises (links allowed) and opens a directory. */
int zsb_path_open_directory(const char *kind, const char *path, const char *origin, struct zsb_path *out,
                            struct zsb_error *err);
/* A path outside every one of `fences` (writable roots), where nobody in a sandbox can plant links: its
 * directory is made canonical, so that a prefix like /var/run or a link to a root is fine. Stops at a root,
 * where links are not to be followed. What does not exist stays. */
int zsb_path_settle(const char *kind, const struct zsb_path_list *fences, char **path, struct zsb_error *err);
/* Opens without following a link in the last component, nor any below one of `fences` (writable roots).
 * Returns 1 with nothing opened when the path does not exist. */
int zsb_path_open_entry(const char *kind, const char *path, const char *origin,
                        const struct zsb_path_list *fences, struct zsb_path *out, struct zsb_error *err);
/* The innermost and outermost writable root that holds the path, or NULL. */
const struct zsb_path *zsb_policy_root_of(const struct zsb_policy *policy, const char *path, bool outermost);

/* lib/policy/gitdir.c: external git directories named by a `.git` pointer file, canonical; hostile content
 * adds nothing. */
void zsb_gitdir_targets(const char *root, const char *pointer_file, struct zsb_strv *out);

/* lib/policy/environment.c */
int zsb_environment_build(const struct zsb_policy_options *options, const char *private_tmp,
                          struct zsb_strv *out, struct zsb_error *err);

#endif
