// Finds and makes instances: tries the memories that a mapper chooses in order, and takes the first
// in which an instance can be found or made. Also keeps the instances that a mapper written by hand
// found or made itself.
#include "legion/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mapper/default_policy.h"

namespace groma::legion {
namespace {

// The largest number of region trees whose root is cached. Beyond it, the cache is cleared.
constexpr std::size_t kMostRoots = 65'536;
// The largest number of cached instances of a launch. If each point has its own instance, caching
// them all would make every search long and find nothing.
constexpr std::size_t kMostKept = 64;

using Legion::Mapping::MapperContext;
using Legion::Mapping::PhysicalInstance;

// Returns a message that the memory is full. `bytes` is the size that Legion reports for the
// instance; it does not include the padding between aligned fields, so the message names the
// alignment (in bytes) too.
std::string no_room(Legion::Memory memory, std::size_t bytes, const LayoutSpec& layout,
                    std::size_t alignment) {
  const std::size_t all = memory.capacity();
  const std::string aligned =
      alignment == 1
          ? ""
          : fmt::format(", each field{} aligned to {}",
                        layout.fields == FieldOrder::kAos ? " of each point" : "", alignment);
  if (bytes > all)
    return fmt::format("no room for {} bytes{}, it has {} in all", bytes, aligned, all);
  return fmt::format("no room for {} of its {} bytes{}", bytes, all, aligned);
}

}  // namespace

// Adds the reason of one memory to the list of all reasons, such as "FBMEM (no room for ...),
// SYSMEM (...)".
void InstanceFailure::add_memory_reason(MemKind memory, const InstanceFailure& here) {
  text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name_of(memory), here.text);
  no_room |= here.no_room;
  unaligned |= here.unaligned;
}

// Returns the fields that an instance needs: all fields of the region, or those of the requirement.
std::vector<Legion::FieldID> Instances::fields(MapperContext context,
                                               const Legion::RegionRequirement& requirement,
                                               const InstanceChoice& choice) const {
  std::vector<Legion::FieldID> fields(requirement.privilege_fields.begin(),
                                      requirement.privilege_fields.end());
  if (choice.fields == InstanceChoice::Fields::kAll) {
    fields.clear();
    runtime_->get_field_space_fields(context, requirement.region.get_field_space(), fields);
  }
  return fields;
}

// Returns the region that the instance should cover: the requirement's region, or an ancestor if
// the choice is to share the instance. On one node, the ancestor is the root, which is cached for
// each tree. On several nodes, it depends on the sizes of the ancestors.
Legion::LogicalRegion Instances::region(MapperContext context,
                                        const Legion::RegionRequirement& requirement,
                                        const InstanceChoice& choice,
                                        const InstanceCandidate& instance) {
  if (!choice.shares(instance)) return requirement.region;
  const std::int64_t nodes = machine_.machine()->node_count();
  if (nodes == 1) {
    const auto found = roots_.find(requirement.region.get_tree_id());
    if (found != roots_.end()) return found->second;
  }
  const auto regions = region_and_ancestors(runtime_, context, requirement.region);
  if (nodes == 1) {
    if (roots_.size() >= kMostRoots) roots_.clear();
    return roots_[requirement.region.get_tree_id()] = regions.back();
  }
  std::vector<std::int64_t> volumes;
  for (const Legion::LogicalRegion& region : regions) {
    const auto domain = runtime_->get_index_space_domain(context, region.get_index_space());
    volumes.push_back(static_cast<std::int64_t>(domain.get_volume()));
  }
  return regions[mapper::choose_instance_region(volumes, nodes)];
}

// Returns the cached instances of the task's launch. A launch is identified by its parent task and
// its number in that task.
std::vector<Instances::CacheEntry>& Instances::cache_for_launch(const Legion::Task& task) {
  const Legion::Task* parent = task.get_parent_task();
  const std::pair launch(parent == nullptr ? 0 : parent->get_unique_id(), task.get_context_index());
  if (launch != kept_launch_) {
    kept_launch_ = launch;
    kept_.clear();
  }
  return kept_;
}

