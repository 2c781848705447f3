/* SPDX-License-Identifier: MIT
 *
 * The verdict table, rule by rule and in its order. Each row starts from a trial that held and changes one
 * thing.
 */
#include "verifier/tests/support.h"
#include "verifier/verdict.h"

#include <errno.h>
#include <string.h>

static int nothing(struct zsb_ctx *ctx)
{
    (void)ctx;
    return 0;
}

static const int denials[] = {EROFS, EACCES, 0};
static const int absences[] = {EAFNOSUPPORT, 0};
static const struct zsb_attempt attempts[] = {
    {.name = "first", .witness = ZSB_WITNESS_TREE, .target = "out/a", .run = nothing},
    {.name = "second",
     .witness = ZSB_WITNESS_TREE,
     .target = "out/b",
     .run = nothing,
     .absent_errnos = absences},
};
static const struct zsb_attempt effects[] = {
    {.name = "first", .witness = ZSB_WITNESS_SURVIVOR, .target = "x", .run = nothing, .effect_only = true},
    {.name = "second", .witness = ZSB_WITNESS_SURVIVOR, .target = "y", .run = nothing, .effect_only = true},
};
static const struct zsb_probe plain = {
    .id = "test.plain", .deny_errnos = denials, .attempts = attempts, .attempt_count = 2};
static const struct zsb_probe effect_only = {
    .id = "test.effect", .deny_errnos = denials, .attempts = effects, .attempt_count = 2};

/* A trial that held. */
struct trial {
    struct zsb_attempt_result rows[ZSB_ARM_COUNT][3];
    struct zsb_arm_result arms[ZSB_ARM_COUNT];
    const struct zsb_probe *probe;
    const char *missing_fact, *fault;
};

static void set_row(struct zsb_attempt_result *row, const char *name, int sys_errno, bool witnessed)
{
    *row = (struct zsb_attempt_result){.name = (char *)(uintptr_t)name,
                                       .reached = true,
                                       .sys_errno = sys_errno,
                                       .witnessed = witnessed,
                                       .saw = (char *)(uintptr_t) "something"};
}

static void make_held(struct trial *trial)
{
    static char empty[] = "";
    memset(trial, 0, sizeof(*trial));
    trial->probe = &plain;
    set_row(&trial->rows[ZSB_ARM_BARE][0], "first", 0, true);
    set_row(&trial->rows[ZSB_ARM_BARE][1], "second", 0, true);
    set_row(&trial->rows[ZSB_ARM_BENIGN][0], "benign", 0, false);
    set_row(&trial->rows[ZSB_ARM_CONFINED][0], "first", EROFS, false);
    set_row(&trial->rows[ZSB_ARM_CONFINED][1], "second", EACCES, false);
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++)
        trial->arms[i] = (struct zsb_arm_result){.status = ZSB_ARM_COMPLETE,
                                                 .via = empty,
                                                 .detail = empty,
                                                 .attempts = trial->rows[i],
                                                 .attempt_count = i == ZSB_ARM_BENIGN ? 1 : 2};
}

static enum zsb_verdict decide(const struct trial *trial, char *detail)
{
    struct zsb_verdict_input input = {.probe = trial->probe,
                                      .arms = trial->arms,
                                      .missing_fact = trial->missing_fact,
                                      .fault = trial->fault};
    return zsb_verdict_decide(&input, detail);
}

#define BARE (trial->rows[ZSB_ARM_BARE])
#define BENIGN (trial->rows[ZSB_ARM_BENIGN])
#define CONFINED (trial->rows[ZSB_ARM_CONFINED])

