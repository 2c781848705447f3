/* SPDX-License-Identifier: MIT
 *
 * A `.git` file points to a git directory elsewhere (linked worktrees, submodules). Its content is hostile:
 * it may only ever add protection, so anything odd simply yields nothing.
 */
#include "lib/policy/policy_internal.h"

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

static char *resolve(const char *base, const char *target)
{
    ZSB_AUTO_FREE char *joined = target[0] == '/' ? strdup(target) : zsb_strdupf("%s/%s", base, target);
    return joined != NULL ? realpath(joined, NULL) : NULL;
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
