// Makes the decisions of Legion's DefaultMapper, in functions that depend only on their arguments.
// A comment names the policy of Legion that a function follows.
#include "mapper/default_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/one_diagnostic.h"
#include "evaluate/processors.h"
#include "groma/spelling.h"
#include "mapper/demands.h"

namespace groma::mapper {

// Returns the processor kinds, the preferred one first (Legion:
// default_policy_rank_processor_kinds).
const std::array<ProcKind, kProcKindCount>& kinds_by_preference(std::uint64_t tag) {
  using enum ProcKind;
  static constexpr std::array kRanked = {kGpu, kOmp, kProc, kCpu, kIo, kPy};
  static constexpr std::array kCpuFirst = {kOmp, kProc, kCpu, kIo, kPy, kGpu};
  return (tag & kTagPreferCpu) != 0 ? kCpuFirst : kRanked;
}

// Returns the variant with the highest id for the kind (Legion:
// default_policy_select_best_variant). A variant that the program's own mapper was recorded to
// choose comes before all others.
const VariantView* best_variant(const TaskView& task, ProcKind kind) {
  const auto rank = [](const VariantView& v) { return std::pair(v.chosen_by_mapper, v.id); };
  const VariantView* best = nullptr;
  for (const VariantView& variant : task.variants) {
    if (variant.kind != kind) continue;
    if (best == nullptr || rank(variant) > rank(*best)) best = &variant;
  }
  return best;
}

// Returns the variant by which the task runs. For a shard this is the variant `shard_variant`, for
// any other task the best one for its processor's kind. Returns null if the task has no such
// variant.
const VariantView* variant_to_run(const TaskView& task) {
  if (task.shard_variant == 0) return best_variant(task, task.current.kind);
  for (const VariantView& variant : task.variants) {
    if (variant.id == task.shard_variant) return &variant;
  }
  return nullptr;
}

// Returns why no runtime replicates the task, or null if it may be replicated. Legion ignores a
// choice to replicate a task that reduces or makes outputs, and refuses one for concurrent launches
// and must epochs.
const char* why_not_replicated(const TaskView& task) {
  for (const RequirementView& requirement : task.requirements) {
    if (requirement.privilege == Privilege::kReduce)
      return "a task that reduces to a region runs once";
    if (requirement.output) return "a task that makes its regions' extents runs once";
  }
  if (task.concurrent) return "the points of a concurrent launch run once";
  return task.must_epoch ? "the tasks of a must epoch run once" : nullptr;
}

bool can_replicate(const TaskView& task, ProcKind kind) {
  const auto fits = [kind](const VariantView& v) { return v.replicable && v.kind == kind; };
  return why_not_replicated(task) == nullptr &&
         std::any_of(task.variants.begin(), task.variants.end(), fits);
}

// Appends the processors that may run the task (Legion: default_policy_select_target_processors).
void target_processors(const TaskView& task, const Machine& machine,
                       std::vector<Processor>& answer) {
  const Processor& at = task.current;
  using enum ProcKind;
  // With several sockets, each socket has a memory of its own, and a CPU of another socket is far
  // from it. So the task stays on the processor that it was sent to.
  const MemoryGroup* sockets = machine.node(at.node).find(MemKind::kSockmem);
  const bool numa = sockets != nullptr && sockets->capacity_bytes > 0 && sockets->count > 1;
  const bool any =
      at.kind == kIo || at.kind == kPy || (!numa && (at.kind == kCpu || at.kind == kOmp));
  const bool shard = task.shard_variant != 0;
  if (!any || shard || task.must_epoch || task.concurrent || !task.local) {
    answer.push_back(at);
    return;
  }
  const std::int64_t count = machine.processor_count(at.node, at.kind);
  for (std::int64_t i = 0; i < count; ++i) answer.push_back({at.kind, at.node, i});
}

// Goes from the root down to the first region with at most an equal share of the root's points for
// each node (Legion: default_policy_select_instance_region).
std::size_t choose_instance_region(std::span<const std::int64_t> volumes, std::int64_t nodes) {
  std::size_t i = volumes.size() - 1;
  const std::int64_t share = volumes[i] / nodes;
  while (i > 0 && nodes > 1 && volumes[i] > share) --i;
  return i;
}

// Finds the requirements for which all points of the launch ask for the same region, and which they
// only read or only reduce to.
void find_collective_requirements(const TaskView& task, std::vector<std::uint32_t>& answer) {
  for (std::uint32_t i = 0; task.is_index && i < task.requirements.size(); ++i) {
    const RequirementView& requirement = task.requirements[i];
    const bool shares = requirement.privilege == Privilege::kReadOnly ||
                        requirement.privilege == Privilege::kReduce;
    const bool whole =
        requirement.projection != Projection::kPartition && requirement.projection_functor == 0;
    if (shares && whole) answer.push_back(i);
  }
}

// Returns the layout that the variant demands for a requirement. Parts that it does not demand are
// those of the default layout (SOA, Fortran order).
LayoutSpec demanded_layout(const VariantView& variant, std::uint32_t position) {
  LayoutSpec layout;
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement != position) continue;
    LayoutDemand one = demand;
    // An upper bound of the alignment in a demand of the program's mapper means fields without gaps
    // (variant_layouts.h). It is not an alignment that an instance could be given.
    const bool no_gaps = one.source == DemandSource::kMapper && one.align_op == AlignOp::kLe;
    if (no_gaps) one.align_op = AlignOp::kNone;
    add_demand(one, &layout);
  }
  return layout;
}

