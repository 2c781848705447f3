/* SPDX-License-Identifier: MIT */
#include "reports/tests/fixture.h"

#include <errno.h>
#include <stdio.h>

/* Result structs hold char * because they own their texts; these are borrowed and never freed. */
#define TEXT(literal) ((char *)(literal))

static const int deny_errnos[] = {EROFS, EACCES, EPERM, 0};

static const struct zsb_attempt write_attempts[] = {
    {.name = "create", .witness = ZSB_WITNESS_TREE, .target = "out"},
    {.name = "truncate", .witness = ZSB_WITNESS_TREE, .target = "out/secret.txt", .modes = ZSB_IN_READ_ONLY},
};
static const struct zsb_attempt signal_attempts[] = {
    {.name = "usr1", .witness = ZSB_WITNESS_SIGNAL, .target = "USR1", .effect_only = true},
};

static const struct zsb_probe write_outside = {
    .id = "fs.write-outside",
    .claim = "nothing outside the workspace can be written",
    .boundary = "filesystem",
    .refs = "CVE-2025-59532",
    .modes = ZSB_IN_BOTH,
    .networks = ZSB_NET_DENIED,
    .required = true,
    .deny_errnos = deny_errnos,
    .benign_claim = "write into the private /tmp",
    .attempts = write_attempts,
    .attempt_count = ZSB_ARRAY_SIZE(write_attempts),
};
static const struct zsb_probe signal_outside = {
    .id = "proc.signal-outside",
    .claim = "no process outside can be signalled",
    .boundary = "process",
    .refs = "",
    .needs = ZSB_NEED_VICTIM | ZSB_NEED_PIDFD_GETFD,
    .modes = ZSB_IN_READ_ONLY,
    .networks = ZSB_NET_BOTH,
    .fixture = ZSB_FIXTURE_PLAIN,
    .ending = ZSB_END_CANCEL,
    .benign_claim = "signal itself",
    .attempts = signal_attempts,
    .attempt_count = ZSB_ARRAY_SIZE(signal_attempts),
};
static const struct zsb_probe *const probes[] = {&write_outside, &signal_outside};

static struct zsb_attempt_result denied[] = {
    {.name = TEXT("create"), .reached = true, .sys_errno = EROFS, .saw = TEXT("")},
    {.name = TEXT("truncate"), .reached = true, .sys_errno = EROFS, .saw = TEXT("")},
};
static struct zsb_attempt_result done[] = {
    {.name = TEXT("create"), .reached = true, .witnessed = true, .saw = TEXT("new name out/planted")},
    {.name = TEXT("truncate"),
     .reached = true,
     .witnessed = true,
     .saw = TEXT("out/secret.txt is 0 bytes long")},
};
static struct zsb_attempt_result odd[] = {
    {.name = TEXT("create"),
     .reached = true,
     .witnessed = true,
     .saw = TEXT("name \xFF\xC0\xAF\x1b[31mred\xE2\x80\xAE")},
    {.name = TEXT("truncate"), .reached = false, .sys_errno = 99999, .saw = NULL},
    {.name = TEXT("absent"), .absent = true, .sys_errno = ENOSYS, .saw = TEXT("kernel without it")},
};

#define ARM(arm_status, list)                                                                                \
    {                                                                                                        \
        .status = (arm_status), .via = TEXT("fd"), .detail = TEXT(""), .wall_us = 1200, .attempts = (list),  \
        .attempt_count = ZSB_ARRAY_SIZE(list)                                                                \
    }
#define BENIGN                                                                                               \
    {                                                                                                        \
        .status = ZSB_ARM_COMPLETE, .via = TEXT("fd"), .detail = TEXT(""), .wall_us = 900                    \
    }

