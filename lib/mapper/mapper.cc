// Answers the hooks as Legion's DefaultMapper does. A comment names the policy of Legion that a
// function follows.
#include "groma/mapper.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "evaluate/processors.h"
#include "groma/spelling.h"
#include "index_map/blocks.h"
#include "mapper/default_policy.h"

namespace groma {

using mapper::best_variant;
using mapper::default_choice_of_requirement;

Mapper::Mapper(MapperSite site) : site_(std::move(site)) {
  GROMA_REQUIRE(site_.machine != nullptr, "a MapperSite needs a machine");
  GROMA_REQUIRE(mapper::processor_exists(*site_.machine, site_.local),
                "MapperSite::local must be a processor of MapperSite::machine");
}
Mapper::~Mapper() = default;

std::string Mapper::describe(DecisionOrigin) const { return {}; }

// ---- The choice of processors

// Returns the next processor of the kind on the whole machine. After the last processor comes the
// first.
Processor Mapper::next_global(ProcKind kind) {
  auto& turn = global_turn_[static_cast<std::size_t>(kind)];
  turn = turn ? mapper::next_processor(machine(), *turn)
              : *mapper::first_processor_from(machine(), kind, 0);
  return *turn;
}

// Returns the next processor of the kind on the mapper's own node. After the last processor comes
// the first.
Processor Mapper::next_local(ProcKind kind) {
  auto& turn = local_turn_[static_cast<std::size_t>(kind)];
  const std::int64_t count = machine().processor_count(site_.local.node, kind);
  GROMA_CHECK(count > 0);
  return {kind, site_.local.node, turn++ % count};
}

// Returns the first kind, in Legion's order, that the machine has and the task has a variant for.
// Legion: default_find_preferred_variant.
std::optional<ProcKind> Mapper::default_kind(const TaskView& task) const {
  for (ProcKind kind : mapper::kinds_by_preference(task.tag)) {
    if (machine().has(kind) && best_variant(task, kind) != nullptr) return kind;
  }
  return std::nullopt;
}

// Returns the processor where the task starts. A single task that the top-level task launches goes
// to the next processor of the machine. Exceptions are I/O tasks and tasks that have to stay in
// their address space. Other tasks stay on the node if it has such a processor. Legion:
// default_policy_select_initial_processor.
Processor Mapper::default_processor(const TaskView& task, ProcKind kind) {
  const std::int64_t node = site_.local.node;
  const bool stays = site_.settings.same_address_space || (task.tag & kTagSameAddressSpace) != 0;
  const bool here = machine().processor_count(node, kind) > 0;
  if (task.is_index && here) return site_.local.kind == kind ? site_.local : next_local(kind);
  if (task.depth == 0 && here) {
    return site_.local.kind == kind ? site_.local : Processor{kind, node, 0};
  }
  const bool local = task.depth != 1 || stays || kind == ProcKind::kIo;
  return here && local ? next_local(kind) : next_global(kind);
}

// Decides where and how a task starts. A task without a usable variant gets a failure in the
// answer.
void Mapper::select_task_options(MapperRuntime&, const TaskView& task, TaskOptions& answer) {
  answer.initial = site_.local;
  answer.memoize = site_.settings.memoize;
  mapper::find_collective_requirements(task, answer.collective);
  const auto kind = default_kind(task);
  if (!kind) {
    answer.failure = mapper::no_variant_error(task, machine());
    return;
  }
  answer.initial = default_processor(task, *kind);
  answer.replicate = default_replicates(task, *kind);
  answer.map_locally = site_.settings.map_locally && !answer.replicate;
}

// Returns true if the task is replicated by default: only the top-level task, and only on several
// nodes.
bool Mapper::default_replicates(const TaskView& task, ProcKind kind) const {
  return site_.settings.replicate && task.depth == 0 && machine().node_count() > 1 &&
         mapper::can_replicate(task, kind);
}

// Replicates over one processor of the kind on each node. Legion:
// default_policy_select_best_variant for replicate_task.
void Mapper::replicate_task(MapperRuntime&, const TaskView& task, ReplicateTaskOutput& answer) {
  mapper::replicate_over_nodes(task, task.current, machine(), answer);
}

ShardingId Mapper::select_sharding_functor(MapperRuntime&, const TaskView&, const ShardTable&) {
  return kCyclicSharding;
}

// Cuts the part into one block for each processor, on the own node or on the machine. Legion:
// default_slice_task.
void Mapper::slice_task(MapperRuntime&, const TaskView& task, const Rect& part,
                        SliceTaskOutput& answer) {
  const ProcKind kind = task.current.kind;
  const std::int64_t node = site_.local.node;
  const bool shard = task.parent != nullptr && task.parent->shards > 1;
  const bool wanted =
      shard || site_.settings.same_address_space || (task.tag & kTagSameAddressSpace) != 0;
  const bool stays = wanted && machine().processor_count(node, kind) > 0;
  const std::int64_t count =
      stays ? machine().processor_count(node, kind) : mapper::count_processors(machine(), kind);
  if (count == 0) return;
  answer.by_default = true;
  Processor next =
      stays ? Processor{kind, node, 0} : *mapper::first_processor_from(machine(), kind, 0);
  mapper::cut_into_blocks(part, count, [&](const Rect& box) {
    answer.slices.push_back({box, next, false, false});
    next = stays ? Processor{kind, node, (next.index + 1) % count}
                 : mapper::next_processor(machine(), next);
  });
}

void Mapper::premap_task(MapperRuntime&, const TaskView&, std::vector<Memory>&) {}

// ---- Mapping of one task

// Chooses the variant and the processors, and the default choice for each requirement.
void Mapper::map_task(MapperRuntime&, const TaskView& task,
                      std::span<const std::span<const InstanceView>>, MapTaskOutput& answer) {
  const VariantView* variant = mapper::variant_to_run(task);
  if (variant == nullptr) {
    answer.failure = mapper::no_variant_error(task, machine(), task.current.kind);
    return;
  }
  answer.variant = variant->id;
  mapper::target_processors(task, machine(), answer.processors);
  for (std::size_t i = 0; i < task.requirements.size(); ++i) {
    answer.requirements.push_back(
        default_choice_of_requirement(task.requirements[i], *variant, static_cast<std::uint32_t>(i),
                                      task.current, machine(), site_.settings));
  }
}

VariantId Mapper::select_task_variant(MapperRuntime&, const TaskView& task) {
  const VariantView* variant = best_variant(task, task.current.kind);
  return variant == nullptr ? 0 : variant->id;
}

void Mapper::postmap_task(MapperRuntime&, const TaskView&, MapOperationOutput&) {}

// ---- Operations other than tasks

// Maps an operation that is not a task near its parent's processor. Dependent partitioning reads
// host memory only, so it maps near a CPU. Legion: default_policy_select_target_memory for the
// parent's processor.
void Mapper::map_operation(MapperRuntime&, const TaskView& operation,
                           std::span<const std::span<const InstanceView>>,
                           MapOperationOutput& answer) {
  Processor near = operation.parent == nullptr ? site_.local : operation.parent->current;
  const auto host = mapper::first_processor_from(machine(), ProcKind::kCpu, near.node);
  if (operation.operation == OperationKind::kPartition && host) near = *host;
  VariantView any;
  any.leaf = true;
  answer.requirements.resize(operation.requirements.size());
  for (std::size_t i = 0; i < operation.requirements.size(); ++i) {
    RequirementView requirement = operation.requirements[i];
    requirement.tag &= ~kTagVirtualMap;  // Only tasks can have virtual requirements.
    answer.requirements[i] = default_choice_of_requirement(
        requirement, any, static_cast<std::uint32_t>(i), near, machine(), site_.settings);
  }
}

PartitionId Mapper::select_partition_projection(MapperRuntime&, const TaskView&,
                                                std::span<const PartitionId> open) {
  return open.empty() ? 0 : open.front();
}

void Mapper::map_future_map_reduction(MapperRuntime&, std::uint64_t, std::vector<Memory>&) {}

// Gives the tasks of each kind the processors of that kind in turn.
void Mapper::map_must_epoch(MapperRuntime&, std::span<const TaskView> tasks,
                            MapMustEpochOutput& answer) {
  std::array<std::optional<Processor>, kProcKindCount> last;
  for (const TaskView& task : tasks) {
    const ProcKind kind = default_kind(task).value_or(site_.local.kind);
    auto& turn = last[static_cast<std::size_t>(kind)];
    turn = turn ? mapper::next_processor(machine(), *turn)
                : mapper::first_processor_from(machine(), kind, 0);
    answer.processors.push_back(turn.value_or(site_.local));
  }
}

// Sorts the sources: those on the target's node first, then by bandwidth. Legion:
// default_policy_select_sources.
void Mapper::select_sources(MapperRuntime&, const TaskView&, const InstanceView& target,
                            std::span<const InstanceView> sources,
                            std::vector<std::uint32_t>& answer) {
  for (std::uint32_t i = 0; i < sources.size(); ++i) answer.push_back(i);
  const auto nearness = [&](std::uint32_t i) {
    const Memory& memory = sources[i].memory;
    return std::pair(memory.node == target.memory.node,
                     mapper::copy_bandwidth(machine(), memory, target.memory));
  };
  std::stable_sort(answer.begin(), answer.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return nearness(a) > nearness(b); });
}

