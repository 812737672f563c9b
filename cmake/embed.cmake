# Writes a C++ file that holds the programs of dsl/strategies and dsl/mappers (WHAT dsl,
# include/groma/dsl_files.h), the guide's rules (WHAT rules, lib/guide/rule_files.h), what `groma emit`
# puts into mappers (WHAT parts, lib/emit/part_files.h) or the scripts for shells (WHAT completion,
# examples/driver/completion_scripts.h):
#   cmake -DWHAT=dsl -DSOURCE_DIR=<the tree> -DOUTPUT=<file.cc> -P embed.cmake
# groma_embed(VARIABLE WHAT FILES...) makes the rule for it and sets VARIABLE to the file it makes.

# The text as a C++ literal.
function(groma_literal path text out)
  if("${text}" MATCHES "\\)groma\"")
    message(FATAL_ERROR "${path} cannot be embedded: it contains the closing delimiter")
  endif()
  set(${out} "R\"groma(${text})groma\"" PARENT_SCOPE)
endfunction()

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
    # A strategy begins with the sentence of the paper that it carries out.
    set(sentence "")
    if(summary MATCHES "^(.+) \\(strategy [0-9]+ of A\\.7\\)\\.$")
      set(sentence "${CMAKE_MATCH_1}")
    endif()
    groma_literal("${file}" "${sentence}" sentence)
    groma_literal("${file}" "${summary}" summary)
    groma_literal("${file}" "${text}" text)
    string(APPEND code "    {\"${name}\", ${summary},\n${text},\n${sentence}},\n")
  endforeach()
  string(APPEND code "};\n")
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

function(groma_write_dsl)
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

function(groma_write_domain)
  file(READ "${SOURCE_DIR}/dsl/domains/known.domain" text)
  groma_literal(known.domain "${text}" text)
  file(WRITE "${OUTPUT}" "// Made from dsl/domains by cmake/embed.cmake.
#include \"domain/known_text.h\"

namespace groma::domains {

std::string_view known_text() {
  return ${text};
}

}  // namespace groma::domains
")
endfunction()

function(groma_write_rules)
  file(GLOB files "${SOURCE_DIR}/lib/guide/rules/*.json")
  list(SORT files)
  set(code "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    groma_literal("${file}" "${text}" text)
    string(APPEND code "    {\"${name}\",\n${text}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made from lib/guide/rules by cmake/embed.cmake.
#include \"guide/rule_files.h\"

namespace groma::guide {
namespace {

constexpr RuleFile kFiles[] = {
${code}};

}  // namespace

std::span<const RuleFile> rule_files() { return kFiles; }

}  // namespace groma::guide
")
endfunction()

function(groma_write_parts)
  file(GLOB files "${SOURCE_DIR}/lib/emit/parts/*.h" "${SOURCE_DIR}/lib/base/name_pattern.h"
       "${SOURCE_DIR}/lib/mapper/demands.*" "${SOURCE_DIR}/lib/mapper/instance_limits.*" "${SOURCE_DIR}/lib/evaluate/machine_view.*"
       "${SOURCE_DIR}/lib/evaluate/split*" "${SOURCE_DIR}/lib/legion/layouts.*"
       "${SOURCE_DIR}/lib/legion/reductions.*" "${SOURCE_DIR}/lib/legion/rendezvous.h")
  list(SORT files)
  set(code "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    groma_literal("${file}" "${text}" text)
    string(APPEND code "    {\"${name}\",\n${text}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made from lib/emit/parts, lib/base, lib/evaluate, lib/mapper and lib/legion by cmake/embed.cmake.
#include \"emit/part_files.h\"

namespace groma::emitting {
namespace {

constexpr PartFile kFiles[] = {
${code}};

}  // namespace

std::span<const PartFile> part_files() { return kFiles; }

}  // namespace groma::emitting
")
endfunction()

function(groma_write_completion)
  file(GLOB files "${SOURCE_DIR}/packaging/completion/groma.*")
  list(SORT files)
  set(code "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" LAST_EXT)
    string(SUBSTRING "${name}" 1 -1 shell)
    file(READ "${file}" text)
    groma_literal("${file}" "${text}" text)
    string(APPEND code "    {\"${shell}\",\n${text}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made from packaging/completion by cmake/embed.cmake.
#include \"completion_scripts.h\"

namespace driver {
namespace {

constexpr CompletionScript kScripts[] = {
${code}};

}  // namespace

std::span<const CompletionScript> completion_scripts() { return kScripts; }

}  // namespace driver
")
endfunction()

# New files are seen when CMake runs again, which it does by itself (CONFIGURE_DEPENDS).
function(groma_embed variable what)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${what}_files.cc")
  list(TRANSFORM ARGN PREPEND "${groma_SOURCE_DIR}/" OUTPUT_VARIABLE patterns)
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DWHAT=${what}" "-DSOURCE_DIR=${groma_SOURCE_DIR}"
            "-DOUTPUT=${output}" -P "${groma_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${groma_SOURCE_DIR}/cmake/embed.cmake" ${files}
    VERBATIM)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_language(CALL "groma_write_${WHAT}")
endif()
