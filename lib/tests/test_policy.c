/* SPDX-License-Identifier: MIT
 *
 * What a policy holds after resolution.
 */
#include "lib/policy/policy_internal.h"
#include "lib/tests/support.h"
#include "lib/util/stub.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct zsb_policy *policy;

static void setup_tree(void)
{
    policy = NULL;
    zsb_test_mkdir(zsb_test_at("ws"));
    zsb_test_mkdir(zsb_test_at("ws/sub"));
    zsb_test_mkdir(zsb_test_at("ws/sub/inner"));
    zsb_test_mkdir(zsb_test_at("outside"));
    zsb_test_mkdir(zsb_test_at("outside/dir"));
}

static void free_policy(void)
{
    zsb_policy_free(policy);
    policy = NULL;
}

static struct zsb_policy_options writable(void)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.mode = ZSB_MODE_WORKSPACE_WRITE;
    options.workspace = zsb_test_at("ws");
    return options;
}

static void create(const struct zsb_policy_options *options)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_policy_new(options, &policy, &err) == 0, "%s", err.msg);
}

static bool has_path(const struct zsb_path_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return true;
    return false;
}

static const struct zsb_missing *find_missing(const struct zsb_missing_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return &list->items[i];
    return NULL;
}

START_TEST(workspace_is_canonical_through_a_link)
{
    struct zsb_policy_options options = writable();
    zsb_test_symlink("ws", zsb_test_at("wslink"));
    options.workspace = zsb_test_at("wslink/./sub/..");
    create(&options);
    ck_assert_str_eq(zsb_policy_workspace(policy), zsb_test_at("ws"));
    ck_assert_str_eq(zsb_policy_cwd(policy), zsb_test_at("ws"));
    ck_assert_uint_eq(policy->roots.count, 1);
    ck_assert_str_eq(policy->roots.items[0].path, zsb_test_at("ws"));
}
END_TEST

START_TEST(workspace_is_relative_to_the_callers_directory)
{
    struct zsb_policy_options options = writable();
    ck_assert_int_eq(chdir(zsb_test_at("ws")), 0);
    options.workspace = "sub";
    create(&options);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_str_eq(zsb_policy_workspace(policy), zsb_test_at("ws/sub"));
}
END_TEST

/* CVE-2025-59532: the command's directory must never become a root. */
static const struct {
    const char *cwd;
    const char *resolved;
    const char *reason;
} directories[] = {
    {NULL, "ws", "none means the workspace"},
    {"sub", "ws/sub", "relative to the workspace"},
    {"@ws/sub/inner", "ws/sub/inner", "absolute"},
    {"@outside", "outside", "outside the workspace"},
    {"..", ".", "above the workspace"},
    {"out", "outside/dir", "link planted in the workspace"},
};

START_TEST(working_directory_never_widens_the_roots)
{
    const char *cwd = directories[_i].cwd;
    struct zsb_policy_options options = writable();
    zsb_test_symlink(zsb_test_at("outside/dir"), zsb_test_at("ws/out"));
    options.cwd = cwd != NULL && cwd[0] == '@' ? zsb_test_at("%s", cwd + 1) : cwd;
    create(&options);
    const char *resolved = strcmp(directories[_i].resolved, ".") == 0
                               ? zsb_test_dir()
                               : zsb_test_at("%s", directories[_i].resolved);
    ck_assert_msg(strcmp(zsb_policy_cwd(policy), resolved) == 0, "%s: %s", directories[_i].reason,
                  zsb_policy_cwd(policy));
    ck_assert_uint_eq(policy->roots.count, 1);
    ck_assert_str_eq(policy->roots.items[0].path, zsb_test_at("ws"));
}
END_TEST

START_TEST(relative_paths_resolve_from_the_workspace)
{
    static const char *const roots[] = {"./sub//inner/"};
    static const char *const protects[] = {"kept"};
    static const char *const denies[] = {"secret"};
    struct zsb_policy_options options = writable();
    zsb_test_write(zsb_test_at("ws/kept"), "");
    zsb_test_write(zsb_test_at("ws/secret"), "");
    options.writable_roots = roots;
    options.protected_paths = protects;
    options.deny_paths = denies;
    options.writable_root_count = options.protected_path_count = options.deny_path_count = 1;
    ck_assert_int_eq(chdir("/"), 0);
    create(&options);
    ck_assert(has_path(&policy->roots, zsb_test_at("ws/sub/inner")));
    ck_assert(has_path(&policy->protects, zsb_test_at("ws/kept")));
    ck_assert(has_path(&policy->denies, zsb_test_at("ws/secret")));
}
END_TEST

START_TEST(link_in_a_prefix_outside_every_root_is_followed)
{
    struct zsb_policy_options options = writable();
    zsb_test_symlink("outside", zsb_test_at("alias"));
    const char *root = zsb_test_at("alias/dir");
    const char *deny = zsb_test_at("alias/secret");
    zsb_test_write(zsb_test_at("outside/secret"), "");
    options.writable_roots = &root;
    options.deny_paths = &deny;
    options.writable_root_count = options.deny_path_count = 1;
    create(&options);
    ck_assert(has_path(&policy->roots, zsb_test_at("outside/dir")));
    ck_assert(has_path(&policy->denies, zsb_test_at("outside/secret")));
}
END_TEST

