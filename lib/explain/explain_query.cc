// Matches an ExplainQuery with an application, and collects the launches of each task.
#include "explain/explain_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_pattern.h"
#include "groma/spelling.h"
#include "program/data.h"
#include "syntax/token.h"

namespace groma {
namespace {

// A region or a partition of an application: its number and the names by which a mapping may refer
// to it.
struct NamedData {
  bool is_region = true;
  std::uint32_t index = 0;
  const app::Names* names = nullptr;
};

// Returns the region or partition that has this name in the description of the application, or
// nullopt.
std::optional<NamedData> find_data(const app::Data& data, std::string_view name) {
  for (std::uint32_t i = 0; i < data.regions.size(); ++i) {
    if (data.regions[i].name == name) return NamedData{true, i, &data.regions[i].names};
  }
  for (std::uint32_t i = 0; i < data.partitions.size(); ++i) {
    if (data.partitions[i].name == name) return NamedData{false, i, &data.partitions[i].names};
  }
  return std::nullopt;
}

// Returns true if a requirement uses the data `whole`: the region or partition itself, or a part of
// it.
bool is_part_of(const app::Data& data, const app::RequirementData& where, const NamedData& whole) {
  if (where.kind == app::RequirementData::Kind::kUnknown) return false;
  if (whole.is_region) return where.region == whole.index;
  if (where.kind != app::RequirementData::Kind::kPartition) return false;
  int partition = static_cast<int>(where.index);
  while (partition >= 0 && partition != static_cast<int>(whole.index)) {
    partition = data.partitions[static_cast<std::size_t>(partition)].outer;
  }
  return partition >= 0;
}

// Returns true if the region requirement at this position uses the data `whole` (or a part of it)
// in some launch of the task. If no launch of the task is known, the declaration of the task says
// what the requirement uses.
bool uses_at(const app::Task& task, const TaskLaunches& uses, std::size_t position,
             const app::Data& data, const NamedData& whole) {
  const app::RequirementData& declared = task.requirements[position].data;
  if (uses.launches.empty()) return is_part_of(data, declared, whole);
  return std::any_of(uses.launches.begin(), uses.launches.end(),
                     [&](const app::DistinctLaunch& use) {
                       const bool own = use.launch != nullptr && position < use.launch->data.size();
                       return is_part_of(data, own ? use.launch->data[position] : declared, whole);
                     });
}

// Returns the first few region requirements that use the data, each as its position and its task:
// "1 in `work`".
std::vector<std::string> positions_of(const app::Data& data, const std::vector<TaskLaunches>& uses,
                                      const NamedData& whole) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> found;
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    const app::Task& task = data.tasks[t];
    for (std::size_t i = 0; i < task.requirements.size() && found.size() < kMost; ++i) {
      if (!uses_at(task, uses[t], i, data, whole)) continue;
      found.push_back(fmt::format("{} in `{}`", i, task.name));
    }
  }
  return found;
}

// The largest number of region names that an error lists. Longer lists are not shown.
constexpr std::size_t kListedRegions = 12;

// Returns true if the text consists of digits only.
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

// Adds a note that the name exists only in the description, and a help with the other names and the
// positions by which a mapping can refer to the data.
bool add_help_for_description_name(Diagnostic& diagnostic, std::string_view name,
                                   const app::Data& data, const std::vector<TaskLaunches>& uses) {
  const auto named = find_data(data, name);
  if (!named || std::find(named->names->begin(), named->names->end(), name) != named->names->end())
    return false;
  diagnostic.note(
      fmt::format("the name `{}` is used only in the description of `{}`: the program "
                  "itself has no {} of this name",
                  name, data.name, named->is_region ? "region" : "partition"));
  const std::vector<std::string> positions = positions_of(data, uses, *named);
  const std::vector<std::string_view> names(named->names->begin(), named->names->end());
  std::string help;
  if (!names.empty()) help = fmt::format("write {}", join_names(names));
  if (!positions.empty()) {
    help += fmt::format("{} position of the region: {}", help.empty() ? "write the" : ", or the",
                        fmt::join(positions, ", "));
  }
  if (!help.empty()) diagnostic.help(help);
  return true;
}

int TaskLaunches::least_dimensions() const {
  int least = 0;
  for (const app::DistinctLaunch& use : launches) {
    if (!use.domain) continue;
    const int dimensions = use.domain->box.dimensions();
    least = least == 0 ? dimensions : std::min(least, dimensions);
  }
  return least;
}

