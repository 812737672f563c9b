// What a mapper sees: a task (or another operation that has to be mapped) as ids and spans into the
// runtime's own data. Nothing is copied; a view and all that it points to live until the hook that
// got it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/machine.h"

namespace groma {

// The runtime's own numbers, opaque here (Legion: TaskID, VariantID, FieldID, ...).
using TaskId = std::uint32_t;
using VariantId = std::uint32_t;  // 0: none
using FieldId = std::uint32_t;
using RegionId = std::uint64_t;     // a logical region; equal ids are equal regions. 0: none
using PartitionId = std::uint64_t;  // 0: none
using InstanceId = std::uint64_t;   // 0: none
using ReductionId = std::int32_t;   // 0: none
using MapperEvent = std::uint64_t;  // 0: none

// What is to be mapped (Legion: Mappable::get_mappable_type).
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
std::string_view name_of(OperationKind kind);  // "task", "inline mapping", ...

// A field of a requirement. `name` is empty where the application gave none.
struct FieldView {
  FieldId id = 0;
  std::int64_t bytes = 0;
  std::string_view name;
};

// One implementation of a task, for one kind of processor.
struct VariantView {
  VariantId id = 0;
  ProcKind kind = ProcKind::kCpu;
  bool leaf = false;   // launches nothing
  bool inner = false;  // touches no data itself
  bool idempotent = false;
  bool replicable = false;  // may run as several shards
  // The program's own mapper chose it when the program was recorded.
  bool chosen_by_mapper = false;
  std::span<const LayoutDemand> demands;
};

// How the region of each point follows from the launch (Legion: HandleType and ProjectionID).
enum class Projection : std::uint8_t { kSingle, kRegion, kPartition };

// A region requirement of a task.
struct RequirementView {
  // The names of the region, its partition and its parent region, in this order, those that have
  // one (Legion: semantic information under LEGION_NAME_SEMANTIC_TAG).
  std::span<const std::string_view> aliases;
  // Equal keys promise equal aliases, so that what was looked up by name is looked up once. 0: no
  // promise.
  std::uint64_t aliases_key = 0;

  RegionId region = 0;        // 0 for a launch's partition requirement
  PartitionId partition = 0;  // of the projection
  RegionId parent = 0;        // from which the privileges come
  int region_dimensions = 1;
  std::int64_t points = 0;  // in the region's index space, where known

  Privilege privilege = Privilege::kReadOnly;
  Coherence coherence = Coherence::kExclusive;
  ReductionId reduction = 0;  // with Privilege::kReduce
  Projection projection = Projection::kSingle;
  std::uint32_t projection_functor = 0;
  std::uint64_t tag = 0;
  bool restricted = false;  // has to use the instance that is there
  bool output = false;      // the task makes the region's extent itself
  // Several points write the region at the same time, each into an instance of its own (Legion:
  // LEGION_COLLECTIVE_EXCLUSIVE and the like).
  bool collective = false;

  std::span<const FieldView> fields;  // with privileges, none twice

  // Nothing has to be mapped for it: no access, or no fields.
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
  std::int64_t bytes = -1;  // -1: not known
};

// An operation that wants to be mapped. For what is no task, `name` is empty, `variants` is and
// `requirements` are those of the operation (of a copy: sources, destinations, then indirections).
struct TaskView {
  OperationKind operation = OperationKind::kTask;
  TaskId id = 0;
  std::uint64_t unique_id = 0;  // of this launch or point; for messages
  std::string_view name;
  std::span<const VariantView> variants;

  int depth = 0;                     // the top-level task has 0
  const TaskView* parent = nullptr;  // of depth - 1; null at the top
  std::uint64_t tag = 0;
  std::string_view provenance;             // what the launcher says of itself
  std::span<const std::byte> mapper_data;  // the application's message to the mapper

  // An index launch, or one point of it: its domain as launched and the point, which has no
  // dimensions until the launch is cut. Otherwise a single task, whose point, if any, is that of
  // its launcher.
  bool is_index = false;
  Rect domain;
  Rect sharding_domain;  // what a sharding functor decides on; `domain` unless launched otherwise
  Point point;

  Processor current;  // where it stands, until it is mapped
  bool local = true;  // whether `current` is this process's

  std::span<const RequirementView> requirements;
  std::span<const FutureView> futures;
  bool must_epoch = false;
  bool concurrent = false;
  // The points wait for each other while they are mapped, run or end (a concurrent launch, a must
  // epoch, collective writes, a launch with output regions), so a mapper may hold none of them
  // back.
  bool rendezvous = false;
  // Of a shard of a replicated task: the variant that replicate_task chose. It runs on `current`
  // and nowhere else. 0: it is no shard.
  VariantId shard_variant = 0;
  // The processor kind on which a mapper of the program's own starts or runs the task. It stands
  // unless a Task statement names another. Empty: the program has no such mapper.
  std::optional<ProcKind> own_kind;
  // Of a parent: as how many shards it runs, each of which is asked about its part of what they
  // launch (Legion: control replication). 1: it is not replicated.
  std::uint32_t shards = 1;
};

}  // namespace groma