/* A workspace reached through a link is often named through it, too. */
START_TEST(entry_named_through_a_link_is_the_entry_in_the_root)
{
    struct zsb_policy_options options = writable();
    zsb_test_symlink("ws", zsb_test_at("alias"));
    zsb_test_mkdir(zsb_test_at("ws/sub/kept"));
    zsb_test_mkdir(zsb_test_at("ws/sub/secret"));
    const char *const protects[] = {zsb_test_at("alias/new"), zsb_test_at("alias/sub/new"),
                                    zsb_test_at("alias/sub/kept")};
    const char *const denies[] = {zsb_test_at("alias/none"), zsb_test_at("alias/sub/none"),
                                  zsb_test_at("alias/sub/secret")};
    options.protected_paths = protects;
    options.deny_paths = denies;
    options.protected_path_count = options.deny_path_count = 3;
    create(&options);
    ck_assert_ptr_nonnull(find_missing(&policy->missing_protects, zsb_test_at("ws/sub/new")));
    ck_assert_ptr_nonnull(find_missing(&policy->missing_denies, zsb_test_at("ws/sub/none")));
    ck_assert_ptr_nonnull(find_missing(&policy->missing_protects, zsb_test_at("ws/new")));
    ck_assert_ptr_nonnull(find_missing(&policy->missing_denies, zsb_test_at("ws/none")));
    ck_assert(has_path(&policy->protects, zsb_test_at("ws/sub/kept")));
    ck_assert(has_path(&policy->denies, zsb_test_at("ws/sub/secret")));
    ck_assert(has_path(&policy->pins, zsb_test_at("ws/sub")));
}
END_TEST

START_TEST(roots_are_sorted_outer_first_and_named_once)
{
    const char *const roots[] = {"sub/inner", zsb_test_at("outside"), "sub", "sub", "."};
    struct zsb_policy_options options = writable();
    options.writable_roots = roots;
    options.writable_root_count = ZSB_ARRAY_SIZE(roots);
    create(&options);
    ck_assert_uint_eq(policy->roots.count, 4);
    for (size_t i = 1; i < policy->roots.count; i++)
        ck_assert_int_lt(strcmp(policy->roots.items[i - 1].path, policy->roots.items[i].path), 0);
    const char *inner = zsb_test_at("ws/sub/inner/x");
    ck_assert_str_eq(zsb_policy_root_of(policy, inner, false)->path, zsb_test_at("ws/sub/inner"));
    ck_assert_str_eq(zsb_policy_root_of(policy, inner, true)->path, zsb_test_at("ws"));
    ck_assert_ptr_null(zsb_policy_root_of(policy, "/etc", false));
}
END_TEST

START_TEST(every_root_has_its_default_protected_names)
{
    static const char *const names[] = {".git", ".zuno", ".agents"};
    const char *root = zsb_test_at("outside");
    struct zsb_policy_options options = writable();
    zsb_test_mkdir(zsb_test_at("ws/.zuno"));
    options.writable_roots = &root;
    options.writable_root_count = 1;
    create(&options);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++) {
        bool exists = strcmp(names[i], ".zuno") == 0;
        ck_assert_msg(has_path(&policy->protects, zsb_test_at("ws/%s", names[i])) == exists, "%s", names[i]);
        const struct zsb_missing *missing =
            find_missing(&policy->missing_protects, zsb_test_at("ws/%s", names[i]));
        ck_assert_msg((missing == NULL) == exists, "%s", names[i]);
        missing = find_missing(&policy->missing_protects, zsb_test_at("outside/%s", names[i]));
        ck_assert_msg(missing != NULL && strcmp(missing->name, names[i]) == 0, "%s", names[i]);
        ck_assert_str_eq(missing->origin, "default");
    }
}
END_TEST

START_TEST(read_only_has_no_roots_and_needs_no_default_protection)
{
    struct zsb_policy_options options = writable();
    options.mode = ZSB_MODE_READ_ONLY;
    create(&options);
    ck_assert_uint_eq(policy->roots.count, 0);
    ck_assert_uint_eq(policy->missing_protects.count, 0);
    ck_assert_int_eq(zsb_policy_mode(policy), ZSB_MODE_READ_ONLY);
    ck_assert_int_eq(zsb_policy_network(policy), ZSB_NETWORK_DENIED);
}
END_TEST

START_TEST(stub_of_a_running_sandbox_counts_as_missing)
{
    struct zsb_policy_options options = writable();
    zsb_test_mkdir(zsb_test_at("ws/.git"));
    ck_assert_int_eq(chmod(zsb_test_at("ws/.git"), ZSB_STUB_MODE), 0);
    create(&options);
    ck_assert_ptr_nonnull(find_missing(&policy->missing_protects, zsb_test_at("ws/.git")));
    ck_assert(!has_path(&policy->protects, zsb_test_at("ws/.git")));
}
END_TEST

