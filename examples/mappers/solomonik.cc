// Figure A7 by hand. Compare dsl/mappers/solomonik_a7.mapper.
#include "mappers/solomonik.h"

#include <algorithm>

namespace groma::examples {
namespace {

constexpr Origin kKindOrigin{1}, kMemoryOrigin{2}, kLayoutOrigin{3}, kMapOrigin{4};

constexpr LayoutSpec kLayout = {.dimensions = DimensionOrder::kC, .fields = FieldOrder::kSoa};

std::optional<Processor> linearize_3d(const Machine& machine, const Point& ip) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] + ip[1] + ip[2];
  return gpu_modulo(machine, linear, linear);
}

std::optional<Processor> linearize_2d(const Machine& machine, const Point& ip) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] * 2 + ip[2];
  return gpu_modulo(machine, linear, linear);
}

// Of launches; null for those that the default cuts.
Formula formula_of(const TaskView& task) {
  if (!task.is_index) return nullptr;
  if (task.name == "task_1") return linearize_3d;
  const bool planar = task.name == "task_2" || task.name == "task_3" || task.name == "task_5";
  return planar ? linearize_2d : nullptr;
}

std::optional<ProcKind> kind_of(const TaskView& task, const Machine& machine) {
  for (ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}) {
    const auto fits = [kind](const VariantView& variant) { return variant.kind == kind; };
    const auto& variants = task.variants;
    if (machine.has(kind) && std::any_of(variants.begin(), variants.end(), fits)) return kind;
  }
  return std::nullopt;
}

}  // namespace

SolomonikMapper::SolomonikMapper(MapperSite site)
    : Mapper(std::move(site)),
      sharding_3d_(linearize_3d, machine()),
      sharding_2d_(linearize_2d, machine()),
      functors_{&sharding_3d_, &sharding_2d_} {}

std::string SolomonikMapper::describe(Origin origin) const {
  if (origin == kKindOrigin) return "GPUs first, then OpenMP, then single cores";
  if (origin == kMemoryOrigin) return "data by the processor: in the GPU, or in the socket";
  if (origin == kLayoutOrigin) return "all data in C order, fields apart";
  return origin == kMapOrigin ? "points go round the GPUs along their diagonals" : "";
}

void SolomonikMapper::select_task_options(MapperRuntime&, const TaskView& task,
                                          TaskOptions& answer) {
  answer.initial = site().local;
  answer.memoize = site().settings.memoize;
  const auto kind = kind_of(task, machine());
  if (!kind) {
    answer.failure = cannot_place(task);
    return;
  }
  answer.kind_origin = kKindOrigin;
  answer.initial = default_processor(task, *kind);
  answer.replicate = default_replicates(task, *kind);
  answer.map_locally = site().settings.map_locally && !answer.replicate;
}

void SolomonikMapper::slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                                 SliceAnswer& answer) {
  const Formula formula = formula_of(task);
  if (formula == nullptr) return Mapper::slice_task(runtime, task, part, answer);
  answer.origin = kMapOrigin;
  slice_by(formula, machine(), task, part, answer);
}

std::span<const ShardingFunctor* const> SolomonikMapper::sharding_functors() const {
  return functors_;
}

ShardingId SolomonikMapper::select_sharding_functor(MapperRuntime&, const TaskView& operation,
                                                    const ShardTable&) {
  if (operation.operation != OperationKind::kTask) return kCyclicSharding;
  const Formula formula = formula_of(operation);
  if (formula == nullptr) return kCyclicSharding;
  return formula == linearize_3d ? 1 : 2;
}

void SolomonikMapper::map_task(MapperRuntime& runtime, const TaskView& task,
                               std::span<const std::span<const InstanceView>> valid,
                               TaskWish& answer) {
  Mapper::map_task(runtime, task, valid, answer);
  if (answer.failure) return;
  if (kind_of(task, machine()) == task.current.kind) answer.kind_origin = kKindOrigin;
  if (const Formula formula = formula_of(task)) {
    answer.processor_origin = kMapOrigin;
    place_by(formula, machine(), task, answer);
  }
  for (std::size_t i = 0; i < answer.requirements.size(); ++i) {
    RequirementWish& wish = answer.requirements[i];
    const bool reduces = task.requirements[i].privilege == Privilege::kReduce;
    if ((wish.is_virtual && !reduces) || task.requirements[i].empty()) continue;
    wish.is_virtual = false;
    wish.candidate_count = 0;
    if (task.current.kind == ProcKind::kGpu) {
      wish.add({MemKind::kFbmem, kMemoryOrigin, kLayout, kLayoutOrigin});
    } else {
      wish.add({MemKind::kSockmem, kMemoryOrigin, kLayout, kLayoutOrigin});
      wish.add({MemKind::kSysmem, kMemoryOrigin, kLayout, kLayoutOrigin});
    }
  }
}

}  // namespace groma::examples
