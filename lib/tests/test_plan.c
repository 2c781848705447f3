/* SPDX-License-Identifier: MIT */
#include "lib/plan/plan_internal.h"
#include "lib/tests/generate.h"
#include "lib/tests/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct zsb_policy *policy;
static struct zsb_plan *plan;

static void forget(void)
{
    policy = NULL;
    plan = NULL;
}

static void clear(void)
{
    zsb_plan_free(plan);
    zsb_policy_free(policy);
    forget();
}

static struct zsb_policy_options options_of(enum zsb_mode mode)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.mode = mode;
    options.workspace = zsb_test_dir();
    return options;
}

static void make(const struct zsb_policy_options *options)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_policy_new(options, &policy, &err) == 0, "%s", err.msg);
    ck_assert_msg(zsb_plan_new(policy, &plan, &err) == 0, "%s", err.msg);
}

/* How many steps have this kind and path; the last one found in *out_step. */
static size_t count_steps(enum zsb_step_kind kind, const char *path, const struct zsb_step **out_step)
{
    size_t count = 0;
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        if (step->kind != kind || (path != NULL && strcmp(step->path, path) != 0))
            continue;
        count++;
        if (out_step != NULL)
            *out_step = step;
    }
    return count;
}

static const struct zsb_step *only(enum zsb_step_kind kind, const char *path)
{
    const struct zsb_step *step = NULL;
    size_t count = count_steps(kind, path, &step);
    ck_assert_msg(count == 1, "%s %s: %zu steps", zsb_step_kind_name(kind), path != NULL ? path : "", count);
    return step;
}

START_TEST(kind_has_its_own_name)
{
    const char *name = zsb_step_kind_name((enum zsb_step_kind)_i);
    ck_assert_msg(name != NULL && name[0] >= 'A' && name[0] <= 'Z', "kind %d", _i);
    ck_assert_str_ne(name, "UNKNOWN");
    for (int other = 0; other < _i; other++)
        ck_assert_str_ne(name, zsb_step_kind_name((enum zsb_step_kind)other));
}
END_TEST

