// periods_in_order: for how long the events of a loop keep their order while they drift.
#include "simulate/drift.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace groma::sim {
namespace {

constexpr Op kOps = 10;
constexpr auto kTaskEnd = Event::Kind::kTaskEnd, kCopyEnd = Event::Kind::kCopyEnd;

// The events of two periods. In each period event i happens `later[i]` later than in the one
// before.
struct TwoPeriods {
  std::vector<EndedOp> before, last;
  TwoPeriods(const std::vector<RunTime>& times, const std::vector<RunTime>& later) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Op op = 100 + static_cast<Op>(i);
      before.push_back({times[i], kTaskEnd, op});
      last.push_back({times[i] + later[i], kTaskEnd, op + kOps});
    }
  }
  std::int64_t in_order(std::int64_t most = 1000) const {
    return periods_in_order(before, last, kOps, most);
  }
};

TEST(Drift, EventsThatAreAllLaterByTheSameTimeStayInOrder) {
  EXPECT_EQ(TwoPeriods({0, 5, 5, 7}, {20, 20, 20, 20}).in_order(), 1000);
}

TEST(Drift, EndsBeforeAnEventReachesAnother) {
  // In the last period the gap is 29, and it shrinks by 1 in each period: 28 periods keep it above
  // 0.
  EXPECT_EQ(TwoPeriods({0, 30, 50}, {100, 99, 100}).in_order(), 28);
  EXPECT_EQ(TwoPeriods({0, 30, 50}, {100, 99, 100}).in_order(7), 7);
  // The last event reaches the first one of the next period: from 50 + 101 to 0 + 200 the gap
  // is 49.
  EXPECT_EQ(TwoPeriods({0, 30, 50}, {100, 100, 101}).in_order(), 48);
}

TEST(Drift, EventsAtTheSameTimeMustStayTogether) {
  // At 110 and 111 in the last period. The last event reaches the next period, 89 after it.
  EXPECT_EQ(TwoPeriods({0, 10, 10}, {100, 100, 101}).in_order(), 88);
  EXPECT_EQ(TwoPeriods({0, 9, 10}, {100, 101, 100}).in_order(), 0);  // both 110 in the last period
}

TEST(Drift, OtherEventsAreNoRepetition) {
  TwoPeriods two({0, 5}, {20, 20});
  two.last[1].op += 1;
  EXPECT_EQ(two.in_order(), 0);
  two.last[1].op -= 1;
  EXPECT_EQ(two.in_order(), 1000);
  two.last[1].kind = kCopyEnd;
  EXPECT_EQ(two.in_order(), 0);
  two.before[1].kind = two.last[1].kind = Event::Kind::kReady;
  EXPECT_EQ(two.in_order(), 0);
  two.last.pop_back();
  EXPECT_EQ(two.in_order(), 0);
  EXPECT_EQ(periods_in_order({}, {}, kOps, 1000), 0);
}

}  // namespace
}  // namespace groma::sim
