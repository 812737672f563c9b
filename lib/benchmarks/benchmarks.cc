// The list of the benchmark applications, and the change that makes an application run on CPUs
// only.
#include "groma/benchmarks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "benchmarks/benchmarks.h"

namespace groma {
namespace {

// The applications. The benchmarks of the paper come first.
constexpr std::size_t kBenchmarkCount = 9;
constexpr Benchmark kApplications[] = {
    {"circuit", "currents and voltages of an electric circuit of irregular pieces", app::circuit},
    {"stencil", "a star of radius 2 on a square grid, with halos", app::stencil},
    {"pennant", "Lagrangian hydrodynamics on an unstructured mesh", app::pennant},
    {"cannon", "matrix multiplication, 2-D: blocks of both factors go round", app::cannon},
    {"summa", "matrix multiplication, 2-D: columns and rows are sent to all", app::summa},
    {"pumma", "matrix multiplication, 2-D: one factor is sent to all, one goes round", app::pumma},
    {"johnson", "matrix multiplication, 3-D: a cube of processors", app::johnson},
    {"solomonik", "matrix multiplication, 2.5-D: layers of Cannon's", app::solomonik},
    {"cosma", "matrix multiplication, 3-D: the grid that moves least", app::cosma},
    {"cholesky", "Cholesky factorisation by tiles: launches that are triangles", app::cholesky},
};

// Removes the layout demands of the variant for requirements with a reduction privilege.
void remove_demands_on_reductions(const AppTask& task, AppVariant& variant) {
  std::erase_if(variant.demands, [&](const LayoutDemand& demand) {
    return demand.requirement < task.requirements.size() &&
           task.requirements[demand.requirement].privilege == Privilege::kReduce;
  });
}

// Returns the task's CPU variant. If it has none, returns one with the work of its last variant and
// with the layout that CPU libraries need instead of that for GPU libraries.
AppVariant cpu_variant(const AppTask& task) {
  const auto cpu =
      std::find_if(task.variants.begin(), task.variants.end(),
                   [](const AppVariant& variant) { return variant.kind == ProcKind::kCpu; });
  if (cpu != task.variants.end()) return *cpu;
  AppVariant made = task.variants.back();
  made.kind = ProcKind::kCpu;
  made.kernels = 1;
  remove_demands_on_reductions(task, made);
  for (LayoutDemand& demand : made.demands) {
    if (demand.dimensions == DimensionOrder::kC) demand.dimensions = DimensionOrder::kFortran;
  }
  return made;
}

}  // namespace

std::span<const Benchmark> benchmarks() { return std::span(kApplications).first(kBenchmarkCount); }
std::span<const Benchmark> built_in_applications() { return kApplications; }

// Returns the application with this name, or null.
const Benchmark* find_benchmark(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kApplications), std::end(kApplications),
                                         [name](const Benchmark& b) { return b.name == name; });
  return found == std::end(kApplications) ? nullptr : found;
}

Application as_legion_program(Application app, ProgramVariants variants) {
  for (AppTask& task : app.tasks) {
    if (task.variants.empty()) continue;
    std::vector<AppVariant> made = {cpu_variant(task)};
    // The programs check the results of multiplications on CPUs.
    const bool is_on_gpus =
        variants == ProgramVariants::kCpusAndGpus && task.name != "taco_validate";
    for (const AppVariant& variant : task.variants) {
      if (!is_on_gpus || variant.kind != ProcKind::kGpu) continue;
      made.push_back(variant);
      remove_demands_on_reductions(task, made.back());
    }
    task.variants = std::move(made);
  }
  return app;
}

}  // namespace groma
