// What OpenTuner varies: parameters of a few kinds, a configuration of them, and the changes that
// its techniques make of one. After opentuner/search/manipulator.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace groma::tuning {

struct Parameter {
  enum class Kind : std::uint8_t { kInteger, kFloat, kEnum, kBoolean, kPermutation };
  Kind kind = Kind::kEnum;
  double least = 0, most = 0;  // of a number, inclusive
  std::uint32_t count = 0;     // of an enum's options, of a permutation's items

  static Parameter integer(std::int64_t least, std::int64_t most) {
    return {Kind::kInteger, static_cast<double>(least), static_cast<double>(most)};
  }
  static Parameter real(double least, double most) { return {Kind::kFloat, least, most}; }
  static Parameter options(std::uint32_t count) { return {Kind::kEnum, 0, 0, count}; }
  static Parameter boolean() { return {Kind::kBoolean}; }
  static Parameter permutation(std::uint32_t items) { return {Kind::kPermutation, 0, 0, items}; }

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
};

// Of each parameter, in their order: the number; the option's number; 0 or 1; the permuted numbers.
using Configuration = std::vector<double>;

std::uint64_t hash_of(const Configuration& configuration);

// Parameters are named by their numbers.
class ParameterSpace {
 public:
  explicit ParameterSpace(std::vector<Parameter> parameters);

  std::size_t size() const { return parameters_.size(); }
  const Parameter& operator[](std::size_t p) const { return parameters_[p]; }
  std::size_t numbers() const;  // parameters that are numbers
  // Where the parameter's values begin in a configuration.
  std::size_t place(std::size_t p) const { return places_[p]; }

  Configuration random(Draws& draws) const;
  // A value that does not depend on the one it had, and may be the same.
  void randomize(Configuration& configuration, std::size_t p, Draws& draws) const;
  // A number gets Gaussian noise of a tenth of its range; others one of the changes that their kind
  // has.
  void disturb(Configuration& configuration, std::size_t p, Draws& draws) const;
  // a + scale * (b - c). What is no number is a's; a random one where b and c differ.
  void set_linear(Configuration& configuration, std::size_t p, const Configuration& a, double scale,
                  const Configuration& b, const Configuration& c, Draws& draws) const;

  // Of a number: 0 to 1 over its range; of an integer's over what is rounded to it.
  double unit_value(const Configuration& configuration, std::size_t p) const;
  void set_unit_value(Configuration& configuration, std::size_t p, double unit) const;

 private:
  struct Bounds {
    double least, most;
  };
  Bounds bounds(std::size_t p) const;
  bool same(std::size_t p, const Configuration& a, const Configuration& b) const;

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> places_;  // by parameter; then the size of a configuration
};

}  // namespace groma::tuning
