// The nine applications that come with Groma. They are the benchmarks of the paper: circuit,
// stencil and pennant (Regent) and six matrix multiplications (DISTAL). docs/benchmarks.md
// describes them.
#pragma once

#include <span>
#include <string_view>

#include "groma/app.h"

namespace groma {

// A benchmark. `make` builds its application. The views refer to constants.
struct Benchmark {
  std::string_view name;
  // One line that says what the benchmark computes.
  std::string_view summary;
  Application (*make)();
};

// Returns all benchmarks. The views and the span refer to constants.
std::span<const Benchmark> benchmarks();
// Returns the benchmark with this name, or null.
const Benchmark* find_benchmark(std::string_view name);

// Returns the application as a computer without GPUs runs it, which is how examples/legion is
// written. Every task gets one variant, for CPUs. A task without a CPU variant gets one with the
// work of its other variant. Such a variant demands Fortran order (for OpenBLAS) instead of C order
// (for cuBLAS) and demands nothing of the data that it reduces to.
Application on_cpus(Application app);

}  // namespace groma
