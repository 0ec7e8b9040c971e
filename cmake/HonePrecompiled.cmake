# hone_precompile(target [TESTS|DECISIONS]): the standard library's and fmt's declarations, parsed once for all targets of the same
# flags. TESTS adds GoogleTest; DECISIONS is for layers that are compiled with -O1 (HoneFloor.cmake), since a precompiled header
# holds for one set of flags. Sources still include what they use: the builds for sanitizers and fuzzers precompile nothing.
option(HONE_PRECOMPILE "Precompile the standard library's headers" ON)

set(hone_precompiled_headers
  <algorithm> <array> <atomic> <charconv> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <filesystem> <functional> <limits>
  <map> <memory> <mutex> <optional> <set> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

function(hone_precompile target)
  cmake_parse_arguments(PRECOMPILE "TESTS;DECISIONS" "" "" ${ARGN})
  if(NOT HONE_PRECOMPILE)
    return()
  endif()
  if(PRECOMPILE_TESTS)
    set(owner hone_precompiled_tests)
    set(headers ${hone_precompiled_headers} <gmock/gmock.h> <gtest/gtest.h>)
  elseif(PRECOMPILE_DECISIONS)
    set(owner hone_precompiled_decisions)
    set(headers ${hone_precompiled_headers})
  else()
    set(owner hone_precompiled)
    set(headers ${hone_precompiled_headers})
  endif()
  if(NOT TARGET ${owner})
    file(WRITE "${CMAKE_BINARY_DIR}/generated/${owner}.cpp" "")
    add_library(${owner} OBJECT "${CMAKE_BINARY_DIR}/generated/${owner}.cpp")
    target_link_libraries(${owner} PRIVATE hone_options)
    if(PRECOMPILE_TESTS OR PRECOMPILE_DECISIONS)
      target_compile_options(${owner} PRIVATE -O1)
    endif()
    if(PRECOMPILE_TESTS)
      target_link_libraries(${owner} PRIVATE GTest::gtest GTest::gmock)
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  # A precompiled header holds for one kind of position-independent code: that of libraries, which serves programs as well.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# hone_unite(target): several sources of one library in one compilation. They share headers, templates and optimizer start-up:
# half of the CPU time (results/cpu/build.md). Names in anonymous namespaces must then differ within a layer. The builds for
# sanitizers and fuzzers keep one source a compilation, so a source that leans on its neighbours' includes fails there.
option(HONE_UNITY "Compile several sources at once" ON)
function(hone_unite target)
  if(HONE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
