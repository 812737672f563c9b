// Makes a single diagnostic that belongs to no text. It is for answers and operations rather than
// programs.
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