START_TEST(kind_outside_the_enumeration_is_unknown)
{
    ck_assert_str_eq(zsb_step_kind_name(ZSB_STEP_KIND_COUNT), "UNKNOWN");
    ck_assert_str_eq(zsb_step_kind_name((enum zsb_step_kind)(-1)), "UNKNOWN");
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct zsb_policy_options options = options_of(ZSB_MODE_READ_ONLY);
    make(&options);
    struct zsb_plan *other = NULL;
    ck_assert_int_eq(zsb_plan_new(NULL, &other, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_int_eq(zsb_plan_new(policy, NULL, NULL), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_ptr_null(zsb_plan_step(plan, zsb_plan_count(plan)));
    ck_assert_ptr_null(zsb_plan_step_full(plan, SIZE_MAX));
    zsb_plan_free(NULL);
}
END_TEST

/* The order in which the kinds must come. A mount hides what came before it at or below its point, so the
 * base comes first and denials last; the filter comes after everything that it would forbid. */
static const enum zsb_step_kind order[] = {
    ZSB_STEP_NEW_NAMESPACE,
    ZSB_STEP_ROOT_READ_ONLY,
    ZSB_STEP_MINIMAL_DEV,
    ZSB_STEP_PRIVATE_SHM,
    ZSB_STEP_FRESH_PROC,
    ZSB_STEP_PROC_KNOBS_READ_ONLY,
    ZSB_STEP_PRIVATE_TMP,
    ZSB_STEP_VISIBLE,
    ZSB_STEP_WRITABLE_ROOT,
    ZSB_STEP_PIN_ANCESTOR,
    ZSB_STEP_PROTECT,
    ZSB_STEP_PROTECT_MISSING,
    ZSB_STEP_DENY,
    ZSB_STEP_DENY_MISSING,
    ZSB_STEP_SESSION,
    ZSB_STEP_CLOSE_DESCRIPTORS,
    ZSB_STEP_DROP_CAPABILITIES,
    ZSB_STEP_NO_NEW_PRIVS,
    ZSB_STEP_SYSCALL_FILTER,
    ZSB_STEP_ENVIRONMENT,
    ZSB_STEP_CWD,
};

static size_t rank_of(enum zsb_step_kind kind)
{
    size_t rank = 0;
    while (rank < ZSB_ARRAY_SIZE(order) && order[rank] != kind)
        rank++;
    ck_assert_msg(rank < ZSB_ARRAY_SIZE(order), "%s has no place in the order", zsb_step_kind_name(kind));
    return rank;
}

static void assert_in_order(void)
{
    size_t before = 0;
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        size_t rank = rank_of(step->kind);
        ck_assert_msg(rank >= before, "step %zu %s comes too late", i, zsb_step_kind_name(step->kind));
        ck_assert_msg(step->origin != NULL && step->origin[0] != '\0', "step %zu %s has no origin", i,
                      zsb_step_kind_name(step->kind));
        ck_assert_ptr_nonnull(step->path);
        ck_assert_ptr_nonnull(step->detail);
        before = rank;
    }
}

START_TEST(order_names_every_kind_once)
{
    ck_assert_uint_eq(ZSB_ARRAY_SIZE(order), ZSB_STEP_KIND_COUNT);
    for (int kind = 0; kind < ZSB_STEP_KIND_COUNT; kind++)
        (void)rank_of((enum zsb_step_kind)kind);
}
END_TEST

/* Restrictions that every confined plan has, whatever the policy. */
static const struct {
    enum zsb_step_kind kind;
    const char *path;
    const char *detail;
} always[] = {
    {ZSB_STEP_NEW_NAMESPACE, "", "user"},
    {ZSB_STEP_NEW_NAMESPACE, "", "pid"},
    {ZSB_STEP_NEW_NAMESPACE, "", "ipc"},
    {ZSB_STEP_NEW_NAMESPACE, "", "uts"},
    {ZSB_STEP_NEW_NAMESPACE, "", "cgroup"},
    {ZSB_STEP_NEW_NAMESPACE, "", "mount"},
    {ZSB_STEP_ROOT_READ_ONLY, "/", ""},
    {ZSB_STEP_MINIMAL_DEV, "/dev", ""},
    {ZSB_STEP_PRIVATE_SHM, "/dev/shm", ""},
    {ZSB_STEP_FRESH_PROC, "/proc", ""},
    {ZSB_STEP_PRIVATE_TMP, "/tmp", ""},
    {ZSB_STEP_PROC_KNOBS_READ_ONLY, "/proc", ""},
    {ZSB_STEP_SESSION, "", ""},
    {ZSB_STEP_CLOSE_DESCRIPTORS, "", ""},
    {ZSB_STEP_DROP_CAPABILITIES, "", ""},
    {ZSB_STEP_NO_NEW_PRIVS, "", ""},
    {ZSB_STEP_ENVIRONMENT, "", ""},
};

START_TEST(confined_plan_has_every_restriction)
{
    struct zsb_policy_options options =
        options_of(_i % 2 == 0 ? ZSB_MODE_READ_ONLY : ZSB_MODE_WORKSPACE_WRITE);
    options.network = _i / 2 == 0 ? ZSB_NETWORK_DENIED : ZSB_NETWORK_ALLOWED;
    make(&options);
    for (size_t k = 0; k < ZSB_ARRAY_SIZE(always); k++) {
        bool found = false;
        for (size_t i = 0; i < zsb_plan_count(plan); i++) {
            const struct zsb_step *step = zsb_plan_step(plan, i);
            found = found || (step->kind == always[k].kind && strcmp(step->path, always[k].path) == 0 &&
                              strcmp(step->detail, always[k].detail) == 0);
        }
        ck_assert_msg(found, "%s %s %s", zsb_step_kind_name(always[k].kind), always[k].path,
                      always[k].detail);
    }
    ck_assert_str_eq(zsb_plan_step(plan, 0)->detail, "user");
    assert_in_order();
}
END_TEST

START_TEST(network_decides_namespace_and_filter)
{
    struct zsb_policy_options options = options_of(ZSB_MODE_READ_ONLY);
    options.network = _i == 0 ? ZSB_NETWORK_DENIED : ZSB_NETWORK_ALLOWED;
    make(&options);
    size_t nets = 0;
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        if (step->kind == ZSB_STEP_NEW_NAMESPACE && strcmp(step->detail, "net") == 0) {
            nets++;
            ck_assert_str_eq(step->origin, "network");
        }
    }
    ck_assert_uint_eq(nets, _i == 0 ? 1 : 0);
    ck_assert_str_eq(only(ZSB_STEP_SYSCALL_FILTER, NULL)->detail, _i == 0 ? "deny" : "allow");
}
END_TEST

START_TEST(full_access_promises_nothing)
{
    struct zsb_policy_options options = options_of(ZSB_MODE_DANGER_FULL_ACCESS);
    options.network = ZSB_NETWORK_ALLOWED;
    make(&options);
    ck_assert_uint_eq(zsb_plan_count(plan), 2);
    ck_assert_int_eq(zsb_plan_step(plan, 0)->kind, ZSB_STEP_ENVIRONMENT);
    ck_assert_int_eq(zsb_plan_step(plan, 1)->kind, ZSB_STEP_CWD);
    ck_assert_str_eq(zsb_plan_step(plan, 1)->path, zsb_test_dir());
}
END_TEST

START_TEST(entry_says_which_step_carries_it)
{
    const char *const protects[] = {"inside", zsb_test_at("outside/kept"), "/tmp", "secret/none", "secrets"};
    const char *const denies[] = {"secret", zsb_test_at("outside/secret"), "secret/below"};
    zsb_test_mkdir(zsb_test_at("ws"));
    zsb_test_mkdir(zsb_test_at("ws/inside"));
    zsb_test_mkdir(zsb_test_at("ws/secret"));
    zsb_test_mkdir(zsb_test_at("ws/secret/below"));
    zsb_test_mkdir(zsb_test_at("ws/secrets"));
    zsb_test_mkdir(zsb_test_at("outside"));
    zsb_test_mkdir(zsb_test_at("outside/kept"));
    zsb_test_mkdir(zsb_test_at("outside/secret"));
    struct zsb_policy_options options = options_of(ZSB_MODE_WORKSPACE_WRITE);
    options.workspace = zsb_test_at("ws");
    options.protected_paths = protects;
    options.deny_paths = denies;
    options.protected_path_count = ZSB_ARRAY_SIZE(protects);
    options.deny_path_count = ZSB_ARRAY_SIZE(denies);
    make(&options);
    ck_assert_str_eq(only(ZSB_STEP_PROTECT, zsb_test_at("ws/inside"))->detail, "");
    ck_assert_str_eq(only(ZSB_STEP_PROTECT, zsb_test_at("outside/kept"))->detail,
                     ZSB_CARRIED_BY_READ_ONLY_ROOT);
    ck_assert_str_eq(only(ZSB_STEP_PROTECT, "/tmp")->detail, ZSB_CARRIED_BY_PRIVATE_TMP);
    ck_assert_str_eq(only(ZSB_STEP_DENY, zsb_test_at("ws/secret"))->detail, "");
    /* A read-only root does not hide. */
    ck_assert_str_eq(only(ZSB_STEP_DENY, zsb_test_at("outside/secret"))->detail, "");
    /* What lies in a denied directory cannot be reached, missing or not; a longer name does not lie in it. */
    ck_assert_str_eq(only(ZSB_STEP_DENY, zsb_test_at("ws/secret/below"))->detail, ZSB_CARRIED_BY_DENY);
    ck_assert_str_eq(only(ZSB_STEP_PROTECT_MISSING, zsb_test_at("ws/secret/none"))->detail,
                     ZSB_CARRIED_BY_DENY);
    ck_assert_str_eq(only(ZSB_STEP_PIN_ANCESTOR, zsb_test_at("ws/secret"))->detail, ZSB_CARRIED_BY_DENY);
    ck_assert_str_eq(only(ZSB_STEP_PROTECT, zsb_test_at("ws/secrets"))->detail, "");
    assert_in_order();
}
END_TEST

START_TEST(denied_tmp_is_carried_by_the_private_one)
{
    static const char *const denies[] = {"/tmp"};
    struct zsb_policy_options options = options_of(ZSB_MODE_READ_ONLY);
    options.deny_paths = denies;
    options.deny_path_count = 1;
    make(&options);
    ck_assert_str_eq(only(ZSB_STEP_DENY, "/tmp")->detail, ZSB_CARRIED_BY_PRIVATE_TMP);
}
END_TEST

START_TEST(path_denied_many_times_is_one_step)
{
    static const char *const denies[] = {"d", "d/e", "d", "./d", "d//e"};
    zsb_test_mkdir(zsb_test_at("d"));
    zsb_test_mkdir(zsb_test_at("d/e"));
    struct zsb_policy_options options = options_of(ZSB_MODE_WORKSPACE_WRITE);
    options.deny_paths = denies;
    options.deny_path_count = ZSB_ARRAY_SIZE(denies);
    make(&options);
    ck_assert_uint_eq(count_steps(ZSB_STEP_DENY, NULL, NULL), 2);
    ck_assert_str_eq(only(ZSB_STEP_DENY, zsb_test_at("d"))->detail, "");
    ck_assert_str_eq(only(ZSB_STEP_DENY, zsb_test_at("d/e"))->detail, ZSB_CARRIED_BY_DENY);
}
END_TEST

START_TEST(read_only_workspace_in_tmp_stays_visible)
{
    const char *workspace = zsb_test_hidden_dir();
    const char *const denies[] = {"secret"};
    ZSB_AUTO_FREE char *secret = zsb_strdupf("%s/secret", workspace);
    zsb_test_mkdir(secret);
    struct zsb_policy_options options = options_of(ZSB_MODE_READ_ONLY);
    options.workspace = workspace;
    options.deny_paths = denies;
    options.deny_path_count = 1;
    make(&options);
    ck_assert_str_eq(only(ZSB_STEP_VISIBLE, workspace)->origin, "workspace");
    /* The private /tmp does not hide it: the workspace is mounted back. */
    ck_assert_str_eq(only(ZSB_STEP_DENY, secret)->detail, "");
}
END_TEST

enum { POLICIES = 300 };

static void assert_all_once(const char *const *paths, size_t count, enum zsb_step_kind kind,
                            enum zsb_step_kind missing_kind)
{
    for (size_t i = 0; i < count; i++) {
        size_t found = count_steps(kind, paths[i], NULL);
        if (missing_kind != ZSB_STEP_KIND_COUNT)
            found += count_steps(missing_kind, paths[i], NULL);
        ck_assert_msg(found == 1, "%s %s: %zu steps", zsb_step_kind_name(kind), paths[i], found);
    }
}

START_TEST(every_entry_of_a_generated_policy_has_exactly_one_step)
{
    struct zsb_generator generator = {.state = 20260827u + (uint32_t)_i};
    size_t accepted = 0;
    zsb_generate_tree();
    for (int i = 0; i < POLICIES; i++) {
        struct zsb_policy_options options;
        struct zsb_error err = ZSB_ERROR_INIT;
        zsb_generate_options(&generator, &options);
        if (zsb_policy_new(&options, &policy, &err) != 0) {
            ck_assert_msg(err.code == ZSB_E_INVALID_PATH, "%s", err.msg);
            continue;
        }
        accepted++;
        ck_assert_int_eq(zsb_plan_new(policy, &plan, NULL), 0);
        assert_all_once(options.writable_roots, options.writable_root_count, ZSB_STEP_WRITABLE_ROOT,
                        ZSB_STEP_KIND_COUNT);
        assert_all_once(options.protected_paths, options.protected_path_count, ZSB_STEP_PROTECT,
                        ZSB_STEP_PROTECT_MISSING);
        assert_all_once(options.deny_paths, options.deny_path_count, ZSB_STEP_DENY, ZSB_STEP_DENY_MISSING);
        assert_in_order();
        clear();
    }
    ck_assert_uint_gt(accepted, POLICIES / 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *tests = zsb_test_case(suite, "plan", 60);
    tcase_add_checked_fixture(tests, forget, clear);
    tcase_add_loop_test(tests, kind_has_its_own_name, 0, ZSB_STEP_KIND_COUNT);
    tcase_add_test(tests, kind_outside_the_enumeration_is_unknown);
    tcase_add_test(tests, null_arguments_are_refused);
    tcase_add_test(tests, order_names_every_kind_once);
    tcase_add_loop_test(tests, confined_plan_has_every_restriction, 0, 4);
    tcase_add_loop_test(tests, network_decides_namespace_and_filter, 0, 2);
    tcase_add_test(tests, full_access_promises_nothing);
    tcase_add_test(tests, entry_says_which_step_carries_it);
    tcase_add_test(tests, denied_tmp_is_carried_by_the_private_one);
    tcase_add_test(tests, path_denied_many_times_is_one_step);
    tcase_add_test(tests, read_only_workspace_in_tmp_stays_visible);
    tcase_add_loop_test(tests, every_entry_of_a_generated_policy_has_exactly_one_step, 0, 4);
    return zsb_test_run(suite, CK_FORK);
}
