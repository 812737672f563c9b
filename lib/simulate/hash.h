// Hash functions for numbers and boxes, used for hash tables and to recognise equal states.
#pragma once

#include <cstdint>

#include "groma/geometry.h"

namespace groma::sim {

// Returns the hash that combines `hash` with one more value.
inline std::uint64_t combine_hash(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

// Returns the hash that combines `hash` with the lower corner and the extents of a box.
inline std::uint64_t combine_hash(std::uint64_t hash, const Rect& box) {
  for (const Point* point : {&box.lower, &box.extents}) {
    for (std::int64_t x : point->coordinates()) {
      hash = combine_hash(hash, static_cast<std::uint64_t>(x));
    }
  }
  return hash;
}

// A hash of a state, made of two different hashes of the same values. States with equal hashes are
// taken to be equal.
struct StateHash {
  std::uint64_t first = 0, second = 0;
  bool operator==(const StateHash&) const = default;
  void add(std::uint64_t value) {
    first = combine_hash(first, value);
    second = (second ^ (value + 0x632BE59BD9B4E019)) * 0xD6E8FEB86659FD93;
    second ^= second >> 32;
  }
};

}  // namespace groma::sim
