// Parameters as in OpenTuner: their kinds, a configuration of them, and the changes that the
// techniques make to a configuration. Source: opentuner/search/manipulator.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace groma::tuning {

// The kind and the range of one parameter.
struct Parameter {
  enum class Kind : std::uint8_t { kInteger, kFloat, kEnum, kBoolean, kPermutation };
  Kind kind = Kind::kEnum;
  double least = 0, most = 0;  // range of a number, inclusive
  std::uint32_t count = 0;     // number of options of an enum or of items of a permutation

  static Parameter integer(std::int64_t least, std::int64_t most) {
    return {Kind::kInteger, static_cast<double>(least), static_cast<double>(most)};
  }
  static Parameter real(double least, double most) { return {Kind::kFloat, least, most}; }
  static Parameter options(std::uint32_t count) { return {Kind::kEnum, 0, 0, count}; }
  static Parameter boolean() { return {Kind::kBoolean}; }
  static Parameter permutation(std::uint32_t items) { return {Kind::kPermutation, 0, 0, items}; }

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
};

// The values of all parameters in order. A number is its value, an enum the index of its option, a
// boolean 0 or 1, a permutation the indices of its items.
using Configuration = std::vector<double>;

std::uint64_t hash_of(const Configuration& configuration);

// A list of parameters. The index of a parameter in the list identifies it.
class ParameterSpace {
 public:
  explicit ParameterSpace(std::vector<Parameter> parameters);

  std::size_t size() const { return parameters_.size(); }
  const Parameter& operator[](std::size_t p) const { return parameters_[p]; }
  std::size_t numbers() const;  // how many parameters are numbers
  // Index in a configuration at which the values of the parameter begin.
  std::size_t place(std::size_t p) const { return places_[p]; }

  // Returns a random configuration.
  Configuration random(Draws& draws) const;
  // Sets a parameter to a random value, which may equal its old one.
  void randomize(Configuration& configuration, std::size_t p, Draws& draws) const;
  // Changes a parameter a little. A number gets Gaussian noise with a standard deviation of a tenth
  // of its range. A boolean flips. An enum gets a random value. A permutation is shuffled, or some
  // neighbours swap.
  void disturb(Configuration& configuration, std::size_t p, Draws& draws) const;
  // Sets a number to a + scale * (b - c). Any other parameter gets a's value, or a random value if
  // b and c differ.
  void set_linear(Configuration& configuration, std::size_t p, const Configuration& a, double scale,
                  const Configuration& b, const Configuration& c, Draws& draws) const;

  // Maps the value of a number to 0..1 over its range. The range of an integer is widened by almost
  // 0.5 at both ends, because values are rounded.
  double unit_value(const Configuration& configuration, std::size_t p) const;
  void set_unit_value(Configuration& configuration, std::size_t p, double unit) const;

 private:
  struct Bounds {
    double least, most;
  };
  Bounds bounds(std::size_t p) const;
  bool has_same_value(std::size_t p, const Configuration& a, const Configuration& b) const;

  std::vector<Parameter> parameters_;
  // The index in a configuration at which each parameter begins, then a configuration's size.
  std::vector<std::size_t> places_;
};

}  // namespace groma::tuning
