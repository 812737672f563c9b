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

// What a computer without GPUs has of an application, as examples/legion is written: every task has
// one variant, for CPUs, with the work of the variant that it had for others where it had none for
// them. Of those, what demanded C order, for cuBLAS, demands Fortran order, for OpenBLAS, and
// nothing of what it reduces to.
Application on_cpus(Application app);

}  // namespace groma
