// The adapter above a mapper of the program. It changes the parts of that mapper's answers that
// statements decide.
// A task may rely on its mapper's choice of a data order, a memory pool or a variant. A choice that
// cannot be changed safely is kept, and this is reported once.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/one_diagnostic.h"
#include "groma/program_mapper.h"
#include "legion/adapter.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/demands.h"
#include "mapper/variant_layouts.h"

namespace groma::legion {

using Legion::Mapping::PhysicalInstance;
using Regions = TaskViews::Regions;

namespace {

bool reaches(Legion::Processor processor, Legion::Memory memory) {
  return Realm::Machine::get_machine().has_affinity(processor, memory);
}

const VariantView* find_variant(std::span<const VariantView> variants, Legion::VariantID id) {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [id](const VariantView& one) { return one.id == id; });
  return found == variants.end() ? nullptr : &*found;
}

// Groups the task's requirements by the instance that the program's mapper chose. Premapped and
// restricted requirements and virtual instances are left out.
std::vector<Colocated> group_by_instance(const Legion::Task& task,
                                         const Legion::Mapping::Mapper::MapTaskInput& input,
                                         const Legion::Mapping::Mapper::MapTaskOutput& output) {
  std::vector<Colocated> groups;
  for (std::size_t i = 0; i < task.regions.size() && i < output.chosen_instances.size(); ++i) {
    if (is_premapped(input, i)) continue;
    if (task.regions[i].is_restricted()) continue;  // must use the existing instance
    for (std::size_t k = 0; k < output.chosen_instances[i].size(); ++k) {
      const PhysicalInstance& instance = output.chosen_instances[i][k];
      if (!instance.exists() || instance.is_virtual_instance()) continue;
      const auto same = [&](const Colocated& group) { return group.instance == instance; };
      auto group = std::find_if(groups.begin(), groups.end(), same);
      if (group == groups.end()) group = groups.insert(groups.end(), {instance, {}});
      group->places.emplace_back(i, k);
    }
  }
  return groups;
}

constexpr std::string_view kTogether =
    "it keeps that region in one instance with another, of which statements say otherwise";

RegionNames names_of(const TaskView& view, std::size_t position) {
  return {static_cast<std::int64_t>(position), view.requirements[position].aliases};
}

bool same_memories(const std::vector<MemoryCandidate>& a, const std::vector<MemoryCandidate>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& other) { return one.memory == other.memory; });
}

// The parts of a requested layout that a statement changes.
struct LayoutChanges {
  bool order = false;  // order of dimensions or fields
  bool compact = false;
  bool exact = false;
  bool alignment = false;
  bool any() const { return order || compact || exact || alignment; }
};

// Returns the least alignment of a field that is right for the statement's layout and for the
// request. A multiple of an alignment that the request asks for is right, too.
std::size_t joined_alignment(Legion::FieldID field, const LayoutSpec& layout,
                             const Legion::LayoutConstraintSet& set) {
  Legion::LayoutConstraintSet asked;
  for (Legion::AlignmentConstraint one : set.alignment_constraints) {
    if (one.eqk == LEGION_EQ_EK) one.eqk = LEGION_GE_EK;
    asked.alignment_constraints.push_back(one);
  }
  return alignment_of(field, layout, {&asked});
}

// Applies the statement's layout to the request `asked` and returns what changed.
LayoutChanges restate(const StatedLayout& said, int dimensions, AskedInstance& asked) {
  LayoutChanges changes;
  Legion::LayoutConstraintSet& set = asked.constraints;
  const LayoutDemand now = demand_of(0, set);
  LayoutSpec layout;
  layout.dimensions = now.dimensions.value_or(layout.dimensions);
  layout.fields = now.fields.value_or(layout.fields);
  const LayoutSpec before = layout;
  const auto& fields = set.field_constraint.get_field_set();
  if (said.named.dimensions && dimensions > 1) layout.dimensions = said.layout.dimensions;
  if (said.named.fields && fields.size() > 1) layout.fields = said.layout.fields;
  changes.order = !(layout == before);
  if (changes.order) {
    const bool contiguous = set.ordering_constraint.contiguous;
    set.ordering_constraint = ordering_of(layout, dimensions);
    set.ordering_constraint.contiguous = contiguous;
  }
  changes.compact = said.layout.compact && !set.specialized_constraint.is_compact() &&
                    set.specialized_constraint.get_reduction_op() == 0;
  if (changes.compact) {
    set.specialized_constraint = Legion::SpecializedConstraint(LEGION_COMPACT_SPECIALIZE);
  }
  changes.exact = said.layout.exact && !asked.tight;
  if (changes.exact) set.specialized_constraint.exact = asked.tight = true;
  if (said.layout.align_op == AlignOp::kNone) return changes;
  for (const Legion::FieldID field : fields) {
    const std::size_t bytes = joined_alignment(field, said.layout, set);
    auto& all = set.alignment_constraints;
    const auto same = [&](const Legion::AlignmentConstraint& one) { return one.fid == field; };
    const auto old = std::find_if(all.begin(), all.end(), same);
    if (bytes == (old == all.end() ? 1 : old->alignment)) continue;
    std::erase_if(all, same);
    all.emplace_back(field, LEGION_EQ_EK, bytes);
    changes.alignment = true;
  }
  return changes;
}

