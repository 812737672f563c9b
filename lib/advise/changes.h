// Candidate changes of a mapping program. Each change edits a few statements. faster_changes()
// returns changes that may make a run faster, and mending_changes() returns changes that may make a
// failing run possible. Only a run can tell whether a candidate helps (guide_run.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "edit/mapping.h"
#include "explain/explain_query.h"
#include "groma/machine.h"
#include "groma/profile.h"
#include "groma/program.h"
#include "groma/validate.h"

namespace groma::inspect {

struct Change {
  // The decision that changes, as a key. Only one of several changes with the same key can be
  // suggested.
  std::string about;
  // The edit of the program. The title of the fix describes the change.
  Fix fix;
  // If the title of the fix is "add X", this is X. Otherwise it is empty.
  std::string added = {};
};

// Collects changes of a program. A statement with a comment inside it is not changed.
class ProgramEditor {
 public:
  explicit ProgramEditor(const Program& program) : program_(program), mapping_(program.source()) {}

  // These functions return the statement of an origin. If the origin is not a mapping statement,
  // find() returns null, and statement() must not be called.
  const edit::StatementParts* find(Origin origin) const {
    const auto& found = mapping_.item(origin).statement;
    return found ? &*found : nullptr;
  }
  const edit::StatementParts& statement(Origin origin) const { return *find(origin); }

  // Adds a change that replaces the statement which decides the same thing, or adds `statement` if
  // there is none. If the statement binds a function, `function` is that function, written for
  // `kind` (EditableMapping::set_statement).
  void set(const edit::StatementParts& statement, const edit::MappingFunction* function = nullptr,
           ProcKind kind = ProcKind::kCpu);
  // Adds one change for each statement, and one change for all of them together.
  void change(const edit::EditableMapping::Changes& changes);
  // Adds a change that removes a statement.
  void remove(Origin origin) { change({{origin.statement - 1, std::nullopt}}); }
  // Adds one change for each of the first few statements of this kind; the change removes it.
  void remove(MappingStatement statement);
  // Adds a change that replaces a range by `text`.
  void edit(Range range, const std::string& text);

  std::vector<Change> take_changes() { return std::move(changes_); }

 private:
  void add(const std::string& title, std::string about, std::vector<Edit> edits);
  std::string line_of(std::uint32_t offset) const;

  const Program& program_;
  edit::EditableMapping mapping_;
  std::vector<Change> changes_;
};

// A program, a machine and an application for which changes are proposed.
struct ChangeInput {
  const Program& program;
  const Machine& machine;
  const app::Data& app;
  // The launches of each task.
  const std::vector<TaskUses>& uses;
};
// Returns the processor kinds on which the task can run, in the default mapper's order of
// preference.
std::vector<ProcKind> kinds_of(const ChangeInput& subject, const app::Task& task);
// Returns the processor kind that the mapping chooses for the task; nullopt if none is possible.
std::optional<ProcKind> kind_of(const ChangeInput& subject, const app::Task& task);
// Returns the memory kinds that a processor of the kind can address.
std::vector<MemKind> memories_of(const Machine& machine, ProcKind kind);
// Adds changes that give the task's launches another mapping function (IndexTaskMap or
// SingleTaskMap statements).
void place(const ChangeInput& subject, std::uint32_t task, ProcKind kind, ProgramEditor& editor);

// These functions return the candidates, the most promising first. `measured` is the name of the
// measured phase.
std::vector<Change> faster_changes(const ChangeInput& subject, const Profile& profile,
                                   const std::string& measured);
std::vector<Change> mending_changes(const ChangeInput& subject, const Refusal& refusal);

}  // namespace groma::inspect
