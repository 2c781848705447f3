/* SPDX-License-Identifier: MIT
 *
 * The helper's own steps, instrumented: capabilities, confinement, and the supervisor's protocol.
 */
#include "lib/helper/helper.h"
#include "lib/tests/support.h"
#include "lib/util/coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a forked child, so that nobody else loses anything. */
static int status_of(int (*child)(int), int argument)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int status = child(argument);
        ZSB_COVERAGE_DUMP();
        _exit(status);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const struct {
    cap_flag_t flags[3];
    int flag_count;
    bool bounding;
    const char *set; /* that is reported; NULL: none */
} states[] = {
    {{CAP_PERMITTED, CAP_EFFECTIVE}, 2, true, "effective"},
    {{CAP_PERMITTED}, 1, true, "permitted"},
    {{CAP_INHERITABLE}, 1, true, "inheritable"},
    {{0}, 0, true, "bounding"},
    {{0}, 0, false, NULL},
};

static int check_state(int index)
{
    const cap_value_t one[] = {CAP_CHOWN};
    struct zsb_error err = ZSB_ERROR_INIT;
    cap_t caps = cap_init();
    for (cap_value_t cap = 0; !states[index].bounding && cap < cap_max_bits(); cap++)
        (void)cap_drop_bound(cap);
    for (int i = 0; i < states[index].flag_count; i++)
        (void)cap_set_flag(caps, states[index].flags[i], 1, one, CAP_SET);
    if (caps == NULL || cap_reset_ambient() != 0 || cap_set_proc(caps) != 0)
        return 50;
    (void)cap_free(caps);
    int rc = zsb_helper_check_capabilities(&err);
    if (states[index].set == NULL)
        return rc == 0 ? 0 : 51;
    if (rc != -ZSB_E_CONFINEMENT || err.stage != ZSB_STAGE_CONFINE)
        return 52;
    return strcmp(err.subject, states[index].set) == 0 ? 0 : 53;
}

START_TEST(capability_in_any_set_is_reported)
{
    ck_assert_msg(status_of(check_state, _i) == 0, "%s: %d", states[_i].set != NULL ? states[_i].set : "none",
                  status_of(check_state, _i));
}
END_TEST

START_TEST(callers_own_capabilities_are_refused)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(zsb_helper_confine(ZSB_NETWORK_DENIED, &err), -ZSB_E_CONFINEMENT);
    ck_assert_int_eq(prctl(PR_GET_SECCOMP), 0);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}
END_TEST

static int drop_capabilities(void)
{
    for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
        if (cap_drop_bound(cap) != 0)
            return -1;
    cap_t none = cap_init();
    int rc = none == NULL || cap_reset_ambient() != 0 ? -1 : cap_set_proc(none);
    if (none != NULL)
        (void)cap_free(none);
    return rc;
}

static int refused_with(int sys_errno, long rc)
{
    return rc < 0 && errno == sys_errno ? 0 : 1;
}

static int live_filter(int network)
{
    if (drop_capabilities() != 0 || zsb_helper_confine((enum zsb_network)network, NULL) != 0)
        return 10;
    if (prctl(PR_GET_SECCOMP) != 2 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return 11;
    bool denied = network == ZSB_NETWORK_DENIED;
    int fds[2];
    int inet = socket(AF_INET, SOCK_STREAM, 0);
    int local = socket(AF_UNIX, SOCK_STREAM, 0);
    if ((inet >= 0) == denied || (local >= 0) != denied)
        return 12;
    if (refused_with(EPERM, socketpair(AF_UNIX, SOCK_DGRAM, 0, fds)) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 13;
    if (refused_with(EPERM, socket(AF_VSOCK, SOCK_STREAM, 0)) != 0)
        return 14;
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    if (denied && refused_with(EPERM, connect(fds[0], &nowhere, sizeof(nowhere))) != 0)
        return 15;
    return 0;
}

START_TEST(kernel_runs_the_filter_as_the_machine_did)
{
    ck_assert_int_eq(status_of(live_filter, _i), 0);
}
END_TEST

/* A supervisor in this program: its configuration in an anonymous file, its status socket in `fds[0]`. */
struct supervisor {
    pid_t pid;
    int status_fd;
};

/* `entries` is the configuration, one entry a line; the status descriptor is added. */
static struct supervisor start_supervisor(const char *verb, const char *entries)
{
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    char *text = zsb_strdupf("%sstatus=%d\n", entries, fds[1]);
    ck_assert_ptr_nonnull(text);
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = '\0';
    int config_fd = memfd_create("config", 0);
    ck_assert_int_eq(zsb_write_all(config_fd, text, size), 0);
    free(text);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)close(fds[0]);
        int status = zsb_helper_supervise(config_fd, verb);
        ZSB_COVERAGE_DUMP();
        _exit(status);
    }
    (void)close(config_fd);
    (void)close(fds[1]);
    return (struct supervisor){pid, fds[0]};
}

