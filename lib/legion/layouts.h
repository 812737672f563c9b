// Converts Groma's layouts to Legion's layout constraints, and reads the layouts that the
// constraints of a variant demand.
#pragma once

#include <legion.h>

#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"
#include "groma/mapper_output.h"

namespace groma::legion {

// Returns those layout constraints of the region requirement at `position` that a mapping can
// contradict.
LayoutDemand demand_of(std::uint32_t position, const Legion::LayoutConstraintSet& set);

// The sets of layout constraints that a variant or an inline launcher has for one region
// requirement. Legion owns them and keeps them until the runtime ends.
using Demands = std::vector<const Legion::LayoutConstraintSet*>;

// Fields that share an instance, and the layout constraints that the instance has to meet.
struct FieldGroup {
  std::vector<Legion::FieldID> fields;
  Demands demands;
};

// Puts the fields of a region requirement into groups that share an instance. `all`, the fields
// that its choice asks for, are one group, unless a demand holds for only some of them.
std::vector<FieldGroup> group_fields(const Legion::RegionRequirement& requirement,
                                     const std::vector<Legion::FieldID>& all,
                                     const Demands& demands);

// Returns the layout constraints for a chosen instance, together with those that the demands of the
// field group add.
Legion::LayoutConstraintSet constraints_of(const Legion::RegionRequirement& requirement,
                                           const InstanceCandidate& instance,
                                           const FieldGroup& group);

// Returns the order of a layout as a constraint: the dimensions from the fastest to the slowest,
// with the fields behind them (SOA) or in front of them (AOS).
Legion::OrderingConstraint ordering_of(const LayoutSpec& layout, int dimensions);

// Returns the smallest alignment of a field, in bytes, that satisfies a layout and all demands.
// Returns 1 if none is needed.
std::size_t alignment_of(Legion::FieldID field, const LayoutSpec& layout, const Demands& demands);
// Returns the largest alignment, in bytes, in a set of layout constraints. Returns 1 if the set has
// none.
std::size_t alignment_of(const Legion::LayoutConstraintSet& set);
// Returns why a memory cannot hold an instance with the alignments of `set`, or an empty string if
// it can. In the first case, do not ask Legion for the instance: Legion would end the process.
std::string why_memory_unsuitable(const Legion::LayoutConstraintSet& set, Legion::Memory memory);

// Returns the name of a layout demand that an instance does not meet, such as "padding", or an
// empty string. Legion ends the process after the hook if a task is given such an instance.
std::string_view first_unmet_demand(const Legion::Mapping::PhysicalInstance& instance,
                                    const Demands& demands);

}  // namespace groma::legion
