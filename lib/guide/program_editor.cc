// Turns mapping statements into edits of the mapping program, with titles for people.
#include "guide/program_editor.h"

#include <fmt/format.h>

#include <set>

#include "groma/harmless.h"
#include "program/data.h"

namespace groma::guide {
namespace {

// Limit on the statements of one kind whose removal is proposed, each in a separate change.
constexpr std::size_t kRemoved = 4;
// Limit on the bytes that a title shows of a statement of the program.
constexpr std::size_t kShownOfStatement = 100;

// Returns the text in one line, with single spaces instead of line breaks and indentation.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

// Returns the text of a statement of the program, cut if it is long.
std::string ProgramEditor::text_of(DecisionOrigin origin) const {
  return harmless(program_.source().text(program_.range(origin)), kShownOfStatement);
}

std::string ProgramEditor::line_of(std::uint32_t offset) const {
  return fmt::format("line {}", program_.source().position(offset).line);
}

// Adds a candidate change to the list. Its fix is not marked as certain (Fix::sure), because only a
// run can tell whether the change helps.
void ProgramEditor::add(const std::string& title, std::string about, std::vector<Edit> edits) {
  changes_.push_back({std::move(about), {harmless(title), std::move(edits), false}});
}

// Adds a change that writes a mapping statement. The title of the change says what is replaced or
// added, and at which line. Adds no change if the program already has the statement.
void ProgramEditor::add_statement_change(const edit::StatementParts& statement,
                                         const edit::MappingFunction* function, ProcKind kind) {
  auto setting = mapping_.set_statement(statement, function, kind);
  if (setting.edits.empty()) return;
  const std::string written = setting.statement.statement_text();
  const std::string with = setting.definition.empty()
                               ? ""
                               : fmt::format(", and above it `{}`", one_line(setting.definition));
  if (setting.replaced_item) {
    const DecisionOrigin origin{static_cast<std::uint32_t>(*setting.replaced_item + 1)};
    add(fmt::format("in {} write `{}` for `{}`{}", line_of(program_.range(origin).begin), written,
                    text_of(origin), with),
        statement.statement_key(), std::move(setting.edits));
    return;
  }
  const std::string added = fmt::format("`{};`{}", written, with);
  add("add " + added, statement.statement_key(), std::move(setting.edits));
  changes_.back().added = harmless(added);
}

// Adds each of these statement changes alone, then all of them together if there are at least two.
// A null statement means that the old statement is removed. A statement with a comment inside is
// not changed, because the edit would delete the comment.
void ProgramEditor::add_changes(const edit::EditableMapping::Changes& changes) {
  const std::size_t first = changes_.size();
  edit::EditableMapping::Changes made;
  for (const auto& [index, statement] : changes) {
    const edit::EditableMapping::ProgramItem& item = mapping_.items()[index];
    if (item.has_comment || (statement && statement == item.statement)) continue;
    const std::string line = line_of(item.range.begin);
    const std::string before = text_of(DecisionOrigin{static_cast<std::uint32_t>(index + 1)});
    made.emplace(index, statement);
    add(statement
            ? fmt::format("in {} write `{}` for `{}`", line, statement->statement_text(), before)
            : fmt::format("in {} remove `{}`", line, before),
        before, *mapping_.change_items({{index, statement}}));
  }
  if (made.size() < 2) return;
  Fix all{"", *mapping_.change_items(made), false};
  std::string about;
  for (std::size_t i = first; i < changes_.size(); ++i) {
    all.title += (all.title.empty() ? "" : "; ") + changes_[i].fix.title;
    about += changes_[i].decision_key;
  }
  changes_.push_back({std::move(about), std::move(all)});
}

// Adds changes that each remove one statement, for the first kRemoved statements of this kind.
void ProgramEditor::add_removal(MappingStatement statement) {
  std::set<std::uint32_t> done;
  for (const program::StatementRow& row : program_.data().rows) {
    if (row.key.table != static_cast<program::TableId>(statement)) continue;
    if (done.insert(row.statement).second) add_removal(DecisionOrigin{row.statement});
    if (done.size() == kRemoved) return;
  }
}

// The key of the change (ProposedChange::decision_key) is the offset in the mapping source at
// which the replaced range begins, so that only one of several replacements of a range is
// suggested.
void ProgramEditor::add_replacement(Range range, const std::string& text) {
  add(fmt::format("in {} write `{}` for `{}`", line_of(range.begin), text,
                  program_.source().text(range)),
      fmt::format("{}", range.begin), {{range, text}});
}

}  // namespace groma::guide
