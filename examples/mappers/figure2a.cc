// Figure 2a by hand. Compare dsl/mappers/figure2a.mapper, which says the same in eleven lines.
#include "mappers/figure2a.h"

#include <algorithm>

namespace groma::examples {
namespace {

// What its decisions are called in answers; see describe.
constexpr Origin kTask0Origin{1}, kGhostOrigin{2}, kLayoutOrigin{3}, kCyclicOrigin{4};

constexpr LayoutSpec kLayout = {.dimensions = DimensionOrder::kC,
                                .fields = FieldOrder::kSoa,
                                .align_op = AlignOp::kEq,
                                .align_bytes = 64};

// def cyclic(Task task): both the node and the GPU go round with the first coordinate.
std::optional<Processor> cyclic(const Machine& machine, const Point& ip) {
  return gpu_modulo(machine, ip[0], ip[0]);
}

bool goes_cyclically(const TaskView& task) { return task.is_index && task.name == "task4"; }

bool is_called(const RequirementView& requirement, std::string_view name) {
  const auto& aliases = requirement.aliases;
  return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

bool has_gpu_variant(const TaskView& task) {
  return std::any_of(task.variants.begin(), task.variants.end(),
                     [](const VariantView& v) { return v.kind == ProcKind::kGpu; });
}

}  // namespace

Figure2aMapper::Figure2aMapper(MapperSite site)
    : Mapper(std::move(site)), cyclic_sharding_(cyclic, machine()), functors_{&cyclic_sharding_} {}

std::string Figure2aMapper::describe(Origin origin) const {
  if (origin == kTask0Origin) return "task0 runs on GPUs";
  if (origin == kGhostOrigin) return "ghost regions lie in zero-copy memory";
  if (origin == kLayoutOrigin) return "all data in C order, fields apart, on 64 bytes";
  return origin == kCyclicOrigin ? "task4 goes round nodes and GPUs" : "";
}

void Figure2aMapper::select_task_options(MapperRuntime& runtime, const TaskView& task,
                                         TaskOptions& answer) {
  if (task.name != "task0") return Mapper::select_task_options(runtime, task, answer);
  answer.initial = site().local;
  if (!machine().has(ProcKind::kGpu) || !has_gpu_variant(task)) {
    answer.failure = cannot_place(task);
    return;
  }
  answer.kind_origin = kTask0Origin;
  answer.initial = default_processor(task, ProcKind::kGpu);
  answer.replicate = default_replicates(task, ProcKind::kGpu);
  answer.map_locally = site().settings.map_locally && !answer.replicate;
  answer.memoize = site().settings.memoize;
}

void Figure2aMapper::slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                                SliceAnswer& answer) {
  if (!goes_cyclically(task)) return Mapper::slice_task(runtime, task, part, answer);
  answer.origin = kCyclicOrigin;
  slice_by(cyclic, machine(), task, part, answer);
}

std::span<const ShardingFunctor* const> Figure2aMapper::sharding_functors() const {
  return functors_;
}

ShardingId Figure2aMapper::select_sharding_functor(MapperRuntime&, const TaskView& operation,
                                                   const ShardTable&) {
  const bool is_task = operation.operation == OperationKind::kTask;
  return is_task && goes_cyclically(operation) ? 1 : kCyclicSharding;
}

void Figure2aMapper::map_task(MapperRuntime& runtime, const TaskView& task,
                              std::span<const std::span<const InstanceView>> valid,
                              TaskWish& answer) {
  Mapper::map_task(runtime, task, valid, answer);
  if (answer.failure) return;
  if (task.name == "task0" && task.current.kind == ProcKind::kGpu) {
    answer.kind_origin = kTask0Origin;
  }
  if (goes_cyclically(task)) {
    answer.processor_origin = kCyclicOrigin;
    place_by(cyclic, machine(), task, answer);
  }
  for (std::size_t i = 0; i < answer.requirements.size(); ++i) {
    RequirementWish& wish = answer.requirements[i];
    if (wish.is_virtual || task.requirements[i].empty()) continue;
    if (task.current.kind == ProcKind::kGpu && is_called(task.requirements[i], "ghost_region")) {
      wish.candidate_count = 0;
      wish.add({MemKind::kZcmem, kGhostOrigin, {}, {}});
    }
    for (std::size_t c = 0; c < wish.candidate_count; ++c) {
      wish.candidates_in_order[c].layout = kLayout;
      wish.candidates_in_order[c].layout_origin = kLayoutOrigin;
    }
  }
}

}  // namespace groma::examples
