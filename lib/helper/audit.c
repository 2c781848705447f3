/* SPDX-License-Identifier: MIT
 *
 * The launcher is trusted to be the distribution's, not to have done everything: what it should have built is
 * read back from inside, before the command exists. Any gap ends the sandbox.
 */
#include "lib/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MOUNTINFO_MAX_BYTES = 64 << 20 };

/* Mounts of the minimal /dev and the fresh /proc that are writable by nature. */
static const char *const writable_by_nature[] = {
    "/proc",        "/dev/null", "/dev/zero", "/dev/full",    "/dev/random",
    "/dev/urandom", "/dev/tty",  "/dev/pts",  "/dev/console",
};

static int gap(struct zsb_error *err, const char *subject, const char *reason)
{
    int rc = zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, 0, "%s: %s", subject, reason);
    return zsb_error_detail(err, rc, subject, reason);
}

static int unreadable(struct zsb_error *err, const char *subject, int sys_errno)
{
    int rc =
        zsb_error_set(err, ZSB_E_CONFINEMENT, ZSB_STAGE_CONFINE, sys_errno, "%s: cannot be audited", subject);
    return zsb_error_detail(err, rc, subject, "cannot be audited");
}

static bool on_read_only_mount(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
}

static int octal_digit(char c)
{
    return c >= '0' && c <= '7' ? c - '0' : -1;
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; out++) {
        if (in[0] == '\\' && octal_digit(in[1]) >= 0 && octal_digit(in[2]) >= 0 && octal_digit(in[3]) >= 0) {
            *out = (char)(octal_digit(in[1]) << 6 | octal_digit(in[2]) << 3 | octal_digit(in[3]));
            in += 4;
        } else {
            *out = *in++;
        }
    }
    *out = '\0';
}

/* Fields: id parent major:minor root point options ... */
bool zsb_mountinfo_parse_line(char *line, uint64_t *out_id, char **out_point, bool *out_writable)
{
    char *fields[6];
    char *rest = line;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(fields); i++) {
        fields[i] = strsep(&rest, " ");
        if (fields[i] == NULL || *fields[i] == '\0')
            return false;
    }
    if (!zsb_parse_u64(fields[0], UINT64_MAX, out_id) || fields[4][0] != '/')
        return false;
    unescape(fields[4]);
    *out_point = fields[4];
    *out_writable = true;
    for (char *options = fields[5], *option; (option = strsep(&options, ",")) != NULL;)
        if (strcmp(option, "ro") == 0)
            *out_writable = false;
    return true;
}

static bool may_be_writable(const struct zsb_helper_config *config, const char *point)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(writable_by_nature); i++)
        if (strcmp(point, writable_by_nature[i]) == 0)
            return true;
    for (size_t i = 0; i < config->audit_count; i++) {
        const struct zsb_audit_entry *entry = &config->audits[i];
        if (entry->kind == ZSB_AUDIT_WRITABLE && zsb_path_within(point, entry->path))
            return true;
        if (entry->kind == ZSB_AUDIT_SCRATCH && strcmp(point, entry->path) == 0)
            return true;
    }
    return false;
}

/* A mount covered by another one at its point, or by one above it, cannot be reached any more. */
static bool is_reachable(uint64_t id, const char *point)
{
    struct statx st;
    if (statx(AT_FDCWD, point, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return (st.stx_mask & STATX_MNT_ID) == 0 || st.stx_mnt_id == id;
}

static int audit_mounts(const struct zsb_helper_config *config, struct zsb_error *err)
{
    ZSB_AUTO_FREE char *text = NULL;
    int rc = zsb_read_file_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX_BYTES, &text, NULL);
    if (rc != 0)
        return unreadable(err, "/proc/self/mountinfo", -rc);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line == '\0')
            continue;
        uint64_t id = 0;
        char *point = NULL;
        bool writable = true;
        if (!zsb_mountinfo_parse_line(line, &id, &point, &writable))
            return gap(err, "/proc/self/mountinfo", "has a malformed line");
        if (writable && !may_be_writable(config, point) && is_reachable(id, point))
            return gap(err, point, "is a writable mount that the policy does not grant");
    }
    return on_read_only_mount("/") ? 0 : gap(err, "/", "is writable");
}

static int audit_identity(const struct zsb_audit_entry *entry, bool wanted, struct stat *st,
                          struct zsb_error *err)
{
    if (fstatat(AT_FDCWD, entry->path, st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return unreadable(err, entry->path, errno);
    bool same = st->st_dev == entry->device && st->st_ino == entry->inode;
    if (same == wanted)
        return 0;
    return gap(err, entry->path, wanted ? "is not the file that the policy named" : "is still visible");
}

/* No permissions at all, or the null device where devices cannot be opened. */
static bool is_mask(const char *path, const struct stat *st)
{
    struct statvfs fs;
    if (S_ISCHR(st->st_mode))
        return st->st_rdev == makedev(1, 3) && statvfs(path, &fs) == 0 && (fs.f_flag & ST_NODEV) != 0;
    return (st->st_mode & 07777) == 0;
}

static int audit_entry(const struct zsb_audit_entry *entry, struct zsb_error *err)
{
    struct stat st;
    int rc = 0;
    switch (entry->kind) {
    case ZSB_AUDIT_WRITABLE:
        return audit_identity(entry, true, &st, err);
    case ZSB_AUDIT_READ_ONLY:
        rc = audit_identity(entry, true, &st, err);
        break;
    case ZSB_AUDIT_DENIED:
        rc = audit_identity(entry, false, &st, err);
        if (rc == 0 && !is_mask(entry->path, &st))
            rc = gap(err, entry->path, "is covered by something that can be opened");
        break;
    case ZSB_AUDIT_HELD:
        if (lstat(entry->path, &st) < 0)
            rc = unreadable(err, entry->path, errno);
        else if (!S_ISDIR(st.st_mode))
            rc = gap(err, entry->path, "came into being before the sandbox did");
        break;
    case ZSB_AUDIT_SCRATCH:
        return on_read_only_mount(entry->path) ? gap(err, entry->path, "is not writable") : 0;
    case ZSB_AUDIT_KNOB:
        if (access(entry->path, F_OK) < 0)
            return 0;
        break;
    case ZSB_AUDIT_KIND_COUNT:
        return gap(err, entry->path, "has an unknown audit kind");
    }
    if (rc == 0 && !on_read_only_mount(entry->path))
        rc = gap(err, entry->path, "is writable");
    return rc;
}

static int audit_namespaces(const struct zsb_helper_config *config, struct zsb_error *err)
{
    if (getpid() != 1)
        return gap(err, "pid namespace", "the helper is not its first process");
    for (size_t i = 0; i < config->outer_count; i++) {
        char link[64];
        struct stat st;
        (void)snprintf(link, sizeof(link), "/proc/self/ns/%s", config->outer[i].name);
        if (stat(link, &st) < 0)
            return unreadable(err, link, errno);
        if (st.st_ino == config->outer[i].inode)
            return gap(err, link, "is the caller's namespace");
    }
    return 0;
}

int zsb_helper_audit(const struct zsb_helper_config *config, struct zsb_error *err)
{
    int rc = audit_namespaces(config, err);
    if (rc == 0)
        rc = audit_mounts(config, err);
    for (size_t i = 0; rc == 0 && i < config->audit_count; i++)
        rc = audit_entry(&config->audits[i], err);
    return rc;
}
