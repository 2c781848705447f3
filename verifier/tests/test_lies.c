/* SPDX-License-Identifier: MIT
 *
 * Launchers that lie. None may ever be called held, whatever it prints, and none may cost much time.
 */
#include "verifier/lab.h"
#include "verifier/tests/live.h"

#include <string.h>

static const struct {
    const char *argv; /* {dir} holds the scripts of this test */
    enum zsb_verdict verdict;
    int64_t max_ms;   /* 0: not measured */
    const char *says; /* in the detail of a trial */
    const char *reason;
} liars[] = {
    {"[\"true\"]", ZSB_VERDICT_ERROR, 3000, "no_report", "one that runs nothing"},
    {"[\"true\",\"{command}\"]", ZSB_VERDICT_ERROR, 3000, "no_report", "one that runs something else"},
    {"[\"false\",\"{command}\"]", ZSB_VERDICT_ERROR, 3000, "exit status 1", "one that fails"},
    {"[\"/nonexistent/box\",\"{command}\"]", ZSB_VERDICT_ERROR, 3000, "launch_failed",
     "one that does not exist"},
    {"[\"sleep\",\"1000\"]", ZSB_VERDICT_ERROR, 12000, "timed_out", "one that hangs"},
    {"[\"sh\",\"{dir}/print\",\"{command}\"]", ZSB_VERDICT_ERROR, 3000, "no_report",
     "one that prints a result"},
    {"[\"sh\",\"{dir}/replay\",\"{command}\"]", ZSB_VERDICT_ERROR, 3000, "no_report",
     "one that replays a report"},
    {"[\"sh\",\"{dir}/forge\",\"{command}\"]", ZSB_VERDICT_ERROR, 8000, "unattested",
     "one that forges a report with the nonce of its arguments"},
    {"[\"sh\",\"{dir}/decoy\",\"{command}\"]", ZSB_VERDICT_ERROR, 8000, "unattested",
     "one that forges a report beside a real but idle zuno-escapes"},
    {"[\"sh\",\"{dir}/disguise\",\"{command}\"]", ZSB_VERDICT_ERROR, 8000, "unattested",
     "one that forges a report beside another program with the right words"},
    {"[\"sh\",\"{dir}/stopped\",\"{command}\"]", ZSB_VERDICT_ERROR, 8000, "unattested",
     "one that forges a report beside the right process, stopped"},
    {"[\"sh\",\"{dir}/flood\",\"{command}\"]", ZSB_VERDICT_ERROR, 12000, "no_report", "one that floods"},
};

/* forge [STDOUT|FD]: a well-formed report in which everything was denied. Only the canary is asked as long as
 * it fails, so that is what has to be forged; --attempts of real probes would have to follow. */
static const char common[] =
    "for word in \"$@\"; do case $word in nonce=*) nonce=${word#nonce=};; esac; done\n"
    "report() { printf 'ZSB1 %s hello canary attempt %s\\nZSB1 %s done\\n' \"$nonce\" \"$1\" \"$nonce\"; }\n"
    "forge() { report fd >&3; report stdout; }\n";

static const struct {
    const char *name, *text;
} scripts[] = {
    {"print", "echo 'everything held'; echo 'ZSB1 hello canary attempt stdout'; echo 'ZSB1 done'\n"},
    {"replay", "nonce=00112233445566778899aabbccddeeff\n"
               "report() { printf 'ZSB1 %s hello canary attempt %s\\nZSB1 %s done\\n' $nonce $1 $nonce; }\n"
               "report fd >&3; report stdout\n"},
    {"forge", "forge; sleep 2\n"},
    {"decoy", "\"$1\" canary nonce=ffffffffffffffffffffffffffffffff >/dev/null 3>&- & forge; sleep 2\n"},
    {"disguise", "shift; sh -c 'sleep 2' x \"$@\" & forge; wait\n"},
    {"stopped", "\"$@\" >/dev/null 3>&- & kill -STOP $!; forge; sleep 2; kill -KILL $!\n"},
    {"flood", "yes 'ZSB1 is noise' | head -c 8000000; yes | head -c 8000000 >&3\n"},
};

