// CopyRun: a copy of a run.
#pragma once

#include <cstdint>

#include "groma/run_record.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"

namespace groma::sim {

struct CopyRun {
  Fetch fetch;
  std::int32_t name = -1;  // the task that needs the copy
  RunTime mapped = 0, ready = 0, start = 0;
  // The record of the event that it waited for last, and its own record. -1: none.
  std::int64_t cause = -1, record = -1;
  Since since;
};

}  // namespace groma::sim