static struct zsb_trial_result mixed_trials[] = {
    {.probe = &write_outside,
     .mode = ZSB_MODE_READ_ONLY,
     .verdict = ZSB_VERDICT_HELD,
     .required = true,
     .detail = TEXT("denied with EROFS, nothing seen outside"),
     .arms = {ARM(ZSB_ARM_COMPLETE, done), BENIGN, ARM(ZSB_ARM_COMPLETE, denied)}},
    {.probe = &write_outside,
     .mode = ZSB_MODE_WORKSPACE_WRITE,
     .verdict = ZSB_VERDICT_ESCAPED,
     .required = true,
     .detail = TEXT("the witness saw 2 of 2 attempts"),
     .arms = {ARM(ZSB_ARM_COMPLETE, done), BENIGN, ARM(ZSB_ARM_COMPLETE, done)}},
    {.probe = &signal_outside,
     .mode = ZSB_MODE_READ_ONLY,
     .verdict = ZSB_VERDICT_ERROR,
     .required = true,
     .detail = TEXT("the probe crashed"),
     .arms = {ARM(ZSB_ARM_COMPLETE, done),
              BENIGN,
              {.status = ZSB_ARM_CRASHED,
               .via = TEXT("stdout"),
               .detail = TEXT("signal 11"),
               .attempts = odd,
               .attempt_count = ZSB_ARRAY_SIZE(odd)}}},
    {.probe = &signal_outside,
     .mode = ZSB_MODE_READ_ONLY,
     .network = ZSB_NETWORK_ALLOWED,
     .verdict = ZSB_VERDICT_INCONCLUSIVE,
     .required = true,
     .detail = TEXT("denied bare too"),
     .arms = {ARM(ZSB_ARM_COMPLETE, denied), BENIGN, ARM(ZSB_ARM_COMPLETE, denied)}},
    {.probe = &signal_outside,
     .mode = ZSB_MODE_WORKSPACE_WRITE,
     .verdict = ZSB_VERDICT_NOT_APPLICABLE,
     .detail = TEXT("no pidfd_getfd: Linux 5.5"),
     .arms = {{.status = ZSB_ARM_TIMED_OUT}, {.status = ZSB_ARM_UNATTESTED}, {.status = ZSB_ARM_NOT_RUN}}},
};

static struct zsb_trial_result held_trials[] = {
    {.probe = &write_outside,
     .mode = ZSB_MODE_READ_ONLY,
     .verdict = ZSB_VERDICT_HELD,
     .required = true,
     .detail = TEXT("denied with EROFS, nothing seen outside"),
     .arms = {ARM(ZSB_ARM_COMPLETE, done), BENIGN, ARM(ZSB_ARM_COMPLETE, denied)}},
    {.probe = &signal_outside,
     .mode = ZSB_MODE_READ_ONLY,
     .verdict = ZSB_VERDICT_HELD,
     .required = true,
     .detail = TEXT("denied with ESRCH, nothing seen outside"),
     .arms = {ARM(ZSB_ARM_COMPLETE, done), BENIGN, ARM(ZSB_ARM_COMPLETE, denied)}},
};

#define HOST                                                                                                 \
    {                                                                                                        \
        .kernel = TEXT("6.1.0-30-amd64"), .architecture = TEXT("x86_64"),                                    \
        .os = TEXT("Debian GNU/Linux 12 (bookworm)"), .uid = 1000, .ia32 = true, .io_uring = true,           \
        .userns = true, .ia32_evidence = TEXT("int 0x80 answered"),                                          \
        .tiocsti_evidence = TEXT("dev.tty.legacy_tiocsti is 0")                                              \
    }

static const struct zsb_campaign mixed = {
    .host = HOST,
    .subject_name = TEXT("bubblewrap"),
    .capabilities = {.backend = "linux_bubblewrap",
                     .executable = "/usr/bin/bwrap",
                     .read_only = 1,
                     .workspace_write = 1,
                     .network_isolation = 1},
    .launcher_identity = {.path = "/usr/bin/bwrap",
                          .mode = 0755,
                          .device = 2049,
                          .inode = 18446744073709551615ULL,
                          .root_owned = 1},
    .has_launcher_identity = true,
    .trials = mixed_trials,
    .trial_count = ZSB_ARRAY_SIZE(mixed_trials),
    .counts = {1, 1, 1, 1, 1},
    .required_not_held = 3,
    .wall_us = 6150000,
};
static const struct zsb_campaign held = {
    .host = HOST,
    .subject_name = TEXT("bubblewrap"),
    .capabilities = {.backend = "linux_bubblewrap",
                     .executable = "/usr/bin/bwrap",
                     .read_only = 1,
                     .workspace_write = 1,
                     .network_isolation = 1},
    .trials = held_trials,
    .trial_count = ZSB_ARRAY_SIZE(held_trials),
    .counts = {2, 0, 0, 0, 0},
    .wall_us = 450000,
};
static const struct zsb_campaign foreign = {
    .host = {.uid = 0},
    .subject_name = TEXT("my \xE9 sandbox\x1b[2J"),
    .subject_kind = ZSB_SUBJECT_LAUNCHER,
};

static const struct zsb_report_style plain = {false};
static const struct zsb_report_style coloured = {true};

static int mixed_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_text(&mixed, &plain, out, err);
}

static int mixed_coloured(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_text(&mixed, &coloured, out, err);
}

static int mixed_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_json(&mixed, out, err);
}

static int held_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_text(&held, &plain, out, err);
}

static int foreign_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_text(&foreign, &plain, out, err);
}

static int foreign_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_campaign_json(&foreign, out, err);
}

