// Parameters as in OpenTuner: their kinds, their values, and the changes that the search techniques
// make to values. Source: opentuner/search/manipulator.py.
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
  // The range of a number, both ends included. Not used for other kinds of parameters.
  double least = 0, most = 0;
  // The number of options of an enum, or the number of items of a permutation.
  std::uint32_t count = 0;

  static Parameter integer(std::int64_t least, std::int64_t most) {
    return {Kind::kInteger, static_cast<double>(least), static_cast<double>(most)};
  }
  static Parameter real(double least, double most) { return {Kind::kFloat, least, most}; }
  static Parameter enumeration(std::uint32_t count) { return {Kind::kEnum, 0, 0, count}; }
  static Parameter boolean() { return {Kind::kBoolean}; }
  static Parameter permutation(std::uint32_t items) { return {Kind::kPermutation, 0, 0, items}; }

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
};

// The values of all parameters, in the order of the parameters. A number has its value, an enum the
// index of its option, a boolean 0 or 1, and a permutation the indices of its items.
using Configuration = std::vector<double>;

std::uint64_t hash_of(const Configuration& configuration);

// A list of parameters. A parameter is identified by its index in the list.
class ParameterSpace {
 public:
  explicit ParameterSpace(std::vector<Parameter> parameters);

  std::size_t size() const { return parameters_.size(); }
  const Parameter& operator[](std::size_t p) const { return parameters_[p]; }
  // Returns how many of the parameters are numbers (integers or reals).
  std::size_t number_count() const;
  // Returns the index in a configuration at which the values of the parameter begin.
  std::size_t first_value_index(std::size_t p) const { return places_[p]; }

  // Returns a random configuration.
  Configuration random_configuration(RandomNumbers& draws) const;
  // Sets a parameter to a random value, which may equal its old one.
  void randomize_parameter(Configuration& configuration, std::size_t p, RandomNumbers& draws) const;
  // Changes a parameter a little. A number gets Gaussian noise with a standard deviation of a tenth
  // of its range. A boolean flips. An enum gets a random value. A permutation is shuffled
  // completely, or some neighbours in it swap.
  void mutate_slightly(Configuration& configuration, std::size_t p, RandomNumbers& draws) const;
  // Sets parameter `p` from three other configurations. A number becomes a + scale * (b - c). A
  // parameter of another kind gets its value in `a`, or a random value if `b` and `c` differ in it.
  void set_linear_combination(Configuration& configuration, std::size_t p, const Configuration& a,
                              double scale, const Configuration& b, const Configuration& c,
                              RandomNumbers& draws) const;

  // Return and set the value of a number scaled to 0 to 1 over its range. The range of an integer
  // is widened by almost 0.5 at both ends, because values are rounded.
  double normalized_value(const Configuration& configuration, std::size_t p) const;
  void set_normalized_value(Configuration& configuration, std::size_t p, double unit) const;

 private:
  struct ValueRange {
    double least, most;
  };
  // Returns the range of a number. The range of an integer is widened at both ends for rounding.
  ValueRange widened_range(std::size_t p) const;
  bool has_same_value(std::size_t p, const Configuration& a, const Configuration& b) const;

  std::vector<Parameter> parameters_;
  // The index in a configuration at which each parameter begins, and at the end the size of a
  // configuration.
  std::vector<std::size_t> places_;
};

}  // namespace groma::tuning