// Returns the part of the request that the changes contradict (besides the demands of
// demand_of_mapper), or nothing. If the program's own code chose the layout, the task may compute
// addresses from it. `asked` is the request before the changes. The task uses `fields` fields of
// the instance in `regions`.
std::optional<groma::mapper::LayoutConflict> why_not_changed(
    const LayoutChanges& changes, const LayoutDecision& said, const AskedInstance& asked,
    std::size_t fields, const std::vector<Legion::LogicalRegion>& regions) {
  using groma::mapper::LayoutPart;
  const UnnamedOrder unnamed = demanded_unnamed_order(asked);
  if (unnamed.dimensions && said.named.dimensions) {
    return {{LayoutPart::kOrder, "another order of dimensions",
             said.layout.dimensions == DimensionOrder::kC ? "C_order" : "F_order"}};
  }
  if (unnamed.fields && said.named.fields) {
    return {{LayoutPart::kOrder, "fields between the dimensions",
             said.layout.fields == FieldOrder::kAos ? "AOS" : "SOA"}};
  }
  if (changes.alignment && demands_no_gaps(asked, fields)) {
    for (const LayoutDemand& demand : demands_of(asked, fields, regions)) {
      if (demand.align_op != AlignOp::kLe) continue;
      auto gaps = groma::mapper::find_mapper_conflicts(demand, said.layout, MemKind::kSysmem, 1);
      if (!gaps.empty()) return std::move(gaps.front());
    }
  }
  if (!asked.by_program) return {};
  if (changes.compact) {
    return {{LayoutPart::kOther, "an instance with room for every point", "Compact"}};
  }
  if (changes.exact && (!asked.seen || asks_for_more(asked, regions))) {
    return {
        {LayoutPart::kOther, "an instance that also covers points outside the region", "Exact"}};
  }
  return {};
}

}  // namespace

// ---- Choices that are kept

void Adapter::tell_kept(std::string_view task, std::string_view what, std::string_view why,
                        Origin origin) {
  registration_->warn_once(one_diagnostic(DiagId::kKeptByMapper, what, task, why), origin,
                           *mapper_);
}

namespace {

constexpr std::string_view kTalking =
    "the points of a concurrent launch may rely on the processors that it chose";

}  // namespace

// ---- Task options

// Applies the statements that decide a task's options: processor, stealing, limits.
void Adapter::overlay_options(MapperContext context, const Legion::Task& task,
                              TaskOptions& output) {
  const auto own = registration_->machine->processor(output.initial_proc);
  if (!own) return;
  HookCalls::Use call(calls_, context);
  views_.make(context, task, place_of(task.current_proc), Regions::kNamed, call->storage);
  TaskView& view = call->storage.view;
  view.own_kind = own->kind;
  groma::TaskOptions& answer = call->options;
  answer.clear();
  mapper_->select_task_options(call->hands, view, answer);
  check(validate(answer, view, mapper_->machine()));
  const bool other_kind = answer.kind_origin && answer.initial.kind != own->kind;
  const bool places = answer.processor_origin || (view.is_index && decides_points(view, own->kind));
  if (task.concurrent_task && (other_kind || places)) {
    tell_kept(view.name, "the placement", kTalking,
              other_kind ? answer.kind_origin : answer.processor_origin);
  } else if (other_kind || answer.processor_origin) {
    const Processor to =
        answer.processor_origin ? answer.initial : near_processor(own->node, answer.initial);
    output.initial_proc = realm(to);
    output.inline_task = false;  // an inlined task runs on its parent's processor
  }
  if (view.rendezvous) {
    const auto limit = program_->instance_limit(view.name, own->kind);
    if (limit && limit->limit > 0) {
      tell_kept(view.name, "the number of instances", "its points wait for each other",
                limit->origin);
    }
  }
  if (answer.steal_origin) {
    output.stealable = true;
    registration_->note_stealable(task.task_id);
  }
  if (answer.replicate_origin && answer.replicate) {
    output.replicate = true;
    output.map_locally = output.inline_task = false;
  }
  // A trace replay asks no mapper, and points that share a collective region are mapped together.
  // Neither is possible for tasks with limits.
  if (is_limited(view)) output.check_collective_regions.clear();
  if (is_limited(view) || answer.steal_origin) output.memoize = false;
}

