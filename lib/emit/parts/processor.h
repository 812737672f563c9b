// Processor: a processor of the machine. Part of the code that `groma emit` writes
// (lib/emit/parts.cc).
#pragma once

#include <cstdint>

#include "emit/parts/values.h"
#include "groma/kinds.h"

namespace groma::emit {

// A processor of the machine: its kind, its node, and its index among the processors of its kind in
// that node.
struct Processor {
  ProcKind kind = ProcKind::kCpu;
  std::int64_t node = 0, index = 0;
  // @if values
  Tuple pair() const { return {node, index}; }
  // @end
  friend bool operator==(const Processor&, const Processor&) = default;
};
// @if values
using Processors = List<Processor>;
// @end

}  // namespace groma::emit
