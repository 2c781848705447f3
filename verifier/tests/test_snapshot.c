/* SPDX-License-Identifier: MIT
 *
 * Snapshots: every kind of change is seen, and reading is none.
 */
#include "verifier/lab.h"
#include "verifier/snapshot.h"
#include "verifier/tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct zsb_test_dir dir;
static char path_of_file[PATH_MAX + 16];

static void set_up(void)
{
    zsb_test_dir_make(&dir);
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "file", "text", 0644), 0);
    ck_assert_int_eq(mkdirat(dir.fd, "sub", 0755), 0);
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "sub/inner", "inner", 0644), 0);
    ck_assert_int_eq(symlinkat("file", dir.fd, "link"), 0);
    ck_assert_int_eq(mkdirat(dir.fd, "skipped", 0755), 0);
    (void)snprintf(path_of_file, sizeof(path_of_file), "%s/file", dir.path);
}

static void tear_down(void)
{
    zsb_test_dir_remove(&dir);
}

static int rewrite(const char *name, const char *text)
{
    ZSB_AUTO_FD int fd = openat(dir.fd, name, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : zsb_write_all(fd, text, strlen(text));
}

static int do_same_size(void)
{
    return rewrite("file", "TEXT");
}
static int do_same_bytes(void)
{
    /* The coarse clock of a file system may not have moved yet. */
    const struct timespec past[2] = {{1, 0}, {1, 0}};
    return utimensat(dir.fd, "file", past, 0);
}
static int do_grow(void)
{
    return rewrite("file", "much more text");
}
static int do_create(void)
{
    return zsb_lab_write_file(dir.fd, "sub/new", "", 0600);
}
static int do_remove(void)
{
    return unlinkat(dir.fd, "sub/inner", 0);
}
static int do_chmod(void)
{
    return fchmodat(dir.fd, "file", 0600, 0);
}
static int do_chmod_directory(void)
{
    return fchmodat(dir.fd, "sub", 0700, 0);
}
static int do_link(void)
{
    return linkat(dir.fd, "file", dir.fd, "sub/alias", 0);
}
static int do_relink(void)
{
    int rc = unlinkat(dir.fd, "link", 0);
    return rc != 0 ? rc : symlinkat("elsewhere", dir.fd, "link");
}
static int do_replace(void)
{
    int rc = zsb_lab_write_file(dir.fd, "other", "text", 0644);
    return rc != 0 ? rc : renameat(dir.fd, "other", dir.fd, "file");
}
static int do_retype(void)
{
    int rc = unlinkat(dir.fd, "file", 0);
    return rc != 0 ? rc : mkdirat(dir.fd, "file", 0755);
}
static int do_xattr(void)
{
    return setxattr(path_of_file, "user.zsb", "x", 1, 0);
}
static int do_fifo(void)
{
    return mkfifoat(dir.fd, "fifo", 0600);
}
static int do_deep(void)
{
    return rewrite("sub/inner", "INNER");
}

static const struct {
    int (*act)(void);
    const char *path;
    const char *what; /* part of it */
    const char *reason;
} changes[] = {
    {do_same_size, "file", "bytes", "other bytes of the same size"},
    {do_same_bytes, "file", "mtime", "a time set back"},
    {do_grow, "file", "size", "another size"},
    {do_create, "sub/new", "created", "a new name"},
    {do_create, "sub", "mtime", "the directory of a new name"},
    {do_remove, "sub/inner", "removed", "a name that went"},
    {do_chmod, "file", "mode", "another mode"},
    {do_chmod_directory, "sub", "mode", "another mode of a directory"},
    {do_link, "file", "links", "another link to the same file"},
    {do_link, "sub/alias", "created", "the new link itself"},
    {do_relink, "link", "bytes", "another link text"},
    {do_replace, "file", "replaced", "another file of the same looks"},
    {do_retype, "file", "type", "another type"},
    {do_xattr, "file", "xattrs", "an extended attribute"},
    {do_fifo, "fifo", "created", "a fifo, which is not opened"},
    {do_deep, "sub/inner", "bytes", "a file further down"},
};

static const char *const skip[] = {"skipped", NULL};

static bool has_change(const struct zsb_change *list, size_t count, const char *path, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].path, path) == 0 && strstr(list[i].what, what) != NULL)
            return true;
    return false;
}