// Adds an entry to the cache of instances. If the cache is full, its entries are replaced in turn.
void Instances::add_to_cache(const Legion::Task& task, CacheEntry kept) {
  std::vector<CacheEntry>& all = cache_for_launch(task);
  if (all.size() < kMostKept) {
    all.push_back(std::move(kept));
  } else {
    all[next_kept_++ % kMostKept] = std::move(kept);
  }
}

// Appends the cached instances for the key. Each must be acquired again, because it may have been
// collected. If one is gone, nothing is appended and the entry is removed.
bool Instances::take_cached_instances(MapperContext context, const Legion::Task& task,
                                      const CacheKey& wanted,
                                      std::vector<PhysicalInstance>& chosen) {
  const auto serves = [&](const CacheEntry& one) { return one.wanted == wanted; };
  const std::vector<CacheEntry>& kept = cache_for_launch(task);
  const auto found = std::find_if(kept.begin(), kept.end(), serves);
  if (found == kept.end()) return false;
  const std::size_t before = chosen.size();
  chosen.insert(chosen.end(), found->instances.begin(), found->instances.end());
  for (std::size_t i = before; i < chosen.size(); ++i) {
    // While Legion acquires an instance, it may map other tasks, so the cache may change.
    if (runtime_->acquire_instance(context, chosen[i])) continue;
    chosen.resize(before);
    std::erase_if(cache_for_launch(task), serves);
    return false;
  }
  return true;
}

// Finds or makes the instances that a mapper chooses. The three forms of a choice come in this
// order: an instance that the mapper names, a virtual instance, and a list of candidates. A
// candidate is a memory kind with a layout.
bool Instances::add_instance_for(MapperContext context,
                                 const Legion::RegionRequirement& requirement,
                                 const TaskRequirement* of, const InstanceChoice& choice,
                                 const Demands& demands, const char* not_virtual,
                                 std::vector<Legion::Processor>& targets,
                                 std::vector<PhysicalInstance>& chosen, InstanceFailure* why) {
  if (choice.instance != 0) {
    why->text = add_named(context, requirement, {requirement.region}, choice.instance, demands,
                          targets, chosen);
    return why->text.empty();
  }
  if (choice.is_virtual) {
    chosen.push_back(PhysicalInstance::get_virtual_instance());
    return true;
  }
  // Launches of must epochs have no number of their own, so their instances are not cached. Neither
  // are new instances and instances to reduce to, which several points must not share.
  const bool keeps = of != nullptr && of->task.is_index_space && !of->task.must_epoch_task &&
                     !choice.fresh && (requirement.privilege & LEGION_READ_WRITE) != LEGION_REDUCE;
  std::vector<FieldGroup> groups;
  for (const InstanceCandidate& instance : choice.candidates()) {
    if (instance.memory == MemKind::kVirtual) {
      if (not_virtual == nullptr) {
        chosen.push_back(PhysicalInstance::get_virtual_instance());
        return true;
      }
      why->add_memory_reason(instance.memory, {not_virtual});
      continue;
    }
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    if (!memory.exists()) {
      why->add_memory_reason(instance.memory, {"the processor reaches none"});
      continue;
    }
    const CacheKey wanted{keeps ? of->position : 0,
                          keeps ? of->variant : 0,
                          region(context, requirement, choice, instance),
                          memory,
                          instance.layout,
                          choice.fields,
                          choice.collect_priority};
    InstanceFailure here;
    if (!keeps || !take_cached_instances(context, of->task, wanted, chosen)) {
      if (groups.empty()) {
        groups = group_fields(requirement, fields(context, requirement, choice), demands);
      }
      std::vector<PhysicalInstance> made;
      here = make(context, requirement, choice, instance, groups, {wanted.region}, memory, made);
      chosen.insert(chosen.end(), made.begin(), made.end());
      if (keeps && here.text.empty()) add_to_cache(of->task, {wanted, std::move(made)});
    }
    if (here.text.empty()) {
      if (targets.size() > 1) {
        std::erase_if(targets, [&](Legion::Processor p) { return !can_address(p, memory); });
      }
      return true;
    }
    why->add_memory_reason(instance.memory, here);
  }
  return false;
}

