/* SPDX-License-Identifier: MIT */
#include "verifier/procscan.h"

#include "lib/util/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { CMDLINE_MAX = 16384, PIDS_MAX = 65536 };

typedef void (*visit_pid)(pid_t pid, void *user);

static int for_each_pid(visit_pid visit, void *user)
{
    DIR *dir = opendir("/proc");
    if (dir == NULL)
        return -errno;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        uint64_t pid = 0;
        if (isdigit((unsigned char)entry->d_name[0]) && zsb_parse_u64(entry->d_name, INT_MAX, &pid))
            visit((pid_t)pid, user);
    }
    (void)closedir(dir);
    return 0;
}

/* Reads up to size-1 bytes of /proc/<pid>/<name>; -1 when there is nothing to read. */
static ssize_t read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    ZSB_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t used = 0;
    while (used + 1 < size) {
        ssize_t n = read(fd, out + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    out[used] = '\0';
    return (ssize_t)used;
}

/* The name may hold anything, so the fields are read behind its last parenthesis. */
static bool read_stat(pid_t pid, struct zsb_proc *out)
{
    char text[1024];
    if (read_proc(pid, "stat", text, sizeof(text)) <= 0)
        return false;
    char *open_paren = strchr(text, '(');
    char *close_paren = strrchr(text, ')');
    if (open_paren == NULL || close_paren == NULL || close_paren < open_paren)
        return false;
    int parent = 0;
    out->pid = pid;
    if (sscanf(close_paren + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &out->state,
               &parent, &out->start_time) != 3)
        return false;
    out->parent = (pid_t)parent;
    (void)snprintf(out->comm, sizeof(out->comm), "%.*s", (int)(close_paren - open_paren - 1), open_paren + 1);
    return true;
}

struct search {
    const struct zsb_proc_mark *mark;
    struct zsb_procs *out;
};

static bool is_genuine(const struct zsb_proc_mark *mark, pid_t pid, const char *command_line, size_t size)
{
    char path[64];
    struct stat st;
    size_t program = strnlen(command_line, size) + 1;
    if (size < program || size - program != mark->words_size ||
        memcmp(command_line + program, mark->words, mark->words_size) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return stat(path, &st) == 0 && st.st_dev == mark->exe_device && st.st_ino == mark->exe_inode;
}

static void consider(pid_t pid, void *user)
{
    struct search *search = user;
    static char text[CMDLINE_MAX];
    ssize_t size = read_proc(pid, "cmdline", text, sizeof(text));
    if (size <= 0 || memmem(text, (size_t)size, search->mark->nonce, strlen(search->mark->nonce)) == NULL)
        return;
    struct zsb_proc proc;
    memset(&proc, 0, sizeof(proc));
    if (!read_stat(pid, &proc) || proc.state == 'Z' || proc.state == 'X')
        return;
    if (search->out->count == ZSB_PROCS_MAX) {
        search->out->overflow = true;
        return;
    }
    proc.genuine = is_genuine(search->mark, pid, text, (size_t)size);
    search->out->items[search->out->count++] = proc;
}

static int by_age(const void *a, const void *b)
{
    const struct zsb_proc *x = a, *y = b;
    if (x->start_time != y->start_time)
        return x->start_time < y->start_time ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid ? 1 : 0;
}

int zsb_procscan_find(const struct zsb_proc_mark *mark, struct zsb_procs *out)
{
    memset(out, 0, sizeof(*out));
    struct search search = {mark, out};
    int rc = for_each_pid(consider, &search);
    qsort(out->items, out->count, sizeof(out->items[0]), by_age);
    return rc;
}

static bool has_genuine(const struct zsb_procs *procs, pid_t pid)
{
    for (size_t i = 0; i < procs->count; i++)
        if (procs->items[i].pid == pid && procs->items[i].genuine)
            return true;
    return false;
}

const struct zsb_proc *zsb_procs_first(const struct zsb_procs *procs)
{
    for (size_t i = 0; i < procs->count; i++)
        if (procs->items[i].genuine && !has_genuine(procs, procs->items[i].parent))
            return &procs->items[i];
    return NULL;
}

/* Text behind "\n<key>:\t" in a status file, or NULL. */
static const char *field(const char *status, const char *key)
{
    char wanted[32];
    (void)snprintf(wanted, sizeof(wanted), "\n%s:\t", key);
    const char *at = strstr(status, wanted);
    return at != NULL ? at + strlen(wanted) : NULL;
}

static void read_capabilities(const char *status, struct zsb_proc_status *out)
{
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(sets); i++) {
        const char *text = field(status, sets[i]);
        size_t digits = text != NULL ? strspn(text, "0123456789abcdef") : 0;
        if (text != NULL && strspn(text, "0") == digits)
            continue;
        size_t used = strlen(out->capabilities);
        (void)snprintf(out->capabilities + used, sizeof(out->capabilities) - used, "%s%s",
                       used > 0 ? " " : "", sets[i]);
        out->any_capability = true;
    }
}

int zsb_proc_read_status(pid_t pid, struct zsb_proc_status *out)
{
    char text[8192];
    memset(out, 0, sizeof(*out));
    if (read_proc(pid, "status", text, sizeof(text)) <= 0)
        return -ESRCH;
    const char *tracer = field(text, "TracerPid");
    const char *no_new_privs = field(text, "NoNewPrivs");
    const char *seccomp = field(text, "Seccomp");
    if (tracer == NULL || no_new_privs == NULL || seccomp == NULL)
        return -ENOTSUP;
    out->tracer = (pid_t)strtol(tracer, NULL, 10);
    out->no_new_privs = *no_new_privs == '1';
    out->seccomp = (int)strtol(seccomp, NULL, 10);
    read_capabilities(text, out);
    return 0;
}

int zsb_proc_namespace(pid_t pid, const char *kind, ino_t *out)
{
    char path[64];
    struct stat st;
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
    if (stat(path, &st) < 0)
        return -errno;
    *out = st.st_ino;
    return 0;
}

static bool is_writable_descriptor(pid_t pid, const char *number)
{
    char name[64];
    char text[1024];
    (void)snprintf(name, sizeof(name), "fdinfo/%.20s", number);
    if (read_proc(pid, name, text, sizeof(text)) <= 0)
        return false;
    const char *flags = strstr(text, "flags:\t");
    unsigned long value = flags != NULL ? strtoul(flags + 7, NULL, 8) : 0;
    return (value & O_ACCMODE) != O_RDONLY && (value & O_PATH) == 0;
}

/* The same object: by identity where both can be asked, by device number for nodes, else by the end of its
 * name, since a mount of another namespace shows its paths from that namespace's root. */
static bool is_same_object(const char *link_path, const char *link_text, const char *target)
{
    struct stat ours, theirs;
    size_t text = strlen(link_text), wanted = strlen(target);
    if (text >= wanted && strcmp(link_text + text - wanted, target) == 0)
        return true;
    if (stat(link_path, &theirs) < 0 || stat(target, &ours) < 0)
        return false;
    if (S_ISCHR(ours.st_mode) || S_ISBLK(ours.st_mode))
        return (theirs.st_mode & S_IFMT) == (ours.st_mode & S_IFMT) && theirs.st_rdev == ours.st_rdev;
    return theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* A target that ends in ":" stands for every text that begins with it. */
static bool is_link_text(const char *text, const char *target)
{
    size_t length = strlen(target);
    bool prefix = length > 0 && target[length - 1] == ':';
    return prefix ? strncmp(text, target, length) == 0 : strcmp(text, target) == 0;
}

int zsb_proc_has_descriptor(pid_t pid, const char *target, char *saw, size_t saw_size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return -errno;
    int found = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL && found == 0; entry = readdir(dir)) {
        char link_path[96];
        char text[PATH_MAX];
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, text, sizeof(text) - 1);
        if (n <= 0)
            continue;
        text[n] = '\0';
        (void)snprintf(link_path, sizeof(link_path), "/proc/%d/fd/%.20s", (int)pid, entry->d_name);
        bool is_path = target[0] == '/';
        if (is_path ? !is_same_object(link_path, text, target) : !is_link_text(text, target))
            continue;
        if (is_path && !is_writable_descriptor(pid, entry->d_name))
            continue;
        (void)snprintf(saw, saw_size, "process %d holds descriptor %.20s on %s", (int)pid, entry->d_name,
                       text);
        found = 1;
    }
    (void)closedir(dir);
    return found;
}

