/* SPDX-License-Identifier: MIT
 *
 * The helper from outside: what it refuses, and what it makes of a process without capabilities. Needs no
 * sandbox.
 */
#include "lib/tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char helper[] = ZSB_TEST_HELPER;

static int exit_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const struct {
    const char *words[5];
    int status;
    const char *output;
    const char *reason;
} misuses[] = {
    {{NULL}, 125, "usage", "no words"},
    {{"deny"}, 125, "usage", "no command"},
    {{"deny", "--"}, 125, "usage", "empty command"},
    {{"deny", "true"}, 125, "usage", "no dashes"},
    {{"denied", "--", "true"}, 125, "cannot confine", "the name used in reports is no option"},
    {{"", "--", "true"}, 125, "cannot confine", "empty network"},
    {{"deny", "--config"}, 125, "usage", "no descriptor"},
    {{"deny", "--config", "x"}, 125, "usage", "descriptor is no number"},
    {{"deny", "--config", "-1"}, 125, "usage", "negative descriptor"},
    {{"deny", "--config", "99999999999"}, 125, "usage", "descriptor too large"},
    {{"deny", "--config", "999"}, 125, "", "descriptor is not open"},
    {{"native", "--config", "999"}, 125, "", "descriptor is not open"},
    {{"other", "--config", "0"}, 125, "", "unknown verb"},
    {{"hold"}, 125, "usage", "nothing to hold"},
    {{"hold", "--socket", "0"}, 125, "", "no names"},
    {{"hold", "--socket", "x", "3:a"}, 125, "", "socket is no number"},
    {{"hold", "-socket", "0", "3:a"}, 125, "", "unknown option"},
    {{"hold", "--socket", "0", "3"}, 125, "", "no name"},
    {{"hold", "--socket", "0", "3:"}, 125, "", "empty name"},
    {{"hold", "--socket", "0", "3:a/b"}, 125, "", "a path is no name"},
    {{"hold", "--socket", "0", "x:a"}, 125, "", "directory is no number"},
    {{"true"}, 0, "", "the self-test's command"},
};

START_TEST(wrong_words_are_refused)
{
    const char *argv[7] = {helper};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(misuses[_i].words); i++)
        argv[i + 1] = misuses[_i].words[i];
    int status = 0;
    const char *output = zsb_test_output(argv, NULL, &status);
    ck_assert_msg(exit_of(status) == misuses[_i].status, "%s: status 0x%x", misuses[_i].reason,
                  (unsigned)status);
    ck_assert_msg(misuses[_i].output[0] == '\0' ? output[0] == '\0'
                                                : strstr(output, misuses[_i].output) != NULL,
                  "%s: \"%s\"", misuses[_i].reason, output);
}
END_TEST

/* Everybody has a bounding set; only a sandbox takes it away. */
START_TEST(process_that_could_gain_capabilities_is_not_confined)
{
    const char *mark = zsb_test_at("mark");
    const char *const argv[] = {helper, _i == 0 ? "deny" : "allow", "--", "touch", mark, NULL};
    int status = 0;
    const char *output = zsb_test_output(argv, NULL, &status);
    ck_assert_int_eq(exit_of(status), 125);
    ck_assert_msg(strstr(output, "capability set") != NULL, "%s", output);
    ck_assert(!zsb_test_exists(mark));
}
END_TEST

START_TEST(diagnosis_is_a_name_and_a_number)
{
    const char *const argv[] = {helper, "diagnose", _i == 0 ? "deny" : "allow", NULL};
    int status = 0;
    const char *output = zsb_test_output(argv, NULL, &status);
    size_t name = strspn(output, "abcdefghijklmnopqrstuvwxyz_");
    ck_assert_msg(name > 0 && output[name] == ' ', "%s", output);
    bool ok = strncmp(output, "ok ", 3) == 0;
    ck_assert_int_eq(exit_of(status), ok ? 0 : 1);
    ck_assert_msg(strcmp(output + name, " 0\n") == 0 || !ok, "%s", output);
}
END_TEST

