/* SPDX-License-Identifier: MIT
 *
 * The decision as a table: one thing wrong at a time, and each refuses.
 */
#include "gate/criteria.h"

#include <check.h>
#include <string.h>

#define TEXT(literal) ((char *)(literal))

#define PROBE(name)                                                                                          \
    {                                                                                                        \
        .id = (name), .claim = "holds", .boundary = "test", .modes = ZSB_IN_BOTH,                            \
        .networks = ZSB_NET_DENIED, .required = true                                                         \
    }
static const struct zsb_probe probe_rows[] = {
    PROBE("fs.write-workspace"),  PROBE("fs.write-outside"), PROBE("fs.symlink-planted"),
    PROBE("proc.ptrace-outside"), PROBE("net.tcp"),          PROBE("tty.inject"),
};
enum { PROBES = ZSB_ARRAY_SIZE(probe_rows) };
enum probe_index { WRITE_WORKSPACE, WRITE_OUTSIDE, SYMLINK, PTRACE, TCP, TTY };

/* A world in which everything holds; each test damages it in one place. */
struct world {
    const struct zsb_probe *probes[PROBES];
    struct zsb_trial_result trials[2 * PROBES]; /* read-only first, then workspace-write */
    struct zsb_campaign campaign;
    struct zsb_error error;
    struct zsb_gate_input input;
};

static void world_init(struct world *w)
{
    *w = (struct world){0};
    for (size_t i = 0; i < 2 * PROBES; i++) {
        w->trials[i] =
            (struct zsb_trial_result){.probe = &probe_rows[i % PROBES],
                                      .mode = i < PROBES ? ZSB_MODE_READ_ONLY : ZSB_MODE_WORKSPACE_WRITE,
                                      .verdict = ZSB_VERDICT_HELD,
                                      .required = true,
                                      .detail = TEXT("")};
        w->probes[i % PROBES] = &probe_rows[i % PROBES];
    }
    w->campaign = (struct zsb_campaign){.subject_name = TEXT("bubblewrap"),
                                        .capabilities = {.read_only = 1, .network_isolation = 1},
                                        .trials = w->trials,
                                        .trial_count = ZSB_ARRAY_SIZE(w->trials)};
    w->input = (struct zsb_gate_input){.campaign = &w->campaign,
                                       .read_only_compiled = 1,
                                       .read_only_evidence = "9 steps",
                                       .preview = true,
                                       .probes = w->probes,
                                       .probe_count = PROBES};
}

static void drop_trial(struct world *w, size_t index)
{
    memmove(&w->trials[index], &w->trials[index + 1],
            (w->campaign.trial_count - index - 1) * sizeof(w->trials[0]));
    w->campaign.trial_count--;
}

static void unavailable(struct world *w)
{
    w->input.campaign = NULL;
    w->error = (struct zsb_error){.code = ZSB_E_BUBBLEWRAP_NOT_FOUND, .msg = "no launcher"};
    w->input.backend_error = &w->error;
}

static void not_compiled(struct world *w)
{
    w->input.read_only_compiled = 0;
    w->input.read_only_evidence = "the plan dropped denyPaths[0]";
}

static void not_compiled_silently(struct world *w)
{
    w->input.read_only_compiled = 0;
    w->input.read_only_evidence = NULL;
}

static void no_preview(struct world *w)
{
    w->input.preview = false;
}

static void foreign_launcher(struct world *w)
{
    w->campaign.subject_kind = ZSB_SUBJECT_LAUNCHER;
}

static void no_read_only_claim(struct world *w)
{
    w->campaign.capabilities.read_only = 0;
}

static void no_network_claim(struct world *w)
{
    w->campaign.capabilities.network_isolation = 0;
}

static void write_escaped(struct world *w)
{
    w->trials[WRITE_OUTSIDE].verdict = ZSB_VERDICT_ESCAPED;
}

static void escaped_in_workspace_write_only(struct world *w)
{
    w->trials[PROBES + SYMLINK].verdict = ZSB_VERDICT_ESCAPED;
}

static void optional_probe_escaped(struct world *w)
{
    w->trials[PROBES + TTY].verdict = ZSB_VERDICT_ESCAPED;
    w->trials[PROBES + TTY].required = false;
}

