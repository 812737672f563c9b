// The checks of the answers of all hooks except slice_task (validate_slices.cc). Each check says in
// a comment what Legion would do without it.
#include "groma/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "evaluate/processors.h"
#include "groma/program_mapper.h"
#include "mapper/default_policy.h"
#include "mapper/refusals.h"
#include "mapper/variant_layouts.h"

namespace groma {
namespace {

using mapper::Refusals;
using mapper::text_of;
using mapper::UnusableMemoryReason;

// Returns the variant with this id, or null if the task has none.
const VariantView* find_variant(const TaskView& task, VariantId id) {
  const auto found = std::find_if(task.variants.begin(), task.variants.end(),
                                  [id](const VariantView& variant) { return variant.id == id; });
  return found == task.variants.end() ? nullptr : &*found;
}

// Returns the variant that an answer names, or null after adding a refusal. Without this check,
// Legion fails an assertion or reports "invalid variant".
const VariantView* check_variant(Refusals& refusals, std::string_view hook, const TaskView& task,
                                 VariantId id, ProcKind kind, DecisionOrigin origin) {
  const VariantView* variant = find_variant(task, id);
  if (variant == nullptr) {
    refusals.add_refusal(DiagId::kBadVariant, origin, hook, task.name, id,
                         "which the task does not have");
  } else if (variant->kind != kind) {
    refusals.add_refusal(
        DiagId::kBadVariant, origin, hook, task.name, id,
        fmt::format("which is for {}, on {}", name_of(variant->kind), name_of(kind)));
    return nullptr;
  }
  return variant;
}

// ---- Requirements of a choice

// Returns why a processor cannot use a memory of this kind: its node has none, or the processor
// cannot address it.
UnusableMemoryReason why_not(const Machine& machine, const Processor& processor, MemKind memory) {
  const MemoryGroup* group = machine.node(processor.node).find(memory);
  if (group == nullptr || group->capacity_bytes == 0) {
    return {fmt::format("node {} has none", processor.node), DiagCause::kMemoryAbsent};
  }
  UnusableMemoryReason reason{fmt::format("{} cannot address it", name_of(processor.kind))};
  if (processor.kind == ProcKind::kGpu) reason.cause = DiagCause::kGpuCannotAddress;
  return reason;
}

// Returns the parts of the layout that are refused. The program's own mapper may run the task by
// other variants than `variant`. If all of these variants run at times, each must accept the
// layout. If it is not known which one runs, one that accepts is enough.
std::vector<mapper::RefusedLayout> refused_by_any(const TaskView& task, std::size_t i,
                                                  const VariantView& variant,
                                                  const InstanceCandidate& choice) {
  std::vector<mapper::RefusedLayout> refused = mapper::refused_layouts(task, i, variant, choice);
  if (!choice.layout_origin) return refused;
  const mapper::OtherVariants others = mapper::other_variants(task, variant);
  for (const VariantView* other : others.variants) {
    // No further variant can change the answer: one that may run accepts the layout where one is
    // enough, or one refuses it where all must accept.
    if (refused.empty() == !others.all_run) break;
    auto more = mapper::refused_layouts(task, i, *other, choice, true);
    if (others.all_run || more.empty()) refused = std::move(more);
  }
  return refused;
}

// Returns the cause of a refusal, from which other code can tell which part of the layout was
// refused.
RefusalCause cause_of(mapper::LayoutPart part) {
  if (part == mapper::LayoutPart::kOrder) return RefusalCause::kLayoutOrder;
  if (part == mapper::LayoutPart::kAlignment) return RefusalCause::kLayoutAlignment;
  return RefusalCause::kOther;
}

// Adds a refusal for each part of a layout that a variant refuses.
void check_layout(Refusals& refusals, const TaskView& task, std::size_t i,
                  const VariantView& variant, const InstanceCandidate& choice) {
  for (const mapper::RefusedLayout& one : refused_by_any(task, i, variant, choice)) {
    const bool by_mapper = one.by == DemandSource::kMapper;
    const bool opposite = !by_mapper && one.is_of_dimensions &&
                          mapper::variants_demand_opposite_orders(task, i, variant.kind, true);
    Diagnostic& diagnostic = refusals.add_refusal(
        by_mapper ? DiagId::kLayoutDemanded : DiagId::kLayoutRefused, choice.layout_origin, i,
        task.name, opposite ? one.wants + mapper::kAndTheOpposite : one.wants, one.says);
    if (by_mapper) mapper::add_refusal_help(diagnostic);
    if (opposite) mapper::add_opposite_orders_help(diagnostic);
    refusals.set_cause(cause_of(one.part));
  }
}

// Checks a requirement for which the answer names an instance. Legion would report "mixed composite
// and concrete instances" if the requirement is virtual too. An output has no instance yet, because
// the task makes it.
void check_named(Refusals& refusals, std::size_t i, const RequirementView& requirement,
                 const InstanceChoice& choice) {
  if (!choice.is_virtual && !requirement.output) return;
  refusals.add_refusal(
      DiagId::kBadInstance, choice.instance_origin, i, refusals.task(), choice.instance,
      choice.is_virtual ? "it is virtual at the same time" : "the task makes it itself");
}

// Checks the choice for one requirement of a task. Legion would abort without a message if the
// requirement has no instance, and crash if it is virtual but cannot be.
void check_requirement(Refusals& refusals, const TaskView& task, std::size_t i,
                       const MapTaskOutput& answer, const VariantView* variant) {
  const RequirementView& requirement = task.requirements[i];
  const InstanceChoice& choice = answer.requirements[i];
  if (requirement.empty()) return;
  if (choice.instance != 0) {  // The runtime itself checks the named instance.
    return check_named(refusals, i, requirement, choice);
  }
  if (choice.is_virtual) {
    const char* why = why_not_virtual(requirement, variant);
    if (why != nullptr)
      refusals.add_refusal(DiagId::kBadVirtual, choice.virtual_origin, i, task.name, why);
    return;
  }
  if (choice.candidate_count > choice.candidates_in_order.size()) {
    refusals.add_refusal(DiagId::kNoMemory, DecisionOrigin{}, i, task.name,
                         fmt::format("the answer counts {} candidates, of {} at most",
                                     choice.candidate_count, choice.candidates_in_order.size()));
    return;
  }
  const char* not_virtual = why_not_virtual(requirement, variant);
  const auto usable = [&](const InstanceCandidate& candidate) {
    // A virtual instance may be the last resort, since it never lacks room.
    if (candidate.memory == MemKind::kVirtual) return not_virtual == nullptr;
    return std::all_of(answer.processors.begin(), answer.processors.end(), [&](const Processor& p) {
      return refusals.machine().can_address(p.node, p.kind, candidate.memory);
    });
  };
  bool any = false;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (!usable(candidate)) continue;
    any = true;
    if (variant != nullptr && candidate.memory != MemKind::kVirtual) {
      check_layout(refusals, task, i, *variant, candidate);
    }
  }
  if (any) return;
  std::vector<UnusableMemoryReason> reasons;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    const MemKind memory = candidate.memory;
    reasons.push_back(memory == MemKind::kVirtual
                          ? UnusableMemoryReason{not_virtual}
                          : why_not(refusals.machine(), answer.processors.front(), memory));
  }
  refusals.add_no_memory(i, choice, reasons);
}

