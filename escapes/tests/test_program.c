/* SPDX-License-Identifier: MIT
 *
 * The real zuno-escapes, run bare in a disposable lab: what it says, where it says it, how long it stays, and
 * that nothing of it is left behind.
 */
#include "escapes/catalogue.h"
#include "escapes/tests/runner.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void prepare(const struct lab *lab, const char *id)
{
    const struct zsb_probe *probe = zsb_probe_find(id);
    int fd = open(lab->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(probe->prepare != NULL ? probe->prepare(fd) : 0, 0);
    (void)close(fd);
}

/* Checks that `text` consists of the lines of one whole report and returns how many results it holds. */
static size_t check_report(const char *text, const struct lab *lab, const char *id, const char *role,
                           const char *channel)
{
    char expected[256];
    int n = snprintf(expected, sizeof(expected), "ZSB1 %s hello %s %s %s\n", lab->nonce, id, role, channel);
    ck_assert_msg(strncmp(text, expected, (size_t)n) == 0, "expected %sgot %s", expected, text);
    size_t results = 0;
    text += n;
    n = snprintf(expected, sizeof(expected), "ZSB1 %s result ", lab->nonce);
    for (; strncmp(text, expected, (size_t)n) == 0; text = strchr(text, '\n') + 1)
        results++;
    (void)snprintf(expected, sizeof(expected), "ZSB1 %s done\n", lab->nonce);
    ck_assert_msg(strcmp(text, expected) == 0, "expected %sgot %s", expected, text);
    return results;
}

static void check_silent(struct program *program)
{
    char *err = program_read_until(program->stderr_fd, NULL);
    ck_assert_str_eq(err, "");
    free(err);
}

START_TEST(every_attempt_is_reported_and_takes_effect)
{
    struct lab lab;
    struct program program;
    const struct zsb_probe *probe = zsb_probe_find("fs.write-outside");
    lab_open(&lab, true);
    prepare(&lab, probe->id);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"attempt", probe->id, NULL});
    char *text = program_read_until(program.result_fd, " done");
    ck_assert_uint_eq(check_report(text, &lab, probe->id, "attempt", "fd"), probe->attempt_count);
    for (size_t i = 0; i < probe->attempt_count; i++) {
        char line[256];
        (void)snprintf(line, sizeof(line), "ZSB1 %s result %s 1 0 -\n", lab.nonce, probe->attempts[i].name);
        ck_assert_msg(probe->attempts[i].absent_errnos != NULL || strstr(text, line) != NULL, "no %sin %s",
                      line, text);
    }
    free(text);
    struct stat st;
    ck_assert_int_eq(stat(lab_path(&lab, "out/wo-create"), &st), 0);
    ck_assert_int_eq(stat(lab_path(&lab, "out/wo-dotdot"), &st), 0);
    ck_assert_int_eq(stat(lab_path(&lab, "out/wo-unlink"), &st), -1);
    (void)close(program.result_fd);
    program.result_fd = -1;
    ck_assert_int_eq(program_wait(&program, 2000), 0);
    check_silent(&program);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(what_was_captured_comes_back_in_hex)
{
    struct lab lab;
    struct program program;
    char expected[256];
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"attempt", "fs.deny-read", NULL});
    char *text = program_read_until(program.result_fd, " done");
    /* "3" is 33 in hex, and the file holds 32 of them. */
    (void)snprintf(
        expected, sizeof(expected),
        "ZSB1 %s result file 1 0 3333333333333333333333333333333333333333333333333333333333333333\n",
        lab.nonce);
    ck_assert_msg(strstr(text, expected) != NULL, "no %sin %s", expected, text);
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(a_secret_of_the_environment_is_captured)
{
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"attempt", "env.secret", NULL});
    char *text = program_read_until(program.result_fd, " done");
    size_t found = 0;
    for (const char *at = text;
         (at = strstr(at, "3535353535353535353535353535353535353535353535353535353535353535")) != NULL;
         at = strchr(at, '\n'))
        found++;
    ck_assert_uint_eq(found, zsb_probe_find("env.secret")->attempt_count);
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

static const struct {
    enum result_channel channel;
    const char *why;
} fallbacks[] = {
    {RESULT_CLOSED, "the descriptor is closed"},
    {RESULT_NOT_A_PIPE, "the descriptor is something else"},
    {RESULT_READ_END, "the descriptor cannot be written"},
    {RESULT_UNSET, "no descriptor is named"},
};

