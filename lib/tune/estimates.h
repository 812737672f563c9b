// Estimates: the results of a cheaper evaluator, such as the simulator, which let a proposer choose
// among many texts before one is measured.
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
int evaluation_thread_count(const Evaluator& evaluator, const TuneOptions& options);

// Evaluates texts with the cheaper evaluator, within the budget of estimates. While a resumed
// search replays its record, the results come from the record. Only one thread may use the object;
// the arguments must outlive it.
class Estimates {
 public:
  // `estimator` may be null: then estimates_of() always returns an empty list.
  Estimates(Evaluator* estimator, const TuneOptions& options, SearchRecord& record,
            Progress& progress)
      : estimator_(estimator), options_(options), record_(record), progress_(progress) {}

  bool has_estimator() const { return estimator_ != nullptr; }
  // Returns the number of estimates that are left in the budget (SearchRound::estimates_left).
  std::int64_t left() const;
  // Begins a round of the search. The round may use a third of the remaining time for estimates.
  void begin_round();
  // Returns the estimates of the texts, in their order. Returns fewer of them when the budget of
  // estimates or the time is used up.
  std::vector<Evaluation> estimates_of(std::span<const std::string> texts, GuideDetail detail);

 private:
  std::vector<Evaluation> estimate(std::span<const std::string> texts, GuideDetail detail);

  Evaluator* estimator_;
  const TuneOptions& options_;
  SearchRecord& record_;
  Progress& progress_;
  // The time after which the round makes no further estimates, in seconds since the search began.
  double until_ = 0;
};

}  // namespace groma::tuning
