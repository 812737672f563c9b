// TaskViews: makes views of Legion tasks (groma::TaskView) for a groma::Mapper.
#pragma once

#include <legion.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/program.h"
#include "groma/task_view.h"
#include "legion/launch_points.h"
#include "legion/machine_map.h"
#include "mapper/unhonoured.h"

namespace groma::legion {

using Legion::Mapping::MapperContext;

Point point_of(const Legion::DomainPoint& point);
// Returns a Legion domain as a box. If the domain is not a box, returns its bounding box.
Rect rect_of(const Legion::Domain& domain);
Legion::DomainPoint realm_point(const Point& point);
Legion::Domain domain_of(const Rect& rect);
// Calls `box` with each of the boxes of which a Legion domain consists.
void for_each_box(const Legion::Domain& domain, const std::function<void(const Rect&)>& box);

// Returns the privilege of a region requirement. LEGION_NO_ACCESS_FLAG does not change it, because
// such a requirement still needs an instance.
Privilege privilege_of(const Legion::RegionRequirement& requirement);
Coherence coherence_of(const Legion::RegionRequirement& requirement);

// Returns the name that the program attached to a Legion handle, or to a field of a field space.
// Returns an empty string if there is none. The name is valid until the handle is destroyed.
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

// Calls `visit` with the region, its parent partition, that partition's parent region, and so on up
// to the root.
template <typename Visit>
void for_each_ancestor(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                       Legion::LogicalRegion region, const Visit& visit) {
  for (visit(region); runtime->has_parent_logical_partition(context, region); visit(region)) {
    const auto partition = runtime->get_parent_logical_partition(context, region);
    visit(partition);
    region = runtime->get_parent_logical_region(context, partition);
  }
}

// Returns a region and all its ancestor regions; the root is last.
inline std::vector<Legion::LogicalRegion> region_and_ancestors(
    Legion::Mapping::MapperRuntime* runtime, MapperContext context, Legion::LogicalRegion region) {
  std::vector<Legion::LogicalRegion> regions;
  for_each_ancestor(runtime, context, region, [&]<typename Handle>(const Handle& handle) {
    if constexpr (std::is_same_v<Handle, Legion::LogicalRegion>) regions.push_back(handle);
  });
  return regions;
}

// Gives Legion's regions and partitions numbers that are the same for all mapper objects of a
// process. Legion identifies each by two 64-bit values; Groma needs one. Thread-safe.
class RegionIds {
 public:
  // Returns the number of a region, or 0 for NO_REGION.
  RegionId of(Legion::LogicalRegion region);
  // Returns the region with this number, or NO_REGION for an unknown number.
  Legion::LogicalRegion region(RegionId number);
  // Returns the number of a partition, or 0 for NO_PART.
  PartitionId of(Legion::LogicalPartition partition);

 private:
  std::mutex mutex_;
  std::map<Legion::LogicalRegion, RegionId> regions_;
  std::unordered_map<RegionId, Legion::LogicalRegion> by_number_;
  std::map<Legion::LogicalPartition, PartitionId> partitions_;
  std::uint64_t last_ = 0;
};

// Cached facts about the region, partition and parent region of a region requirement. Only `points`
// changes later.
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
  // The number of points of the region. 0 if it is not known yet.
  std::int64_t points = 0;
};

// The views of the tasks above a task, its parent first.
using ParentViews = std::array<TaskView, kMaxTaskParents>;

// The objects to which one view of a task refers. They are reused for later views. A mapper object
// has one storage for each of its hooks that run at the same time.
struct ViewStorage {
  TaskView view;
  ParentViews parents;
  // The unique id of the parent task that `parents` shows first. 0 if the next call must make these
  // views again.
  Legion::UniqueID parent_id = 0;
  std::vector<RequirementView> requirements;
  // The cached facts to which `requirements` refer.
  std::vector<std::shared_ptr<RegionFacts>> regions;
  std::vector<std::vector<FieldView>> fields;
  std::vector<FutureView> futures;
  // The set to which view.points refers.
  std::optional<PointSet> points;
  // The domain to which view.sharding_space refers.
  std::optional<LaunchDomain> sharding_space;
};

// Makes views of tasks for one mapper object, and caches the facts that they show. Not thread-safe.
class TaskViews {
 public:
  TaskViews(const MachineMap& machine, RegionIds* ids, std::int64_t node,
            Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), ids_(*ids), node_(node), runtime_(runtime) {}

  // Declares that the views are for an adapter above a mapper of the program. That mapper has
  // already chosen the processor kind of each task. The tags of launches and requirements are meant
  // for that mapper, not for DefaultMapper.
  void set_above_program_mapper() { over_own_mapper_ = true; }
  // Sets where the points of sparse launches come from. Null (the default): no view has them,
  // because the mapper does not read them.
  void set_launch_points(LaunchPoints* points) { points_ = points; }
  bool have_launch_points() const { return points_ != nullptr; }

  // Tells how much of the region requirements a view has: nothing, everything except the number of
  // points, or also the number of points.
  enum class Regions : std::uint8_t { kNone, kNamed, kCounted };

