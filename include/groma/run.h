// run: an application under a mapping in the embedded runtime, and what came of it, located in the
// program.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/fit.h"
#include "groma/log.h"
#include "groma/profile.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {

// Runs the workload on the machine of the binding, mapped by the program. Why it cannot run goes to
// `diags` (of the program's source) at the statement that caused it. `log` (may be null) hears what
// ProgramMapper::share says.
RunResult run(const BoundProgram& bound, const Workload& workload, const SimulateOptions& options,
              Diagnostics& diags, LogSink* log = nullptr);
// The same under DefaultMapper. `diags` is of no particular text.
RunResult run_default(std::shared_ptr<const Machine> machine, const Workload& workload,
                      const SimulateOptions& options, Diagnostics& diags);

// What a profile of the result says of itself and of statements. `program` must outlive the answer;
// null: the default mapper's run.
ProfileWords words_of(const Workload& workload, const Machine& machine, const Program* program);

// {"status": "ok", "seconds": ..., "throughput": ..., "unit": ..., "runtime": "simulator", ...} or
// {"status": "error", "stage": "map" | "execute", "raw": ..., "diagnostics": [...]}
// (docs/commands.md), with "profile" and "fit" where they are not null. One line.
std::string to_json(const RunResult& result, const Profile* profile, const Fit* fit,
                    const Diagnostics& diags, const ProfileWords& words);
// For a person: the time, then the profile where it is not null. Ends with a line end; empty when
// the run failed, since its diagnostics then say all.
std::string draw(const RunResult& result, const Profile* profile, const ProfileWords& words,
                 bool color = false);

}  // namespace groma
