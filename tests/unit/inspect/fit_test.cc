// fit() against runs that are made up: which sizes it tries, where it ends and what it says.
#include "groma/fit.h"

#include <gtest/gtest.h>

#include "base/one_diagnostic.h"
#include "groma/app_builder.h"

namespace groma {
namespace {

Application app_of(std::int64_t n, std::int64_t least, std::int64_t most) {
  Application app;
  app.name = "made";
  app.parameters = {{.name = "n", .value = n, .least = least, .most = most, .meaning = ""},
                    {.name = "m", .value = 3 * n, .least = 1, .most = most, .meaning = ""}};
  app.tasks = {{.name = "t", .variants = {{.kind = ProcKind::kCpu}}}};
  return app;
}

RunResult refused(DiagId id) {
  RunResult result;
  result.status = RunStatus::kMapError;
  result.refusals.push_back({id == DiagId::kOutOfMemory
                                 ? diagnostic_without_source(id, "0 (r)", "t", "all is full")
                                 : diagnostic_without_source(id, "t", "it is a matter of taste"),
                             {}});
  return result;
}

std::int64_t n_of(const Workload& workload) { return workload.values().front().second; }

// Runs up to `room`, and not above it.
RunWorkload bounded(std::int64_t room, int* runs) {
  return [room, runs](const Workload& workload) {
    ++*runs;
    return n_of(workload) <= room ? RunResult{} : refused(DiagId::kOutOfMemory);
  };
}

TEST(Fit, FindsTheLastThatHasRoom) {
  for (const std::int64_t room : {1, 2, 99, 100, 101, 12345, 999'999}) {
    int runs = 0;
    const Application app = app_of(100, 1, 1'000'000);
    const auto found = fit(app, {"n"}, bounded(room, &runs));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->fits->values.front().second, room);
    EXPECT_EQ(found->beyond->values.front().second, room + 1);
    EXPECT_LE(runs, 60);
  }
}

TEST(Fit, EndsWhereTheRangeDoes) {
  int runs = 0;
  const auto all = fit(app_of(100, 1, 777), {"n"}, bounded(100'000, &runs));
  EXPECT_EQ(all->fits->values.front().second, 777);
  EXPECT_FALSE(all->beyond);
  const auto none = fit(app_of(100, 10, 777), {"n"}, bounded(9, &runs));
  EXPECT_FALSE(none->fits);
  EXPECT_EQ(none->beyond->values.front().second, 10);
}

TEST(Fit, OthersGrowInProportion) {
  int runs = 0;
  const auto found = fit(app_of(100, 1, 1'000'000), {"n", "m"}, bounded(250, &runs));
  EXPECT_EQ(found->fits->values, (std::vector<AppValue>{{"n", 250}, {"m", 750}}));
}

// Beyond 300 it is refused for a reason that more memory would not mend; with less room before.
TEST(Fit, WhatIsNoMatterOfMemoryIsSaid) {
  const auto found = [](std::int64_t room) {
    return fit(app_of(100, 1, 1'000'000), {"n"}, [room](const Workload& workload) {
      if (n_of(workload) > 300) return refused(DiagId::kCannotRun);
      return n_of(workload) <= room ? RunResult{} : refused(DiagId::kOutOfMemory);
    });
  };
  const auto bound = found(1'000'000);
  EXPECT_EQ(bound->fits->values.front().second, 300);
  EXPECT_FALSE(bound->beyond);
  EXPECT_EQ(bound->other_bound, "`t` cannot be run: it is a matter of taste");
  EXPECT_NE(draw(*bound, app_of(100, 1, 1'000'000)).find("larger is no matter of memory: `t`"),
            std::string::npos);
  const auto room = found(200);  // the other bound was met on the way and is forgotten
  EXPECT_EQ(room->beyond->values.front().second, 201);
  EXPECT_EQ(room->other_bound, "");
  const auto at_once = fit(app_of(400, 1, 1'000'000), {"n"},
                           [](const Workload&) { return refused(DiagId::kCannotRun); });
  ASSERT_FALSE(at_once);
  EXPECT_EQ(at_once.error().message, "`t` cannot be run: it is a matter of taste");
}

// What was found before it was ended stays.
TEST(Fit, EndedItKeepsWhatItHas) {
  for (int end = 0; end < 12; ++end) {
    int runs = 0;
    std::int64_t largest = 0;
    const auto found = fit(app_of(100, 1, 1'000'000), {"n"}, [&](const Workload& workload) {
      RunResult result;
      if (runs++ == end) {
        result.status = RunStatus::kStopped;
      } else if (n_of(workload) > 1234) {
        return refused(DiagId::kOutOfMemory);
      } else {
        largest = std::max(largest, n_of(workload));
      }
      return result;
    });
    EXPECT_EQ(runs, end + 1);
    EXPECT_TRUE(found->stopped);
    EXPECT_EQ(found->fits ? found->fits->values.front().second : 0, largest);
  }
}

}  // namespace
}  // namespace groma
