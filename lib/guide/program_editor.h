// ProgramEditor: turns mapping statements into candidate changes of a mapping program, each with
// its edits and a title that says what is written where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edit/mapping.h"
#include "groma/kinds.h"
#include "groma/program.h"

namespace groma::guide {

// A candidate change of a mapping program.
struct ProposedChange {
  // The key of the mapping decision that changes. Only one of several changes with the same key is
  // suggested.
  std::string decision_key;
  // The edits of the program. The title of the fix describes the change.
  Fix fix;
  // If the title of the fix is "add X", this is X. Otherwise it is empty.
  std::string added = {};
  // What the profile of the run says about the decision, and what the change does: "22 % of the
  // time tasks of `t` stream `r` from ZCMEM at 16 GB/s" and "put it in FBMEM". Both may be empty.
  std::string reason = {}, aim = {};
};

// Collects candidate changes of a mapping program. A statement with a comment inside is not
// changed.
class ProgramEditor {
 public:
  explicit ProgramEditor(const Program& program) : program_(program), mapping_(program) {}

  // find_statement() and statement() return the mapping statement of the program that an origin
  // refers to. If the origin is not a mapping statement, find_statement() returns null, and
  // statement() must not be called.
  const edit::StatementParts* find_statement(DecisionOrigin origin) const {
    const auto& found = mapping_.item(origin).statement;
    return found ? &*found : nullptr;
  }
  const edit::StatementParts& statement(DecisionOrigin origin) const {
    return *find_statement(origin);
  }

  // Adds a change that writes `statement` in place of the program's statement with the same key, or
  // adds it if there is none. If the statement binds a mapping function, `function` is that
  // function, written for the processor kind `kind` (EditableMapping::set_statement).
  void add_statement_change(const edit::StatementParts& statement,
                            const edit::MappingFunction* function = nullptr,
                            ProcKind kind = ProcKind::kCpu);
  // Adds one candidate change for each changed statement, and one for all of them together.
  void add_changes(const edit::EditableMapping::Changes& changes);
  // Adds a change that removes a statement.
  void add_removal(DecisionOrigin origin) { add_changes({{origin.statement - 1, std::nullopt}}); }
  // Adds changes that each remove one statement, for the first few statements of this kind.
  void add_removal(MappingStatement statement);
  // Adds a change that replaces a range of the source by `text`.
  void add_replacement(Range range, const std::string& text);

  std::vector<ProposedChange> take_changes() { return std::move(changes_); }

 private:
  void add(const std::string& title, std::string about, std::vector<Edit> edits);
  std::string text_of(DecisionOrigin origin) const;
  std::string line_of(std::uint32_t offset) const;

  const Program& program_;
  edit::EditableMapping mapping_;
  std::vector<ProposedChange> changes_;
};

}  // namespace groma::guide