  // Returns a view of a task that is on processor `current`. Region requirements are included as
  // far as `regions` asks for them. The view is valid until `storage` is used again.
  const TaskView& make(MapperContext context, const Legion::Task& task, const Processor& current,
                       Regions regions, ViewStorage& storage);
  // Returns a view of an operation other than a task. `near` is the processor that maps the
  // operation.
  const TaskView& make(MapperContext context, const Legion::Mappable& operation,
                       const Processor& near, ViewStorage& storage,
                       std::span<const Legion::RegionRequirement* const> requirements = {});
  // Fills in a view of a task without region requirements, parent and sharding domain. Meant for
  // long lists of tasks.
  void fill(MapperContext context, const Legion::Task& task, const Processor& current,
            TaskView& view);
  // Fills in the views of the tasks above a task. If its parent runs on a processor that mappings
  // cannot name, the view of the parent shows the processor `otherwise`.
  void fill_parents(MapperContext context, const Legion::Task& parent, const Processor& otherwise,
                    ParentViews& views);
  // names() returns the names of all tasks and regions that were seen so far. name() and variants()
  // return the name and the variants of one task, which are empty if the task was not seen.
  groma::mapper::NamesOfRun names() const;
  std::string_view name(TaskId task) const;
  std::span<const VariantView> variants(TaskId task) const;
  // Returns groups of two or more positions of region requirements that a variant demands in one
  // instance (Legion: ColocationConstraint). Each position is in at most one group. Empty for a
  // task that was not seen.
  std::span<const std::vector<std::size_t>> colocated(TaskId task, VariantId variant) const;

 private:
  struct SeenTask {
    Legion::TaskID task = 0;
    // The launch at which the variants were last looked up: its parent task and its number there. A
    // program can register more variants while it runs.
    const Legion::Task* parent = nullptr;
    std::uint64_t index_in_parent = 0;
    std::string name;
    // The largest number of region requirements of any launch of the task.
    std::size_t regions = 0;
    // The number of all variants, including those for processor kinds that Groma does not have.
    std::size_t variant_ids = 0;
    std::vector<VariantView> variants;
    // The layouts that each variant demands.
    std::deque<std::vector<LayoutDemand>> demands;
    // The groups of requirements that each variant demands in one instance.
    std::vector<std::vector<std::vector<std::size_t>>> colocated;
  };
  struct RegionKey {
    Legion::LogicalRegion region;
    Legion::LogicalPartition partition;
    Legion::LogicalRegion parent;
    friend bool operator<(const RegionKey& a, const RegionKey& b) {
      return std::tie(a.region, a.partition, a.parent) < std::tie(b.region, b.partition, b.parent);
    }
  };
  struct FieldSizeAndName {
    std::int64_t bytes = 0;
    std::string name;
  };

  SeenTask& facts_of_task(MapperContext context, const Legion::Task& task);
  SeenTask& facts_of_parent(MapperContext context, const Legion::Task& task);
  // Returns the task's facts with the variants that exist now.
  const SeenTask& current_facts_of_task(MapperContext context, const Legion::Task& task);
  SeenTask look_up(MapperContext context, const Legion::Task& task);
  std::vector<LayoutDemand> demands(MapperContext context, Legion::TaskID task,
                                    Legion::VariantID variant);
  std::vector<std::vector<std::size_t>> colocated(MapperContext context, Legion::TaskID task,
                                                  Legion::VariantID variant);
  void add_requirement(MapperContext context, const Legion::RegionRequirement& requirement,
                       Regions regions, ViewStorage& storage);
  std::shared_ptr<RegionFacts> facts(MapperContext context,
                                     const Legion::RegionRequirement& requirement);
  std::shared_ptr<const RegionFacts::Aliases> aliases(MapperContext context, const RegionKey& key);
  const FieldSizeAndName& field(MapperContext context, Legion::FieldSpace space,
                                Legion::FieldID id);

  const MachineMap& machine_;
  RegionIds& ids_;
  std::int64_t node_;
  Legion::Mapping::MapperRuntime* runtime_;
  bool over_own_mapper_ = false;
  LaunchPoints* points_ = nullptr;
  std::unordered_map<Legion::TaskID, SeenTask> known_;
  // The entry of known_ that was used last.
  SeenTask* last_ = nullptr;
  // Facts about tasks that newer facts have replaced in known_. Views of hooks that wait may still
  // refer to the older facts.
  std::deque<SeenTask> outdated_;
  // The facts about the regions of requirements that were looked up. The key has the region, the
  // partition and the parent region of the requirement.
  std::map<RegionKey, std::shared_ptr<RegionFacts>> by_region_;
  std::map<std::vector<std::string>, std::shared_ptr<const RegionFacts::Aliases>> sets_;
  bool forgot_sets_ = false;
  std::uint64_t last_key_ = 0;
  std::map<std::pair<Legion::FieldSpace, Legion::FieldID>, FieldSizeAndName> fields_;
};

}  // namespace groma::legion
