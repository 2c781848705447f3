/* SPDX-License-Identifier: MIT
 *
 * The helper's audit in situations that a broken or hostile launcher could leave behind. Each runs as the
 * first process of namespaces of its own, where every mount was made read-only; nothing of it is seen
 * outside.
 */
#include "lib/helper/helper.h"
#include "lib/tests/support.h"
#include "lib/util/coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_FAILED = 90 };

/* Paths of the scene, made before anything is read-only. */
static struct scene {
    const char *file;      /* on the read-only filesystem */
    const char *directory; /* likewise */
    const char *closed;    /* a directory of mode 0000, likewise */
    const char *scratch;   /* becomes a writable tmpfs */
    const char *masked;    /* a file that the null device covers */
} scene;

static void make_scene(void)
{
    scene.file = zsb_test_at("file");
    scene.directory = zsb_test_at("directory");
    scene.closed = zsb_test_at("closed");
    scene.scratch = zsb_test_at("scratch");
    scene.masked = zsb_test_at("masked");
    zsb_test_write(scene.file, "");
    zsb_test_write(scene.masked, "");
    zsb_test_mkdir(scene.directory);
    zsb_test_mkdir(scene.closed);
    zsb_test_mkdir(scene.scratch);
    ck_assert_int_eq(chmod(scene.closed, 0), 0);
}

static int put(const char *path, const char *text)
{
    ZSB_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -1 : zsb_write_all(fd, text, strlen(text));
}

static int enter_namespaces(void)
{
    char map[64];
    unsigned uid = geteuid();
    unsigned gid = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0 || put("/proc/self/setgroups", "deny") != 0)
        return -1;
    (void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
    if (put("/proc/self/uid_map", map) != 0)
        return -1;
    (void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
    return put("/proc/self/gid_map", map);
}

static int make_mounts(void)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE};
    if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) < 0)
        return -1;
    return mount("test", scene.scratch, "tmpfs", 0, NULL);
}

/* What one case does and expects. */
struct situation {
    const char *reason; /* why it matters */
    int (*arrange)(void);
    enum zsb_audit_kind kind;
    const char **path;  /* member of the scene; NULL: no entry */
    const char *suffix; /* appended to the path */
    bool wrong_identity;
    const char *gap; /* part of the message; NULL: no gap */
};

static int nothing(void)
{
    return 0;
}

static int mount_below_scratch(void)
{
    ZSB_AUTO_FREE char *below = zsb_strdupf("%s/below", scene.scratch);
    return mkdir(below, 0755) < 0 ? -1 : mount("test", below, "tmpfs", 0, NULL);
}

static int mount_elsewhere(void)
{
    return mount("test", scene.directory, "tmpfs", 0, NULL);
}

static int mount_with_odd_name(void)
{
    ZSB_AUTO_FREE char *odd = zsb_strdupf("%s/a b\\c\n", scene.scratch);
    return mkdir(odd, 0755) < 0 ? -1 : mount("test", odd, "tmpfs", 0, NULL);
}

/* A writable mount that nobody can reach any more is no gap. */
static int cover_a_writable_mount(void)
{
    if (mount_elsewhere() < 0)
        return -1;
    return mount("test", scene.directory, "tmpfs", MS_RDONLY, NULL);
}

static int make_root_writable(void)
{
    struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};
    return mount_setattr(AT_FDCWD, "/", 0, &writable, sizeof(writable));
}

static int mask_with(unsigned long long flags)
{
    struct mount_attr attributes = {.attr_set = flags};
    if (mount("/dev/null", scene.masked, NULL, MS_BIND, NULL) < 0)
        return -1;
    return flags == 0 ? 0 : mount_setattr(AT_FDCWD, scene.masked, 0, &attributes, sizeof(attributes));
}

static int mask_properly(void)
{
    return mask_with(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV);
}

static int mask_with_a_device_that_opens(void)
{
    return mask_with(MOUNT_ATTR_RDONLY);
}

static int mask_with_another_device(void)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV};
    if (mount("/dev/zero", scene.masked, NULL, MS_BIND, NULL) < 0)
        return -1;
    return mount_setattr(AT_FDCWD, scene.masked, 0, &attributes, sizeof(attributes));
}

static int mask_with_a_file(void)
{
    return mount(scene.file, scene.masked, NULL, MS_BIND, NULL);
}

#define NO_ENTRY ZSB_AUDIT_KIND_COUNT

