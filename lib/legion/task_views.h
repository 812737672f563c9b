// TaskViews: Legion's tasks as a mapper of ours sees them.
#pragma once

#include <legion.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/task_view.h"
#include "legion/machine_map.h"
#include "mapper/unhonoured.h"

namespace groma::legion {

using Legion::Mapping::MapperContext;

Point point_of(const Legion::DomainPoint& point);
// Of a domain that is no box: the box around it.
Rect rect_of(const Legion::Domain& domain);
Legion::DomainPoint realm_point(const Point& point);
Legion::Domain domain_of(const Rect& rect);
// The boxes that a domain is made of.
void for_each_box(const Legion::Domain& domain, const std::function<void(const Rect&)>& box);

// TaskView::rendezvous.
bool meets(const Legion::Task& task);
// A requirement with LEGION_NO_ACCESS_FLAG needs an instance all the same, so it has its privilege.
Privilege privilege_of(const Legion::RegionRequirement& requirement);
Coherence coherence_of(const Legion::RegionRequirement& requirement);

// Of a handle, or of a field space and a field of it; empty where the program attached none. Good
// until the handle is destroyed.
template <typename... Handle>
std::string_view attached_name(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                               Handle... handle) {
  const void* text = nullptr;
  std::size_t size = 0;
  if (!runtime->retrieve_semantic_information(context, handle..., LEGION_NAME_SEMANTIC_TAG, text,
                                              size, true)) {
    return {};
  }
  const std::string_view name(static_cast<const char*>(text), size);
  return name.substr(0, name.find('\0'));
}

// Calls `visit` with the region, the partition above it, the region that this is of, up to the
// root.
template <typename Visit>
void for_each_above(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                    Legion::LogicalRegion region, const Visit& visit) {
  for (visit(region); runtime->has_parent_logical_partition(context, region); visit(region)) {
    const auto partition = runtime->get_parent_logical_partition(context, region);
    visit(partition);
    region = runtime->get_parent_logical_region(context, partition);
  }
}

// It, then the regions whose partitions are above it, the root last.
inline std::vector<Legion::LogicalRegion> regions_above(Legion::Mapping::MapperRuntime* runtime,
                                                        MapperContext context,
                                                        Legion::LogicalRegion region) {
  std::vector<Legion::LogicalRegion> regions;
  for_each_above(runtime, context, region, [&]<typename Handle>(const Handle& handle) {
    if constexpr (std::is_same_v<Handle, Legion::LogicalRegion>) regions.push_back(handle);
  });
  return regions;
}

// Numbers of regions and partitions, the same for all mapper objects of a process: Legion has two
// of 64 bits each for one. Thread-safe.
class RegionIds {
 public:
  RegionId of(Legion::LogicalRegion region);           // 0 for NO_REGION
  Legion::LogicalRegion region(RegionId number);       // NO_REGION for one that is not known
  PartitionId of(Legion::LogicalPartition partition);  // 0 for NO_PART

 private:
  std::mutex mutex_;
  std::map<Legion::LogicalRegion, RegionId> regions_;
  std::unordered_map<RegionId, Legion::LogicalRegion> by_number_;
  std::map<Legion::LogicalPartition, PartitionId> partitions_;
  std::uint64_t last_ = 0;
};

// What a requirement's handles say of themselves. Immutable but for `points`.
struct RegionFacts {
  struct Aliases {
    std::vector<std::string> names;
    std::vector<std::string_view> views;
    std::uint64_t key = 0;
  };
  std::shared_ptr<const Aliases> aliases;
  RegionId region = 0;
  PartitionId partition = 0;
  RegionId parent = 0;
  int dimensions = 1;
  std::int64_t points = 0;  // 0: not asked for yet
};

// What is behind one view. Reused; a mapper object has as many as hooks are under way at once.
struct ViewStorage {
  TaskView view;
  TaskView parent;
  Legion::UniqueID parent_id = 0;  // whose view `parent` is; 0: to be made again
  std::vector<RequirementView> requirements;
  std::vector<std::shared_ptr<RegionFacts>> regions;  // of the requirements
  std::vector<std::vector<FieldView>> fields;
  std::vector<FutureView> futures;
};

// What one mapper object knows of tasks and regions; not thread-safe.
class TaskViews {
 public:
  TaskViews(const MachineMap& machine, RegionIds* ids, std::int64_t node,
            Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), ids_(*ids), node_(node), runtime_(runtime) {}

