// Compares the statements of a program with what a runtime can do and with the names that occurred
// in a run.
#include "mapper/unhonoured.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "groma/spelling.h"
#include "program/data.h"

namespace groma::mapper {
namespace {

using program::StatementRow;
using program::TableId;

// Returns the end of a sentence about the runtime, such as "does not replicate tasks", if the
// statement has no effect on this runtime. Returns an empty string if it has an effect.
std::string_view lacking(const Program& program, const StatementRow& row, const Capabilities& can) {
  switch (row.key.table) {
    case TableId::kInstanceLimit:
      if (!can.events) return "cannot wait for a task to end";
      return can.messages || static_cast<LimitScope>(row.kinds[0]) == LimitScope::kProcessor
                 ? ""
                 : "does not send the messages with which mappers count together";
    case TableId::kCollectMemory:
      return can.collection ? "" : "does not collect instances early";
    case TableId::kControlReplicate:
      return can.replication ? "" : "does not replicate tasks";
    case TableId::kTaskSteal:
      return can.stealing ? "" : "does not move ready tasks";
    case TableId::kLayout: {
      const LayoutSpec& layout = program.data().layouts[static_cast<std::size_t>(row.value)].layout;
      if (!can.layouts) return "has one layout";
      if (!can.alignment && layout.align_op != AlignOp::kNone) return "cannot align instances";
      return can.compact || !layout.compact ? "" : "has no compact instances";
    }
    default:
      return "";
  }
}

// Returns "; did you mean ...?" with the candidates that are similar to the name, or an empty
// string if none is.
std::string meant(std::string_view name, const std::vector<std::string_view>& candidates) {
  const auto near = near_names(name, candidates);
  return near.empty() ? std::string() : "; did you mean " + join_names(near) + "?";
}

}  // namespace

// Logs one warning for each statement that has no effect, with its line.
void log_unsupported_statements(const Program& program, const Capabilities& can, LogSink& log) {
  // The statement about which a warning was logged last. Several rows of the program's table may
  // belong to one statement.
  std::uint32_t last = 0;
  for (const StatementRow& row : program.data().rows) {
    const std::string_view why = lacking(program, row, can);
    if (why.empty() || row.statement == last) continue;
    last = row.statement;
    const Source& source = program.source();
    const Range range = program.range({row.statement});
    const std::string_view text = source.text(range);
    log.log(LogLevel::kWarning,
            fmt::format("{}:{}: `{}` has no effect here: the runtime {}", source.name(),
                        source.position(range.begin).line, text.substr(0, text.find('\n')), why));
  }
}

// Adds the names of another part of the run. For a task in both parts, the larger number of regions
// counts.
void NamesOfRun::merge_names(const NamesOfRun& other) {
  for (const auto& [task, count] : other.tasks) {
    std::size_t& most = tasks[task];
    most = std::max(most, count);
  }
  regions.insert(other.regions.begin(), other.regions.end());
  all_regions = all_regions && other.all_regions;
}

// Logs a warning for each name in the program that the run did not use, with similar names of the
// run. A name is reported once, with all of its lines.
void log_unknown_names(const Program& program, const NamesOfRun& run, LogSink& log,
                       std::string_view where) {
  const std::vector<std::string_view> regions(run.regions.begin(), run.regions.end());
  std::vector<std::string_view> tasks;
  std::size_t most = 0;  // The largest number of regions of any task of the run.
  for (const auto& [task, count] : run.tasks) {
    tasks.push_back(task);
    most = std::max(most, count);
  }
  // A message: what is wrong, in which lines, and what may have been meant (`after`).
  struct UnhonouredMessage {
    std::string what, after;
    std::set<std::int64_t> lines;
  };
  std::vector<UnhonouredMessage> all;  // The messages, in the order of the program's statements.
  // Maps the text `what` of each message to the index of the message in `all`.
  std::map<std::string, std::size_t> known;
  const auto tell = [&](const StatementRow& row, const std::string& what,
                        const std::string& after) {
    const auto [at, is_new] = known.emplace(what, all.size());
    if (is_new) all.push_back({what, after, {}});
    all[at->second].lines.insert(
        program.source().position(program.range({row.statement}).begin).line);
  };
  for (const StatementRow& row : program.data().rows) {
    const NameTable& table = program.data().names;
    const std::string_view name = table.text(row.key.task);
    // A pattern stands for all tasks of the run that it matches.
    const bool pattern = table.is_pattern(row.key.task);
    const auto task = !pattern
                          ? run.tasks.find(name)
                          : std::find_if(run.tasks.begin(), run.tasks.end(), [&](const auto& t) {
                              return table.stands_for(row.key.task, t.first);
                            });
    const bool any = row.key.task == kStarName || (pattern && task != run.tasks.end());
    if (!any && task == run.tasks.end()) {
      tell(row, fmt::format("no task `{}` was launched", name), meant(name, tasks));
      continue;
    }
    if (row.key.region == kStarName) continue;
    if ((row.key.region & program::position_key(0)) != 0) {
      const std::uint32_t position = row.key.region & ~program::position_key(0);
      const std::size_t has = any ? most : task->second;
      if (position < has) continue;
      tell(row,
           fmt::format("{} has a region {}",
                       any ? "no task" : fmt::format("no launch of `{}`", name), position),
           has == 0   ? "; it has none"
           : has == 1 ? "; there is region 0 alone"
                      : fmt::format("; there are 0 to {}", has - 1));
      continue;
    }
    const std::string_view region = program.data().names.text(row.key.region);
    const bool used = table.is_pattern(row.key.region)
                          ? std::any_of(run.regions.begin(), run.regions.end(),
                                        [&](std::string_view each) {
                                          return table.stands_for(row.key.region, each);
                                        })
                          : run.regions.contains(region);
    if (!run.all_regions || used) continue;
    tell(row, fmt::format("no region `{}` was used", region), meant(region, regions));
  }
  for (const UnhonouredMessage& one : all) {
    const std::string also =
        one.lines.size() < 2
            ? ""
            : fmt::format(" (so too in line {})",
                          fmt::join(std::next(one.lines.begin()), one.lines.end(), ", "));
    log.log(LogLevel::kWarning, fmt::format("{}:{}: {}{}{}{}", program.source().name(),
                                            *one.lines.begin(), one.what, where, also, one.after));
  }
}

// Logs a warning for each overridden task that did not run, with similar names of the run.
void log_unknown_overrides(const LayoutOverrides& overrides, const NamesOfRun& run, LogSink& log,
                           std::string_view where) {
  std::vector<std::string_view> tasks;
  for (const auto& [task, count] : run.tasks) tasks.push_back(task);
  for (const std::string& name : overrides.tasks) {
    if (name == "*" || run.tasks.contains(name)) continue;
    log.log(LogLevel::kWarning,
            fmt::format("--override-layouts={0}: no task `{0}` was launched{1}{2}", name, where,
                        meant(name, tasks)));
  }
}

// Returns true if the program has an InstanceLimit statement. Without one, select_tasks_to_map maps
// all ready tasks.
bool has_instance_limit(const Program& program) {
  const auto& rows = program.data().rows;
  return std::any_of(rows.begin(), rows.end(), [](const StatementRow& row) {
    return row.key.table == TableId::kInstanceLimit;
  });
}

// Returns the kind and the scope of each TaskSteal statement.
std::vector<std::pair<ProcKind, StealScope>> steal_statements(const Program& program) {
  std::vector<std::pair<ProcKind, StealScope>> found;
  for (const StatementRow& row : program.data().rows) {
    if (row.key.table != TableId::kTaskSteal) continue;
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      if (row.key.place != program::place_key(kind)) continue;
      found.emplace_back(kind, static_cast<StealScope>(row.value));
    }
  }
  return found;
}

}  // namespace groma::mapper