START_TEST(ancestors_of_nested_entries_are_pinned_up_to_the_outermost_root)
{
    const char *const protects[] = {"sub/inner/kept"};
    const char *const denies[] = {"a/b/secret"};
    struct zsb_policy_options options = writable();
    zsb_test_mkdir(zsb_test_at("ws/a"));
    zsb_test_mkdir(zsb_test_at("ws/a/b"));
    zsb_test_write(zsb_test_at("ws/a/b/secret"), "");
    options.protected_paths = protects;
    options.deny_paths = denies;
    options.protected_path_count = options.deny_path_count = 1;
    create(&options);
    ck_assert_uint_eq(policy->pins.count, 4);
    ck_assert(has_path(&policy->pins, zsb_test_at("ws/sub")));
    ck_assert(has_path(&policy->pins, zsb_test_at("ws/sub/inner")));
    ck_assert(has_path(&policy->pins, zsb_test_at("ws/a")));
    ck_assert(has_path(&policy->pins, zsb_test_at("ws/a/b")));
    ck_assert_ptr_nonnull(find_missing(&policy->missing_protects, zsb_test_at("ws/sub/inner/kept")));
}
END_TEST

/* The opened object counts, not the text: what is swapped afterwards changes nothing. */
START_TEST(paths_stay_open_after_they_are_renamed)
{
    struct zsb_policy_options options = writable();
    create(&options);
    struct stat before;
    ck_assert_int_eq(stat(zsb_test_at("ws"), &before), 0);
    ck_assert_int_eq(rename(zsb_test_at("ws"), zsb_test_at("moved")), 0);
    zsb_test_symlink("outside", zsb_test_at("ws"));
    struct stat held;
    ck_assert_int_eq(fstat(policy->workspace.fd, &held), 0);
    ck_assert_uint_eq(held.st_ino, before.st_ino);
    ck_assert_uint_eq(policy->roots.items[0].st.st_ino, before.st_ino);
    ck_assert_int_eq(fcntl(policy->roots.items[0].fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(ten_thousand_denied_paths_are_a_policy)
{
    enum { COUNT = 10000 };
    const char **paths = calloc(COUNT, sizeof(*paths));
    ck_assert_ptr_nonnull(paths);
    for (int i = 0; i < COUNT; i++)
        paths[i] = zsb_test_text("name%d", i);
    struct zsb_policy_options options = writable();
    options.deny_paths = paths;
    options.deny_path_count = COUNT;
    struct zsb_error err = ZSB_ERROR_INIT;
    size_t fds = zsb_test_count_fds();
    int rc = zsb_policy_new(&options, &policy, &err);
    free(paths);
    /* Names in one directory; each still costs a descriptor, so a small ulimit is a typed limit. */
    if (rc != 0) {
        ck_assert_int_eq(rc, -ZSB_E_LIMIT);
        ck_assert_ptr_nonnull(strstr(err.msg, "ulimit"));
        ck_assert_uint_eq(zsb_test_count_fds(), fds);
        return;
    }
    ck_assert_uint_eq(policy->missing_denies.count, COUNT);
}
END_TEST

START_TEST(freeing_a_policy_closes_everything)
{
    size_t before = zsb_test_count_fds();
    const char *const denies[] = {"sub/inner"};
    struct zsb_policy_options options = writable();
    options.deny_paths = denies;
    options.deny_path_count = 1;
    create(&options);
    ck_assert_uint_gt(zsb_test_count_fds(), before);
    free_policy();
    ck_assert_uint_eq(zsb_test_count_fds(), before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policy");
    TCase *tests = zsb_test_case(suite, "policy", 30);
    tcase_add_checked_fixture(tests, setup_tree, free_policy);
    tcase_add_test(tests, workspace_is_canonical_through_a_link);
    tcase_add_test(tests, workspace_is_relative_to_the_callers_directory);
    tcase_add_loop_test(tests, working_directory_never_widens_the_roots, 0, (int)ZSB_ARRAY_SIZE(directories));
    tcase_add_test(tests, relative_paths_resolve_from_the_workspace);
    tcase_add_test(tests, link_in_a_prefix_outside_every_root_is_followed);
    tcase_add_test(tests, entry_named_through_a_link_is_the_entry_in_the_root);
    tcase_add_test(tests, roots_are_sorted_outer_first_and_named_once);
    tcase_add_test(tests, every_root_has_its_default_protected_names);
    tcase_add_test(tests, read_only_has_no_roots_and_needs_no_default_protection);
    tcase_add_test(tests, stub_of_a_running_sandbox_counts_as_missing);
    tcase_add_test(tests, ancestors_of_nested_entries_are_pinned_up_to_the_outermost_root);
    tcase_add_test(tests, paths_stay_open_after_they_are_renamed);
    tcase_add_test(tests, ten_thousand_denied_paths_are_a_policy);
    tcase_add_test(tests, freeing_a_policy_closes_everything);
    return zsb_test_run(suite, CK_FORK);
}
