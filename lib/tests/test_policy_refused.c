/* SPDX-License-Identifier: MIT
 *
 * Options that are no policy: each is a typed error of stage policy that names what and why.
 */
#include "lib/policy/policy_internal.h"
#include "lib/tests/support.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A leading '@' stands for the test directory. The tree:
 *   ws/ sub/inner/ file fifo link->sub out->../outside dangling->nowhere bad\xff/ .git/inner/
 *   outside/dir/ outside/secret  alias->outside  wslink->ws */
struct row {
    const char *reason; /* why it is refused */
    enum zsb_code code;
    const char *rule; /* part of the message */
    enum zsb_mode mode;
    enum zsb_network network;
    const char *workspace; /* NULL: "@ws"; "-": none */
    const char *root, *protect, *deny, *cwd;
};

#define WRITE ZSB_MODE_WORKSPACE_WRITE
#define FULL ZSB_MODE_DANGER_FULL_ACCESS
#define BAD_MODE(number) ((enum zsb_mode)(number))
#define PATH(...)                                                                                            \
    {                                                                                                        \
        .code = ZSB_E_INVALID_PATH, __VA_ARGS__                                                              \
    }
#define POLICY(...)                                                                                          \
    {                                                                                                        \
        .code = ZSB_E_INVALID_POLICY, __VA_ARGS__                                                            \
    }
#define ARGUMENT(...)                                                                                        \
    {                                                                                                        \
        .code = ZSB_E_INVALID_ARGUMENT, __VA_ARGS__                                                          \
    }

