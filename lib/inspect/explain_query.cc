#include "inspect/explain_query.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace groma {

bool asks(const ExplainQuery& query, const AppTask& task) {
  return query.task.empty() || query.task == task.name;
}

bool asks(const ExplainQuery& query, const AppTask& task, std::size_t position) {
  const std::vector<std::string>& names = task.requirements[position].names;
  return query.region.empty() || query.region == std::to_string(position) ||
         std::find(names.begin(), names.end(), query.region) != names.end();
}

bool check_query(const ExplainQuery& query, const Application& app, Diagnostics& diags) {
  std::vector<std::string_view> tasks;
  std::set<std::string_view> regions;
  bool task_found = false, region_found = query.region.empty();
  for (const AppTask& task : app.tasks) {
    tasks.push_back(task.name);
    if (!asks(query, task)) continue;
    task_found = true;
    for (std::size_t i = 0; i < task.requirements.size(); ++i) {
      region_found = region_found || asks(query, task, i);
      regions.insert(task.requirements[i].names.begin(), task.requirements[i].names.end());
    }
  }
  if (!task_found) {
    suggest(diags.report(DiagId::kUnknownTask, std::nullopt, app.name, query.task), query.task,
            tasks);
  } else if (!region_found) {
    const std::vector<std::string_view> names(regions.begin(), regions.end());
    Diagnostic& diagnostic =
        diags.report(DiagId::kUnknownRegion, std::nullopt, app.name, query.region);
    if (!query.task.empty()) diagnostic.note("none of `" + query.task + "`, which was asked about");
    suggest(diagnostic, query.region, names);
  }
  return task_found && region_found;
}

}  // namespace groma
