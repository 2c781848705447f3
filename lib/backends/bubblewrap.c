/* SPDX-License-Identifier: MIT
 *
 * The system bubblewrap builds namespaces and mounts; our helper, its PID 1, audits the result and does the
 * rest.
 */
#include "lib/backends/trust.h"
#include "lib/command/prepared_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* bubblewrap re-reads the mount table for every mount: 1,000 take 1.5 s, 10,000 minutes. */
enum { MOUNT_STEPS_MAX = 1000 };

#define TMP_BYTES "2147483648"
#define SHM_BYTES "1073741824"

static const struct namespace_row {
    const char *detail;
    const char *option; /* NULL: bubblewrap always makes it */
    const char *proc_name;
    bool must_differ; /* cgroup is best effort: no boundary of ours rests on it */
} namespace_rows[] = {
    {"user", "--unshare-user", "user", true},
    {"pid", "--unshare-pid", "pid", true},
    {"ipc", "--unshare-ipc", "ipc", true},
    {"uts", "--unshare-uts", "uts", true},
    {"cgroup", "--unshare-cgroup-try", "cgroup", false},
    {"mount", NULL, "mnt", true},
    {"net", "--unshare-net", "net", true},
};

struct compilation {
    struct zsb_prepared *prepared;
    struct zsb_strv *argv;
    struct zsb_buf *config;
    size_t mounts;
    struct zsb_error *err;
};

static void add_audit(struct compilation *c, const char *key, const struct stat *st, const char *path)
{
    zsb_config_add(c->config, key, "%llu:%llu:%s", st != NULL ? (unsigned long long)st->st_dev : 0,
                   st != NULL ? (unsigned long long)st->st_ino : 0, path);
}

static void add_bind(struct compilation *c, const char *option, const char *source, const char *target)
{
    zsb_strv_add(c->argv, option);
    zsb_strv_add(c->argv, source);
    zsb_strv_add(c->argv, target);
    c->mounts++;
}

static void add_scratch(struct compilation *c, const char *path, const char *size)
{
    zsb_strv_add(c->argv, "--perms");
    zsb_strv_add(c->argv, "1777");
    zsb_strv_add(c->argv, "--size");
    zsb_strv_add(c->argv, size);
    zsb_strv_add(c->argv, "--tmpfs");
    zsb_strv_add(c->argv, path);
    add_audit(c, "scratch", NULL, path);
    c->mounts++;
}

static int add_namespace(struct compilation *c, const char *detail)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(namespace_rows); i++) {
        const struct namespace_row *row = &namespace_rows[i];
        if (strcmp(row->detail, detail) != 0)
            continue;
        char link[64];
        struct stat st;
        (void)snprintf(link, sizeof(link), "/proc/self/ns/%s", row->proc_name);
        if (row->option != NULL)
            zsb_strv_add(c->argv, row->option);
        if (row->must_differ && stat(link, &st) < 0)
            return zsb_error_set(c->err, ZSB_E_IO, ZSB_STAGE_RESOLVE, errno, "%s", link);
        if (row->must_differ)
            zsb_config_add(c->config, "outer", "%s:%llu", row->proc_name, (unsigned long long)st.st_ino);
        return 0;
    }
    return zsb_error_set(c->err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0, "unknown namespace %s",
                         detail);
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* Root's files in /proc obey root's uid even without any capability (core_pattern, sysrq-trigger), and some
 * obey everybody (pressure, settings of a namespace): all that is not a process becomes read-only. */
static int add_proc_knobs(struct compilation *c)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return zsb_error_set(c->err, ZSB_E_IO, ZSB_STAGE_RESOLVE, errno, "/proc");
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        struct stat st;
        if (entry->d_name[0] == '.' || is_number(entry->d_name) ||
            fstatat(dirfd(proc), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!S_ISDIR(st.st_mode) && !(S_ISREG(st.st_mode) && (st.st_mode & 0222) != 0))
            continue;
        ZSB_AUTO_FREE char *path = zsb_strdupf("/proc/%s", entry->d_name);
        if (path == NULL) {
            c->argv->failed = true;
            break;
        }
        add_bind(c, "--ro-bind-try", path, path);
        add_audit(c, "knob", NULL, path);
    }
    (void)closedir(proc);
    return 0;
}

