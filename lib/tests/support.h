/* SPDX-License-Identifier: MIT
 *
 * What the tests of lib/ share: a disposable directory per test, small file helpers that fail the test, and a
 * runner. Strings returned here live until the test's teardown.
 */
#ifndef ZSB_TESTS_SUPPORT_H
#define ZSB_TESTS_SUPPORT_H

#include "lib/util/util.h"

#include <check.h>
#include <sys/stat.h>

/* Fixture (checked): a fresh empty directory below /var/tmp, which stays visible in a sandbox. */
void zsb_test_setup(void);
void zsb_test_teardown(void);

/* The directory itself, canonical. */
const char *zsb_test_dir(void);
/* Another one, below /tmp, which a sandbox hides. */
const char *zsb_test_hidden_dir(void);
/* "DIR/text" after formatting. */
ZSB_PRINTF(1, 2) const char *zsb_test_at(const char *format, ...);
ZSB_PRINTF(1, 2) const char *zsb_test_text(const char *format, ...);

/* Paths as given (use zsb_test_at). All fail the test on any error. */
void zsb_test_mkdir(const char *path);
void zsb_test_write(const char *path, const char *text);
void zsb_test_symlink(const char *target, const char *path);
const char *zsb_test_read(const char *path);
/* lstat() finds something. */
bool zsb_test_exists(const char *path);
/* Names in a directory, without "." and "..". */
size_t zsb_test_count_names(const char *path);
/* Open descriptors of this process. */
size_t zsb_test_count_fds(void);
/* Runs a program from PATH with its output discarded; fails the test unless it exits with 0. */
void zsb_test_command(const char *const argv[]);
/* Runs a program with stdout and stderr together returned and its wait status; `prepare` runs in the child.
 */
const char *zsb_test_output(const char *const argv[], void (*prepare)(void), int *out_status);

/* A root-owned /srv with nothing in it and root-owned ancestors, seen by this process only. False when this
 * process may not have one. */
bool zsb_test_private_srv(void);
/* True when root may do so; an ordinary user never can, and nothing is expected of one. */
bool zsb_test_has_capability(int capability);
/* What main returns when the host cannot run a part of the suite: 77, or a failure with ZSB_MUST_WORK=1. */
int zsb_test_cannot(const char *reason);

/* Runs the suite, removes what tests left behind, returns main's status. Frees the runner. */
int zsb_test_run(Suite *suite, enum fork_status fork_status);
/* Adds a case with the fixture and a timeout (seconds), also without forks. */
TCase *zsb_test_case(Suite *suite, const char *name, int timeout_s);

#endif
