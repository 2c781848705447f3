/* SPDX-License-Identifier: MIT
 *
 * Launcher trust: the two rule tables as pure functions, then real files in a /srv that only this process
 * sees.
 */
#include "lib/backends/trust.h"
#include "lib/tests/support.h"

#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <unistd.h>

enum { SOMEBODY = 12345 };

static const struct {
    mode_t mode;
    uid_t uid;
    const char *rule; /* part of it, or NULL: trusted */
    const char *reason;
} file_rules[] = {
    {S_IFREG | 0755, 0, NULL, "the distribution's file"},
    {S_IFREG | 0511, 0, NULL, "readable by root only is fine"},
    {S_IFREG | 0111, 0, NULL, "execute only"},
    {S_IFDIR | 0755, 0, "regular file", "directory"},
    {S_IFLNK | 0777, 0, "regular file", "link"},
    {S_IFIFO | 0755, 0, "regular file", "fifo"},
    {S_IFSOCK | 0755, 0, "regular file", "socket"},
    {S_IFCHR | 0755, 0, "regular file", "device"},
    {S_IFREG | 0644, 0, "not executable", "no execute bit at all"},
    {S_IFREG | 0775, 0, "writable", "writable by the group"},
    {S_IFREG | 0757, 0, "writable", "writable by the world"},
    {S_IFREG | 04755, 0, "setuid", "setuid"},
    {S_IFREG | 02755, 0, "setuid", "setgid"},
    {S_IFREG | 01755, 0, "setuid", "sticky"},
    {S_IFREG | 0755, SOMEBODY, "owned by root", "owned by somebody"},
    {S_IFREG | 0755, 65534, "owned by root", "root of another user namespace"},
    /* first failure wins */
    {S_IFDIR | 07777, SOMEBODY, "regular file", "the type is judged first"},
    {S_IFREG | 06666, SOMEBODY, "not executable", "then the execute bit"},
    {S_IFREG | 06777, SOMEBODY, "writable", "then write permission"},
    {S_IFREG | 06755, SOMEBODY, "setuid", "then special bits"},
};

START_TEST(file_rule_is_the_first_that_is_broken)
{
    struct stat st = {.st_mode = file_rules[_i].mode, .st_uid = file_rules[_i].uid};
    const char *rule = zsb_launcher_mode_rule(&st);
    ck_assert_msg((rule == NULL) == (file_rules[_i].rule == NULL), "%s: %s", file_rules[_i].reason, rule);
    ck_assert_msg(rule == NULL || strstr(rule, file_rules[_i].rule) != NULL, "%s: %s", file_rules[_i].reason,
                  rule);
}
END_TEST

static const struct {
    mode_t mode;
    uid_t uid;
    const char *rule;
    const char *reason;
} ancestor_rules[] = {
    {S_IFDIR | 0755, 0, NULL, "an ordinary system directory"},
    {S_IFDIR | 0700, 0, NULL, "a private one"},
    {S_IFLNK | 0777, 0, "real directory", "link"},
    {S_IFREG | 0755, 0, "real directory", "file"},
    {S_IFDIR | 0755, SOMEBODY, "owned by root", "somebody could rename in it"},
    {S_IFDIR | 0775, 0, "writable", "writable by the group"},
    {S_IFDIR | 01777, 0, "writable", "sticky does not help: /tmp"},
};

START_TEST(ancestor_rule_is_the_first_that_is_broken)
{
    struct stat st = {.st_mode = ancestor_rules[_i].mode, .st_uid = ancestor_rules[_i].uid};
    const char *rule = zsb_launcher_ancestor_rule(&st);
    ck_assert_msg((rule == NULL) == (ancestor_rules[_i].rule == NULL), "%s: %s", ancestor_rules[_i].reason,
                  rule);
    ck_assert_msg(rule == NULL || strstr(rule, ancestor_rules[_i].rule) != NULL, "%s: %s",
                  ancestor_rules[_i].reason, rule);
}
END_TEST

static int open_launcher(const char *workspace, const char *path, struct zsb_launcher_identity *identity,
                         struct zsb_error *err)
{
    ZSB_AUTO_FD int fd = -1;
    int rc = zsb_launcher_open(workspace, path, &fd, identity, err);
    ck_assert_int_eq(rc == 0, fd >= 0);
    ck_assert(fd < 0 || fcntl(fd, F_GETFD) == FD_CLOEXEC);
    return rc;
}

static void assert_untrusted(const char *workspace, const char *path, const char *rule, const char *reason)
{
    struct zsb_launcher_identity identity;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(open_launcher(workspace, path, &identity, &err) == -ZSB_E_UNTRUSTED_LAUNCHER, "%s: %s",
                  reason, err.msg);
    ck_assert_int_eq(err.stage, ZSB_STAGE_RESOLVE);
    ck_assert_msg(strstr(err.reason, rule) != NULL, "%s: %s", reason, err.reason);
    ck_assert_msg(path == NULL || strcmp(err.subject, path) == 0, "%s: %s", reason, err.subject);
}

