/* SPDX-License-Identifier: MIT */
#include "verifier/tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int zsb_test_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

void zsb_test_dir_make(struct zsb_test_dir *dir)
{
    (void)strcpy(dir->path, "/var/tmp/zsb-verifier-test.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir->path));
    dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir->fd, 0);
}

void zsb_test_dir_remove(struct zsb_test_dir *dir)
{
    (void)close(dir->fd);
    ck_assert_int_eq(zsb_remove_tree_at(AT_FDCWD, dir->path), 0);
}

size_t zsb_test_count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 ? 1 : 0;
    (void)closedir(dir);
    return count;
}