// Returns a processor of the same kind as `otherwise` on the node, round robin. Returns `otherwise`
// if the node has no such processor.
Processor Adapter::near_processor(std::int64_t node, const Processor& otherwise) {
  const std::int64_t count = mapper_->machine().processor_count(node, otherwise.kind);
  if (count == 0 || node == otherwise.node) return otherwise;
  return {otherwise.kind, node, next_near_++ % count};
}

bool Adapter::is_limited(const TaskView& view) const {
  if (!view.own_kind || view.rendezvous) return false;
  const auto limit = program_->instance_limit(view.name, *view.own_kind);
  return limit && limit->limit > 0;
}

bool Adapter::decides_points(const TaskView& view, ProcKind kind) const {
  return groma::mapper::decide_function(*program_, view, kind).has_value();
}

// ---- Launches

template <typename Output>
void Adapter::overlay_sharding_of(MapperContext context, const Legion::Task& task,
                                  const SelectShardingFunctorInput& input, Output& output) {
  HookCalls::Use call(calls_, context);
  const TaskView& view =
      views_.make(context, task, place_of(task.current_proc), Regions::kNamed, call->storage);
  if (task.concurrent_task && !task.must_epoch_task) return;
  if (!view.is_index || !decides_points(view, place_of(task.target_proc).kind)) return;
  output.chosen_functor = sharding_of(view, *call, input);
}

void Adapter::overlay_sharding(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) {
  overlay_sharding_of(context, task, input, output);
}

void Adapter::overlay_sharding(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) {
  overlay_sharding_of(context, task, input, output);
}

// Cuts the launch again if statements decide where its points go; otherwise keeps the slices of the
// program's mapper. With limits or stealing, each point becomes a slice of its own.
void Adapter::overlay_slices(MapperContext context, const Legion::Task& task,
                             const SliceTaskInput& input, SliceTaskOutput& output) {
  if (task.concurrent_task && !task.must_epoch_task) return;  // overlay_options has reported this
  bool cuts_anew = false, by_point = false, stealable = false;
  {
    HookCalls::Use call(calls_, context);
    const TaskView& view =
        views_.make(context, task, place_of(task.target_proc), Regions::kNamed, call->storage);
    const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
    if (!kind) return;  // overlay_options has reported this
    const auto is_other = [&](const Legion::Mapping::Mapper::TaskSlice& slice) {
      return place_of(slice.proc).kind != kind->kind;
    };
    cuts_anew = decides_points(view, kind->kind) ||
                (kind->origin && std::any_of(output.slices.begin(), output.slices.end(), is_other));
    stealable = program_->task_steal(view.name, kind->kind).has_value();
    by_point = is_limited(view) || stealable;
  }
  if (cuts_anew) {
    output.slices.clear();
    return slice_task(context, task, input, output);
  }
  if (stealable) registration_->note_stealable(task.task_id);
  if (!by_point) return;
  // Each point is counted on its own, on the processor that the program's mapper chose.
  std::vector<Legion::Mapping::Mapper::TaskSlice> points;
  for (const Legion::Mapping::Mapper::TaskSlice& slice : output.slices) {
    if (slice.recurse) {
      points.push_back(slice);
      continue;
    }
    const Legion::Domain domain =
        slice.domain_is.exists() ? mapper_runtime_->get_index_space_domain(context, slice.domain_is)
                                 : slice.domain;
    for (Legion::Domain::DomainPointIterator at(domain); at; ++at) {
      points.emplace_back(Legion::Domain(at.p, at.p), slice.proc, false,
                          slice.stealable || stealable);
    }
  }
  output.slices = std::move(points);
}

// ---- One task