START_TEST(every_kind_of_change_is_seen)
{
    struct zsb_snapshot before = ZSB_SNAPSHOT_INIT, after = ZSB_SNAPSHOT_INIT;
    struct zsb_change *list = NULL;
    size_t count = 0;
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &before), 0);
    int rc = changes[_i].act();
    bool unsupported = rc != 0 && changes[_i].act == do_xattr && errno == EOPNOTSUPP;
    ck_assert_msg(rc == 0 || unsupported, "%s: could not be made: %s", changes[_i].reason, strerror(errno));
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &after), 0);
    ck_assert_int_eq(zsb_snapshot_diff(&before, &after, &list, &count), 0);
    ck_assert_msg(unsupported || has_change(list, count, changes[_i].path, changes[_i].what),
                  "%s: not seen at %s", changes[_i].reason, changes[_i].path);
    free(list);
    zsb_snapshot_clear(&before);
    zsb_snapshot_clear(&after);
}
END_TEST

static void read_everything(void)
{
    char chunk[64];
    ZSB_AUTO_FD int fd = openat(dir.fd, "file", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq((int)read(fd, chunk, sizeof(chunk)), 4);
    ck_assert_uint_gt(zsb_test_count_entries(dir.path), 0);
}

START_TEST(reading_and_what_is_skipped_change_nothing)
{
    struct zsb_snapshot before = ZSB_SNAPSHOT_INIT, after = ZSB_SNAPSHOT_INIT;
    struct zsb_change *list = NULL;
    size_t count = 0;
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &before), 0);
    read_everything();
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "skipped/new", "", 0600), 0);
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &after), 0);
    ck_assert_int_eq(zsb_snapshot_diff(&before, &after, &list, &count), 0);
    ck_assert_msg(count == 0, "%s: %s", count > 0 ? list[0].path : "", count > 0 ? list[0].what : "");
    free(list);
    zsb_snapshot_clear(&before);
    zsb_snapshot_clear(&after);
}
END_TEST

/* A link that leads out of the tree is a link, not a way in. */
START_TEST(links_are_not_followed)
{
    struct zsb_snapshot snapshot = ZSB_SNAPSHOT_INIT;
    ck_assert_int_eq(symlinkat("/etc", dir.fd, "out"), 0);
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &snapshot), 0);
    for (size_t i = 0; i < snapshot.count; i++)
        ck_assert_msg(strncmp(snapshot.entries[i].path, "out/", 4) != 0, "followed to %s",
                      snapshot.entries[i].path);
    zsb_snapshot_clear(&snapshot);
}
END_TEST

START_TEST(sockets_and_unreadable_files_are_recorded)
{
    struct zsb_snapshot before = ZSB_SNAPSHOT_INIT, after = ZSB_SNAPSHOT_INIT;
    struct zsb_change *list = NULL;
    size_t count = 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", dir.fd);
    ZSB_AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(fchmodat(dir.fd, "file", 0000, 0), 0);
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &before), 0);
    ck_assert_int_eq(zsb_snapshot_take(dir.fd, skip, &after), 0);
    ck_assert_int_eq(zsb_snapshot_diff(&before, &after, &list, &count), 0);
    ck_assert_uint_eq(count, 0);
    free(list);
    zsb_snapshot_clear(&before);
    zsb_snapshot_clear(&after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *tcase = tcase_create("diff");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, every_kind_of_change_is_seen, 0, (int)ZSB_ARRAY_SIZE(changes));
    tcase_add_test(tcase, reading_and_what_is_skipped_change_nothing);
    tcase_add_test(tcase, links_are_not_followed);
    tcase_add_test(tcase, sockets_and_unreadable_files_are_recorded);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