// ---- Order, stealing, tracing

// Maps the first ready tasks, as many as the setting `schedule_count` allows.
void Mapper::select_tasks_to_map(MapperRuntime&, std::span<const TaskView> ready,
                                 SelectMappingOutput& answer) {
  const auto limit = static_cast<std::size_t>(std::max(0, site_.settings.schedule_count));
  const std::size_t count = limit == 0 ? ready.size() : std::min(limit, ready.size());
  for (std::uint32_t i = 0; i < count; ++i) answer.map.push_back(i);
}

void Mapper::configure_context(MapperRuntime&, const TaskView&, ContextConfigOutput&) {}

void Mapper::select_steal_targets(MapperRuntime&, std::span<const Processor>,
                                  std::vector<Processor>&) {}

void Mapper::permit_steal_request(MapperRuntime&, const Processor&, std::span<const TaskView>,
                                  std::vector<std::uint32_t>&) {}

bool Mapper::memoize_operation(MapperRuntime&, const TaskView&, bool traced) {
  return traced && site_.settings.memoize;
}

// ---- Tunables

// Answers the tunables of Legion's DefaultMapper: counts of nodes and processors. Other tunables
// get no answer.
void Mapper::select_tunable_value(MapperRuntime&, const TaskView&, std::uint32_t id, std::uint64_t,
                                  std::span<const std::byte>, std::vector<std::byte>& answer) {
  constexpr std::array kKinds = {ProcKind::kCpu, ProcKind::kGpu, ProcKind::kIo, ProcKind::kOmp,
                                 ProcKind::kPy};
  constexpr auto kLocal = static_cast<std::uint32_t>(Tunable::kLocalCpus);
  constexpr auto kGlobal = static_cast<std::uint32_t>(Tunable::kGlobalCpus);
  std::int64_t value = 0;
  if (id == static_cast<std::uint32_t>(Tunable::kNodeCount)) {
    value = machine().node_count();
  } else if (id >= kLocal && id < kGlobal) {
    value = machine().processor_count(site_.local.node, kKinds[id - kLocal]);
  } else if (id >= kGlobal && id - kGlobal < kKinds.size()) {
    value = mapper::count_processors(machine(), kKinds[id - kGlobal]);
  } else {
    return;
  }
  const auto size = static_cast<std::size_t>(value);
  answer.resize(sizeof size);
  std::memcpy(answer.data(), &size, sizeof size);
}

// ---- Hooks that receive reports and messages

void Mapper::report_profiling(MapperRuntime&, const TaskView&, const ProfilingReport&) {}
void Mapper::handle_message(MapperRuntime&, const Processor&, std::uint32_t,
                            std::span<const std::byte>) {}
void Mapper::handle_task_result(MapperRuntime&, MapperEvent, std::span<const std::byte>) {}
void Mapper::handle_instance_collection(MapperRuntime&, InstanceId) {}

}  // namespace groma
