// Writes the statements of suggestions into the mapping of a run.
#include "guide/suggestion_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "program/data.h"
#include "syntax/lexer.h"

namespace groma::guide {

using Stream = ProfileFacts::Stream;

SuggestionWriter::SuggestionWriter(const Program* program) : program_(program) {
  if (program != nullptr) mapping_.emplace(*program);
}

// Returns the change of the mapping that writes the statement. Returns nullopt if the mapping has
// the statement already.
std::optional<ProposedChange> SuggestionWriter::write(const edit::StatementParts& statement,
                                                      const edit::MappingFunction* function,
                                                      ProcKind kind) const {
  if (program_ == nullptr) {
    edit::StatementParts named = statement;
    std::string with;
    if (function != nullptr) {
      named.function = edit::function_name_for(function->name, kind);
      with = " and its function: " + function->description;
    }
    return ProposedChange{statement.statement_key(),
                          {fmt::format("write `{};`{}", named.statement_text(), with), {}, false}};
  }
  ProgramEditor editor(*program_);
  editor.add_statement_change(statement, function, kind);
  std::vector<ProposedChange> changes = editor.take_changes();
  if (changes.empty()) return std::nullopt;
  return std::move(changes.front());
}

namespace {

// Returns true if a Region statement selects launches of the task. A change of what is said of the
// task's name may then have no effect.
bool has_selector_for(const Program& program, std::string_view task) {
  const program::ProgramData& data = program.data();
  if (data.names.selectors().empty()) return false;
  return std::any_of(data.rows.begin(), data.rows.end(), [&](const program::StatementRow& row) {
    return row.key.table == program::TableId::kRegion &&
           data.names.selector(row.key.task) != nullptr &&
           data.names.stands_for(row.key.task, task);
  });
}

}  // namespace

// Returns the mapping after a change; nullopt if the mapping is not known or has errors.
std::optional<Program> SuggestionWriter::after(const ProposedChange& change) const {
  if (program_ == nullptr) return std::nullopt;
  std::size_t applied = 0;
  const Source source(program_->source().name(),
                      apply_fixes(program_->source(), {change.fix}, &applied));
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  if (applied != 1 || diags.has_errors()) return std::nullopt;
  const program::ProgramData& before = program_->data();
  if (before.unbound == nullptr) return program;
  // A change adds no blocks and removes none, so the same blocks act.
  const std::set<std::uint32_t> held = program::holding_conditions(before);
  std::set<std::uint32_t> holding;
  auto number = program.data().conditions.begin();
  for (const auto& [number_before, range] : before.conditions) {
    if (held.contains(number_before)) holding.insert(number->first);
    ++number;
  }
  return Program(program::with_conditions(program.shared_data(), holding, diags));
}

// Returns the change after which the data of the requirement is first looked for in `memory` when
// the task runs on `kind`. Prefers to change the statement that decided, if it is about this data
// alone; otherwise writes a statement about the data in all tasks, or in this task.
std::optional<ProposedChange> SuggestionWriter::put_data(const Stream& stream, MemKind memory,
                                                         ProcKind kind, bool all_tasks) const {
  const auto task = syntax::name_as_written(stream.task);
  const std::string data = written_data(stream.names, stream.requirement);
  const bool is_position = stream.names.empty() || !syntax::name_as_written(stream.names.front());
  std::vector<edit::StatementParts> candidates;
  edit::StatementParts parts{.kind = MappingStatement::kRegion,
                             .tasks = {"*"},
                             .regions = {data},
                             .place = kind,
                             .memories = {memory}};
  if (const edit::StatementParts* present = statement_of(stream)) {
    const bool is_alone = present->regions.size() == 1 && present->regions.front() == data &&
                          (present->tasks.size() == 1 || all_tasks);
    if (is_alone) {
      candidates.push_back(*present);
      candidates.back().place = kind;
      candidates.back().memories = {memory};
    }
  }
  if (all_tasks && !is_position) candidates.push_back(parts);
  if (task) {
    parts.tasks = {*task};
    candidates.push_back(parts);
    parts.regions = {std::to_string(stream.requirement)};
    candidates.push_back(parts);
  }
  for (const edit::StatementParts& candidate : candidates) {
    auto change = write(candidate);
    if (!change) continue;
    if (program_ == nullptr) return change;
    const auto changed = after(*change);
    if (!changed || has_selector_for(*changed, stream.task)) continue;
    const std::vector<std::string_view> names(stream.names.begin(), stream.names.end());
    const auto memories = changed->memories(stream.task, {stream.requirement, names}, kind);
    if (!memories.empty() && memories.front().memory == memory) return change;
  }
  return std::nullopt;
}

// Returns the Region statement that placed the data of the stream; null if the default mapper did
// or the mapping is not known.
const edit::StatementParts* SuggestionWriter::statement_of(const Stream& stream) const {
  if (!mapping_ || stream.statement_number <= 0) return nullptr;
  const auto number = static_cast<std::size_t>(stream.statement_number);
  if (number > mapping_->items().size()) return nullptr;
  const auto& statement = mapping_->items()[number - 1].statement;
  return statement && statement->kind == MappingStatement::kRegion ? &*statement : nullptr;
}

// Returns the name by which a statement refers to the data of a region requirement: its first name,
// or its position if statements cannot spell the name.
std::string written_data(const std::vector<std::string>& names, std::int64_t position) {
  const auto written = names.empty() ? std::nullopt : syntax::name_as_written(names.front());
  return written ? *written : std::to_string(position);
}

}  // namespace groma::guide