namespace {

// Returns the memory kind that a variant demands for a requirement, if there is one (Legion:
// find_memory_constraint).
std::optional<MemKind> demanded_memory(const VariantView& variant, std::uint32_t position) {
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement == position && demand.memory) return demand.memory;
  }
  return std::nullopt;
}

}  // namespace

// Returns the default choice for a requirement. Legion: default_policy_select_target_memory,
// default_policy_select_layout_constraints, default_policy_select_instance_region,
// default_policy_select_garbage_collection_priority.
InstanceChoice default_choice_of_requirement(const RequirementView& requirement,
                                             const VariantView& variant, std::uint32_t position,
                                             const Processor& processor, const Machine& machine,
                                             const DefaultSettings& settings) {
  InstanceChoice choice;
  if (requirement.empty()) return choice;
  const bool reduces = requirement.privilege == Privilege::kReduce;
  // The task itself does not use the data, only the tasks that it launches do.
  const bool unread = (variant.inner && requirement.coherence == Coherence::kExclusive) ||
                      (reduces && !variant.leaf);
  const bool exact = settings.exact_region || (requirement.tag & kTagExactRegion) != 0;
  if (exact || reduces) choice.region = InstanceChoice::Region::kRequired;
  // Points that write the same region at the same time may not share an instance.
  const bool writes = requirement.privilege != Privilege::kReadOnly && !reduces;
  choice.fresh = requirement.collective && writes;
  if (reduces) {
    choice.fields = InstanceChoice::Fields::kRequired;
    choice.collect_priority = kCollectFirst;
  }
  choice.is_virtual = !requirement.output && (unread || (requirement.tag & kTagVirtualMap) != 0);
  if (choice.is_virtual) return choice;
  const bool rdma = (requirement.tag & kTagPreferRdma) != 0;
  auto memory = demanded_memory(variant, position);
  if (!memory) memory = best_memory_kind(machine, processor.node, processor.kind, rdma);
  if (memory) choice.add({*memory, {}, demanded_layout(variant, position), {}});
  return choice;
}

// Chooses the replicable variant with the highest id, and a processor for a shard on each node.
void replicate_over_nodes(const TaskView& task, const Processor& near, const Machine& machine,
                          ReplicateTaskOutput& answer) {
  const VariantView* chosen = nullptr;
  for (const VariantView& variant : task.variants) {
    const bool fits = variant.replicable && variant.kind == near.kind;
    if (fits && (chosen == nullptr || variant.id > chosen->id)) chosen = &variant;
  }
  if (chosen == nullptr) return;
  answer.variant = chosen->id;
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    if (machine.processor_count(node, near.kind) == 0) continue;
    answer.processors.push_back(node == near.node ? near : Processor{near.kind, node, 0});
  }
}

