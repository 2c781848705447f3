/* SPDX-License-Identifier: MIT
 *
 * The audit finds what a plan lacks.
 */
#include "gate/audit.h"

#include <check.h>
#include <string.h>

ZSB_DEFINE_CLEANUP(zsb_policy, zsb_policy_free)
ZSB_DEFINE_CLEANUP(zsb_plan, zsb_plan_free)

struct planned {
    struct zsb_policy *policy;
    struct zsb_plan *plan;
};

static void planned_clear(struct planned *planned)
{
    zsb_plan_cleanup(&planned->plan);
    zsb_policy_cleanup(&planned->policy);
}
#define PLANNED __attribute__((cleanup(planned_clear))) struct planned

/* One denied and one protected path. */
static struct planned plan_two_entries(void)
{
    static const char *const deny[] = {"passwd"};
    static const char *const protect[] = {"group"};
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.workspace = "/etc";
    options.deny_paths = deny;
    options.deny_path_count = 1;
    options.protected_paths = protect;
    options.protected_path_count = 1;
    struct planned planned = {NULL, NULL};
    struct zsb_error err = ZSB_ERROR_INIT;
    ck_assert_msg(zsb_policy_new(&options, &planned.policy, &err) == 0, "%s", err.msg);
    ck_assert_msg(zsb_plan_new(planned.policy, &planned.plan, &err) == 0, "%s", err.msg);
    return planned;
}

START_TEST(entries_that_are_there_are_found)
{
    PLANNED planned = plan_two_entries();
    ZSB_AUTO_BUF problem = ZSB_BUF_INIT;
    ck_assert(
        zsb_audit_entries(planned.plan, "denyPaths", 1, ZSB_STEP_DENY, ZSB_STEP_DENY_MISSING, &problem));
    ck_assert(zsb_audit_entries(planned.plan, "protectedPaths", 1, ZSB_STEP_PROTECT, ZSB_STEP_PROTECT_MISSING,
                                &problem));
    ck_assert_uint_eq(problem.size_bytes, 0);
}
END_TEST

START_TEST(entry_that_is_missing_is_named)
{
    PLANNED planned = plan_two_entries();
    ZSB_AUTO_BUF problem = ZSB_BUF_INIT;
    ck_assert(
        !zsb_audit_entries(planned.plan, "denyPaths", 2, ZSB_STEP_DENY, ZSB_STEP_DENY_MISSING, &problem));
    ck_assert_str_eq(problem.data, "the plan dropped denyPaths[1]");
}
END_TEST

START_TEST(entry_carried_by_a_step_of_another_kind_is_dropped)
{
    PLANNED planned = plan_two_entries();
    ZSB_AUTO_BUF problem = ZSB_BUF_INIT;
    ck_assert(!zsb_audit_entries(planned.plan, "denyPaths", 1, ZSB_STEP_PROTECT, ZSB_STEP_PROTECT_MISSING,
                                 &problem));
}
END_TEST

START_TEST(backend_that_does_not_enforce_a_step_is_named)
{
    PLANNED planned = plan_two_entries();
    ZSB_AUTO_BUF problem = ZSB_BUF_INIT;
    ck_assert(zsb_audit_enforced(planned.plan, zsb_backend_find("bubblewrap"), &problem));
    ck_assert(!zsb_audit_enforced(planned.plan, zsb_backend_find("native"), &problem));
    ck_assert_ptr_nonnull(strstr(problem.data, "native does not enforce"));
}
END_TEST

START_TEST(native_never_compiles_a_read_only_policy)
{
    ZSB_AUTO_BUF evidence = ZSB_BUF_INIT;
    ck_assert(!zsb_audit_read_only(zsb_backend_find("native"), NULL, &evidence));
    ck_assert_uint_gt(evidence.size_bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("audit");
    TCase *tests = tcase_create("audit");
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, entries_that_are_there_are_found);
    tcase_add_test(tests, entry_that_is_missing_is_named);
    tcase_add_test(tests, entry_carried_by_a_step_of_another_kind_is_dropped);
    tcase_add_test(tests, backend_that_does_not_enforce_a_step_is_named);
    tcase_add_test(tests, native_never_compiles_a_read_only_policy);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
