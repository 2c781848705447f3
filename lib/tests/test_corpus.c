/* SPDX-License-Identifier: MIT
 *
 * Every seed, whole, cut short at every byte and with bytes changed.
 */
#include "lib/helper/helper.h"
#include "lib/tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { MUTATIONS = 2000 };

/* What must hold of every input that is accepted. */
static void check_accepted(const struct zsb_helper_config *config)
{
    ck_assert(config->status_fd >= 0);
    ck_assert(config->cwd != NULL && config->cwd[0] == '/');
    ck_assert(config->argc > 0 && config->argv[config->argc] == NULL);
    for (size_t i = 0; i < config->argc; i++)
        ck_assert(config->argv[i] != NULL);
    ck_assert(config->environment != NULL && config->environment[config->environment_count] == NULL);
    for (size_t i = 0; i < config->audit_count; i++)
        ck_assert(config->audits[i].path[0] == '/' && config->audits[i].kind < ZSB_AUDIT_KIND_COUNT);
    for (size_t i = 0; i < config->grant_count; i++)
        ck_assert(config->grants[i] >= 3);
    ck_assert(config->outer_count <= ZSB_ARRAY_SIZE(config->outer));
}

static void parse_config(const uint8_t *data, size_t size_bytes)
{
    struct zsb_helper_config config;
    struct zsb_error err = ZSB_ERROR_INIT;
    char *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    ck_assert(copy != NULL);
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    int rc = zsb_helper_config_parse(copy, size_bytes, &config, &err);
    if (rc == 0) {
        check_accepted(&config);
        zsb_helper_config_clear(&config); /* frees the copy */
        return;
    }
    ck_assert(err.code == ZSB_E_HELPER || err.code == ZSB_E_NO_MEMORY);
    ck_assert(err.stage == ZSB_STAGE_CONFINE && strchr(err.msg, '\n') == NULL);
    free(copy);
}

static void parse_mountinfo(const uint8_t *data, size_t size_bytes)
{
    uint64_t id = 0;
    char *point = NULL;
    bool writable = false;
    char *line = malloc(size_bytes + 1);
    ck_assert(line != NULL);
    if (size_bytes > 0)
        memcpy(line, data, size_bytes);
    line[size_bytes] = '\0';
    if (zsb_mountinfo_parse_line(line, &id, &point, &writable)) {
        ck_assert(point >= line && point < line + size_bytes && point[0] == '/');
        ck_assert(point + strlen(point) <= line + size_bytes);
    }
    free(line);
}

static const struct {
    const char *directory;
    void (*run)(const uint8_t *data, size_t size_bytes);
} targets[] = {
    {ZSB_TEST_CORPUS "/config", parse_config},
    {ZSB_TEST_CORPUS "/mountinfo", parse_mountinfo},
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
