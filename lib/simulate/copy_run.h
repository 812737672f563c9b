// CopyRun: one copy of data between two instances during a simulated run.
#pragma once

#include <cstdint>

#include "groma/run_record.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"

namespace groma::sim {

struct CopyRun {
  NeededCopy fetch;
  // The number of the task in the application that needs the copy. -1: none.
  std::int32_t name = -1;
  RunTime mapped = 0, ready = 0, start = 0, end = 0;
  // The numbers of two events in the record of the run: the event that the copy waited for last,
  // and the copy itself. -1: none.
  std::int64_t cause = -1, record = -1;
  LastAwaitedEvent since;
};

}  // namespace groma::sim
