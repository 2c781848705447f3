/* SPDX-License-Identifier: MIT
 *
 * What holds for every descriptor.
 */
#include "escapes/catalogue.h"
#include "escapes/context.h"
#include "escapes/tests/runner.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t probe_count(void)
{
    size_t n = 0;
    while (zsb_probe_at(n) != NULL)
        n++;
    return n;
}

static bool is_among(const char *text, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

static bool is_name(const char *text)
{
    return text[0] != '\0' && text[0] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

START_TEST(ids_are_unique_and_well_formed)
{
    for (size_t i = 0; i < probe_count(); i++) {
        const char *id = zsb_probe_at(i)->id;
        const char *dot = strchr(id, '.');
        ck_assert_msg(dot != NULL && dot > id && is_name(dot + 1), "id %s", id);
        ck_assert_msg(zsb_probe_find(id) == zsb_probe_at(i), "id %s stands twice", id);
    }
    ck_assert_ptr_null(zsb_probe_find("fs.no-such-probe"));
    ck_assert_ptr_null(zsb_probe_at(probe_count() + 100));
}
END_TEST

START_TEST(every_file_of_probes_is_in_the_catalogue)
{
    size_t files = 0;
    DIR *dir = opendir(ZSB_TEST_PROBES_DIR);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        char id[NAME_MAX + 1];
        if (length < 3 || strcmp(entry->d_name + length - 2, ".c") != 0)
            continue;
        files++;
        (void)snprintf(id, sizeof(id), "%.*s", (int)length - 2, entry->d_name);
        for (char *c = id, *first = strchr(id, '_'); *c != '\0'; c++)
            if (*c == '_')
                *c = c == first ? '.' : '-';
        ck_assert_msg(zsb_probe_find(id) != NULL, "%s holds no probe %s", entry->d_name, id);
    }
    (void)closedir(dir);
    ck_assert_uint_eq(files, probe_count());
}
END_TEST

START_TEST(every_descriptor_is_complete)
{
    static const char *const boundaries[] = {"filesystem", "process",     "network", "privilege", "terminal",
                                             "descriptor", "environment", "ipc",     "lifetime",  NULL};
    for (size_t i = 0; i < probe_count(); i++) {
        const struct zsb_probe *probe = zsb_probe_at(i);
        size_t claim = probe->claim != NULL ? strlen(probe->claim) : 0;
        ck_assert_msg(claim > 20 && probe->claim[claim - 1] == '.', "%s: claim", probe->id);
        ck_assert_msg(probe->boundary != NULL && is_among(probe->boundary, boundaries), "%s: boundary",
                      probe->id);
        ck_assert_msg(probe->refs != NULL && probe->refs[0] != '\0', "%s: refs", probe->id);
        ck_assert_msg(probe->benign != NULL && probe->benign_claim != NULL && probe->benign_claim[0] != '\0',
                      "%s: benign twin", probe->id);
        ck_assert_msg(probe->modes != 0 && (probe->modes & ~(unsigned)ZSB_IN_BOTH) == 0, "%s: modes",
                      probe->id);
        ck_assert_msg(probe->networks != 0 && (probe->networks & ~(unsigned)ZSB_NET_BOTH) == 0,
                      "%s: networks", probe->id);
        ck_assert_msg(probe->deny_errnos != NULL && probe->deny_errnos[0] > 0, "%s: deny_errnos", probe->id);
        ck_assert_msg(probe->attempts != NULL && probe->attempt_count > 0, "%s: attempts", probe->id);
        ck_assert_msg(probe->required, "%s: nothing in this catalogue is optional", probe->id);
    }
}
END_TEST

/* The witness looks only at the target: one that it cannot understand would never trip. */
static bool is_target_of(enum zsb_witness witness, const char *target)
{
    static const char *const flags[] = {"file",      "deny-file",  "deny-dir", "deny-ws", "memory", "environ",
                                        "victim-fd", "caller-env", "shm",      "fd-file", "fd-dir", NULL};
    static const char *const listeners[] = {
        "tcp4",           "tcp6", "udp4", "udp6", "unix-stream", "unix-dgram", "abstract-stream",
        "abstract-dgram", "fifo", NULL};
    static const char *const privileges[] = {"capabilities", "no-new-privs", "seccomp", NULL};
    static const char *const namespaces[] = {"user", "mnt", "net", "pid", NULL};
    static const char *const signals[] = {"USR1", "USR2", "WINCH", "URG", "IO", NULL};
    switch (witness) {
    case ZSB_WITNESS_TREE:
        return target[0] != '/' && strstr(target, "..") == NULL && strchr(target, '/') != NULL;
    case ZSB_WITNESS_CAPTURE:
        return is_among(target, flags);
    case ZSB_WITNESS_ACCEPT:
        return is_among(target, listeners);
    case ZSB_WITNESS_SIGNAL:
        return is_among(target, signals);
    case ZSB_WITNESS_NAMESPACE:
        return is_among(target, namespaces);
    case ZSB_WITNESS_PRIVILEGE:
        return is_among(target, privileges);
    case ZSB_WITNESS_DESCRIPTOR:
        return target[0] == '/' || strchr(target, ':') != NULL;
    case ZSB_WITNESS_SURVIVOR:
        return strncmp(target, "zsb-", 4) == 0 && strlen(target) <= 15;
    case ZSB_WITNESS_MEMORY:
    case ZSB_WITNESS_TERMINAL:
    case ZSB_WITNESS_TRACED:
    case ZSB_WITNESS_SHM:
        return target[0] != '\0';
    case ZSB_WITNESS_COUNT:
        break;
    }
    return false;
}

START_TEST(every_attempt_is_complete_and_has_a_target_that_its_witness_understands)
{
    for (size_t i = 0; i < probe_count(); i++) {
        const struct zsb_probe *probe = zsb_probe_at(i);
        for (size_t j = 0; j < probe->attempt_count; j++) {
            const struct zsb_attempt *attempt = &probe->attempts[j];
            ck_assert_msg(attempt->name != NULL && is_name(attempt->name), "%s attempt %zu: name", probe->id,
                          j);
            ck_assert_msg(attempt->run != NULL, "%s %s: run", probe->id, attempt->name);
            ck_assert_msg(attempt->target != NULL && is_target_of(attempt->witness, attempt->target),
                          "%s %s: target", probe->id, attempt->name);
            for (size_t k = 0; k < j; k++)
                ck_assert_msg(strcmp(probe->attempts[k].name, attempt->name) != 0, "%s %s: stands twice",
                              probe->id, attempt->name);
        }
    }
}
END_TEST

/* One attempt's effect must not pass for another's. Where the witness sees the plant flag, the flag tells. */
START_TEST(attempts_that_leave_a_lasting_trace_have_targets_of_their_own)
{
    for (size_t i = 0; i < probe_count(); i++) {
        const struct zsb_probe *probe = zsb_probe_at(i);
        for (size_t j = 0; j < probe->attempt_count; j++)
            for (size_t k = 0; k < j; k++) {
                const struct zsb_attempt *a = &probe->attempts[j], *b = &probe->attempts[k];
                bool own = a->witness == ZSB_WITNESS_TREE || a->witness == ZSB_WITNESS_SIGNAL ||
                           a->witness == ZSB_WITNESS_NAMESPACE || a->witness == ZSB_WITNESS_PRIVILEGE ||
                           a->witness == ZSB_WITNESS_SURVIVOR || a->witness == ZSB_WITNESS_MEMORY ||
                           a->witness == ZSB_WITNESS_SHM;
                bool same = own && a->witness == b->witness && strcmp(a->target, b->target) == 0;
                /* Moving a directory away and exchanging it can only be seen on the directory. */
                bool whole_directory = strcmp(probe->id, "fs.protected-existing") == 0 &&
                                       strncmp(a->name, "exchange-", 9) == 0 &&
                                       strncmp(b->name, "rename-", 7) == 0;
                ck_assert_msg(!same || whole_directory, "%s: %s and %s share %s", probe->id, a->name, b->name,
                              a->target);
            }
    }
}
END_TEST

START_TEST(every_probe_that_was_asked_for_is_there)
{
    static const char *const ids[] = {
        "fs.write-workspace",
        "fs.write-outside",
        "fs.symlink-existing",
        "fs.symlink-planted",
        "fs.symlink-directory",
        "fs.symlink-dangling",
        "fs.hardlink-out",
        "fs.rename-over-outside",
        "fs.metadata-outside",
        "fs.protected-existing",
        "fs.protected-missing",
        "fs.deny-read",
        "proc.ptrace-outside",
        "proc.ptrace-child",
        "proc.vm-readv",
        "proc.vm-writev",
        "proc.mem-file",
        "proc.environ-outside",
        "proc.signal-outside",
        "proc.pidfd-getfd",
        "net.tcp",
        "net.udp",
        "net.unix-pathname",
        "net.unix-abstract",
        "net.unix-datagram",
        "net.io-uring",
        "net.foreign-abi",
        "priv.capabilities",
        "priv.user-namespace",
        "priv.remount",
        "tty.inject",
        "fd.inherited-file",
        "fd.inherited-directory",
        "env.secret",
        "ipc.sysv-shm",
        "life.outlive",
    };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        ck_assert_msg(zsb_probe_find(ids[i]) != NULL, "%s", ids[i]);
}
END_TEST

/* The classic mistakes: a path that was looked up, and an object that is merely hidden, are no refusals. */
START_TEST(a_pathname_socket_that_answers_is_never_a_denial)
{
    static const char *const ids[] = {"net.unix-pathname", "net.unix-datagram", "net.io-uring",
                                      "net.foreign-abi"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        for (const int *number = zsb_probe_find(ids[i])->deny_errnos; *number != 0; number++)
            ck_assert_msg(*number != 111 && *number != 2, "%s takes errno %d for a denial", ids[i], *number);
}
END_TEST

START_TEST(unix_sockets_are_attacked_with_network_allowed_too)
{
    static const char *const ids[] = {"net.unix-pathname", "net.unix-datagram", "net.unix-abstract",
                                      "net.io-uring", "net.foreign-abi"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        ck_assert_uint_eq(zsb_probe_find(ids[i])->networks, ZSB_NET_BOTH);
}
END_TEST

START_TEST(what_probes_prepare_fits_into_a_fresh_lab)
{
    for (size_t i = 0; i < probe_count(); i++) {
        const struct zsb_probe *probe = zsb_probe_at(i);
        struct lab lab;
        if (probe->prepare == NULL)
            continue;
        lab_open(&lab, probe->fixture == ZSB_FIXTURE_REPO);
        int fd = open(lab.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int rc = probe->prepare(fd);
        ck_assert_msg(rc == 0, "%s: %s", probe->id, strerror(-rc));
        ck_assert_msg(probe->prepare(fd) < 0, "%s: prepares over what is there", probe->id);
        (void)close(fd);
        lab_close(&lab);
    }
}
END_TEST

START_TEST(plant_flags_are_flags_and_differ_by_attempt_and_by_plant)
{
    char flags[64][33], other[33];
    for (size_t i = 0; i < 64; i++) {
        zsb_plant_derive(TEST_PLANT, i, flags[i]);
        ck_assert(zsb_is_flag(flags[i]));
        ck_assert_str_ne(flags[i], TEST_PLANT);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(flags[i], flags[k]);
    }
    zsb_plant_derive("0123456789abcdef0123456789abcdee", 0, other);
    ck_assert_str_ne(other, flags[0]);
    zsb_plant_derive(TEST_PLANT, 0, other);
    ck_assert_str_eq(other, flags[0]);
}
END_TEST

START_TEST(words_are_looked_up_by_their_whole_key)
{
    static const char *const words[] = {"tcp4=80",    "lab=/lab", "shmid=-3",
                                        "fd-file=7x", "victim=",  "mode=workspace-write"};
    static struct zsb_ctx ctx;
    ctx.words = words;
    ctx.word_count = sizeof(words) / sizeof(words[0]);
    ck_assert_ptr_null(zsb_arg(&ctx, "tcp"));
    ck_assert_str_eq(zsb_arg(&ctx, "tcp4"), "80");
    ck_assert_int_eq(zsb_arg_long(&ctx, "tcp4"), 80);
    ck_assert_int_eq(zsb_arg_long(&ctx, "shmid"), -1);
    ck_assert_int_eq(zsb_arg_long(&ctx, "fd-file"), -1);
    ck_assert_int_eq(zsb_arg_long(&ctx, "victim"), -1);
    ck_assert_int_eq(zsb_arg_long(&ctx, "udp4"), -1);
    ck_assert(!zsb_read_only_mode(&ctx));
    ck_assert_str_eq(zsb_path(&ctx, "out/x"), "/lab/out/x");
}
END_TEST

START_TEST(captures_beyond_the_maximum_are_dropped)
{
    static struct zsb_ctx ctx;
    static char data[3000];
    memset(data, 'x', sizeof(data));
    zsb_ctx_begin(&ctx, 0);
    zsb_capture(&ctx, data, sizeof(data));
    zsb_capture(&ctx, data, sizeof(data));
    zsb_capture(&ctx, data, sizeof(data));
    ck_assert_uint_eq(ctx.capture_bytes, ZSB_CAPTURE_MAX);
    zsb_ctx_begin(&ctx, 1);
    ck_assert_uint_eq(ctx.capture_bytes, 0);
}
END_TEST

START_TEST(every_witness_has_a_name)
{
    for (unsigned i = 0; i < ZSB_WITNESS_COUNT; i++) {
        ck_assert_str_ne(zsb_witness_name((enum zsb_witness)i), "unknown");
        for (unsigned k = 0; k < i; k++)
            ck_assert_str_ne(zsb_witness_name((enum zsb_witness)i), zsb_witness_name((enum zsb_witness)k));
    }
    ck_assert_str_eq(zsb_witness_name(ZSB_WITNESS_COUNT), "unknown");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *tcase = tcase_create("catalogue");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, ids_are_unique_and_well_formed);
    tcase_add_test(tcase, every_file_of_probes_is_in_the_catalogue);
    tcase_add_test(tcase, every_descriptor_is_complete);
    tcase_add_test(tcase, every_attempt_is_complete_and_has_a_target_that_its_witness_understands);
    tcase_add_test(tcase, attempts_that_leave_a_lasting_trace_have_targets_of_their_own);
    tcase_add_test(tcase, every_probe_that_was_asked_for_is_there);
    tcase_add_test(tcase, a_pathname_socket_that_answers_is_never_a_denial);
    tcase_add_test(tcase, unix_sockets_are_attacked_with_network_allowed_too);
    tcase_add_test(tcase, what_probes_prepare_fits_into_a_fresh_lab);
    tcase_add_test(tcase, plant_flags_are_flags_and_differ_by_attempt_and_by_plant);
    tcase_add_test(tcase, words_are_looked_up_by_their_whole_key);
    tcase_add_test(tcase, captures_beyond_the_maximum_are_dropped);
    tcase_add_test(tcase, every_witness_has_a_name);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    labs_begin();
    srunner_run_all(runner, CK_ENV);
    labs_end();
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