START_TEST(launcher_of_the_host_is_at_a_fixed_path_or_missing)
{
    struct zsb_launcher_identity identity;
    struct zsb_error err = ZSB_ERROR_INIT;
    /* PATH plays no part. */
    ck_assert_int_eq(setenv("PATH", zsb_test_dir(), 1), 0);
    int rc = open_launcher(zsb_test_dir(), NULL, &identity, &err);
    if (rc != 0) {
        ck_assert_msg(rc == -ZSB_E_BUBBLEWRAP_NOT_FOUND, "%s", err.msg);
        return;
    }
    ck_assert(strcmp(identity.path, "/usr/bin/bwrap") == 0 || strcmp(identity.path, "/bin/bwrap") == 0);
    ck_assert_int_eq(identity.root_owned, 1);
    ck_assert_int_eq(identity.group_or_world_writable, 0);
    ck_assert_int_eq(identity.special_permissions, 0);
    ck_assert_uint_ne(identity.inode, 0);
}
END_TEST

START_TEST(launcher_in_a_directory_of_the_user_is_untrusted)
{
    zsb_test_write(zsb_test_at("bwrap"), "");
    ck_assert_int_eq(chmod(zsb_test_at("bwrap"), 0755), 0);
    /* An ordinary user owns it; root's lies below /var/tmp. */
    assert_untrusted(NULL, zsb_test_at("bwrap"), geteuid() == 0 ? "ancestor" : "owned by root", "own file");
    assert_untrusted(zsb_test_dir(), zsb_test_at("bwrap"), "inside the workspace",
                     "workspace is judged first");
    assert_untrusted(NULL, zsb_test_at("none"), "cannot be opened", "missing");
}
END_TEST

static void need_srv(void)
{
    ck_assert(zsb_test_private_srv());
}

static void put_launcher(const char *path, mode_t mode)
{
    zsb_test_write(path, "#!/bin/sh\n");
    ck_assert_int_eq(chmod(path, mode), 0);
}

