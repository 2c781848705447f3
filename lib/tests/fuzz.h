/* SPDX-License-Identifier: MIT
 *
 * One function per parser of outside bytes: parses, checks what must hold of every accepted input, frees. Run
 * by libFuzzer (-DZSB_FUZZ=ON, clang) and over the corpus by the normal suite.
 */
#ifndef ZSB_TESTS_FUZZ_H
#define ZSB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

void zsb_fuzz_config(const uint8_t *data, size_t size_bytes);
void zsb_fuzz_mountinfo(const uint8_t *data, size_t size_bytes);

#ifdef ZSB_FUZZ_TARGET
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
#define ZSB_FUZZ_ENTRY(function)                                                                             \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)                                       \
    {                                                                                                        \
        function(data, size_bytes);                                                                          \
        return 0;                                                                                            \
    }
#else
#define ZSB_FUZZ_ENTRY(function)
#endif

/* Stays on in every build. */
#define ZSB_FUZZ_CHECK(condition)                                                                            \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            __builtin_trap();                                                                                \
    } while (0)

#endif