static void inconclusive(struct world *w)
{
    w->trials[TCP].verdict = ZSB_VERDICT_INCONCLUSIVE;
}

static void error(struct world *w)
{
    w->trials[PTRACE].verdict = ZSB_VERDICT_ERROR;
}

static void no_evidence(struct world *w)
{
    w->trials[TTY].verdict = ZSB_VERDICT_NOT_APPLICABLE;
}

static void impossible_verdict(struct world *w)
{
    w->trials[TTY].verdict = ZSB_VERDICT_COUNT;
}

static void set_all(struct world *w, bool filesystem)
{
    for (size_t i = 0; i < w->campaign.trial_count; i++) {
        if ((strncmp(w->trials[i].probe->id, "fs.", 3) == 0) == filesystem) {
            w->trials[i].verdict = ZSB_VERDICT_NOT_APPLICABLE;
            w->trials[i].detail = TEXT("no such kernel feature");
        }
    }
}

static void all_writes_not_applicable(struct world *w)
{
    set_all(w, true);
}

static void all_restrictions_not_applicable(struct world *w)
{
    set_all(w, false);
}

static void read_only_trial_missing(struct world *w)
{
    drop_trial(w, TTY);
}

static void read_only_trial_allowed_network(struct world *w)
{
    w->trials[TTY].network = ZSB_NETWORK_ALLOWED;
}

static void no_trial_at_all(struct world *w)
{
    w->campaign.trial_count = 0;
}

static void only_workspace_write(struct world *w)
{
    for (size_t i = 0; i < PROBES; i++)
        drop_trial(w, 0);
}

static void empty_catalogue(struct world *w)
{
    w->input.probe_count = 0;
}

static void nothing_required(struct world *w)
{
    for (size_t i = 0; i < w->campaign.trial_count; i++)
        w->trials[i].required = false;
}

/* The catalogue lacks them too, so only the roadmap's own words can miss them. */
static void no_symlink_probe(struct world *w)
{
    drop_trial(w, PROBES + SYMLINK);
    drop_trial(w, SYMLINK);
    w->probes[SYMLINK] = w->probes[WRITE_OUTSIDE];
}

static void no_network_probe(struct world *w)
{
    drop_trial(w, PROBES + TCP);
    drop_trial(w, TCP);
    w->probes[TCP] = w->probes[PTRACE];
}

static const struct {
    const char *name;
    void (*damage)(struct world *w);
    const char *criterion; /* the one that fails */
    const char *reason;    /* and what every profile says */
} refusals[] = {
    {"unavailable_backend", unavailable, "backend_probe", "bubblewrap_not_found: no launcher"},
    {"not_compiled", not_compiled, "read_only_policy_compiled", "the plan dropped denyPaths[0]"},
    {"not_compiled_silently", not_compiled_silently, "read_only_policy_compiled", "no read-only policy"},
    {"foreign_launcher", foreign_launcher, "backend_probe", "not a backend"},
    {"no_read_only_claim", no_read_only_claim, "backend_probe", "read-only confinement"},
    {"no_network_claim", no_network_claim, "backend_probe", "network isolation"},
    {"write_escaped", write_escaped, "writes_denied",
     "fs.write-outside escaped in read-only, network denied"},
    {"escaped_in_workspace_write_only", escaped_in_workspace_write_only, "writes_denied",
     "fs.symlink-planted escaped in workspace-write, network denied"},
    {"optional_probe_escaped", optional_probe_escaped, "process_and_network_restrictions",
     "tty.inject escaped in workspace-write, network denied"},
    {"inconclusive", inconclusive, "process_and_network_restrictions", "net.tcp inconclusive in read-only"},
    {"error", error, "process_and_network_restrictions", "proc.ptrace-outside error in read-only"},
    {"not_applicable_needs_evidence", no_evidence, "process_and_network_restrictions",
     "tty.inject not applicable without evidence"},
    {"impossible_verdict", impossible_verdict, "process_and_network_restrictions",
     "tty.inject unknown verdict"},
    {"all_writes_not_applicable", all_writes_not_applicable, "writes_denied",
     "every required trial was not applicable"},
    {"all_restrictions_not_applicable", all_restrictions_not_applicable, "process_and_network_restrictions",
     "every required trial was not applicable"},
    {"read_only_trial_missing", read_only_trial_missing, "process_and_network_restrictions",
     "tty.inject was not tried in read-only, network denied"},
    {"read_only_trial_with_network", read_only_trial_allowed_network, "process_and_network_restrictions",
     "tty.inject was not tried in read-only, network denied"},
    {"no_trial_at_all", no_trial_at_all, "writes_denied", "no required trial"},
    {"only_workspace_write", only_workspace_write, "writes_denied",
     "fs.write-workspace was not tried in read-only, network denied"},
    {"empty_catalogue", empty_catalogue, "writes_denied", "the catalogue of probes is empty"},
    {"nothing_required", nothing_required, "writes_denied", "no required trial"},
    {"no_symlink_probe", no_symlink_probe, "writes_denied", "no required fs.symlink-* trial held"},
    {"no_network_probe", no_network_probe, "process_and_network_restrictions",
     "no required net.* trial held"},
};

