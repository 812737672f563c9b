// Hashes of numbers and boxes, for tables and for comparing what was done twice.
#pragma once

#include <cstdint>

#include "groma/geometry.h"

namespace groma::sim {

// Returns `hash` continued with a value.
inline std::uint64_t hash_on(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

// Returns `hash` continued with the corner and the extents of a box.
inline std::uint64_t hash_on(std::uint64_t hash, const Rect& box) {
  for (const Point* point : {&box.lower, &box.extents}) {
    for (std::int64_t x : point->coordinates()) {
      hash = hash_on(hash, static_cast<std::uint64_t>(x));
    }
  }
  return hash;
}

}  // namespace groma::sim
