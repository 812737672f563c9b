// Random numbers that are the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/names.h"

namespace groma {

// Returns the random number at position `place` (from 0) of the SplitMix64 sequence of `seed`.
inline std::uint64_t random_at(std::uint64_t seed, std::uint64_t place) {
  return mix_bits(seed + (place + 1) * 0x9E3779B97F4A7C15U);
}

// Converts 64 random bits to a number from 0 to count - 1. `count` is at least 1.
inline std::uint32_t random_below(std::uint64_t bits, std::size_t count) {
  return static_cast<std::uint32_t>((bits >> 32) * count >> 32);
}

// A generator that returns the random numbers of a seed's sequence, one after the other.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t bits() { return random_at(seed_, place_++); }
  // Returns a number from 0 to count - 1. `count` is at least 1.
  std::uint32_t below(std::uint32_t count) { return groma::random_below(bits(), count); }
  // Returns a number in [0, 1).
  double next_fraction() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  // Returns true with this probability.
  bool chance(double probability) { return next_fraction() < probability; }

  // Puts the items into a random order (Fisher-Yates).
  template <typename List>
  void shuffle(List& list) {
    using std::swap;
    for (std::size_t i = list.size(); i > 1; --i) {
      swap(list[i - 1], list[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  std::uint64_t seed_, place_ = 0;
};

}  // namespace groma