static const struct situation situations[] = {
    {"as it should be", nothing, NO_ENTRY, NULL, "", false, NULL},
    /* mounts */
    {"a writable mount nobody asked for", mount_elsewhere, NO_ENTRY, NULL, "", false,
     "is a writable mount that the policy does not grant"},
    {"a writable mount below the scratch one", mount_below_scratch, NO_ENTRY, NULL, "", false,
     "is a writable mount that the policy does not grant"},
    {"names that mountinfo escapes", mount_with_odd_name, NO_ENTRY, NULL, "", false,
     "/a b\\c?: is a writable"},
    {"writable but covered", cover_a_writable_mount, NO_ENTRY, NULL, "", false, NULL},
    {"the root itself is writable", make_root_writable, NO_ENTRY, NULL, "", false, "/: is a writable mount"},
    {"a granted mount may be writable", mount_elsewhere, ZSB_AUDIT_WRITABLE, &scene.directory, "", false,
     NULL},
    /* identities */
    {"a root was swapped", nothing, ZSB_AUDIT_WRITABLE, &scene.directory, "", true,
     "is not the file that the policy named"},
    {"a root is gone", nothing, ZSB_AUDIT_WRITABLE, &scene.directory, "/none", true, "cannot be audited"},
    {"a protected path in place", nothing, ZSB_AUDIT_READ_ONLY, &scene.file, "", false, NULL},
    {"a protected path was swapped", nothing, ZSB_AUDIT_READ_ONLY, &scene.file, "", true,
     "is not the file that the policy named"},
    {"a protected path is writable", nothing, ZSB_AUDIT_READ_ONLY, &scene.scratch, "", false, "is writable"},
    /* denied paths */
    {"a denied path that nothing covers", nothing, ZSB_AUDIT_DENIED, &scene.file, "", false,
     "is still visible"},
    {"a denied path covered by a directory without permissions", nothing, ZSB_AUDIT_DENIED, &scene.closed, "",
     true, NULL},
    {"a denied path covered by an open directory", nothing, ZSB_AUDIT_DENIED, &scene.directory, "", true,
     "is covered by something that can be opened"},
    {"a denied path covered by a file", mask_with_a_file, ZSB_AUDIT_DENIED, &scene.masked, "", true,
     "is covered by something that can be opened"},
    {"a denied path covered by the null device", mask_properly, ZSB_AUDIT_DENIED, &scene.masked, "", true,
     NULL},
    {"the null device where devices open", mask_with_a_device_that_opens, ZSB_AUDIT_DENIED, &scene.masked, "",
     true, "is covered by something that can be opened"},
    {"another device (CVE-2025-31133)", mask_with_another_device, ZSB_AUDIT_DENIED, &scene.masked, "", true,
     "is covered by something that can be opened"},
    {"a denied path that is gone", nothing, ZSB_AUDIT_DENIED, &scene.file, "x", false, "cannot be audited"},
    /* held names */
    {"a held name on a read-only mount", nothing, ZSB_AUDIT_HELD, &scene.directory, "", true, NULL},
    {"a held name became a file", nothing, ZSB_AUDIT_HELD, &scene.file, "", true,
     "came into being before the sandbox did"},
    {"a held name is not held", nothing, ZSB_AUDIT_HELD, &scene.directory, "/none", true,
     "cannot be audited"},
    {"a held name can be written", nothing, ZSB_AUDIT_HELD, &scene.scratch, "", true, "is writable"},
    /* the rest */
    {"scratch that cannot be written", nothing, ZSB_AUDIT_SCRATCH, &scene.directory, "", true,
     "is not writable"},
    {"a knob that is read-only", nothing, ZSB_AUDIT_KNOB, &scene.file, "", true, NULL},
    {"a knob that does not exist", nothing, ZSB_AUDIT_KNOB, &scene.file, "x", true, NULL},
    {"a knob that can be written", nothing, ZSB_AUDIT_KNOB, &scene.scratch, "", true, "is writable"},
    {"an entry of no kind", nothing, ZSB_AUDIT_KIND_COUNT, &scene.file, "", true, "unknown audit kind"},
};

static void fill_entry(const struct situation *situation, const char *path, struct zsb_audit_entry *entry)
{
    struct stat st;
    *entry = (struct zsb_audit_entry){.kind = situation->kind, .path = path};
    if (lstat(path, &st) == 0) {
        entry->device = st.st_dev;
        entry->inode = st.st_ino + (situation->wrong_identity ? 1 : 0);
    }
}

/* PID 1 of the namespaces: arranges, audits, sends the message. */
static int audit_as_first(const struct situation *situation, int message_fd)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_audit_entry entries[2] = {{.kind = ZSB_AUDIT_SCRATCH, .path = scene.scratch}};
    struct zsb_helper_config config = {.audits = entries, .audit_count = 1};
    ZSB_AUTO_FREE char *path =
        situation->path != NULL ? zsb_strdupf("%s%s", *situation->path, situation->suffix) : NULL;
    if (make_mounts() < 0 || situation->arrange() < 0)
        return STEP_FAILED;
    if (path != NULL)
        fill_entry(situation, path, &entries[1]);
    config.audit_count = path != NULL ? 2 : 1;
    int rc = zsb_helper_audit(&config, &err);
    if (rc != 0 && (err.code != ZSB_E_CONFINEMENT || err.stage != ZSB_STAGE_CONFINE))
        return STEP_FAILED + 1;
    return zsb_write_all(message_fd, err.msg, strlen(err.msg)) == 0 ? 0 : STEP_FAILED + 2;
}

