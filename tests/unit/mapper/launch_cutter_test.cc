// Launches with holes, cut as Legion's default_decompose_points cuts them: blocks of the box around
// all points, of which those without points are left out.
#include "mapper/launch_cutter.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "index_map/blocks.h"

namespace groma::mapper {
namespace {

Processor gpu(std::int64_t index) { return {ProcKind::kGpu, 0, index}; }

TaskSlices default_slices(const Rect& all, std::int64_t count, bool by_point) {
  TaskSlices slices;
  std::int64_t next = 0;
  cut_into_blocks(all, count, [&](const Rect& box) {
    const TaskSlice slice{box, gpu(next++ % count)};
    if (by_point) {
      cut_into_points(box, slice, slices);
    } else {
      slices.push_back(slice);
    }
  });
  return slices;
}

TEST(BlocksOfBoxes, GoToProcessorsInTurn) {
  // Every fourth of 16 points: a shard's part of a launch over four nodes.
  std::vector<Rect> boxes;
  for (const std::int64_t x : {1, 5, 9, 13}) boxes.push_back({{x}, {1}});
  const auto made = blocks_of_boxes(default_slices({{1}, {13}}, 4, false), boxes);
  ASSERT_EQ(made.size(), 4U);
  std::int64_t i = 0;
  for (const TaskSlice& slice : made) {
    EXPECT_EQ(slice.box.lower[0], 4 * i + 1);
    EXPECT_EQ(slice.processor, gpu(i));
    ++i;
  }
}

TEST(BlocksOfBoxes, AreTheBlocksWithPoints) {
  std::mt19937 random(7);
  const auto draw = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most));
  };
  for (int round = 0; round < 300; ++round) {
    const Rect all{{draw(5), -draw(5)}, {1 + draw(7), 1 + draw(7)}};
    const std::int64_t count = 1 + draw(9);
    std::set<std::pair<std::int64_t, std::int64_t>> points;
    std::vector<Rect> boxes;
    Point at = all.lower;
    do {
      if (draw(3) > 0) continue;
      points.insert({at[0], at[1]});
      boxes.push_back({at, {1, 1}});
    } while (next_point(all, &at));
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> expected;
    std::int64_t next = 0;
    cut_into_blocks(all, count, [&](const Rect& block) {
      bool any = false;
      Point p = block.lower;
      do {
        if (!points.contains({p[0], p[1]})) continue;
        expected[{p[0], p[1]}] = next % count;
        any = true;
      } while (next_point(block, &p));
      next += any ? 1 : 0;
    });
    for (const bool by_point : {false, true}) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> found;
      for (const TaskSlice& slice : blocks_of_boxes(default_slices(all, count, by_point), boxes)) {
        ASSERT_EQ(slice.box.volume(), 1);
        found[{slice.box.lower[0], slice.box.lower[1]}] = slice.processor.index;
      }
      EXPECT_EQ(found, expected) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace groma::mapper
