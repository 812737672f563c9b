// fit_formula: finds a formula that has given values at given points, by trying candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "groma/app.h"

namespace groma::app {

// Limit on the samples from which a formula is derived. If a launch statement has more executions,
// the formula is only compared with the remaining ones.
inline constexpr std::size_t kMostSamples = std::size_t{1} << 14;

// A list of samples. Each sample is a point (the values of the variables) and the value that the
// formula should have there.
struct Samples {
  // The names of the variables that the formula may use.
  std::vector<std::string> names;
  // The values of all variables at the first sample, then at the second sample, and so on. The
  // variables are in the order of `names`.
  std::vector<std::int64_t> points;
  std::vector<std::int64_t> values;

  std::size_t count() const { return values.size(); }
  std::span<const std::int64_t> point(std::size_t sample) const {
    return std::span(points).subspan(sample * names.size(), names.size());
  }
  void add(std::span<const std::int64_t> point, std::int64_t value) {
    points.insert(points.end(), point.begin(), point.end());
    values.push_back(value);
  }
};

// Returns a formula over the names that is right at every sample. The candidates come in this
// order: a constant, a linear formula, a linear formula modulo one of the `periods`, one of the
// `guesses`, a variable that is divided and then wrapped, the larger or the smaller of two linear
// formulas, and a choice between linear formulas. Returns nullopt if no candidate is right and
// short enough, or if samples contradict each other.
std::optional<Formula> fit_formula(const Samples& samples,
                                   std::span<const std::int64_t> periods = {},
                                   std::span<const Formula> guesses = {});

// Returns simple formulas that are right at many samples, though possibly at none: the most
// frequent value, and linear formulas, also wrapped, that are clamped to the range of the values.
std::vector<Formula> approximate_formulas(const Samples& samples,
                                          std::span<const std::int64_t> periods = {});

// Returns the number of samples at which the formula is right; 0 if it has no value at one of them.
std::size_t count_matching_samples(const Formula& formula, const Samples& samples);

// Returns a linear formula whose slopes come from the first samples that differ in only one
// variable. It may be wrong at other samples.
Formula linear_guess(const Samples& samples);

// Returns true if the formula has the right value at all samples.
bool matches_all_samples(const Formula& formula, const Samples& samples);

// Returns the values of the formula at the points of the samples, or nullopt if it has no value at
// one of them.
std::optional<std::vector<std::int64_t>> values_of(const Formula& formula, const Samples& samples);

}  // namespace groma::app
