// The Pareto front of a search with several inputs: the tried texts that no other tried text beats
// on all inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "groma/search.h"

namespace groma::tuning {

// Keeps the steps of a search that no other step dominates, within a limit. The result depends only
// on the steps and their order.
//
// Noise. A difference counts only if it is larger than the noise of the measurements, as in
// History::is_better(). Evaluation::noise is the noise of the score. The noise of one input is at
// most inputs times as much, because the score is the geometric mean. So evaluation a is better
// than b on an input if it is better by more than inputs * a.noise, and better in the score if
// History::is_better() accepts it after b.
//
// * A step dominates another step if it is at least as good on every input, and better on an input
//   or in the score.
// * A new step joins the front if it is better than each step of the front, on an input or in the
//   score. Then the steps that it dominates leave. So of two texts with equal values, or with a
//   difference within the noise, the front keeps the first.
// * The best step of the search always joins, because History has accepted it.
//
// Invariant while the front is below its limit: for each step that is not in the front, the front
// has a step than which it is not better by more than its own noise, on no input and not in the
// score.
class ParetoFront {
 public:
  // The limit on the steps of a front. If a step would exceed it, the step with the worst score is
  // dropped, but never the best step of the search. The best step for an input stays too, as long
  // as there is another step to drop.
  static constexpr std::size_t kMaxSteps = 32;

  // `inputs` is the number of values that an evaluation must have.
  explicit ParetoFront(std::size_t inputs, bool higher_is_better = false)
      : inputs_(inputs), higher_is_better_(higher_is_better) {}

  // Returns true if `a` is better than `b` on an input or in the score, by more than its noise.
  bool is_better_somewhere(const Evaluation& a, const Evaluation& b) const;
  // Returns true if `a` dominates `b`.
  bool dominates(const Evaluation& a, const Evaluation& b) const;

  // Offers a step. Returns true if the front has it afterwards. `is_best` says that it is the best
  // step of the search so far. Ignores a step that failed, that has another number of values, or a
  // value or score that is not finite and above 0. Also ignores a text that is in the front
  // already, unless it is the best. A step with the number of an earlier one replaces it.
  bool add(Step step, bool is_best);

  // Returns the steps of the front, without their feedback. They are ordered by the value of the
  // first input, the best first; steps with equal values are ordered by number.
  const std::vector<Step>& steps() const { return steps_; }

 private:
  bool is_valid(const Evaluation& evaluation) const;
  // Returns true if the value `a` is better than `b` by more than the relative noise.
  bool is_better(double a, double b, double noise = 0) const;
  void drop_one();

  std::size_t inputs_;
  bool higher_is_better_;
  std::vector<Step> steps_;
  // The number of the best step of the search; 0 if there is none.
  std::int64_t best_ = 0;
};

}  // namespace groma::tuning
