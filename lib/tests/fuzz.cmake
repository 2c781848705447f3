# SPDX-License-Identifier: MIT
#
# libFuzzer targets, bin/fuzz_*: -DZSB_FUZZ=ON, clang only. Needs no test framework. ci/fuzz runs them.

function(zsb_lib_fuzz name)
  add_executable(fuzz_${name} tests/fuzz_${name}.c
    helper/config.c helper/audit.c util/util.c util/error.c)
  target_link_libraries(fuzz_${name} PRIVATE zsb_flags zsb_sanitize)
  target_compile_definitions(fuzz_${name} PRIVATE ZSB_FUZZ_TARGET)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "ZSB_FUZZ needs clang")
endif()
zsb_lib_fuzz(config)
zsb_lib_fuzz(mountinfo)
