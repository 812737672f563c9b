// Programs that are written to hurt, made when they are asked for.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "groma/geometry.h"

namespace groma::testing {

struct HostileCase {
  std::string name;
  std::string expected;  // the first error's id; "" when it is a good program
  std::function<std::string()> text;
  std::string machine = "p100x4:nodes=2";
  Point extents = {4};  // of the launch that the function `f` maps

  // A launch of a million points may take its time: kMaxPlaceSteps bounds it.
  bool large_launch() const { return Rect::make(extents)->volume() > 100'000; }
};

inline void PrintTo(const HostileCase& hostile, std::ostream* out) { *out << hostile.name; }

std::vector<HostileCase> hostile_cases();

}  // namespace groma::testing
