/* SPDX-License-Identifier: MIT
 *
 * Discovery of bubblewrap on this host: evidence first (platform, WSL1, architecture), then trust, options,
 * helper, and at last a real throw-away launch of the exact chain that commands use.
 */
#include "lib/backends/trust.h"
#include "lib/process/process_internal.h"
#include "lib/seccomp/filter.h"
#include "lib/sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { TOOL_TIMEOUT_MS = 10000, TOOL_OUTPUT_MAX = 1 << 20 };

static const char *const required_options[] = {
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--unshare-net",  "--as-pid-1",    "--new-session", "--cap-drop",    "--ro-bind",
    "--ro-bind-try",  "--bind",        "--dev",         "--proc",        "--tmpfs",
    "--perms",        "--size",        "--remount-ro",  "--chdir",
};

static int check_platform(struct zsb_error *err)
{
    struct utsname host;
    if (uname(&host) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_RESOLVE, errno, "uname");
    if (strcmp(host.sysname, "Linux") != 0) {
        int rc = zsb_error_set(err, ZSB_E_UNSUPPORTED_PLATFORM, ZSB_STAGE_RESOLVE, 0,
                               "platform %s has no confined backend", host.sysname);
        return zsb_error_detail(err, rc, host.sysname, NULL);
    }
    /* WSL1 calls itself "...-Microsoft"; WSL2 kernels say "microsoft-standard". */
    if (strstr(host.release, "-Microsoft") != NULL)
        return zsb_error_set(err, ZSB_E_WSL1_UNSUPPORTED, ZSB_STAGE_RESOLVE, 0,
                             "WSL1 has no namespaces; use WSL2");
#if !defined(__x86_64__) && !defined(__aarch64__)
    return zsb_error_detail(err,
                            zsb_error_set(err, ZSB_E_UNSUPPORTED_ARCHITECTURE, ZSB_STAGE_RESOLVE, 0,
                                          "architecture %s has no syscall filter", host.machine),
                            host.machine, NULL);
#else
    return 0;
#endif
}

/* Everything that comes before the end, or -errno; -ETIMEDOUT when the end does not come. */
static int read_answer(int fd, int64_t until_us, struct zsb_buf *answer)
{
    char chunk[4096];
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int64_t left_ms = (until_us - zsb_now_us()) / 1000;
        int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready == 0)
            return -ETIMEDOUT;
        ssize_t n = ready > 0 ? read(fd, chunk, sizeof(chunk)) : -1;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        zsb_buf_append(answer, chunk, (size_t)n);
        if (answer->failed)
            return -EFBIG;
    }
}

/* Runs a tool by descriptor with stdout and stderr captured. */
static int run_tool(int exec_fd, char *const argv[], char **out_text, struct zsb_error *err)
{
    int fds[2];
    ZSB_AUTO_FD int null_fd = zsb_open_null();
    if (null_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_RESOLVE, errno, "cannot run %s", argv[0]);
    ZSB_AUTO_FD int read_fd = fds[0];
    ZSB_AUTO_FD int write_fd = fds[1];
    ZSB_AUTO_FD int pid_fd = -1;
    char *none[] = {NULL};
    struct zsb_spawn_options options = {.exec_fd = exec_fd,
                                        .argv = argv,
                                        .envp = none,
                                        .stdio = {null_fd, write_fd, write_fd},
                                        .new_session = true};
    pid_t pid = 0;
    int rc = zsb_spawn(&options, &pid, &pid_fd);
    (void)close(zsb_steal_fd(&write_fd));
    if (rc != 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_RESOLVE, -rc, "cannot run %s", argv[0]);
    int64_t until_us = zsb_now_us() + TOOL_TIMEOUT_MS * 1000LL;
    ZSB_AUTO_BUF answer = ZSB_BUF_INIT;
    answer.max_bytes = TOOL_OUTPUT_MAX;
    rc = read_answer(read_fd, until_us, &answer);
    int64_t left_ms = (until_us - zsb_now_us()) / 1000;
    if (rc != 0 || !zsb_pidfd_wait(pid_fd, left_ms > 0 ? (int)left_ms : 0, NULL)) {
        (void)syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0);
        (void)zsb_pidfd_wait(pid_fd, -1, NULL);
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_RESOLVE, rc != 0 ? -rc : ETIMEDOUT, "%s gave no answer",
                             argv[0]);
    }
    *out_text = zsb_buf_take(&answer);
    return *out_text != NULL ? 0 : zsb_error_no_memory(err, ZSB_STAGE_RESOLVE);
}

static bool help_names(const char *help, const char *option)
{
    size_t n = strlen(option);
    for (const char *at = help; (at = strstr(at, option)) != NULL; at += n)
        if (at > help && (at[-1] == ' ' || at[-1] == '\t') && strchr(" \t\n", at[n]) != NULL)
            return true;
    return false;
}

