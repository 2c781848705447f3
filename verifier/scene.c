/* SPDX-License-Identifier: MIT */
#include "verifier/scene.h"

#include "lib/util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const flag_names[ZSB_FLAG_COUNT] = {
    [ZSB_FLAG_FILE] = "file",
    [ZSB_FLAG_DENY_FILE] = "deny-file",
    [ZSB_FLAG_DENY_DIR] = "deny-dir",
    [ZSB_FLAG_DENY_WS] = "deny-ws",
    [ZSB_FLAG_MEMORY] = "memory",
    [ZSB_FLAG_ENVIRON] = "environ",
    [ZSB_FLAG_VICTIM_FD] = "victim-fd",
    [ZSB_FLAG_CALLER_ENV] = "caller-env",
    [ZSB_FLAG_SHM] = "shm",
    [ZSB_FLAG_FD_FILE] = "fd-file",
    [ZSB_FLAG_FD_DIR] = "fd-dir",
};

const char *zsb_flag_name(enum zsb_flag flag)
{
    return (unsigned)flag < ZSB_FLAG_COUNT ? flag_names[flag] : "unknown";
}

enum zsb_flag zsb_flag_find(const char *name)
{
    for (unsigned i = 0; i < ZSB_FLAG_COUNT; i++)
        if (strcmp(flag_names[i], name) == 0)
            return (enum zsb_flag)i;
    return ZSB_FLAG_COUNT;
}

bool zsb_attempt_in_mode(const struct zsb_attempt *attempt, enum zsb_mode mode)
{
    unsigned bit = mode == ZSB_MODE_READ_ONLY ? ZSB_IN_READ_ONLY : ZSB_IN_WORKSPACE_WRITE;
    return attempt->modes == 0 || (attempt->modes & bit) != 0;
}

static int make_secrets(struct zsb_scene *scene)
{
    int rc = zsb_random_hex(scene->nonce, ZSB_FLAG_DIGITS / 2);
    if (rc == 0)
        rc = zsb_random_hex(scene->plant, ZSB_FLAG_DIGITS / 2);
    for (unsigned i = 0; i < ZSB_FLAG_COUNT && rc == 0; i++)
        rc = zsb_random_hex(scene->flags[i], ZSB_FLAG_DIGITS / 2);
    return rc;
}

static int reopen_directory(struct zsb_scene *scene)
{
    scene->dir_fd =
        openat(scene->lab->dir_fd, scene->place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return scene->dir_fd < 0 ? -errno : zsb_remove_tree_at(scene->dir_fd, "hidden");
}

/* The slot's directory, put back into its first state; a new one where there is none, or none that can be. */
static int take_directory(struct zsb_scene *scene)
{
    const char *name = scene->place->name;
    enum zsb_fixture fixture = scene->probe->fixture;
    int rc = zsb_lab_reset_trial(scene->lab, name, fixture, &scene->dir_fd);
    if (rc == 0)
        return 0;
    if (rc != -ENOENT)
        zsb_lab_abandon_trial(scene->lab, name);
    return zsb_lab_make_trial(scene->lab, name, fixture, &scene->dir_fd);
}

static int make_directory(struct zsb_scene *scene)
{
    static const struct {
        const char *path;
        enum zsb_flag flag;
        mode_t mode;
    } files[] = {
        {"out/secret.txt", ZSB_FLAG_FILE, 0644},
        {"deny/file", ZSB_FLAG_DENY_FILE, 0600},
        {"deny/dir/secret", ZSB_FLAG_DENY_DIR, 0600},
        {"ws/private/secret", ZSB_FLAG_DENY_WS, 0600},
    };
    int rc = scene->place->is_clean ? reopen_directory(scene) : take_directory(scene);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(files) && rc == 0; i++)
        rc = zsb_lab_write_file(scene->dir_fd, files[i].path, scene->flags[files[i].flag], files[i].mode);
    return rc;
}

static int prepare_probe(struct zsb_scene *scene)
{
    bool is_prepared = scene->place->is_clean;
    /* Until the end of the arm has shown otherwise. */
    scene->place->is_clean = false;
    return scene->probe->prepare != NULL && !is_prepared ? scene->probe->prepare(scene->dir_fd) : 0;
}

