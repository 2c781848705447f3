/* SPDX-License-Identifier: MIT
 *
 * What bubblewrap makes of policies: refusals by type, and by effect that what is promised holds. The probes
 * do the attacking; here are the promises. Without forks: sandboxes are not started below Check's.
 */
#include "lib/command/prepared_internal.h"
#include "lib/tests/generate.h"
#include "lib/tests/live.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct zsb_live live;

static void clear(void)
{
    zsb_live_clear(&live);
}

static void init(enum zsb_mode mode)
{
    zsb_live_init(&live, "bubblewrap", mode);
}

static int prepare(void)
{
    return zsb_live_prepare(&live, (const char *const[]){"true", NULL});
}

static void assert_unsupported(const char *subject, const char *message)
{
    ck_assert_msg(prepare() == -ZSB_E_UNSUPPORTED_POLICY, "%s", live.err.msg);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_POLICY);
    ck_assert_str_eq(live.err.subject, subject);
    ck_assert_str_ne(live.err.reason, "");
    ck_assert_msg(strstr(live.err.msg, message) != NULL, "%s", live.err.msg);
    ck_assert_ptr_null(live.prepared);
}

START_TEST(native_refuses_every_confined_policy)
{
    init(_i == 0 ? ZSB_MODE_READ_ONLY : ZSB_MODE_WORKSPACE_WRITE);
    live.backend = "native";
    assert_unsupported("native", "cannot enforce NEW_NAMESPACE (asked for by mode)");
}
END_TEST

START_TEST(bubblewrap_refuses_full_access)
{
    init(ZSB_MODE_DANGER_FULL_ACCESS);
    live.policy_options.network = ZSB_NETWORK_ALLOWED;
    assert_unsupported("bubblewrap", "danger-full-access");
}
END_TEST

START_TEST(denied_name_outside_the_roots_must_exist)
{
    static const char *const denies[] = {"none"};
    init(ZSB_MODE_READ_ONLY);
    live.policy_options.deny_paths = denies;
    live.policy_options.deny_path_count = 1;
    assert_unsupported("bubblewrap", "must exist");
}
END_TEST

START_TEST(more_mounts_than_bubblewrap_can_bear_are_refused)
{
    enum { COUNT = 1000 };
    const char *paths[COUNT];
    for (int i = 0; i < COUNT; i++) {
        paths[i] = zsb_test_text("d%d", i);
        zsb_test_mkdir(zsb_test_at("%s", paths[i]));
    }
    init(ZSB_MODE_READ_ONLY);
    live.policy_options.deny_paths = paths;
    live.policy_options.deny_path_count = COUNT;
    assert_unsupported("bubblewrap", "at most 1000");
}
END_TEST