static int check_options(int launcher_fd, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *help = NULL;
    char name[] = "bwrap";
    char option[] = "--help";
    char *argv[] = {name, option, NULL};
    int rc = run_tool(launcher_fd, argv, &help, err);
    for (size_t i = 0; rc == 0 && i < ZSB_ARRAY_SIZE(required_options); i++)
        if (!help_names(help, required_options[i])) {
            rc = zsb_error_set(err, ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY, ZSB_STAGE_RESOLVE, 0,
                               "bubblewrap has no option %s; install version 0.8 or later",
                               required_options[i]);
            return zsb_error_detail(err, rc, required_options[i], NULL);
        }
    return rc;
}

/* After a failed launch: ask the kernel itself, facility by facility, which one it refuses. */
static int explain_failure(int helper_fd, const struct zsb_outcome *outcome, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *answer = NULL;
    char name[] = "zuno-sandbox-helper";
    char verb[] = "diagnose";
    char network[] = "deny";
    char *argv[] = {name, verb, network, NULL};
    char capability[64];
    int sys_errno = 0;
    int rc = run_tool(helper_fd, argv, &answer, err);
    if (rc != 0)
        return rc;
    if (sscanf(answer, "%63s %d", capability, &sys_errno) == 2 && sys_errno != 0) {
        char detail[96];
        (void)snprintf(detail, sizeof(detail), "%s",
                       strerrorname_np(sys_errno) != NULL ? strerrorname_np(sys_errno) : "error");
        rc = zsb_error_set(err, ZSB_E_DEPLOYMENT_CAPABILITY_UNAVAILABLE, ZSB_STAGE_RESOLVE, sys_errno,
                           "this host refuses %s", capability);
        return zsb_error_detail(err, rc, capability, detail);
    }
    const char *text = outcome->captured[2] != NULL ? outcome->captured[2] : "";
    rc = zsb_error_set(err, ZSB_E_PROBE_FAILED, ZSB_STAGE_RESOLVE, 0,
                       "self-test of the prepared chain: %s (%.200s)", outcome->error.msg, text);
    return zsb_error_detail(err, rc, "execution_self_test", outcome->error.msg);
}

static int self_test(const struct zsb_probe_options *options, int helper_fd, struct zsb_error *err)
{
    const char *const argv[] = {"zuno-sandbox-helper", "true", NULL};
    struct zsb_policy_options policy_options = ZSB_POLICY_OPTIONS_INIT;
    struct zsb_request request = ZSB_REQUEST_INIT;
    struct zsb_run_options run = ZSB_RUN_OPTIONS_INIT;
    struct zsb_outcome outcome = {.error = ZSB_ERROR_INIT};
    struct zsb_policy *policy = NULL;
    struct zsb_prepared *prepared = NULL;
    policy_options.workspace = options->workspace != NULL ? options->workspace : "/";
    policy_options.env_inherit = ZSB_ENV_NONE;
    request.argv = argv;
    request.program_fd = helper_fd;
    request.helper_path = options->helper_path;
    request.launcher_path = options->launcher_path;
    run.stdio[0] = ZSB_STDIO_NULL;
    run.stdio[1] = run.stdio[2] = ZSB_STDIO_CAPTURE;
    run.timeout_ms = TOOL_TIMEOUT_MS;
    run.term_grace_ms = 0;
    int rc = zsb_policy_new(&policy_options, &policy, err);
    if (rc == 0)
        rc = zsb_prepare(&zsb_backend_bubblewrap, policy, &request, &prepared, err);
    if (rc == 0)
        rc = zsb_run(prepared, &run, &outcome, err);
    if (rc == 0 && (outcome.stage != ZSB_STAGE_NONE || !outcome.exited || outcome.exit_status != 0))
        rc = explain_failure(helper_fd, &outcome, err);
    zsb_outcome_clear(&outcome);
    zsb_prepared_free(prepared);
    zsb_policy_free(policy);
    return rc;
}

int zsb_bubblewrap_probe(const struct zsb_probe_options *options,
                         struct zsb_backend_capabilities *out_capabilities,
                         struct zsb_launcher_identity *out_launcher, struct zsb_error *err)
{
    ZSB_AUTO_FD int launcher_fd = -1;
    ZSB_AUTO_FD int helper_fd = -1;
    int rc = check_platform(err);
    if (rc == 0)
        rc = zsb_launcher_open(options->workspace, options->launcher_path, &launcher_fd, out_launcher, err);
    if (rc == 0)
        rc = check_options(launcher_fd, err);
    if (rc == 0)
        rc = zsb_helper_open(options->helper_path, &helper_fd, err);
    if (rc == 0)
        rc = self_test(options, helper_fd, err);
    if (rc != 0)
        return rc;
    *out_capabilities = (struct zsb_backend_capabilities){
        .backend = "linux_bubblewrap", .read_only = 1, .workspace_write = 1, .network_isolation = 1};
    (void)snprintf(out_capabilities->executable, sizeof(out_capabilities->executable), "%s",
                   out_launcher->path);
    return 0;
}
