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

TEST(Recording, EventsAreTheSameAgain) {
  const auto workload = Workload::make(find_benchmark("circuit")->make());
  const std::string text = app::text_of(test::events_of(workload->data()));
  const auto read = app::events_from(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(app::text_of(*read), text);
}

TEST(Recording, AnyTextIsReadOrRefused) {
  EXPECT_FALSE(recorded_application("", "x").ok());
  EXPECT_FALSE(recorded_application("groma events 1\n", "x").ok());
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
