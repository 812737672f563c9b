// Converts layouts to Legion's constraints, and reads the layouts that the constraints of a variant
// demand.
#pragma once

#include <legion.h>

#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"
#include "groma/wish.h"

namespace groma::legion {

// Returns those of the constraints of requirement `position` that a mapping can contradict.
LayoutDemand demand_of(std::uint32_t position, const Legion::LayoutConstraintSet& set);

// The sets of constraints that a variant or an inline launcher has for one requirement. Legion owns
// them and keeps them until the runtime ends.
using Demands = std::vector<const Legion::LayoutConstraintSet*>;

// Fields that share an instance, and the constraints that the instance has to meet.
struct FieldGroup {
  std::vector<Legion::FieldID> fields;
  Demands demands;
};

// Puts the fields of a requirement into groups. `all`, the fields that its wish asks for, are one
// group, unless a demand holds for some of the fields only.
std::vector<FieldGroup> group_fields(const Legion::RegionRequirement& requirement,
                                     const std::vector<Legion::FieldID>& all,
                                     const Demands& demands);

// Returns the constraints of the wish `instance`, together with those of the group's demands.
Legion::LayoutConstraintSet constraints_of(const Legion::RegionRequirement& requirement,
                                           const InstanceWish& instance, const FieldGroup& group);

// Returns the order of a layout as a constraint: the dimensions from the fastest to the slowest,
// with the fields behind them (SOA) or in front of them (AOS).
Legion::OrderingConstraint ordering_of(const LayoutSpec& layout, int dimensions);

// Returns the smallest alignment of a field, in bytes, that a layout and all demands accept; 1 if
// none is needed.
std::size_t alignment_of(Legion::FieldID field, const LayoutSpec& layout, const Demands& demands);
// Returns the largest alignment, in bytes, that the constraints ask for; 1 if they ask for none.
std::size_t alignment_of(const Legion::LayoutConstraintSet& set);
// Returns why this memory cannot hold an instance with the alignments of `set`, or an empty string
// if it can. With a reason, do not ask Legion for the instance: it ends the process.
std::string unaddressable(const Legion::LayoutConstraintSet& set, Legion::Memory memory);

// Returns the part of the demands that an instance does not meet, such as "padding", or an empty
// string. Legion ends the process after the hook if a task is given such an instance.
std::string_view unmet(const Legion::Mapping::PhysicalInstance& instance, const Demands& demands);

}  // namespace groma::legion