bool TaskLaunches::has_holes() const {
  return std::any_of(launches.begin(), launches.end(), [](const app::DistinctLaunch& use) {
    return use.domain && use.domain->points;
  });
}

// Collects the launches of each task. A launch has a list with the names of all its region
// requirements. Each distinct list of a task gets one entry in TaskLaunches::name_lists. A task
// without known launches gets one list, with the names from its declaration.
std::vector<TaskLaunches> launches_by_task(const app::Data& data, bool& complete) {
  std::vector<TaskLaunches> all(data.tasks.size());
  std::vector<std::map<app::LaunchNames, std::size_t>> known(data.tasks.size());
  const auto number_of = [&](const app::DistinctLaunch& use) {
    app::LaunchNames names = app::names_of(data, use);
    TaskLaunches& task = all[use.task];
    const auto [found, is_new] = known[use.task].emplace(std::move(names), task.name_lists.size());
    if (is_new) task.name_lists.push_back(found->first);
    return found->second;
  };
  for (const app::DistinctLaunch& use : app::list_launches(data, kMaxExplainLaunches, complete)) {
    all[use.task].name_list_of_launch.push_back(number_of(use));
    all[use.task].launches.push_back(use);
  }
  for (std::uint32_t i = 0; i < data.tasks.size(); ++i) {
    if (all[i].launches.empty()) number_of({.task = i});
  }
  return all;
}

TaskFilter::TaskFilter(const std::string& text) : text_(text) {
  if (text.find_first_of("*>[") == text.npos) return;
  Diagnostics diags(Source(
      "", fmt::format("{} {};", spelling_of(syntax::StatementKind::kControlReplicate), text)));
  Program program = compile(diags.source(), diags);
  if (diags.has_errors()) return;
  if (program.has_selectors()) selecting_ = program;
  statement_ = std::move(program);
}

bool TaskFilter::may_ask_about(std::string_view task) const {
  if (text_.empty() || text_ == task) return true;
  if (!statement_) return false;
  const program::ProgramData& data = statement_->data();
  return std::any_of(data.rows.begin(), data.rows.end(), [&](const program::StatementRow& row) {
    return data.names.stands_for(row.key.task, task);
  });
}

bool TaskFilter::asks_about(const LaunchedTask& task) const {
  if (!selecting_) return may_ask_about(task.name);
  return text_ == task.name || selecting_->control_replicate(task).has_value();
}

// Returns true if the query asks about this requirement. The region of a query may be a name or a
// position.
bool asks_about(const ExplainQuery& query, const app::LaunchNames& names, std::size_t position) {
  const app::Names& own = names[position];
  return query.region.empty() || query.region == std::to_string(position) ||
         std::any_of(own.begin(), own.end(),
                     [&](const std::string& name) { return matches_pattern(name, query.region); });
}

// Checks that the application has the task and the region of the query. Reports the missing name
// otherwise, with similar names or with the positions that exist.
bool check_query(const ExplainQuery& query, const app::Data& data,
                 const std::vector<TaskLaunches>& uses, Diagnostics& diags) {
  std::vector<std::string_view> tasks;
  std::set<std::string_view> regions;
  // The number of region requirements of that task which has the most of them, among the tasks that
  // the query asks about.
  std::size_t positions = 0;
  bool task_found = false, region_found = query.region.empty();
  const TaskFilter filter(query.task);
  for (std::size_t t = 0; t < data.tasks.size(); ++t) {
    tasks.push_back(data.tasks[t].name);
    if (!filter.may_ask_about(data.tasks[t].name)) continue;
    task_found = true;
    positions = std::max(positions, data.tasks[t].requirements.size());
    for (const app::LaunchNames& names : uses[t].name_lists) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        region_found = region_found || asks_about(query, names, i);
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
    if (is_number(query.region)) {
      diagnostic.note("a number is the position of a region in its task" +
                      (positions == 0 ? "" : fmt::format(", here at most {}", positions - 1)));
      if (!names.empty() && names.size() <= kListedRegions) {
        diagnostic.help("write a position, or a name: " + join_names(names));
      }
    } else if (!add_help_for_description_name(diagnostic, query.region, data, uses)) {
      suggest(diagnostic, query.region, names);
    }
  }
  return task_found && region_found;
}

}  // namespace groma
