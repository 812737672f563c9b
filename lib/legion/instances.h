// Instances: carries out a requirement's wish in Legion, and keeps the instances that mappers find
// and make.
#pragma once

#include <legion.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/mapper_runtime.h"
#include "groma/wish.h"
#include "legion/asked_instances.h"
#include "legion/layouts.h"
#include "legion/machine_map.h"
#include "legion/task_views.h"

namespace groma::legion {

// A requirement of a task. All points of a launch have the same requirement, with different
// regions.
struct RequirementOf {
  const Legion::Task& task;
  Legion::VariantID variant = 0;
  std::size_t position = 0;
};

// Why a requirement got no instance.
struct NoInstance {
  std::string text;  // for each memory: "FBMEM (no room for 4096 of its 8192 bytes), SYSMEM (...)"
  bool no_room = false;    // a suitable memory is too full
  bool unaligned = false;  // a memory cannot keep the alignment

  // Appends the reason why `memory` was not usable.
  void add(MemKind memory, const NoInstance& here);
};

class Instances {
 public:
  Instances(const MachineMap& machine, RegionIds* ids, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), ids_(*ids), runtime_(runtime) {}

  // Finds or makes an instance for `requirement` and appends it to `chosen`. If the variant demands
  // different layouts for different fields, there are several instances.
  //
  // The instance lies in the first memory that the first of `targets` reaches and that has room.
  // Targets that do not reach this memory are removed; the task can run on any target that remains.
  // The instance is virtual if that is wished. A virtual instance is also the last resort if
  // `not_virtual` (the reason against one) is null.
  //
  // Returns false if there is no instance; `why` is then filled. If `of` is not null, the result
  // also serves other points of the same launch with the same wish, without a search.
  bool add(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
           const RequirementOf* of, const RequirementWish& wish, const Demands& demands,
           const char* not_virtual, std::vector<Legion::Processor>& targets,
           std::vector<Legion::Mapping::PhysicalInstance>& chosen, NoInstance* why);
  // One of the requirements that a variant demands in one instance.
  struct ColocatedRequirement {
    const Legion::RegionRequirement& requirement;
    const RequirementWish& wish;
    Demands demands;
    std::vector<Legion::Mapping::PhysicalInstance>& chosen;
  };
  // Finds or makes one instance for all requirements in `all`. It covers their regions and has
  // their fields. It lies in the first memory that all wishes name with the same layout. A wish for
  // a virtual instance is ignored. Returns false if there is no instance; `why` is then filled.
  bool add_colocated(Legion::Mapping::MapperContext context,
                     std::span<const ColocatedRequirement> all,
                     const std::vector<Legion::Processor>& targets, NoInstance* why);
  // The same for tasks of a must epoch that share an instance. The instance covers the regions of
  // all their requirements, one of which is `requirement`. All of `targets` reach its memory.
  bool add_shared(Legion::Mapping::MapperContext context,
                  const Legion::RegionRequirement& requirement,
                  const std::vector<Legion::LogicalRegion>& regions, const RequirementWish& wish,
                  const Demands& demands, const std::vector<Legion::Processor>& targets,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen, NoInstance* why) const;
  // The same for an output region. Its instance is made when the task returns its data.
  bool add_output(const Legion::OutputRequirement& requirement, const RequirementWish& wish,
                  Legion::Processor target, Legion::Memory& memory,
                  Legion::LayoutConstraintSet& set, NoInstance* why) const;

  // Makes or finds an instance in `memory` with the arguments of a request of the program's mapper.
  // If that fails, returns the reason.
  NoInstance make_as_asked(Legion::Mapping::MapperContext context, const AskedInstance& asked,
                           Legion::Memory memory, Legion::Mapping::PhysicalInstance& made) const;
  // Clears `compact` for a single region without holes. There `compact` would not change the
  // instance, but variants with a layout of their own would refuse it.
  void simplify(Legion::Mapping::MapperContext context,
                const std::vector<Legion::LogicalRegion>& regions, LayoutSpec& layout) const;