  // The views are for an adapter above a mapper of the program's own. That mapper has chosen the
  // processor kind where a task stands. The tags of launches and requirements are that mapper's,
  // and mean nothing to DefaultMapper.
  void set_over_own_mapper() { over_own_mapper_ = true; }

  enum class Regions : std::uint8_t { kNone, kNamed, kCounted };  // counted: with their points

  // A view of the task, which stands on `current`; without its requirements unless asked. Good
  // until `storage` is used again.
  const TaskView& make(MapperContext context, const Legion::Task& task, const Processor& current,
                       Regions regions, ViewStorage& storage);
  // A view of any other operation; `near` is where it is mapped.
  const TaskView& make(MapperContext context, const Legion::Mappable& operation,
                       const Processor& near, ViewStorage& storage,
                       std::span<const Legion::RegionRequirement* const> requirements = {});
  // A task's without requirements, parent and sharding domain, for long lists.
  void fill(MapperContext context, const Legion::Task& task, const Processor& current,
            TaskView& view);
  // The view of a task's parent, which stands on `otherwise` where no mapping names its processor.
  void fill_parent(MapperContext context, const Legion::Task& parent, const Processor& otherwise,
                   TaskView& view);
  // Of tasks and regions seen so far: all names; one task's name and variants, empty where it was
  // not.
  groma::mapper::NamesOfRun names() const;
  std::string_view name(TaskId task) const;
  std::span<const VariantView> variants(TaskId task) const;
  // The positions of requirements that a variant demands in one instance (Legion:
  // ColocationConstraint), in groups of two or more; a position is in one group at most. Empty
  // for a task that was not seen.
  std::span<const std::vector<std::size_t>> colocated(TaskId task, VariantId variant) const;

 private:
  struct Known {
    Legion::TaskID task = 0;
    // The launch for which the variants were looked at last: others may be registered while the
    // program runs.
    const Legion::Task* parent = nullptr;
    std::uint64_t index_in_parent = 0;
    std::string name;
    std::size_t regions = 0;      // the most that one was launched with
    std::size_t variant_ids = 0;  // all, also those that no processor of ours runs
    std::vector<VariantView> variants;
    std::deque<std::vector<LayoutDemand>> demands;                 // of each variant
    std::vector<std::vector<std::vector<std::size_t>>> colocated;  // of each variant
  };
  struct RegionKey {
    Legion::LogicalRegion region;
    Legion::LogicalPartition partition;
    Legion::LogicalRegion parent;
    friend bool operator<(const RegionKey& a, const RegionKey& b) {
      return std::tie(a.region, a.partition, a.parent) < std::tie(b.region, b.partition, b.parent);
    }
  };
  struct FieldFacts {
    std::int64_t bytes = 0;
    std::string name;
  };

  Known& known(MapperContext context, const Legion::Task& task);
  // With the variants that there are now.
  const Known& known_now(MapperContext context, const Legion::Task& task);
  Known look_up(MapperContext context, const Legion::Task& task);
  std::vector<LayoutDemand> demands(MapperContext context, Legion::TaskID task,
                                    Legion::VariantID variant);
  std::vector<std::vector<std::size_t>> colocated(MapperContext context, Legion::TaskID task,
                                                  Legion::VariantID variant);
  void add_requirement(MapperContext context, const Legion::RegionRequirement& requirement,
                       Regions regions, ViewStorage& storage);
  std::shared_ptr<RegionFacts> facts(MapperContext context,
                                     const Legion::RegionRequirement& requirement);
  std::shared_ptr<const RegionFacts::Aliases> aliases(MapperContext context, const RegionKey& key);
  const FieldFacts& field(MapperContext context, Legion::FieldSpace space, Legion::FieldID id);

  const MachineMap& machine_;
  RegionIds& ids_;
  std::int64_t node_;
  Legion::Mapping::MapperRuntime* runtime_;
  bool over_own_mapper_ = false;
  std::unordered_map<Legion::TaskID, Known> known_;
  Known* last_ = nullptr;       // of them, the one asked for last
  std::deque<Known> outdated_;  // views of hooks that wait may refer to them
  // By what was asked; sets of names that are equal are one.
  std::map<RegionKey, std::shared_ptr<RegionFacts>> by_region_;
  std::map<std::vector<std::string>, std::shared_ptr<const RegionFacts::Aliases>> sets_;
  bool forgot_sets_ = false;
  std::uint64_t last_key_ = 0;
  std::map<std::pair<Legion::FieldSpace, Legion::FieldID>, FieldFacts> fields_;
};

}  // namespace groma::legion
