// CountRow: a polynomial in one variable with integer coefficients, which counts the points before
// a value of a loop counter. Its exact integer roots: a guess in floating point that is corrected
// with integers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "domain/polynomial.h"

namespace groma::domains {

inline double to_double(std::int64_t number) { return static_cast<double>(number); }
// The conversion of the compiler's runtime library is several times slower. Off by a rounding of
// the upper half and one of the sum.
inline double to_double(Int128 number) {
  constexpr double kUpper = 18446744073709551616.0;  // 2^64
  return static_cast<double>(static_cast<std::int64_t>(number >> 64)) * kUpper +
         static_cast<double>(static_cast<std::uint64_t>(number));
}

// Returns the cube root of a number from 0 to 2^200, with a relative error below 1e-8. Faster
// than std::cbrt, whose last digits a guess does not need.
inline double rough_cube_root(double number) {
  // A third of the exponent, with an error of at most 4 %; then one step each of Halley and Newton.
  constexpr std::uint64_t kBias = 0x2A9F'8A7B'E393'B600;
  double root = std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) / 3 + kBias);
  const double cube = root * root * root;
  root *= (cube + 2 * number) / (2 * cube + number);
  return root - (root - number / (root * root)) * (1.0 / 3);
}

// Divides numbers by a positive divisor of which they are multiples.
class ExactDivisor {
 public:
  ExactDivisor() = default;
  // 0 < divisor < 2^62.
  explicit ExactDivisor(std::int64_t divisor)
      : shift_(std::countr_zero(static_cast<std::uint64_t>(divisor))) {
    const std::uint64_t odd = static_cast<std::uint64_t>(divisor) >> shift_;
    inverse_ = odd;  // right for the last 3 bits; each step doubles their number
    for (int bits = 3; bits < 64; bits *= 2) inverse_ *= 2 - odd * inverse_;
  }
  // Returns the quotient, which must be at least 0 and fit 63 bits.
  template <typename Int>
  std::int64_t quotient(Int number) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(number >> shift_) * inverse_);
  }

 private:
  int shift_ = 0;
  std::uint64_t inverse_ = 1;
};

template <typename Int>
struct CountRow {
  std::array<Int, kMaxExponent + 1> coefficients;
  std::size_t degree = 0;
  // For guess(): what to add to the root of the scaled target, and the scale.
  double shift = 0, scale = 0;

  Int value(std::int64_t counter) const {
    Int sum = coefficients[degree];
    for (std::size_t e = degree; e-- > 0;) sum = sum * counter + coefficients[e];
    return sum;
  }

  // Computes `shift` and `scale` once the coefficients are known.
  void prepare() {
    if (degree == 0) return;
    scale = 1 / to_double(coefficients[degree]);
    shift =
        degree == 1 ? 0 : to_double(coefficients[degree - 1]) * scale / static_cast<double>(degree);
  }

  // Returns an estimate of the counter for which the polynomial has this value. Degree 1 or more.
  double guess(Int target) const {
    const double lead = to_double(target - coefficients[0]) * scale;
    if (degree == 1) return lead;
    if (degree == 2) {
      const double root = std::sqrt(std::max(0.0, shift * shift + lead));
      return scale < 0 ? -shift - root : -shift + root;
    }
    // c (x + b / (n c))^n is right up to terms of lower degree.
    const double most = std::max(0.0, lead);
    return (degree == 3 ? rough_cube_root(most) : std::pow(most, 1 / static_cast<double>(degree))) -
           shift;
  }

  // Returns the largest counter from `low` to `high` for which the polynomial, which does not
  // decrease there, is at most `target`. It is so at `low`. `*below` is the value there.
  std::int64_t root(Int target, std::int64_t low, std::int64_t high, Int* below) const {
    if (degree == 0) {
      *below = coefficients[0];
      return high;
    }
    const double estimate = guess(target);
    std::int64_t at = low;
    if (estimate >= static_cast<double>(high)) {
      at = high;
    } else if (estimate > static_cast<double>(low)) {
      at = static_cast<std::int64_t>(estimate);
    }
    const Int here = value(at);
    if (here <= target) {
      *below = here;
      if (at == high) return at;
      const Int next = value(at + 1);
      if (next > target) return at;
      *below = next;
      return search_up(target, at + 1, high, below);
    }
    return search_down(target, low, at, below);
  }

 private:
  // The polynomial is at most `target` at `low`, where its value is `*below`.
  std::int64_t search_up(Int target, std::int64_t low, std::int64_t high, Int* below) const {
    for (std::int64_t step = 1; step < high - low; step *= 2) {
      const Int there = value(low + step);
      if (there > target) {
        high = low + step - 1;
        break;
      }
      low += step;
      *below = there;
    }
    return halve(target, low, high, below);
  }
  // The polynomial is above `target` at `high`, and at most `target` at `low`.
  std::int64_t search_down(Int target, std::int64_t low, std::int64_t high, Int* below) const {
    for (std::int64_t step = 1; step < high - low; step *= 2) {
      const Int there = value(high - step);
      if (there <= target) {
        low = high - step;
        *below = there;
        return halve(target, low, high - 1, below);
      }
      high -= step;
    }
    *below = value(low);
    return halve(target, low, high - 1, below);
  }
  std::int64_t halve(Int target, std::int64_t low, std::int64_t high, Int* below) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      const Int there = value(middle);
      if (there <= target) {
        low = middle;
        *below = there;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
};

}  // namespace groma::domains
