// Runs through what an application launches, in program order, and shows every task with its data.
#pragma once

#include <functional>
#include <vector>

#include "app/data.h"

namespace groma::test {

// A task of a launch, or a point of it.
struct Visit {
  const app::Launch* launch = nullptr;
  const app::Task* task = nullptr;
  Point point;               // none of a single task
  std::vector<Rect> pieces;  // of its requirements; of one with holes the box around it
  // The boxes of each of these pieces; none: it is empty.
  std::vector<std::vector<Rect>> boxes;
  std::vector<Point> colors;      // of these pieces; none of a whole region
  bool in_phase = false;          // whether the top-level task is in one
  const Visit* parent = nullptr;  // null: the top-level task. Lives while this is shown
};

// From the top-level task; a task comes before those that it launches. Fails the test where a
// formula has no value or a colour is none of its partition's.
void walk(const app::Data& data, const std::function<void(const Visit&)>& see);

}  // namespace groma::test