static int add_denied(struct compilation *c, const struct zsb_path *entry)
{
    if (S_ISDIR(entry->st.st_mode)) {
        zsb_strv_add(c->argv, "--perms");
        zsb_strv_add(c->argv, "0000");
        zsb_strv_add(c->argv, "--tmpfs");
        zsb_strv_add(c->argv, entry->path);
        zsb_strv_add(c->argv, "--remount-ro");
        zsb_strv_add(c->argv, entry->path);
        c->mounts++;
    } else {
        /* The bind is nodev, so that opening the device node answers EACCES. The helper checks that it is
         * one. */
        struct stat st;
        if (stat("/dev/null", &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
            return zsb_error_set(c->err, ZSB_E_CONFINEMENT, ZSB_STAGE_RESOLVE, 0,
                                 "/dev/null is not the null device");
        add_bind(c, "--ro-bind", "/dev/null", entry->path);
    }
    add_audit(c, "denied", &entry->st, entry->path);
    return 0;
}

static int unsupported(struct compilation *c, const struct zsb_step *step, const char *rule)
{
    char requirement[ZSB_ERROR_FIELD_MAX];
    int rc = zsb_error_set(c->err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0,
                           "backend bubblewrap: \"%s\": %s", step->path, rule);
    (void)snprintf(requirement, sizeof(requirement), "%s: %s", step->origin, rule);
    return zsb_error_detail(c->err, rc, "bubblewrap", requirement);
}

static int add_missing(struct compilation *c, const struct zsb_plan_step *full)
{
    if (zsb_policy_root_of(c->prepared->policy, full->step.path, false) == NULL)
        return unsupported(
            c, &full->step,
            "a denied path outside the writable roots must exist: only existing names can be masked");
    c->prepared->held[c->prepared->held_count++] = full->missing;
    return 0;
}

static void add_dev(struct compilation *c)
{
    zsb_strv_add(c->argv, "--dev");
    zsb_strv_add(c->argv, "/dev");
}

static int compile_step(struct compilation *c, const struct zsb_plan_step *full)
{
    const struct zsb_step *step = &full->step;
    bool carried = step->detail[0] != '\0';
    switch (step->kind) {
    case ZSB_STEP_NEW_NAMESPACE:
        return add_namespace(c, step->detail);
    case ZSB_STEP_ROOT_READ_ONLY:
        add_bind(c, "--ro-bind", "/", "/");
        return 0;
    case ZSB_STEP_MINIMAL_DEV:
        add_dev(c);
        return 0;
    case ZSB_STEP_PRIVATE_SHM:
        add_scratch(c, step->path, SHM_BYTES);
        zsb_strv_add(c->argv, "--remount-ro");
        zsb_strv_add(c->argv, "/dev");
        return 0;
    case ZSB_STEP_FRESH_PROC:
        zsb_strv_add(c->argv, "--proc");
        zsb_strv_add(c->argv, step->path);
        return 0;
    case ZSB_STEP_PROC_KNOBS_READ_ONLY:
        return add_proc_knobs(c);
    case ZSB_STEP_PRIVATE_TMP:
        add_scratch(c, step->path, TMP_BYTES);
        return 0;
    case ZSB_STEP_VISIBLE:
        add_bind(c, "--ro-bind", step->path, step->path);
        add_audit(c, "read-only", &full->entry->st, step->path);
        return 0;
    case ZSB_STEP_WRITABLE_ROOT:
    case ZSB_STEP_PIN_ANCESTOR:
        if (!carried) {
            add_bind(c, "--bind", step->path, step->path);
            add_audit(c, "writable", &full->entry->st, step->path);
        }
        return 0;
    case ZSB_STEP_PROTECT:
        if (!carried) {
            add_bind(c, "--ro-bind", step->path, step->path);
            add_audit(c, "read-only", &full->entry->st, step->path);
        }
        return 0;
    case ZSB_STEP_DENY:
        return carried ? 0 : add_denied(c, full->entry);
    case ZSB_STEP_PROTECT_MISSING:
    case ZSB_STEP_DENY_MISSING:
        return carried ? 0 : add_missing(c, full);
    case ZSB_STEP_SESSION:
        zsb_strv_add(c->argv, "--new-session");
        return 0;
    case ZSB_STEP_DROP_CAPABILITIES:
        zsb_strv_add(c->argv, "--cap-drop");
        zsb_strv_add(c->argv, "ALL");
        return 0;
    case ZSB_STEP_CLOSE_DESCRIPTORS: /* these are the helper's */
    case ZSB_STEP_NO_NEW_PRIVS:
    case ZSB_STEP_SYSCALL_FILTER:
    case ZSB_STEP_ENVIRONMENT:
    case ZSB_STEP_CWD:
        return 0;
    case ZSB_STEP_KIND_COUNT:
        break;
    }
    return zsb_error_set(c->err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0, "unknown plan step");
}

static int bubblewrap_compile(struct zsb_prepared *prepared, const struct zsb_request *request,
                              struct zsb_error *err)
{
    struct zsb_launcher_identity identity;
    struct compilation c = {
        .prepared = prepared, .argv = &prepared->launcher_argv, .config = &prepared->config, .err = err};
    size_t count = zsb_plan_count(prepared->plan);
    if (!prepared->confined)
        return zsb_error_detail(err,
                                zsb_error_set(err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0,
                                              "backend bubblewrap does not run danger-full-access"),
                                "bubblewrap", "danger-full-access");
    int rc = zsb_launcher_open(prepared->policy->workspace.path, request->launcher_path,
                               &prepared->launcher_fd, &identity, err);
    if (rc != 0)
        return rc;
    if (zsb_policy_root_of(prepared->policy, identity.path, false) != NULL)
        return zsb_error_detail(err,
                                zsb_error_set(err, ZSB_E_UNTRUSTED_LAUNCHER, ZSB_STAGE_RESOLVE, 0,
                                              "launcher %s: lies inside a writable root", identity.path),
                                identity.path, "lies inside a writable root");
    prepared->held = calloc(count, sizeof(*prepared->held));
    if (prepared->held == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    zsb_strv_add(c.argv, identity.path);
    zsb_strv_add(c.argv, "--as-pid-1");
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = compile_step(&c, zsb_plan_step_full(prepared->plan, i));
    if (rc == 0 && c.mounts + prepared->held_count > MOUNT_STEPS_MAX) {
        rc = zsb_error_set(err, ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0,
                           "backend bubblewrap: the policy needs %zu mounts, at most %d are supported",
                           c.mounts + prepared->held_count, MOUNT_STEPS_MAX);
        rc = zsb_error_detail(err, rc, "bubblewrap", "at most 1000 mounts");
    }
#ifdef ZSB_COVERAGE_DIR
    struct stat coverage;
    if (stat(ZSB_COVERAGE_DIR, &coverage) == 0) {
        add_bind(&c, "--bind", ZSB_COVERAGE_DIR, ZSB_COVERAGE_DIR);
        add_audit(&c, "writable", &coverage, ZSB_COVERAGE_DIR);
    }
#endif
    zsb_strv_add(c.argv, "--chdir");
    zsb_strv_add(c.argv, "/");
    return rc;
}

const struct zsb_backend zsb_backend_bubblewrap = {
    .name = "bubblewrap",
    .serial_name = "linux_bubblewrap",
    .enforces =
        {
            [ZSB_STEP_NEW_NAMESPACE] = true,
            [ZSB_STEP_ROOT_READ_ONLY] = true,
            [ZSB_STEP_MINIMAL_DEV] = true,
            [ZSB_STEP_FRESH_PROC] = true,
            [ZSB_STEP_PROC_KNOBS_READ_ONLY] = true,
            [ZSB_STEP_PRIVATE_TMP] = true,
            [ZSB_STEP_PRIVATE_SHM] = true,
            [ZSB_STEP_VISIBLE] = true,
            [ZSB_STEP_WRITABLE_ROOT] = true,
            [ZSB_STEP_PIN_ANCESTOR] = true,
            [ZSB_STEP_PROTECT] = true,
            [ZSB_STEP_PROTECT_MISSING] = true,
            [ZSB_STEP_DENY] = true,
            [ZSB_STEP_DENY_MISSING] = true,
            [ZSB_STEP_SESSION] = true,
            [ZSB_STEP_CLOSE_DESCRIPTORS] = true,
            [ZSB_STEP_DROP_CAPABILITIES] = true,
            [ZSB_STEP_NO_NEW_PRIVS] = true,
            [ZSB_STEP_SYSCALL_FILTER] = true,
            [ZSB_STEP_ENVIRONMENT] = true,
            [ZSB_STEP_CWD] = true,
        },
    .probe = zsb_bubblewrap_probe,
    .compile = bubblewrap_compile,
};
