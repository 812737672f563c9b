// The answers of a mapper, one type for each hook, with Legion's name. The runtime owns every
// answer. It passes the answer cleared and reuses it, so that nothing is allocated for a task or a
// point once the buffers have grown. A mapper says what it wants. The runtime finds or makes the
// instances, checks the answer (validate.h) and carries it out. Each part has the origin of its
// decision, or 0 if no statement decided; Mapper::describe explains an origin.
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "groma/program.h"
#include "groma/task_slices.h"
#include "groma/task_view.h"

namespace groma {

// The priority with which an unused instance is collected. It goes from kCollectNever to
// kCollectEager, which frees the instance as soon as it is invalid (Legion: GCPriority,
// LEGION_GC_*).
using CollectPriority = int;
inline constexpr CollectPriority kCollectNever = INT_MIN;
// DefaultMapper gives this priority to the instances of tasks.
inline constexpr CollectPriority kCollectLast = INT_MIN + 1;
inline constexpr CollectPriority kCollectDefault = 0;
inline constexpr CollectPriority kCollectFirst = INT_MAX - 1;
inline constexpr CollectPriority kCollectEager = INT_MAX;

// A possible instance: in the memory of this kind that is nearest to the task's processor. kVirtual
// may only come last: a virtual instance if no earlier candidate has room.
struct InstanceCandidate {
  MemKind memory = MemKind::kSysmem;
  DecisionOrigin memory_origin;
  // The layout of the instance. If `exact` is set, the instance covers only the required region,
  // whatever InstanceChoice::region says.
  LayoutSpec layout;
  DecisionOrigin layout_origin;
  // The parts of the layout that the statement at `layout_origin` names.
  LayoutAspects layout_named = {};
};

// The instances that a mapper wants for a requirement, in order. The runtime takes the first
// candidate that the processor can address, that exists and that has room. It fails if there is
// none.
struct InstanceChoice {
  enum class Region : std::uint8_t {
    // The instance covers only the requirement's own region.
    kRequired,
    // The instance covers an enclosing region, so that neighbouring tasks share it. See shares().
    kShared,
  };
  // The fields that the instance has: those of the requirement, or all fields of its field space.
  enum class Fields : std::uint8_t { kRequired, kAll };

  std::array<InstanceCandidate, kMemKindCount> candidates_in_order;
  std::uint8_t candidate_count = 0;
  // True if there is no instance and the child tasks map their parts. The candidates are then
  // ignored.
  bool is_virtual = false;
  // The exact instance to use, which the mapper found, made or saw; 0: none. All other members
  // except `untracked` are then ignored.
  InstanceId instance = 0;
  // True if a new instance is made even if a fitting one exists.
  bool fresh = false;
  Region region = Region::kShared;
  Fields fields = Fields::kAll;
  CollectPriority collect_priority = kCollectLast;
  // True if the data need not be kept after the task, which only reads it (Legion:
  // untracked_valid_regions).
  bool untracked = false;
  DecisionOrigin collect_origin;
  DecisionOrigin virtual_origin;
  DecisionOrigin instance_origin;

  std::span<const InstanceCandidate> candidates() const {
    return {candidates_in_order.data(), candidate_count};
  }
  // Returns true if the candidate may hold more than the requirement's own region. That is so for
  // kShared if the layout is not exact and the memory is a host memory. DefaultMapper keeps
  // framebuffers and zero-copy memory for required data (default_policy_select_instance_region).
  bool shares(const InstanceCandidate& candidate) const {
    return region == Region::kShared && !candidate.layout.exact &&
           candidate.memory != MemKind::kFbmem && candidate.memory != MemKind::kZcmem;
  }
  // Adds a candidate behind the others.
  void add(const InstanceCandidate& candidate) {
    GROMA_REQUIRE(candidate_count < kMemKindCount,
                  "a requirement has at most one candidate for each kind of memory");
    candidates_in_order[candidate_count++] = candidate;
  }
};

// The answer of the mapper hook select_task_options: where a task starts, and its options.
struct TaskOptions {
  // The processor on which the task starts. For an index launch, only its kind and its node matter,
  // because slice_task decides again.
  Processor initial;
  DecisionOrigin kind_origin;
  DecisionOrigin processor_origin;
  bool inline_task = false;
  bool stealable = false;
  bool map_locally = false;
  // True if map_task wants the list of instances with valid data.
  bool valid_instances = true;
  bool memoize = false;
  bool replicate = false;
  DecisionOrigin steal_origin;
  DecisionOrigin replicate_origin;
  std::optional<int> parent_priority;
  // The requirements for which all points of the launch ask for the same region.
  std::vector<std::uint32_t> collective;
  // The reason why there is no valid answer: no variant, or an error of the function.
  std::optional<Diagnostic> failure;