static const struct row refused[] = {
    ARGUMENT(.reason = "mode above the enumeration", .rule = "out of range", .mode = BAD_MODE(3)),
    ARGUMENT(.reason = "mode below the enumeration", .rule = "out of range", .mode = BAD_MODE(-1)),
    ARGUMENT(.reason = "network outside the enumeration", .rule = "out of range",
             .network = (enum zsb_network)2),
    ARGUMENT(.reason = "no workspace", .rule = "workspace is required", .workspace = "-"),
    /* contradictions */
    POLICY(.reason = "full access cannot deny the network", .rule = "network", .mode = FULL),
    POLICY(.reason = "full access enforces no protected path", .rule = "protected", .mode = FULL,
           .network = ZSB_NETWORK_ALLOWED, .protect = "sub"),
    POLICY(.reason = "full access enforces no denied path", .rule = "denied", .mode = FULL,
           .network = ZSB_NETWORK_ALLOWED, .deny = "sub"),
    POLICY(.reason = "read-only has no writable roots", .rule = "workspace-write", .root = "sub"),
    POLICY(.reason = "full access has no writable roots", .rule = "workspace-write", .mode = FULL,
           .network = ZSB_NETWORK_ALLOWED, .root = "sub"),
    /* workspace */
    PATH(.reason = "empty workspace", .rule = "is empty", .workspace = ""),
    PATH(.reason = "missing workspace", .rule = "cannot be resolved", .workspace = "@none"),
    PATH(.reason = "workspace is a file", .rule = "as a directory", .workspace = "@ws/file"),
    PATH(.reason = "workspace is a dangling link", .rule = "cannot be resolved", .workspace = "@ws/dangling"),
    PATH(.reason = "workspace not UTF-8", .rule = "not valid UTF-8", .workspace = "@ws/bad\xff"),
    PATH(.reason = "workspace in /proc", .rule = "sandbox replaces", .workspace = "/proc"),
    PATH(.reason = "workspace in /sys", .rule = "sandbox replaces", .workspace = "/sys/kernel"),
    PATH(.reason = "workspace in /dev", .rule = "sandbox replaces", .workspace = "/dev"),
    PATH(.reason = "whole filesystem writable as workspace", .rule = "root may not be writable",
         .mode = WRITE, .workspace = "/"),
    /* writable roots */
    PATH(.reason = "whole filesystem writable as root", .rule = "root may not be writable", .mode = WRITE,
         .root = "/"),
    PATH(.reason = "whole filesystem by another spelling", .rule = "root may not be writable", .mode = WRITE,
         .root = "//./"),
    PATH(.reason = "root in /proc", .rule = "sandbox replaces", .mode = WRITE, .root = "/proc"),
    PATH(.reason = "root in /sys", .rule = "sandbox replaces", .mode = WRITE, .root = "/sys/kernel"),
    PATH(.reason = "root in /dev", .rule = "sandbox replaces", .mode = WRITE, .root = "/dev/shm"),
    PATH(.reason = "empty root", .rule = "is empty", .mode = WRITE, .root = ""),
    PATH(.reason = "root above the workspace by dots", .rule = "contains \"..\"", .mode = WRITE,
         .root = "../outside"),
    PATH(.reason = "dots inside a path", .rule = "contains \"..\"", .mode = WRITE, .root = "sub/../sub"),
    PATH(.reason = "absolute path with dots", .rule = "contains \"..\"", .mode = WRITE,
         .root = "@ws/../outside"),
    PATH(.reason = "missing root", .rule = "must exist", .mode = WRITE, .root = "none"),
    PATH(.reason = "root is a file", .rule = "is not a directory", .mode = WRITE, .root = "file"),
    PATH(.reason = "root below a file", .rule = "must exist", .mode = WRITE, .root = "file/sub"),
    PATH(.reason = "root is a link in the workspace", .rule = "symbolic link", .mode = WRITE, .root = "link"),
    PATH(.reason = "trailing slash does not hide a link", .rule = "symbolic link", .mode = WRITE,
         .root = "link/"),
    PATH(.reason = "root is a link out of the workspace", .rule = "symbolic link", .mode = WRITE,
         .root = "out"),
    PATH(.reason = "root crosses a link in the workspace", .rule = "symbolic link", .mode = WRITE,
         .root = "out/dir"),
    PATH(.reason = "root is a link outside the workspace", .rule = "symbolic link", .mode = WRITE,
         .root = "@alias"),
    PATH(.reason = "root is a dangling link", .rule = "symbolic link", .mode = WRITE, .root = "dangling"),
    PATH(.reason = "root not UTF-8", .rule = "not valid UTF-8", .mode = WRITE, .root = "bad\xff"),
    /* protected paths */
    PATH(.reason = "empty protected path", .rule = "is empty", .protect = ""),
    PATH(.reason = "protected path with dots", .rule = "contains \"..\"", .protect = "../outside"),
    PATH(.reason = "protected path is a link", .rule = "symbolic link", .mode = WRITE, .protect = "link"),
    PATH(.reason = "protected path crosses a link", .rule = "symbolic link", .mode = WRITE,
         .protect = "out/secret"),
    PATH(.reason = "dangling link could be retargeted", .rule = "symbolic link", .mode = WRITE,
         .protect = "dangling"),
    PATH(.reason = "protected name in a directory that does not exist", .rule = "neither does its directory",
         .mode = WRITE, .protect = "none/name"),
    PATH(.reason = "protected name below a file", .rule = "neither does its directory", .mode = WRITE,
         .protect = "file/name"),
    PATH(.reason = "protected path not UTF-8", .rule = "not valid UTF-8", .protect = "bad\xff"),
    /* denied paths */
    PATH(.reason = "empty denied path", .rule = "is empty", .deny = ""),
    PATH(.reason = "denied path with dots", .rule = "contains \"..\"", .deny = "sub/.."),
    PATH(.reason = "denied path is a link", .rule = "symbolic link", .mode = WRITE, .deny = "link"),
    PATH(.reason = "denied path crosses a link", .rule = "symbolic link", .mode = WRITE,
         .deny = "out/secret"),
    PATH(.reason = "denied path is a link outside", .rule = "symbolic link", .deny = "@alias"),
    PATH(.reason = "the filesystem root cannot be denied", .rule = "holds the workspace", .deny = "/"),
    PATH(.reason = "the workspace cannot be denied", .rule = "holds the workspace", .deny = "."),
    PATH(.reason = "nor a directory above it", .rule = "holds the workspace", .deny = "@."),
    PATH(.reason = "a fifo cannot be masked", .rule = "neither a directory nor a regular file",
         .deny = "fifo"),
    PATH(.reason = "nor a device", .rule = "neither a directory nor a regular file", .deny = "/dev/null"),
    PATH(.reason = "denied name in a directory that does not exist", .rule = "neither does its directory",
         .mode = WRITE, .deny = "none/name"),
    PATH(.reason = "denied path not UTF-8", .rule = "not valid UTF-8", .deny = "bad\xff"),
    /* A link outside is followed only as far as a root: what is planted in there is not. */
    PATH(.reason = "denied path crosses a planted link behind a link to the root", .rule = "symbolic link",
         .mode = WRITE, .deny = "@wslink/out/secret"),
    PATH(.reason = "protected path crosses a planted link behind a link to the root", .rule = "symbolic link",
         .mode = WRITE, .protect = "@wslink/out/new"),
    PATH(.reason = "root crosses a planted link behind a link to the root", .rule = "symbolic link",
         .mode = WRITE, .root = "@wslink/out/dir"),
    /* conflicts */
    PATH(.reason = "root inside a protected path", .rule = "lies in a protected path", .mode = WRITE,
         .root = "sub/inner", .protect = "sub"),
    PATH(.reason = "root is a protected path", .rule = "lies in a protected path", .mode = WRITE,
         .root = "sub", .protect = "sub"),
    PATH(.reason = "the workspace is a protected path", .rule = "lies in a protected path", .mode = WRITE,
         .protect = "."),
    PATH(.reason = "root inside a default protected path", .rule = "lies in a protected path", .mode = WRITE,
         .root = ".git/inner"),
    PATH(.reason = "root inside a denied path", .rule = "lies in a denied path", .mode = WRITE,
         .root = "sub/inner", .deny = "sub"),
    PATH(.reason = "working directory inside a denied path", .rule = "lies in a denied path",
         .cwd = "sub/inner", .deny = "sub"),
    PATH(.reason = "working directory reaches a denied path through a link", .rule = "lies in a denied path",
         .cwd = "link/inner", .deny = "sub"),
    /* working directory */
    PATH(.reason = "empty working directory", .rule = "is empty", .cwd = ""),
    PATH(.reason = "missing working directory", .rule = "cannot be resolved", .cwd = "none"),
    PATH(.reason = "working directory is a file", .rule = "as a directory", .cwd = "file"),
    PATH(.reason = "working directory not UTF-8", .rule = "not valid UTF-8", .cwd = "bad\xff"),
    PATH(.reason = "working directory under the private /tmp", .rule = "hidden by the private /tmp",
         .cwd = "/tmp"),
};

