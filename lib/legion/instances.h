// Instances: finds and makes the Legion instances that a mapper chooses for region requirements,
// and remembers the instances that mappers found and made.
#pragma once

#include <legion.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/mapper_output.h"
#include "groma/mapper_runtime.h"
#include "legion/asked_instances.h"
#include "legion/layouts.h"
#include "legion/machine_map.h"
#include "legion/task_views.h"

namespace groma::legion {

// A region requirement of a task, together with the variant that the task will run. All points of
// an index launch have the same requirement, with different regions.
struct TaskRequirement {
  const Legion::Task& task;
  Legion::VariantID variant = 0;
  std::size_t position = 0;
};

// The reason why a region requirement got no instance.
struct InstanceFailure {
  // The reasons for all memories that were tried, such as "FBMEM (no room for 4096 of its 8192
  // bytes), SYSMEM (...)". Empty if there is an instance.
  std::string text;
  // True if a suitable memory was too full.
  bool no_room = false;
  // True if a memory cannot hold an instance with the chosen alignment.
  bool unaligned = false;

  // Adds the reason why an instance could not be made in `memory`.
  void add_memory_reason(MemKind memory, const InstanceFailure& here);
};

class Instances {
 public:
  Instances(const MachineMap& machine, RegionIds* ids, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), ids_(*ids), runtime_(runtime) {}

  // Finds or makes an instance for the region requirement and appends it to `chosen`. If the
  // variant demands different layouts for different fields, there are several instances.
  //
  // The instance lies in the first memory that the first of `targets` reaches and that has room.
  // Targets that do not reach this memory are removed; the task can run on any target that remains.
  // The instance is virtual if that is chosen. A virtual instance is also the last resort if
  // `not_virtual` (the reason against one) is null.
  //
  // Returns false if there is no instance; `why` is then filled. If `of` is not null, the result
  // also serves other points of the same launch with the same choice, without a search.
  bool add_instance_for(Legion::Mapping::MapperContext context,
                        const Legion::RegionRequirement& requirement, const TaskRequirement* of,
                        const InstanceChoice& choice, const Demands& demands,
                        const char* not_virtual, std::vector<Legion::Processor>& targets,
                        std::vector<Legion::Mapping::PhysicalInstance>& chosen,
                        InstanceFailure* why);
  // One of the region requirements that a variant demands in one instance.
  struct ColocatedRequirement {
    const Legion::RegionRequirement& requirement;
    const InstanceChoice& choice;
    Demands demands;
    std::vector<Legion::Mapping::PhysicalInstance>& chosen;
  };
  // Finds or makes one instance for all region requirements in `all`. The instance covers their
  // regions and has their fields. It lies in the first memory that all choices name with the same
  // layout. A choice for a virtual instance is ignored. If there is no instance, returns false and
  // fills `why`.
  bool add_colocated(Legion::Mapping::MapperContext context,
                     std::span<const ColocatedRequirement> all,
                     const std::vector<Legion::Processor>& targets, InstanceFailure* why);
  // Finds or makes an instance that tasks of a must epoch share. The instance covers `regions`, the
  // regions of all their requirements, one of which is `requirement`. All of `targets` must reach
  // its memory. If there is no instance, returns false and fills `why`.
  bool add_shared_instance(Legion::Mapping::MapperContext context,
                           const Legion::RegionRequirement& requirement,
                           const std::vector<Legion::LogicalRegion>& regions,
                           const InstanceChoice& choice, const Demands& demands,
                           const std::vector<Legion::Processor>& targets,
                           std::vector<Legion::Mapping::PhysicalInstance>& chosen,
                           InstanceFailure* why) const;
  // Chooses the memory and the data order of an output region. Legion makes the instance when the
  // task returns the data. If the processor reaches none of the chosen memories, returns false and
  // fills `why`.
  bool choose_output_memory(const Legion::OutputRequirement& requirement,
                            const InstanceChoice& choice, Legion::Processor target,
                            Legion::Memory& memory, Legion::LayoutConstraintSet& set,
                            InstanceFailure* why) const;

  // Makes or finds an instance in `memory` with the arguments of an earlier request of the
  // program's mapper. If that fails, the result has the reason.
  InstanceFailure make_with_request(Legion::Mapping::MapperContext context,
                                    const InstanceRequestRecord& asked, Legion::Memory memory,
                                    Legion::Mapping::PhysicalInstance& made) const;
  // Clears `compact` in the layout of an instance for a single region without holes. There
  // `compact` would not change the instance, but variants with layout constraints of their own
  // would refuse it.
  void drop_needless_compact(Legion::Mapping::MapperContext context,
                             const std::vector<Legion::LogicalRegion>& regions,
                             LayoutSpec& layout) const;

