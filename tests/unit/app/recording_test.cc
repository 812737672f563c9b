// An application, run on paper and recorded, is the same again.
#include "groma/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "app/data.h"
#include "app/events.h"
#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/workload.h"
#include "support/app_trace.h"

namespace groma {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Again {
  Recording recording;
  Workload before, after;
};

Again record(const Application& app) {
  auto before = Workload::make(app);
  EXPECT_TRUE(before.ok()) << before.error().message;
  auto recorded = recorded_application(app::text_of(test::events_of(before->data())), app.name);
  EXPECT_TRUE(recorded.ok()) << recorded.error().message;
  auto after = Workload::make(recorded->app);
  EXPECT_TRUE(after.ok());
  return {*std::move(recorded), *before, *after};
}

class Recorded : public testing::TestWithParam<std::string> {};

TEST_P(Recorded, IsTheSameAgain) {
  const std::string& spec = GetParam();
  const auto name = spec.substr(0, spec.find(':'));
  auto app = with_values(find_benchmark(name)->make(), spec.substr(spec.find(':') + 1));
  ASSERT_TRUE(app.ok()) << app.error().message;
  const Again again = record(*app);
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  for (const std::string& note : again.recording.notes) {
    EXPECT_THAT(note, HasSubstr("was measured"));
  }
  const std::vector<AppStatement>& body =
      again.recording.app.find(again.recording.app.top_level)->body;
  EXPECT_LT(body.size(), 40U);
}

INSTANTIATE_TEST_SUITE_P(Benchmarks, Recorded,
                         testing::Values("cannon:nodes=1", "cannon:nodes=4", "circuit:nodes=1",
                                         "circuit:nodes=3", "cosma:nodes=4", "johnson:nodes=2",
                                         "pennant:nodes=1", "pennant:nodes=2", "pumma:nodes=4",
                                         "solomonik:nodes=2", "solomonik:nodes=8",
                                         "stencil:nodes=1", "stencil:nodes=8", "summa:nodes=4"),
                         [](const auto& spec) {
                           std::string name = spec.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

// What single launches of a loop work on becomes a formula of its counter.
TEST(Recording, LoopsHaveTheirCounter) {
  AppBuilder app("sweep");
  app.region("x", {100}).field("v", 8).partition("parts", {10});
  app.task("work").variant(cpu().leaf()).writes("parts", {}, {0});
  app.task("main").variant(cpu()).body(
      {loop(3, {loop(10, {launch("work").on("parts", {"c"})}, "c")})});
  const Again again = record(app.top_level("main").done());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  const auto& body = again.recording.app.find("main")->body;
  ASSERT_EQ(body.size(), 1U);
}

// Two fields that change places, and a region with other names for them: each launch says its own.
TEST(Recording, LaunchesNameTheirFields) {
  AppBuilder app("heat");
  app.region("cells", {100}).field("old", 8).field("new", 8).field("kind", 4);
  app.partition("tiles", {4});
  app.pieces("ghosts", {4}, {"c"}, {"c * 25 - 1"}, {"27"});
  app.region("others", {100}).field("a", 8).field("b", 8).partition("slabs", {4});
  app.task("step").variant(cpu().leaf()).reads("ghosts", {"old"}).writes("tiles", {"new"});
  app.task("main").variant(cpu()).body(
      {loop(5, {launch("step").over({4}).on("ghosts", {}, {"old"}).on("tiles", {}, {"new"}),
                launch("step").over({4}).on("ghosts", {}, {"new"}).on("tiles", {}, {"old"})}),
       launch("step").over({4}).on("slabs", {}, {"a"}).on("slabs", {}, {"b"})});
  const Again again = record(app.top_level("main").done());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  EXPECT_THAT(again.recording.notes, Not(Contains(HasSubstr("differ"))));
  const std::vector<AppRequirement>& kept = again.recording.app.find("step")->requirements;
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].fields, (std::vector<AppField>{{"old", 8}}));
  EXPECT_EQ(kept[1].fields, (std::vector<AppField>{{"new", 8}}));
  EXPECT_EQ(again.recording.app.find("main")->body.size(), 2U);
}

// Where they have more or fewer, a task has them all.
TEST(Recording, LaunchesWithMoreFieldsAreSaid) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{10}}, 10, {{"a", 8}, {"b", 8}, {"c", 8}}}};
  const auto shape = [](std::vector<std::uint32_t> fields) {
    return app::Events::Shape{
        1, 0, {{app::Events::How::kWhole, 0, -1, Privilege::kReadOnly, {}, std::move(fields)}}};
  };
  events.shapes = {shape({2}), shape({0, 2})};
  events.launches = {{0, {}}, {1, {}}};
  events.contexts = {{0, -1, {}, 1, {{0}, {1}}}};
  const auto recorded = recorded_application(app::text_of(events), "differ");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Contains(HasSubstr("launches of `work` differ in privileges or")));
  EXPECT_EQ(recorded->app.find("work")->requirements[0].fields,
            (std::vector<AppField>{{"a", 8}, {"c", 8}}));
}

