/* SPDX-License-Identifier: MIT
 *
 * Discovery of bubblewrap: what this host offers, and every way in which it can be missing. Without forks:
 * real launches happen here.
 */
#include "lib/tests/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zuno/sandbox.h>

static int probe(const char *launcher, struct zsb_backend_capabilities *capabilities, struct zsb_error *err)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_launcher_identity identity;
    options.workspace = zsb_test_dir();
    options.helper_path = ZSB_TEST_HELPER;
    options.launcher_path = launcher;
    return zsb_backend_probe(zsb_backend_find("bubblewrap"), &options, capabilities, &identity, err);
}

START_TEST(this_host_is_capable)
{
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    size_t fds = zsb_test_count_fds();
    ck_assert_msg(probe(NULL, &capabilities, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(capabilities.backend, "linux_bubblewrap");
    ck_assert(strstr(capabilities.executable, "/bin/bwrap") != NULL);
    ck_assert_int_eq(capabilities.read_only, 1);
    ck_assert_int_eq(capabilities.workspace_write, 1);
    ck_assert_int_eq(capabilities.network_isolation, 1);
    ck_assert_int_eq(capabilities.danger_full_access, 0);
    ck_assert_uint_eq(zsb_test_count_fds(), fds);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing left to reap */
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), 0);
}
END_TEST

