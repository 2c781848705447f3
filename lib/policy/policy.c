/* SPDX-License-Identifier: MIT */
#include "lib/policy/policy_internal.h"
#include "lib/util/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names inside every writable root that decide what trusted programs outside will do next. */
static const char *const default_protected[] = {".git", ".zuno", ".agents"};

/* Trees that the sandbox replaces; nothing in them can be a workspace or a root. */
static const char *const kernel_trees[] = {"/proc", "/sys", "/dev"};

static int invalid_policy(struct zsb_error *err, const char *rule)
{
    return zsb_error_set(err, ZSB_E_INVALID_POLICY, ZSB_STAGE_POLICY, 0, "%s", rule);
}

static int check_options(const struct zsb_policy_options *options, struct zsb_error *err)
{
    if ((unsigned)options->mode > ZSB_MODE_DANGER_FULL_ACCESS ||
        (options->network != ZSB_NETWORK_DENIED && options->network != ZSB_NETWORK_ALLOWED))
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                             "mode or network out of range");
    if (options->workspace == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0, "workspace is required");
    if (options->mode == ZSB_MODE_DANGER_FULL_ACCESS && options->network == ZSB_NETWORK_DENIED)
        return invalid_policy(err, "danger-full-access cannot deny the network");
    if (options->mode == ZSB_MODE_DANGER_FULL_ACCESS &&
        (options->deny_path_count > 0 || options->protected_path_count > 0))
        return invalid_policy(err, "danger-full-access cannot hold protected or denied paths");
    if (options->mode != ZSB_MODE_WORKSPACE_WRITE && options->writable_root_count > 0)
        return invalid_policy(err, "writable roots need mode workspace-write");
    if (options->writable_root_count > ZSB_POLICY_PATHS_MAX ||
        options->protected_path_count > ZSB_POLICY_PATHS_MAX ||
        options->deny_path_count > ZSB_POLICY_PATHS_MAX ||
        options->writable_root_count + options->protected_path_count + options->deny_path_count >
            ZSB_POLICY_PATHS_MAX)
        return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_POLICY, 0, "more than %d paths in one policy",
                             ZSB_POLICY_PATHS_MAX);
    return 0;
}

static int refuse_kernel_tree(const char *kind, const char *path, struct zsb_error *err)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(kernel_trees); i++)
        if (zsb_path_within(path, kernel_trees[i]))
            return zsb_path_error(err, kind, path, 0, "lies in a tree that the sandbox replaces");
    return 0;
}

static int add_root(struct zsb_policy *policy, struct zsb_path *taken, struct zsb_error *err)
{
    int rc = refuse_kernel_tree("writable root", taken->path, err);
    if (rc == 0 && strcmp(taken->path, "/") == 0)
        rc = zsb_path_error(err, "writable root", "/", 0, "the filesystem root may not be writable");
    for (size_t i = 0; rc == 0 && i < policy->roots.count; i++)
        if (strcmp(policy->roots.items[i].path, taken->path) == 0) {
            zsb_path_clear(taken);
            return 0;
        }
    return rc != 0 ? rc : zsb_path_list_push(&policy->roots, taken, err);
}

static int add_workspace_root(struct zsb_policy *policy, struct zsb_error *err)
{
    struct zsb_path root = {.fd = -1};
    int rc = zsb_path_open_directory("workspace", policy->workspace.path, "mode", &root, err);
    if (rc == 0)
        rc = add_root(policy, &root, err);
    zsb_path_clear(&root);
    return rc;
}

static int add_named_root(struct zsb_policy *policy, const char *text, size_t index, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *path = NULL;
    char origin[64];
    (void)snprintf(origin, sizeof(origin), "writableRoots[%zu]", index);
    int rc = zsb_path_absolute("writable root", policy->workspace.path, text, &path, err);
    if (rc != 0)
        return rc;
    struct zsb_path root = {.fd = -1};
    rc = zsb_path_open_entry("writable root", path, origin, &policy->roots, &root, err);
    if (rc == 1)
        return zsb_path_error(err, "writable root", path, ENOENT, "must exist");
    if (rc == 0 && !S_ISDIR(root.st.st_mode))
        rc = zsb_path_error(err, "writable root", path, 0, "is not a directory");
    if (rc == 0)
        rc = add_root(policy, &root, err);
    zsb_path_clear(&root);
    return rc;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(((const struct zsb_path *)left)->path, ((const struct zsb_path *)right)->path);
}