START_TEST(without_its_pipe_it_reports_on_stdout)
{
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    program_start(&program, &lab, fallbacks[_i].channel,
                  (const char *const[]){"benign", "fs.write-outside", NULL});
    char *text = program_read_until(program.stdout_fd, " done");
    ck_assert_msg(check_report(text, &lab, "fs.write-outside", "benign", "stdout") == 1, "%s",
                  fallbacks[_i].why);
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(with_its_pipe_it_says_nothing_on_stdout)
{
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"benign", "fs.write-outside", NULL});
    free(program_read_until(program.result_fd, " done"));
    (void)close(program.result_fd);
    program.result_fd = -1;
    ck_assert_int_eq(program_wait(&program, 2000), 0);
    char *text = program_read_until(program.stdout_fd, NULL);
    ck_assert_str_eq(text, "");
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(it_holds_still_until_the_reader_closes)
{
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"canary", NULL});
    char *text = program_read_until(program.result_fd, " done");
    ck_assert_uint_eq(check_report(text, &lab, "canary", "attempt", "fd"), 0);
    free(text);
    ck_assert_int_eq(program_wait(&program, 300), -1);
    (void)close(program.result_fd);
    program.result_fd = -1;
    ck_assert_int_eq(program_wait(&program, ZSB_HOLD_MS - 1000), 0);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(it_does_not_hold_for_ever)
{
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"canary", NULL});
    /* Measured from before the start: a busy machine can only make it longer. */
    ck_assert_int_eq(program_wait(&program, 4 * ZSB_HOLD_MS), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    ck_assert_int_ge((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000,
                     ZSB_HOLD_MS - 50);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(every_benign_twin_works_unconfined)
{
    const struct zsb_probe *probe = zsb_probe_at((size_t)_i);
    struct lab lab;
    struct program program;
    char expected[128], absent[128];
    lab_open(&lab, probe->fixture == ZSB_FIXTURE_REPO);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"benign", probe->id, NULL});
    char *text = program_read_until(program.result_fd, " done");
    ck_assert_uint_eq(check_report(text, &lab, probe->id, "benign", "fd"), 1);
    (void)snprintf(expected, sizeof(expected), " result benign 1 0 ");
    /* The one twin that needs a host fact. */
    (void)snprintf(absent, sizeof(absent), " result benign 1 %d ", ENOSYS);
    ck_assert_msg(strstr(text, expected) != NULL ||
                      ((probe->needs & ZSB_NEED_IA32) != 0 && strstr(text, absent) != NULL),
                  "%s: %s", probe->id, text);
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(an_attempt_without_its_object_was_not_reached)
{
    static const char *const ids[] = {"proc.vm-readv",     "proc.signal-outside", "net.udp",
                                      "net.unix-datagram", "ipc.sysv-shm",        "fd.inherited-file"};
    struct lab lab;
    struct program program;
    char unreached[128];
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"attempt", ids[_i], NULL});
    char *text = program_read_until(program.result_fd, " done");
    (void)snprintf(unreached, sizeof(unreached), " result %s 0 0 -\n",
                   zsb_probe_find(ids[_i])->attempts[0].name);
    ck_assert_msg(strstr(text, unreached) != NULL, "%s: %s", ids[_i], text);
    free(text);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

START_TEST(children_that_stay_for_inspection_end_with_the_probe)
{
    static const char *const ids[] = {"proc.ptrace-child", "priv.user-namespace"};
    struct lab lab;
    struct program program;
    lab_open(&lab, true);
    program_start(&program, &lab, RESULT_PIPE, (const char *const[]){"attempt", ids[_i], NULL});
    free(program_read_until(program.result_fd, " done"));
    size_t held = processes_of(&lab);
    ck_assert_int_eq(kill(program.pid, SIGKILL), 0);
    ck_assert_int_eq(program_wait(&program, 2000), 128 + SIGKILL);
    ck_assert_msg(wait_for_processes(&lab, 0, 2000), "%s: %zu processes held, some stay", ids[_i], held);
    program_end(&program);
    lab_close(&lab);
}
END_TEST

/* Plays the verifier's worker: adopts what the probe leaves, waits to be told, goes away. */
__attribute__((noreturn)) static void be_adopter(const struct lab *lab, const char *id, int say_fd,
                                                 int wait_fd)
{
    struct program program;
    char byte = 'r';
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    program_start(&program, lab, RESULT_PIPE, (const char *const[]){"attempt", id, NULL});
    free(program_read_until(program.result_fd, " done"));
    (void)kill(program.pid, SIGKILL);
    (void)waitpid(program.pid, NULL, 0);
    if (write(say_fd, &byte, 1) != 1 || read(wait_fd, &byte, 1) < 0)
        _exit(1);
    _exit(0);
}