START_TEST(native_backend_claims_no_confinement)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.helper_path = ZSB_TEST_HELPER;
    const struct zsb_backend *native = zsb_backend_find("native");
    ck_assert_msg(zsb_backend_probe(native, &options, &capabilities, NULL, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(capabilities.backend, "danger_full_access");
    ck_assert_str_eq(capabilities.executable, "");
    ck_assert_int_eq(capabilities.read_only, 0);
    ck_assert_int_eq(capabilities.workspace_write, 0);
    ck_assert_int_eq(capabilities.network_isolation, 0);
    ck_assert_int_eq(capabilities.danger_full_access, 1);
}
END_TEST

START_TEST(missing_helper_is_no_reason_for_a_fallback)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.helper_path = zsb_test_at("none");
    for (size_t i = 0; zsb_backend_at(i) != NULL; i++) {
        ck_assert_int_eq(zsb_backend_probe(zsb_backend_at(i), &options, &capabilities, NULL, &err),
                         -ZSB_E_HELPER);
        ck_assert_int_eq(err.stage, ZSB_STAGE_RESOLVE);
        ck_assert_str_eq(err.subject, zsb_test_at("none"));
        ck_assert_int_eq(zsb_code_fallback_eligible(err.code), 0);
    }
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    const struct zsb_backend *backend = zsb_backend_at(0);
    ck_assert_int_eq(zsb_backend_probe(NULL, &options, &capabilities, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_backend_probe(backend, NULL, &capabilities, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_backend_probe(backend, &options, NULL, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
}
END_TEST

static const struct {
    const char *kind;
    enum zsb_code code;
    const char *subject;
    const char *message;
    const char *reason;
} fakes[] = {
    {"mute", ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY, "--unshare-user", "--unshare-user", "names no option"},
    {"old", ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY, "--unshare-user", "--unshare-user", "names others only"},
    {"idle", ZSB_E_PROBE_FAILED, "execution_self_test", "launcher ended with status 0", "runs nothing"},
    {"failing", ZSB_E_PROBE_FAILED, "execution_self_test", "No permissions to create new namespace",
     "its text is shown, and never believed"},
    {"bare", ZSB_E_PROBE_FAILED, "execution_self_test", "pid namespace", "confines nothing"},
    {"hanging", ZSB_E_IO, "", "gave no answer", "never answers"},
};

static void need_srv(void)
{
    ck_assert(zsb_test_private_srv());
}

static void put_fake(const char *path)
{
    zsb_test_command((const char *const[]){"cp", ZSB_TEST_FAKE_LAUNCHER, path, NULL});
    ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(launcher_that_is_no_bubblewrap_is_found_out)
{
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    const char *path = zsb_test_text("/srv/%s", fakes[_i].kind);
    put_fake(path);
    size_t fds = zsb_test_count_fds();
    ck_assert_msg(probe(path, &capabilities, &err) == -(int)fakes[_i].code, "%s: %s", fakes[_i].reason,
                  err.msg);
    ck_assert_msg(strstr(err.msg, fakes[_i].message) != NULL, "%s: %s", fakes[_i].reason, err.msg);
    ck_assert_msg(strcmp(err.subject, fakes[_i].subject) == 0, "%s: %s", fakes[_i].reason, err.subject);
    ck_assert_int_eq(err.stage, ZSB_STAGE_RESOLVE);
    ck_assert_uint_eq(zsb_test_count_fds(), fds);
    ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "%s: a child is left",
                  fakes[_i].reason);
}
END_TEST

START_TEST(launcher_that_the_command_could_replace_is_untrusted)
{
    static const char *const roots[] = {"/srv"};
    struct zsb_live live;
    put_fake("/srv/idle");
    zsb_live_init(&live, "bubblewrap", ZSB_MODE_WORKSPACE_WRITE);
    live.request.launcher_path = "/srv/idle";
    live.policy_options.writable_roots = roots;
    live.policy_options.writable_root_count = 1;
    ck_assert_int_eq(zsb_live_prepare(&live, (const char *const[]){"true", NULL}), -ZSB_E_UNTRUSTED_LAUNCHER);
    ck_assert_str_eq(live.err.reason, "lies inside a writable root");
    zsb_live_clear(&live);
}
END_TEST

/* Killed between its two halves, by us or by others. */
START_TEST(launcher_that_never_gets_ready_leaves_nobody)
{
    struct zsb_live live;
    put_fake("/srv/stuck");
    zsb_live_init(&live, "bubblewrap", ZSB_MODE_WORKSPACE_WRITE);
    live.request.launcher_path = "/srv/stuck";
    zsb_live_start(&live, (const char *const[]){"true", NULL});
    /* Its arguments name the workspace. */
    for (int i = 0; i < 1000 && zsb_live_count_marked(zsb_test_dir()) < 2; i++)
        (void)poll(NULL, 0, 5);
    ck_assert_uint_eq(zsb_live_count_marked(zsb_test_dir()), 2);
    if (_i == 0)
        zsb_process_kill(live.process);
    else
        ck_assert_int_eq(kill(zsb_process_launcher_pid(live.process), SIGKILL), 0);
    zsb_live_wait(&live);
    ck_assert_int_lt(live.outcome.wall_us, 5000000);
    ck_assert_int_eq(live.outcome.exited, 0);
    ck_assert_int_eq(live.outcome.stage, _i == 0 ? ZSB_STAGE_NONE : ZSB_STAGE_CONFINE);
    ck_assert_uint_eq(zsb_live_count_marked(zsb_test_dir()), 0);
    ck_assert_uint_eq(zsb_test_count_names(zsb_test_dir()), 0);
    zsb_live_clear(&live);
}
END_TEST

/* In a chroot the kernel refuses user namespaces. */
static int probe_in_chroot(void)
{
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (mount("/", "/srv", NULL, MS_BIND | MS_REC, NULL) < 0 || chroot("/srv") < 0 || chdir("/") < 0)
        return 10;
    int rc = probe(NULL, &capabilities, &err);
    if (rc != -ZSB_E_DEPLOYMENT_CAPABILITY_UNAVAILABLE)
        return 11;
    if (strcmp(err.subject, "user_namespace") != 0 || strcmp(err.reason, "EPERM") != 0)
        return 12;
    return zsb_code_fallback_eligible(err.code) && err.sys_errno == EPERM ? 0 : 13;
}

START_TEST(refused_namespace_is_a_typed_unavailability)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(probe_in_chroot());
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "status 0x%x", (unsigned)status);
}
END_TEST

START_TEST(backends_are_found_by_name)
{
    ck_assert_ptr_null(zsb_backend_find("auto"));
    ck_assert_ptr_eq(zsb_backend_for_mode(ZSB_MODE_READ_ONLY), zsb_backend_find("bubblewrap"));
    ck_assert_ptr_eq(zsb_backend_for_mode(ZSB_MODE_WORKSPACE_WRITE), zsb_backend_find("bubblewrap"));
    ck_assert_ptr_eq(zsb_backend_for_mode(ZSB_MODE_DANGER_FULL_ACCESS), zsb_backend_find("native"));
    ck_assert_str_eq(zsb_backend_serial_name(zsb_backend_find("bubblewrap")), "linux_bubblewrap");
    ck_assert_str_eq(zsb_backend_serial_name(zsb_backend_find("native")), "danger_full_access");
    ck_assert_ptr_null(zsb_backend_find("linux_bubblewrap"));
    ck_assert_ptr_null(zsb_backend_find(""));
    ck_assert_ptr_null(zsb_backend_find(NULL));
    size_t count = 0;
    for (; zsb_backend_at(count) != NULL; count++)
        ck_assert_ptr_eq(zsb_backend_find(zsb_backend_name(zsb_backend_at(count))), zsb_backend_at(count));
    ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(step_is_enforced_as_the_backend_says)
{
    enum zsb_step_kind kind = (enum zsb_step_kind)_i;
    ck_assert_msg(zsb_backend_enforces(zsb_backend_find("bubblewrap"), kind), "%s", zsb_step_kind_name(kind));
    bool native = kind == ZSB_STEP_ENVIRONMENT || kind == ZSB_STEP_CWD;
    ck_assert_msg(zsb_backend_enforces(zsb_backend_find("native"), kind) == native, "%s",
                  zsb_step_kind_name(kind));
    ck_assert(!zsb_backend_enforces(zsb_backend_find("bubblewrap"), ZSB_STEP_KIND_COUNT));
}
END_TEST

int main(void)
{
    if (!zsb_live_host_can())
        return zsb_test_cannot("no sandbox");
    Suite *suite = suite_create("discovery");
    TCase *tests = zsb_test_case(suite, "discovery", 60);
    tcase_add_test(tests, this_host_is_capable);
    tcase_add_test(tests, native_backend_claims_no_confinement);
    tcase_add_test(tests, missing_helper_is_no_reason_for_a_fallback);
    tcase_add_test(tests, null_arguments_are_refused);
    tcase_add_test(tests, backends_are_found_by_name);
    tcase_add_loop_test(tests, step_is_enforced_as_the_backend_says, 0, ZSB_STEP_KIND_COUNT);
    bool may_mount = zsb_test_has_capability(CAP_SYS_ADMIN);
    if (may_mount) {
        TCase *root = zsb_test_case(suite, "fake_launchers", 60);
        tcase_add_checked_fixture(root, need_srv, NULL);
        tcase_add_loop_test(root, launcher_that_is_no_bubblewrap_is_found_out, 0, (int)ZSB_ARRAY_SIZE(fakes));
        tcase_add_loop_test(root, launcher_that_never_gets_ready_leaves_nobody, 0, 2);
        tcase_add_test(root, launcher_that_the_command_could_replace_is_untrusted);
        tcase_add_test(root, refused_namespace_is_a_typed_unavailability);
    }
    int status = zsb_test_run(suite, CK_NOFORK);
    return status == 0 && geteuid() == 0 && !may_mount ? zsb_test_cannot("root may not mount") : status;
}