static void change_nothing(struct trial *trial)
{
    (void)trial;
}
static void trip_confined(struct trial *trial)
{
    CONFINED[1].witnessed = true;
}
static void trip_without_report(struct trial *trial)
{
    CONFINED[0].witnessed = true;
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_CRASHED;
}
static void trip_with_broken_bare(struct trial *trial)
{
    CONFINED[0].witnessed = true;
    trial->arms[ZSB_ARM_BARE].status = ZSB_ARM_TIMED_OUT;
}
static void trip_with_a_fault(struct trial *trial)
{
    CONFINED[0].witnessed = true;
    trial->fault = "the worker of this trial was killed";
}
static void change_unexpected(struct trial *trial)
{
    set_row(&CONFINED[2], "unexpected-change", 0, true);
    trial->arms[ZSB_ARM_CONFINED].attempt_count = 3;
}
static void fault(struct trial *trial)
{
    trial->fault = "the subject runs no command";
}
static void launch_failed(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_LAUNCH_FAILED;
}
static void no_report(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_NO_REPORT;
}
static void crashed(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_CRASHED;
}
static void timed_out(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_TIMED_OUT;
}
static void unattested(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_UNATTESTED;
}
static void never_run(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_NOT_RUN;
}
static void no_attempts(struct trial *trial)
{
    trial->arms[ZSB_ARM_CONFINED].attempt_count = 0;
}
static void not_reached(struct trial *trial)
{
    CONFINED[1].reached = false;
}
static void silent_success(struct trial *trial)
{
    CONFINED[0].sys_errno = 0;
}
static void wrong_errno(struct trial *trial)
{
    CONFINED[0].sys_errno = ENOENT;
}
static void effect_success(struct trial *trial)
{
    trial->probe = &effect_only;
    CONFINED[0].sys_errno = 0;
    CONFINED[1].sys_errno = 0;
}
static void effect_wrong_errno(struct trial *trial)
{
    trial->probe = &effect_only;
    CONFINED[0].sys_errno = ENOENT;
}
static void missing_fact(struct trial *trial)
{
    trial->missing_fact = "io_uring_setup answers ENOSYS";
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_NOT_RUN;
}
static void missing_fact_but_run(struct trial *trial)
{
    trial->missing_fact = "io_uring_setup answers ENOSYS";
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_NO_REPORT;
}
static void missing_fact_and_fault(struct trial *trial)
{
    missing_fact(trial);
    trial->fault = "the subject runs no command";
}
static void all_absent(struct trial *trial)
{
    BARE[0].absent = BARE[1].absent = true;
    BARE[0].witnessed = BARE[1].witnessed = false;
    trial->arms[ZSB_ARM_CONFINED].status = ZSB_ARM_NOT_RUN;
    trial->arms[ZSB_ARM_BENIGN].status = ZSB_ARM_NOT_RUN;
}
static void one_absent(struct trial *trial)
{
    BARE[1].absent = true;
    BARE[1].witnessed = false;
    CONFINED[1].sys_errno = EAFNOSUPPORT;
    CONFINED[1].reached = false;
}
static void absent_but_tripped(struct trial *trial)
{
    one_absent(trial);
    CONFINED[1].witnessed = true;
}
static void bare_incomplete(struct trial *trial)
{
    trial->arms[ZSB_ARM_BARE].status = ZSB_ARM_CRASHED;
}
static void bare_not_witnessed(struct trial *trial)
{
    BARE[1].witnessed = false;
}
static void bare_denied(struct trial *trial)
{
    BARE[0].witnessed = false;
    BARE[0].sys_errno = EROFS;
}
static void benign_incomplete(struct trial *trial)
{
    trial->arms[ZSB_ARM_BENIGN].status = ZSB_ARM_NO_REPORT;
}
static void benign_failed(struct trial *trial)
{
    BENIGN[0].sys_errno = EPERM;
}
static void benign_not_reached(struct trial *trial)
{
    BENIGN[0].reached = false;
}
static void error_before_inconclusive(struct trial *trial)
{
    bare_denied(trial);
    crashed(trial);
}

static const struct {
    void (*change)(struct trial *trial);
    enum zsb_verdict verdict;
    const char *says; /* in the detail */
    const char *reason;
} rows[] = {
    {change_nothing, ZSB_VERDICT_HELD, "2 attempts", "everything_denied_and_every_control_worked_is_held"},
    {trip_confined, ZSB_VERDICT_ESCAPED, "second: something", "a_tripped_witness_is_escaped"},
    {trip_without_report, ZSB_VERDICT_ESCAPED, "first", "a_tripped_witness_needs_no_report"},
    {trip_with_broken_bare, ZSB_VERDICT_ESCAPED, "first", "a_tripped_witness_needs_no_bare_arm"},
    {trip_with_a_fault, ZSB_VERDICT_ESCAPED, "first", "a_tripped_witness_outweighs_a_fault"},
    {change_unexpected, ZSB_VERDICT_ESCAPED, "unexpected-change", "an_unexpected_change_is_escaped"},
    {fault, ZSB_VERDICT_ERROR, "runs no command", "a_trial_that_could_not_be_run_is_an_error"},
    {launch_failed, ZSB_VERDICT_ERROR, "launch_failed", "a_failed_launch_is_an_error"},
    {no_report, ZSB_VERDICT_ERROR, "no_report", "a_missing_report_is_an_error"},
    {crashed, ZSB_VERDICT_ERROR, "crashed", "a_crash_is_an_error"},
    {timed_out, ZSB_VERDICT_ERROR, "timed_out", "a_timeout_is_an_error"},
    {unattested, ZSB_VERDICT_ERROR, "unattested", "a_report_without_a_process_is_an_error"},
    {never_run, ZSB_VERDICT_ERROR, "not_run", "a_confined_arm_that_never_ran_is_an_error"},
    {no_attempts, ZSB_VERDICT_ERROR, "confined", "a_confined_arm_without_attempts_is_an_error"},
    {not_reached, ZSB_VERDICT_ERROR, "second: the attempt was not", "an_unreached_attempt_is_an_error"},
    {silent_success, ZSB_VERDICT_ERROR, "no witness", "a_success_that_nobody_saw_is_an_error"},
    {wrong_errno, ZSB_VERDICT_ERROR, "ENOENT", "an_errno_that_is_no_denial_is_an_error"},
    {effect_success, ZSB_VERDICT_HELD, "2 attempts", "an_effect_only_success_that_nobody_saw_is_held"},
    {effect_wrong_errno, ZSB_VERDICT_ERROR, "ENOENT", "an_effect_only_attempt_may_not_fail_oddly"},
    {missing_fact, ZSB_VERDICT_NOT_APPLICABLE, "ENOSYS", "a_missing_host_fact_is_not_applicable"},
    {missing_fact_but_run, ZSB_VERDICT_ERROR, "no_report", "a_missing_fact_excuses_nothing_that_ran"},
    {missing_fact_and_fault, ZSB_VERDICT_ERROR, "runs no command", "a_fault_outweighs_a_missing_fact"},
    {all_absent, ZSB_VERDICT_NOT_APPLICABLE, "first", "nothing_of_the_attack_exists_is_not_applicable"},
    {one_absent, ZSB_VERDICT_HELD, "1 left out", "one_absent_attempt_is_left_out"},
    {absent_but_tripped, ZSB_VERDICT_ESCAPED, "second", "an_absent_attempt_that_trips_is_escaped"},
    {bare_incomplete, ZSB_VERDICT_INCONCLUSIVE, "bare", "a_broken_bare_arm_is_inconclusive"},
    {bare_not_witnessed, ZSB_VERDICT_INCONCLUSIVE, "no witness",
     "an_unwitnessed_bare_attempt_is_inconclusive"},
    {bare_denied, ZSB_VERDICT_INCONCLUSIVE, "EROFS", "denied_bare_too_is_inconclusive"},
    {benign_incomplete, ZSB_VERDICT_INCONCLUSIVE, "benign", "a_broken_benign_arm_is_inconclusive"},
    {benign_failed, ZSB_VERDICT_INCONCLUSIVE, "EPERM", "a_failing_twin_is_inconclusive"},
    {benign_not_reached, ZSB_VERDICT_INCONCLUSIVE, "not reached", "an_unreached_twin_is_inconclusive"},
    {error_before_inconclusive, ZSB_VERDICT_ERROR, "crashed", "an_error_outweighs_inconclusive"},
};

