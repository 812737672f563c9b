// fit_formula: a formula that has given values, found by trying.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "groma/app.h"

namespace groma::app {

// Values of whole-number variables and what the formula is to be there.
struct Samples {
  std::vector<std::string> names;  // of the variables
  std::vector<std::int64_t> at;    // of each sample, as many as there are names
  std::vector<std::int64_t> values;

  std::size_t count() const { return values.size(); }
  std::span<const std::int64_t> point(std::size_t sample) const {
    return std::span(at).subspan(sample * names.size(), names.size());
  }
  void add(std::span<const std::int64_t> point, std::int64_t value) {
    at.insert(at.end(), point.begin(), point.end());
    values.push_back(value);
  }
};

// A formula of the names that is right at every sample: a constant, one that is linear, linear and
// wrapped round at one of the `periods`, one of the `guesses`, a variable divided and wrapped, and
// at last a choice between linear ones. Nothing where none was found that is short enough, and
// where samples contradict each other.
std::optional<Formula> fit_formula(const Samples& samples,
                                   std::span<const std::int64_t> periods = {},
                                   std::span<const Formula> guesses = {});

// Simple formulas that are right at many samples, though perhaps at none: the value that comes most
// often, and linear ones, also wrapped, which are held between the least value and the greatest.
std::vector<Formula> near_formulas(const Samples& samples,
                                   std::span<const std::int64_t> periods = {});

// At how many samples the formula is right; 0 where it has no value at one of them.
std::size_t right_at(const Formula& formula, const Samples& samples);

// A linear formula, right or not, by the first samples that differ in one variable only.
Formula linear_guess(const Samples& samples);

// Whether the formula has the values of the samples.
bool is_right(const Formula& formula, const Samples& samples);

// Its values at the samples' places, whatever theirs are; nothing where it has none at one.
std::optional<std::vector<std::int64_t>> values_of(const Formula& formula, const Samples& samples);

}  // namespace groma::app
