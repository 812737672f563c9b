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
#include "explain/explain_query.h"
#include "groma/advise.h"
#include "groma/machine.h"
#include "groma/profile.h"
#include "groma/program.h"
#include "groma/validate.h"
#include "guide/program_editor.h"

namespace groma::inspect {

using guide::ProgramEditor;
using guide::ProposedChange;

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

// Returns changes of the mapping program `at`, which a run refused, in the order in which they are
// worth a simulated run of `run`. Each changed mapping is rehearsed (check_run()): first come the
// changes with which the run cannot fail, then those with which the result depends on the timing or
// is unknown, last those with which the run fails for another reason. Changes with the same result
// keep their order. Changes that certainly lead to the same refusal are left out.
std::vector<ProposedChange> ordered_by_rehearsal(std::vector<ProposedChange> changes,
                                                 const Source& at, const GuidedRun& run,
                                                 const Refusal& refusal);

}  // namespace groma::inspect
