# Compiler settings shared by everything that is built: language level, warnings, sanitizers, static runtime.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(HONE_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HONE_FUZZ "Build libFuzzer harnesses (needs clang)" OFF)

# Debug information costs build time and disk on small machines; line tables are enough for backtraces.
set(optimization -O2)
if(HONE_SANITIZE AND NOT HONE_FUZZ)
  # Instrumented code compiles in little more than half the time at -O1 (liger_session.cpp: 19 s instead of 34 s).
  set(optimization -O1)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${optimization} -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${optimization} -g1")

add_library(hone_options INTERFACE)
target_compile_options(hone_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
target_compile_definitions(hone_options INTERFACE FMT_HEADER_ONLY=1)
# fmt's own assertions print to stderr and abort; below cli nothing may, and tests/house reads that from the symbols.
target_compile_options(hone_options INTERFACE "-DFMT_ASSERT(condition,message)=static_cast<void>(0)")
if(HONE_SANITIZE)
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
