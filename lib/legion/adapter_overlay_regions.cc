// Maps the regions of a task for an adapter above a mapper of the program: changes the instances
// that the program's mapper chose as Region, Layout and CollectMemory statements say.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/one_diagnostic.h"
#include "legion/adapter.h"
#include "legion/layout_changes.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/demands.h"
#include "mapper/variant_layouts.h"

namespace groma::legion {

using Legion::Mapping::PhysicalInstance;

namespace {

// Returns a group for each instance that the program's mapper chose: the instance with the places
// where the mapper's answer uses it. Premapped and restricted requirements and virtual instances
// are left out.
std::vector<ColocatedRequirements> group_by_instance(
    const Legion::Task& task, const Legion::Mapping::Mapper::MapTaskInput& input,
    const Legion::Mapping::Mapper::MapTaskOutput& output) {
  std::vector<ColocatedRequirements> groups;
  for (std::size_t i = 0; i < task.regions.size() && i < output.chosen_instances.size(); ++i) {
    if (is_premapped(input, i)) continue;
    // A task with a restricted requirement must use the existing instance.
    if (task.regions[i].is_restricted()) continue;
    for (std::size_t k = 0; k < output.chosen_instances[i].size(); ++k) {
      const PhysicalInstance& instance = output.chosen_instances[i][k];
      if (!instance.exists() || instance.is_virtual_instance()) continue;
      const auto same = [&](const ColocatedRequirements& group) {
        return group.instance == instance;
      };
      auto group = std::find_if(groups.begin(), groups.end(), same);
      if (group == groups.end()) group = groups.insert(groups.end(), {instance, {}});
      group->uses_in_answer.emplace_back(i, k);
    }
  }
  return groups;
}

// A message: the reason why an instance is kept that serves several requirements for which the
// statements say different things.
constexpr std::string_view kTogether =
    "it keeps that region in one instance with another, of which statements say otherwise";

// Returns the position of a region requirement and the names by which statements can refer to it.
RegionNames names_of(const TaskView& view, std::size_t position) {
  return {static_cast<std::int64_t>(position), view.requirements[position].aliases};
}

// Returns true if two lists of candidates have the same memories. The statements that named them do
// not matter.
bool same_memories(const std::vector<MemoryCandidate>& a, const std::vector<MemoryCandidate>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& other) { return one.memory == other.memory; });
}

}  // namespace

// ---- Instances of regions

// Returns the regions that a new instance has to cover: the regions of the task, and those of their
// ancestors that the request for the old instance named. The latest request may have found the
// instance of a larger region. Other regions of the request are left out: the program may have
// destroyed them, and Legion ends the process if it is given a destroyed region.
std::vector<Legion::LogicalRegion> Adapter::regions_to_cover(
    MapperContext context, const std::vector<Legion::LogicalRegion>& regions,
    const std::vector<Legion::LogicalRegion>& asked) const {
  std::vector<Legion::LogicalRegion> made;
  const auto add = [&made](const Legion::LogicalRegion& region) {
    if (std::find(made.begin(), made.end(), region) == made.end()) made.push_back(region);
  };
  for (const Legion::LogicalRegion& region : regions) {
    add(region);
    for (const auto& above : region_and_ancestors(mapper_runtime_, context, region)) {
      if (std::find(asked.begin(), asked.end(), above) != asked.end()) add(above);
    }
  }
  return made;
}

// Returns the request with which the program's mapper got the instance. If the request is unknown,
// returns one made from the properties of the instance, with `seen` false.
InstanceRequestRecord Adapter::request_for_instance(
    MapperContext context, const PhysicalInstance& instance,
    const std::vector<Legion::LogicalRegion>& regions) const {
  if (const auto found = registration_->instance_requests->find(context, instance)) {
    InstanceRequestRecord made = *found;
    if (made.by_program && program_requests_only_defaults_) {
      made.by_program = false;
      made.demand = mapper_layout_demand(made);
    }
    return made;
  }
  // Nobody observed the request: the preload library is not there, another process made the
  // request, or the entry was evicted. All properties of the instance then count as the program's
  // choice. The instance tells its layout. Its bounds tell which of the regions above the task's
  // region it covers.
  InstanceRequestRecord made;
  made.seen = false;
  made.constraints = mapper_runtime_->find_layout_constraints(context, instance.get_layout_id());
  made.by_program = !program_requests_only_defaults_;
  made.demand = mapper_layout_demand(made);
  made.regions = regions;
  if (regions.size() == 1) {
    const Legion::Domain covered = instance.get_instance_domain();
    for (const auto& region : region_and_ancestors(mapper_runtime_, context, regions.front())) {
      const auto domain =
          mapper_runtime_->get_index_space_domain(context, region.get_index_space());
      if (domain.lo() != covered.lo() || domain.hi() != covered.hi()) continue;
      made.regions = {region};
      made.tight = region == regions.front();
      break;
    }
  }
  made.demand.not_exact = made.demand.not_exact && !made.tight;
  return made;
}

