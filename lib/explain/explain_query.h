// Matches an ExplainQuery with an application, and collects the launches of each task.
#pragma once

#include <string_view>
#include <vector>

#include "app/view.h"
#include "groma/explain.h"

namespace groma {

// How one task is launched.
struct TaskUses {
  std::vector<app::LaunchUse> uses;  // empty: the launches are not known
  // Each distinct list of requirement names that launches use; at least one.
  std::vector<app::LaunchNames> names;
  std::vector<std::size_t> of;  // for each use, its index in `names`
};
// Returns the uses, one entry for each task. `complete` is set to false if there are more launches
// than the limit kMaxExplainLaunches.
std::vector<TaskUses> uses_by_task(const app::Data& data, bool& complete);

// Return true if the query asks about this task, or about this requirement with these names.
bool asks(const ExplainQuery& query, const app::Task& task);
bool asks(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position);

// If only the description of the application uses `name`, for a region or partition that the
// program did not name, adds what a mapping can write instead. Otherwise returns false.
bool explain_description_name(Diagnostic& diagnostic, std::string_view name, const app::Data& data,
                              const std::vector<TaskUses>& uses);

// Returns true if the application has the task and the region of the query. Otherwise `diags` says
// what is missing.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskUses>& uses, Diagnostics& diags);

}  // namespace groma