START_TEST(hundreds_of_denied_paths_work)
{
    enum { COUNT = 300 };
    const char *paths[COUNT];
    for (int i = 0; i < COUNT; i++) {
        paths[i] = zsb_test_text("d%d", i);
        zsb_test_write(zsb_test_at("%s", paths[i]), "secret");
    }
    init(ZSB_MODE_READ_ONLY);
    live.policy_options.deny_paths = paths;
    live.policy_options.deny_path_count = COUNT;
    ck_assert_str_eq(zsb_live_shell(&live, "cat d* 2>/dev/null | wc -c"), "0\n");
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct zsb_prepared *prepared = NULL;
    const struct zsb_backend *backend = zsb_backend_find("bubblewrap");
    init(ZSB_MODE_READ_ONLY);
    ck_assert_int_eq(prepare(), 0);
    ck_assert_int_eq(zsb_prepare(NULL, live.policy, &live.request, &prepared, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_prepare(backend, NULL, &live.request, &prepared, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_prepare(backend, live.policy, NULL, &prepared, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_prepare(backend, live.policy, &live.request, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    zsb_prepared_free(NULL);
}
END_TEST

START_TEST(prepared_command_says_what_it_is)
{
    init(ZSB_MODE_READ_ONLY);
    size_t names = zsb_test_count_names(zsb_test_dir());
    ck_assert_int_eq(prepare(), 0);
    ck_assert_int_eq(zsb_prepared_confined(live.prepared), 1);
    ck_assert_ptr_eq(zsb_prepared_backend(live.prepared), zsb_backend_find("bubblewrap"));
    const char *const *argv = zsb_prepared_launcher_argv(live.prepared);
    ck_assert_ptr_nonnull(strstr(argv[0], "bwrap"));
    size_t count = 0;
    bool unshares_net = false;
    for (; argv[count] != NULL; count++)
        unshares_net = unshares_net || strcmp(argv[count], "--unshare-net") == 0;
    ck_assert(unshares_net);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), names);
    zsb_live_clear(&live);
    zsb_live_init(&live, "native", ZSB_MODE_DANGER_FULL_ACCESS);
    ck_assert_int_eq(prepare(), 0);
    ck_assert_int_eq(zsb_prepared_confined(live.prepared), 0);
    ck_assert_ptr_null(zsb_prepared_launcher_argv(live.prepared)[0]);
}
END_TEST

static void make_open_helper(const char *path)
{
    zsb_test_command((const char *const[]){"cp", ZSB_TEST_HELPER, path, NULL});
    ck_assert_int_eq(chmod(path, 0775), 0);
}

static void make_plain_helper(const char *path)
{
    zsb_test_command((const char *const[]){"cp", ZSB_TEST_HELPER, path, NULL});
    ck_assert_int_eq(chmod(path, 0644), 0);
}

static void make_linked_helper(const char *path)
{
    zsb_test_symlink(ZSB_TEST_HELPER, path);
}

static void make_no_helper(const char *path)
{
    (void)path;
}

static const struct {
    void (*make)(const char *path);
    const char *rule;
} helpers[] = {
    {make_open_helper, "writable by group or world"}, {make_plain_helper, "not executable"},
    {make_linked_helper, "cannot be opened"},         {make_no_helper, "cannot be opened"},
    {zsb_test_mkdir, "not a regular file"},
};

START_TEST(helper_that_others_could_have_made_is_refused)
{
    const char *path = zsb_test_at("helper");
    helpers[_i].make(path);
    init(ZSB_MODE_READ_ONLY);
    live.request.helper_path = path;
    ck_assert_int_eq(prepare(), -ZSB_E_HELPER);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_RESOLVE);
    ck_assert_str_eq(live.err.subject, path);
    ck_assert_msg(strstr(live.err.reason, helpers[_i].rule) != NULL, "%s", live.err.reason);
}
END_TEST

/* Hidden from the sandbox by a mode or by a mount, it is still started: by descriptor. */
START_TEST(helper_works_from_where_the_sandbox_cannot_see_it)
{
    static const char *const denies[] = {"private"};
    zsb_test_mkdir(zsb_test_at("private"));
    zsb_test_command((const char *const[]){"cp", ZSB_TEST_HELPER, zsb_test_at("private/helper"), NULL});
    ck_assert_int_eq(chmod(zsb_test_at("private/helper"), 0755), 0);
    ck_assert_int_eq(chmod(zsb_test_at("private"), 0700), 0);
    init(ZSB_MODE_READ_ONLY);
    live.request.helper_path = zsb_test_at("private/helper");
    live.policy_options.deny_paths = denies;
    live.policy_options.deny_path_count = 1;
    ck_assert_str_eq(zsb_live_shell(&live, "ls private 2>/dev/null || echo hidden"), "hidden\n");
}
END_TEST

static const struct {
    enum zsb_mode mode;
    const char *script; /* prints what is expected */
    const char *output;
    const char *reason;
} promises[] = {
    {ZSB_MODE_READ_ONLY, "echo x 2>/dev/null > new || echo refused", "refused\n", "workspace is read-only"},
    {ZSB_MODE_WORKSPACE_WRITE, "echo x > new && cat new", "x\n", "workspace is writable"},
    {ZSB_MODE_WORKSPACE_WRITE, "echo x 2>/dev/null > ../zsb-new || echo refused", "refused\n",
     "nothing else is"},
    {ZSB_MODE_READ_ONLY, "echo x > /tmp/new && cat /tmp/new && ls /tmp", "x\nnew\n",
     "/tmp is private and empty"},
    {ZSB_MODE_READ_ONLY, "echo x > $TMPDIR/new && echo ok", "ok\n", "TMPDIR is writable"},
    {ZSB_MODE_READ_ONLY, "stat -c %a /tmp /dev/shm", "1777\n1777\n", "scratch has the usual mode"},
    {ZSB_MODE_READ_ONLY, "echo x > /dev/shm/new && ls /dev/shm", "new\n", "shared memory is private"},
    {ZSB_MODE_READ_ONLY,
     "echo x > /dev/null; head -c 1 /dev/zero | wc -c; head -c 1 /dev/urandom | wc -c; "
     "echo x 2>/dev/null > /dev/full || echo full",
     "1\n1\nfull\n", "the devices that programs expect"},
    {ZSB_MODE_READ_ONLY, "ls /dev | grep -c -e sd -e vd -e kmsg -e '^mem$' -e kvm", "0\n", "and no others"},
    {ZSB_MODE_READ_ONLY, "python3 -c 'import multiprocessing as m; m.Lock(); print(1)'", "1\n", "semaphores"},
    {ZSB_MODE_READ_ONLY, "python3 -c 'import pty; pty.openpty(); print(1)'", "1\n", "pseudo terminals"},
    {ZSB_MODE_READ_ONLY, "ls /proc | grep -c '^[0-9]'", "4\n", "only processes of the sandbox"},
    {ZSB_MODE_READ_ONLY,
     "cat /proc/1/environ /proc/1/maps /proc/1/cmdline 2>/dev/null | wc -c | sed 's/^[^0].*/some/'", "some\n",
     "the command line of the helper is no secret"},
    {ZSB_MODE_READ_ONLY, "cat /proc/1/environ 2>/dev/null || echo refused", "refused\n", "its memory is"},
    {ZSB_MODE_READ_ONLY, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n",
     "no network but loopback"},
    {ZSB_MODE_READ_ONLY,
     "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | tr -d '\\n' | tr -d 'A-Za-z:\\t0' | wc -c",
     "0\n", "no capability in any set"},
    {ZSB_MODE_READ_ONLY, "id -u", NULL, "the caller's uid"},
    {ZSB_MODE_READ_ONLY,
     "[ -w /proc/sys/kernel/core_pattern ] && : 2>/dev/null >> /proc/sys/kernel/core_pattern "
     "&& echo open || echo refused",
     "refused\n", "knobs of the kernel are read-only, also for root"},
    {ZSB_MODE_READ_ONLY, "awk '/core file/ { print $5, $6 }' /proc/self/limits", "1 1\n",
     "no core file and no core handler"},
    {ZSB_MODE_WORKSPACE_WRITE, "mkdir a b; echo x > a/f; mv a/f b/f && ln b/f a/g && mv b c && cat c/f a/g",
     "x\nx\n", "rename and link between directories of a root"},
    {ZSB_MODE_READ_ONLY, "echo x > /dev/stdout; echo y > /dev/stderr; echo z > /proc/self/fd/1", "x\nz\n",
     "outputs are opened again"},
    {ZSB_MODE_READ_ONLY, "mkfifo /tmp/f; cat /tmp/f & echo x > /tmp/f; wait", "x\n", "fifos of its own"},
    {ZSB_MODE_READ_ONLY, "cd /tmp; mkdir a b; echo x > a/f; mv a/f b/f; : > b/f; cat b/f; echo end", "end\n",
     "scratch is an ordinary filesystem"},
    {ZSB_MODE_READ_ONLY, "[ -e /proc/self/fd/3 ] && echo open || echo closed", "closed\n", "no descriptor"},
};

START_TEST(promise_is_kept)
{
    init(promises[_i].mode);
    const char *expected =
        promises[_i].output != NULL ? promises[_i].output : zsb_test_text("%u\n", (unsigned)geteuid());
    const char *output = zsb_live_shell(&live, promises[_i].script);
    ck_assert_msg(strcmp(output, expected) == 0, "%s: \"%s\"", promises[_i].reason, output);
}
END_TEST

START_TEST(workspace_in_tmp_stays_visible_and_the_rest_does_not)
{
    const char *workspace = zsb_test_hidden_dir();
    const char *other = zsb_test_hidden_dir();
    init(_i == 0 ? ZSB_MODE_READ_ONLY : ZSB_MODE_WORKSPACE_WRITE);
    live.policy_options.workspace = workspace;
    const char *output = zsb_live_shell(&live, "ls ..; echo x 2>/dev/null > new");
    ck_assert_str_eq(output, zsb_test_text("%s\n", strrchr(workspace, '/') + 1));
    ck_assert_int_eq(zsb_test_exists(zsb_test_text("%s/new", workspace)), _i == 1);
    ck_assert(zsb_test_exists(other));
}
END_TEST

/* No read-only mount stops a writer of a fifo; a reader outside would trust what comes. */
START_TEST(fifo_of_the_host_cannot_be_written)
{
    long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */);
    ck_assert_int_eq(mkfifo(zsb_test_at("fifo"), 0666), 0);
    ZSB_AUTO_FD int reader = open(zsb_test_at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    init(ZSB_MODE_READ_ONLY);
    live.run.timeout_ms = 5000;
    const char *output = zsb_live_shell(&live, "(echo x > fifo) 2>/dev/null || echo refused");
    if (landlock < 1)
        return; /* a kernel without the layer that can say so */
    ck_assert_str_eq(output, "refused\n");
    char text[8];
    ck_assert_int_eq(read(reader, text, sizeof(text)), 0);
}
END_TEST

START_TEST(helper_that_the_command_could_replace_is_refused)
{
    zsb_test_command((const char *const[]){"cp", ZSB_TEST_HELPER, zsb_test_at("helper"), NULL});
    ck_assert_int_eq(chmod(zsb_test_at("helper"), 0755), 0);
    init(_i == 0 ? ZSB_MODE_WORKSPACE_WRITE : ZSB_MODE_READ_ONLY);
    live.request.helper_path = zsb_test_at("helper");
    if (_i == 1) {
        ck_assert_msg(prepare() == 0, "%s", live.err.msg);
        return;
    }
    ck_assert_int_eq(prepare(), -ZSB_E_HELPER);
    ck_assert_int_eq(live.err.stage, ZSB_STAGE_RESOLVE);
    ck_assert_str_eq(live.err.reason, "lies inside a writable root");
}
END_TEST

/* Policies whose entries overlap: each must deploy as promised or be refused as a policy. */
static const struct {
    const char *root, *protects[2], *denies[2];
    const char *script;
    const char *output;
    const char *reason;
} overlaps[] = {
    {NULL,
     {NULL},
     {"d/e", NULL},
     "cat d/e/secret 2>/dev/null; echo x > d/new && cat d/new",
     "x\n",
     "denied directory in the workspace"},
    {NULL,
     {NULL},
     {"d/file", NULL},
     "cat d/file 2>/dev/null; echo x 2>/dev/null > d/file; echo end",
     "end\n",
     "denied file in the workspace"},
    {NULL,
     {NULL},
     {"d", "d/e"},
     "cat d/file d/e/secret 2>/dev/null; echo end",
     "end\n",
     "denied below a denied directory"},
    {NULL,
     {NULL},
     {"d/e", "d"},
     "cat d/file d/e/secret 2>/dev/null; echo end",
     "end\n",
     "and the other way round"},
    {NULL, {NULL}, {"d/e", "d/e"}, "cat d/e/secret 2>/dev/null; echo end", "end\n", "denied twice"},
    {NULL,
     {"d/e", NULL},
     {"d", NULL},
     "cat d/e/secret 2>/dev/null; echo end",
     "end\n",
     "protected below a denied directory"},
    {NULL,
     {"d", NULL},
     {"d/e", NULL},
     "cat d/e/secret 2>/dev/null; cat d/file; echo x 2>/dev/null > d/file; cat d/file",
     "public\npublic\n",
     "denied below a protected directory"},
    {NULL, {"d", NULL}, {"d", NULL}, "ls d 2>/dev/null; echo end", "end\n", "protected and denied"},
    {NULL,
     {"d/file", NULL},
     {"d/file", NULL},
     "cat d/file 2>/dev/null; echo end",
     "end\n",
     "file protected and denied"},
    {NULL,
     {"d", "d/e"},
     {NULL},
     "echo x 2>/dev/null > d/e/secret; cat d/e/secret",
     "secret\n",
     "protected below a protected directory"},
    {NULL,
     {NULL},
     {".git", NULL},
     "ls .git 2>/dev/null; mkdir .git 2>/dev/null; echo end",
     "end\n",
     "a default protected name that does not exist is denied"},
    {NULL,
     {"d/none", NULL},
     {"d", NULL},
     "mkdir d/none 2>/dev/null; ls d 2>/dev/null; echo end",
     "end\n",
     "missing protected name below a denied directory"},
    {NULL,
     {"d/none", NULL},
     {NULL},
     "mkdir d/none 2>/dev/null; mv d away 2>/dev/null; echo end",
     "end\n",
     "missing protected name in a directory"},
    {NULL,
     {"d", "d/none"},
     {NULL},
     "mkdir d/none 2>/dev/null; echo end",
     "end\n",
     "missing protected name below a protected directory"},
    {NULL,
     {NULL},
     {"d/none", "d"},
     "mkdir d/none 2>/dev/null; echo end",
     "end\n",
     "missing denied name below a denied directory"},
    {"d/e",
     {NULL},
     {NULL},
     "echo x > d/e/new; mkdir d/e/.git 2>/dev/null; cat d/e/new",
     "x\n",
     "root inside the workspace"},
    {"d/e",
     {NULL},
     {NULL},
     "mv d/e d/f 2>/dev/null && mkdir -p d/e/.git && echo escaped; echo end",
     "end\n",
     "nested root cannot be moved away from its protected names"},
    {"d/e",
     {"d/e/x", NULL},
     {NULL},
     "mv d/e d/f 2>/dev/null && mkdir -p d/e/x && echo escaped; echo end",
     "end\n",
     "nor from a missing one"},
    {"d/e",
     {"d/file", NULL},
     {"d/e/secret", NULL},
     "cat d/e/secret 2>/dev/null; echo x 2>/dev/null > d/file; echo y > d/e/new; cat d/file d/e/new",
     "public\ny\n",
     "protected and denied around a nested root"},
};

START_TEST(overlapping_entries_deploy_or_are_refused_as_a_policy)
{
    zsb_test_mkdir(zsb_test_at("d"));
    zsb_test_mkdir(zsb_test_at("d/e"));
    zsb_test_write(zsb_test_at("d/file"), "public\n");
    zsb_test_write(zsb_test_at("d/e/secret"), "secret\n");
    init(ZSB_MODE_WORKSPACE_WRITE);
    live.policy_options.writable_roots = &overlaps[_i].root;
    live.policy_options.writable_root_count = overlaps[_i].root != NULL ? 1 : 0;
    live.policy_options.protected_paths = overlaps[_i].protects;
    live.policy_options.deny_paths = overlaps[_i].denies;
    for (size_t k = 0; k < 2; k++) {
        live.policy_options.protected_path_count += overlaps[_i].protects[k] != NULL ? 1 : 0;
        live.policy_options.deny_path_count += overlaps[_i].denies[k] != NULL ? 1 : 0;
    }
    const char *const words[] = {"sh", "-c", overlaps[_i].script, NULL};
    if (zsb_live_prepare(&live, words) != 0) {
        ck_assert_msg(live.err.stage == ZSB_STAGE_POLICY, "%s: %s", overlaps[_i].reason, live.err.msg);
        return;
    }
    zsb_live_run(&live, NULL);
    ck_assert_msg(live.outcome.stage == ZSB_STAGE_NONE, "%s: %s (%s)", overlaps[_i].reason,
                  live.outcome.error.msg, live.outcome.captured[2]);
    ck_assert_msg(strcmp(live.outcome.captured[1], overlaps[_i].output) == 0, "%s: \"%s\"",
                  overlaps[_i].reason, live.outcome.captured[1]);
    ck_assert_msg(!zsb_test_exists(zsb_test_at(".git")), "%s", overlaps[_i].reason);
    ck_assert_msg(!zsb_test_exists(zsb_test_at("d/none")), "%s", overlaps[_i].reason);
}
END_TEST

enum { POLICIES = 120 };

/* A policy that was accepted and prepared must come up: nothing may be left to fail inside. */
START_TEST(generated_policy_deploys_or_is_refused_as_a_policy)
{
    struct zsb_generator generator = {.state = 31415926u + (uint32_t)_i};
    size_t deployed = 0;
    zsb_generate_tree();
    for (int i = 0; i < POLICIES; i++) {
        init(ZSB_MODE_WORKSPACE_WRITE);
        zsb_generate_options(&generator, &live.policy_options);
        if (prepare() != 0) {
            ck_assert_msg(live.err.stage == ZSB_STAGE_POLICY, "policy %d: %s", i, live.err.msg);
        } else {
            zsb_live_run(&live, NULL);
            ck_assert_msg(live.outcome.stage == ZSB_STAGE_NONE && live.outcome.exited, "policy %d: %s (%s)",
                          i, live.outcome.error.msg, live.outcome.captured[2]);
            deployed++;
        }
        zsb_live_clear(&live);
    }
    ck_assert_uint_gt(deployed, 10);
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("backend");
    TCase *tests = zsb_test_case(suite, "backend", 60);
    tcase_add_checked_fixture(tests, NULL, clear);
    tcase_add_loop_test(tests, native_refuses_every_confined_policy, 0, 2);
    tcase_add_test(tests, bubblewrap_refuses_full_access);
    tcase_add_test(tests, denied_name_outside_the_roots_must_exist);
    tcase_add_test(tests, more_mounts_than_bubblewrap_can_bear_are_refused);
    tcase_add_test(tests, hundreds_of_denied_paths_work);
    tcase_add_test(tests, null_arguments_are_refused);
    tcase_add_test(tests, prepared_command_says_what_it_is);
    tcase_add_loop_test(tests, helper_that_others_could_have_made_is_refused, 0,
                        (int)ZSB_ARRAY_SIZE(helpers));
    tcase_add_test(tests, helper_works_from_where_the_sandbox_cannot_see_it);
    tcase_add_loop_test(tests, promise_is_kept, 0, (int)ZSB_ARRAY_SIZE(promises));
    tcase_add_test(tests, fifo_of_the_host_cannot_be_written);
    tcase_add_loop_test(tests, helper_that_the_command_could_replace_is_refused, 0, 2);
    tcase_add_loop_test(tests, workspace_in_tmp_stays_visible_and_the_rest_does_not, 0, 2);
    tcase_add_loop_test(tests, overlapping_entries_deploy_or_are_refused_as_a_policy, 0,
                        (int)ZSB_ARRAY_SIZE(overlaps));
    tcase_add_loop_test(tests, generated_policy_deploys_or_is_refused_as_a_policy, 0, 2);
    return zsb_test_run(suite, CK_NOFORK);
}
