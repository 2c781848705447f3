/* SPDX-License-Identifier: MIT */
#include "lib/policy/policy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void zsb_path_clear(struct zsb_path *path)
{
    zsb_cleanup_free(&path->path);
    zsb_cleanup_free(&path->origin);
    zsb_cleanup_fd(&path->fd);
    *path = (struct zsb_path){.fd = -1};
}

void zsb_path_list_clear(struct zsb_path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        zsb_path_clear(&list->items[i]);
    zsb_cleanup_free(&list->items);
    *list = (struct zsb_path_list){0};
}

void zsb_missing_clear(struct zsb_missing *missing)
{
    zsb_cleanup_free(&missing->path);
    zsb_cleanup_free(&missing->origin);
    zsb_cleanup_free(&missing->name);
    zsb_cleanup_fd(&missing->parent_fd);
    *missing = (struct zsb_missing){.parent_fd = -1};
}

void zsb_missing_list_clear(struct zsb_missing_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        zsb_missing_clear(&list->items[i]);
    zsb_cleanup_free(&list->items);
    *list = (struct zsb_missing_list){0};
}

static int grow(void *items_pointer, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return 0;
    size_t more = *capacity < 8 ? 8 : *capacity * 2;
    void *items = NULL;
    memcpy(&items, items_pointer, sizeof(items));
    items = reallocarray(items, more, item_bytes);
    if (items == NULL)
        return -ENOMEM;
    memcpy(items_pointer, &items, sizeof(items));
    *capacity = more;
    return 0;
}

int zsb_path_list_push(struct zsb_path_list *list, struct zsb_path *taken, struct zsb_error *err)
{
    if (grow(&list->items, list->count, &list->capacity, sizeof(*list->items)) != 0)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    list->items[list->count++] = *taken;
    *taken = (struct zsb_path){.fd = -1};
    return 0;
}

int zsb_missing_list_push(struct zsb_missing_list *list, struct zsb_missing *taken, struct zsb_error *err)
{
    if (grow(&list->items, list->count, &list->capacity, sizeof(*list->items)) != 0)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    list->items[list->count++] = *taken;
    *taken = (struct zsb_missing){.parent_fd = -1};
    return 0;
}

int zsb_path_error(struct zsb_error *err, const char *kind, const char *path, int sys_errno, const char *rule)
{
    /* Paths are shown as given; invalid bytes must not reach a report. */
    const char *shown = zsb_is_utf8(path) ? path : "(not UTF-8)";
    int rc = zsb_error_set(err, ZSB_E_INVALID_PATH, ZSB_STAGE_POLICY, sys_errno, "%s \"%s\": %s", kind, shown,
                           rule);
    if (err != NULL) {
        size_t room = sizeof(err->reason);
        (void)snprintf(err->reason, room, "%s: %s", kind, rule);
    }
    return zsb_error_detail(err, rc, shown, NULL);
}

/* Appends the components of `path` to `out`, dropping "." and empty ones. False on "..". */
static bool add_components(struct zsb_buf *out, const char *path)
{
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.')
            return false;
        if (n > 0 && !(n == 1 && path[0] == '.')) {
            zsb_buf_addc(out, '/');
            zsb_buf_append(out, path, n);
        }
        path += n;
        path += strspn(path, "/");
    }
    return true;
}

int zsb_path_absolute(const char *kind, const char *base, const char *path, char **out_path,
                      struct zsb_error *err)
{
    if (path == NULL || *path == '\0')
        return zsb_path_error(err, kind, "", 0, "is empty");
    if (!zsb_is_utf8(path))
        return zsb_path_error(err, kind, path, 0, "is not valid UTF-8");
    ZSB_AUTO_BUF buf = ZSB_BUF_INIT;
    if (path[0] != '/' && !add_components(&buf, base))
        return zsb_path_error(err, kind, base, 0, "contains \"..\"");
    if (!add_components(&buf, path))
        return zsb_path_error(err, kind, path, 0, "contains \"..\"");
    if (buf.size_bytes == 0)
        zsb_buf_addc(&buf, '/');
    if (buf.size_bytes >= PATH_MAX)
        return zsb_path_error(err, kind, "", ENAMETOOLONG, "is too long");
    *out_path = zsb_buf_take(&buf);
    return *out_path != NULL ? 0 : zsb_error_no_memory(err, ZSB_STAGE_POLICY);
}

