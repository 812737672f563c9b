// Instances: a requirement's wish carried out in Legion; instances that mappers find and make.
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

// A requirement of a task: all points of a launch have the same, of different regions.
struct RequirementOf {
  const Legion::Task& task;
  Legion::VariantID variant = 0;
  std::size_t position = 0;
};

// Why a requirement got no instance.
struct NoInstance {
  std::string text;  // of each memory: "FBMEM (no room for 4096 of its 8192 bytes), SYSMEM (...)"
  bool no_room = false;  // a memory that would do is too full

  // Adds why that memory did not do.
  void add(MemKind memory, const NoInstance& here);
};

class Instances {
 public:
  Instances(const MachineMap& machine, RegionIds* ids, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), ids_(*ids), runtime_(runtime) {}

  // Finds or makes an instance for `requirement`, several where the demands of its variant are not
  // the same for all fields, in the first memory that the first of `targets` reaches and that has
  // room, and appends it (a virtual one, if wished and as the last resort if `not_virtual`, why it
  // cannot be, is null). Targets that do not reach that memory are taken away: the task runs on any
  // that is left. False when there is none; `why` is then filled. What is found for `of`, if that
  // is not null, serves other points of its launch which wish the same, without a search.
  bool add(Legion::Mapping::MapperContext context, const Legion::RegionRequirement& requirement,
           const RequirementOf* of, const RequirementWish& wish, const Demands& demands,
           const char* not_virtual, std::vector<Legion::Processor>& targets,
           std::vector<Legion::Mapping::PhysicalInstance>& chosen, NoInstance* why);
  // One requirement of those that a variant demands in one instance.
  struct Together {
    const Legion::RegionRequirement& requirement;
    const RequirementWish& wish;
    Demands demands;
    std::vector<Legion::Mapping::PhysicalInstance>& chosen;
  };
  // Finds or makes one instance for all of `all`: it covers their regions and has their fields. It
  // lies in the first memory that all wishes name with the same layout. A wish for a virtual
  // instance is ignored. Returns false when there is no instance; `why` is then filled.
  bool add_together(Legion::Mapping::MapperContext context, std::span<const Together> all,
                    const std::vector<Legion::Processor>& targets, NoInstance* why);
  // The same for what tasks of a must epoch share: an instance that covers the regions of all these
  // requirements, of which `requirement` is one, in a memory that all of `targets` reach.
  bool add_shared(Legion::Mapping::MapperContext context,
                  const Legion::RegionRequirement& requirement,
                  const std::vector<Legion::LogicalRegion>& regions, const RequirementWish& wish,
                  const Demands& demands, const std::vector<Legion::Processor>& targets,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen, NoInstance* why) const;
  // The same for an output region, which gets its instance when the task returns its data.
  bool add_output(const Legion::OutputRequirement& requirement, const RequirementWish& wish,
                  Legion::Processor target, Legion::Memory& memory,
                  Legion::LayoutConstraintSet& set, NoInstance* why) const;

  // Makes or finds an instance as a program's mapper asked for it, in `memory`. Returns why there
  // is none.
  NoInstance make_as_asked(Legion::Mapping::MapperContext context, const AskedInstance& asked,
                           Legion::Memory memory, Legion::Mapping::PhysicalInstance& made) const;
  // Clears `compact` for one region without holes: it would be no other instance, but one that
  // variants with a layout of their own refuse.
  void simplify(Legion::Mapping::MapperContext context,
                const std::vector<Legion::LogicalRegion>& regions, LayoutSpec& layout) const;

  // What MapperRuntime offers a mapper. Instances that were given out are known by numbers of ours
  // for as long as they exist: Realm gives its own again.
  std::optional<FoundInstance> find(Legion::Mapping::MapperContext context,
                                    const InstanceRequest& request, bool acquire);
  std::optional<FoundInstance> create(Legion::Mapping::MapperContext context,
                                      const InstanceRequest& request, bool acquire);
  const Legion::Mapping::PhysicalInstance* known(InstanceId instance) const;
  // Of one that is gone: its number; 0 if it was not given out.
  InstanceId forget(const Legion::Mapping::PhysicalInstance& instance);

 private:
  // An InstanceRequest in Legion's words.
  struct Query {
    Legion::Memory memory;
    std::vector<Legion::LogicalRegion> regions;
    Legion::LayoutConstraintSet constraints;
    bool exact = false;
  };
  // What two points of a launch have in common whom the same instances serve.
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
  // What a point got is kept for its launch only: while a point of that is not mapped none of its
  // fields can go, and later a field may be another one under the same number, which nothing tells
  // a mapper.
  struct Kept {
    Wanted wanted;
    std::vector<Legion::Mapping::PhysicalInstance> instances;
  };
  // Of this task's launch; what was kept of another is gone.
  std::vector<Kept>& kept_of(const Legion::Task& task);
  void keep(const Legion::Task& task, Kept kept);
  // Appends what serves, if it is kept and still there.
  bool take_kept(Legion::Mapping::MapperContext context, const Legion::Task& task,
                 const Wanted& wanted, std::vector<Legion::Mapping::PhysicalInstance>& chosen);
  std::vector<Legion::FieldID> fields(Legion::Mapping::MapperContext context,
                                      const Legion::RegionRequirement& requirement,
                                      const RequirementWish& wish) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const RequirementWish& wish, const InstanceWish& instance);
  // An instance for each group of fields; else why there is none.
  NoInstance make(Legion::Mapping::MapperContext context,
                  const Legion::RegionRequirement& requirement, const RequirementWish& wish,
                  const InstanceWish& instance, const std::vector<FieldGroup>& groups,
                  const std::vector<Legion::LogicalRegion>& regions, Legion::Memory memory,
                  std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;

  // The instance that the wish names; else why it cannot be.
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
  // The launch by its parent and its number there.
  std::pair<Legion::UniqueID, std::uint64_t> kept_launch_{};
  std::vector<Kept> kept_;
  std::size_t next_kept_ = 0;  // to be replaced when there are too many
  std::unordered_map<InstanceId, Legion::Mapping::PhysicalInstance> known_;
  std::map<Legion::Mapping::PhysicalInstance, InstanceId> numbers_;  // of those
  InstanceId last_ = 0;
};

}  // namespace groma::legion
