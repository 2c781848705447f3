/* SPDX-License-Identifier: MIT */
#include "lib/tests/generate.h"
#include "lib/tests/support.h"

#include <string.h>

enum { WIDTH = 4 };

void zsb_generate_tree(void)
{
    for (int d = 0; d < WIDTH; d++) {
        zsb_test_mkdir(zsb_test_at("d%d", d));
        for (int e = 0; e < WIDTH; e++) {
            zsb_test_mkdir(zsb_test_at("d%d/e%d", d, e));
            zsb_test_write(zsb_test_at("d%d/f%d", d, e), "");
        }
    }
}

static uint32_t draw(struct zsb_generator *generator, uint32_t below)
{
    generator->state = generator->state * 1664525u + 1013904223u;
    return (generator->state >> 16) % below;
}

static const char *draw_directory(struct zsb_generator *generator)
{
    uint32_t d = draw(generator, WIDTH);
    return draw(generator, 3) == 0 ? zsb_test_at("d%u", d)
                                   : zsb_test_at("d%u/e%u", d, draw(generator, WIDTH));
}

static const char *draw_entry(struct zsb_generator *generator)
{
    uint32_t kind = draw(generator, 4);
    if (kind > 1)
        return draw_directory(generator);
    uint32_t d = draw(generator, WIDTH);
    /* A file, or a name that does not exist. */
    return zsb_test_at("d%u/%c%u", d, kind == 0 ? 'f' : 'n', draw(generator, WIDTH));
}

static size_t fill(struct zsb_generator *generator, const char **paths,
                   const char *(*draw_path)(struct zsb_generator *))
{
    size_t wanted = draw(generator, ZSB_GENERATED_MAX);
    size_t count = 0;
    for (size_t i = 0; i < wanted; i++) {
        const char *path = draw_path(generator);
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known = known || strcmp(paths[k], path) == 0;
        if (!known)
            paths[count++] = path;
    }
    return count;
}

void zsb_generate_options(struct zsb_generator *generator, struct zsb_policy_options *out_options)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.mode = ZSB_MODE_WORKSPACE_WRITE;
    options.workspace = zsb_test_at("d0");
    options.writable_roots = generator->roots;
    options.writable_root_count = fill(generator, generator->roots, draw_directory);
    options.protected_paths = generator->protects;
    options.protected_path_count = fill(generator, generator->protects, draw_entry);
    options.deny_paths = generator->denies;
    options.deny_path_count = fill(generator, generator->denies, draw_entry);
    *out_options = options;
}
