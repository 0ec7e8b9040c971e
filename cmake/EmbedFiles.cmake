# hone_embed(floor HEADER header NAMESPACE namespace FUNCTION function [ITEM type] [SUFFIX suffix] FILES files...): adds to the
# floor's library a C++ source that holds the files as text, as the function that the header declares:
# const std::vector<type>& function(). The type, python::Script where none is given, is {name, text}; names lose the suffix.
# The same file, run as a script, writes that source.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(hone_embed floor)
    cmake_parse_arguments(EMBED "" "HEADER;NAMESPACE;FUNCTION;ITEM;SUFFIX" "FILES" ${ARGN})
    if(NOT EMBED_ITEM)
      set(EMBED_ITEM python::Script)
    endif()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${floor}.cpp")
    set(script "${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" -DOUTPUT=${output} -DHEADER=${EMBED_HEADER} -DNAMESPACE=${EMBED_NAMESPACE}
              -DFUNCTION=${EMBED_FUNCTION} -DITEM=${EMBED_ITEM} "-DSUFFIX=${EMBED_SUFFIX}" "-DFILES=${EMBED_FILES}" -P "${script}"
      DEPENDS ${EMBED_FILES} "${script}"
      VERBATIM)
    target_sources(hone_${floor} PRIVATE "${output}")
  endfunction()
  return()
endif()

set(arrays "")
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  string(APPEND arrays "static const unsigned char ${identifier}[] = {${bytes}0x00};\n")
  if(SUFFIX)
    string(REPLACE "${SUFFIX}" "" name "${name}")
  endif()
  string(APPEND entries "      {\"${name}\", reinterpret_cast<const char*>(${identifier})},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated; do not edit.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n${arrays}\nconst std::vector<${ITEM}>& ${FUNCTION}() {\n  static const std::vector<${ITEM}> all = {\n${entries}  };\n  return all;\n}\n\n}  // namespace ${NAMESPACE}\n")
