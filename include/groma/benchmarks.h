// The applications that come with Groma: the nine benchmarks of the paper, which are circuit,
// stencil and pennant (Regent) and six matrix multiplications (DISTAL), and others.
// docs/benchmarks.md describes them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "groma/app.h"

namespace groma {

// A benchmark, or another application. The function `make` builds its application. `name` and
// `summary` are string literals, so they stay valid.
struct Benchmark {
  std::string_view name;
  // One line that says what the benchmark computes.
  std::string_view summary;
  Application (*make)();
};

// Returns the nine benchmarks. The list stays valid until the program ends.
std::span<const Benchmark> benchmarks();
// Returns the benchmarks, followed by the other applications.
std::span<const Benchmark> built_in_applications();
// Returns the built-in application with this name, or null.
const Benchmark* find_benchmark(std::string_view name);

// The processors for which a Legion program was built.
enum class ProgramVariants : std::uint8_t { kCpus, kCpusAndGpus };

// Returns the application as its Legion program in examples/legion is written. Every task gets one
// variant for CPUs. A task without a CPU variant gets one with the work of its other variant. Such
// a variant demands Fortran order (for OpenBLAS) instead of C order (for cuBLAS). With
// kCpusAndGpus the tasks keep their variants for GPUs, except the task that checks the results of a
// multiplication. Neither a made nor a kept variant demands anything of data that it reduces to.
// Variants for OMP processors are removed.
Application as_legion_program(Application app, ProgramVariants variants);

}  // namespace groma
