// Checks that a task launches other tasks only on data that it holds itself.
#pragma once

#include <string>

#include "simulate/run_input.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Returns an empty string, or why a task may come to wait for another one: the task that launched
// it does not hold all data of its requirements. Such a task does not keep back other users of the
// data. The top-level task may launch on any data.
std::string why_not_held(const RunInput& input, const TaskRun& run);

}  // namespace groma::sim
