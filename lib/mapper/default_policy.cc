// DefaultMapper's policies as functions of what they look at.
#include "mapper/default_policy.h"

#include <algorithm>
#include <limits>

#include "groma/spelling.h"
#include "mapper/processors.h"

namespace groma::mapper {

// default_policy_rank_processor_kinds
const std::array<ProcKind, kProcKindCount>& rank_kinds(std::uint64_t tag) {
  using enum ProcKind;
  static constexpr std::array kRanked = {kGpu, kOmp, kProc, kCpu, kIo, kPy};
  static constexpr std::array kCpuFirst = {kOmp, kProc, kCpu, kIo, kPy, kGpu};
  return (tag & kTagPreferCpu) != 0 ? kCpuFirst : kRanked;
}

// default_policy_select_best_variant
const VariantView* best_variant(const TaskView& task, ProcKind kind) {
  const VariantView* best = nullptr;
  for (const VariantView& variant : task.variants) {
    if (variant.kind == kind && (best == nullptr || variant.id > best->id)) best = &variant;
  }
  return best;
}

// default_policy_select_target_processors
void target_processors(const TaskView& task, const Machine& machine,
                       std::vector<Processor>& answer) {
  const Processor& at = task.current;
  using enum ProcKind;
  const bool any = at.kind == kCpu || at.kind == kIo || at.kind == kPy;
  if (!any || task.must_epoch || task.concurrent || !task.local) {
    answer.push_back(at);
    return;
  }
  const std::int64_t count = machine.processor_count(at.node, at.kind);
  for (std::int64_t i = 0; i < count; ++i) answer.push_back({at.kind, at.node, i});
}

void find_collective(const TaskView& task, std::vector<std::uint32_t>& answer) {
  for (std::uint32_t i = 0; task.is_index && i < task.requirements.size(); ++i) {
    const RequirementView& requirement = task.requirements[i];
    const bool shares = requirement.privilege == Privilege::kReadOnly ||
                        requirement.privilege == Privilege::kReduce;
    const bool whole =
        requirement.projection != Projection::kPartition && requirement.projection_functor == 0;
    if (shares && whole) answer.push_back(i);
  }
}

LayoutSpec demanded_layout(const VariantView& variant, std::uint32_t position) {
  LayoutSpec layout;
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement != position) continue;
    layout.dimensions = demand.dimensions.value_or(layout.dimensions);
    layout.fields = demand.fields.value_or(layout.fields);
    layout.exact = layout.exact || demand.exact;
    if (demand.align_op == AlignOp::kNone) continue;
    layout.align_op = demand.align_op;
    layout.align_bytes = demand.align_bytes;
  }
  return layout;
}

namespace {

// find_memory_constraint
std::optional<MemKind> demanded_memory(const VariantView& variant, std::uint32_t position) {
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement == position && demand.memory) return demand.memory;
  }
  return std::nullopt;
}

}  // namespace

// default_policy_select_target_memory, default_policy_select_layout_constraints,
// default_policy_select_instance_region, default_policy_select_garbage_collection_priority
RequirementWish default_requirement(const RequirementView& requirement, const VariantView& variant,
                                    std::uint32_t position, const Processor& processor,
                                    const Machine& machine, const DefaultSettings& settings) {
  RequirementWish wish;
  if (requirement.empty()) return wish;
  const bool reduces = requirement.privilege == Privilege::kReduce;
  const bool unread = variant.inner || (reduces && !variant.leaf);
  wish.is_virtual = unread || (requirement.tag & kTagVirtualMap) != 0;
  if (wish.is_virtual) return wish;
  const bool exact = settings.exact_region || (requirement.tag & kTagExactRegion) != 0;
  if (exact || reduces) wish.region = RequirementWish::Region::kRequired;
  if (reduces) {
    wish.fields = RequirementWish::Fields::kRequired;
    wish.collect_priority = kCollectFirst;
  }
  const bool rdma = (requirement.tag & kTagPreferRdma) != 0;
  auto memory = demanded_memory(variant, position);
  if (!memory) memory = best_memory(machine, processor.node, processor.kind, rdma);
  if (memory) wish.add({*memory, {}, demanded_layout(variant, position), {}});
  return wish;
}

void replicate_over_nodes(const TaskView& task, const Processor& near, const Machine& machine,
                          ReplicateAnswer& answer) {
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

Diagnostic no_variant(const TaskView& task, const Machine& machine) {
  std::vector<std::string_view> kinds;
  for (const VariantView& variant : task.variants) kinds.push_back(name_of(variant.kind));
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  Diagnostics diags{Source()};
  diags
      .report(DiagId::kNoVariant, std::nullopt, task.name,
              kinds.empty() ? "it has no variant" : join_names(kinds, "and"))
      .note("it was to run on " + std::string(name_of(task.current.kind)) + " of `" +
            machine.name() + "`");
  return diags.all().front();
}

}  // namespace groma::mapper
