// Walks over a program's rows and compares them with what a runtime can do.
#include "mapper/unhonoured.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/spelling.h"
#include "program/data.h"

namespace groma::mapper {
namespace {

using program::Row;
using program::TableId;

// Why the statement has no effect; empty when it has.
std::string_view lacking(const Program& program, const Row& row, const Capabilities& can) {
  switch (row.key.table) {
    case TableId::kInstanceLimit:
      return can.events ? "" : "cannot wait for a task to end";
    case TableId::kCollectMemory:
      return can.collection ? "" : "does not collect instances early";
    case TableId::kControlReplicate:
      return can.replication ? "" : "does not replicate tasks";
    case TableId::kTaskSteal:
      return can.stealing ? "" : "does not move ready tasks";
    case TableId::kLayout: {
      const LayoutSpec& layout = program.data().layouts[static_cast<std::size_t>(row.value)];
      if (!can.layouts) return "has one layout";
      if (!can.alignment && layout.align_op != AlignOp::kNone) return "cannot align instances";
      return can.compact || !layout.compact ? "" : "has no compact instances";
    }
    default:
      return "";
  }
}

}  // namespace

void log_unhonoured(const Program& program, const Capabilities& can, LogSink& log) {
  std::uint32_t last = 0;  // a statement has a row for each of its names
  for (const Row& row : program.data().rows) {
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

void log_unknown_tasks(const Program& program, const std::set<std::string_view>& known,
                       LogSink& log) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  std::set<NameId> told;
  for (const Row& row : program.data().rows) {
    const std::string_view name = program.data().names.text(row.key.task);
    if (row.key.task == kStarName || known.contains(name)) continue;
    if (!told.insert(row.key.task).second) continue;
    const Source& source = program.source();
    const auto line = source.position(program.range({row.statement}).begin).line;
    const auto near = near_names(name, candidates);
    log.log(LogLevel::kWarning,
            fmt::format("{}:{}: no task `{}` was launched{}", source.name(), line, name,
                        near.empty() ? "" : "; did you mean " + join_names(near) + "?"));
  }
}

bool limits_any(const Program& program) {
  const auto& rows = program.data().rows;
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.key.table == TableId::kInstanceLimit; });
}

std::vector<std::pair<ProcKind, StealScope>> steal_statements(const Program& program) {
  std::vector<std::pair<ProcKind, StealScope>> found;
  for (const Row& row : program.data().rows) {
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
