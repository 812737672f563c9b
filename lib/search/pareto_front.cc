// ParetoFront: keeps the steps of a search that no other step beats on all inputs.
#include "groma/pareto_front.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace groma::tuning {

bool ParetoFront::is_better(double a, double b, double noise) const {
  return higher_is_better_ ? b < a * (1 - noise) : a < b * (1 - noise);
}

// A value of 0 or less has no geometric mean, so no valid score can come from it.
bool ParetoFront::is_valid(const Evaluation& evaluation) const {
  const auto usable = [](double value) { return std::isfinite(value) && value > 0; };
  return evaluation.ok() && evaluation.values.size() == inputs_ && usable(evaluation.score) &&
         std::isfinite(evaluation.noise) && evaluation.noise >= 0 &&
         std::all_of(evaluation.values.begin(), evaluation.values.end(), usable);
}

// The score is smaller for a better text, also if higher values are better.
bool ParetoFront::is_better_somewhere(const Evaluation& a, const Evaluation& b) const {
  if (!is_valid(a) || !is_valid(b)) return false;
  if (a.score < b.score * (1 - a.noise)) return true;
  const double noise = static_cast<double>(inputs_) * a.noise;
  for (std::size_t i = 0; i < inputs_; ++i) {
    if (is_better(a.values[i], b.values[i], noise)) return true;
  }
  return false;
}

bool ParetoFront::dominates(const Evaluation& a, const Evaluation& b) const {
  if (!is_better_somewhere(a, b)) return false;
  for (std::size_t i = 0; i < inputs_; ++i) {
    if (is_better(b.values[i], a.values[i])) return false;
  }
  return true;
}

// A front that is full needs to drop a step only after the step has joined, because the step may
// make others leave.
bool ParetoFront::add(Step step, bool is_best) {
  if (!is_valid(step.evaluation)) return false;
  const std::int64_t number = step.number;
  const auto replaced = [&](const Step& each) {
    return each.number == number || (is_best && each.proposal.text == step.proposal.text);
  };
  const auto bars = [&](const Step& each) {
    return each.proposal.text == step.proposal.text ||
           !is_better_somewhere(step.evaluation, each.evaluation);
  };
  std::erase_if(steps_, replaced);
  if (!is_best && std::any_of(steps_.begin(), steps_.end(), bars)) return false;
  if (is_best) best_ = number;
  std::erase_if(steps_,
                [&](const Step& each) { return dominates(step.evaluation, each.evaluation); });
  step.evaluation.feedback = {};
  const auto before = [this](const Step& a, const Step& b) {
    const double x = a.evaluation.values.front(), y = b.evaluation.values.front();
    return x == y ? a.number < b.number : is_better(x, y);
  };
  steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step, before), std::move(step));
  if (steps_.size() > kMaxSteps) drop_one();
  return std::any_of(steps_.begin(), steps_.end(),
                     [number](const Step& each) { return each.number == number; });
}

// Drops the step with the worst score. The best step of the search stays. The best step for an
// input stays too, unless there are so many inputs that no other step is left. Among steps with
// equal scores, the last one of the order goes.
void ParetoFront::drop_one() {
  std::vector<bool> is_best_for_input(steps_.size());
  for (std::size_t i = 0; i < inputs_; ++i) {
    const auto best =
        std::min_element(steps_.begin(), steps_.end(), [this, i](const Step& a, const Step& b) {
          return is_better(a.evaluation.values[i], b.evaluation.values[i]);
        });
    is_best_for_input[static_cast<std::size_t>(best - steps_.begin())] = true;
  }
  for (const bool spares_inputs : {true, false}) {
    auto worst = steps_.end();
    for (auto each = steps_.begin(); each != steps_.end(); ++each) {
      if (each->number == best_) continue;
      if (spares_inputs && is_best_for_input[static_cast<std::size_t>(each - steps_.begin())]) {
        continue;
      }
      if (worst == steps_.end() || each->evaluation.score >= worst->evaluation.score) worst = each;
    }
    if (worst == steps_.end()) continue;
    steps_.erase(worst);
    return;
  }
}

}  // namespace groma::tuning
