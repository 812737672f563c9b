// How a test has its program mapped: by the adapter; built with GROMA_EMITTED, which names a file
// of `groma_write_programs`, by the C++ that `groma emit` makes of the same text.
#ifndef TESTS_LEGION_MAP_BY_H_
#define TESTS_LEGION_MAP_BY_H_

#include <legion.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "groma/legion.h"
#include "groma/program.h"

#ifdef GROMA_EMITTED
#include GROMA_EMITTED
#endif

namespace groma::legion_test {

inline void map_by([[maybe_unused]] const Program& program, Legion::MapperID id,
                   [[maybe_unused]] LogSink* log = nullptr) {
#ifdef GROMA_EMITTED
  if (use_emitted(program.source().text(), id)) return;
  std::fputs("nothing was emitted for that text\n", stderr);
  std::exit(1);
#else
  legion::use(program, {id, log});
#endif
}

inline void map_by(const char* path, Legion::MapperID id) {
  const auto source = Source::read(path);
  if (source) {
    Diagnostics diags(*source);
    const Program program = compile(*source, diags);
    if (!diags.has_errors()) return map_by(program, id);
    std::fputs(render(diags).c_str(), stderr);
  }
  std::exit(1);
}

}  // namespace groma::legion_test

#endif  // TESTS_LEGION_MAP_BY_H_
