// Candidate changes of a mapping program; each change edits a few statements. faster_changes()
// returns changes that may make a run faster, mending_changes() changes that may make a failing run
// possible. Only a run can tell whether a candidate helps (guide_run.cc).
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
  std::string about;  // the thing that changes; only one change about a thing can be made
  Fix fix;            // the edit of the program; the title of the fix describes it
  // If the title of the fix is "add X", this is X. Otherwise it is empty.
  std::string added = {};
};

// Collects changes of a program. A statement with a comment inside it is not changed.
class Editor {
 public:
  explicit Editor(const Program& program) : program_(program), mapping_(program.source()) {}

  // Return the statement of an origin. If the origin is not a mapping statement, find() returns
  // null, and statement() must not be called.
  const edit::Statement* find(Origin origin) const {
    const auto& found = mapping_.item(origin).statement;
    return found ? &*found : nullptr;
  }
  const edit::Statement& statement(Origin origin) const { return *find(origin); }

  // Replaces the statement that decides the same thing, or adds the statement if there is none. If
  // it binds a function, `function` is that function, written for `kind` (edit::Mapping::set).
  void set(const edit::Statement& statement, const edit::Function* function = nullptr,
           ProcKind kind = ProcKind::kCpu);
  // Adds one change for each statement, and one change for all of them together.
  void change(const edit::Mapping::Changes& changes);
  // Removes a statement.
  void remove(Origin origin) { change({{origin.statement - 1, std::nullopt}}); }
  // Adds one change for each of the first few statements of this kind; the change removes it.
  void remove(MappingStatement statement);
  // Replaces a range by `text`.
  void edit(Range range, const std::string& text);

  std::vector<Change> take_changes() { return std::move(changes_); }

 private:
  void add(const std::string& title, std::string about, std::vector<Edit> edits);
  std::string line_of(std::uint32_t offset) const;

  const Program& program_;
  edit::Mapping mapping_;
  std::vector<Change> changes_;
};

// A program, a machine and an application for which changes are proposed.
struct ChangeInput {
  const Program& program;
  const Machine& machine;
  const app::Data& app;
  const std::vector<TaskUses>& uses;  // by task
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
void place(const ChangeInput& subject, std::uint32_t task, ProcKind kind, Editor& editor);

// Return the candidates, the most promising first. `measured` is the name of the measured phase.
std::vector<Change> faster_changes(const ChangeInput& subject, const Profile& profile,
                                   const std::string& measured);
std::vector<Change> mending_changes(const ChangeInput& subject, const Refusal& refusal);

}  // namespace groma::inspect
