/* SPDX-License-Identifier: MIT
 *
 * Probes and witnesses must mean the same objects: a target that no witness knows could never trip.
 */
#include "verifier/host.h"
#include "verifier/result.h"
#include "verifier/scene.h"
#include "verifier/tests/support.h"
#include "verifier/witness.h"

#include <string.h>

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return false;
}

static bool is_known_target(enum zsb_witness witness, const char *target)
{
    static const char *const namespaces[] = {"user", "mnt", "net", "pid", "ipc", "uts", "cgroup", "time"};
    static const char *const privileges[] = {"capabilities", "no-new-privs", "seccomp"};
    switch (witness) {
    case ZSB_WITNESS_TREE:
        return target[0] != '\0' && target[0] != '/' && strstr(target, "..") == NULL &&
               strncmp(target, "bin", 3) != 0 && strncmp(target, "hidden", 6) != 0;
    case ZSB_WITNESS_CAPTURE:
        return zsb_flag_find(target) != ZSB_FLAG_COUNT;
    case ZSB_WITNESS_SIGNAL:
        return zsb_signal_number(target) > 0;
    case ZSB_WITNESS_ACCEPT:
        return zsb_listener_find(target) != ZSB_LISTENER_COUNT;
    case ZSB_WITNESS_NAMESPACE:
        return is_one_of(target, namespaces, ZSB_ARRAY_SIZE(namespaces));
    case ZSB_WITNESS_PRIVILEGE:
        return is_one_of(target, privileges, ZSB_ARRAY_SIZE(privileges));
    case ZSB_WITNESS_SURVIVOR:
        return target[0] != '\0' && strlen(target) <= 15; /* what fits into a comm */
    case ZSB_WITNESS_DESCRIPTOR:
        return target[0] != '\0';
    case ZSB_WITNESS_MEMORY:
    case ZSB_WITNESS_TERMINAL:
    case ZSB_WITNESS_TRACED:
    case ZSB_WITNESS_SHM:
        return true;
    case ZSB_WITNESS_COUNT:
        break;
    }
    return false;
}

START_TEST(every_target_has_a_witness)
{
    for (size_t p = 0; zsb_probe_at(p) != NULL; p++) {
        const struct zsb_probe *probe = zsb_probe_at(p);
        ck_assert_msg(probe->attempt_count > 0 && probe->attempt_count <= ZSB_REPORT_ROWS_MAX, "%s",
                      probe->id);
        for (size_t a = 0; a < probe->attempt_count; a++)
            ck_assert_msg(is_known_target(probe->attempts[a].witness, probe->attempts[a].target),
                          "%s: %s: %s", probe->id, probe->attempts[a].name, probe->attempts[a].target);
    }
}
END_TEST

/* What a witness needs, the probe must ask for, or the object is not there and the witness sees nothing for
 * ever. */
START_TEST(every_witness_has_its_object)
{
    static const unsigned needs[ZSB_WITNESS_COUNT] = {
        [ZSB_WITNESS_MEMORY] = ZSB_NEED_VICTIM,    [ZSB_WITNESS_SIGNAL] = ZSB_NEED_VICTIM,
        [ZSB_WITNESS_ACCEPT] = ZSB_NEED_LISTENERS, [ZSB_WITNESS_TERMINAL] = ZSB_NEED_TERMINAL,
        [ZSB_WITNESS_SHM] = ZSB_NEED_SHM,
    };
    for (size_t p = 0; zsb_probe_at(p) != NULL; p++) {
        const struct zsb_probe *probe = zsb_probe_at(p);
        for (size_t a = 0; a < probe->attempt_count; a++) {
            unsigned wanted = needs[probe->attempts[a].witness];
            ck_assert_msg((probe->needs & wanted) == wanted, "%s: %s", probe->id, probe->attempts[a].name);
        }
    }
}
END_TEST