struct family {
    struct zsb_proc *items;
    size_t count;
};

static void add_member(pid_t pid, void *user)
{
    struct family *family = user;
    if (family->count < PIDS_MAX && read_stat(pid, &family->items[family->count]))
        family->count++;
}

static bool descends_from(const struct family *family, pid_t pid, pid_t root)
{
    for (size_t steps = 0; steps < family->count && pid > 1; steps++) {
        pid_t parent = 0;
        for (size_t i = 0; i < family->count && parent == 0; i++)
            if (family->items[i].pid == pid)
                parent = family->items[i].parent;
        if (parent == root)
            return true;
        pid = parent;
    }
    return false;
}

void zsb_procscan_kill_descendants(pid_t root)
{
    ZSB_AUTO_FREE struct zsb_proc *items = calloc(PIDS_MAX, sizeof(*items));
    struct family family = {items, 0};
    if (items == NULL || for_each_pid(add_member, &family) != 0)
        return;
    for (size_t i = 0; i < family.count; i++)
        if (family.items[i].state != 'Z' && descends_from(&family, family.items[i].pid, root))
            (void)kill(family.items[i].pid, SIGKILL);
}

static void kill_marked(pid_t pid, void *user)
{
    const char *mark = user;
    static char text[CMDLINE_MAX];
    ssize_t size = pid == getpid() ? 0 : read_proc(pid, "cmdline", text, sizeof(text));
    if (size > 0 && memmem(text, (size_t)size, mark, strlen(mark)) != NULL)
        (void)kill(pid, SIGKILL);
}

void zsb_procscan_kill_marked(const char *mark)
{
    char copy[64];
    /* An empty mark would match everybody. */
    if (strlen(mark) < 16 || strlen(mark) >= sizeof(copy))
        return;
    (void)snprintf(copy, sizeof(copy), "%s", mark);
    (void)for_each_pid(kill_marked, copy);
}
