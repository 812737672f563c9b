// Estimates: evaluates texts with a cheaper evaluator, or takes the results from the record of a
// resumed search.
#include "tune/estimates.h"

#include <algorithm>
#include <atomic>

#include "base/names.h"
#include "search/recent.h"
#include "tune/parallel.h"

namespace groma::tuning {

// The share of the remaining time that the estimates of one round may take.
constexpr double kTimeToEstimate = 1.0 / 3;

// The evaluator says how many evaluations do not disturb each other. TuneOptions::threads may lower
// that number but not raise it.
int evaluation_thread_count(const Evaluator& evaluator, const TuneOptions& options) {
  const int most = evaluator.parallel();
  return options.threads > 0 ? std::min(options.threads, most) : most;
}

// Without a time limit of the search, `until_` has no meaning and is not read.
void Estimates::begin_round() {
  const double now = progress_.seconds();
  until_ = now + kTimeToEstimate * (options_.budget.seconds - now);
}

std::int64_t Estimates::left() const {
  if (estimator_ == nullptr) return 0;
  if (options_.budget.estimates == 0) return SearchRound::kUnlimitedProposals;
  return std::max<std::int64_t>(options_.budget.estimates - progress_.spent.estimates, 0);
}

// Takes the results from the record while the record is replayed. Otherwise evaluates the texts and
// writes the results to the record, with a hash of the texts. A resumed search then notices if it
// would estimate other texts.
std::vector<Evaluation> Estimates::estimates_of(std::span<const std::string> texts,
                                                GuideDetail detail) {
  if (estimator_ == nullptr || record_.first_error()) return {};
  const std::size_t count = std::min(texts.size(), static_cast<std::size_t>(left()));
  if (count == 0) return {};
  std::uint64_t hash = 0;
  for (const std::string& text : texts) hash = mix_bits(hash ^ hash_of(text)) + 1;
  const bool recorded = record_.replaying();
  // The budget is charged before the work, so that the progress events show the number of
  // estimates. Estimates that were not made are returned to the budget below.
  progress_.spent.estimates += static_cast<std::int64_t>(count);
  std::vector<Evaluation> all =
      recorded ? record_.estimates(count, hash) : estimate(texts.first(count), detail);
  progress_.spent.estimates -= static_cast<std::int64_t>(count - all.size());
  // After a stop the results may be incomplete, so they are not recorded.
  if (!recorded && !progress_.should_stop()) record_.write_estimates(all, count, hash);
  return all;
}

// Estimates the texts concurrently. If time runs out before some estimate is started, returns only
// the results in front of the first one that was not started. The list has no gaps then.
std::vector<Evaluation> Estimates::estimate(std::span<const std::string> texts,
                                            GuideDetail detail) {
  progress_.begin_work();
  progress_.worked = true;
  progress_.report_event(TuneEvent::Kind::kEstimating, [&](TuneEvent* event) {
    event->most_estimates = options_.budget.estimates;
  });
  std::vector<Evaluation> all(texts.size());
  // The index of the first text whose estimate was not started, because time ran out.
  std::atomic<std::size_t> late = texts.size();
  in_parallel(texts.size(), evaluation_thread_count(*estimator_, options_), [&](std::size_t i) {
    if (progress_.should_stop()) return;
    if (options_.budget.seconds > 0 && progress_.seconds() >= until_) {
      // Atomic minimum: another thread may have stored a smaller index meanwhile.
      for (std::size_t first = late; i < first && !late.compare_exchange_weak(first, i);) {
      }
      return;
    }
    EvaluationRequest request{texts[i], detail};
    request.stop = [this] { return progress_.should_stop(); };
    all[i] = estimator_->evaluate(request);
    drop_unrecorded_feedback(&all[i]);
  });
  all.resize(late);
  return all;
}

}  // namespace groma::tuning
