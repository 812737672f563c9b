// auto_split: tries all ordered factorisations of a number, in the order of the original
// implementation. Chooses the one with the smallest sum of size / extent.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "evaluate/split_factors.h"
#include "evaluate/splits.h"
#include "groma/result.h"

namespace groma::mapper {
namespace {

__extension__ typedef unsigned __int128 Ways;

using Sizes = std::vector<std::int64_t>;

// Returns the number of ordered factorisations into k sizes, or `limit` + 1 if there are more. It
// is the product over the primes of the ways to deal the prime's exponent out to k dimensions:
// C(exponent + k - 1, exponent).
std::int64_t count_factorisations(const Divisors& divisors, std::size_t k, std::int64_t limit) {
  if (k == 0) return divisors.factors().empty() ? 1 : 0;
  std::int64_t count = 1;
  for (const PrimeFactor& factor : divisors.factors()) {
    Ways ways = 1;
    for (std::size_t i = 1; i <= factor.exponent; ++i) {
      // After each pass of the loop `ways` is a binomial coefficient, so the division is exact.
      ways = ways * (k - 1 + i) / i;
      if (ways > static_cast<Ways>(limit / count)) return limit + 1;
    }
    count *= static_cast<std::int64_t>(ways);
  }
  return count;
}

// Tries all ordered factorisations. The original implementation keeps a list of the factorisations
// that tie for the least cost, and picks one from the list at its end. To make the same pick, it is
// enough to know the first of them, and whether the result of greedy_split is one of them.
class AutoSearch {
 public:
  AutoSearch(const Divisors& divisors, std::span<const std::int64_t> extents, const Sizes& greedy)
      : divisors_(divisors), greedy_(greedy), dimensions_(extents.size()), placed_(dimensions_) {
    quotients_.reserve(dimensions_ * divisors.count());
    for (std::int64_t extent : extents) {
      for (std::size_t i = 0; i < divisors.count(); ++i) {
        quotients_.push_back(quotient(divisors.divisor_value(i), extent));
      }
    }
  }

  // Returns the best factorisation. The largest prime is dealt out to the dimensions first.
  Sizes run() {
    place(divisors_.factors().size() - 1, 0, divisors_.factors().back().exponent);
    return greedy_tied_ ? greedy_ : sizes_of(first_tied_);
  }

 private:
  // Divides as the original does: converts both numbers to float, divides in double, and rounds to
  // float. With other arithmetic, other candidates would tie.
  static float quotient(std::int64_t size, std::int64_t extent) {
    return static_cast<float>(static_cast<double>(static_cast<float>(size)) /
                              static_cast<double>(static_cast<float>(extent)));
  }

  float quotient_of(std::size_t dimension) const {
    return quotients_[dimension * divisors_.count() + placed_[dimension]];
  }

  // Distributes a prime factor over the dimensions in every possible way. `left` of the prime's
  // exponent still has to be given to `dimension` and the dimensions after it. For each way,
  // distributes all smaller primes as well.
  void place(std::size_t factor, std::size_t dimension, std::size_t left) {
    if (factor == 0) return place_smallest(dimension, left, 0.0);
    const std::size_t stride = divisors_.factors()[factor].stride;
    if (left == 0 || dimension + 1 == dimensions_) {
      placed_[dimension] += left * stride;
      place(factor - 1, 0, divisors_.factors()[factor - 1].exponent);
      placed_[dimension] -= left * stride;
      return;
    }
    for (std::size_t exponent = 0; exponent <= left; ++exponent) {
      placed_[dimension] += exponent * stride;
      place(factor, dimension + 1, left - exponent);
      placed_[dimension] -= exponent * stride;
    }
  }

  // Distributes the smallest prime over the dimensions, as place() does with the other primes. Its
  // stride in Divisors is 1. The sizes of the dimensions before `dimension` are complete. `sum` is
  // the sum of their quotients size / extent, added in the order of the original implementation, so
  // that it is rounded in the same way.
  void place_smallest(std::size_t dimension, std::size_t left, double sum) {
    if (left == 0 || dimension + 1 == dimensions_) {
      placed_[dimension] += left;
      for (std::size_t i = dimension; i < dimensions_; ++i) {
        sum += static_cast<double>(quotient_of(i));
      }
      consider(static_cast<float>(sum));
      placed_[dimension] -= left;
      return;
    }
    for (std::size_t exponent = 0; exponent <= left; ++exponent) {
      placed_[dimension] += exponent;
      place_smallest(dimension + 1, left - exponent,
                     sum + static_cast<double>(quotient_of(dimension)));
      placed_[dimension] -= exponent;
    }
  }

  // Compares a factorisation with the best so far. best_ stays as it is on a tie, even if the new
  // cost is a little lower, because the original compares with the first of the tied candidates.
  void consider(float cost) {
    // Two costs that differ by at most this much are a tie, as in the original implementation. It
    // is the largest float below 1e-6.
    constexpr float kTolerance = 1e-6F;
    const float gain = best_ - cost;
    if (gain < -kTolerance) return;
    if (gain > kTolerance) {
      best_ = cost;
      first_tied_ = placed_;
      greedy_tied_ = false;
    }
    greedy_tied_ = greedy_tied_ || is_greedy();
  }

  // Returns true if the factorisation now in placed_ is the result of greedy_split.
  bool is_greedy() const {
    for (std::size_t i = 0; i < dimensions_; ++i) {
      if (divisors_.divisor_value(placed_[i]) != greedy_[i]) return false;
    }
    return true;
  }

  Sizes sizes_of(const std::vector<std::size_t>& placed) const {
    Sizes sizes;
    for (std::size_t divisor : placed) sizes.push_back(divisors_.divisor_value(divisor));
    return sizes;
  }

  const Divisors& divisors_;
  const Sizes& greedy_;
  std::size_t dimensions_;
  // The quotient size / extent for each dimension and for each divisor that its size may be:
  // [dimension][index of the divisor].
  std::vector<float> quotients_;
  // For each dimension, the index in Divisors of the size that the dimension has been given so far.
  std::vector<std::size_t> placed_;
  float best_ = std::numeric_limits<float>::infinity();
  std::vector<std::size_t> first_tied_;
  bool greedy_tied_ = false;
};

}  // namespace

// Returns the best factorisation, or kTooMany if there are too many to try.
SplitResult auto_split(std::int64_t n, std::span<const std::int64_t> extents) {
  GROMA_CHECK(n >= 0 && n <= kMaxSplit);
  if (n <= 1 || extents.empty()) return Sizes(extents.size(), 1);
  if (extents.size() > kMaxNewDimensions) return SplitError::kTooMany;
  const Divisors divisors(n);
  if (count_factorisations(divisors, extents.size(), kMaxFactorisations) > kMaxFactorisations) {
    return SplitError::kTooMany;
  }
  const Sizes positive = replace_zeros_by_ones(extents);
  const Sizes greedy = greedy_split(n, positive);
  return AutoSearch(divisors, positive, greedy).run();
}

std::int64_t count_factorisations(std::int64_t n, std::size_t k) {
  return n <= 1 ? 1 : count_factorisations(Divisors(n), k, kMaxFactorisations);
}

}  // namespace groma::mapper