/* Outer before inner, each path once: the first that was named. */
static void sort_unique(struct zsb_path_list *list)
{
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(*list->items), compare_paths);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->items[i].path, list->items[kept - 1].path) == 0)
            zsb_path_clear(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static bool list_has(const struct zsb_path_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return true;
    return false;
}

/* Renaming an ancestor would carry a mount away and free its name: make every one between the outermost
 * writable root and the path a mount point itself. */
static int pin_ancestors(struct zsb_policy *policy, const char *path, const char *origin,
                         struct zsb_error *err)
{
    const struct zsb_path *root = zsb_policy_root_of(policy, path, true);
    if (root == NULL || strcmp(root->path, path) == 0)
        return 0;
    for (size_t at = strlen(root->path) + 1; path[at] != '\0'; at++) {
        if (path[at] != '/')
            continue;
        ZSB_AUTO_FREE char *ancestor = strndup(path, at);
        if (ancestor == NULL)
            return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
        if (list_has(&policy->roots, ancestor) || list_has(&policy->pins, ancestor))
            continue;
        struct zsb_path pin = {.fd = -1};
        int rc = zsb_path_open_entry("ancestor", ancestor, origin, &policy->roots, &pin, err);
        if (rc == 0)
            rc = zsb_path_list_push(&policy->pins, &pin, err);
        zsb_path_clear(&pin);
        if (rc != 0)
            return rc == 1 ? zsb_path_error(err, "ancestor", ancestor, ENOENT, "vanished") : rc;
    }
    return 0;
}

/* Inside a writable root the directory must exist, else holding the name would mean blocking the directory.
 * Outside, nothing in a sandbox can create it and there is nothing to hold. */
static int open_missing_parent(const char *kind, const char *path, const char *origin,
                               const struct zsb_policy *policy, int *out_fd, struct zsb_error *err)
{
    if (zsb_policy_root_of(policy, path, false) == NULL)
        return 0;
    ZSB_AUTO_FREE char *parent_path = strndup(path, (size_t)(strrchr(path, '/') - path));
    if (parent_path == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    struct zsb_path parent = {.fd = -1};
    int rc = zsb_path_open_entry(kind, parent_path, origin, &policy->roots, &parent, err);
    if (rc == 1 || (rc == 0 && !S_ISDIR(parent.st.st_mode)))
        rc = zsb_path_error(err, kind, path, 0, "does not exist and neither does its directory");
    if (rc == 0)
        *out_fd = zsb_steal_fd(&parent.fd);
    zsb_path_clear(&parent);
    return rc;
}

/* A name to be held absent. */
static int add_missing(const char *kind, const char *path, const char *origin,
                       const struct zsb_policy *policy, struct zsb_missing_list *list, struct zsb_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return 0;
    struct zsb_missing missing = {.parent_fd = -1};
    int rc = open_missing_parent(kind, path, origin, policy, &missing.parent_fd, err);
    if (rc == 0) {
        missing.path = strdup(path);
        missing.origin = strdup(origin);
        missing.name = strdup(strrchr(path, '/') + 1);
        rc = missing.path == NULL || missing.origin == NULL || missing.name == NULL
                 ? zsb_error_no_memory(err, ZSB_STAGE_POLICY)
                 : zsb_missing_list_push(list, &missing, err);
    }
    zsb_missing_clear(&missing);
    return rc;
}

static int add_protected(struct zsb_policy *policy, const char *path, const char *origin,
                         struct zsb_error *err)
{
    struct zsb_path entry = {.fd = -1};
    int rc = zsb_path_open_entry("protected path", path, origin, &policy->roots, &entry, err);
    if (rc == 1 || (rc == 0 && zsb_is_stub(entry.fd, &entry.st)))
        rc = add_missing("protected path", path, origin, policy, &policy->missing_protects, err);
    else if (rc == 0 && !list_has(&policy->protects, entry.path))
        rc = zsb_path_list_push(&policy->protects, &entry, err);
    if (rc == 0)
        rc = pin_ancestors(policy, path, origin, err);
    zsb_path_clear(&entry);
    return rc;
}

/* Git directories that a pointer file names, where they lie in a writable root. */
static int add_external_git(struct zsb_policy *policy, const char *root, const char *pointer,
                            struct zsb_error *err)
{
    ZSB_AUTO_STRV targets = ZSB_STRV_INIT;
    zsb_gitdir_targets(root, pointer, &targets);
    for (size_t i = 0; i < targets.count; i++) {
        if (zsb_policy_root_of(policy, targets.items[i], false) == NULL ||
            list_has(&policy->roots, targets.items[i]))
            continue;
        int rc = add_protected(policy, targets.items[i], "default: git directory named by .git", err);
        if (rc != 0)
            return rc;
    }
    return targets.failed ? zsb_error_no_memory(err, ZSB_STAGE_POLICY) : 0;
}

static int add_default_protected(struct zsb_policy *policy, const char *root, struct zsb_error *err)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(default_protected); i++) {
        ZSB_AUTO_FREE char *path =
            zsb_strdupf("%s/%s", strcmp(root, "/") == 0 ? "" : root, default_protected[i]);
        if (path == NULL)
            return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
        int rc = add_protected(policy, path, "default", err);
        if (rc == 0 && i == 0)
            rc = add_external_git(policy, root, path, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int add_denied(struct zsb_policy *policy, const char *text, size_t index, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *path = NULL;
    char origin[64];
    (void)snprintf(origin, sizeof(origin), "denyPaths[%zu]", index);
    int rc = zsb_path_absolute("denied path", policy->workspace.path, text, &path, err);
    if (rc == 0)
        rc = zsb_path_settle("denied path", &policy->roots, &path, err);
    if (rc != 0)
        return rc;
    if (zsb_path_within(policy->workspace.path, path))
        return zsb_path_error(err, "denied path", path, 0, "holds the workspace");
    struct zsb_path entry = {.fd = -1};
    rc = zsb_path_open_entry("denied path", path, origin, &policy->roots, &entry, err);
    if (rc == 1 || (rc == 0 && zsb_is_stub(entry.fd, &entry.st)))
        rc = add_missing("denied path", path, origin, policy, &policy->missing_denies, err);
    else if (rc == 0 && !S_ISDIR(entry.st.st_mode) && !S_ISREG(entry.st.st_mode))
        rc = zsb_path_error(err, "denied path", path, 0, "is neither a directory nor a regular file");
    else if (rc == 0)
        rc = zsb_path_list_push(&policy->denies, &entry, err);
    if (rc == 0)
        rc = pin_ancestors(policy, path, origin, err);
    zsb_path_clear(&entry);
    return rc;
}

static int check_conflicts(const struct zsb_policy *policy, struct zsb_error *err)
{
    for (size_t r = 0; r < policy->roots.count; r++) {
        const char *root = policy->roots.items[r].path;
        for (size_t i = 0; i < policy->protects.count; i++)
            if (zsb_path_within(root, policy->protects.items[i].path))
                return zsb_path_error(err, "writable root", root, 0, "lies in a protected path");
        for (size_t i = 0; i < policy->denies.count; i++)
            if (zsb_path_within(root, policy->denies.items[i].path))
                return zsb_path_error(err, "writable root", root, 0, "lies in a denied path");
    }
    for (size_t i = 0; i < policy->denies.count; i++)
        if (zsb_path_within(policy->cwd.path, policy->denies.items[i].path))
            return zsb_path_error(err, "working directory", policy->cwd.path, 0, "lies in a denied path");
    return 0;
}

static int resolve_cwd(struct zsb_policy *policy, const char *text, struct zsb_error *err)
{
    bool as_is = text != NULL && (text[0] == '/' || text[0] == '\0'); /* an empty one is refused below */
    ZSB_AUTO_FREE char *joined = text == NULL ? strdup(policy->workspace.path)
                                 : as_is      ? strdup(text)
                                              : zsb_strdupf("%s/%s", policy->workspace.path, text);
    if (joined == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    int rc = zsb_path_open_directory("working directory", joined, "cwd", &policy->cwd, err);
    if (rc != 0 || policy->mode == ZSB_MODE_DANGER_FULL_ACCESS)
        return rc;
    /* faccessat on the descriptor: search permission is what chdir() will need inside. */
    if (faccessat(policy->cwd.fd, ".", X_OK, AT_EACCESS) < 0)
        return zsb_path_error(err, "working directory", policy->cwd.path, errno, "cannot be entered");
    if (policy->private_tmp != NULL && zsb_path_within(policy->cwd.path, policy->private_tmp) &&
        !zsb_path_within(policy->cwd.path, policy->workspace.path) &&
        zsb_policy_root_of(policy, policy->cwd.path, false) == NULL)
        return zsb_path_error(err, "working directory", policy->cwd.path, 0, "is hidden by the private /tmp");
    return 0;
}

static int resolve_paths(struct zsb_policy *policy, const struct zsb_policy_options *options,
                         struct zsb_error *err)
{
    int rc = 0;
    if (policy->mode == ZSB_MODE_WORKSPACE_WRITE)
        rc = add_workspace_root(policy, err);
    for (size_t i = 0; rc == 0 && i < options->writable_root_count; i++)
        rc = add_named_root(policy, options->writable_roots[i], i, err);
    sort_unique(&policy->roots);
    if (rc == 0)
        rc = resolve_cwd(policy, options->cwd, err);
    if (rc != 0 || policy->mode == ZSB_MODE_DANGER_FULL_ACCESS)
        return rc;

    for (size_t i = 0; rc == 0 && i < policy->roots.count; i++)
        rc = add_default_protected(policy, policy->roots.items[i].path, err);
    for (size_t i = 0; rc == 0 && i < options->protected_path_count; i++) {
        ZSB_AUTO_FREE char *path = NULL;
        char origin[64];
        (void)snprintf(origin, sizeof(origin), "protectedPaths[%zu]", i);
        rc = zsb_path_absolute("protected path", policy->workspace.path, options->protected_paths[i], &path,
                               err);
        if (rc == 0)
            rc = zsb_path_settle("protected path", &policy->roots, &path, err);
        if (rc == 0)
            rc = add_protected(policy, path, origin, err);
    }
    for (size_t i = 0; rc == 0 && i < options->deny_path_count; i++)
        rc = add_denied(policy, options->deny_paths[i], i, err);
    sort_unique(&policy->pins);
    sort_unique(&policy->denies);
    return rc != 0 ? rc : check_conflicts(policy, err);
}

int zsb_policy_new(const struct zsb_policy_options *options, struct zsb_policy **out_policy,
                   struct zsb_error *err)
{
    if (options == NULL || out_policy == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                             "options and out_policy are required");
    int rc = check_options(options, err);
    if (rc != 0)
        return rc;
    struct zsb_policy *policy = calloc(1, sizeof(*policy));
    if (policy == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    policy->mode = options->mode;
    policy->network = options->network;
    policy->workspace.fd = policy->cwd.fd = -1;
    policy->private_tmp = realpath("/tmp", NULL);
    rc = zsb_path_open_directory("workspace", options->workspace, "workspace", &policy->workspace, err);
    if (rc == 0)
        rc = refuse_kernel_tree("workspace", policy->workspace.path, err);
    if (rc == 0)
        rc = resolve_paths(policy, options, err);
    if (rc == 0)
        rc = zsb_environment_build(options, policy->private_tmp, &policy->environment, err);
    if (rc != 0) {
        zsb_policy_free(policy);
        return rc;
    }
    *out_policy = policy;
    return 0;
}

void zsb_policy_free(struct zsb_policy *policy)
{
    if (policy == NULL)
        return;
    zsb_path_clear(&policy->workspace);
    zsb_path_clear(&policy->cwd);
    zsb_cleanup_free(&policy->private_tmp);
    zsb_path_list_clear(&policy->roots);
    zsb_path_list_clear(&policy->pins);
    zsb_path_list_clear(&policy->protects);
    zsb_path_list_clear(&policy->denies);
    zsb_missing_list_clear(&policy->missing_protects);
    zsb_missing_list_clear(&policy->missing_denies);
    zsb_strv_clear(&policy->environment);
    free(policy);
}

enum zsb_mode zsb_policy_mode(const struct zsb_policy *policy)
{
    return policy->mode;
}

enum zsb_network zsb_policy_network(const struct zsb_policy *policy)
{
    return policy->network;
}

const char *zsb_policy_workspace(const struct zsb_policy *policy)
{
    return policy->workspace.path;
}

const char *zsb_policy_cwd(const struct zsb_policy *policy)
{
    return policy->cwd.path;
}
