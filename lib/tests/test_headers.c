/* SPDX-License-Identifier: MIT
 *
 * The headers themselves are tested by compiling them (headers.cmake); here: the shared library exports
 * exactly what they declare.
 */
#include "api_names.h"
#include "lib/tests/support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *library;

static void open_library(void)
{
    library = dlopen(ZSB_TEST_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
}

static void close_library(void)
{
    (void)dlclose(library);
}

START_TEST(declared_function_is_exported)
{
    ck_assert_msg(dlsym(library, api_names[_i]) != NULL, "%s", api_names[_i]);
}
END_TEST

START_TEST(declarations_were_found_in_the_headers)
{
    static const char *const some[] = {"zsb_policy_new", "zsb_prepare", "zsb_process_wait", "zsb_code_name",
                                       "zsb_plan_step"};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(some); i++) {
        bool found = false;
        for (size_t k = 0; k < ZSB_ARRAY_SIZE(api_names); k++)
            found = found || strcmp(some[i], api_names[k]) == 0;
        ck_assert_msg(found, "%s", some[i]);
    }
}
END_TEST

static bool is_declared(const char *symbol)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(api_names); i++)
        if (strcmp(symbol, api_names[i]) == 0)
            return true;
    return false;
}

START_TEST(nothing_else_is_exported)
{
    FILE *symbols = popen("nm -D --defined-only --format=posix '" ZSB_TEST_SHARED_LIBRARY "'", "r");
    ck_assert_ptr_nonnull(symbols);
    char name[256];
    size_t count = 0;
    while (fscanf(symbols, "%255s%*[^\n]", name) == 1) {
        count++;
        ck_assert_msg(is_declared(name), "%s is exported and not declared in a public header", name);
    }
    ck_assert_int_eq(pclose(symbols), 0);
    ck_assert_uint_eq(count, ZSB_ARRAY_SIZE(api_names));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("headers");
    TCase *tests = zsb_test_case(suite, "headers", 20);
    tcase_add_checked_fixture(tests, open_library, close_library);
    tcase_add_test(tests, declarations_were_found_in_the_headers);
    tcase_add_loop_test(tests, declared_function_is_exported, 0, (int)ZSB_ARRAY_SIZE(api_names));
    /* Instrumentation exports symbols of its own. */
    if (!ZSB_TEST_INSTRUMENTED)
        tcase_add_test(tests, nothing_else_is_exported);
    return zsb_test_run(suite, CK_FORK);
}