START_TEST(every_flag_has_a_name)
{
    for (unsigned i = 0; i < ZSB_FLAG_COUNT; i++)
        ck_assert_uint_eq((unsigned)zsb_flag_find(zsb_flag_name((enum zsb_flag)i)), i);
    ck_assert_int_eq((int)zsb_flag_find("no-such-flag"), (int)ZSB_FLAG_COUNT);
    ck_assert_str_eq(zsb_flag_name(ZSB_FLAG_COUNT), "unknown");
}
END_TEST

START_TEST(a_target_covers_itself_and_what_lies_below)
{
    static const struct {
        const char *target, *path;
        bool covers;
    } rows[] = {
        {"out/a", "out/a", true}, {"out/a", "out/a/b", true},     {"out/a", "out/ab", false},
        {"out/a", "out", false},  {"ws", "ws/.git/config", true}, {"ws/.git", "ws/.github", false},
        {"out/a", "", false},
    };
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(rows); i++)
        ck_assert_msg(zsb_witness_covers(rows[i].target, rows[i].path) == rows[i].covers, "%s, %s",
                      rows[i].target, rows[i].path);
}
END_TEST

static const struct {
    unsigned needs;
    unsigned uid;
    const char *missing; /* part of the evidence, NULL: nothing is missing */
} facts[] = {
    {0, 1000, NULL},
    {ZSB_NEED_VICTIM | ZSB_NEED_LISTENERS | ZSB_NEED_TERMINAL | ZSB_NEED_SHM, 1000, NULL},
    {ZSB_NEED_ROOT_CALLER, 1000, "root"},
    {ZSB_NEED_ROOT_CALLER, 0, NULL},
    {ZSB_NEED_IO_URING, 0, "io-uring-evidence"},
    {ZSB_NEED_IA32, 0, "ia32-evidence"},
    {ZSB_NEED_TIOCSTI, 0, "tiocsti-evidence"},
    {ZSB_NEED_USERNS, 0, "userns-evidence"},
    {ZSB_NEED_PIDFD_GETFD, 0, "getfd-evidence"},
    {ZSB_NEED_MOUNT_STAGE, 0, NULL},
    {ZSB_NEED_MOUNT_STAGE, 1000, "userns-evidence"},
};

START_TEST(a_missing_fact_gives_its_evidence)
{
    struct zsb_host_facts host = {.uid = facts[_i].uid,
                                  .ia32_evidence = (char *)(uintptr_t) "ia32-evidence",
                                  .io_uring_evidence = (char *)(uintptr_t) "io-uring-evidence",
                                  .tiocsti_evidence = (char *)(uintptr_t) "tiocsti-evidence",
                                  .userns_evidence = (char *)(uintptr_t) "userns-evidence",
                                  .pidfd_getfd_evidence = (char *)(uintptr_t) "getfd-evidence"};
    const char *missing = zsb_host_missing(&host, facts[_i].needs);
    if (facts[_i].missing == NULL)
        ck_assert_ptr_null(missing);
    else
        ck_assert_msg(missing != NULL && strstr(missing, facts[_i].missing) != NULL, "row %d", _i);
    host.ia32 = host.io_uring = host.tiocsti = host.userns = host.pidfd_getfd = true;
    host.uid = 0;
    ck_assert_ptr_null(zsb_host_missing(&host, facts[_i].needs));
}
END_TEST

START_TEST(this_host_can_be_examined)
{
    struct zsb_host_facts host;
    ck_assert_int_eq(zsb_host_examine(&host), 0);
    ck_assert_uint_gt(strlen(host.kernel), 0);
    ck_assert_uint_gt(strlen(host.architecture), 0);
    ck_assert_uint_gt(strlen(host.ia32_evidence), 0);
    zsb_host_clear(&host);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *tcase = tcase_create("agreement");
    tcase_add_test(tcase, every_target_has_a_witness);
    tcase_add_test(tcase, every_witness_has_its_object);
    tcase_add_test(tcase, every_flag_has_a_name);
    tcase_add_test(tcase, a_target_covers_itself_and_what_lies_below);
    tcase_add_loop_test(tcase, a_missing_fact_gives_its_evidence, 0, (int)ZSB_ARRAY_SIZE(facts));
    tcase_add_test(tcase, this_host_can_be_examined);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
