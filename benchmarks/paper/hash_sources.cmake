# Writes a header with a hash of all sources that decide the results of groma_paper:
#   cmake -DSOURCE_DIR=<the tree> -DOUTPUT=<file.h> -P hash_sources.cmake
file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/lib/*.cc" "${SOURCE_DIR}/lib/*.h"
     "${SOURCE_DIR}/lib/*.json" "${SOURCE_DIR}/include/*.h" "${SOURCE_DIR}/include/*.inc"
     "${SOURCE_DIR}/dsl/*.mapper" "${SOURCE_DIR}/benchmarks/paper/*.cc"
     "${SOURCE_DIR}/benchmarks/paper/*.h")
list(SORT files)
set(hashes "")
foreach(name IN LISTS files)
  file(SHA256 "${SOURCE_DIR}/${name}" hash)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUTPUT}" "// Made by benchmarks/paper/hash_sources.cmake.
#pragma once

namespace groma::paper {
inline constexpr const char* kSourcesHash = \"${hash}\";
}  // namespace groma::paper
")