START_TEST(survivors_survive_the_probe_but_not_who_adopts_them)
{
    static const char *const ids[] = {"life.outlive", "life.launcher-killed"};
    struct lab lab;
    int said[2], wait[2];
    char byte = 0;
    lab_open(&lab, true);
    ck_assert_int_eq(pipe2(said, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(wait, O_CLOEXEC), 0);
    pid_t adopter = fork();
    ck_assert_int_ge(adopter, 0);
    if (adopter == 0) {
        (void)close(wait[1]);
        be_adopter(&lab, ids[_i], said[1], wait[0]);
    }
    (void)close(said[1]);
    (void)close(wait[0]);
    ck_assert_int_eq(read(said[0], &byte, 1), 1);
    sleep_ms(100);
    ck_assert_uint_eq(processes_of(&lab), zsb_probe_find(ids[_i])->attempt_count);
    (void)close(wait[1]);
    ck_assert_int_eq(waitpid(adopter, NULL, 0), adopter);
    ck_assert_msg(wait_for_processes(&lab, 0, 3000), "%s: survivors outlive the tests", ids[_i]);
    (void)close(said[0]);
    lab_close(&lab);
}
END_TEST

#define GOOD_NONCE "nonce=00000000000000000000000000000001"
static const struct {
    const char *words[8];
    const char *why;
} wrong[] = {
    {{NULL}, "no command"},
    {{"frobnicate", NULL}, "unknown command"},
    {{"attempt", NULL}, "no probe"},
    {{"attempt", "fs.no-such-probe", NULL}, "unknown probe"},
    {{"attempt", "fs.write-outside", NULL}, "no nonce"},
    {{"attempt", "fs.write-outside", "nonce=1", "lab=/l", "plant=" TEST_PLANT, NULL}, "short nonce"},
    {{"attempt", "fs.write-outside", "nonce=0000000000000000000000000000000G", "lab=/l", NULL},
     "nonce not hex"},
    {{"attempt", "fs.write-outside", GOOD_NONCE, "plant=" TEST_PLANT, NULL}, "no lab"},
    {{"attempt", "fs.write-outside", GOOD_NONCE, "lab=l", "plant=" TEST_PLANT, NULL}, "relative lab"},
    {{"attempt", "fs.write-outside", GOOD_NONCE, "lab=/l", NULL}, "no plant"},
    {{"attempt", "fs.write-outside", GOOD_NONCE, "lab=/l", "plant=" TEST_PLANT, "mode=full", NULL},
     "unknown mode"},
    {{"benign", "fs.write-outside", GOOD_NONCE, "lab=/l", "word", NULL}, "not key=value"},
    {{"benign", "fs.write-outside", GOOD_NONCE, "lab=/l", "=value", NULL}, "empty key"},
    {{"benign", "fs.write-outside", GOOD_NONCE, "lab=/l", "Key=value", NULL}, "bad key"},
    {{"canary", NULL}, "canary without nonce"},
    {{"list", "more", NULL}, "list with words"},
};

START_TEST(wrong_words_get_one_line_and_exit_status_2)
{
    struct program program;
    program_start(&program, NULL, RESULT_PIPE, wrong[_i].words);
    char *err = program_read_until(program.stderr_fd, NULL);
    char *report = program_read_until(program.result_fd, NULL);
    char *out = program_read_until(program.stdout_fd, NULL);
    ck_assert_msg(program_wait(&program, 2000) == 2, "%s", wrong[_i].why);
    ck_assert_msg(strncmp(err, "zuno-escapes: ", 14) == 0, "%s: %s", wrong[_i].why, err);
    ck_assert_msg(strchr(err, '\n') == err + strlen(err) - 1, "%s: not one line: %s", wrong[_i].why, err);
    ck_assert_msg(*out == '\0' && *report == '\0', "%s: %s%s", wrong[_i].why, out, report);
    free(err);
    free(report);
    free(out);
    program_end(&program);
}
END_TEST

START_TEST(list_names_every_probe)
{
    struct program program;
    program_start(&program, NULL, RESULT_UNSET, (const char *const[]){"list", NULL});
    char *text = program_read_until(program.stdout_fd, NULL);
    ck_assert_int_eq(program_wait(&program, 2000), 0);
    const char *at = text;
    for (size_t i = 0; zsb_probe_at(i) != NULL; i++) {
        size_t length = strlen(zsb_probe_at(i)->id);
        ck_assert_msg(strncmp(at, zsb_probe_at(i)->id, length) == 0 && at[length] == '\n', "%s",
                      zsb_probe_at(i)->id);
        at += length + 1;
    }
    ck_assert_str_eq(at, "");
    free(text);
    program_end(&program);
}
END_TEST

static int probe_count(void)
{
    int n = 0;
    while (zsb_probe_at((size_t)n) != NULL)
        n++;
    return n;
}

int main(void)
{
    Suite *suite = suite_create("zuno-escapes");
    TCase *tcase = tcase_create("program");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, every_attempt_is_reported_and_takes_effect);
    tcase_add_test(tcase, what_was_captured_comes_back_in_hex);
    tcase_add_test(tcase, a_secret_of_the_environment_is_captured);
    tcase_add_loop_test(tcase, without_its_pipe_it_reports_on_stdout, 0,
                        sizeof(fallbacks) / sizeof(fallbacks[0]));
    tcase_add_test(tcase, with_its_pipe_it_says_nothing_on_stdout);
    tcase_add_test(tcase, it_holds_still_until_the_reader_closes);
    tcase_add_test(tcase, it_does_not_hold_for_ever);
    tcase_add_loop_test(tcase, every_benign_twin_works_unconfined, 0, probe_count());
    tcase_add_loop_test(tcase, an_attempt_without_its_object_was_not_reached, 0, 6);
    tcase_add_loop_test(tcase, children_that_stay_for_inspection_end_with_the_probe, 0, 2);
    tcase_add_loop_test(tcase, survivors_survive_the_probe_but_not_who_adopts_them, 0, 2);
    tcase_add_loop_test(tcase, wrong_words_get_one_line_and_exit_status_2, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(tcase, list_names_every_probe);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    labs_begin();
    srunner_run_all(runner, CK_ENV);
    labs_end();
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
