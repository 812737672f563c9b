// The list of the benchmark applications, and the change that makes an application run on CPUs
// only.
#include "groma/benchmarks.h"

#include <algorithm>

#include "benchmarks/benchmarks.h"

namespace groma {
namespace {

constexpr Benchmark kBenchmarks[] = {
    {"circuit", "currents and voltages of an electric circuit of irregular pieces", app::circuit},
    {"stencil", "a star of radius 2 on a square grid, with halos", app::stencil},
    {"pennant", "Lagrangian hydrodynamics on an unstructured mesh", app::pennant},
    {"cannon", "matrix multiplication, 2-D: blocks of both factors go round", app::cannon},
    {"summa", "matrix multiplication, 2-D: columns and rows are sent to all", app::summa},
    {"pumma", "matrix multiplication, 2-D: one factor is sent to all, one goes round", app::pumma},
    {"johnson", "matrix multiplication, 3-D: a cube of processors", app::johnson},
    {"solomonik", "matrix multiplication, 2.5-D: layers of Cannon's", app::solomonik},
    {"cosma", "matrix multiplication, 3-D: the grid that moves least", app::cosma},
};

}  // namespace

std::span<const Benchmark> benchmarks() { return kBenchmarks; }

// Returns the benchmark with this name, or null.
const Benchmark* find_benchmark(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kBenchmarks), std::end(kBenchmarks),
                                         [name](const Benchmark& b) { return b.name == name; });
  return found == std::end(kBenchmarks) ? nullptr : found;
}

// Keeps one CPU variant of each task. A task without one gets the work of its last variant, with
// the layout that CPU libraries need instead of that for GPU libraries.
Application on_cpus(Application app) {
  for (AppTask& task : app.tasks) {
    if (task.variants.empty()) continue;
    const auto cpu =
        std::find_if(task.variants.begin(), task.variants.end(),
                     [](const AppVariant& variant) { return variant.kind == ProcKind::kCpu; });
    if (cpu != task.variants.end()) {
      task.variants = {AppVariant(*cpu)};
      continue;
    }
    task.variants.erase(task.variants.begin(), task.variants.end() - 1);
    AppVariant& variant = task.variants.back();
    variant.kind = ProcKind::kCpu;
    variant.kernels = 1;
    std::erase_if(variant.demands, [&](const LayoutDemand& demand) {
      return demand.requirement < task.requirements.size() &&
             task.requirements[demand.requirement].privilege == Privilege::kReduce;
    });
    for (LayoutDemand& demand : variant.demands) {
      if (demand.dimensions == DimensionOrder::kC) demand.dimensions = DimensionOrder::kFortran;
    }
  }
  return app;
}

}  // namespace groma
