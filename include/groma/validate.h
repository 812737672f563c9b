// validate: whether a runtime can carry an answer out. Finds what a real runtime refuses, crashes
// on or waits on for ever, often without a word (a requirement without an instance ends a Legion
// program in silence; a slice that misses points hangs it). Simulator and adapters call it before
// they act. Costs nothing worth measuring beside the hook: some steps for each processor, slice and
// requirement, however many points a launch has.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/machine.h"
#include "groma/sharding.h"
#include "groma/task_view.h"
#include "groma/wish.h"

namespace groma {

// One thing that is wrong with an answer. The diagnostic has no range: Mapper::describe(origin)
// says who decided so.
struct Refusal {
  Diagnostic diagnostic;
  Origin origin;
};

// All of these return what is wrong, nothing when all is well: first of all the answer's own
// `failure`. `task` is what the hook was asked about.
std::vector<Refusal> validate(const TaskOptions& answer, const TaskView& task,
                              const Machine& machine);
// Every slice on a processor that exists, not empty, inside `part`; every point of it in exactly
// one.
std::vector<Refusal> validate(const SliceAnswer& answer, const TaskView& task, const Rect& part,
                              const Machine& machine);
// Processors of one kind and node, a variant for it, for each requirement that needs one a memory
// that they can address or a virtual instance where that is allowed, layouts that the variant
// takes. Of an instance that it names the runtime knows more (RequirementWish::instance).
std::vector<Refusal> validate(const TaskWish& answer, const TaskView& task, const Machine& machine);
// Why a requirement cannot be virtual when that variant runs (null: it is not known which); null
// when it can. What has to be asked before a virtual instance is taken as the last resort.
const char* why_not_virtual(const RequirementView& requirement, const VariantView* variant);
// A memory for each requirement: of an inline mapping one that the parent's processor can address,
// of a partition a host memory, of others one that the node has. Nothing virtual but what a copy
// reads.
std::vector<Refusal> validate(const OperationWish& answer, const TaskView& operation,
                              const Machine& machine);
std::vector<Refusal> validate(const ReplicateAnswer& answer, const TaskView& task,
                              const Machine& machine);
// `ready` as select_tasks_to_map got it.
std::vector<Refusal> validate(const ScheduleAnswer& answer, std::span<const TaskView> ready,
                              const Machine& machine);
std::vector<Refusal> validate(const MustEpochAnswer& answer, std::span<const TaskView> tasks,
                              const Machine& machine);
// Of select_steal_targets: processors that exist, the thief not among them.
std::vector<Refusal> validate_steal_targets(std::span<const Processor> answer,
                                            const Processor& thief, const Machine& machine);
// Of permit_steal_request: indices into the stealable tasks, none twice.
std::vector<Refusal> validate_stolen(std::span<const std::uint32_t> answer,
                                     std::span<const TaskView> stealable);
// Of select_sharding_functor: 0 or the number of one of `functors` functors.
std::vector<Refusal> validate_sharding(ShardingId answer, const TaskView& operation,
                                       std::size_t functors);
// What a functor said of a point of `operation`.
std::vector<Refusal> validate(ShardId answer, const Point& point, const TaskView& operation,
                              const ShardTable& shards);

}  // namespace groma
