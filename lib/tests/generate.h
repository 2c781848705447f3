/* SPDX-License-Identifier: MIT
 *
 * Policies by chance, the same for the same seed, over a small tree in the test's directory.
 */
#ifndef ZSB_TESTS_GENERATE_H
#define ZSB_TESTS_GENERATE_H

#include <zuno/policy.h>

#include <stdint.h>

enum { ZSB_GENERATED_MAX = 6 };

struct zsb_generator {
    uint32_t state;
    const char *roots[ZSB_GENERATED_MAX];
    const char *protects[ZSB_GENERATED_MAX];
    const char *denies[ZSB_GENERATED_MAX];
};

/* Directories d0..d3 with directories e0..e3 and files f0..f3 in each. */
void zsb_generate_tree(void);
/* Workspace-write in d0; canonical paths, no path twice in one list. Borrows from the generator. */
void zsb_generate_options(struct zsb_generator *generator, struct zsb_policy_options *out_options);

#endif