// Applies the statements that decide a task's processor, instances and output regions.
bool Adapter::overlay_task(MapperContext context, const Legion::Task& task,
                           const MapTaskInput& input, MapTaskOutput& output) {
  HookCalls::Use call(calls_, context, HookOf::kMapping);
  const bool shard = input.shard_processor.exists();
  const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
  views_.make(context, task, place_of(target), Regions::kNamed, call->storage);
  TaskView& view = call->storage.view;
  const VariantView* variant = find_variant(view.variants, output.chosen_variant);
  if (variant == nullptr || output.target_procs.empty()) return false;  // Legion reports this error
  view.own_kind = variant->kind;
  if (shard) view.shard_variant = variant->id;
  const bool limited = is_limited(view);
  const bool counted = limited || program_->task_steal(view.name, variant->kind).has_value();
  place_task(task, *call, *variant, shard, counted, output);
  overlay_regions(context, task, input, *call, *variant, output);
  if (!limited && !registration_->steals) return false;
  ProfilingWish wish;
  wish.status = true;
  request(wish, output.task_prof_requests);
  ++stealing_.mapped;
  return true;
}

// Moves the task to the processor that the function of an IndexTaskMap or SingleTaskMap returns.
void Adapter::place_task(const Legion::Task& task, HookCall& call, const VariantView& variant,
                         bool shard, bool counted, MapTaskOutput& output) {
  TaskView& view = call.storage.view;
  if (shard || (task.concurrent_task && !task.must_epoch_task)) return;
  const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
  if (!kind || (kind->origin && kind->kind != variant.kind)) {
    if (kind) {
      tell_kept(view.name, "the processor kind",
                fmt::format("it runs the task by variant {}, which is for {}", variant.id,
                            name_of(variant.kind)),
                kind->origin);
    }
    return;
  }
  std::vector<Legion::Processor> wanted;
  Origin origin = kind->origin;
  const auto function =
      counted ? std::nullopt : groma::mapper::decide_function(*program_, view, kind->kind);
  if (!counted && !function) return;
  if (function) origin = function->origin;
  if (view.current.kind != variant.kind) {
    return tell_kept(view.name, "the processor",
                     fmt::format("it runs the task, which was sent to a {}, by variant {}, which "
                                 "is for {}",
                                 name_of(view.current.kind), variant.id, name_of(variant.kind)),
                     origin);
  }
  if (counted) {  // stays on the processor where it was counted
    wanted.push_back(task.target_proc);
  } else {
    if (task.must_epoch_task) return;  // the points of the epoch were placed together
    TaskWish& answer = call.wish;
    answer.clear();
    mapper_->map_task(call.hands, view, {}, answer);
    if (answer.failure) check({{*answer.failure, answer.processor_origin}});
    for (const Processor& p : answer.processors) wanted.push_back(realm(p));
  }
  if (wanted.empty() || wanted == output.target_procs) return;
  // The instances and memory pools were made for the processors that the program's mapper chose.
  const auto serves = [&](Legion::Memory memory) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](Legion::Processor p) { return reaches(p, memory); });
  };
  bool all = true;
  for (const auto& instances : output.chosen_instances) {
    for (const PhysicalInstance& instance : instances) {
      all = all && (instance.is_virtual_instance() || serves(instance.get_location()));
    }
  }
  for (const auto& [memory, bounds] : output.leaf_pool_bounds) all = all && serves(memory);
  if (all) {
    output.target_procs = std::move(wanted);
  } else {
    tell_kept(view.name, "the processor",
              "it put data or a pool into a memory that the other processor does not reach",
              origin);
  }
}

// ---- Regions

// Returns the regions of a task, and those of their ancestors that the request for its instance
// named. The latest request may have found the instance of a larger region. Other regions are left
// out: the program may have destroyed them, and Legion ends the process if it is given a destroyed
// region.
std::vector<Legion::LogicalRegion> Adapter::covering(
    MapperContext context, const std::vector<Legion::LogicalRegion>& regions,
    const std::vector<Legion::LogicalRegion>& asked) const {
  std::vector<Legion::LogicalRegion> made;
  const auto add = [&made](const Legion::LogicalRegion& region) {
    if (std::find(made.begin(), made.end(), region) == made.end()) made.push_back(region);
  };
  for (const Legion::LogicalRegion& region : regions) {
    add(region);
    for (const auto& above : regions_above(mapper_runtime_, context, region)) {
      if (std::find(asked.begin(), asked.end(), above) != asked.end()) add(above);
    }
  }
  return made;
}