/* A configuration that is right, with this command. */
static const char *running(const char *program, const char *argument)
{
    struct stat st;
    ck_assert_int_eq(stat("/", &st), 0);
    return zsb_test_text("cwd=%llu:%llu:/\nenv=PATH=/usr/bin:/bin\narg=%s\n%s%s%s",
                         (unsigned long long)st.st_dev, (unsigned long long)st.st_ino, program,
                         argument != NULL ? "arg=" : "", argument != NULL ? argument : "",
                         argument != NULL ? "\n" : "");
}

static const char *next_message(const struct supervisor *supervisor)
{
    char text[ZSB_WIRE_MAX];
    int fd = -1;
    int n = zsb_wire_receive(supervisor->status_fd, text, &fd);
    if (fd >= 0)
        (void)close(fd);
    return n > 0 ? zsb_test_text("%s", text) : "";
}

static int end_of(struct supervisor *supervisor)
{
    int status = 0;
    (void)close(supervisor->status_fd);
    ck_assert_int_eq(waitpid(supervisor->pid, &status, 0), supervisor->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_starts(const char *text, const char *prefix)
{
    ck_assert_msg(strncmp(text, prefix, strlen(prefix)) == 0, "\"%s\" instead of \"%s\"", text, prefix);
}

START_TEST(supervisor_tells_pid_start_and_exit)
{
    struct supervisor supervisor = start_supervisor("native", running(_i == 0 ? "true" : "false", NULL));
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_STARTED);
    assert_starts(next_message(&supervisor), _i == 0 ? "exit 0 " : "exit 256 ");
    ck_assert_str_eq(next_message(&supervisor), "");
    ck_assert_int_eq(end_of(&supervisor), 0);
}
END_TEST

START_TEST(command_that_cannot_be_executed_is_a_failure_of_stage_exec)
{
    zsb_test_write(zsb_test_at("plain"), "");
    struct supervisor supervisor =
        start_supervisor("native", running(_i == 0 ? "/none" : zsb_test_at("plain"), NULL));
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    assert_starts(next_message(&supervisor),
                  zsb_test_text("failed %d %d %d ", ZSB_STAGE_EXEC,
                                _i == 0 ? ZSB_E_NOT_FOUND : ZSB_E_NOT_EXECUTABLE, _i == 0 ? ENOENT : EACCES));
    ck_assert_int_eq(end_of(&supervisor), ZSB_HELPER_EXIT_FAILED);
}
END_TEST

/* No launcher around it: not one command may run. */
START_TEST(confined_supervisor_without_a_sandbox_refuses)
{
    struct supervisor supervisor = start_supervisor("deny", running("true", NULL));
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    assert_starts(next_message(&supervisor),
                  zsb_test_text("failed %d %d ", ZSB_STAGE_CONFINE, ZSB_E_CONFINEMENT));
    ck_assert_str_eq(next_message(&supervisor), "");
    ck_assert_int_eq(end_of(&supervisor), ZSB_HELPER_EXIT_FAILED);
}
END_TEST

START_TEST(directory_swapped_since_the_policy_is_refused)
{
    struct supervisor supervisor = start_supervisor("native", "cwd=1:1:/\narg=true\n");
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    const char *text = next_message(&supervisor);
    assert_starts(text, zsb_test_text("failed %d %d ", ZSB_STAGE_CONFINE, ZSB_E_INVALID_PATH));
    ck_assert_ptr_nonnull(strstr(text, "is not the directory that the policy named"));
    ck_assert_int_eq(end_of(&supervisor), ZSB_HELPER_EXIT_FAILED);
}
END_TEST

START_TEST(term_reaches_the_command)
{
    struct supervisor supervisor = start_supervisor("native", running("sleep", "100"));
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_STARTED);
    ck_assert_int_eq(zsb_wire_send(supervisor.status_fd, "unknown words are ignored", -1), 0);
    ck_assert_int_eq(zsb_wire_send(supervisor.status_fd, ZSB_WIRE_TERM, -1), 0);
    assert_starts(next_message(&supervisor), zsb_test_text("exit %d ", SIGTERM));
    ck_assert_int_eq(end_of(&supervisor), 0);
}
END_TEST