// Returns the bandwidth of the fastest channel between two memories, in bytes per second. Channels
// join two nodes, two memories of one kind on a node, or two memories of different kinds on a node.
double copy_bandwidth(const Machine& machine, const Memory& from, const Memory& to) {
  if (from == to) return std::numeric_limits<double>::infinity();
  using Scope = Channel::Scope;
  const bool near = from.node == to.node;
  const Scope scope = !near ? Scope::kNetwork : from.kind == to.kind ? Scope::kPeer : Scope::kLocal;
  double best = 0;
  for (const Channel& channel : machine.node(from.node).channels) {
    const bool joins = (channel.from == from.kind && channel.to == to.kind) ||
                       (channel.from == to.kind && channel.to == from.kind);
    if (joins && channel.scope == scope) best = std::max(best, channel.bandwidth_bytes_per_s);
  }
  return best;
}

// Adds a help to the error for a task that has no variant for the machine: name a kind that works,
// or else use another machine.
void add_no_variant_help(const TaskView& task, const Machine& machine, Diagnostic& diagnostic) {
  std::vector<std::string_view> variants, usable;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    if (best_variant(task, kind) == nullptr) continue;
    variants.push_back(name_of(kind));
    if (machine.has(kind)) usable.push_back(name_of(kind));
  }
  if (!usable.empty()) {
    diagnostic.help("name " + join_names(usable) + " in its `Task` statement");
  } else if (!variants.empty()) {
    diagnostic.help("take a machine that has " + join_names(variants));
  }
}

namespace {

// Returns the help for all refusals with this id, or null if there is none.
const char* help_of_refusal(DiagId id) {
  switch (id) {
    case DiagId::kNoMemory:
      return "name a memory that its processor can address in a `Region` statement";
    case DiagId::kBadVirtual:
      return "name a memory instead of `VIRTUAL` in its `Region` statement";
    case DiagId::kLayoutRefused:
      return "write what its variant wants in its `Layout` statement";
    case DiagId::kLayoutDemanded:
      return "leave that out of the `Layout` statement, or give `--override-layouts` if the task "
             "works with any layout";
    case DiagId::kOutOfMemory:
    case DiagId::kMayNotFit:
      return "name a memory with more room, or one more after it, in the `Region` statement; "
             "`CollectMemory` lets go what was only read";
    case DiagId::kNoRoute:
      return "keep the data in memories between which there is a channel (`groma machines`)";
    default:
      return nullptr;
  }
}

}  // namespace

// Does nothing if the error has a help already, or if there is no help for its id.
void add_refusal_help(Diagnostic& diagnostic) {
  const char* const cure = help_of_refusal(diagnostic.id);
  if (cure == nullptr || !diagnostic.helps.empty()) return;
  if (diagnostic.id == DiagId::kLayoutDemanded) {
    diagnostic.note("the task may rely on it, since its program chose it");
  }
  diagnostic.help(cure);
}

// Returns the error for a task that has no variant for any kind of the machine, or none for `kind`
// if it is given. The note tells which kinds were possible.
Diagnostic no_variant_error(const TaskView& task, const Machine& machine,
                            std::optional<ProcKind> kind) {
  std::vector<std::string_view> variants, present;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto one = static_cast<ProcKind>(k);
    if (best_variant(task, one) != nullptr) variants.push_back(name_of(one));
    if (machine.has(one)) present.push_back(name_of(one));
  }
  Diagnostic diagnostic = diagnostic_without_source(
      DiagId::kNoVariant, task.name,
      variants.empty() ? "it has no variant" : join_names(variants, "and"));
  diagnostic.note(kind ? "it was to run on `" + std::string(name_of(*kind)) + "`"
                       : "`" + machine.name() + "` has " + join_names(present, "and"));
  add_no_variant_help(task, machine, diagnostic);
  return diagnostic;
}

}  // namespace groma::mapper
