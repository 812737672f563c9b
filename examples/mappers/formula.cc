// Answers the mapper hooks with the decisions of a FormulaMapper.
#include "mappers/formula.h"

#include <algorithm>

namespace groma::examples {
namespace {

// The numbers that describe() turns into sentences. The mapper passes one with each decision.
constexpr DecisionOrigin kKindOrigin{1}, kMemoryOrigin{2}, kLayoutOrigin{3}, kPlaceOrigin{4};

// Returns the processor for a point. Formulas take points relative to the launch's lower corner.
std::optional<Processor> processor_of(Formula formula, const Machine& machine, const Rect& domain,
                                      const Point& point) {
  Point ip = point;
  for (int d = 0; d < ip.dimensions(); ++d) ip[d] -= domain.lower[d];
  return formula(machine, ip, domain.extents);
}

// Returns the diagnostic for a task whose processor the machine does not have.
Diagnostic cannot_place(const TaskView& task) {
  Diagnostic failure;
  failure.id = DiagId::kNoVariant;
  failure.message = "no processor for `" + std::string(task.name) + "`";
  return failure;
}

// Returns the GPU with the node and the index of the parent's processor.
std::optional<Processor> gpu_of_parent(const Machine& machine, const TaskView& task) {
  const Processor& parent = task.parent == nullptr ? task.current : task.parent->current;
  return processor_at(machine, ProcKind::kGpu, parent.node, parent.index);
}

}  // namespace

std::optional<Processor> processor_at(const Machine& machine, ProcKind kind, std::int64_t node,
                                      std::int64_t index) {
  const bool is_there = node >= 0 && node < machine.node_count() && index >= 0 &&
                        index < machine.processors_per_node(kind);
  return is_there ? std::optional(Processor{kind, node, index}) : std::nullopt;
}

std::optional<Processor> processor_modulo(const Machine& machine, ProcKind kind, std::int64_t node,
                                          std::int64_t index) {
  const std::int64_t count = machine.processors_per_node(kind);
  if (count == 0) return std::nullopt;
  return Processor{kind, node % machine.node_count(), index % count};
}

bool is_called(const RequirementView& requirement, std::string_view name) {
  const auto& aliases = requirement.aliases;
  return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

ShardId FormulaSharding::shard(const Point& point, const LaunchDomain& domain,
                               const ShardTable& shards) const {
  const auto processor = processor_of(formula_, machine_, domain.box, point);
  // If the machine does not have the processor, slice_task() reports that, so any shard may be
  // returned here.
  return processor ? shards.shard_of(*processor) : 0;
}

// A runtime asks for functors by number, and functor i + 1 belongs to formula i. The addresses are
// taken after all functors are made, because the vector may move them.
FormulaMapper::FormulaMapper(MapperSite site, const Sentences& sentences,
                             const std::vector<Formula>& formulas)
    : Mapper(std::move(site)), sentences_(sentences) {
  for (Formula formula : formulas) shardings_.emplace_back(formula, machine());
  for (const FormulaSharding& sharding : shardings_) functors_.push_back(&sharding);
}

std::string FormulaMapper::describe(DecisionOrigin origin) const {
  if (origin == kKindOrigin) return std::string(sentences_.kind);
  if (origin == kMemoryOrigin) return std::string(sentences_.memory);
  if (origin == kLayoutOrigin) return std::string(sentences_.layout);
  return std::string(origin == kPlaceOrigin ? sentences_.place : "");
}

// Returns the first listed kind that the machine has and for which the task has a variant.
std::optional<ProcKind> FormulaMapper::kind_of(const TaskView& task) const {
  const auto said = kinds(task);
  if (said.empty()) return default_kind(task);
  for (ProcKind kind : said) {
    const auto fits = [kind](const VariantView& variant) { return variant.kind == kind; };
    const auto& variants = task.variants;
    if (machine().has(kind) && std::any_of(variants.begin(), variants.end(), fits)) return kind;
  }
  return std::nullopt;
}

// Returns the formula that places an index launch. Returns null for single tasks, or if the default
// mapper places the launch.
Formula FormulaMapper::launch_formula(const TaskView& task) const {
  const auto kind = kind_of(task);
  return task.is_index && kind ? formula_of(task, *kind) : nullptr;
}

// Chooses the kind of processor and, for a task that follows its parent, the processor.
void FormulaMapper::select_task_options(MapperRuntime& runtime, const TaskView& task,
                                        TaskOptions& answer) {
  const bool follows = !task.is_index && follows_parent(task);
  if (kinds(task).empty() && !follows) return Mapper::select_task_options(runtime, task, answer);
  answer.initial = site().local;
  answer.memoize = site().settings.memoize;
  const auto kind = kind_of(task);
  if (!kind) {
    answer.failure = cannot_place(task);
    return;
  }
  answer.kind_origin = kKindOrigin;
  answer.replicate = default_replicates(task, *kind);
  answer.map_locally = site().settings.map_locally && !answer.replicate;
  if (!follows) {
    answer.initial = default_processor(task, *kind);
    return;
  }
  answer.processor_origin = kPlaceOrigin;
  const auto gpu = gpu_of_parent(machine(), task);
  if (gpu && *kind == gpu->kind) {
    answer.initial = *gpu;
  } else {
    answer.failure = cannot_place(task);
  }
}

// Makes one slice for each point, because neighbouring points may run anywhere.
void FormulaMapper::slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                               SliceTaskOutput& answer) {
  const Formula formula = launch_formula(task);
  if (formula == nullptr) return Mapper::slice_task(runtime, task, part, answer);
  answer.origin = kPlaceOrigin;
  if (part.volume() == 0) return;
  Point one = Point::zeros(part.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point at = part.lower;
  do {
    const auto processor = processor_of(formula, machine(), task.domain, at);
    if (!processor || task.current.kind != processor->kind) {
      answer.slices.clear();
      answer.failure = cannot_place(task);
      return;
    }
    answer.slices.push_back({{at, one}, *processor, false, false});
  } while (next_point(part, &at));
}

// Returns the functor of the launch's formula. Functors are numbered from 1.
ShardingId FormulaMapper::select_sharding_functor(MapperRuntime&, const TaskView& operation,
                                                  const ShardTable&) {
  if (operation.operation != OperationKind::kTask) return kCyclicSharding;
  const Formula formula = launch_formula(operation);
  for (std::size_t i = 0; i < shardings_.size(); ++i) {
    if (shardings_[i].goes_by(formula)) return static_cast<ShardingId>(i + 1);
  }
  return kCyclicSharding;
}

// The base class maps the task as the default mapper does. This function then replaces what the
// derived class decides.
void FormulaMapper::map_task(MapperRuntime& runtime, const TaskView& task,
                             std::span<const std::span<const InstanceView>> valid,
                             MapTaskOutput& answer) {
  Mapper::map_task(runtime, task, valid, answer);
  if (answer.failure) return;
  if (!kinds(task).empty() && kind_of(task) == task.current.kind) answer.kind_origin = kKindOrigin;
  if (const Formula formula = launch_formula(task)) {
    answer.processor_origin = kPlaceOrigin;
    const auto processor = processor_of(formula, machine(), task.domain, task.point);
    answer.processors.clear();
    if (processor && task.current.kind == processor->kind) {
      answer.processors.push_back(*processor);
    } else {
      answer.failure = cannot_place(task);
      return;
    }
  } else if (!task.is_index && follows_parent(task)) {
    answer.processor_origin = kPlaceOrigin;
    answer.processors.assign(1, task.current);
  }
  for (std::size_t i = 0; i < answer.requirements.size(); ++i) {
    if (!task.requirements[i].empty()) decide(task, i, answer.requirements[i]);
  }
}

// Sets the memories and the layout of one requirement.
void FormulaMapper::decide(const TaskView& task, std::size_t position,
                           InstanceChoice& choice) const {
  const RequirementView& requirement = task.requirements[position];
  if (requirement.privilege == Privilege::kReadOnly && collects(task)) {
    choice.untracked = true;
    choice.collect_priority = kCollectFirst;
    choice.collect_origin = kMemoryOrigin;
  }
  // An inner task does not access its data, so the data stays virtual.
  if (choice.is_virtual && requirement.privilege != Privilege::kReduce) return;
  const auto said = memories(requirement, task.current.kind);
  // A named memory overrides the choice of the default mapper.
  if (!said.empty()) {
    choice.is_virtual = false;
    choice.candidate_count = 0;
    for (MemKind memory : said) choice.add({memory, kMemoryOrigin, {}, {}});
  }
  for (std::size_t c = 0; c < choice.candidate_count; ++c) {
    choice.candidates_in_order[c].layout = layout();
    choice.candidates_in_order[c].layout_origin = kLayoutOrigin;
  }
}

}  // namespace groma::examples