static bool says(const struct zsb_profile_result *profile, const char *criterion, const char *reason)
{
    for (size_t i = 0; i < profile->reason_count; i++) {
        const char *text = profile->reasons[i];
        if (strncmp(text, criterion, strlen(criterion)) == 0 && strstr(text, reason))
            return true;
    }
    return false;
}

static const struct zsb_criterion_result *criterion_of(const struct zsb_gate_result *result, const char *id)
{
    for (size_t i = 0; i < result->criterion_count; i++) {
        if (strcmp(result->criteria[i].id, id) == 0)
            return &result->criteria[i];
    }
    ck_abort_msg("no criterion %s", id);
    return NULL;
}

START_TEST(one_thing_wrong_refuses_every_profile_and_says_why)
{
    struct world w;
    world_init(&w);
    refusals[_i].damage(&w);
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert_msg(!result.grant, "%s", refusals[_i].name);
    ck_assert_int_eq(criterion_of(&result, refusals[_i].criterion)->status, ZSB_CRITERION_FAILED);
    ck_assert_uint_eq(result.profile_count, 5);
    for (size_t i = 0; i < result.profile_count; i++) {
        ck_assert(!result.profiles[i].grant);
        ck_assert_msg(says(&result.profiles[i], refusals[_i].criterion, refusals[_i].reason), "%s: %s",
                      refusals[_i].name, result.profiles[i].reasons[0]);
    }
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(everything_held_grants_with_preview)
{
    struct world w;
    world_init(&w);
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert(result.grant);
    ck_assert(result.preview);
    ck_assert_str_eq(criterion_of(&result, "writes_denied")->evidence, "6 of 6 required trials held");
    for (size_t i = 0; i < result.profile_count; i++) {
        ck_assert(result.profiles[i].grant);
        ck_assert_int_eq(result.profiles[i].mode, ZSB_MODE_READ_ONLY);
        ck_assert_int_eq(result.profiles[i].network, ZSB_NETWORK_DENIED);
        ck_assert_str_eq(result.profiles[i].reasons[0], "4 of 7 criteria passed, none failed");
        ck_assert_ptr_null(result.profiles[i].reasons[result.profiles[i].reason_count]);
    }
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(unevaluated_criteria_block_without_preview_and_are_listed_either_way)
{
    struct world w;
    world_init(&w);
    if (_i)
        no_preview(&w);
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert_int_eq(result.grant, _i == 0);
    static const char *const unevaluated[] = {"lifecycle", "unavailable_backends", "verifier_mutation_score"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(unevaluated); i++) {
        ck_assert_int_eq(criterion_of(&result, unevaluated[i])->status, ZSB_CRITERION_NOT_EVALUATED);
        ck_assert_int_eq(says(&result.profiles[0], unevaluated[i], "not evaluated"), _i != 0);
    }
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(one_not_applicable_with_evidence_is_neutral)
{
    struct world w;
    world_init(&w);
    w.trials[TTY].verdict = ZSB_VERDICT_NOT_APPLICABLE;
    w.trials[TTY].detail = TEXT("dev.tty.legacy_tiocsti is 0");
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert(result.grant);
    ck_assert_str_eq(criterion_of(&result, "process_and_network_restrictions")->evidence,
                     "5 of 6 required trials held, 1 not applicable");
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(optional_probe_that_cannot_tell_does_not_block)
{
    struct world w;
    world_init(&w);
    w.trials[PROBES + TTY].required = false;
    w.trials[PROBES + TTY].verdict = _i ? ZSB_VERDICT_ERROR : ZSB_VERDICT_INCONCLUSIVE;
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert(result.grant);
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(librarian_alone_keeps_its_note_about_web_tools)
{
    struct world w;
    world_init(&w);
    if (_i)
        write_escaped(&w);
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    for (size_t i = 0; i < result.profile_count; i++) {
        const bool librarian = strcmp(result.profiles[i].profile, "librarian") == 0;
        ck_assert_int_eq(says(&result.profiles[i], "librarian", "web_search"), librarian);
    }
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(unavailable_backend_keeps_its_typed_error)
{
    struct world w;
    world_init(&w);
    unavailable(&w);
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    ck_assert_ptr_null(result.campaign);
    ck_assert_int_eq(result.backend_error.code, ZSB_E_BUBBLEWRAP_NOT_FOUND);
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(neither_campaign_nor_error_is_an_invalid_argument)
{
    struct world w;
    world_init(&w);
    w.input.campaign = NULL;
    struct zsb_gate_result result;
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, &err), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(err.code, ZSB_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(evidence_names_three_problems_and_counts_the_rest)
{
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < w.campaign.trial_count; i++)
        w.trials[i].verdict = ZSB_VERDICT_ESCAPED;
    struct zsb_gate_result result;
    ck_assert_int_eq(zsb_gate_decide(&w.input, &result, NULL), 0);
    const char *evidence = criterion_of(&result, "writes_denied")->evidence;
    /* 3 probes escaped, and none of the three kinds of write held */
    ck_assert_msg(strstr(evidence, "; and 3 more") != NULL, "%s", evidence);
    ck_assert(
        says(&result.profiles[0], "writes_denied",
             "fs.symlink-planted escaped in read-only, network denied; in workspace-write, network denied"));
    zsb_gate_clear(&result);
}
END_TEST

START_TEST(tables_are_unique_and_complete)
{
    const struct zsb_criterion *criterion;
    for (size_t i = 0; (criterion = zsb_criterion_at(i)); i++) {
        ck_assert_msg(*criterion->title, "%s", criterion->id);
        ck_assert_msg((criterion->judge != NULL) != (criterion->not_evaluated != NULL), "%s", criterion->id);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(criterion->id, zsb_criterion_at(j)->id);
    }
    const struct zsb_profile *profile;
    for (size_t i = 0; (profile = zsb_profile_at(i)); i++) {
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(profile->name, zsb_profile_at(j)->name);
    }
    ck_assert_str_eq(zsb_criterion_status_name(ZSB_CRITERION_PASSED), "passed");
    ck_assert_str_eq(zsb_criterion_status_name(ZSB_CRITERION_FAILED), "failed");
    ck_assert_str_eq(zsb_criterion_status_name(ZSB_CRITERION_NOT_EVALUATED), "not_evaluated");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gate");
    TCase *tests = tcase_create("decide");
    tcase_set_timeout(tests, 20);
    tcase_add_loop_test(tests, one_thing_wrong_refuses_every_profile_and_says_why, 0,
                        (int)ZSB_ARRAY_SIZE(refusals));
    tcase_add_test(tests, everything_held_grants_with_preview);
    tcase_add_loop_test(tests, unevaluated_criteria_block_without_preview_and_are_listed_either_way, 0, 2);
    tcase_add_test(tests, one_not_applicable_with_evidence_is_neutral);
    tcase_add_loop_test(tests, optional_probe_that_cannot_tell_does_not_block, 0, 2);
    tcase_add_loop_test(tests, librarian_alone_keeps_its_note_about_web_tools, 0, 2);
    tcase_add_test(tests, unavailable_backend_keeps_its_typed_error);
    tcase_add_test(tests, neither_campaign_nor_error_is_an_invalid_argument);
    tcase_add_test(tests, evidence_names_three_problems_and_counts_the_rest);
    tcase_add_test(tests, tables_are_unique_and_complete);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
