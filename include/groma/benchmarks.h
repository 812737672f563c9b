// The nine applications that come with Groma: the benchmarks of the paper (circuit, stencil,
// pennant in Regent; six matrix multiplications in DISTAL), as docs/benchmarks.md says.
#pragma once

#include <span>
#include <string_view>

#include "groma/app.h"

namespace groma {

struct Benchmark {
  std::string_view name;
  std::string_view summary;  // one line
  Application (*make)();
};

std::span<const Benchmark> benchmarks();
// Null: none has this name.
const Benchmark* find_benchmark(std::string_view name);

}  // namespace groma