// Returns the request for an instance. If the request is unknown, returns what the instance itself
// tells.
AskedInstance Adapter::asked_for(MapperContext context, const PhysicalInstance& instance,
                                 const std::vector<Legion::LogicalRegion>& regions) const {
  if (const auto found = registration_->asked->find(context, instance)) {
    AskedInstance made = *found;
    if (made.by_program && own_asks_by_default_) {
      made.by_program = false;
      made.demand = demand_of_mapper(made);
    }
    return made;
  }
  // The request was not observed: nothing is preloaded, another process asked, or the entry was
  // evicted. All properties then count as the program's choice. The instance tells its layout; its
  // extent tells which of the regions above the task's own it covers.
  AskedInstance made;
  made.seen = false;
  made.constraints = mapper_runtime_->find_layout_constraints(context, instance.get_layout_id());
  made.by_program = !own_asks_by_default_;
  made.demand = demand_of_mapper(made);
  made.regions = regions;
  if (regions.size() == 1) {
    const Legion::Domain covered = instance.get_instance_domain();
    for (const auto& region : regions_above(mapper_runtime_, context, regions.front())) {
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

// Applies the Region and Layout statements to the instances that the program's mapper chose.
void Adapter::overlay_regions(MapperContext context, const Legion::Task& task,
                              const MapTaskInput& input, HookCall& call, const VariantView& variant,
                              MapTaskOutput& output) {
  for (const Colocated& group : group_by_instance(task, input, output)) {
    overlay_instance(context, task, call.storage.view, variant, group, output);
  }
  const TaskView& view = call.storage.view;
  for (std::size_t i = 0; i < output.chosen_instances.size(); ++i) {
    const RequirementView& requirement = view.requirements[i];
    const RegionNames names{static_cast<std::int64_t>(i), requirement.aliases};
    if (registration_->heard && !output.chosen_instances[i].empty()) {
      const auto memories = program_->memories(view.name, names, variant.kind);
      const Legion::Memory memory = output.chosen_instances[i].front().get_location();
      Origin origin;
      for (const MemoryCandidate& one : memories) {
        if (memory.exists() && one.memory == kind_of(memory.kind())) origin = one.origin;
      }
      // Without a statement, the program's own mapper decides.
      if (origin) registration_->heard(task.get_unique_id(), i, origin);
    }
    if (requirement.privilege != Privilege::kReadOnly) continue;
    const std::optional<Origin> collects = program_->collect_memory(view.name, names);
    if (!collects) continue;
    if (const char* why = registration_->reductions.why_tracked(task.regions[i])) {
      tell_kept(view.name, fmt::format("the collection of region {}", i), why, *collects);
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

void Adapter::overlay_instance(MapperContext context, const Legion::Task& task,
                               const TaskView& view, const VariantView& variant,
                               const Colocated& group, MapTaskOutput& output) {
  const std::size_t first = group.places.front().first;
  const Legion::Memory here = group.instance.get_location();
  std::vector<MemoryCandidate> memories;
  std::vector<Legion::LogicalRegion> regions;
  std::set<Legion::FieldID> fields;
  bool reduces = false;
  for (const auto& [i, k] : group.places) {
    fields.insert(task.regions[i].privilege_fields.begin(), task.regions[i].privilege_fields.end());
    reduces = reduces || view.requirements[i].privilege == Privilege::kReduce;
    const Legion::LogicalRegion region = task.regions[i].region;
    if (std::find(regions.begin(), regions.end(), region) == regions.end()) {
      regions.push_back(region);
    }
    auto said = program_->memories(view.name, names_of(view, i), variant.kind);
    if (said.empty() || same_memories(said, memories)) continue;
    if (!memories.empty()) {
      return tell_kept(view.name, fmt::format("the memory of region {}", i), kTogether,
                       said.front().origin);
    }
    memories = std::move(said);
  }
  const bool moves = !memories.empty();
  if (!moves) {
    const auto kind = kind_of(here.kind());
    if (!kind) return;
    memories.push_back({*kind, {}});
  }
  NoInstance why;
  for (const MemoryCandidate& candidate : memories) {
    if (candidate.memory == MemKind::kVirtual) {
      const char* not_virtual = nullptr;
      for (const auto& [i, k] : group.places) {
        const char* reason = why_not_virtual(view.requirements[i], &variant);
        if (reason != nullptr) not_virtual = reason;
      }
      if (not_virtual == nullptr) {
        return put(PhysicalInstance::get_virtual_instance(), group, output);
      }
      why.add(candidate.memory, {not_virtual});
      continue;
    }
    std::optional<LayoutDecision> said;
    for (const auto& [i, k] : group.places) {
      const auto one =
          program_->layout(view.name, names_of(view, i), variant.kind, candidate.memory);
      if (one && said && !(one->layout == said->layout && one->named == said->named)) {
        return tell_kept(view.name, fmt::format("the layout of region {}", i), kTogether,
                         one->origin);
      }
      if (one) said = one;
    }
    const bool stays =
        kind_of(here.kind()) == candidate.memory && reaches(output.target_procs.front(), here);
    if (!moves && !said) return;
    if (stays && !said && !reduces) return;
    const Legion::Memory memory =
        stays ? here
              : registration_->machine->memory(output.target_procs.front(), candidate.memory);
    if (!memory.exists()) {
      why.add(candidate.memory, {"the processor reaches none"});
      continue;
    }
    AskedInstance asked = asked_for(context, group.instance, regions);
    LayoutChanges changes;
    if (said && !asked.seen && registration_->asked->has_forgotten()) {
      return tell_kept(view.name, fmt::format("the layout of region {}", first),
                       "it is no longer known how it asked for the instance", said->origin);
    }
    if (said) {
      check_layout(context, task, view, variant, group, asked, *said, candidate.memory);
      StatedLayout stated{said->layout, said->named};
      instances_.simplify(context, regions, stated.layout);
      const AskedInstance before = asked;
      changes = restate(stated, regions.front().get_dim(), asked);
      const auto conflict = why_not_changed(changes, *said, before, fields.size(), regions);
      if (conflict && !registration_->options.override_layouts.has(view.name)) {
        refuse_layout(DiagId::kLayoutDemanded, first, view.name, conflict->wants, conflict->says,
                      *said);
      }
      if (said->layout.exact) asked.regions = regions;
      if (said->layout.compact && reduces) {
        tell_kept(view.name, fmt::format("the kind of instance of region {}", first),
                  "an instance to reduce to is never compact", said->origin);
      }
    }
    // Legion computes wrong sums if some points of a launch reduce to new instances and others to a
    // used instance. So all points get new instances, unless the program's mapper was seen to look
    // for existing instances first.
    const bool always_new = reduces && (!asked.seen || (asked.fresh && asked.by_groma));
    if (stays && !changes.any() && !always_new) return;
    asked.constraints.memory_constraint = Legion::MemoryConstraint(memory.kind());
    for (const auto& [i, k] : group.places) {
      asked.fresh = asked.fresh || always_new ||
                    (view.requirements[i].collective &&
                     view.requirements[i].privilege != Privilege::kReadOnly);
    }
    asked.by_groma = true;
    asked.regions = covering(context, regions, asked.regions);
    PhysicalInstance made;
    const NoInstance refused = instances_.make_as_asked(context, asked, memory, made);
    if (!refused.text.empty()) {
      why.add(candidate.memory, refused);
      continue;
    }
    registration_->asked->note(context, made, std::move(asked));
    // It may have been found again, and is returned then.
    if (!(made == group.instance)) mapper_runtime_->release_instance(context, group.instance);
    std::erase_if(output.target_procs, [&](Legion::Processor p) { return !reaches(p, memory); });
    return put(made, group, output);
  }
  fail(first, view.name, why, memories.front().origin);
}

void Adapter::refuse_layout(DiagId id, std::size_t position, std::string_view task,
                            std::string_view wants, std::string_view says,
                            const LayoutDecision& said) const {
  registration_->fail(one_diagnostic(id, position, task, wants, says), said.origin, mapper_.get());
}

// Ends the process if the statement contradicts a demand of the variant or of the program's mapper.
void Adapter::check_layout(MapperContext context, const Legion::Task& task, const TaskView& view,
                           const VariantView& variant, const Colocated& group,
                           const AskedInstance& asked, const LayoutDecision& said,
                           MemKind memory) const {
  const std::size_t fields = asked.constraints.field_constraint.get_field_set().size();
  const int dimensions = task.regions[group.places.front().first].region.get_dim();
  const auto check_demand = [&](const LayoutDemand& demand, DiagId id) {
    LayoutSpec demanded;
    groma::mapper::add_demand(demand, &demanded);
    const LayoutSpec layout = groma::mapper::join_layouts({said.layout, said.named}, demanded);
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
    Diagnostic diagnostic = one_diagnostic(
        id, demand.requirement, view.name,
        opposite ? first.wants + groma::mapper::kAndTheOpposite : first.wants, first.says);
    if (opposite) groma::mapper::add_opposite_orders_cure(diagnostic);
    registration_->fail(diagnostic, said.origin, mapper_.get());
  };
  for (const auto& [i, k] : group.places) {
    for (const Legion::LayoutConstraintSet* set : demands(context, task, variant.id, i)) {
      check_demand(demand_of(static_cast<std::uint32_t>(i), *set), DiagId::kLayoutRefused);
    }
  }
  if (registration_->options.override_layouts.has(view.name)) return;
  LayoutDemand demand = asked.demand;
  demand.requirement = static_cast<std::uint32_t>(group.places.front().first);
  std::vector<Legion::LogicalRegion> regions;
  for (const auto& [i, k] : group.places) regions.push_back(task.regions[i].region);
  demand.not_exact = demand.not_exact && (!asked.seen || asks_for_more(asked, regions));
  check_demand(demand, DiagId::kLayoutDemanded);
}

void Adapter::put(const PhysicalInstance& instance, const Colocated& group,
                  MapTaskOutput& output) const {
  for (const auto& [i, k] : group.places) output.chosen_instances[i][k] = instance;
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
      registration_->fail(one_diagnostic(DiagId::kNoMemory, i, view.name,
                                         fmt::format("{} (the processor reaches none)",
                                                     name_of(memories.front().memory))),
                          memories.front().origin, mapper_.get());
    }
  }
}

// ---- Must epochs

// Moves the tasks of a must epoch that statements decide. If two tasks would then share a
// processor, all tasks of the epoch are placed anew.
void Adapter::overlay_must_epoch(MapperContext context, const MapMustEpochInput& input,
                                 MapMustEpochOutput& output) {
  HookCalls::Use call(calls_, context, HookOf::kMapping);
  call->tasks.clear();
  std::vector<bool> decided;
  Origin origin;
  for (std::size_t i = 0; i < input.tasks.size(); ++i) {
    const Processor own = place_of(output.task_processors[i]);
    call->tasks.add(views_, context, *input.tasks[i], own);
    const TaskView& view = call->tasks.views().back();
    const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
    if (!kind) check({{groma::mapper::no_kind(*program_, view, mapper_->machine()), {}}});
    const auto function = groma::mapper::decide_function(*program_, view, kind->kind);
    decided.push_back(function || (kind->origin && kind->kind != own.kind));
    if (decided.back()) origin = function ? function->origin : kind->origin;
  }
  if (std::find(decided.begin(), decided.end(), true) == decided.end()) return;
  MustEpochAnswer& answer = call->must_epoch;
  answer.clear();
  mapper_->map_must_epoch(call->hands, call->tasks.views(), answer);
  check(validate(answer, call->tasks.views(), mapper_->machine()));
  std::vector<Legion::Processor> processors = output.task_processors;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    if (decided[i]) processors[i] = realm(answer.processors[i]);
  }
  std::vector<Legion::Processor> sorted = processors;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    for (std::size_t i = 0; i < processors.size(); ++i) processors[i] = realm(answer.processors[i]);
  }
  for (std::size_t c = 0; c < input.constraints.size(); ++c) {
    for (const Legion::Task* task : input.constraints[c].constrained_tasks) {
      const auto at = std::find(input.tasks.begin(), input.tasks.end(), task) - input.tasks.begin();
      for (const PhysicalInstance& instance : output.constraint_mappings[c]) {
        if (reaches(processors[static_cast<std::size_t>(at)], instance.get_location())) continue;
        return tell_kept(task->get_task_name(), "the placement in a must epoch",
                         "the processors do not all reach the data that its tasks share", origin);
      }
    }
  }
  output.task_processors = std::move(processors);
}

// ---- Counting

void Adapter::overlay_gone(MapperContext context, const Legion::Task& task) {
  HookCalls::Use call(calls_, context);
  const TaskView& view =
      views_.make(context, task, place_of(task.target_proc), Regions::kNone, call->storage);
  ProfilingReport report;
  report.completed = false;
  mapper_->report_profiling(call->hands, view, report);
}

}  // namespace groma::legion
