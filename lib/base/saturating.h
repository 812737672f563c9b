// Adds, multiplies and exponentiates integers. A result that does not fit becomes the largest
// number.
#pragma once

#include <cstdint>

namespace groma {

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
// Returns base^exponent for a base of at least 1; 1 for an exponent below 1.
inline std::int64_t saturating_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent && base > 1 && result < INT64_MAX; ++i) {
    result = saturating_multiply(result, base);
  }
  return result;
}

}  // namespace groma
