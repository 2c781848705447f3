/* SPDX-License-Identifier: MIT
 *
 * A launcher that is not bubblewrap. Its file name says what is wrong with it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char everything[] =
    "usage: bwrap\n"
    "    --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net \n"
    "    --as-pid-1 --new-session --cap-drop --ro-bind --ro-bind-try --bind --dev --proc --tmpfs --perms \n"
    "    --size --remount-ro --chdir --die-with-parent --json-status-fd --info-fd --sync-fd "
    "--userns-block-fd \n";

/* Longer names that begin with a wanted one do not count. */
static const char old[] = "    --unshare-user-try\n    --unshare-users\n    x--unshare-user\n";

static int launch(const char *kind, char **argv)
{
    if (strcmp(kind, "bare") == 0) {
        /* Runs the command with nothing around it. */
        for (size_t i = 1; argv[i] != NULL; i++)
            if (strcmp(argv[i], "--") == 0)
                (void)execv(argv[i + 1], argv + i + 1);
        return 99;
    }
    if (strcmp(kind, "stuck") == 0) {
        /* As bubblewrap for a moment: a second process that waits for the first. */
        pid_t pid = fork();
        while (pid == 0)
            (void)pause();
        return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 97;
    }
    if (strcmp(kind, "failing") == 0) {
        (void)fputs("fake: No permissions to create new namespace\n", stderr);
        return 1;
    }
    return 0; /* "idle": says nothing, does nothing */
}

int main(int argc, char **argv)
{
    char path[256];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n < 0)
        return 98;
    path[n] = '\0';
    const char *kind = strrchr(path, '/') + 1;
    if (argc != 2 || strcmp(argv[1], "--help") != 0)
        return launch(kind, argv);
    if (strcmp(kind, "hanging") == 0)
        for (;;)
            (void)pause();
    if (strcmp(kind, "mute") != 0)
        (void)fputs(strcmp(kind, "old") == 0 ? old : everything, stdout);
    return 0;
}
