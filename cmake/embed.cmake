# Writes a C++ file that holds the programs of dsl/strategies and dsl/mappers (include/groma/dsl_files.h):
#   cmake -DSOURCE_DIR=<the tree> -DOUTPUT=<file.cc> -P embed.cmake
# groma_embed_dsl(VARIABLE) makes the rule for it and sets VARIABLE to the file it makes.

# The table of the programs in one folder, as C++.
function(groma_embed_folder folder constant out)
  file(GLOB files "${SOURCE_DIR}/dsl/${folder}/*.mapper")
  list(SORT files)
  set(code "constexpr DslFile ${constant}[] = {\n")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    if(NOT text MATCHES "^# ([^\n]+)\n")
      message(FATAL_ERROR "${file} does not begin with a comment that says what it is")
    endif()
    set(summary "${CMAKE_MATCH_1}")
    foreach(part summary text)
      if("${${part}}" MATCHES "\\)groma\"")
        message(FATAL_ERROR "${file} cannot be embedded: it contains the closing delimiter")
      endif()
      set(${part} "R\"groma(${${part}})groma\"")
    endforeach()
    string(APPEND code "    {\"${name}\", ${summary},\n${text}},\n")
  endforeach()
  string(APPEND code "};\n")
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

function(groma_write_embedded)
  groma_embed_folder(strategies kStrategies strategies)
  groma_embed_folder(mappers kMappers mappers)
  file(WRITE "${OUTPUT}" "// Made from dsl/ by cmake/embed.cmake.
#include \"groma/dsl_files.h\"

namespace groma {
namespace {

${strategies}
${mappers}
}  // namespace

std::span<const DslFile> strategies() { return kStrategies; }
std::span<const DslFile> mappers() { return kMappers; }

}  // namespace groma
")
endfunction()

# New files are seen when CMake runs again, which it does by itself (CONFIGURE_DEPENDS).
function(groma_embed_dsl variable)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/dsl_files.cc")
  file(GLOB files CONFIGURE_DEPENDS "${groma_SOURCE_DIR}/dsl/strategies/*.mapper"
       "${groma_SOURCE_DIR}/dsl/mappers/*.mapper")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${groma_SOURCE_DIR}" "-DOUTPUT=${output}" -P
            "${groma_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${groma_SOURCE_DIR}/cmake/embed.cmake" ${files}
    VERBATIM)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  groma_write_embedded()
endif()
