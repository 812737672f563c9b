// TaskView: how a mapper sees a task, or another operation that has to be mapped, as ids and spans
// into the runtime's own data. Nothing is copied. A view and everything that it refers to are valid
// until the hook that received it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/machine.h"
#include "groma/point_set.h"

namespace groma {

// Numbers of the runtime, opaque to Groma (Legion: TaskID, VariantID, FieldID, ...).
using TaskId = std::uint32_t;
// The number of a variant of a task. 0 stands for no variant.
using VariantId = std::uint32_t;
using FieldId = std::uint32_t;
// The number of a logical region. Equal numbers mean equal regions. 0 stands for no region.
using RegionId = std::uint64_t;
// The number of a logical partition. 0 stands for no partition.
using PartitionId = std::uint64_t;
// The number of a physical instance. 0 stands for no instance.
using InstanceId = std::uint64_t;
// The number of a reduction operator. 0 stands for no operator.
using ReductionId = std::int32_t;
// The number of an event that a mapper can trigger. 0 stands for no event.
using MapperEvent = std::uint64_t;

// The kind of an operation that has to be mapped (Legion: Mappable::get_mappable_type).
enum class OperationKind : std::uint8_t {
  kTask,
  kInline,
  kCopy,
  kFill,
  kClose,
  kAcquire,
  kRelease,
  kPartition,
  kMustEpoch,
  kFutureMapReduction,
};
// Returns the name of the kind of operation: "task", "inline mapping", ...
std::string_view name_of(OperationKind kind);

// A field of a requirement. `name` is empty if the application gave none.
struct FieldView {
  FieldId id = 0;
  std::int64_t bytes = 0;
  std::string_view name;
};

// One implementation of a task, for one kind of processor.
struct VariantView {
  VariantId id = 0;
  ProcKind kind = ProcKind::kCpu;
  // True if the variant launches no tasks.
  bool leaf = false;
  // True if the variant does not access its data itself.
  bool inner = false;
  bool idempotent = false;
  // True if the variant may run as several shards.
  bool replicable = false;
  // True if the program's own mapper chose this variant when the program was recorded.
  bool chosen_by_mapper = false;
  std::span<const LayoutDemand> demands;
};

// The way in which the region of each point follows from the launch (Legion: HandleType and
// ProjectionID).
enum class Projection : std::uint8_t { kSingle, kRegion, kPartition };

// A region requirement of a task.
struct RequirementView {
  // The names of the region, its partition and its parent region, in this order. Those without a
  // name are left out. (Legion: semantic information under LEGION_NAME_SEMANTIC_TAG.)
  std::span<const std::string_view> aliases;
  // A key for the aliases: equal keys mean equal aliases. It lets a mapper cache look-ups by name.
  // 0: no key.
  std::uint64_t aliases_key = 0;

  // The region of the requirement. It is 0 if an index launch names a partition instead.
  RegionId region = 0;
  // The partition from which the projection selects the region of each point. 0: there is none.
  PartitionId partition = 0;
  // The parent region from which the task gets its privileges.
  RegionId parent = 0;
  int region_dimensions = 1;
  // The number of points in the region's index space, if it is known.
  std::int64_t points = 0;

  Privilege privilege = Privilege::kReadOnly;
  Coherence coherence = Coherence::kExclusive;
  // The reduction operator. It is set if `privilege` is Privilege::kReduce.
  ReductionId reduction = 0;
  Projection projection = Projection::kSingle;
  std::uint32_t projection_functor = 0;
  std::uint64_t tag = 0;
  // True if the operation must use the existing instance of the data and cannot get a new one
  // (Legion: RegionRequirement::is_restricted).
  bool restricted = false;
  // True if the task itself determines the extent of the region.
  bool output = false;
  // True if several points write the region at the same time, each into a separate instance
  // (Legion: LEGION_COLLECTIVE_EXCLUSIVE and similar).
  bool collective = false;

  // The fields with privileges, without duplicates.
  std::span<const FieldView> fields;

  // Returns true if nothing has to be mapped, because there is no access or no field.
  bool empty() const { return privilege == Privilege::kNoAccess || fields.empty(); }
};

// An instance of a region (Legion: PhysicalInstance).
struct InstanceView {
  InstanceId id = 0;
  Memory memory;
  RegionId region = 0;
  LayoutSpec layout;
  std::span<const FieldId> fields;
  ReductionId reduction = 0;
  std::int64_t bytes = 0;
};

// A future that the task waits for.
struct FutureView {
  // The size of the future's value. -1: the size is unknown.
  std::int64_t bytes = -1;
};

// An operation to be mapped. If it is not a task, `name` and `variants` are empty, and
// `requirements` are those of the operation (for a copy: sources, destinations, then indirections).
struct TaskView {
  OperationKind operation = OperationKind::kTask;
  TaskId id = 0;
  // The number of this launch or point, for messages.
  std::uint64_t unique_id = 0;
  std::string_view name;
  std::span<const VariantView> variants;

  // The depth in the tree of launches. It is 0 for the top-level task.
  int depth = 0;
  // The launching task, with depth - 1. Null for the top-level task.
  const TaskView* parent = nullptr;
  std::uint64_t tag = 0;
  // The text with which the program describes the launch, such as its place in the source (Legion:
  // the provenance string).
  std::string_view provenance;
  // The bytes that the program passes to the mapper together with the launch (Legion: mapper_data).
  std::span<const std::byte> mapper_data;

  // True for an index launch or one of its points. `domain` is then the domain of the launch.
  // `point` is the point; it has no dimensions until the launch is sliced. False for a single task;
  // its `point`, if any, is that of its launcher.
  bool is_index = false;
  Rect domain;
  // The points of the launch. Null: every point of `domain`. Otherwise `domain` is a box around
  // them (Legion: a launch over a sparse index space). A runtime may leave it null for a mapper
  // whose reads_launch_points() is false.
  const PointSet* points = nullptr;
  LaunchDomain launch_domain() const { return {domain, points}; }
  // The domain that sharding functors receive, if the launch names another one than its own. It
  // contains the points of the launch (Legion: the launcher's sharding_space). Null: the functors
  // receive the launch domain.
  const LaunchDomain* sharding_space = nullptr;
  Point point;

  // The processor that holds the operation until it is mapped.
  Processor current;
  // True if `current` belongs to this process.
  bool local = true;

  std::span<const RequirementView> requirements;
  std::span<const FutureView> futures;
  bool must_epoch = false;
  bool concurrent = false;
  // True if the points of the launch wait for each other while they are mapped, run or end, so a
  // mapper must not hold any of them back. This is so for a concurrent launch, a must epoch,
  // collective writes, and a launch with output regions.
  bool rendezvous = false;
  // For a shard of a replicated task: the variant that replicate_task chose. The shard runs only on
  // `current`. 0: not a shard.
  VariantId shard_variant = 0;
  // The processor kind on which the program's own mapper starts or runs the task. It applies unless
  // a Task statement names another. nullopt: the program has no such mapper.
  std::optional<ProcKind> own_kind;
  // For a parent: the number of its shards. Each shard is asked about its part of the launches
  // (Legion: control replication). 1: not replicated.
  std::uint32_t shards = 1;
};

}  // namespace groma