static int open_beneath(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
    for (int tries = 0; tries < 16; tries++) {
        long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}

static int fill(struct zsb_path *out, int fd, const char *path, const char *origin, struct zsb_error *err)
{
    struct zsb_path made = {.fd = fd};
    made.path = strdup(path);
    made.origin = strdup(origin);
    if (made.path == NULL || made.origin == NULL || fstat(fd, &made.st) < 0) {
        zsb_path_clear(&made);
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    }
    *out = made;
    return 0;
}

int zsb_path_open_directory(const char *kind, const char *path, const char *origin, struct zsb_path *out,
                            struct zsb_error *err)
{
    if (path == NULL || *path == '\0')
        return zsb_path_error(err, kind, "", 0, "is empty");
    if (!zsb_is_utf8(path))
        return zsb_path_error(err, kind, path, 0, "is not valid UTF-8");
    ZSB_AUTO_FREE char *canonical = realpath(path, NULL);
    if (canonical == NULL)
        return zsb_path_error(err, kind, path, errno, "cannot be resolved");
    if (!zsb_is_utf8(canonical))
        return zsb_path_error(err, kind, canonical, 0, "is not valid UTF-8");
    int fd = open_beneath(AT_FDCWD, canonical, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        return zsb_path_error(err, kind, path, -fd, "cannot be opened as a directory");
    return fill(out, fd, canonical, origin, err);
}

static const struct zsb_path *innermost(const struct zsb_path_list *roots, const char *path, bool outermost)
{
    const struct zsb_path *found = NULL;
    for (size_t i = 0; i < roots->count; i++) {
        const struct zsb_path *root = &roots->items[i];
        if (!zsb_path_within(path, root->path))
            continue;
        if (found == NULL || (strlen(root->path) > strlen(found->path)) != outermost)
            found = root;
    }
    return found;
}

const struct zsb_path *zsb_policy_root_of(const struct zsb_policy *policy, const char *path, bool outermost)
{
    return innermost(&policy->roots, path, outermost);
}

/* realpath() of what stands before `slash`; *out_missing when that does not exist. */
static char *canonical_prefix(char *path, char *slash, bool *out_missing)
{
    *slash = '\0';
    char *real = realpath(path, NULL);
    *out_missing = real == NULL && (errno == ENOENT || errno == ENOTDIR);
    *slash = '/';
    return real;
}

int zsb_path_settle(const char *kind, const struct zsb_path_list *fences, char **path, struct zsb_error *err)
{
    if (innermost(fences, *path, true) != NULL)
        return 0;
    for (char *slash = strchr(*path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        bool missing = false;
        ZSB_AUTO_FREE char *real = canonical_prefix(*path, slash, &missing);
        if (real == NULL)
            return missing ? 0 : zsb_path_error(err, kind, *path, errno, "cannot be resolved");
        /* Once inside a root, links are an attacker's: they stay for zsb_path_open_entry() to refuse. */
        if (strchr(slash + 1, '/') != NULL && innermost(fences, real, true) == NULL)
            continue;
        char *settled = zsb_strdupf("%s%s", strcmp(real, "/") == 0 ? "" : real, slash);
        if (settled == NULL)
            return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
        free(*path);
        *path = settled;
        return 0;
    }
    return 0;
}

int zsb_path_open_entry(const char *kind, const char *path, const char *origin,
                        const struct zsb_path_list *fences, struct zsb_path *out, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *settled = strdup(path);
    if (settled == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    int rc = zsb_path_settle(kind, fences, &settled, err);
    if (rc != 0)
        return rc;
    path = settled;
    const struct zsb_path *fence = innermost(fences, path, true);
    const char *relative =
        fence == NULL ? path : path + strlen(fence->path) + strspn(path + strlen(fence->path), "/");
    uint64_t resolve = RESOLVE_NO_SYMLINKS | (fence != NULL ? RESOLVE_BENEATH : 0);
    int fd = open_beneath(fence != NULL ? fence->fd : AT_FDCWD, *relative == '\0' ? "." : relative, O_PATH,
                          resolve);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return 1;
    if (fd == -ELOOP)
        return zsb_path_error(err, kind, path, 0, "is or crosses a symbolic link");
    if (fd == -EMFILE || fd == -ENFILE)
        return zsb_error_set(
            err, ZSB_E_LIMIT, ZSB_STAGE_POLICY, -fd,
            "%s \"%s\": the policy has more paths than this process may open files (ulimit -n)", kind, path);
    if (fd < 0)
        return zsb_path_error(err, kind, path, -fd, "cannot be opened");
    return fill(out, fd, path, origin, err);
}