// Makes an instance that tasks of a must epoch share, in the first possible memory of the choice.
// The instance has all fields of the region and covers all regions.
bool Instances::add_shared_instance(MapperContext context,
                                    const Legion::RegionRequirement& requirement,
                                    const std::vector<Legion::LogicalRegion>& regions,
                                    const InstanceChoice& choice, const Demands& demands,
                                    const std::vector<Legion::Processor>& targets,
                                    std::vector<PhysicalInstance>& chosen,
                                    InstanceFailure* why) const {
  if (choice.instance != 0) {
    why->text = add_named(context, requirement, regions, choice.instance, demands, targets, chosen);
    return why->text.empty();
  }
  // The choice is changed to all fields, because the tasks may use different fields of the
  // instance.
  InstanceChoice all = choice;
  all.fields = InstanceChoice::Fields::kAll;
  const auto groups = group_fields(requirement, fields(context, requirement, all), demands);
  for (const InstanceCandidate& instance : all.candidates()) {
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    const auto reach = [&](Legion::Processor p) { return can_address(p, memory); };
    if (!memory.exists() || !std::all_of(targets.begin(), targets.end(), reach)) {
      why->add_memory_reason(instance.memory, {"not all of its tasks reach one"});
      continue;
    }
    const InstanceFailure here =
        make(context, requirement, all, instance, groups, regions, memory, chosen);
    if (here.text.empty()) return true;
    why->add_memory_reason(instance.memory, here);
  }
  return false;
}

// Makes one instance for several region requirements: combines them into one requirement and one
// choice, then tries the candidates of this choice in order.
bool Instances::add_colocated(MapperContext context, std::span<const ColocatedRequirement> all,
                              const std::vector<Legion::Processor>& targets, InstanceFailure* why) {
  // `joined` and `choice` combine all requirements: they have the fields and the demands of all of
  // them. The candidates are those of the first requirement that names any.
  Legion::RegionRequirement joined = all.front().requirement;
  InstanceChoice choice;
  choice.fields = InstanceChoice::Fields::kRequired;
  Demands demands;
  for (const ColocatedRequirement& one : all) {
    const auto& fields = one.requirement.privilege_fields;
    joined.privilege_fields.insert(fields.begin(), fields.end());
    demands.insert(demands.end(), one.demands.begin(), one.demands.end());
    if (one.choice.fields == InstanceChoice::Fields::kAll) choice.fields = one.choice.fields;
    if (choice.candidate_count == 0) {
      choice.candidates_in_order = one.choice.candidates_in_order;
      choice.candidate_count = one.choice.candidate_count;
      choice.collect_priority = one.choice.collect_priority;
    }
    choice.fresh = choice.fresh || one.choice.fresh;
  }
  const auto groups = group_fields(joined, fields(context, joined, choice), demands);
  for (const InstanceCandidate& instance : choice.candidates()) {
    // A candidate is tried only if every requirement that has candidates names the same memory with
    // the same layout.
    const auto is_named = [&](const ColocatedRequirement& one) {
      const auto candidates = one.choice.candidates();
      return candidates.empty() ||
             std::any_of(candidates.begin(), candidates.end(), [&](const InstanceCandidate& other) {
               return other.memory == instance.memory && other.layout == instance.layout;
             });
    };
    if (instance.memory == MemKind::kVirtual || !std::all_of(all.begin(), all.end(), is_named)) {
      why->add_memory_reason(instance.memory,
                             {"the variant demands another region in the same instance"});
      continue;
    }
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    const auto reach = [&](Legion::Processor p) { return can_address(p, memory); };
    if (!memory.exists() || !std::all_of(targets.begin(), targets.end(), reach)) {
      why->add_memory_reason(instance.memory, {"the processor reaches none"});
      continue;
    }
    std::vector<Legion::LogicalRegion> regions;
    for (const ColocatedRequirement& one : all) {
      const auto covered = region(context, one.requirement, one.choice, instance);
      if (std::find(regions.begin(), regions.end(), covered) == regions.end()) {
        regions.push_back(covered);
      }
    }
    std::vector<PhysicalInstance> made;
    const InstanceFailure here =
        make(context, joined, choice, instance, groups, regions, memory, made);
    if (!here.text.empty()) {
      why->add_memory_reason(instance.memory, here);
      continue;
    }
    // Each requirement gets those of the instances that have one of its fields. If the variant
    // demands different layouts for different fields, there is more than one instance.
    for (const ColocatedRequirement& one : all) {
      const auto& fields = one.requirement.privilege_fields;
      for (const PhysicalInstance& each : made) {
        const auto has = [&](Legion::FieldID field) { return each.has_field(field); };
        if (std::any_of(fields.begin(), fields.end(), has)) one.chosen.push_back(each);
      }
    }
    return true;
  }
  return false;
}

