// fit: the largest problem that the machine's memories hold under a mapping.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {

// Runs a workload under the mapping in question: simulate() with one mapper factory.
using RunWorkload = std::function<RunResult(const Workload&)>;

struct Fit {
  // A size that was run.
  struct Tried {
    std::vector<AppValue> values;  // of the parameters that grow
    RunResult result;
  };
  std::optional<Tried> fits;  // the largest that does; none: not even the smallest
  // One larger (of the first parameter), which does not. none: the parameters' ranges end first.
  std::optional<Tried> beyond;
  // Why it is not larger where that is no matter of memory: a bound of the application's or of the
  // runtime's.
  std::string other_bound;
  bool stopped = false;  // a run was (RunStatus::kStopped), so the answer is only so far
};

// Which parameters fit() grows when nobody says: those by which the last two sizes of the
// application differ. Fails (kUnknown) when there are none.
Result<std::vector<std::string>> growing_parameters(const Application& app);

// Grows the first of `parameters` and the others in proportion to their values, which stay in their
// ranges, until a memory is too small, and halves the interval between: some 20 to 60 runs. That
// what is smaller than `fits` also fits is taken for granted. Fails on a parameter that the
// application does not have, on values that make no workload, and when it cannot run for another
// reason than memory at the values that it has. `stop` is asked about every millisecond while a
// workload is made (null: never); once it says true the answer is only so far.
Result<Fit> fit(const Application& app, const std::vector<std::string>& parameters,
                const RunWorkload& run, const std::function<bool()>& stop = {});

// For a person; ends with a line end.
std::string draw(const Fit& fit, const Application& app);

}  // namespace groma