  void clear();
};

// The answer of the mapper hook slice_task: the slices of an index launch.
struct SliceTaskOutput {
  // The slices. Every point of the launch must be in exactly one.
  TaskSlices slices;
  // True if the default Mapper::slice_task cut the launch into blocks, because no statement
  // decided.
  bool by_default = false;
  DecisionOrigin origin;
  // The reason why there are no slices: the error of the function at a point.
  std::optional<Diagnostic> failure;

  void clear();
};

// The measurements that a task reports after it has run (Legion: ProfilingMeasurements).
struct RequestedMeasurements {
  // True if the task reports its OperationStatus.
  bool status = false;
  // True if the task reports its OperationTimeline: when it was created, ready, started and ended.
  bool timeline = false;
  bool any() const { return status || timeline; }
};

// The answer of the mapper hook map_task: the processors, the variant and the instances of a task.
struct MapTaskOutput {
  // Processors of one kind and node. Several mean that the task may run on any of them.
  std::vector<Processor> processors;
  DecisionOrigin processor_origin;
  VariantId variant = 0;
  DecisionOrigin kind_origin;
  // For each region requirement of the task, which instance the mapper wants for it.
  std::vector<InstanceChoice> requirements;
  int task_priority = 0;
  int copy_priority = 0;
  int profiling_priority = 0;
  RequestedMeasurements task_profiling;
  RequestedMeasurements copy_profiling;
  bool postmap = false;
  // True if the task goes back into the ready queue, because there is no room now.
  bool abort_mapping = false;
  // The memories for the future. If it is empty, the runtime chooses.
  std::vector<Memory> future_memories;
  // The reason why the task cannot be mapped; nullopt if it can.
  std::optional<Diagnostic> failure;

  void clear();
};

// The answer of map_inline and map_partition, and of map_copy for each of its requirements.
struct MapOperationOutput {
  std::vector<InstanceChoice> requirements;
  RequestedMeasurements profiling;
  int profiling_priority = 0;
  bool track_valid = true;

  void clear();
};

// The answer of the mapper hook replicate_task: the variant and the processors of the shards.
struct ReplicateTaskOutput {
  // The variant, which must be replicable.
  VariantId variant = 0;
  // One processor for each shard, without duplicates. At least one is on the node of task.current.
  std::vector<Processor> processors;
  DecisionOrigin origin;

  void clear();
};

// The answer of the mapper hook select_tasks_to_map: the ready tasks that are mapped or moved now.
struct SelectMappingOutput {
  struct Relocation {
    // The task that moves, as an index into the ready tasks.
    std::uint32_t task = 0;
    Processor processor;
  };
  // The tasks to map now, as indices into the ready tasks.
  std::vector<std::uint32_t> map;
  std::vector<Relocation> relocate;
  // The event after which the runtime asks again. It is required if nothing is mapped or relocated.
  MapperEvent deferral = 0;

  void clear();
};

// The answer of configure_context. The values are Legion's defaults.
struct ContextConfigOutput {
  // The limit on the operations in flight. 0 or less: no limit. The embedded runtime uses only this
  // member and the next one.
  int max_window = 1024;
  // Percentage of `max_window` that must be free before more operations are admitted.
  int hysteresis_percent = 25;
  int max_outstanding_frames = 0;
  int min_tasks_to_schedule = 64;
  int min_frames_to_schedule = 0;
  int meta_task_vector_width = 16;
  int max_templates_per_trace = 16;
  bool mutable_priority = false;
};

// The answer of map_must_epoch: a processor for each task, without duplicates.
struct MapMustEpochOutput {
  std::vector<Processor> processors;
  // The instance of each constraint, which is a group of requirements that must share an instance.
  std::vector<InstanceChoice> constraints;

  void clear();
};

}  // namespace groma