// Makes one instance for each group of fields. If that fails, `chosen` is left as it was and the
// reason is returned.
InstanceFailure Instances::make(MapperContext context, const Legion::RegionRequirement& requirement,
                                const InstanceChoice& choice, const InstanceCandidate& instance,
                                const std::vector<FieldGroup>& groups,
                                const std::vector<Legion::LogicalRegion>& regions,
                                Legion::Memory memory,
                                std::vector<PhysicalInstance>& chosen) const {
  const std::size_t before = chosen.size();
  InstanceCandidate asked = instance;
  drop_needless_compact(context, regions, asked.layout);
  InstanceFailure why;
  for (const FieldGroup& group : groups) {
    const Legion::LayoutConstraintSet set = constraints_of(requirement, asked, group);
    const bool exact = set.specialized_constraint.is_exact();
    if (std::string none = why_memory_unsuitable(set, memory); !none.empty()) {
      why = {std::move(none), false, true};
      break;
    }
    PhysicalInstance result;
    std::size_t bytes = 0;
    bool created = choice.fresh;
    const bool made =
        choice.fresh
            ? runtime_->create_physical_instance(context, memory, set, regions, result, true,
                                                 choice.collect_priority, exact, &bytes)
            : runtime_->find_or_create_physical_instance(context, memory, set, regions, result,
                                                         created, true, choice.collect_priority,
                                                         exact, &bytes);
    if (!made) {
      why = {no_room(memory, bytes, asked.layout, alignment_of(set)), true};
    } else if (const std::string_view lacks = first_unmet_demand(result, group.demands);
               !lacks.empty()) {
      why.text = fmt::format("the variant demands another {}", lacks);
    } else {
      chosen.push_back(result);
    }
    if (!why.text.empty()) break;
  }
  if (!why.text.empty()) chosen.resize(before);
  return why;
}

// Makes an instance with the arguments of an earlier request. Legion does not compare alignments
// and offsets when it looks for an instance. If it finds one that lacks them, another one is taken
// or made.
InstanceFailure Instances::make_with_request(MapperContext context,
                                             const InstanceRequestRecord& asked,
                                             Legion::Memory memory, PhysicalInstance& made) const {
  if (std::string none = why_memory_unsuitable(asked.constraints, memory); !none.empty()) {
    return {std::move(none), false, true};
  }
  std::size_t bytes = 0;
  bool created = true;
  const bool done =
      asked.wants_new_instance
          ? runtime_->create_physical_instance(context, memory, asked.constraints, asked.regions,
                                               made, true, asked.priority, asked.tight, &bytes)
          : runtime_->find_or_create_physical_instance(context, memory, asked.constraints,
                                                       asked.regions, made, created, true,
                                                       asked.priority, asked.tight, &bytes);
  const auto suits = [&](const PhysicalInstance& one) {
    return satisfies_layout(asked.constraints,
                            runtime_->find_layout_constraints(context, one.get_layout_id()),
                            has_layout_demand(asked));
  };
  if (done && (created || suits(made))) return {};
  if (done &&
      find_or_make_suitable(*runtime_, context,
                            {memory, asked.constraints, asked.regions, asked.priority, asked.tight},
                            suits, made, created, &bytes)) {
    return {};
  }
  LayoutSpec layout;
  layout.fields = demand_of(0, asked.constraints).fields.value_or(layout.fields);
  return {no_room(memory, bytes, layout, alignment_of(asked.constraints)), true};
}