// Returns why an operation other than a task cannot have its data in that memory. The text is empty
// if it can. An inline mapping needs a memory that the parent's processor can address, and a
// partition is made from host memory.
UnusableMemoryReason why_not(const Machine& machine, const TaskView& operation,
                             const RequirementView& requirement, MemKind memory) {
  const Processor& near =
      operation.parent == nullptr ? operation.current : operation.parent->current;
  if (memory == MemKind::kVirtual) {  // A copy may read virtual data where it lies.
    const bool reads = operation.operation == OperationKind::kCopy &&
                       requirement.privilege == Privilege::kReadOnly;
    return {reads ? "" : "only what a task hands on, or a copy reads, is virtual"};
  }
  const MemoryGroup* group = machine.node(near.node).find(memory);
  const bool near_only = operation.operation == OperationKind::kInline;
  if (group == nullptr || group->capacity_bytes == 0 ||
      (near_only && !machine.can_address(near.node, near.kind, memory))) {
    return why_not(machine, near, memory);
  }
  const bool host_only = operation.operation == OperationKind::kPartition;
  return {host_only && memory == MemKind::kFbmem ? "partitions are made from host memory" : ""};
}

// Checks the choice for one requirement of an operation other than a task. One usable memory is
// enough. Without the check, Legion reports an error for some operations and aborts without a
// message for others.
void check_operand(Refusals& refusals, const TaskView& operation, std::size_t i,
                   const InstanceChoice& choice) {
  const RequirementView& requirement = operation.requirements[i];
  if (requirement.empty()) return;
  if (choice.instance != 0) {
    return check_named(refusals, i, requirement, choice);
  }
  const auto refusal = [&](MemKind memory) {
    return why_not(refusals.machine(), operation, requirement, memory);
  };
  if (choice.is_virtual) {
    const UnusableMemoryReason why = refusal(MemKind::kVirtual);
    if (!why.text.empty()) {
      refusals.add_refusal(DiagId::kBadVirtual, choice.virtual_origin, i, refusals.task(),
                           why.text);
    }
    return;
  }
  std::vector<UnusableMemoryReason> reasons;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    UnusableMemoryReason why = refusal(candidate.memory);
    if (why.text.empty()) return;
    reasons.push_back(std::move(why));
  }
  refusals.add_no_memory(i, choice, reasons);
}

}  // namespace

