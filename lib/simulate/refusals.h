// Writes the error messages for tasks that a run cannot map or start. Errors about a mapper's
// answer are in validate.h and legion_error_message.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/data.h"
#include "groma/task_view.h"
#include "groma/validate.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"

namespace groma::sim {

// The largest number of regions that a message about a full or small memory lists.
inline constexpr std::size_t kShownRegions = 4;

// The error of a task, and the output that a real run with this error writes (`raw`).
struct RefusedTask {
  Refusal refusal;
  std::string raw;
};

// Returns the error for a requirement whose data the application does not describe.
RefusedTask missing_data(const TaskRun& run, const TaskView& view, std::uint32_t position);

// The candidates for the instance of a requirement for which there was no room.
struct CandidatesWithoutRoom {
  // The text that lists the candidates and their sizes for the message.
  std::string tried;
  // The request for the instance of the last candidate. nullopt: the processor can address none of
  // the memories.
  std::optional<InstanceQuery> last;
  // The statement of the mapping that chose the memory of the first candidate.
  DecisionOrigin origin;
  // Adds a candidate for which the store has no room.
  void add(const InstanceStore& store, const InstanceCandidate& candidate,
           const InstanceQuery& query);
};
// Returns the error for a requirement none of whose candidates has room.
RefusedTask out_of_memory(const RunInput& input, const InstanceStore& store, const TaskRun& run,
                          const TaskView& view, std::uint32_t position,
                          const CandidatesWithoutRoom& full);

// Returns the error for a copy between memories that no channel connects.
Refusal no_route(const Memories& memories, const Instance& from, const Instance& to);

// Ends the run because a formula of the task's variant has no value. Does nothing if `fault` is
// kNone.
void fail_formula(Outcome& outcome, const app::Data& data, const TaskRun& run,
                  app::FormulaFault fault);

// Adds a note to each refusal. The note names the point and its processor if `run` is not null,
// otherwise the launch. Does nothing if both are null.
void note_launch(const app::Data& data, const app::Launch* launch, const TaskRun* run,
                 std::vector<Refusal>& refusals);

}  // namespace groma::sim
