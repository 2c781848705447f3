/* SPDX-License-Identifier: MIT
 *
 * What every trial directory is copied from. The repository is made by the real git, once per campaign, with
 * no configuration of the caller's.
 */
#include "lib/util/util.h"
#include "verifier/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPY_DEPTH_MAX = 32, TEMPLATE_FILE_MAX = 1 << 20 };

/* 2001-09-09: any later write moves it. */
static const struct timespec PAST[2] = {{1000000000, 0}, {1000000000, 0}};

int zsb_lab_set_past(int fd)
{
    return futimens(fd, PAST) < 0 ? -errno : 0;
}

bool zsb_lab_is_past(const struct stat *st)
{
    return st->st_mtim.tv_sec == PAST[1].tv_sec && st->st_mtim.tv_nsec == PAST[1].tv_nsec;
}

int zsb_lab_write_file(int dir_fd, const char *path, const char *text, mode_t mode)
{
    ZSB_AUTO_FD int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 || fchmod(fd, mode) < 0)
        return -errno;
    return zsb_write_all(fd, text, strlen(text));
}

static int copy_entry(int from_fd, const char *from, int to_fd, const char *to, unsigned depth);

static int copy_file(int from_fd, const char *from, int to_fd, const char *to, mode_t mode)
{
    char *data = NULL;
    size_t size = 0;
    int rc = zsb_read_file_at(from_fd, from, TEMPLATE_FILE_MAX, &data, &size);
    ZSB_AUTO_FREE char *owned = data;
    if (rc != 0)
        return rc;
    ZSB_AUTO_FD int fd = openat(to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    rc = zsb_write_all(fd, owned, size);
    if (rc == 0 && (fchmod(fd, mode & 07777) < 0 || futimens(fd, PAST) < 0))
        rc = -errno;
    return rc;
}

static int copy_children(int from_fd, int to_fd, unsigned depth)
{
    int fd = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        int saved_errno = errno;
        if (fd >= 0)
            (void)close(fd);
        return -saved_errno;
    }
    int rc = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL && rc == 0; entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = copy_entry(from_fd, entry->d_name, to_fd, entry->d_name, depth + 1);
    (void)closedir(dir);
    return rc;
}

