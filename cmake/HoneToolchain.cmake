# Compiler settings shared by everything that is built: language level, warnings, sanitizers, static runtime.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(HONE_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HONE_FUZZ "Build libFuzzer harnesses (needs clang)" OFF)

# No debug information where people only want the program: it costs an eighth of the build. Sanitizers print lines with -g1.
set(optimization -O2)
if(HONE_SANITIZE AND NOT HONE_FUZZ)
  # Instrumented code compiles in little more than half the time at -O1 (liger_session.cpp: 19 s instead of 34 s).
  set(optimization -O1)
  set(HONE_DEBUG_INFO -g1 CACHE STRING "Debug information of every source")
endif()
set(HONE_DEBUG_INFO -g0 CACHE STRING "Debug information of every source")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${optimization} ${HONE_DEBUG_INFO}")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${optimization} ${HONE_DEBUG_INFO}")

add_library(hone_options INTERFACE)
target_compile_options(hone_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
# fmt's own assertions print to stderr and abort; below cli nothing may, and tests/house reads that from the symbols.
target_compile_options(hone_options INTERFACE "-DFMT_ASSERT(condition,message)=static_cast<void>(0)")
# Header-only, fmt cost two seconds of each of 133 sources.
add_library(fmt_library STATIC "${CMAKE_SOURCE_DIR}/cmake/fmt_library.cpp")
target_compile_options(fmt_library PRIVATE -O2 "-DFMT_ASSERT(condition,message)=static_cast<void>(0)")
target_link_libraries(hone_options INTERFACE fmt_library)
if(HONE_SANITIZE)
  target_compile_options(fmt_library PRIVATE -fsanitize=address,undefined)
  target_compile_options(hone_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(hone_options INTERFACE -fsanitize=address,undefined)
  # Instrumented, the state machine of std::regex looks uninitialized to GCC 12.
  target_compile_options(hone_options INTERFACE -Wno-maybe-uninitialized)
else()
  # One binary is carried to machines whose C++ runtime is older or newer than the builder's.
  target_link_options(hone_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(HONE_FUZZ)
  target_compile_options(hone_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# A fast linker where one is installed: 14 programs are linked in a whole build.
include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX "-fuse-ld=${linker}" HONE_LINKS_WITH_${linker})
  if(HONE_LINKS_WITH_${linker})
    target_link_options(hone_options INTERFACE "-fuse-ld=${linker}")
    break()
  endif()
endforeach()
