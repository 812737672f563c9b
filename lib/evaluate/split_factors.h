// The prime factors and divisors of a number of processors, with which the splits are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace groma::mapper {

inline constexpr std::int64_t kMaxSplit = std::int64_t{1} << 40;
// Limit on the dimensions that `auto_split` and `decompose` make.
inline constexpr std::size_t kMaxNewDimensions = 32;

struct PrimeFactor {
  std::int64_t prime;
  std::size_t exponent;
  // The index of the prime itself among the divisors that the class Divisors lists.
  std::size_t stride;
};

// Returns the prime factors in rising order. Uses trial division: at most 2^20 steps.
std::vector<PrimeFactor> factorise(std::int64_t n);

// The divisors of n. The index of a divisor is a number whose digits are the exponents of its prime
// factors. If a divides b, the index of b / a is the difference of the indices of b and a. So a
// search needs no division and no look-up.
class Divisors {
 public:
  explicit Divisors(std::int64_t n);

  const std::vector<PrimeFactor>& factors() const { return factors_; }
  std::size_t count() const { return values_.size(); }
  // Returns the index of the number n itself among its divisors.
  std::size_t index_of_number() const { return count() - 1; }
  std::int64_t divisor_value(std::size_t divisor) const { return values_[divisor]; }

  // Returns the indices of all divisors of the divisor with this index.
  std::vector<std::size_t> divisors_of(std::size_t divisor) const;

 private:
  std::vector<PrimeFactor> factors_;
  std::vector<std::int64_t> values_;
};

// Returns a copy of the extents in which every 0 is replaced by 1.
std::vector<std::int64_t> replace_zeros_by_ones(std::span<const std::int64_t> extents);

}  // namespace groma::mapper