  // find(), create() and known() implement the instance functions of MapperRuntime. An instance
  // that was given to a mapper keeps one number of Groma's as long as it exists, because Realm
  // reuses its own numbers.
  std::optional<FoundInstance> find(Legion::Mapping::MapperContext context,
                                    const InstanceRequest& request, bool acquire);
  std::optional<FoundInstance> create(Legion::Mapping::MapperContext context,
                                      const InstanceRequest& request, bool acquire);
  const Legion::Mapping::PhysicalInstance* instance_by_id(InstanceId instance) const;
  // Removes a destroyed instance. Returns its number, or 0 if it was never given to a mapper.
  InstanceId forget(const Legion::Mapping::PhysicalInstance& instance);

 private:
  // A mapper's InstanceRequest, converted to Legion's types.
  struct Query {
    Legion::Memory memory;
    std::vector<Legion::LogicalRegion> regions;
    Legion::LayoutConstraintSet constraints;
    bool exact = false;
  };
  // The key of an entry in the cache of instances. Two points of an index launch with equal keys
  // can share instances.
  struct CacheKey {
    std::size_t position = 0;
    Legion::VariantID variant = 0;
    Legion::LogicalRegion region;
    Legion::Memory memory;
    LayoutSpec layout;
    InstanceChoice::Fields fields = InstanceChoice::Fields::kAll;
    CollectPriority priority = 0;
    friend bool operator==(const CacheKey&, const CacheKey&) = default;
  };
  // An entry in the cache of instances, which is kept only during one launch. While a point of the
  // launch is not mapped, none of its fields can be destroyed. Later, the number of a destroyed
  // field may mean another field, and Legion does not tell mappers.
  struct CacheEntry {
    CacheKey wanted;
    std::vector<Legion::Mapping::PhysicalInstance> instances;
  };
  // Returns the cached instances of this task's launch. Removes the cache entries of any other
  // launch first.
  std::vector<CacheEntry>& cache_for_launch(const Legion::Task& task);
  void add_to_cache(const Legion::Task& task, CacheEntry kept);
  // Appends the cached instances for this key if they still exist. Returns false if there are none.
  bool take_cached_instances(Legion::Mapping::MapperContext context, const Legion::Task& task,
                             const CacheKey& wanted,
                             std::vector<Legion::Mapping::PhysicalInstance>& chosen);
  std::vector<Legion::FieldID> fields(Legion::Mapping::MapperContext context,
                                      const Legion::RegionRequirement& requirement,
                                      const InstanceChoice& choice) const;
  Legion::LogicalRegion region(Legion::Mapping::MapperContext context,
                               const Legion::RegionRequirement& requirement,
                               const InstanceChoice& choice, const InstanceCandidate& instance);
  // Makes an instance in `memory` for each group of fields. If that fails, the result has the
  // reason.
  InstanceFailure make(Legion::Mapping::MapperContext context,
                       const Legion::RegionRequirement& requirement, const InstanceChoice& choice,
                       const InstanceCandidate& instance, const std::vector<FieldGroup>& groups,
                       const std::vector<Legion::LogicalRegion>& regions, Legion::Memory memory,
                       std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;

  // Appends the instance that the mapper named by its number. If it cannot be used, returns the
  // reason, otherwise an empty string.
  std::string add_named(Legion::Mapping::MapperContext context,
                        const Legion::RegionRequirement& requirement,
                        const std::vector<Legion::LogicalRegion>& regions, InstanceId named,
                        const Demands& demands, const std::vector<Legion::Processor>& targets,
                        std::vector<Legion::Mapping::PhysicalInstance>& chosen) const;
  std::optional<Query> query(Legion::Mapping::MapperContext context,
                             const InstanceRequest& request) const;
  FoundInstance register_for_mapper(Legion::Mapping::MapperContext context,
                                    const Legion::Mapping::PhysicalInstance& instance,
                                    bool created);

  const MachineMap& machine_;
  RegionIds& ids_;
  Legion::Mapping::MapperRuntime* runtime_;
  std::unordered_map<Legion::RegionTreeID, Legion::LogicalRegion> roots_;
  // The launch whose instances are cached: the unique id of its parent task, and the number of the
  // launch in that task.
  std::pair<Legion::UniqueID, std::uint64_t> kept_launch_{};
  std::vector<CacheEntry> kept_;
  // The index of the cache entry that is replaced next if the cache is full.
  std::size_t next_kept_ = 0;
  std::unordered_map<InstanceId, Legion::Mapping::PhysicalInstance> known_;
  // The number of each instance: the inverse of known_.
  std::map<Legion::Mapping::PhysicalInstance, InstanceId> numbers_;
  InstanceId last_ = 0;
};

}  // namespace groma::legion
