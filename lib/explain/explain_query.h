// Matches an ExplainQuery with an application, and collects the launches of each task.
#pragma once

#include <string_view>
#include <vector>

#include "app/view.h"
#include "groma/explain.h"

namespace groma {

// The launches of one task in an application, and the names of its data.
struct TaskUses {
  // The launches of the task. Empty: they are not known.
  std::vector<app::LaunchUse> uses;
  // Each distinct list of requirement names that launches use; at least one.
  std::vector<app::LaunchNames> names;
  // For each launch, the position of its list in `names`.
  std::vector<std::size_t> names_of_use;
};
// Returns how each task is launched, with one entry for each task. `complete` is set to false if
// there are more launches than the limit kMaxExplainLaunches.
std::vector<TaskUses> uses_by_task(const app::Data& data, bool& complete);

// Return true if the query asks about this task, or about the requirement at this position with
// these names.
bool asks_about(const ExplainQuery& query, const app::Task& task);
bool asks_about(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position);

// If `name` stands for a region or partition only in the description of the application, and not in
// the program, adds a help that says what a mapping can write instead. Otherwise returns false.
bool explain_description_name(Diagnostic& diagnostic, std::string_view name, const app::Data& data,
                              const std::vector<TaskUses>& uses);

// Returns true if the application has the task and the region of the query. Otherwise `diags` says
// what is missing.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskUses>& uses, Diagnostics& diags);

}  // namespace groma
