// Layouts as Legion's constraints (legion.md 1.3, "Layout"), memories in their order.
#include "legion/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mapper/default_policy.h"

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

// In the order of AlignOp, without kNone.
constexpr std::array kEqualities = {LEGION_EQ_EK, LEGION_NE_EK, LEGION_LT_EK,
                                    LEGION_LE_EK, LEGION_GT_EK, LEGION_GE_EK};

void add_reason(MemKind memory, const std::string& why, std::string* reasons) {
  *reasons += fmt::format("{}{} ({})", reasons->empty() ? "" : ", ", name_of(memory), why);
}

Legion::SpecializedConstraint specialised(const Legion::RegionRequirement& requirement,
                                          const LayoutSpec& layout) {
  const bool reduces = (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
  if (reduces) {
    return {LEGION_AFFINE_REDUCTION_SPECIALIZE, requirement.redop, false, layout.exact};
  }
  const auto kind = layout.compact ? LEGION_COMPACT_SPECIALIZE : LEGION_AFFINE_SPECIALIZE;
  return {kind, 0, false, layout.exact};
}

}  // namespace

std::optional<Legion::EqualityKind> equality_of(AlignOp op) {
  if (op == AlignOp::kNone) return std::nullopt;
  return kEqualities[static_cast<std::size_t>(op) - 1];
}

AlignOp align_op_of(Legion::EqualityKind kind) {
  const auto found = std::find(kEqualities.begin(), kEqualities.end(), kind);
  return static_cast<AlignOp>(found - kEqualities.begin() + 1);
}

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
  if (const auto op = equality_of(instance.layout.align_op)) {
    for (Legion::FieldID field : fields) {
      set.add_constraint(Legion::AlignmentConstraint(
          field, *op, static_cast<std::size_t>(instance.layout.align_bytes)));
    }
  }
  return set;
}

Legion::LogicalRegion Instances::region(MapperContext context,
                                        const Legion::RegionRequirement& requirement,
                                        const RequirementWish& wish,
                                        const InstanceWish& instance) const {
  std::vector regions = {requirement.region};
  if (!wish.shares(instance)) return regions.back();
  while (runtime_->has_parent_logical_partition(context, regions.back())) {
    const auto partition = runtime_->get_parent_logical_partition(context, regions.back());
    regions.push_back(runtime_->get_parent_logical_region(context, partition));
  }
  const std::int64_t nodes = machine_.machine()->node_count();
  if (nodes == 1) return regions.back();
  std::vector<std::int64_t> volumes;
  for (const Legion::LogicalRegion& region : regions) {
    const auto domain = runtime_->get_index_space_domain(context, region.get_index_space());
    volumes.push_back(static_cast<std::int64_t>(domain.get_volume()));
  }
  return regions[mapper::shared_region(volumes, nodes)];
}

bool Instances::add(MapperContext context, const Legion::RegionRequirement& requirement,
                    const RequirementWish& wish, const char* not_virtual,
                    std::vector<Legion::Processor>& targets, std::vector<PhysicalInstance>& chosen,
                    std::string* reasons) const {
  if (wish.instance != 0) {  // Capabilities::instances is false
    *reasons = "it names an instance, and nobody was given one";
    return false;
  }
  if (wish.is_virtual) {
    chosen.push_back(PhysicalInstance::get_virtual_instance());
    return true;
  }
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
    PhysicalInstance result;
    std::size_t footprint = 0;
    if (make(context, requirement, wish, instance, memory, result, &footprint)) {
      chosen.push_back(result);
      std::erase_if(targets, [&](Legion::Processor p) {
        return !Realm::Machine::get_machine().has_affinity(p, memory);
      });
      return true;
    }
    add_reason(instance.memory, fmt::format("no room for {} bytes", footprint), reasons);
  }
  return false;
}

bool Instances::make(MapperContext context, const Legion::RegionRequirement& requirement,
                     const RequirementWish& wish, const InstanceWish& instance,
                     Legion::Memory memory, PhysicalInstance& result,
                     std::size_t* footprint) const {
  const auto set = constraints(context, requirement, wish, instance);
  const std::vector regions = {region(context, requirement, wish, instance)};
  const bool exact = instance.layout.exact;
  if (wish.fresh) {
    return runtime_->create_physical_instance(context, memory, set, regions, result, true,
                                              wish.collect_priority, exact, footprint);
  }
  bool created = false;
  return runtime_->find_or_create_physical_instance(context, memory, set, regions, result, created,
                                                    true, wish.collect_priority, exact, footprint);
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
    set.add_constraint(ordering(instance.layout, requirement.region.get_dim()));
    return true;
  }
  return false;
}

}  // namespace groma::legion