// Applies the Region and Layout statements to the instances that the program's mapper chose, then
// CollectMemory statements to regions that are only read. Also calls `record_memory_origin` with
// the statement that chose each memory.
void Adapter::overlay_regions(MapperContext context, const Legion::Task& task,
                              const MapTaskInput& input, HookBuffers& call,
                              const VariantView& variant, MapTaskOutput& output) {
  for (const ColocatedRequirements& group : group_by_instance(task, input, output)) {
    overlay_instance(context, task, call.storage.view, variant, group, output);
  }
  const TaskView& view = call.storage.view;
  for (std::size_t i = 0; i < output.chosen_instances.size(); ++i) {
    const RequirementView& requirement = view.requirements[i];
    const RegionNames names{static_cast<std::int64_t>(i), requirement.aliases};
    if (registration_->record_memory_origin && !output.chosen_instances[i].empty()) {
      const auto memories = program_->memories(view.name, names, variant.kind);
      const Legion::Memory memory = output.chosen_instances[i].front().get_location();
      DecisionOrigin origin;
      for (const MemoryCandidate& one : memories) {
        if (memory.exists() && one.memory == kind_of(memory.kind())) origin = one.origin;
      }
      // `origin` is empty if no statement chose the memory. Then the program's own mapper chose it,
      // and nothing is reported.
      if (origin) registration_->record_memory_origin(task.get_unique_id(), i, origin);
    }
    if (requirement.privilege != Privilege::kReadOnly) continue;
    // A CollectMemory statement has Legion forget the instance soon after use. That is unsafe for
    // regions to which the program reduces.
    const std::optional<DecisionOrigin> collects = program_->collect_memory(view.name, names);
    if (!collects) continue;
    if (const char* why = registration_->reductions.why_tracked(task.regions[i])) {
      warn_choice_kept(view.name, fmt::format("the collection of region {}", i), why, *collects);
      continue;
    }
    output.untracked_valid_regions.insert(static_cast<unsigned>(i));
    for (const PhysicalInstance& instance : output.chosen_instances[i]) {
      if (instance.is_virtual_instance()) continue;
      mapper_runtime_->set_garbage_collection_priority(context, instance, kCollectFirst);
    }
  }
  overlay_outputs(task, view, variant, output);
}

