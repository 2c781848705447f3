# SPDX-License-Identifier: MIT
#
# Every public header alone, twice, as strict C17 and as C++17: compiling is the test. No include directory but
# the public one, none of our flags. What they declare must be exported by the shared library, and nothing else.

enable_language(CXX)
file(GLOB ZSB_PUBLIC_HEADERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lib/include/zuno/*.h)
set(ZSB_HEADER_SOURCES)
set(ZSB_API_NAMES)
foreach(header ${ZSB_PUBLIC_HEADERS})
  get_filename_component(name ${header} NAME_WE)
  foreach(suffix c cpp)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/header_${name}.${suffix})
    file(CONFIGURE OUTPUT ${file} CONTENT
      "#include <zuno/${name}.h>\n#include <zuno/${name}.h>\nextern int header_${name}_${suffix};\nint header_${name}_${suffix};\n")
    list(APPEND ZSB_HEADER_SOURCES ${file})
  endforeach()
  # A declaration may run over lines; its name comes before the first parenthesis that holds parameters.
  file(READ ${header} text)
  string(REGEX MATCHALL "ZSB_API [^;]*;" declarations "${text}")
  foreach(declaration ${declarations})
    if(declaration MATCHES "(zsb_[a-z0-9_]+)\\(")
      list(APPEND ZSB_API_NAMES ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endforeach()

add_library(zsb_header_test OBJECT ${ZSB_HEADER_SOURCES})
target_include_directories(zsb_header_test PRIVATE ${CMAKE_SOURCE_DIR}/lib/include)
target_compile_options(zsb_header_test PRIVATE -pedantic -Wall -Wextra -Werror)
set_target_properties(zsb_header_test PROPERTIES
  C_STANDARD 17 C_EXTENSIONS OFF CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)

list(SORT ZSB_API_NAMES)
list(JOIN ZSB_API_NAMES "\",\n    \"" joined)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/api_names.h CONTENT
  "/* Generated from lib/include/zuno. */\nstatic const char *const api_names[] = {\n    \"${joined}\",\n};\n")
