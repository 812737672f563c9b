// Candidate changes of a mapping program. Each change edits a few statements. faster_changes()
// returns changes that may make a run faster, and repairing_changes() returns changes that may make
// a failing run possible. Only a run can tell whether a candidate helps (guide_run.cc).
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

// A candidate change of a mapping program.
struct ProposedChange {
  // The key of the mapping decision that changes. Only one of several changes with the same key is
  // suggested.
  std::string decision_key;
  // The edits of the program. The title of the fix describes the change.
  Fix fix;
  // If the title of the fix is "add X", this is X. Otherwise it is empty.
  std::string added = {};
};

// Collects candidate changes of a mapping program. A statement with a comment inside is not
// changed.
class ProgramEditor {
 public:
  explicit ProgramEditor(const Program& program) : program_(program), mapping_(program.source()) {}

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
  std::string line_of(std::uint32_t offset) const;

  const Program& program_;
  edit::EditableMapping mapping_;
  std::vector<ProposedChange> changes_;
};

// The input of the functions that propose changes: a mapping program, a machine and an application.
struct ChangeInput {
  const Program& program;
  const Machine& machine;
  const app::Data& app;
  // The launches of each task, by the index of the task in the application.
  const std::vector<TaskLaunches>& uses;
};
// Returns the processor kinds on which the task can run on this machine, in the default mapper's
// order of preference.
std::vector<ProcKind> possible_processor_kinds(const ChangeInput& subject, const app::Task& task);
// Returns the processor kind that the mapping chooses for the task, or nullopt if none is possible.
std::optional<ProcKind> chosen_processor_kind(const ChangeInput& subject, const app::Task& task);
// Returns the memory kinds that a processor of this kind on node 0 can address.
std::vector<MemKind> addressable_memory_kinds(const Machine& machine, ProcKind kind);
// Adds candidate changes that give the task's launches another mapping function, by IndexTaskMap or
// SingleTaskMap statements.
void add_function_changes(const ChangeInput& subject, std::uint32_t task, ProcKind kind,
                          ProgramEditor& editor);

// faster_changes() returns changes that may make a run faster, and repairing_changes() returns
// changes that may make a refused run possible, the most promising ones first. `measured` is the
// name of the measured phase of the run.
std::vector<ProposedChange> faster_changes(const ChangeInput& subject, const Profile& profile,
                                           const std::string& measured);
std::vector<ProposedChange> repairing_changes(const ChangeInput& subject, const Refusal& refusal);

}  // namespace groma::inspect
