# How every target of Groma is made: groma_target_defaults for any of them, groma_add_library for a
# component (lib/CMakeLists.txt). What a component needs is said once, there; the package file, the
# .pc file and the install rules are made from it.

# Arranges the unity build of `target`, which CMAKE_UNITY_BUILD switches on: the compiler reads the files
# of one folder together, so that it reads their headers once. A folder with many files becomes several
# units, which keeps all cores busy. One or two files stay alone, and so do generated files and those with
# compile options of their own.
function(groma_group_sources target)
  set(most_files 16)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$].*\\.cc$")
  set(folders "")
  foreach(source IN LISTS sources)
    cmake_path(IS_ABSOLUTE source is_generated)
    if(NOT is_generated)
      cmake_path(GET source PARENT_PATH folder)
      string(MAKE_C_IDENTIFIER "folder_${folder}" folder)
      list(APPEND folders ${folder})
      list(APPEND files_of_${folder} "${source}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH files_of_${folder} count)
    if(count LESS 3)
      continue()
    endif()
    math(EXPR units "(${count} + ${most_files} - 1) / ${most_files}")
    set(index 0)
    foreach(source IN LISTS files_of_${folder})
      math(EXPR unit "${index} * ${units} / ${count} + 1")
      math(EXPR index "${index} + 1")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder}_${unit})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # g++ takes the files of a unit for headers, where types without linkage are a mistake.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-subobject-linkage>)
  endif()
endfunction()

# C++20 without extensions, our warnings (for us alone), private headers as "syntax/lexer.h".
function(groma_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(
    ${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                      -Wnon-virtual-dtor -Wold-style-cast
                      # g++ 12 sees overlaps in string concatenation where there are none (PR 105651).
                      $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
  target_include_directories(${target} PRIVATE "${groma_SOURCE_DIR}/lib")
  groma_group_sources(${target})
endfunction()

# Gives the target `user` a precompiled header: the standard headers listed below, fmt's, and those in
# ARGN. Targets that give the same `name` share it.
function(groma_precompile name user)
  set(target groma_${name})
  if(NOT TARGET ${target})
    file(CONFIGURE OUTPUT ${name}.cc CONTENT "")
    add_library(${target} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
    groma_target_defaults(${target})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE fmt::fmt)
    if(ARGN)
      target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
    endif()
    target_precompile_headers(
      ${target}
      PRIVATE
      <algorithm>
      <functional>
      <map>
      <memory>
      <optional>
      <set>
      <span>
      <string>
      <string_view>
      <utility>
      <variant>
      <vector>
      <fmt/format.h>
      ${ARGN})
  endif()
  target_precompile_headers(${user} REUSE_FROM ${target})
  # g++ 12 warns of code that standard headers are inlined to.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${user} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# groma_add_library(COMPONENT SOURCES file...
#                   [COMPONENTS core...]        other components that our headers include
#                   [PACKAGES fmt::fmt...]      linked privately; who links the static library finds
#                                               the package `fmt` again
#                   [HEADER_ONLY x::x...]       used to compile, gone afterwards
#                   [PRECOMPILE <x.h>...])      headers to precompile for this component alone,
#                                               instead of the shared ones
# makes the target groma_COMPONENT, groma::COMPONENT to all who use it.
# Uses one of two shared precompiled headers (groma_precompile, above): with nlohmann/json if the
# component uses that, else without.
function(groma_add_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;COMPONENTS;PACKAGES;HEADER_ONLY;PRECOMPILE")
  set(target groma_${component})
  add_library(${target} ${arg_SOURCES})
  add_library(groma::${component} ALIAS ${target})
  groma_target_defaults(${target})
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${groma_SOURCE_DIR}/include>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  # A static library may end in a shared one: mappers are loaded into running programs.
  set_target_properties(
    ${target} PROPERTIES EXPORT_NAME ${component}
                         POSITION_INDEPENDENT_CODE ON
                         INSTALL_RPATH "$ORIGIN" # the other components lie beside it
                         VERSION ${groma_VERSION}
                         SOVERSION ${groma_VERSION_MAJOR}.${groma_VERSION_MINOR})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY" AND UNIX AND NOT APPLE)
    set(exports "${groma_SOURCE_DIR}/cmake/exports.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports}")
  endif()
  list(TRANSFORM arg_COMPONENTS PREPEND groma_ OUTPUT_VARIABLE components)
  target_link_libraries(${target} PUBLIC ${components} PRIVATE ${arg_PACKAGES})
  foreach(library IN LISTS arg_HEADER_ONLY)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()

  if(arg_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${arg_PRECOMPILE})
  elseif("nlohmann_json::nlohmann_json" IN_LIST arg_HEADER_ONLY)
    groma_precompile(json_headers ${target} <nlohmann/json.hpp>)
  elseif("fmt::fmt" IN_LIST arg_PACKAGES)
    groma_precompile(headers ${target})
  endif()

  list(TRANSFORM arg_PACKAGES REPLACE "::.*" "" OUTPUT_VARIABLE packages)
  set_property(GLOBAL APPEND PROPERTY GROMA_COMPONENTS ${component})
  set_property(GLOBAL PROPERTY GROMA_COMPONENTS_OF_${component} ${arg_COMPONENTS})
  set_property(GLOBAL PROPERTY GROMA_PACKAGES_OF_${component} ${packages})
endfunction()
