#include "evaluate/split_factors.h"

#include <algorithm>

namespace groma::mapper {

// Finds the prime factors by trial division. After 2, only odd numbers are tried. What is left in
// the end is 1 or a prime.
std::vector<PrimeFactor> factorise(std::int64_t n) {
  std::vector<PrimeFactor> factors;
  std::size_t stride = 1;
  auto take = [&](std::int64_t prime) {
    std::size_t exponent = 0;
    for (; n % prime == 0; n /= prime) ++exponent;
    if (exponent > 0) factors.push_back({prime, exponent, stride});
    stride *= exponent + 1;
  };
  for (std::int64_t prime = 2; prime * prime <= n; prime += prime == 2 ? 1 : 2) take(prime);
  if (n > 1) take(n);
  return factors;
}

// Makes the list of divisors prime by prime. For each prime, the divisors found before are followed
// by their products with the prime, then with its square, and so on up to its exponent.
Divisors::Divisors(std::int64_t n) : factors_(factorise(n)), values_{1} {
  for (const PrimeFactor& factor : factors_) {
    for (std::size_t i = 0; i < factor.exponent * factor.stride; ++i) {
      values_.push_back(values_[i] * factor.prime);
    }
  }
}

// Returns the indices of all divisors of the divisor with the index `divisor`. This index gives the
// exponent of each prime, and every combination of exponents up to these gives a divisor.
std::vector<std::size_t> Divisors::divisors_of(std::size_t divisor) const {
  std::vector<std::size_t> found = {0};
  for (const PrimeFactor& factor : factors_) {
    const std::size_t exponent = divisor / factor.stride % (factor.exponent + 1);
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < exponent * before; ++i) {
      found.push_back(found[i] + factor.stride);
    }
  }
  return found;
}

std::vector<std::int64_t> replace_zeros_by_ones(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> result(extents.begin(), extents.end());
  std::replace(result.begin(), result.end(), std::int64_t{0}, std::int64_t{1});
  return result;
}

}  // namespace groma::mapper