static int copy_directory(int from_fd, const char *from, int to_fd, const char *to, mode_t mode,
                          unsigned depth)
{
    if (depth > COPY_DEPTH_MAX)
        return -ELOOP;
    if (mkdirat(to_fd, to, 0700) < 0)
        return -errno;
    ZSB_AUTO_FD int source = openat(from_fd, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ZSB_AUTO_FD int target = openat(to_fd, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (source < 0 || target < 0)
        return -errno;
    int rc = copy_children(source, target, depth);
    if (rc == 0 && (fchmod(target, mode & 07777) < 0 || futimens(target, PAST) < 0))
        rc = -errno;
    return rc;
}

static int copy_link(int from_fd, const char *from, int to_fd, const char *to)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(from_fd, from, text, sizeof(text) - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return symlinkat(text, to_fd, to) < 0 ? -errno : 0;
}

static int copy_entry(int from_fd, const char *from, int to_fd, const char *to, unsigned depth)
{
    struct stat st;
    if (fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return copy_directory(from_fd, from, to_fd, to, st.st_mode, depth);
    if (S_ISLNK(st.st_mode))
        return copy_link(from_fd, from, to_fd, to);
    if (S_ISREG(st.st_mode))
        return copy_file(from_fd, from, to_fd, to, st.st_mode);
    return -EINVAL;
}

int zsb_lab_copy_tree(int from_dir_fd, const char *from, int to_dir_fd, const char *to)
{
    return copy_entry(from_dir_fd, from, to_dir_fd, to, 0);
}

struct template_entry {
    const char *path;
    const char *text; /* NULL: a directory */
    mode_t mode;
};

static const struct template_entry common_entries[] = {
    {"ws", NULL, 0755},
    {"ws/sub", NULL, 0755},
    {"ws/private", NULL, 0755},
    {"ws/tracked.txt", "a tracked file of the workspace\n", 0644},
    {"ws/sub/file.txt", "a file in a subdirectory\n", 0644},
    {"ws/private/secret", "", 0600},
    {"out", NULL, 0755},
    {"out/secret.txt", "", 0644},
    {"deny", NULL, 0755},
    {"deny/file", "", 0600},
    {"deny/dir", NULL, 0755},
    {"deny/dir/secret", "", 0600},
    {"home", NULL, 0755},
    {"run", NULL, 0755},
};

static const struct template_entry repo_entries[] = {
    {"ws/.zuno", NULL, 0755},
    {"ws/.zuno/config.json", "{\"sandbox\":{\"mode\":\"read-only\"}}\n", 0644},
    {"ws/.agents", NULL, 0755},
    {"ws/.agents/readme", "instructions for agents\n", 0644},
};

static const struct template_entry hook_entries[] = {
    {"ws/.git/hooks", NULL, 0755},
    {"ws/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0755},
};

static int make_entries(int dir_fd, const struct template_entry *entries, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (entries[i].text != NULL)
            rc = zsb_lab_write_file(dir_fd, entries[i].path, entries[i].text, entries[i].mode);
        else if (mkdirat(dir_fd, entries[i].path, entries[i].mode) < 0 && errno != EEXIST)
            rc = -errno;
        else if (fchmodat(dir_fd, entries[i].path, entries[i].mode, 0) < 0)
            rc = -errno;
    }
    return rc;
}

static int run_git(const char *repo, const char *const *words, size_t word_count, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *home = zsb_strdupf("HOME=%s", repo);
    char *const environment[] = {home,
                                 "PATH=/usr/local/bin:/usr/bin:/bin",
                                 "LC_ALL=C",
                                 "GIT_CONFIG_GLOBAL=/dev/null",
                                 "GIT_CONFIG_SYSTEM=/dev/null",
                                 "GIT_CONFIG_NOSYSTEM=1",
                                 "GIT_AUTHOR_NAME=lab",
                                 "GIT_AUTHOR_EMAIL=lab@localhost",
                                 "GIT_COMMITTER_NAME=lab",
                                 "GIT_COMMITTER_EMAIL=lab@localhost",
                                 NULL};
    ZSB_AUTO_STRV argv = ZSB_STRV_INIT;
    zsb_strv_add(&argv, "git");
    zsb_strv_add(&argv, "-C");
    zsb_strv_add(&argv, repo);
    for (size_t i = 0; i < word_count; i++)
        zsb_strv_add(&argv, words[i]);
    if (argv.failed || home == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    int rc = posix_spawnp(&pid, "git", &actions, NULL, argv.items, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, rc,
                             "the lab needs git, which cannot be started");
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, 0, "git %s failed in the lab (status %d)",
                             words[0], status);
    return 0;
}

static int make_repository(const struct zsb_lab *lab, struct zsb_error *err)
{
    static const char *const init[] = {"init", "-q", "--template=", "-b", "main"};
    static const char *const no_logs[] = {"config", "core.logAllRefUpdates", "false"};
    static const char *const add[] = {"add", "tracked.txt", "sub/file.txt"};
    static const char *const commit[] = {"commit", "-q", "-m", "lab"};
    /* Few files: every arm gets a copy, and file systems are slow at making names anew. */
    static const char *const pack[] = {"repack", "-a", "-d", "-q"};
    static const struct {
        const char *const *words;
        size_t count;
    } steps[] = {
        {init, ZSB_ARRAY_SIZE(init)},     {no_logs, ZSB_ARRAY_SIZE(no_logs)}, {add, ZSB_ARRAY_SIZE(add)},
        {commit, ZSB_ARRAY_SIZE(commit)}, {pack, ZSB_ARRAY_SIZE(pack)},
    };
    ZSB_AUTO_FREE char *repo = zsb_strdupf("%s/template-repo/ws", lab->path);
    if (repo == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_SPAWN);
    int rc = 0;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(steps) && rc == 0; i++)
        rc = run_git(repo, steps[i].words, steps[i].count, err);
    return rc;
}

static int make_template(const struct zsb_lab *lab, const char *name, bool repository, struct zsb_error *err)
{
    int rc = mkdirat(lab->dir_fd, name, 0755) < 0 ? -errno : 0;
    ZSB_AUTO_FD int fd = openat(lab->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rc == 0 && fd < 0)
        rc = -errno;
    if (rc == 0)
        rc = make_entries(fd, common_entries, ZSB_ARRAY_SIZE(common_entries));
    if (rc == 0 && repository)
        rc = make_entries(fd, repo_entries, ZSB_ARRAY_SIZE(repo_entries));
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot fill %s/%s", lab->path, name);
    if (!repository)
        return 0;
    int code = make_repository(lab, err);
    if (code != 0)
        return code;
    rc = make_entries(fd, hook_entries, ZSB_ARRAY_SIZE(hook_entries));
    return rc == 0 ? 0
                   : zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_SPAWN, -rc, "cannot add hooks below %s/%s",
                                   lab->path, name);
}

int zsb_lab_make_templates(const struct zsb_lab *lab, struct zsb_error *err)
{
    int rc = make_template(lab, "template-plain", false, err);
    return rc != 0 ? rc : make_template(lab, "template-repo", true, err);
}
