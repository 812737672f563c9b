// Finds the mapping statements that a log message or a profile blames.
#include "guide/blamed_statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/harmless.h"

namespace groma::guide {
namespace {

// Limits on the mapping statements that one sentence of advice names, and on the bytes that the
// sentence shows of each statement.
constexpr std::size_t kShownStatements = 3;
constexpr std::size_t kShownLineText = 100;

std::optional<ProcKind> kind_of(const CapturedGroups& groups) {
  return find_proc_kind(text_of_group(groups, "prockind"));
}

// Returns true if a table row of the compiled mapping may concern the task, the processor kind, the
// memory kind and the region that a log message names. `groups` has these names. A name that is
// missing excludes no row.
bool speaks_of(const program::StatementRow& row, const program::ProgramData& data,
               const CapturedGroups& groups) {
  const std::string task = text_of_group(groups, "task");
  if (!task.empty() && !data.names.stands_for(row.key.task, task)) return false;
  const auto kind = kind_of(groups);
  const bool by_kind = row.key.table != program::TableId::kTask &&
                       row.key.place != program::kAnyPlace && row.key.place < 0x40;
  if (kind && by_kind && row.key.place != program::place_key(*kind)) return false;
  // A Region statement that does not name the kind of the memory in which there was no room is not
  // the cause.
  const auto memory = find_mem_kind(text_of_group(groups, "memkind"));
  if (memory && row.key.table == program::TableId::kRegion) {
    const auto* end = row.kinds.data() + row.kind_count;
    if (std::find(row.kinds.data(), end, static_cast<std::uint8_t>(*memory)) == end) return false;
  }
  // A row of a mapping's table names its region by `*`, by its position among the task's region
  // arguments, or by its name.
  if (row.key.region == kStarName) return true;
  const std::string region = text_of_group(groups, "region"), req = text_of_group(groups, "req");
  const bool numbered = (row.key.region & 0x80000000U) != 0;
  if (numbered) return req.empty() || fmt::format("{}", row.key.region & 0x7FFFFFFFU) == req;
  return region.empty() || data.names.stands_for(row.key.region, region);
}

}  // namespace

std::string text_of(const Program& program, Range range) {
  const std::string_view whole = program.source().text(range);
  return harmless(whole, kShownLineText);
}

std::vector<program::StatementRow> suspects(const Program& program, MappingStatement statement,
                                            const CapturedGroups& groups) {
  const program::ProgramData& data = program.data();
  std::vector<program::StatementRow> found;
  const auto add = [&](const std::vector<program::StatementRow>& rows) {
    for (const program::StatementRow& row : rows) {
      if (row.key.table != static_cast<program::TableId>(statement)) continue;
      const bool there = std::any_of(
          found.begin(), found.end(),
          [&](const program::StatementRow& other) { return other.statement == row.statement; });
      if (!there && speaks_of(row, data, groups)) found.push_back(row);
    }
  };
  // Before a program is bound to a machine, each of its `when` blocks may be one that acted.
  if (data.unbound == nullptr) add(data.conditional_rows);
  add(data.rows);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    // Statements about all tasks (`*`) come last. Among equals, statements about all regions come
    // last.
    const auto rank = [](const program::StatementRow& row) {
      return (row.key.task == kStarName ? 2 : 0) + (row.key.region == kStarName ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  return found;
}

std::string place_of(const Program& program, const program::StatementRow& row) {
  const Range range = program.range({row.statement});
  std::string text = fmt::format("line {} (`{}`", program.source().position(range.begin).line,
                                 text_of(program, range));
  if (row.when != 0) {
    text += fmt::format(" in the block `when {}`",
                        text_of(program, program.condition_range({row.when})));
  }
  const bool maps =
      row.key.table == program::TableId::kIndexMap || row.key.table == program::TableId::kSingleMap;
  if (maps && row.value >= 0 && static_cast<std::size_t>(row.value) < program.function_count()) {
    const Range function = program.function_source_range(static_cast<FunctionId>(row.value));
    text += fmt::format("; `{}` is defined in line {}",
                        program.function_name(static_cast<FunctionId>(row.value)),
                        program.source().position(function.begin).line);
  }
  return text + ")";
}

std::string places_of(const Program& program, const std::vector<program::StatementRow>& rows) {
  std::string places;
  for (std::size_t i = 0; i < std::min(rows.size(), kShownStatements); ++i) {
    places += (i == 0 ? "" : "; ") + place_of(program, rows[i]);
  }
  if (rows.size() > kShownStatements) {
    places += fmt::format(" and {} more", rows.size() - kShownStatements);
  }
  return places;
}

}  // namespace groma::guide