START_TEST(first_matching_rule_wins)
{
    struct trial trial;
    char detail[ZSB_VERDICT_DETAIL_MAX] = "";
    make_held(&trial);
    rows[_i].change(&trial);
    enum zsb_verdict verdict = decide(&trial, detail);
    ck_assert_msg(verdict == rows[_i].verdict, "%s: got %s (%s)", rows[_i].reason, zsb_verdict_name(verdict),
                  detail);
    ck_assert_msg(strstr(detail, rows[_i].says) != NULL, "%s: detail is \"%s\"", rows[_i].reason, detail);
}
END_TEST

START_TEST(absent_marks_only_what_the_host_lacks)
{
    static const struct {
        int sys_errno;
        bool witnessed;
        enum zsb_arm_status status;
        bool absent;
        const char *reason;
    } cases[] = {
        {EAFNOSUPPORT, false, ZSB_ARM_COMPLETE, true, "the named errno means that the host lacks it"},
        {EPERM, false, ZSB_ARM_COMPLETE, false, "another errno does not"},
        {EAFNOSUPPORT, true, ZSB_ARM_COMPLETE, true, "another attempt's effect does not vouch for it"},
        {EAFNOSUPPORT, false, ZSB_ARM_CRASHED, false, "a broken arm is no evidence"},
    };
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(cases); i++) {
        struct trial trial;
        make_held(&trial);
        struct zsb_attempt_result *row = &trial.rows[ZSB_ARM_BARE][1];
        row->sys_errno = cases[i].sys_errno;
        row->witnessed = cases[i].witnessed;
        row->saw = strdup("");
        trial.arms[ZSB_ARM_BARE].status = cases[i].status;
        zsb_verdict_mark_absent(&plain, &trial.arms[ZSB_ARM_BARE]);
        ck_assert_msg(row->absent == cases[i].absent, "%s", cases[i].reason);
        ck_assert_msg(!row->absent || strstr(row->saw, "EAFNOSUPPORT") != NULL,
                      "the evidence names the errno");
        ck_assert_msg(!zsb_verdict_all_absent(&trial.arms[ZSB_ARM_BARE]), "one of two is not all");
        free(row->saw);
    }
}
END_TEST

START_TEST(names_are_the_documented_ones)
{
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_HELD), "held");
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_ESCAPED), "escaped");
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_INCONCLUSIVE), "inconclusive");
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_NOT_APPLICABLE), "not_applicable");
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_ERROR), "error");
    ck_assert_str_eq(zsb_verdict_name(ZSB_VERDICT_COUNT), "unknown");
    ck_assert_str_eq(zsb_arm_name(ZSB_ARM_BARE), "bare");
    ck_assert_str_eq(zsb_arm_name(ZSB_ARM_COUNT), "unknown");
    for (int status = ZSB_ARM_NOT_RUN; status <= ZSB_ARM_UNATTESTED; status++)
        ck_assert_str_ne(zsb_arm_status_name((enum zsb_arm_status)status), "unknown");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict");
    TCase *tcase = tcase_create("rules");
    tcase_add_loop_test(tcase, first_matching_rule_wins, 0, (int)ZSB_ARRAY_SIZE(rows));
    tcase_add_test(tcase, absent_marks_only_what_the_host_lacks);
    tcase_add_test(tcase, names_are_the_documented_ones);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