// Replaces one instance that the program's mapper chose, for all requirements that share the
// instance. The instance stays if no statement names its regions, if it already is as the
// statements say, or if statements contradict each other about its requirements. Ends the process
// if a statement names memories and none of them works, or if a statement contradicts the layout on
// which the task relies.
void Adapter::overlay_instance(MapperContext context, const Legion::Task& task,
                               const TaskView& view, const VariantView& variant,
                               const ColocatedRequirements& group, MapTaskOutput& output) {
  // Collects the regions and fields of all requirements of the group, and the memories that Region
  // statements name for all of them.
  const std::size_t first = group.uses_in_answer.front().first;
  const Legion::Memory here = group.instance.get_location();
  std::vector<MemoryCandidate> memories;
  std::vector<Legion::LogicalRegion> regions;
  std::set<Legion::FieldID> fields;
  bool reduces = false;
  for (const auto& [i, k] : group.uses_in_answer) {
    fields.insert(task.regions[i].privilege_fields.begin(), task.regions[i].privilege_fields.end());
    reduces = reduces || view.requirements[i].privilege == Privilege::kReduce;
    const Legion::LogicalRegion region = task.regions[i].region;
    if (std::find(regions.begin(), regions.end(), region) == regions.end()) {
      regions.push_back(region);
    }
    auto said = program_->memories(view.name, names_of(view, i), variant.kind);
    if (said.empty() || same_memories(said, memories)) continue;
    if (!memories.empty()) {
      return warn_choice_kept(view.name, fmt::format("the memory of region {}", i), kTogether,
                              said.front().origin);
    }
    memories = std::move(said);
  }
  // Without a Region statement, the data stays in the memory kind of its present instance, which is
  // the only candidate.
  const bool moves = !memories.empty();
  if (!moves) {
    const auto kind = kind_of(here.kind());
    if (!kind) return;
    memories.push_back({*kind, {}});
  }
  InstanceFailure why;
  for (const MemoryCandidate& candidate : memories) {
    if (candidate.memory == MemKind::kVirtual) {
      const char* not_virtual = nullptr;
      for (const auto& [i, k] : group.uses_in_answer) {
        const char* reason = why_not_virtual(view.requirements[i], &variant);
        if (reason != nullptr) not_virtual = reason;
      }
      if (not_virtual == nullptr) {
        return replace_in_answer(PhysicalInstance::get_virtual_instance(), group, output);
      }
      why.add_memory_reason(candidate.memory, {not_virtual});
      continue;
    }
    // All requirements of the group must agree about the layout in this memory.
    std::optional<LayoutDecision> said;
    for (const auto& [i, k] : group.uses_in_answer) {
      const auto one =
          program_->layout(view.name, names_of(view, i), variant.kind, candidate.memory);
      if (one && said && !(one->layout == said->layout && one->named == said->named)) {
        return warn_choice_kept(view.name, fmt::format("the layout of region {}", i), kTogether,
                                one->origin);
      }
      if (one) said = one;
    }
    const bool stays =
        kind_of(here.kind()) == candidate.memory && can_address(output.target_procs.front(), here);
    if (!moves && !said) return;
    if (stays && !said && !reduces) return;
    const Legion::Memory memory =
        stays ? here
              : registration_->machine->memory(output.target_procs.front(), candidate.memory);
    if (!memory.exists()) {
      why.add_memory_reason(candidate.memory, {"the processor reaches none"});
      continue;
    }
    // The new instance gets the constraints of the old request, changed only where the statement
    // says so.
    InstanceRequestRecord asked = request_for_instance(context, group.instance, regions);
    LayoutChanges changes;
    if (said && !asked.seen && registration_->instance_requests->has_evicted_requests()) {
      return warn_choice_kept(view.name, fmt::format("the layout of region {}", first),
                              "it is no longer known how it asked for the instance", said->origin);
    }
    if (said) {
      check_layout(context, task, view, variant, group, asked, *said, candidate.memory);
      StatedLayout stated{said->layout, said->named};
      instances_.drop_needless_compact(context, regions, stated.layout);
      const InstanceRequestRecord before = asked;
      changes = apply_stated_layout(stated, regions.front().get_dim(), asked);
      const auto conflict = find_layout_conflict(changes, *said, before, fields.size(), regions);
      if (conflict && !registration_->options.override_layouts.has(view.name)) {
        refuse_layout(DiagId::kLayoutDemanded, first, view.name, conflict->wants, conflict->says,
                      *said);
      }
      if (said->layout.exact) asked.regions = regions;
      if (said->layout.compact && reduces) {
        warn_choice_kept(view.name, fmt::format("the kind of instance of region {}", first),
                         "an instance to reduce to is never compact", said->origin);
      }
    }
    // Legion computes wrong sums if some points of a launch reduce to new instances and others to a
    // used instance. So all points get new instances, unless the program's mapper was seen to look
    // for existing instances first.
    const bool always_new =
        reduces && (!asked.seen || (asked.wants_new_instance && asked.made_by_adapter));
    if (stays && !changes.any() && !always_new) return;
    asked.constraints.memory_constraint = Legion::MemoryConstraint(memory.kind());
    for (const auto& [i, k] : group.uses_in_answer) {
      asked.wants_new_instance = asked.wants_new_instance || always_new ||
                                 (view.requirements[i].collective &&
                                  view.requirements[i].privilege != Privilege::kReadOnly);
    }
    asked.made_by_adapter = true;
    asked.regions = regions_to_cover(context, regions, asked.regions);
    PhysicalInstance made;
    const InstanceFailure refused = instances_.make_with_request(context, asked, memory, made);
    if (!refused.text.empty()) {
      why.add_memory_reason(candidate.memory, refused);
      continue;
    }
    registration_->instance_requests->record_request(context, made, std::move(asked));
    // Legion may have found the old instance when it was asked for the new one. Then the task keeps
    // this instance, and it is not released.
    if (!(made == group.instance)) mapper_runtime_->release_instance(context, group.instance);
    std::erase_if(output.target_procs,
                  [&](Legion::Processor p) { return !can_address(p, memory); });
    return replace_in_answer(made, group, output);
  }
  fail(first, view.name, why, memories.front().origin);
}

