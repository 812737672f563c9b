// Translates the candidates in a mapper's answer into queries for instances.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/mapper_output.h"
#include "groma/task_view.h"
#include "simulate/instance.h"
#include "simulate/run_input.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Returns the query for the instance that a candidate of `choice` describes. `choice` is the
// mapper's answer for requirement `position` of the task. The piece of the requirement must be
// known. Returns nullopt if the processor of the task cannot address a memory of the candidate's
// kind.
std::optional<InstanceQuery> query_for(const RunInput& input, const TaskRun& run,
                                       const RequirementView& requirement,
                                       const InstanceChoice& choice,
                                       const InstanceCandidate& candidate, std::uint32_t position);

// Returns the query for the instance that a candidate of `choice` describes, but in `memory`, even
// if the processor of the task cannot address that memory.
InstanceQuery query_in(std::int32_t memory, const RunInput& input, const TaskRun& run,
                       const RequirementView& requirement, const InstanceChoice& choice,
                       const InstanceCandidate& candidate, std::uint32_t position);

}  // namespace groma::sim
