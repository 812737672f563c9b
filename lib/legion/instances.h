// Instances: a requirement's wish carried out in Legion.
#pragma once

#include <legion.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "groma/wish.h"
#include "legion/layouts.h"
#include "legion/machine_map.h"

namespace groma::legion {

class Instances {
 public:
  Instances(const MachineMap& machine, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), runtime_(runtime) {}

  // Finds or makes an instance for `requirement`, several where the demands of its variant are not
  // the same for all fields, in the first memory that the first of `targets` reaches and that has
  // room, and appends it (a virtual one, if wished and as the last resort if `not_virtual`, why it
  // cannot be, is null). Targets that do not reach that memory are taken away: the task runs on any
  // that is left. False when there is none; `reasons` then has each memory's:
  // "FBMEM (no room for 4096 of its 8192 bytes), SYSMEM (...)".
  bool add(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
           const RequirementWish& wish, const Demands& demands, const char* not_virtual,
           std::vector<Legion::Processor>& targets,
           std::vector<Legion::Mapping::PhysicalInstance>& chosen, std::string* reasons);
  // The same for what tasks of a must epoch share: an instance that covers the regions of all these
  // requirements, of which `requirement` is one, in a memory that all of `targets` reach.
  bool add_shared(Legion::Mapping::MapperContext context,
                  const Legion::RegionRequirement& requirement,
                  const std::vector<Legion::LogicalRegion>& regions, const RequirementWish& wish,
                  const Demands& demands, const std::vector<Legion::Processor>& targets,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen,
                  std::string* reasons) const;
  // The same for an output region, which gets its instance when the task returns its data.
  bool add_output(const Legion::OutputRequirement& requirement, const RequirementWish& wish,
                  Legion::Processor target, Legion::Memory& memory,
                  Legion::LayoutConstraintSet& set, std::string* reasons) const;

 private:
  std::vector<Legion::FieldID> fields(Legion::Mapping::MapperContext context,
                                      const Legion::RegionRequirement& requirement,
                                      const RequirementWish& wish) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const RequirementWish& wish, const InstanceWish& instance);
  std::string make(Legion::Mapping::MapperContext context,
                   const Legion::RegionRequirement& requirement, const RequirementWish& wish,
                   const InstanceWish& instance, const std::vector<FieldGroup>& groups,
                   const std::vector<Legion::LogicalRegion>& regions, Legion::Memory memory,
                   std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;

  const MachineMap& machine_;
  Legion::Mapping::MapperRuntime* runtime_;
  std::unordered_map<Legion::RegionTreeID, Legion::LogicalRegion> roots_;
};

}  // namespace groma::legion