// Ends the process with a message about a Layout statement. `wants` describes the layout that the
// program's mapper requested, `says` the layout of the statement.
void Adapter::refuse_layout(DiagId id, std::size_t position, std::string_view task,
                            std::string_view wants, std::string_view says,
                            const LayoutDecision& said) const {
  registration_->fail(diagnostic_without_source(id, position, task, wants, says), said.origin,
                      mapper_.get());
}

// Ends the process if the Layout statement contradicts a demand of the variant or of the program's
// mapper. If Options::override_layouts names the task, only the demands of the variant count.
void Adapter::check_layout(MapperContext context, const Legion::Task& task, const TaskView& view,
                           const VariantView& variant, const ColocatedRequirements& group,
                           const InstanceRequestRecord& asked, const LayoutDecision& said,
                           MemKind memory) const {
  const std::size_t fields = asked.constraints.field_constraint.get_field_set().size();
  const int dimensions = task.regions[group.uses_in_answer.front().first].region.get_dim();
  // Compares one layout demand with the layout of the statement. If other variants of the same kind
  // demand the opposite order, the message says so, because no statement could then be right for
  // all of them.
  const auto check_demand = [&](const LayoutDemand& demand, DiagId id) {
    LayoutSpec demanded;
    groma::mapper::add_demand(demand, &demanded);
    const LayoutSpec layout = groma::mapper::complete_layout({said.layout, said.named}, demanded);
    const auto conflicts =
        id == DiagId::kLayoutDemanded
            ? groma::mapper::find_mapper_conflicts(demand, layout, memory, dimensions)
            : groma::mapper::find_conflicts(demand, layout, memory, dimensions, fields);
    if (conflicts.empty()) return;
    const groma::mapper::LayoutConflict& first = conflicts.front();
    const bool opposite = id == DiagId::kLayoutRefused && demand.dimensions &&
                          *demand.dimensions != layout.dimensions &&
                          groma::mapper::variants_demand_opposite_orders(view, demand.requirement,
                                                                         variant.kind, false);
    Diagnostic diagnostic = diagnostic_without_source(
        id, demand.requirement, view.name,
        opposite ? first.wants + groma::mapper::kAndTheOpposite : first.wants, first.says);
    if (opposite) groma::mapper::add_opposite_orders_help(diagnostic);
    registration_->fail(diagnostic, said.origin, mapper_.get());
  };
  for (const auto& [i, k] : group.uses_in_answer) {
    for (const Legion::LayoutConstraintSet* set : layout_demands_of(context, task, variant.id, i)) {
      check_demand(demand_of(static_cast<std::uint32_t>(i), *set), DiagId::kLayoutRefused);
    }
  }
  if (registration_->options.override_layouts.has(view.name)) return;
  // Last, the layout of the statement is compared with the layout that the program's mapper
  // demands.
  LayoutDemand demand = asked.demand;
  demand.requirement = static_cast<std::uint32_t>(group.uses_in_answer.front().first);
  std::vector<Legion::LogicalRegion> regions;
  for (const auto& [i, k] : group.uses_in_answer) regions.push_back(task.regions[i].region);
  demand.not_exact = demand.not_exact && (!asked.seen || covers_more_regions(asked, regions));
  check_demand(demand, DiagId::kLayoutDemanded);
}

// Puts the new instance at each place where the answer names the old instance of the group.
void Adapter::replace_in_answer(const PhysicalInstance& instance,
                                const ColocatedRequirements& group, MapTaskOutput& output) const {
  for (const auto& [i, k] : group.uses_in_answer) output.chosen_instances[i][k] = instance;
}

// Chooses the memories of output regions. An output region gets its instance when its task ends.
void Adapter::overlay_outputs(const Legion::Task& task, const TaskView& view,
                              const VariantView& variant, MapTaskOutput& output) {
  for (std::size_t k = 0; k < output.output_targets.size(); ++k) {
    const std::size_t i = task.regions.size() + k;
    const auto memories = program_->memories(view.name, names_of(view, i), variant.kind);
    const auto found =
        std::find_if(memories.begin(), memories.end(), [&](const MemoryCandidate& one) {
          return one.memory != MemKind::kVirtual &&
                 registration_->machine->memory(output.target_procs.front(), one.memory).exists();
        });
    if (found != memories.end()) {
      output.output_targets[k] =
          registration_->machine->memory(output.target_procs.front(), found->memory);
    } else if (!memories.empty()) {
      registration_->fail(diagnostic_without_source(DiagId::kNoMemory, i, view.name,
                                                    fmt::format("{} (the processor reaches none)",
                                                                name_of(memories.front().memory))),
                          memories.front().origin, mapper_.get());
    }
  }
}

}  // namespace groma::legion
