/* SPDX-License-Identifier: MIT
 *
 * Every seed of the fuzzers, whole, cut short at every byte and with bytes changed.
 */
#include "lib/tests/fuzz.h"
#include "lib/tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { MUTATIONS = 2000 };

static const struct {
    const char *directory;
    void (*run)(const uint8_t *data, size_t size_bytes);
} targets[] = {
    {ZSB_TEST_CORPUS "/config", zsb_fuzz_config},
    {ZSB_TEST_CORPUS "/mountinfo", zsb_fuzz_mountinfo},
};

static uint32_t seed;

static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

static void mutate(uint8_t *bytes, size_t size)
{
    static const char telling[] = "\0\0=:/ ,\\0179\xff";
    for (uint32_t changes = 1 + next_random(4); changes > 0; changes--)
        bytes[next_random((uint32_t)size)] = (uint8_t)telling[next_random(sizeof(telling) - 1)];
}

static void run_seed(int directory_fd, const char *name, void (*run)(const uint8_t *, size_t))
{
    char *text = NULL;
    size_t size = 0;
    ck_assert_msg(zsb_read_file_at(directory_fd, name, 1 << 16, &text, &size) == 0, "%s", name);
    ck_assert_msg(size > 0, "%s is empty", name);
    for (size_t cut = 0; cut <= size; cut++)
        run((const uint8_t *)text, cut);
    ZSB_AUTO_FREE uint8_t *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(bytes, text, size);
        mutate(bytes, size);
        run(bytes, size);
    }
    free(text);
}

START_TEST(parsers_survive_the_corpus)
{
    DIR *dir = opendir(targets[_i].directory);
    ck_assert_msg(dir != NULL, "%s", targets[_i].directory);
    size_t seeds = 0;
    seed = 1;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        run_seed(dirfd(dir), entry->d_name, targets[_i].run);
        seeds++;
    }
    (void)closedir(dir);
    ck_assert_uint_gt(seeds, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("corpus");
    TCase *tests = zsb_test_case(suite, "corpus", 60);
    tcase_add_loop_test(tests, parsers_survive_the_corpus, 0, (int)ZSB_ARRAY_SIZE(targets));
    return zsb_test_run(suite, CK_FORK);
}
