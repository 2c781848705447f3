/* SPDX-License-Identifier: MIT */
#include "lib/command/prepared_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_helper[] = ZSB_LIBEXECDIR "/zuno-sandbox-helper";

static int untrusted_helper(struct zsb_error *err, const char *path, int sys_errno, const char *rule)
{
    int rc = zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_RESOLVE, sys_errno, "helper %s: %s", path, rule);
    return zsb_error_detail(err, rc, path, rule);
}

int zsb_helper_open(const char *path, int *out_fd, struct zsb_error *err)
{
    if (path == NULL)
        path = default_helper;
    ZSB_AUTO_FD int fd = zsb_fd_above_stdio(open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return untrusted_helper(err, path, errno, "cannot be opened");
    if (!S_ISREG(st.st_mode))
        return untrusted_helper(err, path, 0, "is not a regular file");
    if ((st.st_mode & 0111) == 0)
        return untrusted_helper(err, path, 0, "is not executable");
    if ((st.st_mode & 022) != 0)
        return untrusted_helper(err, path, 0, "is writable by group or world");
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return untrusted_helper(err, path, 0, "is owned by somebody else");
    *out_fd = zsb_steal_fd(&fd);
    return 0;
}

/* What a command could replace would run outside the sandbox next time. */
static int refuse_writable_helper(const struct zsb_policy *policy, int helper_fd, struct zsb_error *err)
{
    char link_path[64];
    char real[PATH_MAX];
    (void)snprintf(link_path, sizeof(link_path), "/proc/self/fd/%d", helper_fd);
    ssize_t n = readlink(link_path, real, sizeof(real) - 1);
    if (n < 0)
        return zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_RESOLVE, errno, "%s", link_path);
    real[n] = '\0';
    if (zsb_policy_root_of(policy, real, false) != NULL)
        return untrusted_helper(err, real, 0, "lies inside a writable root");
    return 0;
}

void zsb_config_add(struct zsb_buf *config, const char *key, const char *format, ...)
{
    char *value = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&value, format, args);
    va_end(args);
    if (n < 0) {
        config->failed = true;
        return;
    }
    zsb_buf_add(config, key);
    zsb_buf_addc(config, '=');
    zsb_buf_append(config, value, (size_t)n + 1);
    free(value);
}

static int check_request(const struct zsb_request *request, struct zsb_error *err)
{
    if (request->argv == NULL || request->argv[0] == NULL || request->argv[0][0] == '\0')
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0, "the command is empty");
    if (request->grant_fd_count > ZSB_REQUEST_GRANTS_MAX)
        return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_POLICY, 0, "more than %d granted descriptors",
                             ZSB_REQUEST_GRANTS_MAX);
    for (size_t i = 0; i < request->grant_fd_count; i++)
        if (request->grant_fds[i] < 3 || fcntl(request->grant_fds[i], F_GETFD) < 0)
            return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                                 "granted descriptor %d is not open or below 3", request->grant_fds[i]);
    if (request->program_fd >= 0 && (request->program_fd < 3 || fcntl(request->program_fd, F_GETFD) < 0))
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                             "program descriptor %d is not open or below 3", request->program_fd);
    return 0;
}

/* Entry by entry: a step that the backend does not enforce would be a dropped restriction. */
static int check_steps(const struct zsb_backend *backend, const struct zsb_plan *plan, struct zsb_error *err)
{
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        if (backend->enforces[step->kind])
            continue;
        const char *name = zsb_step_kind_name(step->kind);
        int rc = zsb_error_set(err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0,
                               "backend %s cannot enforce %s (asked for by %s)", backend->name, name,
                               step->origin);
        return zsb_error_detail(err, rc, backend->name, name);
    }
    return 0;
}

