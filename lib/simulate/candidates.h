// Candidates: what a candidate of a mapper's wish asks of the store.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/task_view.h"
#include "groma/wish.h"
#include "simulate/instance.h"
#include "simulate/run_input.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Returns the query for the instance that a candidate of `wish` describes. `wish` is about
// requirement `position` of the task, which has a piece. Returns nullopt if the processor of the
// task cannot address the memory of the candidate.
std::optional<InstanceQuery> query_for(const RunInput& input, const TaskRun& run,
                                       const RequirementView& requirement,
                                       const RequirementWish& wish, const InstanceWish& candidate,
                                       std::uint32_t position);

// Returns the same query for an instance in `memory`, whatever the processor of the task can
// address.
InstanceQuery query_in(std::int32_t memory, const RunInput& input, const TaskRun& run,
                       const RequirementView& requirement, const RequirementWish& wish,
                       const InstanceWish& candidate, std::uint32_t position);

}  // namespace groma::sim
