# tree_sitter: the parser runtime with the Python and CUDA grammars, compiled from .deps (tools/fetch_sources.sh puts them there).
set(HONE_DEPS_DIR "${CMAKE_SOURCE_DIR}/.deps" CACHE PATH "Where tools/fetch_sources.sh has unpacked third-party sources")

set(tree_sitter_core "${HONE_DEPS_DIR}/tree-sitter/tree_sitter/core/lib")
set(tree_sitter_python "${HONE_DEPS_DIR}/tree-sitter-python/src")
set(tree_sitter_cuda "${HONE_DEPS_DIR}/tree-sitter-cuda/src")
foreach(needed "${tree_sitter_core}/src/lib.c" "${tree_sitter_python}/parser.c" "${tree_sitter_python}/scanner.c"
        "${tree_sitter_cuda}/parser.c" "${tree_sitter_cuda}/scanner.c")
  if(NOT EXISTS "${needed}")
    message(FATAL_ERROR "${needed} is missing: run tools/fetch_sources.sh (./dev build does)")
  endif()
endforeach()

add_library(tree_sitter STATIC
  "${tree_sitter_core}/src/lib.c"
  "${tree_sitter_python}/parser.c" "${tree_sitter_python}/scanner.c"
  "${tree_sitter_cuda}/parser.c" "${tree_sitter_cuda}/scanner.c")
target_include_directories(tree_sitter SYSTEM PUBLIC "${tree_sitter_core}/include")
target_include_directories(tree_sitter PRIVATE "${tree_sitter_core}/src")
# What newer compilers refuse in C is an error with every compiler: the build fails everywhere or nowhere. POSIX names (fdopen)
# need the feature macro under -std=c11.
target_compile_options(tree_sitter PRIVATE -Werror=implicit-function-declaration -Werror=implicit-int -Werror=int-conversion
  -Werror=incompatible-pointer-types)
if(NOT HONE_SANITIZE)
  # Parsing is over half of an audit's time; assertions of the foreign code stay on where sanitizers look.
  target_compile_options(tree_sitter PRIVATE -O3)
  target_compile_definitions(tree_sitter PRIVATE NDEBUG)
endif()
target_compile_definitions(tree_sitter PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)
set_target_properties(tree_sitter PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
# The Python package ships without the grammar headers; those of the CUDA package serve both. They are newer, so two names
# that the older generated parser uses are given their present ones. Its lex modes are of the older, smaller type: the runtime
# reads them as such from the language's version, but the assignment needs leave.
set(another_lex_mode -Wno-incompatible-pointer-types)
set_source_files_properties("${tree_sitter_python}/parser.c" PROPERTIES
  INCLUDE_DIRECTORIES "${tree_sitter_cuda}" COMPILE_DEFINITIONS "TSFieldMapSlice=TSMapSlice;version=abi_version"
  COMPILE_OPTIONS "${another_lex_mode}")
set_source_files_properties("${tree_sitter_python}/scanner.c" "${tree_sitter_cuda}/parser.c" "${tree_sitter_cuda}/scanner.c"
  PROPERTIES INCLUDE_DIRECTORIES "${tree_sitter_cuda}")
# No coverage of the parser for libFuzzer: its tables would drown the features of the code under test, and the pace.
if(HONE_SANITIZE)
  target_compile_options(tree_sitter PRIVATE -fsanitize=address -fno-omit-frame-pointer)
endif()
