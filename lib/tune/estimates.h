// The estimates of a search: results of a cheaper evaluator.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "groma/tune.h"
#include "tune/progress.h"
#include "tune/record.h"

namespace groma::tuning {

// Returns how many evaluations may run at once, with TuneOptions::threads as the limit.
int threads_of(const Evaluator& evaluator, const TuneOptions& options);

// Estimates texts within the budget. While a record is replayed, the results come from the record.
// Only one thread may use the object; the arguments must outlive it.
class Estimates {
 public:
  // `estimator` may be null: then there are no estimates.
  Estimates(Evaluator* estimator, const TuneOptions& options, Record& record, Progress& progress)
      : estimator_(estimator), options_(options), record_(record), progress_(progress) {}

  bool available() const { return estimator_ != nullptr; }
  // Begins a round. A round may use a third of the remaining time for estimates.
  void begin_round();
  // Returns the estimates of the texts, in their order; fewer when the budget or the time is used
  // up.
  std::vector<Evaluation> evaluations_of(std::span<const std::string> texts, GuideDetail detail);

 private:
  std::vector<Evaluation> estimate(std::span<const std::string> texts, GuideDetail detail);

  Evaluator* estimator_;
  const TuneOptions& options_;
  Record& record_;
  Progress& progress_;
  double until_ = 0;  // second of the search until which this round may estimate
};

}  // namespace groma::tuning
