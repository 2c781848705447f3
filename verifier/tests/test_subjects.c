/* SPDX-License-Identifier: MIT
 *
 * Real sandboxes with one protection left out: each must give exactly the escapes that it deserves.
 *
 *   full     bwrap with namespaces, private /proc and session, but no seccomp
 *   no-X     the same without option X
 */
#include "verifier/tests/live.h"

#include <string.h>

#define BEGIN                                                                                                \
    "[\"bwrap\",\"--ro-bind\",\"/\",\"/\",\"--dev\",\"/dev\",\"--proc\",\"/proc\",\"--tmpfs\",\"/"           \
    "tmp\",\"--unshare-user\","
#define END "\"--\",\"{command}\"]"
#define PID "\"--unshare-pid\","
#define NET "\"--unshare-net\","
#define IPC "\"--unshare-ipc\","
#define SESSION "\"--new-session\","
#define DIE "\"--die-with-parent\","

static const struct {
    const char *name, *argv;
    const char *escaped; /* probes, ' ' around each */
    const char *held;
} sandboxes[] = {
    {"full", BEGIN PID NET IPC SESSION DIE END,
     " proc.ptrace-child priv.user-namespace net.io-uring net.unix-pathname net.unix-datagram ",
     " fs.write-workspace fs.write-outside fs.symlink-existing fs.hardlink-out fs.rename-over-outside"
     " fs.metadata-outside proc.signal-outside proc.vm-readv proc.environ-outside net.tcp net.udp "
     "net.unix-abstract"
     " tty.inject ipc.sysv-shm life.outlive life.launcher-killed "},
    {"no-net", BEGIN PID IPC SESSION DIE END, " net.tcp net.udp net.unix-abstract ",
     " fs.write-outside proc.signal-outside tty.inject ipc.sysv-shm life.outlive "},
    {"no-pid", BEGIN NET IPC SESSION DIE END, " proc.signal-outside life.outlive life.launcher-killed ",
     " fs.write-outside net.tcp tty.inject ipc.sysv-shm "},
    {"no-session", BEGIN PID NET IPC DIE END, " tty.inject ",
     " fs.write-outside net.tcp proc.signal-outside "},
    {"no-ipc", BEGIN PID NET SESSION DIE END, " ipc.sysv-shm ", " fs.write-outside net.tcp tty.inject "},
    {"no-die", BEGIN PID NET IPC SESSION END, " life.launcher-killed ",
     " fs.write-outside net.tcp tty.inject "},
};

static bool is_listed(const char *list, const char *id)
{
    ZSB_AUTO_FREE char *word = zsb_strdupf(" %s ", id);
    return strstr(list, word) != NULL;
}

START_TEST(a_missing_protection_gives_its_escapes)
{
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher = zsb_live_launcher(sandboxes[_i].argv, "/");
    zsb_live_run(launcher, NULL, 0, &campaign);
    size_t seen = 0;
    for (size_t i = 0; i < campaign.trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign.trials[i];
        bool escapes = is_listed(sandboxes[_i].escaped, trial->probe->id);
        bool holds = is_listed(sandboxes[_i].held, trial->probe->id);
        seen += escapes || holds ? 1 : 0;
        if (trial->verdict == ZSB_VERDICT_NOT_APPLICABLE)
            continue;
        ck_assert_msg(!escapes || trial->verdict == ZSB_VERDICT_ESCAPED, "%s: %s is %s: %s",
                      sandboxes[_i].name, trial->probe->id, zsb_verdict_name(trial->verdict), trial->detail);
        ck_assert_msg(!holds || trial->verdict == ZSB_VERDICT_HELD, "%s: %s is %s: %s", sandboxes[_i].name,
                      trial->probe->id, zsb_verdict_name(trial->verdict), trial->detail);
        ck_assert_msg(trial->verdict == ZSB_VERDICT_ESCAPED || trial->verdict == ZSB_VERDICT_HELD,
                      "%s: %s is %s: %s", sandboxes[_i].name, trial->probe->id,
                      zsb_verdict_name(trial->verdict), trial->detail);
    }
    ck_assert_uint_gt(seen, 3); /* a renamed probe must not empty the lists */
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

START_TEST(plain_bind_of_everything_protects_no_file)
{
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher =
        zsb_live_launcher("[\"bwrap\",\"--bind\",\"/\",\"/\",\"{command}\"]", "/");
    zsb_live_run(launcher, NULL, 0, &campaign);
    for (size_t i = 0; i < campaign.trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign.trials[i];
        /* The user namespace that an ordinary user's bwrap makes hides other processes' roots. */
        if (strncmp(trial->probe->id, "fs.", 3) == 0 && strcmp(trial->probe->id, "fs.proc-root") != 0)
            ck_assert_msg(trial->verdict == ZSB_VERDICT_ESCAPED, "%s is %s: %s", trial->probe->id,
                          zsb_verdict_name(trial->verdict), trial->detail);
    }
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

START_TEST(our_own_backend_holds_everything)
{
    struct zsb_campaign campaign;
    zsb_live_run_backend(NULL, 0, &campaign);
    for (size_t i = 0; i < campaign.trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign.trials[i];
        ck_assert_msg(trial->verdict == ZSB_VERDICT_HELD || trial->verdict == ZSB_VERDICT_NOT_APPLICABLE,
                      "%s (%s, network %s) is %s: %s", trial->probe->id, zsb_mode_name(trial->mode),
                      zsb_network_name(trial->network), zsb_verdict_name(trial->verdict), trial->detail);
        ck_assert_msg(trial->verdict != ZSB_VERDICT_HELD || trial->arms[ZSB_ARM_CONFINED].attempt_count > 0,
                      "%s", trial->probe->id);
    }
    ck_assert_uint_eq(campaign.required_not_held, 0);
    ck_assert_uint_gt(campaign.counts[ZSB_VERDICT_HELD], 50);
    ck_assert_str_eq(campaign.subject_name, "bubblewrap");
    ck_assert(campaign.has_launcher_identity);
    zsb_campaign_clear(&campaign);
}
END_TEST

int main(void)
{
    zsb_live_need_bubblewrap();
    Suite *suite = suite_create("subjects");
    TCase *tcase = tcase_create("sandboxes");
    tcase_add_loop_test(tcase, a_missing_protection_gives_its_escapes, 0, (int)ZSB_ARRAY_SIZE(sandboxes));
    tcase_add_test(tcase, plain_bind_of_everything_protects_no_file);
    tcase_add_test(tcase, our_own_backend_holds_everything);
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
