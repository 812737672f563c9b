// Suggests changes of a mapping after a run. Each change is simulated before it is suggested. Also
// corrects mistakes that have exactly one possible correction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/guide.h"
#include "groma/profile.h"
#include "groma/simulate.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace groma {

// Applies all certain fixes (Fix::sure) and returns the text. Repeats this until no certain fix is
// left, since one fix may uncover another mistake. Sets *made to the number of fixes.
Source apply_certain_fixes(const Source& source, std::size_t* made);

// A run and its results. The objects that the pointers point at must outlive the call of
// guide_run().
struct GuidedRun {
  const Workload* workload = nullptr;
  std::shared_ptr<const Machine> machine;
  // The mapping of the run. Null if the default mapper mapped the run, or if the program cannot be
  // bound.
  const BoundProgram* bound = nullptr;
  // The options with which the run was simulated.
  SimulateOptions options;
  // The diagnostics of the program's source. Fixes refer to this source.
  const Diagnostics* diags = nullptr;
  // The result of the run. Null if the program of `diags` has errors or cannot be bound to a
  // machine, so that nothing was run.
  const RunResult* result = nullptr;
  // The profile of the run. Null if the run failed.
  const Profile* profile = nullptr;
};
// Limits of guide_run() on the runs of changed mappings.
struct GuideLimits {
  // The limit on the number of changed mappings that are run.
  std::size_t runs = 24;
  // The limit on the point tasks of all these runs together. This many point tasks take about half
  // a second.
  std::int64_t tasks = 1 << 17;
  // If `tasks` does not allow `runs` whole runs, loops are cut short
  // (SimulateOptions::max_iterations). Then this many of the best changes are also run whole, in
  // addition.
  std::size_t whole_runs = 2;
};

// Explains the run and names the statement to change (AutoGuide). Changes of the mapping are tried
// in the embedded runtime. Only changes that make the run faster, or possible, are suggested. Each
// comes with a fix of `diags->source()` and with the run time that it gave. If the limits leave
// nothing to try, the advice is the guide's own, in words without a fix. `rules`: null means the
// rules that come with Groma; loading them delays the answer for a failed run by 25 ms.
GuideFeedback guide_run(const GuidedRun& run, const GuideLimits& limits = {},
                        const GuideRules* rules = nullptr);

}  // namespace groma
