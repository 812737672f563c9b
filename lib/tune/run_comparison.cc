// Statistics of measured runs: the quotient of two texts and its noise.
#include "tune/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/median.h"
#include "groma/evaluators.h"

namespace groma::tuning {

// Leaves out a quarter of the runs at each end only if there are enough runs, so that one disturbed
// run does not count.
std::pair<double, double> interval_of(std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  const std::size_t left_out = runs.size() < kManyRuns ? 0 : runs.size() / 4;
  return {runs[left_out], runs[runs.size() - 1 - left_out]};
}

double half_width(const std::pair<double, double>& interval, const std::vector<double>& runs) {
  return (interval.second - interval.first) / 2 / median(runs);
}

namespace {

// Returns the logarithms of the quotients of all pairs of runs, in ascending order.
std::vector<double> logarithms(const RunComparison& runs) {
  std::vector<double> all;
  for (const double value : runs.text) {
    for (const double other : runs.incumbent) all.push_back(std::log(value / other));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

double RunComparison::text_to_incumbent_ratio() const {
  return std::exp(median(logarithms(*this)));
}

// If there is no incumbent, the noise is half the width of the interval of the text's own runs.
double RunComparison::noise() const {
  if (incumbent.empty()) return half_width(interval_of(text), text);
  // For each run of the text: its value divided by the geometric mean of the values of the two
  // incumbent runs before and after it.
  std::vector<double> beside;
  for (std::size_t i = 0; i < text.size(); ++i) {
    beside.push_back(text[i] / std::sqrt(incumbent[i] * incumbent[i + 1]));
  }
  const auto [least, most] = std::minmax_element(beside.begin(), beside.end());
  const double half = half_width({*least, *most}, beside);
  if (text.size() < kManyRuns) return half;
  const std::vector<double> all = logarithms(*this);
  // The upper bound of the quotient has a seventh of all pairs above it. With seven runs of the
  // text and eight of the incumbent, chance exceeds this bound once in a hundred times.
  const double upper = all[all.size() - 1 - all.size() / 7];
  return std::min(half, 1 - std::exp(median(all) - upper));
}

}  // namespace groma::tuning