// Returns why a requirement cannot be virtual, or null if it can. A leaf task uses its data itself.
// A task that is not a leaf may pass its reductions on to the tasks that it launches. If the
// application itself says that a leaf's region is virtual (kTagVirtualMap), the leaf does not use
// it.
const char* why_not_virtual(const RequirementView& requirement, const VariantView* variant) {
  const bool leaf = variant == nullptr || variant->leaf;
  if (requirement.output) return "the task makes it, so it has to lie somewhere";
  if (requirement.privilege == Privilege::kReduce && leaf) return "a leaf reduces to it";
  if (requirement.coherence != Coherence::kExclusive) return "it is shared while in use";
  const bool asked_for = (requirement.tag & kTagVirtualMap) != 0;
  if (leaf && !asked_for) return "the variant is a leaf, so nobody else maps it";
  return nullptr;
}

// Checks an answer of select_task_options: the processor, the positions of collective regions, and
// replication.
std::vector<Refusal> validate(const TaskOptions& answer, const TaskView& task,
                              const Machine& machine) {
  if (answer.failure) return {{*answer.failure, answer.kind_origin}};
  Refusals refusals(task.name, machine);
  // For an index launch, slice_task decides the processors again.
  if (refusals.check_processor("select_task_options", answer.initial, answer.processor_origin) &&
      !task.is_index && !task.variants.empty() &&
      mapper::best_variant(task, answer.initial.kind) == nullptr) {
    refusals.add_refusal(mapper::no_variant_error(task, machine, answer.initial.kind),
                         answer.processor_origin);
  }
  for (std::uint32_t position : answer.collective) {  // Legion ignores a wrong position.
    if (position < task.requirements.size()) continue;
    refusals.add_refusal(DiagId::kBadCollective, {}, task.name, position, task.requirements.size());
    break;
  }
  if (!answer.replicate) return refusals.take();
  const char* why = answer.map_locally ? "a task that is mapped locally runs once"
                                       : mapper::why_not_replicated(task);
  if (why != nullptr)
    refusals.add_refusal(DiagId::kBadReplication, answer.replicate_origin, task.name, why);
  return refusals.take();
}

// Checks an answer of map_task: the processors, the variant, and the choice for each requirement.
// The processors come first, because every other check depends on them.
std::vector<Refusal> validate(const MapTaskOutput& answer, const TaskView& task,
                              const Machine& machine) {
  if (answer.failure) return {{*answer.failure, answer.processor_origin}};
  if (answer.abort_mapping) return {};
  Refusals refusals(task.name, machine);
  if (answer.processors.empty()) {
    refusals.add_refusal(DiagId::kBadProcessor, answer.processor_origin, "map_task", task.name,
                         "no processor");
    return refusals.take();
  }
  for (const Processor& p : answer.processors) {
    if (!refusals.check_processor("map_task", p, answer.processor_origin)) return refusals.take();
  }
  if (!refusals.check_same_node_and_kind(answer.processors, answer.processor_origin))
    return refusals.take();
  if (task.shard_variant != 0 &&
      (answer.variant != task.shard_variant || answer.processors != std::vector{task.current})) {
    refusals.add_refusal(DiagId::kBadReplication, answer.processor_origin, task.name,
                         "a shard runs where replicate_task put it, by the variant that it chose");
    return refusals.take();
  }
  const VariantView* variant = check_variant(refusals, "map_task", task, answer.variant,
                                             answer.processors.front().kind, answer.kind_origin);
  // Without this check, Legion would abort without a message.
  if (answer.requirements.size() != task.requirements.size()) {
    refusals.add_refusal(DiagId::kMissingChoice, {}, "map_task", task.name,
                         answer.requirements.size(), task.requirements.size());
    return refusals.take();
  }
  for (std::size_t i = 0; i < task.requirements.size(); ++i) {
    check_requirement(refusals, task, i, answer, variant);
  }
  return refusals.take();
}

