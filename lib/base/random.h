// Random numbers that are the same on every platform.
#pragma once

#include <cstdint>

#include "base/names.h"

namespace groma {

// The number at this place, from 0, of the sequence that the seed gives: SplitMix64.
inline std::uint64_t random_at(std::uint64_t seed, std::uint64_t place) {
  return mix(seed + (place + 1) * 0x9E3779B97F4A7C15U);
}

}  // namespace groma
