// ExplainQuery against an application; its launches, by task.
#pragma once

#include "app/view.h"
#include "groma/explain.h"

namespace groma {

// How one task is launched.
struct TaskUses {
  std::vector<app::Use> uses;  // none: it is not known
  // The names of its requirements, each way in which launches give them; at least one.
  std::vector<app::LaunchNames> names;
  std::vector<std::size_t> of;  // by use: its names
};
// By task. `complete`: whether these are all.
std::vector<TaskUses> uses_by_task(const app::Data& data, bool& complete);

// Whether the query asks about this task, this requirement of it under these names.
bool asks(const ExplainQuery& query, const app::Task& task);
bool asks(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position);

// Whether there is what it asks about; `diags` says what is not.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskUses>& uses, Diagnostics& diags);

}  // namespace groma
