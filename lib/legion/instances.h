// Instances: a requirement's wish carried out in Legion.
#pragma once

#include <legion.h>

#include <string>
#include <vector>

#include "groma/wish.h"
#include "legion/machine_map.h"

namespace groma::legion {

class Instances {
 public:
  Instances(const MachineMap& machine, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), runtime_(runtime) {}

  // Finds or makes an instance for `requirement` in the first memory that the first of `targets`
  // reaches and that has room, and appends it (a virtual one, if wished). Targets that do not reach
  // that memory are taken away: the task runs on any that is left. False when there is none;
  // `reasons` then has each memory's: "FBMEM (no room for 4096 bytes), SYSMEM (...)".
  bool add(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
           const RequirementWish& wish, std::vector<Legion::Processor>& targets,
           std::vector<Legion::Mapping::PhysicalInstance>& chosen, std::string* reasons) const;

 private:
  Legion::LayoutConstraintSet constraints(Legion::Mapping::MapperContext context,
                                          const Legion::RegionRequirement& requirement,
                                          const RequirementWish& wish,
                                          const InstanceWish& instance) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const RequirementWish& wish, const InstanceWish& instance) const;

  const MachineMap& machine_;
  Legion::Mapping::MapperRuntime* runtime_;
};

}  // namespace groma::legion