TEST(Recording, WhatFollowsNoRuleIsSaid) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{5000}}, 5000, {{"v", 8}}}};
  app::Events::Partition partition{"parts", 0, -1, {Point{0}, Point{1000}}, {}};
  std::mt19937 random(3);
  for (std::int64_t c = 0; c < 1000; ++c) {
    partition.pieces.push_back(
        {Point{c}, {Point{static_cast<std::int64_t>(random() % 4000)}, Point{3}}, 3});
  }
  events.partitions = {partition};
  events.shapes = {{1, 1, {{app::Events::How::kPoint, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
  events.launches = {{0, {0, 1000}}};
  events.contexts = {{0, -1, {}, 1, {{0}}}};
  const auto recorded = recorded_application(app::text_of(events), "irregular");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Contains(HasSubstr("the pieces of `parts` follow no rule")));
}

// What launches of a loop are on, where most follow a rule and some do not: the rule stands there,
// not what the first launch had.
TEST(Recording, WhatIsRightForMostStandsThere) {
  constexpr std::uint32_t kLaunches = 2000;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{kLaunches}}, kLaunches, {{"v", 8}}}};
  app::Events::Partition partition{"parts", 0, -1, {Point{0}, Point{kLaunches}}, {}};
  for (std::int64_t c = 0; c < kLaunches; ++c) {
    partition.pieces.push_back({Point{c}, {Point{c}, Point{1}}, 1});
  }
  events.partitions = {partition};
  events.shapes = {{1, 0, {{app::Events::How::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
  std::vector<std::uint32_t> order(kLaunches);
  std::mt19937 random(5);
  std::size_t right = 0;
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    events.launches.push_back({0, {i}});
    // The first launch and every tenth is on any piece.
    order[i] = i % 10 == 0 ? static_cast<std::uint32_t>(random() % kLaunches) : i;
    right += order[i] == i ? 1U : 0U;
  }
  events.contexts = {{0, -1, {}, 1, {}}};
  for (const std::uint32_t launch : order) events.contexts[0].launches.push_back({launch});
  const auto recorded = recorded_application(app::text_of(events), "mostly");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes,
              Contains(HasSubstr("is right for " + std::to_string(right) + " of 2000 launches")));
  const auto& loop_of = std::get<AppLoop>(recorded->app.find("main")->body.at(0).node);
  const auto& launch_of = std::get<AppLaunch>(loop_of.body.at(0).node);
  EXPECT_THAT(launch_of.data.at(0).color.at(0).text(), HasSubstr("min(max(t, "));
}

// Most pieces are equal blocks.
TEST(Recording, MostPiecesAreAsTheyAreDescribed) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{8000}}, 8000, {{"v", 8}}}};
  app::Events::Partition partition{"parts", 0, -1, {Point{0}, Point{1000}}, {}};
  std::mt19937 random(3);
  for (std::int64_t c = 0; c < 1000; ++c) {
    const bool odd = c % 100 == 0;
    const std::int64_t from = odd ? static_cast<std::int64_t>(random() % 4000) : 8 * c;
    partition.pieces.push_back({Point{c}, {Point{from}, Point{odd ? 3 : 8}}, odd ? 3 : 8});
  }
  events.partitions = {partition};
  events.shapes = {{1, 1, {{app::Events::How::kPoint, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
  events.launches = {{0, {0, 1000}}};
  events.contexts = {{0, -1, {}, 1, {{0}}}};
  const auto recorded = recorded_application(app::text_of(events), "mostly");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Contains(HasSubstr("990 of 1000 are as they are described, by equal "
                                                  "blocks")));
}

// Pieces of any size, as many as formulas can tell apart.
TEST(Recording, UnequalPiecesAreFormulas) {
  AppBuilder app("unequal");
  app.region("x", {64}).field("v", 8).pieces("parts", {6}, {"i"}, {"i < 3 ? i * i : 10 * i"},
                                             {"i == 2 ? 30 : 5 - i"});
  app.task("work").variant(cpu().leaf()).writes("parts");
  app.task("main").variant(cpu()).body({launch("work").over({6})});
  const Again again = record(app.top_level("main").done());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
}

// ---- What a stranger may write

// What the runtime took stands there for the embedded one.
TEST(Recording, TheRuntimesCosts) {
  const auto workload = Workload::make(find_benchmark("circuit")->make());
  app::Events events = test::events_of(workload->data());
  const auto costs = [&] {
    return recorded_application(app::text_of(events), "x").value().app.runtime;
  };
  EXPECT_EQ(costs(), std::nullopt);
  events.map = {100, 12'000};
  EXPECT_EQ(costs(), (RuntimeCosts{.map_s = 12e-6}));
  events.issue = {10, 1'500};
  events.map = {1, 4'000};
  EXPECT_EQ(costs(), (RuntimeCosts{.issue_s = 1.5e-6, .map_s = 4e-6, .replay_s = 4e-6}));
  events.map = {1, app::kMostEventNumber};
  EXPECT_EQ(costs()->map_s, kMaxRuntimeCost);
}

TEST(Recording, TasksThatRanOnOneKindOnlyAreSaidTogether) {
  const auto app = Workload::make(*with_values(find_benchmark("circuit")->make(), "nodes=1"));
  ASSERT_TRUE(app.ok());
  app::Events events = test::events_of(app->data());
  for (std::uint32_t i = 0; i < events.tasks.size(); ++i) {
    events.times.push_back({i, ProcKind::kCpu, 1, 1000});
  }
  const auto recorded = recorded_application(app::text_of(events), "circuit");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  std::vector<std::string> said;
  for (const std::string& note : recorded->notes) {
    if (note.find("did not run on") != note.npos) said.push_back(note);
  }
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said.front(),
              testing::AllOf(HasSubstr("`calculate_new_currents`, `distribute_charge`"),
                             HasSubstr(" did not run on GPU: their time there is that on CPU")));
}

TEST(Recording, EventsAreTheSameAgain) {
  const auto workload = Workload::make(find_benchmark("circuit")->make());
  const std::string text = app::text_of(test::events_of(workload->data()));
  const auto read = app::events_from(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(app::text_of(*read), text);
}

// Sums and products of what is read fit 64 bits.
TEST(Recording, NumbersAreBounded) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{100}}, 100, {{"v", 8}}}};
  events.partitions = {{"parts", 0, -1, {Point{0}, Point{4}}, {}}};
  events.shapes = {{1, 0, {{app::Events::How::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
  events.launches = {{0, {0}}, {0, {1}}, {0, {2}}};
  events.contexts = {{0, -1, {}, 1, {{0}, {1}, {2}, {1}, {0}}}};
  const auto recorded = [&] { return recorded_application(app::text_of(events), "x"); };
  ASSERT_TRUE(recorded().ok());
  constexpr std::int64_t kMost = app::kMostEventNumber;
  for (const std::int64_t number : {INT64_MIN, -kMost, std::int64_t{-1}, kMost}) {
    for (app::Events::Launch& launch : events.launches) {
      launch.numbers = {number};
      static_cast<void>(recorded());
    }
    // Colours and pieces anywhere.
    app::Events::Partition& parts = events.partitions[0];
    parts.pieces = {{Point{number}, {Point{-kMost}, Point{kMost}}, 5},
                    {Point{1}, {Point{kMost}, Point{kMost}}, kMost},
                    {Point{2}, {Point{3}, Point{3}}, 3}};
    static_cast<void>(recorded());
    parts.colors.extents = Point{0};
    static_cast<void>(recorded());
    parts.colors.extents = Point{4};
  }
  EXPECT_TRUE(app::can_be_kept({Point{-kMost, 0}, Point{1, kMost}}));
  EXPECT_FALSE(app::can_be_kept({Point{-kMost - 1}, Point{1}}));
  EXPECT_FALSE(app::can_be_kept({Point{0}, Point{kMost + 1}}));
  EXPECT_FALSE(app::can_be_kept({Point{0}, Point{-1}}));
  EXPECT_FALSE(app::can_be_kept({Point{0, 0}, Point{kMost, 2}}));
  EXPECT_FALSE(app::can_be_kept({Point{0, 0}, Point{kMost, kMost}}));
  events.launches[0].numbers = {kMost + 1};
  EXPECT_EQ(recorded().error().code, Error::Code::kTooLarge);
  events.launches[0].numbers = {0};
  events.contexts.push_back(events.contexts[0]);
  events.contexts[0].count = events.contexts[1].count = kMost;
  static_cast<void>(recorded());
}

TEST(Recording, AnyTextIsReadOrRefused) {
  EXPECT_FALSE(recorded_application("", "x").ok());
  EXPECT_FALSE(recorded_application("groma events 2\n", "x").ok());
  EXPECT_FALSE(recorded_application(std::string(kMaxRecordedBytes + 1, ' '), "x").ok());
  const auto workload = Workload::make(find_benchmark("circuit")->make());
  const std::string text = app::text_of(test::events_of(workload->data()));
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string changed = text;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      changed[16 + random() % (changed.size() - 16)] = "0123456789 -:\n"[random() % 14];
    }
    if (random() % 8 == 0) changed.resize(random() % changed.size());
    const auto recorded = recorded_application(changed, "x");
    if (recorded.ok()) {
      EXPECT_TRUE(Workload::make(recorded->app).ok());
    }
  }
}

}  // namespace
}  // namespace groma
