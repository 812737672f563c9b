// Matches an ExplainQuery with an application, and collects the launches of each task.
#pragma once

#include <string_view>
#include <vector>

#include "app/view.h"
#include "groma/explain.h"

namespace groma {

// The launches of one task in an application, and the names that they give to the region
// requirements of the task.
struct TaskLaunches {
  // The launches of the task. Empty: they are not known.
  std::vector<app::DistinctLaunch> launches;
  // The distinct lists of names that launches give to the task's region requirements. A list has
  // the names of all requirements. There is always at least one list.
  std::vector<app::LaunchNames> name_lists;
  // For each launch in `launches`, the index in `name_lists` of the list that the launch uses.
  std::vector<std::size_t> name_list_of_launch;

  // Returns the smallest number of dimensions of the index launches; 0 if there is none.
  int least_dimensions() const;
  // Returns true if an index launch does not have every point of its box.
  bool has_holes() const;
};
// Returns how each task is launched, with one entry for each task. `complete` is set to false if
// there are more launches than the limit kMaxExplainLaunches.
std::vector<TaskLaunches> launches_by_task(const app::Data& data, bool& complete);

// The tasks that ExplainQuery::task stands for.
class TaskFilter {
 public:
  // The text is a name, a pattern or a selector, as statements write them, or a name that they
  // would quote. Empty: all tasks.
  explicit TaskFilter(const std::string& text);
  // Returns true if it stands for launches of the task with this name.
  bool may_ask_about(std::string_view task) const;
  // Returns true if it stands for the task.
  bool asks_about(const LaunchedTask& task) const;
  // Returns a program whose selectors are that of the filter; nullopt if it is no selector.
  const std::optional<Program>& selecting() const { return selecting_; }

 private:
  std::string text_;
  // `ControlReplicate TEXT;`, if the text is not just a name.
  std::optional<Program> statement_, selecting_;
};

// Returns true if the query asks about the requirement at this position with these names.
bool asks_about(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position);

// Some names of regions and partitions exist only in the description of the application and not in
// the program, so no mapping can use them. If `name` is such a name, adds a note about this, and a
// help with what a mapping can write instead if there is anything, and returns true. Otherwise
// returns false.
bool add_help_for_description_name(Diagnostic& diagnostic, std::string_view name,
                                   const app::Data& data, const std::vector<TaskLaunches>& uses);

// Returns true if the application has the task and the region of the query. Otherwise `diags` says
// what is missing.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskLaunches>& uses, Diagnostics& diags);

}  // namespace groma
