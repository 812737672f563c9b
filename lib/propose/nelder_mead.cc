// NelderMead: the downhill simplex technique of OpenTuner. Source:
// opentuner/search/simplextechniques.py. Where the original is a Python generator that waits for
// results, this code is a state machine (Step).
#include <algorithm>

#include "propose/techniques.h"

namespace groma::tuning {
namespace {

constexpr double kReflect = 2, kExpand = 2, kContract = 0.5, kShrink = 0.5;
// A round is one call of advance(). After kPauseRounds rounds without a new trial, the other
// techniques get a turn. After kRestartRounds rounds the simplex method begins again at random
// points.
constexpr std::size_t kPauseRounds = 50, kRestartRounds = 500;

}  // namespace

// Returns the trials of the current step of the simplex method one by one, except those with a
// known result. When all results are known, continues with the next step.
Technique::Request NelderMead::ask(EnsembleState& shared) {
  while (!done_) {
    while (handed_ < wanted_.size()) {
      const TrialRef trial = wanted_[handed_++];
      if (shared.knows(*trial)) continue;
      rounds_ = 0;
      return {Answer::kTrial, trial};
    }
    std::erase_if(wanted_, [&](const TrialRef& trial) { return shared.knows(*trial); });
    if (!wanted_.empty()) {
      handed_ = wanted_.size();
      rounds_ = 0;
      return {Answer::kWaiting};
    }
    handed_ = 0;
    if (!paused_ && ++rounds_ % kPauseRounds == 0) {
      paused_ = true;
      if (rounds_ > kRestartRounds) {
        step_ = Step::kBegin;
        rounds_ = 0;
      }
      return {};
    }
    paused_ = false;
    done_ = !advance(shared);
  }
  return {};
}

// Requests one trial, and sets the step that evaluates its result. Always returns true, for use as
// the result of advance().
bool NelderMead::request_trial(TrialRef trial, Step step) {
  wanted_.push_back(std::move(trial));
  step_ = step;
  return true;
}

// Evaluates the results of the finished step of the simplex method, and chooses the next step.
// Returns false if the method has ended.
bool NelderMead::advance(EnsembleState& shared) {
  switch (step_) {
    case Step::kBegin:
      simplex_.clear();
      for (std::size_t i = 0; i <= shared.space.numbers(); ++i) {
        simplex_.push_back(shared.random_trial());
      }
      if (simplex_.size() == 1) return false;
      wanted_ = simplex_;
      step_ = Step::kSimplex;
      return true;

    case Step::kSimplex:
      return reflect(shared);

    case Step::kReflected:
      // If the reflected point is the best one, a point further in the same direction is tried.
      if (shared.better(*reflection_, *simplex_[0])) {
        expansion_ = point(centroid_, reflection_->configuration, -kExpand, shared);
        return request_trial(expansion_, Step::kExpanded);
      }
      if (shared.better(*reflection_, *simplex_[1])) {
        simplex_.back() = reflection_;
        return reflect(shared);
      }
      // The reflected point is no better than the second best point, so the simplex contracts
      // towards its centre.
      base_ = shared.better(*simplex_.back(), *reflection_) ? simplex_.back() : reflection_;
      contraction_ = point(centroid_, base_->configuration, -kContract, shared);
      return request_trial(contraction_, Step::kContracted);

    case Step::kExpanded:
      simplex_.back() = shared.better(*expansion_, *reflection_) ? expansion_ : reflection_;
      return reflect(shared);

    case Step::kContracted:
      if (!shared.better(*base_, *contraction_)) {
        simplex_.back() = contraction_;
        return reflect(shared);
      }
      // The contracted point is worse than the point before the contraction, so all points move
      // towards the best one.
      for (std::size_t i = 1; i < simplex_.size(); ++i) {
        simplex_[i] =
            point(simplex_[0]->configuration, simplex_[i]->configuration, -kShrink, shared);
      }
      wanted_ = simplex_;
      step_ = Step::kSimplex;
      return true;
  }
  return false;
}

// Sorts the points of the simplex and reflects the worst one at the centre. Returns false if the
// simplex did not change since the last reflection, or after too many rounds without a new trial.
bool NelderMead::reflect(EnsembleState& shared) {
  if (rounds_ > 3 * simplex_.size() + 1) return false;
  const auto same = [](const TrialRef& a, const TrialRef& b) { return a->hash == b->hash; };
  if (std::equal(simplex_.begin(), simplex_.end(), last_simplex_.begin(), last_simplex_.end(),
                 same)) {
    return false;
  }
  last_simplex_ = simplex_;
  std::stable_sort(simplex_.begin(), simplex_.end(),
                   [&](const TrialRef& a, const TrialRef& b) { return shared.better(*a, *b); });
  centroid_ = centroid(shared);
  reflection_ = point(centroid_, simplex_.back()->configuration, kReflect, shared);
  return request_trial(reflection_, Step::kReflected);
}

// Returns the point from + scale * (from - other). A scale between -1 and 0 gives a point between
// the two; a scale below -1 gives a point beyond `other`.
TrialRef NelderMead::point(const Configuration& from, const Configuration& other, double scale,
                           EnsembleState& shared) const {
  Configuration made = from;
  for (std::size_t p = 0; p < shared.space.size(); ++p) {
    shared.space.set_linear(made, p, from, scale, from, other, shared.draws);
  }
  return shared.trial(std::move(made));
}

// Returns the mean of all points of the simplex, including the worst one. Parameters that are not
// numbers have the values of the best point.
Configuration NelderMead::centroid(const EnsembleState& shared) const {
  Configuration made = simplex_[0]->configuration;
  for (std::size_t p = 0; p < shared.space.size(); ++p) {
    if (!shared.space[p].is_number()) continue;
    double sum = 0;
    for (const TrialRef& trial : simplex_) sum += shared.space.unit_value(trial->configuration, p);
    shared.space.set_unit_value(made, p, sum / static_cast<double>(simplex_.size()));
  }
  return made;
}

}  // namespace groma::tuning
