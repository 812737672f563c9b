// Memories in their order, instances in them.
#include "legion/instances.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapper/default_policy.h"

namespace groma::legion {
namespace {

// Trees whose root is remembered, up to so many; then all are forgotten.
constexpr std::size_t kMostRoots = 65'536;

using Legion::Mapping::MapperContext;
using Legion::Mapping::PhysicalInstance;

void add_reason(MemKind memory, const std::string& why, std::string* reasons) {
  *reasons += fmt::format("{}{} ({})", reasons->empty() ? "" : ", ", name_of(memory), why);
}

// Legion says of an instance that it did not make how large it would have been.
std::string no_room(Legion::Memory memory, std::size_t bytes) {
  if (bytes > memory.capacity()) {
    return fmt::format("{} bytes, and it has {} in all", bytes, memory.capacity());
  }
  return fmt::format("no room for {} of its {} bytes", bytes, memory.capacity());
}

}  // namespace

std::vector<Legion::FieldID> Instances::fields(MapperContext context,
                                               const Legion::RegionRequirement& requirement,
                                               const RequirementWish& wish) const {
  std::vector<Legion::FieldID> fields(requirement.privilege_fields.begin(),
                                      requirement.privilege_fields.end());
  if (wish.fields == RequirementWish::Fields::kAll) {
    fields.clear();
    runtime_->get_field_space_fields(context, requirement.region.get_field_space(), fields);
  }
  return fields;
}

Legion::LogicalRegion Instances::region(MapperContext context,
                                        const Legion::RegionRequirement& requirement,
                                        const RequirementWish& wish, const InstanceWish& instance) {
  if (!wish.shares(instance)) return requirement.region;
  const std::int64_t nodes = machine_.machine()->node_count();
  if (nodes == 1) {
    const auto found = roots_.find(requirement.region.get_tree_id());
    if (found != roots_.end()) return found->second;
  }
  std::vector regions = {requirement.region};
  while (runtime_->has_parent_logical_partition(context, regions.back())) {
    const auto partition = runtime_->get_parent_logical_partition(context, regions.back());
    regions.push_back(runtime_->get_parent_logical_region(context, partition));
  }
  if (nodes == 1) {
    if (roots_.size() >= kMostRoots) roots_.clear();
    return roots_[requirement.region.get_tree_id()] = regions.back();
  }
  std::vector<std::int64_t> volumes;
  for (const Legion::LogicalRegion& region : regions) {
    const auto domain = runtime_->get_index_space_domain(context, region.get_index_space());
    volumes.push_back(static_cast<std::int64_t>(domain.get_volume()));
  }
  return regions[mapper::shared_region(volumes, nodes)];
}

bool Instances::add(MapperContext context, const Legion::RegionRequirement& requirement,
                    const RequirementWish& wish, const Demands& demands, const char* not_virtual,
                    std::vector<Legion::Processor>& targets, std::vector<PhysicalInstance>& chosen,
                    std::string* reasons) {
  if (wish.instance != 0) {  // Capabilities::instances is false
    *reasons = "it names an instance, and nobody was given one";
    return false;
  }
  if (wish.is_virtual) {
    chosen.push_back(PhysicalInstance::get_virtual_instance());
    return true;
  }
  const auto groups = group_fields(requirement, fields(context, requirement, wish), demands);
  for (const InstanceWish& instance : wish.candidates()) {
    if (instance.memory == MemKind::kVirtual) {
      if (not_virtual == nullptr) {
        chosen.push_back(PhysicalInstance::get_virtual_instance());
        return true;
      }
      add_reason(instance.memory, not_virtual, reasons);
      continue;
    }
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    if (!memory.exists()) {
      add_reason(instance.memory, "the processor reaches none", reasons);
      continue;
    }
    const std::string why = make(context, requirement, wish, instance, groups,
                                 {region(context, requirement, wish, instance)}, memory, chosen);
    if (why.empty()) {
      if (targets.size() > 1) {
        std::erase_if(targets, [&](Legion::Processor p) {
          return !Realm::Machine::get_machine().has_affinity(p, memory);
        });
      }
      return true;
    }
    add_reason(instance.memory, why, reasons);
  }
  return false;
}

bool Instances::add_shared(MapperContext context, const Legion::RegionRequirement& requirement,
                           const std::vector<Legion::LogicalRegion>& regions,
                           const RequirementWish& wish, const Demands& demands,
                           const std::vector<Legion::Processor>& targets,
                           std::vector<PhysicalInstance>& chosen, std::string* reasons) const {
  RequirementWish all = wish;  // tasks may have different fields of it
  all.fields = RequirementWish::Fields::kAll;
  const auto groups = group_fields(requirement, fields(context, requirement, all), demands);
  for (const InstanceWish& instance : all.candidates()) {
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    const auto reaches = [&](Legion::Processor p) {
      return Realm::Machine::get_machine().has_affinity(p, memory);
    };
    if (!memory.exists() || !std::all_of(targets.begin(), targets.end(), reaches)) {
      add_reason(instance.memory, "not all of its tasks reach one", reasons);
      continue;
    }
    const std::string why =
        make(context, requirement, all, instance, groups, regions, memory, chosen);
    if (why.empty()) return true;
    add_reason(instance.memory, why, reasons);
  }
  return false;
}

// An instance for each group of fields; else why there is none.
std::string Instances::make(MapperContext context, const Legion::RegionRequirement& requirement,
                            const RequirementWish& wish, const InstanceWish& instance,
                            const std::vector<FieldGroup>& groups,
                            const std::vector<Legion::LogicalRegion>& regions,
                            Legion::Memory memory, std::vector<PhysicalInstance>& chosen) const {
  const std::size_t before = chosen.size();
  // Without holes compact is no other instance, but one that variants with a layout of their own
  // refuse.
  InstanceWish asked = instance;
  if (asked.layout.compact && regions.size() == 1) {
    const auto space = regions.front().get_index_space();
    asked.layout.compact = !runtime_->get_index_space_domain(context, space).dense();
  }
  std::string why;
  for (const FieldGroup& group : groups) {
    const Legion::LayoutConstraintSet set = constraints_of(requirement, asked, group);
    const bool exact = set.specialized_constraint.is_exact();
    PhysicalInstance result;
    std::size_t bytes = 0;
    bool created = wish.fresh;
    const bool made =
        wish.fresh ? runtime_->create_physical_instance(context, memory, set, regions, result, true,
                                                        wish.collect_priority, exact, &bytes)
                   : runtime_->find_or_create_physical_instance(
                         context, memory, set, regions, result, created, true,
                         wish.collect_priority, exact, &bytes);
    if (!made) {
      why = no_room(memory, bytes);
    } else if (const std::string_view lacks = unmet(result, group.demands); !lacks.empty()) {
      why = fmt::format("the variant demands another {}", lacks);
    } else {
      chosen.push_back(result);
    }
    if (!why.empty()) break;
  }
  if (!why.empty()) chosen.resize(before);
  return why;
}

bool Instances::add_output(const Legion::OutputRequirement& requirement,
                           const RequirementWish& wish, Legion::Processor target,
                           Legion::Memory& memory, Legion::LayoutConstraintSet& set,
                           std::string* reasons) const {
  for (const InstanceWish& instance : wish.candidates()) {
    memory = machine_.memory(target, instance.memory);
    if (!memory.exists()) {
      add_reason(instance.memory, "the processor reaches none", reasons);
      continue;
    }
    set.add_constraint(ordering_of(instance.layout, requirement.region.get_dim()));
    return true;
  }
  return false;
}

}  // namespace groma::legion
