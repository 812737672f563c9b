// validate: checks that a runtime can carry out an answer of a mapper. It finds the answers that a
// real runtime refuses, crashes on or waits on for ever, often without a message. For example, a
// requirement without an instance ends a Legion program silently, and a slice that misses points
// makes it hang. The simulator and the adapters call these functions before they act. The cost is
// negligible: some steps for each processor, slice and requirement, independent of the number of
// points.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/machine.h"
#include "groma/mapper_output.h"
#include "groma/sharding.h"
#include "groma/task_view.h"

namespace groma {

class Mapper;

// The cause of a refusal, for runtimes that print a message of their own for some causes.
// Diagnostic::id alone does not tell these causes apart.
enum class RefusalCause : std::uint8_t {
  kOther,
  // Two slices of the launch contain the same point.
  kSlicesOverlap,
  // The variant chosen for a replicated task is not replicable.
  kVariantNotReplicable,
  // No shard is on the node that maps the task.
  kNoLocalShard,
  // select_tasks_to_map maps no task and names no event to wait for.
  kNothingScheduled,
  // The variant wants another order of dimensions or fields.
  kLayoutOrder,
  // The variant wants another alignment.
  kLayoutAlignment,
};

// One error in an answer. The diagnostic has no range; Mapper::describe(origin) names the statement
// that decided.
struct Refusal {
  Diagnostic diagnostic;
  DecisionOrigin origin;
  RefusalCause cause = RefusalCause::kOther;
};

// Returns the refusal as text for users: the message, the statement that decided, notes and a cure
// (render, groma/diagnostics.h). `mapper` is the mapper that answered.
std::string render(const Refusal& refusal, const Mapper& mapper, bool color = false);

// All functions validate() return the errors of a mapper's answer, or nothing if the answer is
// valid. The answer's own `failure` comes first. `task` is the task that the hook was asked about.
std::vector<Refusal> validate(const TaskOptions& answer, const TaskView& task,
                              const Machine& machine);
// Checks an answer of slice_task: every slice has an existing processor, is not empty and lies
// inside `part`, and every point of `part` is in exactly one slice.
std::vector<Refusal> validate(const SliceTaskOutput& answer, const TaskView& task, const Rect& part,
                              const Machine& machine);
// Checks an answer of map_task: the processors have one kind and node, and the variant fits them.
// Each requirement that needs an instance must have a memory that the processors can address, or a
// virtual instance if that is allowed. The variant must accept the layouts. An instance that the
// answer names is checked by the runtime (InstanceChoice::instance).
std::vector<Refusal> validate(const MapTaskOutput& answer, const TaskView& task,
                              const Machine& machine);
// Returns the reason why a requirement cannot be virtual when `variant` runs (null: the variant is
// unknown). Returns null if it can be virtual. Call it before choosing a virtual instance as the
// last resort.
const char* why_not_virtual(const RequirementView& requirement, const VariantView* variant);
// Checks an answer of map_operation: each requirement has a memory. For an inline mapping the
// parent's processor can address it, for a partition it is a host memory, otherwise the node has
// it. Only the sources of a copy may be virtual.
std::vector<Refusal> validate(const MapOperationOutput& answer, const TaskView& operation,
                              const Machine& machine);
// Checks an answer of replicate_task: the variant is replicable, and the processors of the shards
// exist, differ and have one kind. At least one of them is on the node that maps the task.
std::vector<Refusal> validate(const ReplicateTaskOutput& answer, const TaskView& task,
                              const Machine& machine);
// Checks an answer of select_tasks_to_map: each ready task is mapped or moved at most once, to a
// processor that exists, and the answer does something or names an event to wait for. `ready` must
// be the list of ready tasks that the hook received.
std::vector<Refusal> validate(const SelectMappingOutput& answer, std::span<const TaskView> ready,
                              const Machine& machine);
// Checks an answer of map_must_epoch: each task has an existing processor, no processor occurs
// twice, and each constraint has an instance or a memory for one.
std::vector<Refusal> validate(const MapMustEpochOutput& answer, std::span<const TaskView> tasks,
                              const Machine& machine);
// Checks an answer of select_steal_targets: existing processors without the thief.
std::vector<Refusal> validate_steal_targets(std::span<const Processor> answer,
                                            const Processor& thief, const Machine& machine);
// Checks an answer of permit_steal_request: indices into the stealable tasks, without duplicates.
std::vector<Refusal> validate_stolen(std::span<const std::uint32_t> answer,
                                     std::span<const TaskView> stealable);
// Checks an answer of select_sharding_functor: 0, or the number of one of `functors` functors.
std::vector<Refusal> validate_sharding(ShardingId answer, const TaskView& operation,
                                       std::size_t functors);
// Checks that the shard that a sharding functor gives a point of `operation` is one of `shards`.
std::vector<Refusal> validate(ShardId answer, const Point& point, const TaskView& operation,
                              const ShardTable& shards);

}  // namespace groma
