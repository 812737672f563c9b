// NelderMead: the downhill simplex technique of OpenTuner. Source:
// opentuner/search/simplextechniques.py. Where the original is a Python generator that waits for
// results, this code is a state machine (SimplexStep).
#include <algorithm>

#include "propose/techniques.h"

namespace groma::tuning {
namespace {

constexpr double kReflect = 2, kExpand = 2, kContract = 0.5, kShrink = 0.5;
// A round is one call of choose_next_trials(). After kPauseRounds rounds without a new trial, the
// other techniques get a turn. After kRestartRounds rounds the simplex method begins again at
// random points.
constexpr std::size_t kPauseRounds = 50, kRestartRounds = 500;

}  // namespace

// Returns the trials of the current step of the simplex method one by one, except those with a
// known result. When all results are known, continues with the next step.
Technique::Request NelderMead::next_trial(EnsembleState& shared) {
  while (!done_) {
    while (returned_count_ < wanted_.size()) {
      const TrialRef trial = wanted_[returned_count_++];
      if (shared.look_up_result(*trial)) continue;
      rounds_ = 0;
      return {RequestStatus::kTrial, trial};
    }
    std::erase_if(wanted_, [&](const TrialRef& trial) { return shared.look_up_result(*trial); });
    if (!wanted_.empty()) {
      returned_count_ = wanted_.size();
      rounds_ = 0;
      return {RequestStatus::kWaiting};
    }
    returned_count_ = 0;
    if (!paused_ && ++rounds_ % kPauseRounds == 0) {
      paused_ = true;
      if (rounds_ > kRestartRounds) {
        step_ = SimplexStep::kBegin;
        rounds_ = 0;
      }
      return {};
    }
    paused_ = false;
    done_ = !choose_next_trials(shared);
  }
  return {};
}

// Requests one trial, and sets the step that evaluates its result. Always returns true, for use as
// the result of choose_next_trials().
bool NelderMead::request_trial(TrialRef trial, SimplexStep step) {
  wanted_.push_back(std::move(trial));
  step_ = step;
  return true;
}

// Evaluates the results of the finished step of the simplex method, and chooses the next step.
// Returns false if the method has ended.
bool NelderMead::choose_next_trials(EnsembleState& shared) {
  switch (step_) {
    case SimplexStep::kBegin:
      simplex_.clear();
      for (std::size_t i = 0; i <= shared.space.number_count(); ++i) {
        simplex_.push_back(shared.random_trial());
      }
      if (simplex_.size() == 1) return false;
      wanted_ = simplex_;
      step_ = SimplexStep::kSimplex;
      return true;

    case SimplexStep::kSimplex:
      return reflect_worst_point(shared);

    case SimplexStep::kReflected:
      // If the reflected point is the best one, a point further in the same direction is tried.
      if (shared.scores_better(*reflection_, *simplex_[0])) {
        expansion_ = extrapolated_point(centroid_, reflection_->configuration, -kExpand, shared);
        return request_trial(expansion_, SimplexStep::kExpanded);
      }
      if (shared.scores_better(*reflection_, *simplex_[1])) {
        simplex_.back() = reflection_;
        return reflect_worst_point(shared);
      }
      // The reflected point is no better than the second best point, so the simplex contracts
      // towards its centre.
      base_ = shared.scores_better(*simplex_.back(), *reflection_) ? simplex_.back() : reflection_;
      contraction_ = extrapolated_point(centroid_, base_->configuration, -kContract, shared);
      return request_trial(contraction_, SimplexStep::kContracted);

    case SimplexStep::kExpanded:
      simplex_.back() = shared.scores_better(*expansion_, *reflection_) ? expansion_ : reflection_;
      return reflect_worst_point(shared);

    case SimplexStep::kContracted:
      if (!shared.scores_better(*base_, *contraction_)) {
        simplex_.back() = contraction_;
        return reflect_worst_point(shared);
      }
      // The contracted point is worse than the point before the contraction, so all points move
      // towards the best one.
      for (std::size_t i = 1; i < simplex_.size(); ++i) {
        simplex_[i] = extrapolated_point(simplex_[0]->configuration, simplex_[i]->configuration,
                                         -kShrink, shared);
      }
      wanted_ = simplex_;
      step_ = SimplexStep::kSimplex;
      return true;
  }
  return false;
}

// Sorts the points of the simplex and reflects the worst one at the centre. Returns false if the
// simplex did not change since the last reflection, or after too many rounds without a new trial.
bool NelderMead::reflect_worst_point(EnsembleState& shared) {
  if (rounds_ > 3 * simplex_.size() + 1) return false;
  const auto same = [](const TrialRef& a, const TrialRef& b) { return a->hash == b->hash; };
  if (std::equal(simplex_.begin(), simplex_.end(), last_simplex_.begin(), last_simplex_.end(),
                 same)) {
    return false;
  }
  last_simplex_ = simplex_;
  std::stable_sort(simplex_.begin(), simplex_.end(), [&](const TrialRef& a, const TrialRef& b) {
    return shared.scores_better(*a, *b);
  });
  centroid_ = centroid(shared);
  reflection_ = extrapolated_point(centroid_, simplex_.back()->configuration, kReflect, shared);
  return request_trial(reflection_, SimplexStep::kReflected);
}

// Returns the point from + scale * (from - other). A scale between -1 and 0 gives a point between
// the two; a scale below -1 gives a point beyond `other`.
TrialRef NelderMead::extrapolated_point(const Configuration& from, const Configuration& other,
                                        double scale, EnsembleState& shared) const {
  Configuration made = from;
  for (std::size_t p = 0; p < shared.space.size(); ++p) {
    shared.space.set_linear_combination(made, p, from, scale, from, other, shared.draws);
  }
  return shared.make_trial(std::move(made));
}

// Returns the mean of all points of the simplex, including the worst one. Parameters that are not
// numbers have the values of the best point.
Configuration NelderMead::centroid(const EnsembleState& shared) const {
  Configuration made = simplex_[0]->configuration;
  for (std::size_t p = 0; p < shared.space.size(); ++p) {
    if (!shared.space[p].is_number()) continue;
    double sum = 0;
    for (const TrialRef& trial : simplex_)
      sum += shared.space.normalized_value(trial->configuration, p);
    shared.space.set_normalized_value(made, p, sum / static_cast<double>(simplex_.size()));
  }
  return made;
}

}  // namespace groma::tuning
