// Matches an ExplainQuery with an application.
#include "explain/explain_query.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace groma {

// Each distinct list of requirement names gets one entry in `names`.
std::vector<TaskUses> uses_by_task(const app::Data& data, bool& complete) {
  std::vector<TaskUses> all(data.tasks.size());
  std::vector<std::map<app::LaunchNames, std::size_t>> known(data.tasks.size());
  const auto number_of = [&](const app::Use& use) {
    app::LaunchNames names = app::names_of(data, use);
    TaskUses& task = all[use.task];
    const auto [found, is_new] = known[use.task].emplace(std::move(names), task.names.size());
    if (is_new) task.names.push_back(found->first);
    return found->second;
  };
  for (const app::Use& use : app::uses(data, kMaxExplainLaunches, complete)) {
    all[use.task].of.push_back(number_of(use));
    all[use.task].uses.push_back(use);
  }
  for (std::uint32_t i = 0; i < data.tasks.size(); ++i) {
    if (all[i].uses.empty()) number_of({.task = i});
  }
  return all;
}

bool asks(const ExplainQuery& query, const app::Task& task) {
  return query.task.empty() || query.task == task.name;
}

bool asks(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position) {
  const app::Names& own = names[position];
  return query.region.empty() || query.region == std::to_string(position) ||
         std::find(own.begin(), own.end(), query.region) != own.end();
}

// Suggests similar names if a name is unknown.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskUses>& uses, Diagnostics& diags) {
  std::vector<std::string_view> tasks;
  std::set<std::string_view> regions;
  bool task_found = false, region_found = query.region.empty();
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    tasks.push_back(data.tasks[t].name);
    if (!asks(query, data.tasks[t])) continue;
    task_found = true;
    for (const app::LaunchNames& names : uses[t].names) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        region_found = region_found || asks(query, names, i);
        regions.insert(names[i].begin(), names[i].end());
      }
    }
  }
  if (!task_found) {
    suggest(diags.report(DiagId::kUnknownTask, std::nullopt, data.name, query.task), query.task,
            tasks);
  } else if (!region_found) {
    const std::vector<std::string_view> names(regions.begin(), regions.end());
    Diagnostic& diagnostic =
        diags.report(DiagId::kUnknownRegion, std::nullopt, data.name, query.region);
    if (!query.task.empty()) diagnostic.note("none of `" + query.task + "`, which was asked about");
    suggest(diagnostic, query.region, names);
  }
  return task_found && region_found;
}

}  // namespace groma