static struct zsb_criterion_result criteria[] = {
    {"backend_probe", "the backend probe succeeds", ZSB_CRITERION_PASSED, TEXT("bubblewrap answered")},
    {"writes_denied", "attempted writes fail", ZSB_CRITERION_FAILED,
     TEXT("1 of 2 required trials held; fs.write-outside escaped")},
    {"lifecycle", "the life cycle works", ZSB_CRITERION_NOT_EVALUATED, TEXT("does not exist yet")},
};
static struct zsb_criterion_result good_criteria[] = {
    {"backend_probe", "the backend probe succeeds", ZSB_CRITERION_PASSED, TEXT("bubblewrap answered")},
    {"writes_denied", "attempted writes fail", ZSB_CRITERION_PASSED, TEXT("2 of 2 required trials held")},
    {"lifecycle", "the life cycle works", ZSB_CRITERION_NOT_EVALUATED, TEXT("does not exist yet")},
};
static char *refusals[] = {TEXT("writes_denied: fs.write-outside escaped in workspace-write, network denied"),
                           TEXT("lifecycle: not evaluated: does not exist yet"), NULL};
static char *librarian_refusals[] = {
    TEXT("writes_denied: fs.write-outside escaped in workspace-write, network denied"),
    TEXT("lifecycle: not evaluated: does not exist yet"), TEXT("librarian: its web tools stay apart"), NULL};
static char *grants[] = {TEXT("2 of 3 criteria passed, none failed"), NULL};

#define REFUSE(name, why, count)                                                                             \
    {                                                                                                        \
        .profile = (name), .reasons = (why), .reason_count = (count)                                         \
    }
#define GRANT(name)                                                                                          \
    {                                                                                                        \
        .profile = (name), .grant = true, .reasons = grants, .reason_count = 1                               \
    }
static struct zsb_profile_result refused[] = {
    REFUSE("plan", refusals, 2),
    REFUSE("explorer", refusals, 2),
    REFUSE("librarian", librarian_refusals, 3),
    REFUSE("oracle", refusals, 2),
    REFUSE("looker", refusals, 2),
};
static struct zsb_profile_result granted[] = {GRANT("plan"), GRANT("explorer"), GRANT("librarian"),
                                              GRANT("oracle"), GRANT("looker")};

static const struct zsb_gate_result refusing = {.campaign = &mixed,
                                                .criteria = criteria,
                                                .criterion_count = ZSB_ARRAY_SIZE(criteria),
                                                .profiles = refused,
                                                .profile_count = ZSB_ARRAY_SIZE(refused)};
static const struct zsb_gate_result granting = {.campaign = &held,
                                                .criteria = good_criteria,
                                                .criterion_count = ZSB_ARRAY_SIZE(good_criteria),
                                                .profiles = granted,
                                                .profile_count = ZSB_ARRAY_SIZE(granted),
                                                .preview = true,
                                                .grant = true};
static const struct zsb_gate_result unavailable = {.criteria = criteria,
                                                   .criterion_count = ZSB_ARRAY_SIZE(criteria),
                                                   .profiles = refused,
                                                   .profile_count = ZSB_ARRAY_SIZE(refused),
                                                   .backend_error = {ZSB_E_BUBBLEWRAP_NOT_FOUND,
                                                                     ZSB_STAGE_RESOLVE, ENOENT, "", "",
                                                                     "no launcher at the fixed paths"}};

static int refusing_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_text(&refusing, &plain, out, err);
}

static int refusing_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_json(&refusing, out, err);
}

static int granting_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_text(&granting, &plain, out, err);
}

static int granting_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_json(&granting, out, err);
}

static int unavailable_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_text(&unavailable, &plain, out, err);
}

static int unavailable_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_gate_json(&unavailable, out, err);
}

static const struct zsb_probes_report catalogue = {probes, ZSB_ARRAY_SIZE(probes)};

static int probes_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_probes_text(&catalogue, &plain, out, err);
}

static int probes_json(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_probes_json(&catalogue, out, err);
}

static int probe_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_probe_text(&write_outside, &plain, out, err);
}

static int odd_probe_text(struct zsb_buf *out, struct zsb_error *err)
{
    return zsb_report_probe_text(&signal_outside, &plain, out, err);
}

static const struct zsb_policy_report_step steps[] = {
    {{ZSB_STEP_NEW_NAMESPACE, "", "user", "mode"}, true, false},
    {{ZSB_STEP_ROOT_READ_ONLY, "/", "", "mode"}, true, false},
    {{ZSB_STEP_WRITABLE_ROOT, "/home/u/w\xFFs", "", "workspace"}, true, false},
    {{ZSB_STEP_PROTECT_MISSING, "/home/u/w\xFFs/.git", "", "protectedPaths[0]"}, false, false},
    {{ZSB_STEP_DENY_MISSING, "/home/u/gone", "", "denyPaths[0]"}, false, true},
};
static const char *const launcher_argv[] = {"/usr/bin/bwrap", "--unshare-user", "--bind",
                                            "/home/u/w\xFFs", "/home/u/w\xFFs", NULL};
