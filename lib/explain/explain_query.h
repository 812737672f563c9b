// Matches an ExplainQuery with an application, and collects the launches of each task.
#pragma once

#include <string_view>
#include <vector>

#include "app/view.h"
#include "groma/explain.h"

namespace groma {

// The launches of one task in an application, and the names of its data.
struct TaskLaunches {
  // The launches of the task. Empty: they are not known.
  std::vector<app::DistinctLaunch> launches;
  // Each distinct list of requirement names that launches use; at least one.
  std::vector<app::LaunchNames> name_lists;
  // For each launch, the position of its list in `names`.
  std::vector<std::size_t> name_list_of_launch;
};
// Returns how each task is launched, with one entry for each task. `complete` is set to false if
// there are more launches than the limit kMaxExplainLaunches.
std::vector<TaskLaunches> launches_by_task(const app::Data& data, bool& complete);

// Return true if the query asks about this task, or about the requirement at this position with
// these names.
bool asks_about(const ExplainQuery& query, const app::Task& task);
bool asks_about(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position);

// If `name` stands for a region or partition only in the description of the application, and not in
// the program, adds a help that says what a mapping can write instead. Otherwise returns false.
bool add_description_name_help(Diagnostic& diagnostic, std::string_view name, const app::Data& data,
                               const std::vector<TaskLaunches>& uses);

// Returns true if the application has the task and the region of the query. Otherwise `diags` says
// what is missing.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskLaunches>& uses, Diagnostics& diags);

}  // namespace groma
