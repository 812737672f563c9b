// The prime factors and divisors of a number of processors: what the splits are made with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace groma::mapper {

inline constexpr std::int64_t kMaxSplit = std::int64_t{1} << 40;
inline constexpr std::size_t kMaxNewDimensions = 32;  // of the two splits that search

struct Factor {
  std::int64_t prime;
  std::size_t exponent;
  std::size_t stride;  // of the exponent in a Divisors index
};

// Rising primes. Trial division: at most 2^20 steps.
std::vector<Factor> factorise(std::int64_t n);

// The divisors of n, numbered so that the number is written with the exponents as digits. Where a
// divides b, the number of b / a is the difference of their numbers, so that a search need neither
// divide nor look anything up.
class Divisors {
 public:
  explicit Divisors(std::int64_t n);

  const std::vector<Factor>& factors() const { return factors_; }
  std::size_t count() const { return values_.size(); }
  std::size_t whole() const { return count() - 1; }  // the number of n itself
  std::int64_t value(std::size_t divisor) const { return values_[divisor]; }

  // The numbers of all divisors of a divisor.
  std::vector<std::size_t> divisors_of(std::size_t divisor) const;

 private:
  std::vector<Factor> factors_;
  std::vector<std::int64_t> values_;
};

// The extents, 0 as 1.
std::vector<std::int64_t> ones_for_zeros(std::span<const std::int64_t> extents);

}  // namespace groma::mapper