START_TEST(trusted_file_is_recorded)
{
    struct zsb_launcher_identity identity;
    struct zsb_error err = ZSB_ERROR_INIT;
    struct stat st;
    put_launcher("/srv/bwrap", 0755);
    ck_assert_int_eq(stat("/srv/bwrap", &st), 0);
    ck_assert_msg(open_launcher("/home", "/srv/bwrap", &identity, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(identity.path, "/srv/bwrap");
    ck_assert_uint_eq(identity.uid, 0);
    ck_assert_uint_eq(identity.mode, 0755);
    ck_assert_uint_eq(identity.inode, st.st_ino);
    ck_assert_uint_eq(identity.device, st.st_dev);
    ck_assert_int_eq(identity.root_owned, 1);
    /* A read-only workspace "/" holds everything; nobody in the sandbox can write it. */
    ck_assert_msg(open_launcher("/", "/srv/bwrap", &identity, &err) == 0, "%s", err.msg);
}
END_TEST

static void make_group_writable(void)
{
    put_launcher("/srv/bwrap", 0775);
}

static void make_world_writable(void)
{
    put_launcher("/srv/bwrap", 0757);
}

static void make_setuid(void)
{
    put_launcher("/srv/bwrap", 04755);
}

static void make_setgid(void)
{
    put_launcher("/srv/bwrap", 02755);
}

static void make_plain(void)
{
    put_launcher("/srv/bwrap", 0644);
}

static void make_fifo(void)
{
    ck_assert_int_eq(mkfifo("/srv/bwrap", 0755), 0);
}

static void make_link(void)
{
    put_launcher("/srv/real", 0755);
    zsb_test_symlink("real", "/srv/bwrap");
}

static void make_directory(void)
{
    zsb_test_mkdir("/srv/bwrap");
}

static void make_owned(void)
{
    put_launcher("/srv/bwrap", 0755);
    ck_assert_int_eq(chown("/srv/bwrap", SOMEBODY, 0), 0);
}

static void make_capable(void)
{
    put_launcher("/srv/bwrap", 0755);
    cap_t caps = cap_from_text("cap_sys_admin=ep");
    ck_assert_ptr_nonnull(caps);
    ck_assert_int_eq(cap_set_file("/srv/bwrap", caps), 0);
    (void)cap_free(caps);
}

static void make_ancestor_open(void)
{
    ck_assert_int_eq(chmod("/srv", 01777), 0);
    put_launcher("/srv/bwrap", 0755);
}

static void make_ancestor_owned(void)
{
    ck_assert_int_eq(chown("/srv", SOMEBODY, 0), 0);
    put_launcher("/srv/bwrap", 0755);
}

static const struct {
    void (*make)(void);
    const char *rule;
    const char *reason;
} files[] = {
    {make_group_writable, "writable by group or world", "group may write"},
    {make_world_writable, "writable by group or world", "world may write"},
    {make_setuid, "setuid", "setuid"},
    {make_setgid, "setuid", "setgid"},
    {make_plain, "not executable", "no execute bit"},
    {make_fifo, "not a regular file", "a fifo must not hang the check"},
    {make_link, "not a regular file", "a link, wherever it points"},
    {make_directory, "not a regular file", "a directory"},
    {make_owned, "not owned by root", "somebody's"},
    {make_capable, "file capability", "capability in an attribute"},
    {make_ancestor_open, "ancestor that is writable", "world may rename in its directory"},
    {make_ancestor_owned, "ancestor that is not owned by root", "somebody may rename in its directory"},
};

START_TEST(file_that_others_could_have_made_is_untrusted)
{
    files[_i].make();
    assert_untrusted(NULL, "/srv/bwrap", files[_i].rule, files[_i].reason);
}
END_TEST

START_TEST(ancestor_that_is_a_link_is_untrusted)
{
    zsb_test_mkdir("/srv/real");
    put_launcher("/srv/real/bwrap", 0755);
    zsb_test_symlink("real", "/srv/alias");
    assert_untrusted(NULL, "/srv/alias/bwrap", "not a real directory", "link");
}
END_TEST

START_TEST(launcher_in_the_workspace_is_untrusted)
{
    put_launcher("/srv/bwrap", 0755);
    assert_untrusted("/srv", "/srv/bwrap", "inside the workspace", "workspace");
}
END_TEST

START_TEST(nothing_at_the_fixed_paths_is_not_found)
{
    struct zsb_launcher_identity identity;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(mount("test", "/usr/bin", "tmpfs", 0, "mode=755"), 0);
    bool merged = !zsb_test_exists("/bin/bwrap"); /* /bin is a link to /usr/bin */
    int rc = merged ? open_launcher(NULL, NULL, &identity, &err) : 0;
    ck_assert_int_eq(umount2("/usr/bin", MNT_DETACH), 0);
    if (!merged)
        return;
    ck_assert_int_eq(rc, -ZSB_E_BUBBLEWRAP_NOT_FOUND);
    ck_assert_int_eq(err.stage, ZSB_STAGE_RESOLVE);
    ck_assert_int_eq(zsb_code_fallback_eligible(err.code), 1);
}
END_TEST

/* No second choice: what stands at the first path decides. */
START_TEST(first_fixed_path_is_judged_not_skipped)
{
    struct zsb_launcher_identity identity;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(mount("test", "/usr/bin", "tmpfs", 0, "mode=755"), 0);
    put_launcher("/usr/bin/bwrap", 04755);
    int rc = open_launcher(NULL, NULL, &identity, &err);
    ck_assert_int_eq(umount2("/usr/bin", MNT_DETACH), 0);
    ck_assert_int_eq(rc, -ZSB_E_UNTRUSTED_LAUNCHER);
    ck_assert_str_eq(err.subject, "/usr/bin/bwrap");
    ck_assert_int_eq(zsb_code_fallback_eligible(err.code), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trust");
    TCase *tests = zsb_test_case(suite, "trust", 20);
    tcase_add_loop_test(tests, file_rule_is_the_first_that_is_broken, 0, (int)ZSB_ARRAY_SIZE(file_rules));
    tcase_add_loop_test(tests, ancestor_rule_is_the_first_that_is_broken, 0,
                        (int)ZSB_ARRAY_SIZE(ancestor_rules));
    tcase_add_test(tests, launcher_of_the_host_is_at_a_fixed_path_or_missing);
    tcase_add_test(tests, launcher_in_a_directory_of_the_user_is_untrusted);
    bool may_mount = zsb_test_has_capability(CAP_SYS_ADMIN);
    if (may_mount) {
        TCase *root = zsb_test_case(suite, "trust_of_files", 20);
        tcase_add_checked_fixture(root, need_srv, NULL);
        tcase_add_test(root, trusted_file_is_recorded);
        tcase_add_loop_test(root, file_that_others_could_have_made_is_untrusted, 0,
                            (int)ZSB_ARRAY_SIZE(files));
        tcase_add_test(root, ancestor_that_is_a_link_is_untrusted);
        tcase_add_test(root, launcher_in_the_workspace_is_untrusted);
        tcase_add_test(root, nothing_at_the_fixed_paths_is_not_found);
        tcase_add_test(root, first_fixed_path_is_judged_not_skipped);
    }
    int status = zsb_test_run(suite, CK_FORK);
    return status == 0 && geteuid() == 0 && !may_mount ? zsb_test_cannot("root may not mount") : status;
}
