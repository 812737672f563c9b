// Checks that a task launches other tasks only on data that it holds itself.
#pragma once

#include <string>

#include "simulate/run_input.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Checks that the parent task holds all data that the requirements of the task use, that is, has
// requirements on the data itself. Returns an empty string if it does. Otherwise returns a message
// that says why the two tasks may wait for each other. The top-level task may launch on any data.
std::string why_parent_lacks_data(const RunInput& input, const TaskRun& run);

}  // namespace groma::sim
