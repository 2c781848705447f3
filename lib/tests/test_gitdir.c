/* SPDX-License-Identifier: MIT
 *
 * `.git` pointer files: real ones add protection, hostile ones change nothing for the worse.
 */
#include "lib/policy/policy_internal.h"
#include "lib/tests/support.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct zsb_policy *policy;

static void forget_policy(void)
{
    policy = NULL;
}

static void free_policy(void)
{
    zsb_policy_free(policy);
    policy = NULL;
}

static void create(const char *workspace, const char *root)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.mode = ZSB_MODE_WORKSPACE_WRITE;
    options.workspace = workspace;
    options.writable_roots = &root;
    options.writable_root_count = root != NULL ? 1 : 0;
    ck_assert_msg(zsb_policy_new(&options, &policy, &err) == 0, "%s", err.msg);
}

static const struct zsb_path *find(const char *path)
{
    for (size_t i = 0; i < policy->protects.count; i++)
        if (strcmp(policy->protects.items[i].path, path) == 0)
            return &policy->protects.items[i];
    return NULL;
}

static void git(const char *directory, const char *const words[])
{
    static const char *const first[] = {
        "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-C",
    };
    const char *argv[24];
    size_t count = 0;
    for (; count < ZSB_ARRAY_SIZE(first); count++)
        argv[count] = first[count];
    argv[count++] = directory;
    for (size_t i = 0; words[i] != NULL; i++)
        argv[count++] = words[i];
    argv[count] = NULL;
    zsb_test_command(argv);
}

static void make_worktree(void)
{
    /* No configuration of the caller's may change what happens. */
    ck_assert_int_eq(setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1), 0);
    ck_assert_int_eq(setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1), 0);
    zsb_test_mkdir(zsb_test_at("main"));
    git(zsb_test_at("main"), (const char *const[]){"init", "--quiet", NULL});
    git(zsb_test_at("main"), (const char *const[]){"commit", "--quiet", "--allow-empty", "-m", "x", NULL});
    git(zsb_test_at("main"), (const char *const[]){"worktree", "add", "--quiet", zsb_test_at("wt"), NULL});
    ck_assert_int_eq(strncmp(zsb_test_read(zsb_test_at("wt/.git")), "gitdir: ", 8), 0);
}

START_TEST(main_repository_of_a_linked_worktree_is_protected_in_a_root)
{
    make_worktree();
    create(zsb_test_at("wt"), zsb_test_dir());
    ck_assert_ptr_nonnull(find(zsb_test_at("wt/.git")));
    const struct zsb_path *common = find(zsb_test_at("main/.git"));
    ck_assert_ptr_nonnull(common);
    ck_assert_str_eq(common->origin, "default: git directory named by .git");
    ck_assert_ptr_nonnull(find(zsb_test_at("main/.git/worktrees/wt")));
}
END_TEST

START_TEST(main_repository_outside_every_root_needs_nothing)
{
    make_worktree();
    create(zsb_test_at("wt"), NULL);
    ck_assert_ptr_nonnull(find(zsb_test_at("wt/.git")));
    ck_assert_ptr_null(find(zsb_test_at("main/.git")));
    ck_assert_uint_eq(policy->protects.count, 1);
}
END_TEST

static const struct {
    const char *content;
    const char *protects; /* one more protected path, or NULL */
    const char *reason;
} hostile[] = {
    {"", NULL, "empty file"},
    {"\n", NULL, "empty line"},
    {"gitdir:", NULL, "no target: that would be the root itself"},
    {"gitdir: ", NULL, "blank target"},
    {"gitdir: /", NULL, "the filesystem root"},
    {"gitdir: .", NULL, "the workspace itself would become read-only"},
    {"gitdir: ..", NULL, "above the workspace"},
    {"gitdir: ../outside", NULL, "outside needs no protection"},
    {"gitdir: /proc/self/root", NULL, "magic link to the filesystem root"},
    {"gitdir: none", NULL, "target does not exist"},
    {"gitdir: .git", NULL, "points to itself"},
    {"gitdir: loop", NULL, "link loop"},
    {"gitdir: out", NULL, "link out of the workspace"},
    {"gitdir: out/../sub", NULL, "leaves by a link"},
    {"gitdir: file/x", "file", "below a file: who replaces it decides"},
    {"gitdir: fifo/x", "fifo", "below a fifo, likewise"},
    {"sub\n", NULL, "no prefix"},
    {"GITDIR: sub\n", NULL, "prefix in capitals"},
    {"gitdir: sub\ngitdir: other\n", "sub", "only the first line counts"},
    {"gitdir: sub\r\n", "sub", "carriage return ends the line"},
    {"gitdir:\t./sub/\n", "sub", "odd spelling of a directory inside"},
    {"gitdir: link\n", "sub", "link inside protects its target"},
    {"gitdir: other\n", "other", "commondir that is a loop"},
};

