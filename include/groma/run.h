// run: an application under a mapping in the embedded runtime, and what came of it, located in the
// program.
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

// GuideContext::lacking of a machine that is known.
std::vector<std::string> lacking_kinds(const Machine& machine);

// A run and what came of it. What is pointed at outlives guide_run().
struct GuidedRun {
  const Workload* workload = nullptr;
  std::shared_ptr<const Machine> machine;
  const BoundProgram* bound = nullptr;  // null: the default mapper's, or it cannot be bound
  SimulateOptions options;              // of the run
  const Diagnostics* diags = nullptr;   // of the program's source, or of no particular text
  const RunResult* result = nullptr;    // null: the program of `diags` cannot be bound
  const Profile* profile = nullptr;     // of a run that succeeded
};
// What guide_run() spends on runs of changed mappings.
struct GuideLimits {
  std::size_t runs = 24;
  std::int64_t tasks = 1 << 17;  // point tasks, all runs together: some half a second
  // Where that is too little for as many whole runs, loops are cut short
  // (SimulateOptions::max_iterations), and so many of the best changes then run whole, beside.
  std::size_t whole_runs = 2;
};

// What the run means and which statement to change (AutoGuide). Changes of the mapping are tried in
// the embedded runtime, and those alone are suggested that make the run faster, or possible; each
// with a fix, of `diags->source()`, and how fast the run then was. Where the limits leave nothing
// to try, advice is the guide's own, in words without a fix. `rules`: null takes those that come
// with Groma, which a run that failed then waits for (25 ms).
Feedback guide_run(const GuidedRun& run, const GuideLimits& limits = {},
                   const GuideRules* rules = nullptr);

// {"status": "ok", "seconds": ..., "throughput": ..., "unit": ..., "runtime": "simulator", ...} or
// {"status": "error", "stage": "map" | "execute", "raw": ..., "diagnostics": [...]}
// (docs/commands.md), with "explain", "suggest", "fixes", "profile" and "fit" where they are not
// null. One line.
std::string to_json(const RunResult& result, const Feedback* feedback, const Profile* profile,
                    const Fit* fit, const Diagnostics& diags, const ProfileWords& words);
// Of a program that cannot be bound: {"status": "error", "stage": "check", "raw": the first error,
// "diagnostics": [...]}, likewise.
std::string check_failed_json(const Diagnostics& diags, const Feedback* feedback = nullptr);
// For a person: the time, then the profile where it is not null. Ends with a line end; empty when
// the run failed, since its diagnostics then say all.
std::string draw(const RunResult& result, const Profile* profile, const ProfileWords& words,
                 bool color = false);

}  // namespace groma
