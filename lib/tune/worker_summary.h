// add_measurement(): the summary of the workers of a search, for its report.
#pragma once

#include <algorithm>
#include <vector>

#include "groma/tune.h"

namespace groma::tuning {

// Adds an evaluation to the summary of its worker. A new worker is appended. Does nothing if the
// evaluation was not measured, or if there are too many workers.
inline void add_measurement(const Evaluation& evaluation,
                            std::vector<TuneOutcome::Worker>* workers) {
  if (!evaluation.measured) return;
  const Evaluation::Measurement& measured = *evaluation.measured;
  auto known = std::find_if(
      workers->begin(), workers->end(),
      [&](const TuneOutcome::Worker& worker) { return worker.name == measured.worker; });
  if (known == workers->end()) {
    if (workers->size() == TuneOutcome::kMaxWorkers) return;
    workers->push_back({measured.worker, 0, 1, measured.drift, measured.drift});
    known = workers->end() - 1;
  }
  ++known->evaluations;
  known->drift = measured.drift;
  known->least_drift = std::min(known->least_drift, measured.drift);
  known->greatest_drift = std::max(known->greatest_drift, measured.drift);
}

}  // namespace groma::tuning
