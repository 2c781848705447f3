/* SPDX-License-Identifier: MIT
 *
 * Kill `zuno-sandbox run`, or the harness above it, at random moments: nothing of the tree may stay, and no
 * stub of a protected name. ZSB_KILL_ROUNDS sets the number of rounds (default 20).
 *
 * This process adopts every orphan, so "nothing stays" is exact: it has no child left.
 */
#include "gate/tests/drive.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes that a naive end would miss: own session, double fork, ignoring SIGTERM, stopped, busy forking.
 */
#define TREE                                                                                                 \
    "trap '' TERM HUP INT; setsid sleep 600 & (setsid sh -c 'sleep 600 & sleep 600 &') & "                   \
    "sh -c 'kill -STOP $$' & while :; do sleep 0.01; done"

struct target {
    const char *name;
    bool harness; /* a shell between us and the program is the one that is killed */
    int signal;
};
static const struct target targets[] = {
    {"TERM to run", false, SIGTERM},
    {"KILL to run", false, SIGKILL},
    {"KILL to the harness", true, SIGKILL},
    {"TERM to the harness", true, SIGTERM},
};

static uint64_t random_below(uint64_t limit)
{
    uint64_t value = 0;
    ck_assert_int_eq(getrandom(&value, sizeof(value), 0), sizeof(value));
    return value % limit;
}

static pid_t start(const struct target *target, const char *workspace)
{
    const char *const direct[] = {ZSB_PROGRAM, "run", "--mode", "workspace-write", "--", "sh",
                                  "-c",        TREE,  NULL};
    const char *const harness[] = {
        "/bin/sh", "-c", "\"$1\" run --mode workspace-write -- sh -c \"$2\"; true", "sh", ZSB_PROGRAM,
        TREE,      NULL};
    return drive_start(target->harness ? harness : direct, workspace);
}

/* Half of the moments fall into the set-up, where most can go wrong, half anywhere until the command runs. */
static void round_of(const struct target *target, const char *workspace)
{
    const pid_t pid = start(target, workspace);
    const uint64_t delay_us = random_below(random_below(2) ? 400000 : 30000);
    usleep((useconds_t)delay_us);
    ck_assert_int_eq(kill(pid, target->signal), 0);
    ck_assert_msg(drive_all_gone(15000), "%s after %llu us left a process", target->name,
                  (unsigned long long)delay_us);
    static const char *const names[] = {".git", ".zuno", ".agents"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(names); i++)
        ck_assert_msg(!drive_exists(workspace, names[i]), "%s after %llu us left %s", target->name,
                      (unsigned long long)delay_us, names[i]);
}

static uint64_t rounds(void)
{
    const char *text = getenv("ZSB_KILL_ROUNDS");
    uint64_t count = 20;
    if (text && (!zsb_parse_u64(text, 100000, &count) || count == 0)) {
        fprintf(stderr, "ZSB_KILL_ROUNDS is not a number from 1 to 100000\n");
        exit(EXIT_FAILURE);
    }
    return count;
}

START_TEST(nothing_survives_a_kill_at_a_random_moment)
{
    drive_adopt_orphans();
    char *workspace = drive_make_directory();
    for (uint64_t i = 0; i < rounds(); i++)
        round_of(&targets[i % ZSB_ARRAY_SIZE(targets)], workspace);
    drive_remove_directory(workspace);
}
END_TEST

int main(void)
{
    if (!drive_host_can())
        return drive_skip();
    Suite *suite = suite_create("kill");
    TCase *tests = tcase_create("kill");
    tcase_set_timeout(tests, 60 + 6 * (double)rounds());
    tcase_add_test(tests, nothing_survives_a_kill_at_a_random_moment);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    drive_open();
    srunner_run_all(runner, CK_ENV);
    drive_close();
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
