// AffineForm: a sum of multiples of counters and a constant, found from its values and printed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/polynomial.h"
#include "groma/domain_derivation.h"

namespace groma::domains {

// At most one loop for each dimension of samples.
inline constexpr std::size_t kMaxCounters = kMaxSampleDimensions;
using Counters = std::array<std::int64_t, kMaxCounters>;

struct AffineForm {
  std::int64_t constant = 0;
  Counters factors{};

  friend bool operator==(const AffineForm&, const AffineForm&) = default;
  std::int64_t value(const Counters& counters) const;
  // The number of integers that describe the form: a factor and a place for each term.
  std::int64_t description() const;
  // Returns this form plus `factor` times another.
  AffineForm plus(const AffineForm& other, std::int64_t factor) const;
  // Returns the form as text, such as "y - 2".
  std::string text(std::span<const std::string> names) const;
};

// Finds forms with integer factors from values at counters.
class AffineFit {
 public:
  // A form of the first `variables` counters.
  explicit AffineFit(std::size_t variables) : variables_(variables) {}
  // Adds a value. Returns false if no form has all values.
  bool add(const Counters& counters, std::int64_t value);
  // Returns the form, with 0 for factors that the values do not determine. Returns nullopt if its
  // factors are not integers.
  std::optional<AffineForm> form() const;
  // The number of values that were added beyond those that determine the form.
  std::int64_t redundant() const { return added_ - static_cast<std::int64_t>(rows_.size()); }

 private:
  // An equation: the factors of the constant and of the counters, then the value. Its first factor
  // that is not 0 is 1, at `pivot`.
  struct Equation {
    std::size_t pivot = 0;
    std::array<Rational, kMaxCounters + 2> terms;
  };
  bool reduce(std::array<Rational, kMaxCounters + 2>* terms, const Equation& by) const;

  std::size_t variables_;
  std::int64_t added_ = 0;
  std::vector<Equation> rows_;
};

}  // namespace groma::domains