static void make_tree(void)
{
    static const char *const directories[] = {"ws",      "ws/sub",        "ws/sub/inner", "ws/bad\xff",
                                              "ws/.git", "ws/.git/inner", "outside",      "outside/dir"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(directories); i++)
        zsb_test_mkdir(zsb_test_at("%s", directories[i]));
    zsb_test_write(zsb_test_at("ws/file"), "");
    zsb_test_write(zsb_test_at("outside/secret"), "secret");
    ck_assert_int_eq(mkfifo(zsb_test_at("ws/fifo"), 0600), 0);
    zsb_test_symlink("sub", zsb_test_at("ws/link"));
    zsb_test_symlink("../outside", zsb_test_at("ws/out"));
    zsb_test_symlink("nowhere", zsb_test_at("ws/dangling"));
    zsb_test_symlink("outside", zsb_test_at("alias"));
    zsb_test_symlink("ws", zsb_test_at("wslink"));
}

static const char *expand(const char *text)
{
    return text != NULL && text[0] == '@' ? zsb_test_at("%s", text + 1) : text;
}

static int make_policy(const struct row *row, struct zsb_policy **out_policy, struct zsb_error *err)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    const char *root = expand(row->root);
    const char *protect = expand(row->protect);
    const char *deny = expand(row->deny);
    options.mode = row->mode;
    options.network = row->network;
    options.workspace = expand(row->workspace == NULL ? "@ws" : row->workspace);
    if (row->workspace != NULL && strcmp(row->workspace, "-") == 0)
        options.workspace = NULL;
    options.writable_roots = &root;
    options.writable_root_count = root != NULL ? 1 : 0;
    options.protected_paths = &protect;
    options.protected_path_count = protect != NULL ? 1 : 0;
    options.deny_paths = &deny;
    options.deny_path_count = deny != NULL ? 1 : 0;
    options.cwd = expand(row->cwd);
    return zsb_policy_new(&options, out_policy, err);
}

