// docs/simulator.md once more, word by word and without any cleverness: the state of every field of
// every point by itself, events as functions in a list, nothing kept for later use. For comparing
// with simulate on runs that nobody wrote; only small ones end in reasonable time.
#pragma once

#include <memory>

#include "groma/simulate.h"

namespace groma::testing {

// As simulate. Of the options it knows costs, model and max_tasks; it always records. The record
// has no causes, statements and allocations.
RunResult simulate_obviously(const Workload& workload, std::shared_ptr<const Machine> machine,
                             const MapperFactory& make, const SimulateOptions& options = {});

}  // namespace groma::testing