static _Noreturn void leave(int status)
{
    ZSB_COVERAGE_DUMP();
    _exit(status);
}

/* Runs `first` as PID 1 of new namespaces and returns what it wrote. */
static const char *run_as_first(const struct situation *situation)
{
    int fds[2];
    char *text = NULL;
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    pid_t outer = fork();
    ck_assert_int_ge(outer, 0);
    if (outer == 0) {
        if (enter_namespaces() < 0)
            leave(STEP_FAILED + 3);
        pid_t first = fork();
        if (first == 0)
            leave(audit_as_first(situation, fds[1]));
        int status = 0;
        leave(first > 0 && waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                                    : STEP_FAILED + 4);
    }
    (void)close(fds[1]);
    ck_assert_int_eq(zsb_read_fd(fds[0], 4096, &text, NULL), 0);
    (void)close(fds[0]);
    const char *kept = zsb_test_text("%s", text);
    free(text);
    int status = 0;
    ck_assert_int_eq(waitpid(outer, &status, 0), outer);
    ck_assert_msg(status == 0, "%s: status 0x%x", situation->reason, (unsigned)status);
    return kept;
}

START_TEST(audit_names_the_first_gap)
{
    const struct situation *situation = &situations[_i];
    const char *message = run_as_first(situation);
    if (situation->gap == NULL)
        ck_assert_msg(message[0] == '\0', "%s: %s", situation->reason, message);
    else
        ck_assert_msg(strstr(message, situation->gap) != NULL, "%s: \"%s\"", situation->reason, message);
}
END_TEST

START_TEST(helper_that_is_not_the_first_process_refuses)
{
    struct zsb_helper_config config = {.audits = NULL};
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(zsb_helper_audit(&config, &err), -ZSB_E_CONFINEMENT);
    ck_assert_str_eq(err.subject, "pid namespace");
    ck_assert_int_eq(err.stage, ZSB_STAGE_CONFINE);
}
END_TEST

static struct zsb_outer_namespace outer;

static int audit_outer(void)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_helper_config config = {.outer = {outer}, .outer_count = 1};
    (void)zsb_helper_audit(&config, &err);
    /* The mounts were not made read-only: that gap comes after the namespaces' ones. */
    return strstr(err.reason, "is the caller's namespace") != NULL ? 1
           : strstr(err.reason, "cannot be audited") != NULL       ? 2
           : strstr(err.reason, "writable") != NULL                ? 3
                                                                   : 4;
}

static int outcome_of_outer(void)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (enter_namespaces() < 0)
            leave(STEP_FAILED);
        pid_t first = fork();
        if (first == 0)
            leave(audit_outer());
        int status = 0;
        leave(first > 0 && waitpid(first, &status, 0) == first ? WEXITSTATUS(status) : STEP_FAILED);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static const struct {
    const char *name;
    bool same; /* the inode of this process's namespace */
    int outcome;
    const char *reason;
} outers[] = {
    {"net", true, 1, "the network namespace was not unshared"},
    {"ipc", true, 1, "the ipc namespace was not unshared"},
    {"uts", true, 1, "the uts namespace was not unshared"},
    {"user", true, 3, "the user namespace was"},
    {"mnt", true, 3, "the mount namespace was"},
    {"net", false, 3, "another inode is another namespace"},
    {"nonesuch", false, 2, "a namespace that the kernel does not know"},
};

START_TEST(namespace_must_not_be_the_callers)
{
    struct stat st = {.st_ino = 0};
    ZSB_AUTO_FREE char *link = zsb_strdupf("/proc/self/ns/%s", outers[_i].name);
    ck_assert(!outers[_i].same || stat(link, &st) == 0);
    outer = (struct zsb_outer_namespace){outers[_i].name, st.st_ino};
    ck_assert_msg(outcome_of_outer() == outers[_i].outcome, "%s: %d", outers[_i].reason, outcome_of_outer());
}
END_TEST

static bool host_can(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(enter_namespaces() == 0 ? 0 : 1);
    int status = 1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
    if (!host_can())
        return zsb_test_cannot("no user namespaces");
    Suite *suite = suite_create("audit");
    TCase *tests = zsb_test_case(suite, "audit", 20);
    tcase_add_checked_fixture(tests, make_scene, NULL);
    tcase_add_loop_test(tests, audit_names_the_first_gap, 0, (int)ZSB_ARRAY_SIZE(situations));
    tcase_add_test(tests, helper_that_is_not_the_first_process_refuses);
    tcase_add_loop_test(tests, namespace_must_not_be_the_callers, 0, (int)ZSB_ARRAY_SIZE(outers));
    return zsb_test_run(suite, CK_FORK);
}