START_TEST(invalid_options_are_a_typed_error)
{
    const struct row *row = &refused[_i];
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    make_tree();
    size_t fds = zsb_test_count_fds();
    int rc = make_policy(row, &policy, &err);
    ck_assert_msg(rc == -(int)row->code, "%s: got %s: %s", row->reason, zsb_code_name(err.code), err.msg);
    ck_assert_msg(policy == NULL, "%s", row->reason);
    ck_assert_msg(err.stage == ZSB_STAGE_POLICY, "%s", row->reason);
    ck_assert_msg(strstr(err.msg, row->rule) != NULL, "%s: \"%s\" does not say \"%s\"", row->reason, err.msg,
                  row->rule);
    ck_assert_msg(zsb_is_utf8(err.msg) && zsb_is_utf8(err.subject), "%s", row->reason);
    if (row->code == ZSB_E_INVALID_PATH)
        ck_assert_msg(strstr(err.reason, ": ") != NULL, "%s: reason \"%s\" has kind and rule", row->reason,
                      err.reason);
    ck_assert_msg(zsb_test_count_fds() == fds, "%s: descriptors leak", row->reason);
    ck_assert_msg(make_policy(row, &policy, NULL) == rc, "%s: also without an error", row->reason);
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_policy *policy = NULL;
    ck_assert_int_eq(zsb_policy_new(NULL, &policy, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_policy_new(&options, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    zsb_policy_free(NULL);
}
END_TEST

START_TEST(more_paths_than_the_maximum_are_a_limit)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.mode = ZSB_MODE_WORKSPACE_WRITE;
    options.workspace = zsb_test_dir();
    options.writable_root_count = _i == 0 ? ZSB_POLICY_PATHS_MAX : _i == 1 ? SIZE_MAX : 0;
    options.protected_path_count = _i == 2 ? SIZE_MAX : _i == 0 ? 1 : 0;
    options.deny_path_count = _i == 3 ? ZSB_POLICY_PATHS_MAX + 1 : 0;
    ck_assert_int_eq(zsb_policy_new(&options, &policy, &err), -ZSB_E_LIMIT);
    ck_assert_int_eq(err.stage, ZSB_STAGE_POLICY);
}
END_TEST

START_TEST(path_longer_than_the_kernel_takes_is_refused)
{
    ZSB_AUTO_BUF path = ZSB_BUF_INIT;
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    for (int i = 0; i < 2100; i++)
        zsb_buf_add(&path, "/a");
    const char *text = path.data;
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.workspace = zsb_test_dir();
    options.deny_paths = &text;
    options.deny_path_count = 1;
    ck_assert_int_eq(zsb_policy_new(&options, &policy, &err), -ZSB_E_INVALID_PATH);
    ck_assert_ptr_nonnull(strstr(err.msg, "is too long"));
}
END_TEST

START_TEST(directory_that_cannot_be_entered_is_no_working_directory)
{
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    struct row row = {.cwd = "shut"};
    zsb_test_mkdir(zsb_test_at("ws"));
    zsb_test_mkdir(zsb_test_at("ws/shut"));
    ck_assert_int_eq(chmod(zsb_test_dir(), 0755), 0);
    ck_assert_int_eq(chmod(zsb_test_at("ws/shut"), 0600), 0);
    /* Root may enter everything: be somebody else for a moment. */
    bool root = geteuid() == 0;
    ck_assert(!root || seteuid(12345) == 0);
    int rc = make_policy(&row, &policy, &err);
    ck_assert(!root || seteuid(0) == 0);
    ck_assert_int_eq(rc, -ZSB_E_INVALID_PATH);
    ck_assert_int_eq(err.sys_errno, EACCES);
    ck_assert_ptr_nonnull(strstr(err.msg, "cannot be entered"));
}
END_TEST

static const struct {
    const char *entry;
    const char *reason;
} bad_entries[] = {
    {"NAME", "no equals sign"},
    {"=value", "empty name"},
    {"", "empty entry"},
};

START_TEST(environment_entry_must_be_name_and_value)
{
    const char *const set[] = {"GOOD=1", bad_entries[_i].entry, NULL};
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_policy *policy = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.workspace = zsb_test_dir();
    options.env_set = set;
    ck_assert_msg(zsb_policy_new(&options, &policy, &err) == -ZSB_E_INVALID_ARGUMENT, "%s",
                  bad_entries[_i].reason);
    ck_assert_msg(strstr(err.msg, "entry 1") != NULL, "%s: %s", bad_entries[_i].reason, err.msg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policy_refused");
    TCase *tests = zsb_test_case(suite, "policy_refused", 20);
    tcase_add_loop_test(tests, invalid_options_are_a_typed_error, 0, (int)ZSB_ARRAY_SIZE(refused));
    tcase_add_test(tests, null_arguments_are_refused);
    tcase_add_loop_test(tests, more_paths_than_the_maximum_are_a_limit, 0, 4);
    tcase_add_test(tests, path_longer_than_the_kernel_takes_is_refused);
    tcase_add_test(tests, directory_that_cannot_be_entered_is_no_working_directory);
    tcase_add_loop_test(tests, environment_entry_must_be_name_and_value, 0, (int)ZSB_ARRAY_SIZE(bad_entries));
    return zsb_test_run(suite, CK_FORK);
}