// Chooses the first memory of the choice that the processor reaches, and adds the order of the
// chosen layout to `set`. Legion makes the instance when the task ends.
bool Instances::choose_output_memory(const Legion::OutputRequirement& requirement,
                                     const InstanceChoice& choice, Legion::Processor target,
                                     Legion::Memory& memory, Legion::LayoutConstraintSet& set,
                                     InstanceFailure* why) const {
  for (const InstanceCandidate& instance : choice.candidates()) {
    memory = machine_.memory(target, instance.memory);
    if (!memory.exists()) {
      why->add_memory_reason(instance.memory, {"the processor reaches none"});
      continue;
    }
    set.add_constraint(ordering_of(instance.layout, requirement.region.get_dim()));
    return true;
  }
  return false;
}

void Instances::drop_needless_compact(MapperContext context,
                                      const std::vector<Legion::LogicalRegion>& regions,
                                      LayoutSpec& layout) const {
  if (!layout.compact || regions.size() != 1) return;
  const auto space = regions.front().get_index_space();
  layout.compact = !runtime_->get_index_space_domain(context, space).dense();
}

// ---- Instances that a mapper finds and makes

// Converts a mapper's request to Legion's types. Returns nothing if its memory, a region or a field
// is unknown, if it has no regions or fields, if its regions belong to different trees, or if the
// memory cannot hold the alignment.
std::optional<Instances::Query> Instances::query(MapperContext context,
                                                 const InstanceRequest& request) const {
  Query query;
  query.memory = machine_.realm(request.memory);
  if (!query.memory.exists() || request.regions.empty() || request.fields.empty()) return {};
  for (const RegionId id : request.regions) {
    query.regions.push_back(ids_.region(id));
    if (!query.regions.back().exists() ||
        query.regions.back().get_tree_id() != query.regions.front().get_tree_id()) {
      return {};
    }
  }
  const Legion::LogicalRegion& first = query.regions.front();
  std::set<Legion::FieldID> there;
  runtime_->get_field_space_fields(context, first.get_field_space(), there);
  FieldGroup group;
  for (const FieldId field : request.fields) {
    if (!there.contains(field)) return {};
    group.fields.push_back(field);
  }
  Legion::RegionRequirement requirement;
  requirement.region = first;
  requirement.privilege = request.reduction == 0 ? LEGION_READ_WRITE : LEGION_REDUCE;
  requirement.redop = request.reduction;
  InstanceCandidate asked;
  asked.memory = request.memory.kind;
  asked.layout = request.layout;
  drop_needless_compact(context, query.regions, asked.layout);
  query.constraints = constraints_of(requirement, asked, group);
  if (!why_memory_unsuitable(query.constraints, query.memory).empty()) return {};
  query.exact = query.constraints.specialized_constraint.is_exact();
  return query;
}

// Finds an existing instance for a mapper's request. With one field, AOS and SOA are the same
// layout, and constraints_of() asks for SOA. An instance with several fields in AOS order is
// therefore looked for in a second search.
std::optional<FoundInstance> Instances::find(MapperContext context, const InstanceRequest& request,
                                             bool acquire) {
  auto query = this->query(context, request);
  if (!query) return std::nullopt;
  PhysicalInstance found;
  const auto finds = [&] {
    return runtime_->find_physical_instance(context, query->memory, query->constraints,
                                            query->regions, found, acquire, query->exact);
  };
  if (finds()) return register_for_mapper(context, found, false);
  // The request has one field. An instance with several fields in AOS order also serves it.
  if (request.fields.size() > 1 || request.layout.fields != FieldOrder::kAos) return std::nullopt;
  query->constraints.add_constraint(ordering_of(request.layout, query->regions.front().get_dim()));
  if (!finds()) return std::nullopt;
  return register_for_mapper(context, found, false);
}