  // Implements the instance functions of MapperRuntime. Each instance that was handed out has a
  // number of Groma's own for as long as it exists, because Realm reuses its numbers.
  std::optional<FoundInstance> find(Legion::Mapping::MapperContext context,
                                    const InstanceRequest& request, bool acquire);
  std::optional<FoundInstance> create(Legion::Mapping::MapperContext context,
                                      const InstanceRequest& request, bool acquire);
  const Legion::Mapping::PhysicalInstance* known(InstanceId instance) const;
  // Forgets a destroyed instance. Returns its number, or 0 if it was never handed out.
  InstanceId forget(const Legion::Mapping::PhysicalInstance& instance);

 private:
  // An InstanceRequest as Legion's types.
  struct Query {
    Legion::Memory memory;
    std::vector<Legion::LogicalRegion> regions;
    Legion::LayoutConstraintSet constraints;
    bool exact = false;
  };
  // Cache key: points of a launch with equal keys can share instances.
  struct Wanted {
    std::size_t position = 0;
    Legion::VariantID variant = 0;
    Legion::LogicalRegion region;
    Legion::Memory memory;
    LayoutSpec layout;
    RequirementWish::Fields fields = RequirementWish::Fields::kAll;
    CollectPriority priority = 0;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  // A cache entry, kept only during one launch. While a point of that launch is not mapped, none of
  // its fields can be destroyed. Later the same number may mean another field, and Legion does not
  // tell mappers.
  struct Kept {
    Wanted wanted;
    std::vector<Legion::Mapping::PhysicalInstance> instances;
  };
  // Returns the entries of this task's launch. Entries of another launch are removed.
  std::vector<Kept>& kept_of(const Legion::Task& task);
  void keep(const Legion::Task& task, Kept kept);
  // Appends the cached instances if they still exist. Returns false if there are none.
  bool take_kept(Legion::Mapping::MapperContext context, const Legion::Task& task,
                 const Wanted& wanted, std::vector<Legion::Mapping::PhysicalInstance>& chosen);
  std::vector<Legion::FieldID> fields(Legion::Mapping::MapperContext context,
                                      const Legion::RegionRequirement& requirement,
                                      const RequirementWish& wish) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const RequirementWish& wish, const InstanceWish& instance);
  // Makes an instance for each group of fields. If that fails, returns the reason.
  NoInstance make(Legion::Mapping::MapperContext context,
                  const Legion::RegionRequirement& requirement, const RequirementWish& wish,
                  const InstanceWish& instance, const std::vector<FieldGroup>& groups,
                  const std::vector<Legion::LogicalRegion>& regions, Legion::Memory memory,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;

  // Appends the instance that the wish names. If that fails, returns the reason, otherwise an empty
  // string.
  std::string add_named(Legion::Mapping::MapperContext context,
                        const Legion::RegionRequirement& requirement,
                        const std::vector<Legion::LogicalRegion>& regions, InstanceId named,
                        const Demands& demands, const std::vector<Legion::Processor>& targets,
                        std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;
  std::optional<Query> query(Legion::Mapping::MapperContext context,
                             const InstanceRequest& request) const;
  FoundInstance give(Legion::Mapping::MapperContext context,
                     const Legion::Mapping::PhysicalInstance& instance, bool created);

  const MachineMap& machine_;
  RegionIds& ids_;
  Legion::Mapping::MapperRuntime* runtime_;
  std::unordered_map<Legion::RegionTreeID, Legion::LogicalRegion> roots_;
  // The launch of kept_: its parent and its number there.
  std::pair<Legion::UniqueID, std::uint64_t> kept_launch_{};
  std::vector<Kept> kept_;
  std::size_t next_kept_ = 0;  // the entry to be replaced next when there are too many
  std::unordered_map<InstanceId, Legion::Mapping::PhysicalInstance> known_;
  std::map<Legion::Mapping::PhysicalInstance, InstanceId> numbers_;  // inverse of known_
  InstanceId last_ = 0;
};

}  // namespace groma::legion