/* A file without a name, holding a flag: only descriptors reach it. */
static int open_nameless(const struct zsb_scene *scene, const char *flag, int *out_fd)
{
    int rc = zsb_lab_write_file(scene->dir_fd, "hidden/nameless", flag, 0600);
    if (rc != 0)
        return rc;
    /* From 10 up: the low numbers are what shells and launchers redirect. */
    ZSB_AUTO_FD int low = openat(scene->dir_fd, "hidden/nameless", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (low < 0 || unlinkat(scene->dir_fd, "hidden/nameless", 0) < 0)
        return -errno;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
    if (fd < 0)
        return -errno;
    *out_fd = fd;
    return 0;
}

static int start_victim(struct zsb_scene *scene)
{
    if ((scene->probe->needs & ZSB_NEED_VICTIM) == 0)
        return 0;
    int secret = -1;
    int rc = open_nameless(scene, scene->flags[ZSB_FLAG_VICTIM_FD], &secret);
    ZSB_AUTO_FD int secret_fd = secret;
    if (rc != 0)
        return rc;
    return zsb_victim_start(scene->lab->victim_path, scene->flags[ZSB_FLAG_MEMORY],
                            scene->flags[ZSB_FLAG_ENVIRON], secret_fd, &scene->victim);
}

static int open_listeners(struct zsb_scene *scene)
{
    if ((scene->probe->needs & ZSB_NEED_LISTENERS) == 0)
        return 0;
    ZSB_AUTO_FD int run_fd = openat(scene->dir_fd, "run", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ZSB_AUTO_FREE char *run_path = zsb_strdupf("%s/run", scene->path);
    if (run_fd < 0 || run_path == NULL)
        return run_path == NULL ? -ENOMEM : -errno;
    return zsb_listeners_open(&scene->listeners, run_fd, run_path, scene->nonce);
}

static int open_terminal(struct zsb_scene *scene)
{
    return (scene->probe->needs & ZSB_NEED_TERMINAL) != 0 ? zsb_terminal_open(&scene->terminal) : 0;
}

/* Marked for removal at once: it stays attachable by number while we are attached, and goes with us. */
static int open_shm(struct zsb_scene *scene)
{
    if ((scene->probe->needs & ZSB_NEED_SHM) == 0)
        return 0;
    scene->shm_id = shmget(IPC_PRIVATE, ZSB_SHM_BYTES, IPC_CREAT | IPC_EXCL | 0600);
    if (scene->shm_id < 0)
        return -errno;
    void *at = shmat(scene->shm_id, NULL, 0);
    int saved_errno = errno;
    (void)shmctl(scene->shm_id, IPC_RMID, NULL);
    if (at == (void *)-1)
        return -saved_errno;
    scene->shm = at;
    memcpy(scene->shm, scene->flags[ZSB_FLAG_SHM], ZSB_FLAG_DIGITS);
    return 0;
}

/* Neither can be opened by a path from inside: the file has no name, the directory lies behind one that
 * nobody may enter (its mode is restored by the removal of the trial directory). */
static int open_inherited(struct zsb_scene *scene)
{
    int rc = open_nameless(scene, scene->flags[ZSB_FLAG_FD_FILE], &scene->fd_file);
    if (rc == 0 && mkdirat(scene->dir_fd, "hidden/dir", 0700) < 0)
        rc = -errno;
    if (rc == 0)
        rc = zsb_lab_write_file(scene->dir_fd, "hidden/dir/inside.txt", scene->flags[ZSB_FLAG_FD_DIR], 0600);
    if (rc != 0)
        return rc;
    ZSB_AUTO_FD int low =
        openat(scene->dir_fd, "hidden/dir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    scene->fd_dir = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 10);
    if (scene->fd_dir < 0 || fchmodat(scene->dir_fd, "hidden", 0000, 0) < 0)
        return -errno;
    rc = zsb_set_cloexec(scene->fd_file, false);
    return rc != 0 ? rc : zsb_set_cloexec(scene->fd_dir, false);
}

static bool is_ours(const char *entry)
{
    static const char *const names[] = {
        "ZSB_LAB_TOKEN=", "AWS_SECRET_ACCESS_KEY=", "HOME=", ZSB_RESULT_FD_ENV "="};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int make_environment(struct zsb_scene *scene)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if (!is_ours(*entry))
            zsb_strv_add(&scene->environment, *entry);
    zsb_strv_addf(&scene->environment, "HOME=%s/home", scene->path);
    zsb_strv_addf(&scene->environment, "ZSB_LAB_TOKEN=%s", scene->flags[ZSB_FLAG_CALLER_ENV]);
    zsb_strv_addf(&scene->environment, "AWS_SECRET_ACCESS_KEY=%s", scene->flags[ZSB_FLAG_CALLER_ENV]);
    return scene->environment.failed ? -ENOMEM : 0;
}

static int make_hidden(struct zsb_scene *scene)
{
    return mkdirat(scene->dir_fd, "hidden", 0700) < 0 ? -errno : 0;
}

/* In this order: the victim must not inherit what the arm inherits. */
static const struct {
    const char *name;
    int (*run)(struct zsb_scene *scene);
} steps[] = {
    {"random flags", make_secrets},
    {"the trial directory", make_directory},
    {"the probe's own objects", prepare_probe},
    {"the hidden directory", make_hidden},
    {"the victim process", start_victim},
    {"the listeners", open_listeners},
    {"the terminal", open_terminal},
    {"the shared memory segment", open_shm},
    {"the inherited descriptors", open_inherited},
    {"the environment", make_environment},
};

int zsb_scene_open(struct zsb_scene *scene, const struct zsb_lab *lab, const struct zsb_probe *probe,
                   enum zsb_mode mode, enum zsb_network network, struct zsb_place *place)
{
    memset(scene, 0, sizeof(*scene));
    scene->lab = lab;
    scene->probe = probe;
    scene->mode = mode;
    scene->network = network;
    scene->dir_fd = scene->fd_file = scene->fd_dir = scene->shm_id = -1;
    zsb_victim_init(&scene->victim);
    zsb_listeners_init(&scene->listeners);
    zsb_terminal_init(&scene->terminal);
    scene->place = place;
    (void)snprintf(place->name, sizeof(place->name), "%s.%u",
                   probe->fixture == ZSB_FIXTURE_REPO ? "repo" : "plain", place->slot);
    int n = snprintf(scene->path, sizeof(scene->path), "%s/%s", lab->path, place->name);
    int rc = n < 0 || (size_t)n >= sizeof(scene->path) ? -ENAMETOOLONG : 0;
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(steps) && rc == 0; i++) {
        rc = steps[i].run(scene);
        scene->trouble = rc != 0 ? steps[i].name : NULL;
    }
    return rc;
}

void zsb_scene_close(struct zsb_scene *scene)
{
    zsb_victim_end(&scene->victim);
    zsb_listeners_close(&scene->listeners);
    zsb_terminal_close(&scene->terminal);
    if (scene->shm != NULL)
        (void)shmdt(scene->shm);
    zsb_cleanup_fd(&scene->fd_file);
    zsb_cleanup_fd(&scene->fd_dir);
    zsb_strv_clear(&scene->environment);
    zsb_cleanup_fd(&scene->dir_fd);
    scene->shm = NULL;
    scene->dir_fd = scene->fd_file = scene->fd_dir = -1;
}

static void add_outside_words(const struct zsb_scene *scene, struct zsb_strv *words)
{
    const struct zsb_victim *victim = &scene->victim;
    if (victim->pid > 0) {
        zsb_strv_addf(words, "victim=%d", (int)victim->pid);
        zsb_strv_addf(words, "victim-read=0x%lx", victim->read_address);
        zsb_strv_addf(words, "victim-write=0x%lx", victim->write_address);
        zsb_strv_addf(words, "victim-fd=%d", ZSB_VICTIM_SECRET_FD);
    }
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        const struct zsb_listener_state *state = &scene->listeners.items[i];
        if (state->fd < 0)
            continue;
        if (state->name[0] != '\0')
            zsb_strv_addf(words, "%s=%s", zsb_listener_name((enum zsb_listener)i), state->name);
        else
            zsb_strv_addf(words, "%s=%u", zsb_listener_name((enum zsb_listener)i), state->port);
    }
    if (scene->shm != NULL)
        zsb_strv_addf(words, "shmid=%d", scene->shm_id);
}

void zsb_scene_add_words(const struct zsb_scene *scene, const char *what, struct zsb_strv *words)
{
    zsb_strv_add(words, what);
    if (strcmp(what, "canary") != 0)
        zsb_strv_add(words, scene->probe->id);
    zsb_strv_addf(words, "nonce=%s", scene->nonce);
    zsb_strv_addf(words, "lab=%s", scene->path);
    zsb_strv_addf(words, "plant=%s", scene->plant);
    zsb_strv_addf(words, "mode=%s", zsb_mode_name(scene->mode));
    zsb_strv_addf(words, "network=%s", zsb_network_name(scene->network));
    add_outside_words(scene, words);
    zsb_strv_addf(words, "fd-file=%d", scene->fd_file);
    zsb_strv_addf(words, "fd-dir=%d", scene->fd_dir);
}
