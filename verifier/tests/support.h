/* SPDX-License-Identifier: MIT
 *
 * Shared by the verifier's tests.
 */
#ifndef ZSB_VERIFIER_TEST_SUPPORT_H
#define ZSB_VERIFIER_TEST_SUPPORT_H

#include "lib/util/util.h"

#include <check.h>
#include <limits.h>
#include <stdbool.h>

/* Runs the suite without Check's own fork (probes and children are ours to manage) and returns main's status.
 */
int zsb_test_main(Suite *suite);

/* A new directory below /var/tmp, removed by zsb_test_dir_remove(). */
struct zsb_test_dir {
    char path[PATH_MAX];
    int fd;
};
void zsb_test_dir_make(struct zsb_test_dir *dir);
void zsb_test_dir_remove(struct zsb_test_dir *dir);

/* Entries of a directory, without "." and "..". */
size_t zsb_test_count_entries(const char *path);

#endif
