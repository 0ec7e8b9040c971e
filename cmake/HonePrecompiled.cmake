# hone_precompile(target [TESTS]): the standard library and fmt's declarations, parsed once for everything that is built with the
# same flags. Sources still include what they use: the headers are also compiled alone (HeadersAlone.cmake), without this.
#
# Measured with g++ 12 on 2 cores of an EPYC 7003, CPU time of `ninja hone`: docs/build.md.
option(HONE_PRECOMPILE "Precompile the standard library's headers" ON)

set(hone_precompiled_headers
  <algorithm> <array> <atomic> <charconv> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <filesystem> <functional> <limits>
  <map> <memory> <mutex> <optional> <set> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

function(hone_precompile target)
  cmake_parse_arguments(PRECOMPILE "TESTS" "" "" ${ARGN})
  if(NOT HONE_PRECOMPILE)
    return()
  endif()
  if(PRECOMPILE_TESTS)
    set(owner hone_precompiled_tests)
    set(headers ${hone_precompiled_headers} <gmock/gmock.h> <gtest/gtest.h>)
  else()
    set(owner hone_precompiled)
    set(headers ${hone_precompiled_headers})
  endif()
  if(NOT TARGET ${owner})
    file(WRITE "${CMAKE_BINARY_DIR}/generated/${owner}.cpp" "")
    add_library(${owner} OBJECT "${CMAKE_BINARY_DIR}/generated/${owner}.cpp")
    target_link_libraries(${owner} PRIVATE hone_options)
    if(PRECOMPILE_TESTS)
      target_compile_options(${owner} PRIVATE -O1)
      target_link_libraries(${owner} PRIVATE GTest::gtest GTest::gmock)
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