static const char *const empty_argv[] = {NULL};
static const struct zsb_error unsupported = {
    ZSB_E_UNSUPPORTED_POLICY, ZSB_STAGE_POLICY, 0, "native", "read-only", "native confines nothing"};

static struct zsb_policy_report policy(const char *const *argv)
{
    return (struct zsb_policy_report){.mode = ZSB_MODE_WORKSPACE_WRITE,
                                      .workspace = "/home/u/w\xFFs",
                                      .cwd = "/home/u/w\xFFs/sub",
                                      .backend = "bubblewrap",
                                      .backend_serial = "linux_bubblewrap",
                                      .steps = steps,
                                      .step_count = ZSB_ARRAY_SIZE(steps),
                                      .launcher_argv = argv,
                                      .error = argv ? NULL : &unsupported};
}

static int policy_text(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_policy_report report = policy(launcher_argv);
    return zsb_report_policy_text(&report, &plain, out, err);
}

static int policy_json(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_policy_report report = policy(launcher_argv);
    return zsb_report_policy_json(&report, out, err);
}

static int policy_native_text(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_policy_report report = policy(empty_argv);
    return zsb_report_policy_text(&report, &plain, out, err);
}

static int policy_refused_text(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_policy_report report = policy(NULL);
    return zsb_report_policy_text(&report, &plain, out, err);
}

static int policy_refused_json(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_policy_report report = policy(NULL);
    return zsb_report_policy_json(&report, out, err);
}

static int outcome(const struct zsb_outcome *value, struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_outcome_report report = {.outcome = value, .backend = "linux_bubblewrap"};
    return zsb_report_outcome_json(&report, out, err);
}

static int outcome_exited(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_outcome value = {.exited = 1,
                                      .exit_status = 3,
                                      .certain = 1,
                                      .wall_us = 1500,
                                      .user_us = 700,
                                      .system_us = 300,
                                      .max_rss_bytes = 9007199254740993};
    return outcome(&value, out, err);
}

static int outcome_timed_out(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_outcome value = {.signal = 9, .timed_out = 1, .certain = 1, .wall_us = 2000000};
    return outcome(&value, out, err);
}

static int outcome_failed(struct zsb_buf *out, struct zsb_error *err)
{
    const struct zsb_outcome value = {.stage = ZSB_STAGE_POLICY,
                                      .certain = 1,
                                      .error = {ZSB_E_INVALID_PATH, ZSB_STAGE_POLICY, ENOENT, "/no\xC3/where",
                                                "missing", "no such \xFF directory"}};
    return outcome(&value, out, err);
}

int fixture_write_outcome_of(enum zsb_code code, struct zsb_buf *out, struct zsb_error *err)
{
    const enum zsb_stage stage = (enum zsb_stage)((unsigned)code % ZSB_STAGE_COUNT);
    const struct zsb_outcome value = {.stage = stage, .error = {.code = code, .stage = stage}};
    return outcome(&value, out, err);
}

static const struct fixture_report reports[] = {
    {"campaign-mixed.txt", mixed_text, false},
    {"campaign-mixed-colour.txt", mixed_coloured, false},
    {"campaign-mixed.json", mixed_json, true},
    {"campaign-held.txt", held_text, false},
    {"campaign-foreign.txt", foreign_text, false},
    {"campaign-foreign.json", foreign_json, true},
    {"gate-refuse.txt", refusing_text, false},
    {"gate-refuse.json", refusing_json, true},
    {"gate-grant.txt", granting_text, false},
    {"gate-grant.json", granting_json, true},
    {"gate-unavailable.txt", unavailable_text, false},
    {"gate-unavailable.json", unavailable_json, true},
    {"probes-list.txt", probes_text, false},
    {"probes-list.json", probes_json, true},
    {"probes-show.txt", probe_text, false},
    {"probes-show-odd.txt", odd_probe_text, false},
    {"policy.txt", policy_text, false},
    {"policy.json", policy_json, true},
    {"policy-native.txt", policy_native_text, false},
    {"policy-refused.txt", policy_refused_text, false},
    {"policy-refused.json", policy_refused_json, true},
    {"outcome-exited.json", outcome_exited, true},
    {"outcome-timed-out.json", outcome_timed_out, true},
    {"outcome-failed.json", outcome_failed, true},
};

const struct fixture_report *fixture_report_at(size_t index)
{
    return index < ZSB_ARRAY_SIZE(reports) ? &reports[index] : NULL;
}
