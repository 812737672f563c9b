// A link's schedule beside a list of all that was ever taken; and long ones.
#include "simulate/link_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace groma::sim {
namespace {

// The first moment from `time` on with nothing in the way.
RunTime obvious(const std::vector<std::pair<RunTime, RunTime>>& taken, RunTime time,
                RunTime duration) {
  for (bool again = true; again;) {
    again = false;
    for (const auto& [begin, end] : taken) {
      if (end <= time || begin >= time + duration) continue;
      time = end;
      again = true;
    }
  }
  return time;
}

TEST(Lane, EqualsAListOfAll) {
  int solid = 0, said = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](RunTime n) {
      return static_cast<RunTime>(random() % static_cast<unsigned>(n));
    };
    LinkSchedule lane;
    std::vector<std::pair<RunTime, RunTime>> taken;
    RunTime now = 0;
    for (int i = 0; i < 1000; ++i) {
      now += below(seed % 2 == 0 ? 2 : 40);
      const RunTime chosen = now + below(4) * below(1000), duration = 1 + below(60);
      LinkSchedule::CopyStart start{chosen, -1};
      const bool waits = lane.delay_until_free(start, duration);
      ASSERT_EQ(start.time, obvious(taken, chosen, duration)) << "seed " << seed << ", " << i;
      ASSERT_EQ(waits, start.time != chosen);
      ASSERT_EQ(waits, start.after >= 0);
      if (waits) {  // for who had it until then
        ASSERT_EQ(taken[static_cast<std::size_t>(start.after)].second, start.time);
      }
      taken.emplace_back(start.time, start.time + duration);
      lane.reserve_interval(start.time, start.time + duration, i, now);
      RunTime end = now;
      for (const auto& each : taken) end = std::max(end, each.second);
      const bool is_solid = obvious(taken, now, 1) == end;
      ASSERT_TRUE(is_solid || lane.has_gap_after(now));
      solid += is_solid ? 1 : 0;
      said += lane.has_gap_after(now) ? 0 : 1;
    }
  }
  EXPECT_GT(said, solid / 2);  // it may take a busy link for one with a gap
}

// Each waits for all before it, or looks over as many times between others that are too short.
TEST(Lane, AMillionTimesOnOneLink) {
  constexpr RunTime kCopies = 1'000'000;
  LinkSchedule busy, gaps;
  for (RunTime i = 0; i < kCopies; ++i) {
    LinkSchedule::CopyStart start{0, -1};
    busy.delay_until_free(start, 10);
    ASSERT_EQ(start.time, 10 * i);
    ASSERT_EQ(start.after, i - 1);
    busy.reserve_interval(start.time, start.time + 10, i, 0);
  }
  constexpr RunTime kGaps = 100'000;
  for (RunTime i = 0; i < kGaps; ++i) gaps.reserve_interval(10 * i, 10 * i + 6, i, 0);
  for (RunTime i = 0; i < kGaps / 10; ++i) {
    LinkSchedule::CopyStart start{0, -1};
    gaps.delay_until_free(start, 5);
    ASSERT_EQ(start.time, 10 * (kGaps - 1) + 6 + 5 * i);
    gaps.reserve_interval(start.time, start.time + 5, kGaps + i, 0);
  }
}

}  // namespace
}  // namespace groma::sim
