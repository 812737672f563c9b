// Draws random values for the parameters of OpenTuner's search techniques, and changes values a
// little.
#include "propose/parameters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "base/names.h"

namespace groma::tuning {
namespace {

// The standard deviation of the Gaussian noise that mutate_slightly() adds, as a share of the
// number's range.
constexpr double kSigma = 0.1;
// The probability that mutate_slightly() swaps two neighbouring items of a permutation.
constexpr double kSwap = 0.25;
// The length by which the range of an integer is extended at both ends, because values are rounded.
constexpr double kRounding = 0.4999;

// Returns a normally distributed number with mean 0 and standard deviation 1 (Box and Muller).
double normal(RandomNumbers& draws) {
  const double radius = std::sqrt(-2 * std::log(1 - draws.next_fraction()));
  return radius * std::cos(2 * std::numbers::pi * draws.next_fraction());
}

}  // namespace

std::uint64_t hash_of(const Configuration& configuration) {
  std::uint64_t hash = configuration.size();
  for (double value : configuration)
    hash = mix_bits(hash ^ std::bit_cast<std::uint64_t>(value)) + 1;
  return hash;
}

// Computes the index at which the values of each parameter begin. A permutation has one value for
// each item; every other parameter has one value.
ParameterSpace::ParameterSpace(std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)), places_(1, 0) {
  for (const Parameter& parameter : parameters_) {
    const bool long_one = parameter.kind == Parameter::Kind::kPermutation;
    places_.push_back(places_.back() + (long_one ? parameter.count : 1));
  }
}

std::size_t ParameterSpace::number_count() const {
  return static_cast<std::size_t>(std::count_if(parameters_.begin(), parameters_.end(),
                                                [](const auto& p) { return p.is_number(); }));
}

// Fills each permutation in ascending order before it is shuffled.
Configuration ParameterSpace::random_configuration(RandomNumbers& draws) const {
  Configuration configuration(places_.back());
  for (std::size_t p = 0; p < size(); ++p) {
    if (parameters_[p].kind == Parameter::Kind::kPermutation) {
      const auto begin = configuration.begin() + static_cast<std::ptrdiff_t>(places_[p]);
      std::iota(begin, begin + parameters_[p].count, 0);
    }
    randomize_parameter(configuration, p, draws);
  }
  return configuration;
}

// Every possible value of the parameter is equally likely.
void ParameterSpace::randomize_parameter(Configuration& configuration, std::size_t p,
                                         RandomNumbers& draws) const {
  const Parameter& parameter = parameters_[p];
  double* const value = &configuration[places_[p]];
  switch (parameter.kind) {
    case Parameter::Kind::kInteger:
      *value = std::min(parameter.least + std::floor(draws.next_fraction() *
                                                     (parameter.most - parameter.least + 1)),
                        parameter.most);
      return;
    case Parameter::Kind::kFloat:
      *value = parameter.least + draws.next_fraction() * (parameter.most - parameter.least);
      return;
    case Parameter::Kind::kEnum:
      *value = draws.below(parameter.count);
      return;
    case Parameter::Kind::kBoolean:
      *value = draws.below(2);
      return;
    case Parameter::Kind::kPermutation: {
      std::span<double> items(value, parameter.count);
      draws.shuffle(items);
      return;
    }
  }
}

// If the noise moves a number out of its range, the number is reflected at that end of the range.
void ParameterSpace::mutate_slightly(Configuration& configuration, std::size_t p,
                                     RandomNumbers& draws) const {
  const Parameter& parameter = parameters_[p];
  if (parameter.is_number()) {
    double unit = std::abs(normalized_value(configuration, p) + kSigma * normal(draws));
    if (unit > 1) unit = 1 - std::fmod(unit, 1);
    set_normalized_value(configuration, p, unit);
    return;
  }
  double* const value = &configuration[places_[p]];
  if (parameter.kind == Parameter::Kind::kBoolean) {
    *value = 1 - *value;
  } else if (parameter.kind == Parameter::Kind::kPermutation && draws.below(2) == 1) {
    for (std::uint32_t i = 1; i < parameter.count; ++i) {
      if (draws.chance(kSwap)) std::swap(value[i - 1], value[i]);
    }
  } else {
    randomize_parameter(configuration, p, draws);
  }
}

// Scales all numbers to 0 to 1 over their ranges, so that `scale` means the same for each number.
void ParameterSpace::set_linear_combination(Configuration& configuration, std::size_t p,
                                            const Configuration& a, double scale,
                                            const Configuration& b, const Configuration& c,
                                            RandomNumbers& draws) const {
  if (parameters_[p].is_number()) {
    set_normalized_value(
        configuration, p,
        normalized_value(a, p) + scale * (normalized_value(b, p) - normalized_value(c, p)));
    return;
  }
  const auto at = static_cast<std::ptrdiff_t>(places_[p]);
  const auto end = static_cast<std::ptrdiff_t>(places_[p + 1]);
  std::copy(a.begin() + at, a.begin() + end, configuration.begin() + at);
  if (!has_same_value(p, b, c)) randomize_parameter(configuration, p, draws);
}

ParameterSpace::ValueRange ParameterSpace::widened_range(std::size_t p) const {
  const Parameter& parameter = parameters_[p];
  const double beyond = parameter.kind == Parameter::Kind::kInteger ? kRounding : 0;
  return {parameter.least - beyond, parameter.most + beyond};
}

// Returns 0 if the range of the number has no length.
double ParameterSpace::normalized_value(const Configuration& configuration, std::size_t p) const {
  const ValueRange within = widened_range(p);
  if (within.least >= within.most) return 0;
  return (configuration[places_[p]] - within.least) / (within.most - within.least);
}

// Limits `unit` to 0 to 1, and rounds the new value of an integer.
void ParameterSpace::set_normalized_value(Configuration& configuration, std::size_t p,
                                          double unit) const {
  const ValueRange within = widened_range(p);
  double value = within.least + std::clamp(unit, 0.0, 1.0) * (within.most - within.least);
  if (parameters_[p].kind == Parameter::Kind::kInteger) value = std::nearbyint(value);
  configuration[places_[p]] = std::clamp(value, parameters_[p].least, parameters_[p].most);
}

// Returns true if the configurations a and b have the same value of parameter `p`.
bool ParameterSpace::has_same_value(std::size_t p, const Configuration& a,
                                    const Configuration& b) const {
  const auto at = static_cast<std::ptrdiff_t>(places_[p]);
  const auto end = static_cast<std::ptrdiff_t>(places_[p + 1]);
  return std::equal(a.begin() + at, a.begin() + end, b.begin() + at);
}

}  // namespace groma::tuning