static int copy_request(struct zsb_prepared *prepared, const struct zsb_request *request,
                        struct zsb_error *err)
{
    for (size_t i = 0; request->argv[i] != NULL; i++)
        zsb_strv_add(&prepared->argv, request->argv[i]);
    prepared->program_fd = request->program_fd;
    if (request->grant_fd_count > 0) {
        prepared->grants = calloc(request->grant_fd_count, sizeof(*prepared->grants));
        if (prepared->grants == NULL)
            return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
        memcpy(prepared->grants, request->grant_fds, request->grant_fd_count * sizeof(*prepared->grants));
        prepared->grant_count = request->grant_fd_count;
    }
    const struct zsb_policy *policy = prepared->policy;
    struct zsb_buf *config = &prepared->config;
    zsb_config_add(config, "cwd", "%llu:%llu:%s", (unsigned long long)policy->cwd.st.st_dev,
                   (unsigned long long)policy->cwd.st.st_ino, policy->cwd.path);
    for (size_t i = 0; i < prepared->argv.count; i++)
        zsb_config_add(config, "arg", "%s", prepared->argv.items[i]);
    for (size_t i = 0; i < policy->environment.count; i++)
        zsb_config_add(config, "env", "%s", policy->environment.items[i]);
    for (size_t i = 0; i < prepared->grant_count; i++)
        zsb_config_add(config, "grant", "%d", prepared->grants[i]);
    if (prepared->program_fd >= 0)
        zsb_config_add(config, "program", "%d", prepared->program_fd);
    return 0;
}

int zsb_prepare(const struct zsb_backend *backend, const struct zsb_policy *policy,
                const struct zsb_request *request, struct zsb_prepared **out_prepared, struct zsb_error *err)
{
    if (backend == NULL || policy == NULL || request == NULL || out_prepared == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0, "a required argument is NULL");
    int rc = check_request(request, err);
    if (rc != 0)
        return rc;
    struct zsb_prepared *prepared = calloc(1, sizeof(*prepared));
    if (prepared == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    prepared->backend = backend;
    prepared->policy = policy;
    prepared->helper_fd = prepared->launcher_fd = prepared->program_fd = -1;
    prepared->confined = policy->mode != ZSB_MODE_DANGER_FULL_ACCESS;
    rc = zsb_plan_new(policy, &prepared->plan, err);
    if (rc == 0)
        rc = check_steps(backend, prepared->plan, err);
    if (rc == 0)
        rc = zsb_helper_open(request->helper_path, &prepared->helper_fd, err);
    if (rc == 0)
        rc = refuse_writable_helper(policy, prepared->helper_fd, err);
    if (rc == 0)
        rc = copy_request(prepared, request, err);
    if (rc == 0)
        rc = backend->compile(prepared, request, err);
    if (rc == 0 && (prepared->argv.failed || prepared->launcher_argv.failed || prepared->config.failed))
        rc = zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    if (rc != 0) {
        zsb_prepared_free(prepared);
        return rc;
    }
    *out_prepared = prepared;
    return 0;
}

void zsb_prepared_free(struct zsb_prepared *prepared)
{
    if (prepared == NULL)
        return;
    zsb_plan_free(prepared->plan);
    zsb_cleanup_fd(&prepared->helper_fd);
    zsb_cleanup_fd(&prepared->launcher_fd);
    zsb_strv_clear(&prepared->launcher_argv);
    zsb_strv_clear(&prepared->argv);
    zsb_buf_clear(&prepared->config);
    free(prepared->grants);
    free(prepared->held);
    free(prepared);
}

const struct zsb_backend *zsb_prepared_backend(const struct zsb_prepared *prepared)
{
    return prepared->backend;
}

int zsb_prepared_confined(const struct zsb_prepared *prepared)
{
    return prepared->confined;
}

const char *const *zsb_prepared_launcher_argv(const struct zsb_prepared *prepared)
{
    static const char *const none[] = {NULL};
    return prepared->launcher_argv.items != NULL ? (const char *const *)prepared->launcher_argv.items : none;
}
