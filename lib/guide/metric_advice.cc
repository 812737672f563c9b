// Suggests other kinds of processors and other mapping functions.
#include "guide/metric_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "edit/mapping.h"
#include "groma/harmless.h"
#include "guide/blamed_statements.h"
#include "guide/program_editor.h"

namespace groma::guide {
namespace {

// Limit on the Task statements for which a change is suggested.
constexpr std::size_t kMaxTaskStatements = 3;

// Returns the kind of processors whose machine a mapping function uses, by the first `Machine(...)`
// in its text or in the program; GPU if there is none.
ProcKind kind_of_machine(std::string_view text) {
  constexpr std::string_view kMachine = "Machine(";
  const std::size_t at = text.find(kMachine);
  if (at == std::string_view::npos) return ProcKind::kGpu;
  text.remove_prefix(at + kMachine.size());
  return find_proc_kind(text.substr(0, text.find(')'))).value_or(ProcKind::kGpu);
}

// Returns the function that differs most from the one with this text: blocks of neighbouring points
// if it deals points out cyclically, otherwise the reverse. It uses as many dimensions of the
// point.
edit::MappingFunction another_function(std::string_view text) {
  int dimensions = 1;
  for (int d = 1; d < 3; ++d) {
    for (const char* name : {"ip[{}]", "ipoint[{}]", "point[{}]"}) {
      if (text.find(fmt::format(fmt::runtime(name), d)) != std::string_view::npos) {
        dimensions = d + 1;
      }
    }
  }
  const bool cuts_blocks = text.find("ispace") != std::string_view::npos;
  const char* const way = cuts_blocks ? "cyclic" : "block";
  return edit::named_function(dimensions == 1 ? fmt::format("first_{}", way)
                                              : fmt::format("row{}_{}", dimensions, way));
}

// Returns the text of a mapping function up to the brace that closes its body.
std::string_view text_of_function(const Program& program, FunctionId function) {
  const std::string_view whole = program.source().text();
  const std::string_view text = whole.substr(program.function_source_range(function).begin);
  return text.substr(0, text.find('}'));
}

// Returns the first row of each statement of one kind.
std::vector<program::StatementRow> rows_of(const Program& program, MappingStatement statement) {
  return suspects(program, statement, {});
}

// Adds the first change of the editor to the suggestions and fixes. `words` follow its title.
void add_change(const Program& program, ProgramEditor& editor, std::string_view words,
                GuideFeedback* feedback) {
  std::vector<ProposedChange> changes = editor.take_changes();
  if (changes.empty()) return;
  add_sentence(
      fmt::format("{}: {}{}", harmless(program.source().name()), changes.front().fix.title, words),
      &feedback->suggest);
  feedback->fixes.push_back(std::move(changes.front().fix));
}

}  // namespace

void suggest_gpus_for_tasks(const Program& program, GuideFeedback* feedback) {
  std::size_t said = 0;
  for (const program::StatementRow& row : rows_of(program, MappingStatement::kTask)) {
    if (said == kMaxTaskStatements) return;
    if (row.kind_count > 0 && row.kinds[0] == static_cast<std::uint8_t>(ProcKind::kGpu)) continue;
    ProgramEditor editor(program);
    const edit::StatementParts* present = editor.find_statement({row.statement});
    if (present == nullptr) continue;
    edit::StatementParts statement = *present;
    std::erase(statement.processors, ProcKind::kGpu);
    statement.processors.insert(statement.processors.begin(), ProcKind::kGpu);
    editor.add_changes({{row.statement - 1, std::move(statement)}});
    ++said;
    add_change(program, editor, ", so that its tasks use GPUs where they have variants for them",
               feedback);
  }
}

void suggest_other_places(const Program& program, GuideFeedback* feedback) {
  std::vector<program::StatementRow> rows = rows_of(program, MappingStatement::kIndexTaskMap);
  const std::vector<program::StatementRow> singles =
      rows_of(program, MappingStatement::kSingleTaskMap);
  const bool has_index = !rows.empty();
  rows.insert(rows.end(), singles.begin(), singles.end());
  const std::string name = harmless(program.source().name());
  // The change below names the first IndexTaskMap statement itself.
  if (rows.size() > (has_index ? 1U : 0U)) {
    add_sentence(fmt::format("in {} these statements choose the processors: {}", name,
                             places_of(program, rows)),
                 &feedback->suggest);
  }
  ProgramEditor editor(program);
  if (!has_index) {
    const edit::MappingFunction function = edit::named_function("first_block");
    editor.add_statement_change({.kind = MappingStatement::kIndexTaskMap, .tasks = {"*"}},
                                &function, kind_of_machine(program.source().text()));
    add_change(program, editor, ", which gives each processor a block of neighbouring points",
               feedback);
    return;
  }
  const program::StatementRow& row = rows.front();
  const edit::StatementParts* present = editor.find_statement({row.statement});
  if (present == nullptr || row.value < 0) return;
  const std::string_view text = text_of_function(program, static_cast<FunctionId>(row.value));
  const edit::MappingFunction function = another_function(text);
  const bool is_block = function.name.ends_with("block");
  editor.add_statement_change(
      *present, &function,
      kind_of_machine(text.find("Machine(") == text.npos ? program.source().text() : text));
  add_change(program, editor,
             is_block ? ", which gives each processor a block of neighbouring points, so that less "
                        "data moves"
                      : ", which deals the points out one by one, so that uneven work is shared",
             feedback);
}

}  // namespace groma::guide