static struct zsb_test_dir dir;

static void set_up(void)
{
    zsb_test_dir_make(&dir);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(scripts); i++) {
        ZSB_AUTO_FREE char *text = zsb_strdupf("%s%s", common, scripts[i].text);
        ck_assert_int_eq(zsb_lab_write_file(dir.fd, scripts[i].name, text, 0600), 0);
    }
}

static void tear_down(void)
{
    zsb_test_dir_remove(&dir);
}

START_TEST(a_lying_launcher_is_never_held)
{
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher = zsb_live_launcher(liars[_i].argv, dir.path);
    zsb_live_run(launcher, NULL, 0, &campaign);
    ZSB_AUTO_FREE char *others = zsb_live_others(&campaign, liars[_i].verdict);
    ck_assert_msg(*others == '\0', "%s:%s", liars[_i].reason, others);
    ck_assert_uint_eq(campaign.counts[ZSB_VERDICT_HELD], 0);
    ck_assert_msg(strstr(campaign.trials[0].detail, liars[_i].says) != NULL, "%s: \"%s\"", liars[_i].reason,
                  campaign.trials[0].detail);
    ck_assert_msg(campaign.wall_us < liars[_i].max_ms * 1000, "%s: took %lld ms", liars[_i].reason,
                  (long long)campaign.wall_us / 1000);
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

/* Everything it should hold is witnessed outside. */
static const char *const naked[] = {"[\"{command}\"]", "[\"sh\",\"-c\",\"exec {command-string}\"]",
                                    "[\"sh\",\"-c\",\"\\\"$@\\\"; exit 0\",\"sh\",\"{command}\"]"};

START_TEST(a_launcher_that_confines_nothing_escapes_everywhere)
{
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher = zsb_live_launcher(naked[_i], dir.path);
    zsb_live_run(launcher, NULL, 0, &campaign);
    for (size_t i = 0; i < campaign.trial_count; i++) {
        const struct zsb_trial_result *trial = &campaign.trials[i];
        /* Without environment secrets there is nothing to leak, and that launcher file gives none. */
        bool excused =
            trial->verdict == ZSB_VERDICT_NOT_APPLICABLE || strcmp(trial->probe->id, "env.secret") == 0;
        ck_assert_msg(trial->verdict == ZSB_VERDICT_ESCAPED || excused, "%s is %s: %s", trial->probe->id,
                      zsb_verdict_name(trial->verdict), trial->detail);
    }
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

/* Honest to the canary and the twin. For an attempt it starts the genuine probe, words, pipe and all, but
 * lets it block on its first line, and writes the report itself. Only the seal tells the two apart. */
static const char idle_probe[] =
    "import fcntl, os, select, signal, sys\n"
    "argv = sys.argv[1:]\n"
    "if argv[1] != 'attempt':\n"
    "    os.execv(argv[0], argv)\n"
    "nonce = [a[6:] for a in argv if a.startswith('nonce=')][0]\n"
    "r, w = os.pipe()\n"
    "fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)\n"
    "try:\n"
    "    while True:\n"
    "        os.write(w, b'x' * 4096)\n"
    "except BlockingIOError:\n"
    "    fcntl.fcntl(w, fcntl.F_SETFL, 0)\n"
    "os.set_inheritable(w, True)\n"
    "pid = os.fork()\n"
    "if pid == 0:\n"
    "    os.execve(argv[0], argv, dict(os.environ, ZSB_RESULT_FD=str(w)))\n"
    "def end(*ignored):\n"
    "    os.kill(pid, 9)\n"
    "    os._exit(0)\n"
    "signal.signal(signal.SIGTERM, end)\n"
    "select.select([], [], [], 0.1)\n"
    "lines = ['hello %s attempt fd' % argv[2]] + ['result %s 1 ' % n + errno + ' -' for n in names] + "
    "['done']\n"
    "os.write(3, ''.join('ZSB1 %s %s\\n' % (nonce, l) for l in lines).encode())\n"
    "p = select.poll()\n"
    "p.register(3, 0)\n"
    "p.poll(8000)\n"
    "end()\n";

START_TEST(a_report_beside_an_idle_genuine_probe_is_not_its_own)
{
    static const char *const globs[] = {"net.udp"};
    const struct zsb_probe *probe = zsb_probe_find(globs[0]);
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_addf(&text, "errno = '%d'\nnames = [", probe->deny_errnos[0]);
    for (size_t i = 0; i < probe->attempt_count; i++)
        zsb_buf_addf(&text, "'%s', ", probe->attempts[i].name);
    zsb_buf_addf(&text, "]\n%s", idle_probe);
    ck_assert_int_eq(zsb_lab_write_file(dir.fd, "idle", text.data, 0600), 0);
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher = zsb_live_launcher("[\"python3\",\"{dir}/idle\",\"{command}\"]", dir.path);
    zsb_live_run(launcher, globs, 1, &campaign);
    const struct zsb_trial_result *trial = zsb_live_trial(&campaign, globs[0]);
    ck_assert_msg(trial->verdict == ZSB_VERDICT_ERROR &&
                      strstr(trial->detail, "not the one that the probe") != NULL,
                  "%s: %s", zsb_verdict_name(trial->verdict), trial->detail);
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

/* The report then comes framed on standard output, and the campaign says so. */
START_TEST(a_closed_result_pipe_falls_back_to_standard_output)
{
    static const char *const globs[] = {"fs.write-outside"};
    struct zsb_campaign campaign;
    struct zsb_launcher *launcher =
        zsb_live_launcher("[\"sh\",\"-c\",\"exec \\\"$@\\\" 3>&-\",\"sh\",\"{command}\"]", dir.path);
    zsb_live_run(launcher, globs, 1, &campaign);
    const struct zsb_trial_result *trial = zsb_live_trial(&campaign, "fs.write-outside");
    ck_assert_int_eq((int)trial->verdict, (int)ZSB_VERDICT_ESCAPED);
    ck_assert_str_eq(trial->arms[ZSB_ARM_CONFINED].via, "stdout");
    ck_assert_str_eq(trial->arms[ZSB_ARM_BARE].via, "fd");
    zsb_campaign_clear(&campaign);
    zsb_launcher_free(launcher);
}
END_TEST

static const struct {
    const char *glob;
    bool any_mode;
    const char *names; /* in the message */
} unusable[] = {
    {"no.such-probe", true, "no.such-probe"},
    {"fs.*", false, "mode"},
};

START_TEST(a_campaign_without_trials_is_an_error)
{
    static const enum zsb_mode modes[] = {ZSB_MODE_WORKSPACE_WRITE, ZSB_MODE_READ_ONLY};
    struct zsb_campaign campaign;
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_launcher *launcher = zsb_live_launcher("[\"{command}\"]", dir.path);
    struct zsb_campaign_options options = {.subject = {.kind = ZSB_SUBJECT_LAUNCHER, .launcher = launcher},
                                           .modes = modes,
                                           .mode_count = unusable[_i].any_mode ? 2 : 1,
                                           .probe_globs = &unusable[_i].glob,
                                           .probe_glob_count = 1,
                                           .escapes_path = ZSB_TEST_ESCAPES,
                                           .lab_parent = dir.path};
    ck_assert_int_eq(zsb_campaign_run(&options, &campaign, &err), -ZSB_E_INVALID_ARGUMENT);
    ck_assert_msg(strstr(err.msg, unusable[_i].names) != NULL, "\"%s\"", err.msg);
    zsb_launcher_free(launcher);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lies");
    TCase *tcase = tcase_create("launchers");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_lying_launcher_is_never_held, 0, (int)ZSB_ARRAY_SIZE(liars));
    tcase_add_loop_test(tcase, a_launcher_that_confines_nothing_escapes_everywhere, 0,
                        (int)ZSB_ARRAY_SIZE(naked));
    tcase_add_test(tcase, a_report_beside_an_idle_genuine_probe_is_not_its_own);
    tcase_add_test(tcase, a_closed_result_pipe_falls_back_to_standard_output);
    tcase_add_loop_test(tcase, a_campaign_without_trials_is_an_error, 0, (int)ZSB_ARRAY_SIZE(unusable));
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