// Checks the answer for an operation that is not a task. It has a choice for each requirement, and
// no processors.
std::vector<Refusal> validate(const MapOperationOutput& answer, const TaskView& operation,
                              const Machine& machine) {
  Refusals refusals(name_of(operation.operation), machine);
  if (answer.requirements.size() !=
      operation.requirements.size()) {  // Legion would abort without a message.
    refusals.add_refusal(DiagId::kMissingChoice, {}, "map_operation", refusals.task(),
                         answer.requirements.size(), operation.requirements.size());
    return refusals.take();
  }
  for (std::size_t i = 0; i < operation.requirements.size(); ++i) {
    check_operand(refusals, operation, i, answer.requirements[i]);
  }
  return refusals.take();
}

// Checks an answer of replicate_task. Legion needs processors of one kind, one of them on the node
// that maps the task.
std::vector<Refusal> validate(const ReplicateTaskOutput& answer, const TaskView& task,
                              const Machine& machine) {
  Refusals refusals(task.name, machine);
  const auto refuse = [&](std::string_view what, RefusalCause cause = RefusalCause::kOther) {
    refusals.add_refusal(DiagId::kBadReplication, answer.origin, task.name, what);
    refusals.set_cause(cause);
  };
  if (answer.processors.empty()) refuse("it names no processor");
  for (const Processor& p : answer.processors) {
    if (!refusals.check_processor("replicate_task", p, answer.origin)) return refusals.take();
    if (p.kind == answer.processors.front().kind) continue;
    refuse(
        fmt::format("its shards are on {} and {}", text_of(answer.processors.front()), text_of(p)));
    return refusals.take();
  }
  if (answer.processors.empty() ||
      !refusals.check_distinct("replicate_task", answer.processors, answer.origin)) {
    return refusals.take();
  }
  const VariantView* variant = check_variant(refusals, "replicate_task", task, answer.variant,
                                             answer.processors.front().kind, answer.origin);
  if (variant != nullptr && !variant->replicable) {
    refuse("its variant is not replicable", RefusalCause::kVariantNotReplicable);
  }
  const char* why = mapper::why_not_replicated(task);
  if (why != nullptr) refuse(why);
  const auto here = [&](const Processor& p) { return p.node == task.current.node; };
  if (std::none_of(answer.processors.begin(), answer.processors.end(), here)) {
    refuse("no shard is on the node that maps the task", RefusalCause::kNoLocalShard);
  }
  return refusals.take();
}

// Checks an answer of select_tasks_to_map. A ready task may be mapped or moved, and only once. If
// nothing is mapped or moved, the answer must name an event to wait for.
std::vector<Refusal> validate(const SelectMappingOutput& answer, std::span<const TaskView> ready,
                              const Machine& machine) {
  Refusals refusals("", machine);
  const auto refuse = [&](std::string_view what, RefusalCause cause = RefusalCause::kOther) {
    refusals.add_refusal(DiagId::kBadSchedule, {}, what);
    refusals.set_cause(cause);
    return refusals.take();
  };
  std::vector<bool> taken(ready.size());
  // Returns false if the task is not ready or is named for the second time.
  const auto take = [&](std::uint32_t task) {
    const bool fine = task < taken.size() && !taken[task];
    if (fine) taken[task] = true;
    return fine;
  };
  for (std::uint32_t task : answer.map) {
    // Without this check, Legion would hang.
    if (!take(task)) return refuse("a task is named twice or is not ready");
  }
  for (const SelectMappingOutput::Relocation& move : answer.relocate) {
    // Without this check, Legion would hang.
    if (!take(move.task)) {
      return refuse("a task is mapped and moved, moved twice, or is not ready");
    }
    // Without this check, Legion would crash.
    if (!mapper::processor_exists(machine, move.processor)) {
      refusals.add_refusal(DiagId::kBadProcessor, {}, "select_tasks_to_map", ready[move.task].name,
                           text_of(move.processor));
      return refusals.take();
    }
  }
  if (!ready.empty() && answer.map.empty() && answer.relocate.empty() && answer.deferral == 0) {
    return refuse("it maps nothing and names no event to wait for",
                  RefusalCause::kNothingScheduled);
  }
  return refusals.take();
}

