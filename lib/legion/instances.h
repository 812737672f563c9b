// Instances: a requirement's wish carried out in Legion.
#pragma once

#include <legion.h>

#include <optional>
#include <string>
#include <vector>

#include "groma/wish.h"
#include "legion/machine_map.h"

namespace groma::legion {

// The operators of alignments. kNone has none.
std::optional<Legion::EqualityKind> equality_of(AlignOp op);
AlignOp align_op_of(Legion::EqualityKind kind);

class Instances {
 public:
  Instances(const MachineMap& machine, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), runtime_(runtime) {}

  // Finds or makes an instance for `requirement` in the first memory that the first of `targets`
  // reaches and that has room, and appends it (a virtual one, if wished and as the last resort if
  // `not_virtual`, why it cannot be, is null). Targets that do not reach that memory are taken
  // away: the task runs on any that is left. False when there is none; `reasons` then has each
  // memory's: "FBMEM (no room for 4096 bytes), SYSMEM (...)".
  bool add(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
           const RequirementWish& wish, const char* not_virtual,
           std::vector<Legion::Processor>& targets,
           std::vector<Legion::Mapping::PhysicalInstance>& chosen, std::string* reasons) const;
  // The same for an output region, which gets its instance when the task returns its data.
  bool add_output(const Legion::OutputRequirement& requirement, const RequirementWish& wish,
                  Legion::Processor target, Legion::Memory& memory,
                  Legion::LayoutConstraintSet& set, std::string* reasons) const;

 private:
  Legion::LayoutConstraintSet constraints(Legion::Mapping::MapperContext context,
                                          const Legion::RegionRequirement& requirement,
                                          const RequirementWish& wish,
                                          const InstanceWish& instance) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const RequirementWish& wish, const InstanceWish& instance) const;
  bool make(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
            const RequirementWish& wish, const InstanceWish& instance, Legion::Memory memory,
            Legion::Mapping::PhysicalInstance& result, std::size_t* footprint) const;

  const MachineMap& machine_;
  Legion::Mapping::MapperRuntime* runtime_;
};

}  // namespace groma::legion
