// The errors of tasks that a run cannot map or start, in words. Errors about a mapper's answer are
// in validate.h and legion_words.h.
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

// The number of regions that a message about a full or small memory lists.
inline constexpr std::size_t kShownRegions = 4;

// An error, and the output of a real run that has it.
struct RefusedTask {
  Refusal refusal;
  std::string raw;
};

// Returns the error for a requirement whose data the application does not describe.
RefusedTask missing_data(const TaskRun& run, const TaskView& view, std::uint32_t position);

// The candidates of a requirement that had no room.
struct FullCandidates {
  std::string tried;                  // the candidates with their sizes, for people
  std::optional<InstanceQuery> last;  // nullopt: the processor reaches none of the memories
  Origin origin;                      // of the first candidate
  // Adds a candidate that has no room in the store.
  void add(const Store& store, const InstanceWish& candidate, const InstanceQuery& query);
};
// Returns the error for a requirement none of whose candidates has room.
RefusedTask out_of_memory(const RunInput& input, const Store& store, const TaskRun& run,
                          const TaskView& view, std::uint32_t position, const FullCandidates& full);

// Returns the error for a copy between memories that no channel connects.
Refusal no_route(const Memories& memories, const Instance& from, const Instance& to);

// Ends the run because a formula of the task's variant has no value. Does nothing for kNone.
void fail_formula(Outcome& outcome, const app::Data& data, const TaskRun& run,
                  app::FormulaFault fault);

// Adds a note to each refusal that names the launch, or the point and its processor unless `run` is
// null. Does nothing if both are null.
void note_launch(const app::Data& data, const app::Launch* launch, const TaskRun* run,
                 std::vector<Refusal>& refusals);

}  // namespace groma::sim