START_TEST(supervisor_without_a_caller_ends_its_tree)
{
    struct supervisor supervisor = start_supervisor("native", running("sleep", "100"));
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_PID);
    ck_assert_str_eq(next_message(&supervisor), ZSB_WIRE_STARTED);
    ck_assert_int_eq(end_of(&supervisor), ZSB_HELPER_EXIT_FAILED);
}
END_TEST

static int supervise_badly(int index)
{
    static const char *const texts[] = {"", "status=3", "arg=x\n"};
    int fd = memfd_create("config", 0);
    int null_fd = open("/dev/null", O_WRONLY);
    if (fd < 0 || null_fd < 0 || dup2(null_fd, STDERR_FILENO) < 0 ||
        zsb_write_all(fd, texts[index], strlen(texts[index])) != 0)
        return 1;
    return zsb_helper_supervise(index == 0 ? 9999 : fd, "deny");
}

START_TEST(supervisor_without_a_configuration_refuses)
{
    ck_assert_int_eq(status_of(supervise_badly, _i), ZSB_HELPER_EXIT_FAILED);
}
END_TEST

static int diagnose(int network)
{
    int fds[2];
    char text[128];
    if (pipe(fds) < 0 || dup2(fds[1], STDOUT_FILENO) < 0)
        return 99;
    int status = zsb_helper_diagnose(network == 0 ? "deny" : "allow");
    ssize_t n = read(fds[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    return (strcmp(text, "ok 0\n") == 0) == (status == 0) ? 0 : 1;
}

START_TEST(diagnosis_and_status_agree)
{
    ck_assert_int_eq(status_of(diagnose, _i), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("confine");
    TCase *tests = zsb_test_case(suite, "confine", 30);
    tcase_add_test(tests, callers_own_capabilities_are_refused);
    tcase_add_loop_test(tests, supervisor_tells_pid_start_and_exit, 0, 2);
    tcase_add_loop_test(tests, command_that_cannot_be_executed_is_a_failure_of_stage_exec, 0, 2);
    tcase_add_test(tests, confined_supervisor_without_a_sandbox_refuses);
    tcase_add_test(tests, directory_swapped_since_the_policy_is_refused);
    tcase_add_test(tests, term_reaches_the_command);
    tcase_add_test(tests, supervisor_without_a_caller_ends_its_tree);
    tcase_add_loop_test(tests, supervisor_without_a_configuration_refuses, 0, 3);
    tcase_add_loop_test(tests, diagnosis_and_status_agree, 0, 2);
    bool may_drop = zsb_test_has_capability(CAP_SETPCAP);
    if (may_drop) {
        tcase_add_loop_test(tests, capability_in_any_set_is_reported, 0, (int)ZSB_ARRAY_SIZE(states));
        tcase_add_loop_test(tests, kernel_runs_the_filter_as_the_machine_did, 0, 2);
    }
    int status = zsb_test_run(suite, CK_FORK);
    return status == 0 && geteuid() == 0 && !may_drop ? zsb_test_cannot("no CAP_SETPCAP") : status;
}
