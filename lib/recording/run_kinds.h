// Run kinds: groups the runs of a task by what they launched, and finds out how the task can tell
// from its arguments to which group a run belongs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "recording/events.h"

namespace groma::app {

// A kind of runs: the runs of a task that launched the same tasks in the same order, though with
// other numbers.
struct RunKind {
  std::vector<const Events::TaskRunGroup*> contexts;
  // The number of runs of this kind.
  std::int64_t count = 0;
  // The shape of each launch that a run of this kind makes, in the order of the launches.
  std::vector<std::uint32_t> shapes;
};
// Returns the kinds of the runs in these contexts, those with the most runs first.
std::vector<RunKind> run_kinds(const Events& events,
                               const std::vector<const Events::TaskRunGroup*>& contexts);

// Returns the name of an argument of a task: "p0", "p1" and so on. `position` is a position in
// Events::TaskRunGroup::run_arguments.
std::string argument_name(std::size_t position);
// The name of the argument by which a launch says which kind of run it starts.
inline constexpr const char* kWhich = "which";

// How a task determines the kind of its run.
struct RunKindCondition {
  // For each kind, a formula that is 1 in runs of this kind and 0 in other runs.
  std::vector<Formula> is_kind;
  // The value of the argument kWhich that each launch of the task passes, by the launch's shape.
  // Empty: the argument does not exist.
  std::map<std::uint32_t, std::int64_t> which_values;
  // The number of launch shapes whose tasks launched nothing.
  std::size_t without_runs = 0;
};
// Returns how task `task` determines the kind of its run. Returns nullopt if runs of different
// kinds had the same arguments.
std::optional<RunKindCondition> find_run_kind_condition(const Events& events, std::uint32_t task,
                                                        const std::vector<RunKind>& kinds);

}  // namespace groma::app
