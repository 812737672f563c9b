// run: runs an application under a mapping in the embedded runtime, and reports the result at the
// places of the program.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/fit.h"
#include "groma/guide.h"
#include "groma/log.h"
#include "groma/profile.h"
#include "groma/profile_page.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {

// Runs the workload on the machine of the binding, mapped by the program. If it cannot run, `diags`
// (of the program's source) gets the reason at the statement that caused it. `log` (may be null) is
// told what ProgramMapper::share says.
RunResult run(const BoundProgram& bound, const Workload& workload, const SimulateOptions& options,
              Diagnostics& diags, LogSink* log = nullptr);
// Runs the workload as run() does, but under DefaultMapper. `diags` does not belong to a particular
// text.
RunResult run_default(std::shared_ptr<const Machine> machine, const Workload& workload,
                      const SimulateOptions& options, Diagnostics& diags);

// Returns the words for a profile of the run: its title, and the text and place of each statement.
// `program` must outlive the result; null: the default mapper's run.
ProfileWords profile_words_of(const Workload& workload, const Machine& machine,
                              const Program* program);

// Returns what the page of a run that came to its end says beside the profile. `program` is null
// for the default mapper's run.
RunSummary summary_of(const RunResult& result, const Workload& workload, const Machine& machine,
                      const Program* program, const GuideFeedback& feedback);

// Returns the value of GuideContext::lacking for a known machine.
std::vector<std::string> missing_machine_kinds(const Machine& machine);

// Returns one line of JSON (docs/commands.md). It is
// {"status": "ok", "seconds": ..., "throughput": ..., "unit": ..., "runtime": "simulator", ...} or
// {"status": "error", "stage": "map" | "execute", "raw": ..., "diagnostics": [...]}.
// Arguments that are not null add "explain", "suggest", "fixes", "profile" and "fit".
std::string to_json(const RunResult& result, const GuideFeedback* feedback, const Profile* profile,
                    const Fit* fit, const Diagnostics& diags, const ProfileWords& words);
// Returns one line of JSON for a program that cannot be bound: {"status": "error", "stage":
// "check", "raw": the first error, "diagnostics": [...]}
std::string check_failed_json(const Diagnostics& diags, const GuideFeedback* feedback = nullptr);
// Returns text for a person: the time, then the profile if it is not null. Ends with a line end.
// Empty if the run failed, since the diagnostics then say everything.
std::string draw(const RunResult& result, const Profile* profile, const ProfileWords& words,
                 bool color = false);

}  // namespace groma
