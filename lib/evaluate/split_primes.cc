// balance_split and greedy_split: deal the prime factors of a number out to dimensions, one by one.
#include <algorithm>
#include <functional>

#include "evaluate/split_factors.h"
#include "evaluate/splits.h"
#include "groma/result.h"

namespace groma::mapper {

// Multiplies each prime factor, from the smallest on, into the first of the smallest sizes.
// Example: for 12 processors in 2 dimensions, the factors 2, 2 and 3 give 2 x 1, 2 x 2 and 6 x 2.
std::vector<std::int64_t> balance_split(std::int64_t n, std::int64_t k) {
  GROMA_CHECK(n >= 0 && n <= kMaxSplit && k >= 1);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), 1);
  if (n <= 1) return sizes;
  for (const PrimeFactor& factor : factorise(n)) {
    for (std::size_t i = 0; i < factor.exponent; ++i) {
      *std::min_element(sizes.begin(), sizes.end()) *= factor.prime;
    }
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

// Gives each prime factor, from the largest on, to the dimension with the largest remaining extent.
// Example: 4 processors for extents 8 and 2 become 4 x 1.
std::vector<std::int64_t> greedy_split(std::int64_t n, std::span<const std::int64_t> extents) {
  GROMA_CHECK(n >= 0 && n <= kMaxSplit);
  std::vector<std::int64_t> sizes(extents.size(), 1);
  if (n <= 1 || extents.empty()) return sizes;
  std::vector<double> left;
  for (std::int64_t extent : extents) left.push_back(static_cast<double>(extent));
  const std::vector<PrimeFactor> factors = factorise(n);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    for (std::size_t i = 0; i < factor->exponent; ++i) {
      const auto largest = std::max_element(left.begin(), left.end());
      *largest /= static_cast<double>(factor->prime);
      sizes[static_cast<std::size_t>(largest - left.begin())] *= factor->prime;
    }
  }
  return sizes;
}

}  // namespace groma::mapper