// Makes the instance that a mapper requests. Returns nothing if this fails, for example because the
// memory is full.
std::optional<FoundInstance> Instances::create(MapperContext context,
                                               const InstanceRequest& request, bool acquire) {
  const auto query = this->query(context, request);
  PhysicalInstance made;
  if (!query || !runtime_->create_physical_instance(context, query->memory, query->constraints,
                                                    query->regions, made, acquire, request.priority,
                                                    query->exact)) {
    return std::nullopt;
  }
  return register_for_mapper(context, made, true);
}

// Returns the instance with the number by which mappers name it. An instance that was never given
// to a mapper before gets a new number.
FoundInstance Instances::register_for_mapper(MapperContext context,
                                             const PhysicalInstance& instance, bool created) {
  const auto [number, is_new] = numbers_.try_emplace(instance, last_ + 1);
  if (is_new) {
    known_.emplace(++last_, instance);
    // From now on, Legion reports when the instance is destroyed.
    runtime_->subscribe(context, instance);
  }
  return {number->second, created, static_cast<std::int64_t>(instance.get_instance_size())};
}

InstanceId Instances::forget(const PhysicalInstance& instance) {
  const auto found = numbers_.find(instance);
  if (found == numbers_.end()) return 0;
  const InstanceId number = found->second;
  numbers_.erase(found);
  known_.erase(number);
  return number;
}

const PhysicalInstance* Instances::instance_by_id(InstanceId instance) const {
  const auto found = known_.find(instance);
  return found == known_.end() ? nullptr : &found->second;
}

// Checks that the instance which the mapper names suits the requirement, acquires it and appends it
// to `chosen`. Returns the reason if it does not suit. Legion makes some of these checks only if
// its own checks are on. It checks the fields after the hook, and then aborts the process.
std::string Instances::add_named(MapperContext context,
                                 const Legion::RegionRequirement& requirement,
                                 const std::vector<Legion::LogicalRegion>& regions,
                                 InstanceId named, const Demands& demands,
                                 const std::vector<Legion::Processor>& targets,
                                 std::vector<PhysicalInstance>& chosen) const {
  const PhysicalInstance* instance = instance_by_id(named);
  if (instance == nullptr) return "nobody was given one of that number, or it has been collected";
  if (instance->get_tree_id() != requirement.region.get_tree_id()) return "it is of another region";
  for (const Legion::FieldID field : requirement.privilege_fields) {
    if (!instance->has_field(field)) return fmt::format("it lacks field {}", field);
  }
  const Legion::Memory memory = instance->get_location();
  for (const Legion::Processor target : targets) {
    if (!can_address(target, memory)) {
      return "a processor of the task does not work in its memory";
    }
  }
  const Legion::Domain has = instance->get_instance_domain();
  for (const Legion::LogicalRegion& region : regions) {
    const auto wants = runtime_->get_index_space_domain(context, region.get_index_space());
    const Legion::Domain box(has.lo(), has.hi());
    if (!wants.empty() && (!box.contains(wants.lo()) || !box.contains(wants.hi()))) {
      return "it does not cover the region";
    }
  }
  const bool reduces = (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
  if (instance->is_reduction_instance() != reduces) {
    return reduces ? "it is none to reduce to" : "it is one to reduce to";
  }
  if (const std::string_view lacks = first_unmet_demand(*instance, demands); !lacks.empty()) {
    return fmt::format("the variant demands another {}", lacks);
  }
  if (!runtime_->acquire_instance(context, *instance)) return "it has been collected";
  chosen.push_back(*instance);
  return {};
}

}  // namespace groma::legion
