// The mapping of the paper's figure A7 as a C++ mapper (compare dsl/mappers/solomonik_a7.mapper).
#include "mappers/solomonik_a7.h"

namespace groma::examples {
namespace {

constexpr ProcKind kKinds[] = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};
constexpr MemKind kOnGpu[] = {MemKind::kFbmem};
constexpr MemKind kOnHost[] = {MemKind::kSockmem, MemKind::kSysmem};

// The mapping function `linearize3D` of the figure. Points with the same sum of coordinates share a
// GPU.
std::optional<Processor> linearize_3d(const Machine& machine, const Point& ip, const Point&) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] + ip[1] + ip[2];
  return processor_modulo(machine, ProcKind::kGpu, linear, linear);
}

// The mapping function `linearize2D` of the figure. The second coordinate does not count, so points
// that differ only in it share a GPU.
std::optional<Processor> linearize_2d(const Machine& machine, const Point& ip, const Point&) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] * 2 + ip[2];
  return processor_modulo(machine, ProcKind::kGpu, linear, linear);
}

}  // namespace

SolomonikA7Mapper::SolomonikA7Mapper(MapperSite site)
    : FormulaMapper(
          std::move(site),
          {"GPUs first, then OpenMP, then single cores",
           "data by the processor: in the GPU, or in the socket",
           "all data in C order, fields apart", "points go round the GPUs along their diagonals"},
          {linearize_3d, linearize_2d}) {}

std::span<const ProcKind> SolomonikA7Mapper::kinds(const TaskView&) const { return kKinds; }

std::span<const MemKind> SolomonikA7Mapper::memories(const RequirementView&, ProcKind kind) const {
  return kind == ProcKind::kGpu ? std::span<const MemKind>(kOnGpu) : std::span(kOnHost);
}

Formula SolomonikA7Mapper::formula_of(const TaskView& task, ProcKind) const {
  if (task.name == "task_1") return linearize_3d;
  const bool planar = task.name == "task_2" || task.name == "task_3" || task.name == "task_5";
  return planar ? linearize_2d : nullptr;
}

}  // namespace groma::examples
