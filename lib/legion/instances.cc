// Layouts as Legion's constraints (legion.md 1.3, "Layout"), memories in their order.
#include "legion/instances.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::legion {
namespace {

using Legion::Mapping::MapperContext;
using Legion::Mapping::PhysicalInstance;

// Dimensions from the fastest to the slowest, the fields last (SOA) or first.
Legion::OrderingConstraint ordering(const LayoutSpec& layout, int dimensions) {
  std::vector<Legion::DimensionKind> order;
  for (int d = 0; d < dimensions; ++d) {
    order.push_back(static_cast<Legion::DimensionKind>(LEGION_DIM_X + d));
  }
  if (layout.dimensions == DimensionOrder::kC) std::reverse(order.begin(), order.end());
  const bool soa = layout.fields == FieldOrder::kSoa;
  order.insert(soa ? order.end() : order.begin(), LEGION_DIM_F);
  return {order, false};
}

std::optional<Legion::EqualityKind> equality(AlignOp op) {
  switch (op) {
    case AlignOp::kEq:
      return LEGION_EQ_EK;
    case AlignOp::kNe:
      return LEGION_NE_EK;
    case AlignOp::kLt:
      return LEGION_LT_EK;
    case AlignOp::kLe:
      return LEGION_LE_EK;
    case AlignOp::kGt:
      return LEGION_GT_EK;
    case AlignOp::kGe:
      return LEGION_GE_EK;
    case AlignOp::kNone:
      break;
  }
  return std::nullopt;
}

Legion::SpecializedConstraint specialised(const Legion::RegionRequirement& requirement,
                                          const LayoutSpec& layout) {
  const bool reduces = (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
  if (reduces) return {LEGION_AFFINE_REDUCTION_SPECIALIZE, requirement.redop};
  const auto kind = layout.compact ? LEGION_COMPACT_SPECIALIZE : LEGION_AFFINE_SPECIALIZE;
  return {kind, 0, false, layout.exact};
}

}  // namespace

Legion::LayoutConstraintSet Instances::constraints(MapperContext context,
                                                   const Legion::RegionRequirement& requirement,
                                                   const RequirementWish& wish,
                                                   const InstanceWish& instance) const {
  std::vector<Legion::FieldID> fields(requirement.privilege_fields.begin(),
                                      requirement.privilege_fields.end());
  const auto space = requirement.region.get_field_space();
  if (wish.fields == RequirementWish::Fields::kAll) {
    fields.clear();
    runtime_->get_field_space_fields(context, space, fields);
  }
  Legion::LayoutConstraintSet set;
  set.add_constraint(specialised(requirement, instance.layout));
  set.add_constraint(Legion::MemoryConstraint(realm_kind(instance.memory)));
  set.add_constraint(Legion::FieldConstraint(fields, false, false));
  set.add_constraint(ordering(instance.layout, requirement.region.get_dim()));
  if (const auto op = equality(instance.layout.align_op)) {
    for (Legion::FieldID field : fields) {
      set.add_constraint(Legion::AlignmentConstraint(
          field, *op, static_cast<std::size_t>(instance.layout.align_bytes)));
    }
  }
  return set;
}

// default_policy_select_instance_region: up to the root, on several nodes to where a partition has
// a part for each.
Legion::LogicalRegion Instances::region(MapperContext context,
                                        const Legion::RegionRequirement& requirement,
                                        const RequirementWish& wish,
                                        const InstanceWish& instance) const {
  Legion::LogicalRegion region = requirement.region;
  const bool own = wish.region == RequirementWish::Region::kRequired || instance.layout.exact;
  if (own) return region;
  const std::int64_t nodes = machine_.machine()->node_count();
  while (runtime_->has_parent_logical_partition(context, region)) {
    const auto partition = runtime_->get_parent_logical_partition(context, region);
    if (nodes > 1) {
      const auto colors =
          runtime_->get_index_partition_color_space(context, partition.get_index_partition());
      if (static_cast<std::int64_t>(colors.get_volume()) >= nodes) break;
    }
    region = runtime_->get_parent_logical_region(context, partition);
  }
  return region;
}

bool Instances::add(MapperContext context, const Legion::RegionRequirement& requirement,
                    const RequirementWish& wish, std::vector<Legion::Processor>& targets,
                    std::vector<PhysicalInstance>& chosen, std::string* reasons) const {
  if (wish.is_virtual) {
    chosen.push_back(PhysicalInstance::get_virtual_instance());
    return true;
  }
  const auto add_reason = [&](MemKind memory, const std::string& why) {
    *reasons += fmt::format("{}{} ({})", reasons->empty() ? "" : ", ", name_of(memory), why);
  };
  for (const InstanceWish& instance : wish.candidates()) {
    if (instance.memory == MemKind::kVirtual) {
      chosen.push_back(PhysicalInstance::get_virtual_instance());
      return true;
    }
    const Legion::Memory memory = machine_.memory(targets.front(), instance.memory);
    if (!memory.exists()) {
      add_reason(instance.memory, "the processor reaches none");
      continue;
    }
    PhysicalInstance result;
    bool created = false;
    std::size_t footprint = 0;
    const auto set = constraints(context, requirement, wish, instance);
    const std::vector regions = {region(context, requirement, wish, instance)};
    if (runtime_->find_or_create_physical_instance(context, memory, set, regions, result, created,
                                                   true, wish.collect_priority,
                                                   instance.layout.exact, &footprint)) {
      chosen.push_back(result);
      std::erase_if(targets, [&](Legion::Processor p) {
        return !Realm::Machine::get_machine().has_affinity(p, memory);
      });
      return true;
    }
    add_reason(instance.memory, fmt::format("no room for {} bytes", footprint));
  }
  return false;
}

}  // namespace groma::legion
