// What a mapper answers, hook by hook. The runtime owns every answer, hands it over cleared and
// uses it again, so that nothing is allocated for a task or a point once buffers have grown. A
// mapper says what it wishes; the runtime finds or makes the instances, checks the answer
// (validate.h) and carries it out. Every part bears the origin of the decision, 0 where nobody took
// one in particular; Mapper::describe says what an origin is.
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

// When an instance that nobody uses may go: from kNever to kEager, which frees it as soon as it is
// invalid (Legion: GCPriority, LEGION_GC_*).
using CollectPriority = int;
inline constexpr CollectPriority kCollectNever = INT_MIN;
inline constexpr CollectPriority kCollectLast = INT_MIN + 1;  // DefaultMapper's for tasks
inline constexpr CollectPriority kCollectDefault = 0;
inline constexpr CollectPriority kCollectFirst = INT_MAX - 1;
inline constexpr CollectPriority kCollectEager = INT_MAX;

// An instance that would do: in the memory of this kind that is nearest to the task's processor.
// kVirtual, as the last: a virtual instance when none of those before has room.
struct InstanceWish {
  MemKind memory = MemKind::kSysmem;
  Origin memory_origin;
  LayoutSpec
      layout;  // `exact`: of the required region alone, whatever RequirementWish::region says
  Origin layout_origin;
  LayoutAspects layout_named = {};  // by the statement at `layout_origin`
};

// What a requirement needs. The runtime takes the first candidate that the processor can address,
// that exists and that has room, and fails when none does.
struct RequirementWish {
  enum class Region : std::uint8_t {
    kRequired,  // the requirement's own region, nothing around it
    kShared,    // a region above it, so that neighbours share the instance; see shares()
  };
  enum class Fields : std::uint8_t { kRequired, kAll };  // of the requirement, of the field space

  std::array<InstanceWish, kMemKindCount> candidates_in_order;
  std::uint8_t candidate_count = 0;
  bool is_virtual = false;  // no instance: the children map their parts. Candidates then count not
  // This very instance, which the mapper found, made or saw; 0: none. The task then needs nothing
  // of what is said here beside it but `untracked`.
  InstanceId instance = 0;
  // Make a new instance even if one that fits exists.
  bool fresh = false;
  Region region = Region::kShared;
  Fields fields = Fields::kAll;
  CollectPriority collect_priority = kCollectLast;
  // The data need not be kept after the task, which only read it (Legion: untracked_valid_regions).
  bool untracked = false;
  Origin collect_origin;
  Origin virtual_origin;
  Origin instance_origin;

  std::span<const InstanceWish> candidates() const {
    return {candidates_in_order.data(), candidate_count};
  }
  // Whether the candidate is to hold more than the requirement's own region: kShared, not exact,
  // and in host memory, since DefaultMapper keeps framebuffers and zero-copy memory for what is
  // needed (default_policy_select_instance_region).
  bool shares(const InstanceWish& candidate) const {
    return region == Region::kShared && !candidate.layout.exact &&
           candidate.memory != MemKind::kFbmem && candidate.memory != MemKind::kZcmem;
  }
  void add(const InstanceWish& candidate) {
    GROMA_CHECK(candidate_count < kMemKindCount);
    candidates_in_order[candidate_count++] = candidate;
  }
};

// Of select_task_options (Legion: TaskOptions).
struct TaskOptions {
  Processor initial;  // of an index launch only kind and node count; slice_task decides again
  Origin kind_origin;
  Origin processor_origin;
  bool inline_task = false;
  bool stealable = false;
  bool map_locally = false;
  bool valid_instances = true;  // map_task wants to be told which instances hold valid data
  bool memoize = false;
  bool replicate = false;
  Origin steal_origin;
  Origin replicate_origin;
  std::optional<int> parent_priority;
  // Requirements for which all points of the launch ask for the same region.
  std::vector<std::uint32_t> collective;
  std::optional<Diagnostic>
      failure;  // why there is no good answer: no variant, the function's error

  void clear();
};

// Of slice_task (Legion: SliceTaskOutput).
struct SliceAnswer {
  TaskSlices slices;        // every point of the launch in exactly one
  bool by_default = false;  // Mapper's own blocks: nobody decided
  Origin origin;
  // Why there are no slices, when there can be none: the function's error at a point.
  std::optional<Diagnostic> failure;

  void clear();
};

// What a task reports when it has run (Legion: ProfilingMeasurements).
struct ProfilingWish {
  bool status = false;    // OperationStatus
  bool timeline = false;  // OperationTimeline: create, ready, start, end
  bool any() const { return status || timeline; }
};

// Of map_task (Legion: MapTaskOutput).
struct TaskWish {
  std::vector<Processor> processors;  // of one kind and node; several: any of them
  Origin processor_origin;
  VariantId variant = 0;
  Origin kind_origin;
  std::vector<RequirementWish> requirements;  // one for each, of empty ones the default
  int task_priority = 0;
  int copy_priority = 0;
  int profiling_priority = 0;
  ProfilingWish task_profiling;
  ProfilingWish copy_profiling;
  bool postmap = false;
  bool abort_mapping = false;           // back to the ready queue: there is no room now
  std::vector<Memory> future_memories;  // none: where the runtime likes
  std::optional<Diagnostic> failure;    // why there is no wish

  void clear();
};

// Of map_inline, map_partition and, for each of its requirements, map_copy.
struct OperationWish {
  std::vector<RequirementWish> requirements;
  ProfilingWish profiling;
  int profiling_priority = 0;
  bool track_valid = true;

  void clear();
};

// Of replicate_task (Legion: ReplicateTaskOutput).
struct ReplicateAnswer {
  VariantId variant = 0;              // replicable
  std::vector<Processor> processors;  // a shard on each, none twice, at least one here
  Origin origin;

  void clear();
};

// Of select_tasks_to_map (Legion: SelectMappingOutput).
struct ScheduleAnswer {
  struct Relocation {
    std::uint32_t task = 0;  // index into the ready ones
    Processor processor;
  };
  std::vector<std::uint32_t> map;  // indices into the ready ones
  std::vector<Relocation> relocate;
  MapperEvent deferral = 0;  // when to ask again; needed when nothing is mapped or relocated

  void clear();
};

// Of configure_context (Legion: ContextConfigOutput); the values are Legion's defaults.
struct ContextAnswer {
  int max_window = 1024;        // operations in flight
  int hysteresis_percent = 25;  // of it, before more are let in
  int max_outstanding_frames = 0;
  int min_tasks_to_schedule = 64;
  int min_frames_to_schedule = 0;
  int meta_task_vector_width = 16;
  int max_templates_per_trace = 16;
  bool mutable_priority = false;
};

// Of map_must_epoch (Legion: MapMustEpochOutput): a processor for each task, none twice.
struct MustEpochAnswer {
  std::vector<Processor> processors;
  // For each constraint (requirements that have to share an instance), where the instance lies.
  std::vector<RequirementWish> constraints;

  void clear();
};

}  // namespace groma