// Checks an answer of map_must_epoch. The tasks run at the same time, so each needs a processor of
// its own.
std::vector<Refusal> validate(const MapMustEpochOutput& answer, std::span<const TaskView> tasks,
                              const Machine& machine) {
  Refusals refusals(tasks.empty() ? std::string_view() : tasks.front().name, machine);
  if (answer.processors.size() < tasks.size()) {
    refusals.add_refusal(DiagId::kBadProcessor, {}, "map_must_epoch", refusals.task(),
                         "no processor");
    return refusals.take();
  }
  for (const Processor& p : answer.processors) {
    if (!refusals.check_processor("map_must_epoch", p, {})) return refusals.take();
  }
  refusals.check_distinct("map_must_epoch", answer.processors, {});
  // Without this check, Legion would abort without a message.
  for (std::size_t i = 0; i < answer.constraints.size(); ++i) {
    const InstanceChoice& choice = answer.constraints[i];
    if (choice.candidate_count > 0 || choice.is_virtual || choice.instance != 0) continue;
    refusals.add_refusal(DiagId::kNoMemory, {}, i, refusals.task(), "the answer names no memory");
  }
  return refusals.take();
}

// Checks an answer of select_steal_targets.
std::vector<Refusal> validate_steal_targets(std::span<const Processor> answer,
                                            const Processor& thief, const Machine& machine) {
  // `refusals` keeps a reference to this text, so the text must have a name.
  const std::string name = text_of(thief);
  Refusals refusals(name, machine);
  for (const Processor& victim : answer) {
    if (!refusals.check_processor("select_steal_targets", victim, {})) return refusals.take();
    if (!(victim == thief)) continue;
    refusals.add_refusal(DiagId::kBadSteal, {}, "select_steal_targets",
                         name + " would steal from itself");
    return refusals.take();
  }
  return refusals.take();
}

// Checks an answer of permit_steal_request. A task can be given away once. Without the check,
// Legion crashes.
std::vector<Refusal> validate_stolen(std::span<const std::uint32_t> answer,
                                     std::span<const TaskView> stealable) {
  std::vector<bool> taken(stealable.size());
  for (std::uint32_t task : answer) {
    if (task < taken.size() && !taken[task]) {
      taken[task] = true;
      continue;
    }
    return {{diagnostic_without_source(DiagId::kBadSteal, "permit_steal_request",
                                       "a task is named twice or is not stealable"),
             {}}};
  }
  return {};
}

// Checks the id of a sharding functor. Id 0 is the cyclic functor, and the ids from 1 to `functors`
// are those of the mapper. Legion crashes with any other id.
std::vector<Refusal> validate_sharding(ShardingId answer, const TaskView& operation,
                                       std::size_t functors) {
  if (answer <= functors) return {};
  return {{diagnostic_without_source(DiagId::kBadSharding, operation.name, answer, functors), {}}};
}

// Returns the refusal as text with a help. If the mapper is a program, the text points to the
// statement in its source.
std::string render(const Refusal& refusal, const Mapper& mapper, bool color) {
  Diagnostic shown = refusal.diagnostic;
  mapper::add_refusal_help(shown);
  const auto* const of_program = dynamic_cast<const ProgramMapper*>(&mapper);
  if (of_program != nullptr && refusal.origin && !shown.range) {
    shown.range = of_program->program().range(refusal.origin);
  }
  if (const std::string who = mapper.describe(refusal.origin); !who.empty()) {
    shown.note("decided by " + who);
  }
  return render(mapper.source(), shown, color);
}

// Checks the answer of a sharding functor for one point. The shards are numbered from 0.
std::vector<Refusal> validate(ShardId answer, const Point& point, const TaskView& operation,
                              const ShardTable& shards) {
  if (answer < shards.size()) return {};
  return {{diagnostic_without_source(DiagId::kBadShard, operation.name, text_of(point), answer,
                                     shards.size()),
           {}}};
}

}  // namespace groma