static void make_hostile_tree(void)
{
    zsb_test_mkdir(zsb_test_at("ws"));
    zsb_test_mkdir(zsb_test_at("ws/sub"));
    zsb_test_mkdir(zsb_test_at("ws/other"));
    zsb_test_mkdir(zsb_test_at("outside"));
    zsb_test_write(zsb_test_at("ws/file"), "");
    zsb_test_write(zsb_test_at("ws/sub/commondir"), "../../outside\n");
    zsb_test_write(zsb_test_at("ws/other/commondir"), "../loop\n");
    ck_assert_int_eq(mkfifo(zsb_test_at("ws/fifo"), 0600), 0);
    zsb_test_symlink("loop", zsb_test_at("ws/loop"));
    zsb_test_symlink("../outside", zsb_test_at("ws/out"));
    zsb_test_symlink("sub", zsb_test_at("ws/link"));
}

/* The workspace is the only root and `.git` is protected whatever it says. */
static void assert_not_wider(const char *protects, const char *reason)
{
    ck_assert_msg(policy->roots.count == 1, "%s", reason);
    ck_assert_str_eq(policy->roots.items[0].path, zsb_test_at("ws"));
    ck_assert_msg(find(zsb_test_at("ws/.git")) != NULL, "%s", reason);
    ck_assert_msg(policy->protects.count == (protects != NULL ? 2 : 1), "%s", reason);
    ck_assert_msg(protects == NULL || find(zsb_test_at("ws/%s", protects)) != NULL, "%s", reason);
}

START_TEST(missing_target_is_held_by_its_first_missing_name)
{
    static const char *const rows[][2] = {
        {"gitdir: none", "none"}, {"gitdir: none/a/b", "none"}, {"gitdir: sub/none/", "sub/none"}};
    make_hostile_tree();
    zsb_test_write(zsb_test_at("ws/.git"), rows[_i][0]);
    create(zsb_test_at("ws"), NULL);
    bool found = false;
    for (size_t i = 0; i < policy->missing_protects.count; i++)
        found =
            found || strcmp(policy->missing_protects.items[i].path, zsb_test_at("ws/%s", rows[_i][1])) == 0;
    ck_assert_msg(found, "%s", rows[_i][0]);
}
END_TEST

START_TEST(hostile_pointer_is_no_error_and_no_grant)
{
    make_hostile_tree();
    zsb_test_write(zsb_test_at("ws/.git"), hostile[_i].content);
    create(zsb_test_at("ws"), NULL);
    assert_not_wider(hostile[_i].protects, hostile[_i].reason);
}
END_TEST

START_TEST(pointer_with_a_nul_byte_is_ignored)
{
    static const char content[] = "gitdir: sub\0/../..\n";
    make_hostile_tree();
    ZSB_AUTO_FD int fd = open(zsb_test_at("ws/.git"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(zsb_write_all(fd, content, sizeof(content) - 1), 0);
    create(zsb_test_at("ws"), NULL);
    assert_not_wider(NULL, "NUL");
}
END_TEST

START_TEST(huge_pointer_is_ignored)
{
    make_hostile_tree();
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_add(&text, "gitdir: sub\n");
    for (int i = 0; i < 1 << 16; i++)
        zsb_buf_add(&text, "0123456789abcdef");
    zsb_test_write(zsb_test_at("ws/.git"), text.data);
    create(zsb_test_at("ws"), NULL);
    assert_not_wider(NULL, "huge");
}
END_TEST

START_TEST(fifo_in_place_of_the_pointer_does_not_block)
{
    make_hostile_tree();
    ck_assert_int_eq(mkfifo(zsb_test_at("ws/.git"), 0600), 0);
    create(zsb_test_at("ws"), NULL);
    assert_not_wider(NULL, "fifo");
}
END_TEST

START_TEST(unreadable_pointer_is_protected_all_the_same)
{
    make_hostile_tree();
    zsb_test_write(zsb_test_at("ws/.git"), "gitdir: /\n");
    ck_assert_int_eq(chmod(zsb_test_at("ws/.git"), 0), 0);
    create(zsb_test_at("ws"), NULL);
    assert_not_wider(NULL, "unreadable");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gitdir");
    TCase *tests = zsb_test_case(suite, "gitdir", 30);
    tcase_add_checked_fixture(tests, forget_policy, free_policy);
    tcase_add_test(tests, main_repository_of_a_linked_worktree_is_protected_in_a_root);
    tcase_add_test(tests, main_repository_outside_every_root_needs_nothing);
    tcase_add_loop_test(tests, missing_target_is_held_by_its_first_missing_name, 0, 3);
    tcase_add_loop_test(tests, hostile_pointer_is_no_error_and_no_grant, 0, (int)ZSB_ARRAY_SIZE(hostile));
    tcase_add_test(tests, pointer_with_a_nul_byte_is_ignored);
    tcase_add_test(tests, huge_pointer_is_ignored);
    tcase_add_test(tests, fifo_in_place_of_the_pointer_does_not_block);
    tcase_add_test(tests, unreadable_pointer_is_protected_all_the_same);
    return zsb_test_run(suite, CK_FORK);
}
