// Noise: makes the tasks and copies of a run take longer or shorter by chance.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "simulate/links.h"

namespace groma::sim {

class Noise {
 public:
  // `fraction` is the largest relative change of a duration: at least 0, and less than 1. One seed
  // gives one sequence of changes.
  Noise(double fraction, std::uint64_t seed) : fraction_(fraction), draws_(seed) {}

  // Returns the duration in picoseconds, changed by a random factor between 1 - fraction and 1 +
  // fraction.
  RunTime add_noise(double seconds) {
    if (fraction_ <= 0) return to_picoseconds(seconds);
    return to_picoseconds(seconds * (1 + fraction_ * (2 * draws_.next_fraction() - 1)));
  }

 private:
  const double fraction_;
  RandomNumbers draws_;
};

}  // namespace groma::sim
