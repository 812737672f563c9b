// Layouts as Legion's constraints, and the constraints of a variant that a mapping has to meet.
#pragma once

#include <legion.h>

#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"
#include "groma/wish.h"

namespace groma::legion {

// What a mapping can contradict of the constraints of requirement `position`.
LayoutDemand demand_of(std::uint32_t position, const Legion::LayoutConstraintSet& set);

// All of the constraints that a variant, or an inline launcher, has for one requirement. They
// belong to Legion and stay.
using Demands = std::vector<const Legion::LayoutConstraintSet*>;

// Fields that share an instance, and what is demanded of it.
struct FieldGroup {
  std::vector<Legion::FieldID> fields;
  Demands demands;
};

// Cuts a requirement's fields into groups: one of `all`, the fields that its wish asks for, unless
// demands are of some fields only.
std::vector<FieldGroup> group_fields(const Legion::RegionRequirement& requirement,
                                     const std::vector<Legion::FieldID>& all,
                                     const Demands& demands);

// What `instance` asks for, with what the demands ask beyond it.
Legion::LayoutConstraintSet constraints_of(const Legion::RegionRequirement& requirement,
                                           const InstanceWish& instance, const FieldGroup& group);

// Dimensions from the fastest to the slowest, the fields last (SOA) or first.
Legion::OrderingConstraint ordering_of(const LayoutSpec& layout, int dimensions);

// The least alignment of a field that is right for a layout and for all demands. 1: none is needed.
std::size_t alignment_of(Legion::FieldID field, const LayoutSpec& layout, const Demands& demands);
// The largest alignment that the constraints ask for; 1: none.
std::size_t alignment_of(const Legion::LayoutConstraintSet& set);
// Why nothing in the memory is aligned so; empty where something is. Legion is not to be asked
// then.
std::string unaddressable(const Legion::LayoutConstraintSet& set, Legion::Memory memory);

// "padding", say: what of a variant's demands an instance does not meet; empty when it meets them.
// Legion would end the process on it, after the hook.
std::string_view unmet(const Legion::Mapping::PhysicalInstance& instance, const Demands& demands);

}  // namespace groma::legion
