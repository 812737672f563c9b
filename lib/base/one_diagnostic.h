// Makes a single diagnostic that points to no place in a source text. It is for errors that do not
// lie in the text of a program.
#pragma once

#include <optional>

#include "groma/diagnostics.h"

namespace groma {

template <typename... Args>
Diagnostic diagnostic_without_source(DiagId id, const Args&... args) {
  Diagnostics diags{Source()};
  return diags.report(id, std::nullopt, args...);
}

}  // namespace groma
