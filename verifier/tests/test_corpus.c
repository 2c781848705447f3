/* SPDX-License-Identifier: MIT
 *
 * Replays the corpora through the fuzz targets' own functions, so that what fuzzing once found stays found.
 */
#include "verifier/tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ci/fuzz-targets/fuzz_launcher_file.c and fuzz_result_protocol.c, under names of their own. */
int zsb_fuzz_launcher_file(const uint8_t *data, size_t size_bytes);
int zsb_fuzz_result_protocol(const uint8_t *data, size_t size_bytes);

static const struct {
    const char *directory;
    int (*target)(const uint8_t *data, size_t size_bytes);
} corpora[] = {
    {ZSB_TEST_CORPUS "/launcher", zsb_fuzz_launcher_file},
    {ZSB_TEST_SEEDS "/fuzz_launcher_file", zsb_fuzz_launcher_file},
    {ZSB_TEST_CORPUS "/result", zsb_fuzz_result_protocol},
    {ZSB_TEST_SEEDS "/fuzz_result_protocol", zsb_fuzz_result_protocol},
};

static void replay(int dir_fd, const char *name, int (*target)(const uint8_t *data, size_t size_bytes))
{
    char *data = NULL;
    size_t size = 0;
    ck_assert_int_eq(zsb_read_file_at(dir_fd, name, 1 << 20, &data, &size), 0);
    /* A copy of exactly this size lets the sanitizer see a read past the end. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, data, size);
    ck_assert_int_eq(target(exact, size), 0);
    free(exact);
    free(data);
}

START_TEST(the_corpus_is_harmless)
{
    size_t count = 0;
    DIR *dir = opendir(corpora[_i].directory);
    ck_assert_msg(dir != NULL, "%s", corpora[_i].directory);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] == '.')
            continue;
        replay(dirfd(dir), entry->d_name, corpora[_i].target);
        count++;
    }
    (void)closedir(dir);
    ck_assert_msg(count > 0, "%s is empty", corpora[_i].directory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("corpus");
    TCase *tcase = tcase_create("replay");
    tcase_add_loop_test(tcase, the_corpus_is_harmless, 0, (int)ZSB_ARRAY_SIZE(corpora));
    suite_add_tcase(suite, tcase);
    return zsb_test_main(suite);
}
