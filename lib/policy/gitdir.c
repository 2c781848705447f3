/* SPDX-License-Identifier: MIT
 *
 * A `.git` file points to a git directory elsewhere (linked worktrees, submodules). Its content is hostile:
 * it may only ever add protection, so anything odd simply yields nothing.
 */
#include "lib/policy/policy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { POINTER_MAX_BYTES = 8192 };

/* First line of a small file, without the newline; NULL for anything else. */
static char *first_line(const char *path)
{
    ZSB_AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    ZSB_AUTO_FREE char *text = NULL;
    size_t size = 0;
    if (zsb_read_fd(fd, POINTER_MAX_BYTES, &text, &size) != 0 || strlen(text) != size)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    return *text != '\0' ? zsb_steal_ptr(&text) : NULL;
}

/* What the text names; where it does not exist, the first component that is missing: whoever creates that
 * decides what the pointer leads to. */
static char *resolve(const char *base, const char *target)
{
    ZSB_AUTO_FREE char *joined = target[0] == '/' ? strdup(target) : zsb_strdupf("%s/%s", base, target);
    if (joined == NULL)
        return NULL;
    for (char *end = joined + strlen(joined); end > joined + 1 && end[-1] == '/';)
        *--end = '\0';
    for (const char *missing = ""; joined[0] != '\0';) {
        ZSB_AUTO_FREE char *real = realpath(joined, NULL);
        struct stat st;
        if (real != NULL && *missing != '\0' && stat(real, &st) == 0 && !S_ISDIR(st.st_mode))
            return zsb_steal_ptr(&real); /* what stands in the way decides */
        if (real != NULL)
            return *missing == '\0' ? zsb_steal_ptr(&real) : zsb_strdupf("%s/%s", real, missing);
        char *slash = strrchr(joined, '/');
        missing = slash + 1;
        if ((errno != ENOENT && errno != ENOTDIR) || *missing == '\0' || strcmp(missing, "..") == 0 ||
            strcmp(missing, ".") == 0)
            return NULL;
        *slash = '\0';
    }
    return NULL;
}

void zsb_gitdir_targets(const char *root, const char *pointer_file, struct zsb_strv *out)
{
    static const char prefix[] = "gitdir:";
    ZSB_AUTO_FREE char *line = first_line(pointer_file);
    if (line == NULL || strncmp(line, prefix, sizeof(prefix) - 1) != 0)
        return;
    const char *target = line + sizeof(prefix) - 1;
    ZSB_AUTO_FREE char *git_dir = resolve(root, target + strspn(target, " \t"));
    if (git_dir == NULL)
        return;
    zsb_strv_add(out, git_dir);
    ZSB_AUTO_FREE char *common_file = zsb_strdupf("%s/commondir", git_dir);
    ZSB_AUTO_FREE char *common_line = common_file != NULL ? first_line(common_file) : NULL;
    ZSB_AUTO_FREE char *common_dir = common_line != NULL ? resolve(git_dir, common_line) : NULL;
    if (common_dir != NULL)
        zsb_strv_add(out, common_dir);
}