/* All five sets to zero, as a sandbox does. */
static void drop_everything(void)
{
    cap_t none = cap_init();
    for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
        if (cap_drop_bound(cap) != 0)
            _exit(99);
    if (none == NULL || cap_reset_ambient() != 0 || cap_set_proc(none) != 0)
        _exit(98);
    (void)cap_free(none);
    /* One that the caller forgot to close. */
    if (open("/", O_RDONLY | O_DIRECTORY) < 0)
        _exit(97);
}

static const char *confined(const char *network, const char *script, int *out_status)
{
    const char *const argv[] = {helper, network, "--", "sh", "-c", script, NULL};
    return zsb_test_output(argv, drop_everything, out_status);
}

static const struct {
    const char *network;
    const char *script;
    const char *output;
    const char *reason;
} facts[] = {
    {"deny", "grep -h -e NoNewPrivs -e 'Seccomp:' -e CapBnd -e CapEff /proc/self/status | tr -s '\\t\\n' ' '",
     "CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 ", "everything is in place"},
    {"deny", "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ", "no descriptor but ls's own"},
    {"deny", "unshare -U true 2>/dev/null; echo $?", "1\n", "no new namespace"},
    {"deny", "python3 -c 'import socket; socket.socket(socket.AF_INET)' 2>&1 | grep -c PermissionError",
     "1\n", "no TCP"},
    {"deny", "python3 -c 'import socket; socket.socketpair()' && echo ok", "ok\n", "pairs work"},
    {"deny", "python3 -c 'import socket; socket.if_nameindex()' && echo ok", "ok\n", "interfaces are listed"},
    {"allow", "python3 -c 'import socket; socket.socket(socket.AF_INET)' && echo ok", "ok\n", "TCP"},
    {"allow", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>&1 | grep -c PermissionError",
     "1\n", "no unix sockets: one of them could be a container engine's"},
};

START_TEST(process_without_capabilities_is_confined)
{
    int status = 0;
    const char *output = confined(facts[_i].network, facts[_i].script, &status);
    ck_assert_msg(strcmp(output, facts[_i].output) == 0, "%s: \"%s\"", facts[_i].reason, output);
    ck_assert_msg(exit_of(status) == 0, "%s: status 0x%x", facts[_i].reason, (unsigned)status);
}
END_TEST

START_TEST(command_that_cannot_run_has_the_shells_status)
{
    zsb_test_write(zsb_test_at("plain"), "x");
    const char *const argv[] = {helper, "deny", "--", _i == 0 ? "/nowhere" : zsb_test_at("plain"), NULL};
    int status = 0;
    const char *output = zsb_test_output(argv, drop_everything, &status);
    ck_assert_msg(exit_of(status) == (_i == 0 ? 127 : 126), "status 0x%x: %s", (unsigned)status, output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("become");
    TCase *tests = zsb_test_case(suite, "become", 30);
    tcase_add_loop_test(tests, wrong_words_are_refused, 0, (int)ZSB_ARRAY_SIZE(misuses));
    tcase_add_loop_test(tests, process_that_could_gain_capabilities_is_not_confined, 0, 2);
    tcase_add_loop_test(tests, diagnosis_is_a_name_and_a_number, 0, 2);
    bool may_drop = zsb_test_has_capability(CAP_SETPCAP);
    if (may_drop) {
        tcase_add_loop_test(tests, process_without_capabilities_is_confined, 0, (int)ZSB_ARRAY_SIZE(facts));
        tcase_add_loop_test(tests, command_that_cannot_run_has_the_shells_status, 0, 2);
    }
    int status = zsb_test_run(suite, CK_FORK);
    /* Root in a container may lack it. */
    return status == 0 && geteuid() == 0 && !may_drop ? zsb_test_cannot("no CAP_SETPCAP") : status;
}
