// RunCounts: what a run has counted so far, apart from the counts in its result.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::sim {

struct RunCounts {
  // The number of launch statements that were executed.
  std::uint32_t launches = 0;
  // The number of tasks that were launched.
  std::int64_t launched = 0;
  // The number of statements that were executed.
  std::uint64_t statements = 0;
  // For each phase of the application: the total time that was spent in it, in picoseconds.
  std::vector<RunTime> phase_time;
};

}  // namespace groma::sim
