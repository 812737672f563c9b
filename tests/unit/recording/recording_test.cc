// An application, run on paper and recorded, is the same again.
#include "groma/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "app/data.h"
#include "app/pieces.h"
#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/workload.h"
#include "recording/events.h"
#include "support/app_trace.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
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

class Recorded : public ::testing::TestWithParam<std::string> {};

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

INSTANTIATE_TEST_SUITE_P(
    Benchmarks, Recorded,
    ::testing::Values("cannon:nodes=1", "cannon:nodes=4", "cholesky:tiles=2", "cholesky:tiles=9",
                      "circuit:nodes=1", "circuit:nodes=3", "cosma:nodes=4", "johnson:nodes=2",
                      "pennant:nodes=1", "pennant:nodes=2", "pumma:nodes=4", "solomonik:nodes=2",
                      "solomonik:nodes=8", "stencil:nodes=1", "stencil:nodes=8", "summa:nodes=4"),
    [](const auto& spec) {
      std::string name = spec.param;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ':' || c == '='; }, '_');
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

// An anti-diagonal of tiles after the other, each a launch over its own domain. All launches count,
// not only those that are as large as the first. The table of a requirement follows the tables of
// the requirements before it, whose sizes differ too.
TEST(Recording, WavefrontsHaveAFormulaForAllLaunches) {
  for (const int tiles : {2, 4, 9, 40}) {
    const std::string edge = std::to_string(tiles), last = std::to_string(tiles - 1);
    AppBuilder app("wave");
    app.region("matrix", {360, 360}).field("score", 8).partition("tiles", {edge, edge});
    app.region("weights", {360, 360}).field("w", 8).partition("blocks", {edge, edge});
    app.task("work").variant(cpu().leaf()).reads("weights").writes("matrix");
    AppStatement wave = launch("work")
                            .over({"min(d, " + last + ") - max(0, d - " + last + ") + 1"}, {"i"})
                            .on("blocks", {"(i + d) % " + edge, "d - i"})
                            .on("tiles", {"i", "d - i"});
    std::get<AppLaunch>(wave.node).lower = {"max(0, d - " + last + ")"};
    app.task("main").variant(cpu()).body({loop(2 * tiles - 1, {wave}, "d")});
    const Again again = record(app.top_level("main").done());
    EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data())) << tiles;
    EXPECT_THAT(again.recording.notes, Not(Contains(HasSubstr("no rule")))) << tiles;
    const auto& body = again.recording.app.find("main")->body;
    ASSERT_EQ(body.size(), 1U);
    const auto& loop_of = std::get<AppLoop>(body.at(0).node);
    const auto& launch_of = std::get<AppLaunch>(loop_of.body.at(0).node);
    EXPECT_EQ(launch_of.data.at(1).color, (Formulas{"i", "t - i"})) << tiles;
  }
}

// Returns an application that launches over some points of a box in each turn of a loop.
Application sparse_launches(const Formulas& box, const std::string& where, std::int64_t turns = 4) {
  AppBuilder app("sparse");
  app.region("grid", {40, 40}).field("v", 8).partition("tiles", {40, 40});
  app.task("work").variant(cpu().leaf()).writes("grid");
  std::vector<std::string> index = {"x", "y", "z"};
  index.resize(box.size());
  AppStatement work = launch("work").over(box, index).where(where).on("tiles", {"x", "y"});
  app.task("main").variant(cpu()).body({loop(turns, {work}, "d")});
  return app.top_level("main").done();
}

// A domain with holes is one launch again, with a condition that has the same points.
TEST(Recording, PointsOfSparseLaunchesAreConditions) {
  struct Case {
    Formulas box;
    std::string where, found;
  };
  const Case cases[] = {
      {{5, 5}, "x <= y", "i <= j"},
      {{5, 5}, "x < y", "i < j"},
      {{"d + 2", "d + 2"}, "x >= y", "i >= j"},
      {{6, 6}, "x == y", "i == j"},
      {{6, 6}, "x != y", "i != j"},
      {{7, 7}, "x + y == d + 1", "i + j == t + 1"},
      {{7, 7}, "(x + y) % 2 == d % 2", "(i - j) % 2 == t % 2"},
      {{9, 7}, "(x - y) * (x - y) <= 1", "(i <= j + 1) * (i >= j - 1)"},
      {{9, 9}, "x > y + d", "i >= j + (t + 1)"},
      {{8, 8}, "x < 3 ? 1 : y < 3", "(i >= 3) * (j >= 3) == 0"},
      {{4, 4, 4}, "(x <= y) * (y <= z)", "(i <= j) * (j <= k)"},
      {{9, 9}, "(x - 4) * (x - 4) + (y - 4) * (y - 4) <= 17", ""},
  };
  for (const Case& each : cases) {
    const Again again = record(sparse_launches(each.box, each.where));
    EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()))
        << each.where;
    const auto& body = again.recording.app.find("main")->body;
    ASSERT_EQ(body.size(), 1U) << each.where;
    const auto& turns = std::get<AppLoop>(body.front().node);
    ASSERT_EQ(turns.body.size(), 1U) << each.where;
    const std::string found = std::get<AppLaunch>(turns.body.front().node).where.text();
    if (!each.found.empty()) {
      EXPECT_EQ(found, each.found) << each.where;
    }
  }
}

// Points that follow no rule are listed row by row, in each turn of the loop. If the list is too
// long for a formula, the launch becomes several, and a note says so.
TEST(Recording, PointsThatFollowNoRuleAreListedOrSplit) {
  const Again listed =
      record(sparse_launches({10, 10}, "(x * x * 7 + y * 13 + d * d * d * 5) % 11 < 4", 3));
  EXPECT_EQ(test::trace_of(listed.after.data()), test::trace_of(listed.before.data()));
  EXPECT_EQ(listed.recording.app.find("main")->body.size(), 3U);
  EXPECT_THAT(listed.recording.notes, Not(Contains(HasSubstr("no condition"))));
  const Again split =
      record(sparse_launches({40, 40}, "(x * x * 7 + y * y * 13 + x * y * 31) % 17 % 2", 2));
  auto before = test::trace_of(split.before.data()), after = test::trace_of(split.after.data());
  EXPECT_THAT(after, testing::UnorderedElementsAreArray(before));
  EXPECT_THAT(split.recording.notes,
              Contains(HasSubstr("no condition was found for all points of 2 launches of `work`")));
}

// Events that were damaged in their sparse domains are refused.
TEST(Recording, SparseDomainsAreConsistent) {
  const auto workload = Workload::make(sparse_launches({5, 5}, "x <= y"));
  const app::Events good = test::events_of(workload->data());
  ASSERT_EQ(good.sparse_domains.size(), 1U);
  const auto is_read = [](const app::Events& events) {
    return app::parse_events(app::text_of(events)).ok();
  };
  EXPECT_TRUE(is_read(good));
  app::Events events = good;
  events.sparse_domains[0].push_back(events.sparse_domains[0].back());  // a point twice
  EXPECT_FALSE(is_read(events));
  events = good;
  events.sparse_domains[0].pop_back();  // another box around the points
  EXPECT_FALSE(is_read(events));
  events = good;
  events.sparse_domains[0].clear();
  EXPECT_FALSE(is_read(events));
  events = good;
  events.sparse_domains[0].front() = {Point{3}, Point{1}};
  EXPECT_FALSE(is_read(events));
  events = good;
  events.sparse_domains[0].front() = {Point{-1'000'000, -1'000'000}, Point{1, 1}};
  EXPECT_FALSE(is_read(events));
  for (const std::int32_t number : {-2, 1, INT32_MAX}) {
    events = good;
    events.launches[0].sparse_domain = number;
    EXPECT_FALSE(is_read(events)) << number;
  }
}

// No formula of the loop's counter gives all these tiles, so each turn of the loop is a launch of
// its own. The rest of the outer loop stays a loop.
TEST(Recording, TurnsOfALoopThatFollowNoRuleAreLaunchesOfTheirOwn) {
  constexpr std::int64_t kTurns = 100, kTiles = 64;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}, {"other", {{}}}};
  events.regions = {{"x", {Point{0}, Point{kTiles}}, kTiles, {{"v", 8}}}};
  app::Events::Partition partition{"tiles", 0, -1, {Point{0}, Point{kTiles}}, {}};
  for (std::int64_t c = 0; c < kTiles; ++c) {
    partition.pieces.push_back({Point{c}, {Point{c}, Point{1}}, 1});
  }
  events.partitions = {partition};
  using ColorRule = app::Events::ColorRule;
  events.shapes = {{1, 1, {{ColorRule::kMapped, 0, 0, Privilege::kReadWrite, {}, {0}}}},
                   {2, 0, {{ColorRule::kWhole, 0, -1, Privilege::kReadOnly, {}, {0}}}}};
  events.contexts = {{0, -1, {}, 1, {}}};
  events.launches = {{1, {}}};
  std::mt19937 random(5);
  for (std::int64_t turn = 0; turn < kTurns; ++turn) {
    const auto points = static_cast<std::int64_t>(random() % 20) + 1;
    app::Events::Launch launch{0, {0, points}};
    std::vector<std::int64_t> tiles(kTiles);
    std::iota(tiles.begin(), tiles.end(), 0);
    std::shuffle(tiles.begin(), tiles.end(), random);
    launch.numbers.insert(launch.numbers.end(), tiles.begin(), tiles.begin() + points);
    events.contexts[0].launches.push_back({static_cast<std::uint32_t>(events.launches.size())});
    events.launches.push_back(std::move(launch));
  }
  for (int i = 0; i < 50; ++i) events.contexts[0].launches.push_back({0});
  const auto recorded = recorded_application(app::text_of(events), "shuffled");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Not(Contains(HasSubstr("no rule"))));
  const auto workload = Workload::make(recorded->app);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(recorded->app.find("main")->body.size(), kTurns + 1U);
  std::vector<std::string> expected;
  for (const app::Events::Launch& launch : events.launches) {
    for (std::size_t p = 0; p + 2 < launch.numbers.size(); ++p) {
      expected.push_back("work (" + std::to_string(p) + "), read-write x 8 bytes of (1) at (" +
                         std::to_string(launch.numbers[p + 2]) + ")");
    }
  }
  std::vector<std::string> trace = test::trace_of(workload->data());
  trace.resize(expected.size());
  EXPECT_EQ(trace, expected);
}

// A permutation of so many tiles that no formula holds it. Each point writes its tile, so a formula
// that is only nearly right would make points seem to share tiles. A mapping knows the list of the
// pieces by the name of the program's partition.
TEST(Recording, PiecesOfPointsThatFollowNoRuleAreListed) {
  constexpr std::int64_t kTiles = 600, kFirst = 7;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{10}, Point{2 * kTiles}}, 2 * kTiles, {{"v", 8}}}};
  app::Events::Partition partition{"tiles", 0, -1, {Point{0}, Point{kTiles}}, {}};
  for (std::int64_t c = 0; c < kTiles; ++c) {
    partition.pieces.push_back({Point{c}, {Point{10 + 2 * c}, Point{2}}, 2});
  }
  events.partitions = {partition};
  events.shapes = {
      {1, 1, {{app::Events::ColorRule::kMapped, 0, 0, Privilege::kReadWrite, {}, {0}}}}};
  std::vector<std::int64_t> tiles(kTiles);
  std::iota(tiles.begin(), tiles.end(), 0);
  std::shuffle(tiles.begin(), tiles.end(), std::mt19937(5));
  events.launches = {{0, {kFirst, kTiles}}};
  auto& numbers = events.launches[0].numbers;
  numbers.insert(numbers.end(), tiles.begin(), tiles.end());
  events.contexts = {{0, -1, {}, 1, {{0}, {0}, {0}}}};
  const auto recorded = recorded_application(app::text_of(events), "shuffled");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes,
              AllOf(Not(Contains(HasSubstr("is right for"))),
                    Contains("which piece of `tiles` a launch of `work` has follows no rule that "
                             "was found: the pieces are listed by point")));
  ASSERT_EQ(recorded->app.partitions.size(), 2U);
  EXPECT_EQ(recorded->app.partitions[1].aliases, std::vector<std::string>{"tiles"});
  EXPECT_TRUE(recorded->app.partitions[1].unnamed);
  const auto workload = Workload::make(recorded->app);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  std::vector<std::string> expected;
  for (int turn = 0; turn < 3; ++turn) {
    for (std::int64_t p = 0; p < kTiles; ++p) {
      expected.push_back("work (" + std::to_string(kFirst + p) +
                         "), read-write x 8 bytes of (2) at (" +
                         std::to_string(2 * tiles[static_cast<std::size_t>(p)]) + ")");
    }
  }
  EXPECT_EQ(test::trace_of(workload->data()), expected);
}

// Four runs of `outer` read their own tile, then launch `work` three times over all tiles in an
// order that no formula holds, so that its pieces are listed. `outer` asks only for what its other
// formulas use, here its point, and the loop around `work` has no counter.
TEST(Recording, ListedPiecesNeedNoArguments) {
  using ColorRule = app::Events::ColorRule;
  constexpr std::int64_t kTiles = 600;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"outer", {{}}}, {"own", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{kTiles}}, kTiles, {{"v", 8}}}};
  app::Events::Partition partition{"tiles", 0, -1, {Point{0}, Point{kTiles}}, {}};
  for (std::int64_t c = 0; c < kTiles; ++c) {
    partition.pieces.push_back({Point{c}, {Point{c}, Point{1}}, 1});
  }
  events.partitions = {partition};
  events.shapes = {{1, 1, {}},
                   {2, 0, {{ColorRule::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}},
                   {3, 1, {{ColorRule::kMapped, 0, 0, Privilege::kReadWrite, {}, {0}}}}};
  std::vector<std::int64_t> numbers(kTiles);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(5));
  numbers.insert(numbers.begin(), {0, kTiles});
  events.launches = {{0, {0, 4}}, {2, numbers}, {1, {0}}, {1, {1}}, {1, {2}}, {1, {3}}};
  events.contexts = {{0, -1, {}, 1, {{0}}}};
  for (std::uint32_t run = 0; run < 4; ++run) {
    events.contexts.push_back({1, 0, {run}, 1, {{2 + run}, {1}, {1}, {1}}});
  }
  const auto recorded = recorded_application(app::text_of(events), "listed");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Contains(HasSubstr("the pieces are listed by point")));
  const AppTask& outer = *recorded->app.find("outer");
  EXPECT_THAT(outer.arguments, ElementsAre("p0"));
  ASSERT_EQ(outer.body.size(), 2U);
  EXPECT_EQ(std::get<AppLaunch>(outer.body[0].node).data.at(0).color, Formulas{"p0"});
  EXPECT_EQ(std::get<AppLoop>(outer.body[1].node).variable, "");
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

// Launches of one task with other privileges, fields, dimensions and fewer regions: each launch is
// described with its own, so that points which do not share data do not seem to.
TEST(Recording, LaunchesOfOneTaskMayDiffer) {
  using ColorRule = app::Events::ColorRule;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{10}}, 10, {{"a", 8}, {"b", 1}, {"c", 8}}},
                    {"y", {Point{0, 0}, Point{4, 4}}, 16, {{"a", 8}}}};
  app::Events::Partition halves{"halves", 0, -1, {Point{0}, Point{2}}, {}};
  halves.pieces = {{Point{0}, {Point{0}, Point{5}}, 5}, {Point{1}, {Point{5}, Point{5}}, 5}};
  events.partitions = {halves};
  events.shapes = {
      {1, 1, {{ColorRule::kPoint, 0, 0, Privilege::kReadWrite, {}, {0}}}},
      {1,
       1,
       {{ColorRule::kPoint, 0, 0, Privilege::kReadOnly, {}, {0, 1}},
        {ColorRule::kPoint, 0, 0, Privilege::kWriteDiscard, {}, {2}}}},
      {1, 0, {{ColorRule::kWhole, 1, -1, Privilege::kReadWrite, {}, {0}}}},
  };
  events.launches = {{0, {0, 2}}, {1, {0, 2}}, {2, {}}};
  events.contexts = {{0, -1, {}, 1, {{0}, {1}, {2}}}};
  const auto recorded = recorded_application(app::text_of(events), "differ");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Not(Contains(HasSubstr("differ"))));
  const Workload workload = Workload::make(recorded->app).value();
  const auto on = [&](std::size_t launch) {
    std::vector<std::string> said;
    for (const app::RequirementData& where :
         std::get<app::Launch>(workload.data().tasks[0].body.at(launch).node).data) {
      std::string fields;
      for (const std::uint32_t field : where.fields) fields += std::to_string(field);
      said.push_back(
          std::string(name_of(where.privilege)) + " " + std::to_string(where.region) +
          (where.kind == app::RequirementData::Kind::kPartition ? " piece " : " whole ") + fields);
    }
    return said;
  };
  EXPECT_THAT(on(0), ElementsAre("read-write 0 piece 0", "no-access 0 whole "));
  EXPECT_THAT(on(1), ElementsAre("read-only 0 piece 01", "write-discard 0 piece 2"));
  EXPECT_THAT(on(2), ElementsAre("read-write 1 whole 0", "no-access 0 whole "));
}

// A program that reads one row and one column of a matrix may cut it into all rows and columns. The
// others are not described, or the embedded runtime would look at each element by itself.
TEST(Recording, PiecesThatNoLaunchUsesAreLeftOut) {
  using ColorRule = app::Events::ColorRule;
  constexpr std::int64_t kEdge = 300;
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0, 0}, Point{kEdge, kEdge}}, kEdge * kEdge, {{"v", 8}}}};
  app::Events::Partition rows{"rows", 0, -1, {Point{0, 0}, Point{kEdge, 1}}, {}};
  app::Events::Partition columns{"columns", 0, -1, {Point{0, 0}, Point{1, kEdge}}, {}};
  app::Events::Partition halves{"halves", 0, 1, {Point{0, 0}, Point{2, 1}}, {}};
  for (std::int64_t c = 0; c < kEdge; ++c) {
    rows.pieces.push_back({Point{c, 0}, {Point{c, 0}, Point{1, kEdge}}, kEdge});
    columns.pieces.push_back({Point{0, c}, {Point{0, c}, Point{kEdge, 1}}, kEdge});
    for (std::int64_t half = 0; half < 2; ++half) {
      const Rect box{Point{half * kEdge / 2, c}, Point{kEdge / 2, 1}};
      halves.pieces.push_back({Point{0, c, half, 0}, box, kEdge / 2});
    }
  }
  events.partitions = {rows, columns, halves};
  events.shapes = {{1, 0, {{ColorRule::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}},
                   {1, 1, {{ColorRule::kMapped, 0, 2, Privilege::kReadOnly, {}, {0}}}}};
  events.launches = {{0, {299, 0}}, {1, {0, 2, 0, 7, 0, 0, 0, 7, 1, 0}}};
  events.contexts = {{0, -1, {}, 1, {{0}, {1}}}};
  const auto recorded = recorded_application(app::text_of(events), "one row");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes, Not(Contains(HasSubstr("follow"))));
  const Workload workload = Workload::make(recorded->app).value();
  const auto box_of = [&](std::size_t partition, const Point& color) {
    app::FormulaFault fault = app::FormulaFault::kNone;
    const auto& data = workload.data();
    const Rect box =
        app::boxes_of_piece(data, data.partitions[partition], color, fault).bounding_box();
    return std::pair(box.lower, box.extents);
  };
  const auto is_empty = [](const auto& box) { return Rect{box.first, box.second}.volume() == 0; };
  EXPECT_EQ(box_of(0, Point{299, 0}), std::pair(Point{299, 0}, Point{1, kEdge}));
  EXPECT_TRUE(is_empty(box_of(0, Point{3, 0})));
  EXPECT_EQ(box_of(1, Point{0, 7}), std::pair(Point{0, 7}, Point{kEdge, 1}));
  EXPECT_EQ(box_of(2, Point{0, 7, 1, 0}), std::pair(Point{kEdge / 2, 7}, Point{kEdge / 2, 1}));
  EXPECT_TRUE(is_empty(box_of(2, Point{0, 8, 1, 0})));
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
  events.shapes = {{1, 1, {{app::Events::ColorRule::kPoint, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
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
  events.shapes = {{1, 0, {{app::Events::ColorRule::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
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
  events.shapes = {{1, 1, {{app::Events::ColorRule::kPoint, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
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

// Blocks that overlap are recorded as blocks with a halo, not as formulas.
TEST(Recording, BlocksThatOverlapHaveAHalo) {
  AppBuilder app("overlapping");
  app.region("x", {60}).field("v", 8).partition("parts", {6}).halo({3});
  app.task("work").variant(cpu().leaf()).reads("parts");
  app.task("main").variant(cpu()).body({launch("work").over({6})});
  const Again again = record(app.top_level("main").done());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  ASSERT_EQ(again.recording.app.partitions.size(), 1U);
  const AppPartition& parts = again.recording.app.partitions[0];
  ASSERT_EQ(parts.halo.size(), 1U);
  EXPECT_EQ(parts.halo[0].text(), "3");
  EXPECT_THAT(parts.lower, IsEmpty());
}

// ---- Pieces with holes

AppPartition by_boxes(const std::string& name, const std::string& of, Formulas colors,
                      std::vector<AppBox> boxes) {
  AppPartition partition;
  partition.name = name;
  partition.of = of;
  partition.colors = std::move(colors);
  partition.boxes = std::move(boxes);
  return partition;
}

// Private and shared points of two pieces that lie between each other, and ghosts of the other's.
Application scattered() {
  AppBuilder app("scattered");
  app.region("x", {20}).field("v", 8);
  app.task("work").variant(cpu().leaf());
  app.task("main").variant(cpu());
  Application made = app.top_level("main").done();
  made.partitions = {
      by_boxes("private", "x", {2},
               {{{0}, {0}, {3}}, {{0}, {5}, {4}}, {{1}, {12}, {1}}, {{1}, {15}, {5}}}),
      by_boxes("shared", "x", {2},
               {{{0}, {3}, {2}}, {{0}, {9}, {1}}, {{1}, {10}, {2}}, {{1}, {13}, {2}}}),
      by_boxes("ghost", "x", {2}, {{{0}, {11}, {1}}, {{0}, {13}, {1}}, {{1}, {4}, {1}}})};
  for (const auto& [of, privilege] : {std::pair("private", Privilege::kReadWrite),
                                      {"shared", Privilege::kReadWrite},
                                      {"ghost", Privilege::kReadOnly}}) {
    AppRequirement requirement;
    requirement.privilege = privilege;
    requirement.fields = {{"v", 8}};
    requirement.data = {of, {}};
    made.tasks[0].requirements.push_back(requirement);
  }
  made.tasks[1].body = {launch("work").over({2})};
  return made;
}

TEST(Recording, PiecesWithHolesAreAsTheyWere) {
  const Again again = record(scattered());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  EXPECT_THAT(
      test::trace_of(again.after.data()),
      ::testing::ElementsAre(
          "work (0), read-write x 8 bytes of (3) at (0) and (4) at (5), read-write x 8 bytes "
          "of (2) at (3) and (1) at (9), read-only x 8 bytes of (1) at (11) and (1) at (13)",
          HasSubstr("work (1), ")));
  EXPECT_THAT(again.recording.notes, Not(Contains(HasSubstr("holes"))));
}

// Blocks of what has holes itself need no boxes of their own.
TEST(Recording, BlocksOfAPieceWithHoles) {
  Application app = scattered();
  app.partitions = {by_boxes("odd", "x", {1}, {{{}, {0}, {3}}, {{}, {5}, {4}}, {{}, {15}, {5}}})};
  app.partitions.push_back({});
  app.partitions[1].name = "blocks";
  app.partitions[1].of = "odd";
  app.partitions[1].colors = {2};
  app.tasks[0].requirements.resize(1);
  app.tasks[0].requirements[0].data = {"blocks", {0, 1}};
  const Again again = record(app);
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  EXPECT_TRUE(again.recording.app.partitions.at(1).boxes.empty());
}

// Sizes and overlaps of the pieces of all partitions, which do not depend on the numbering.
std::vector<std::int64_t> overlaps_of(const app::Data& data) {
  std::vector<app::BoxUnion> pieces;
  for (const app::Partition& partition : data.partitions) {
    Point color = partition.colors.lower;
    app::FormulaFault fault = app::FormulaFault::kNone;
    do pieces.push_back(app::boxes_of_piece(data, partition, color, fault));
    while (next_point(partition.colors, &color));
  }
  std::vector<std::int64_t> overlaps;
  for (const app::BoxUnion& a : pieces) {
    for (const app::BoxUnion& b : pieces) {
      std::vector<Rect> common;
      app::StepBudget steps;
      for (const Rect& box : a.boxes()) b.add_intersections(box, common, steps);
      overlaps.push_back(0);
      for (const Rect& box : common) overlaps.back() += box.volume();
    }
  }
  return overlaps;
}

// Each second point is private, and of the others each third is a ghost of the other piece.
app::Events very_scattered(std::int64_t points) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{points}}, points, {{"v", 8}}}};
  const auto piece = [&](std::int64_t color, std::int64_t from, std::int64_t step,
                         std::int64_t end) {
    app::Events::Piece made{Point{color}, {Point{from}, Point{end - from}}, 0};
    for (std::int64_t at = from; at < end; at += step) made.boxes.push_back({Point{at}, Point{1}});
    made.points = static_cast<std::int64_t>(made.boxes.size());
    made.bounds.extents[0] = made.boxes.back().lower[0] + 1 - from;
    return made;
  };
  const std::int64_t half = points / 2;
  const Rect two{Point{0}, Point{2}};
  events.partitions = {
      {"private", 0, -1, two, {piece(0, 0, 2, half), piece(1, half, 2, points)}},
      {"shared", 0, -1, two, {piece(0, 1, 2, half), piece(1, half + 1, 2, points)}},
      {"ghost", 0, -1, two, {piece(0, half + 1, 6, points), piece(1, 1, 6, half)}},
      {"blocks",
       0,
       -1,
       two,
       {{Point{0}, {Point{0}, Point{half}}, half}, {Point{1}, {Point{half}, Point{half}}, half}}}};
  events.shapes = {{1, 1, {{app::Events::ColorRule::kPoint, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
  events.launches = {{0, {0, 2}}};
  events.contexts = {{0, -1, {}, 1, {{0}}}};
  return events;
}

TEST(Recording, TooManyHolesAreNumberedAnew) {
  const auto few = recorded_application(app::text_of(very_scattered(6'000)), "few");
  ASSERT_TRUE(few.ok()) << few.error().message;
  EXPECT_THAT(few->notes, Not(Contains(HasSubstr("numbered anew"))));
  const auto many = recorded_application(app::text_of(very_scattered(600'000)), "many");
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_THAT(many->notes,
              Contains(HasSubstr("the pieces of `x` are 700000 boxes, which is too many")));
  const auto data_of = [](const Recording& recording) {
    return Workload::make(recording.app).value();
  };
  const Workload some = data_of(*few), all = data_of(*many);
  std::vector<std::int64_t> scaled = overlaps_of(some.data());
  for (std::int64_t& each : scaled) each *= 100;
  EXPECT_EQ(overlaps_of(all.data()), scaled);
  std::size_t boxes = 0;
  for (const AppPartition& partition : many->app.partitions) boxes += partition.boxes.size();
  EXPECT_LT(boxes, 20U);
}

// ---- Tasks of which not every run launches the same

// By the point, and by the launch.
TEST(Recording, RunsThatLaunchSomethingElse) {
  AppBuilder app("kinds");
  for (const char* region : {"x", "y"}) app.region(region, {8}).field("v", 8);
  app.partition("parts", {4});
  app.task("a").variant(cpu().leaf()).reads("parts", {}, {0});
  app.task("b").variant(cpu().leaf()).writes("x");
  app.task("outer", {"i"}).variant(cpu()).writes("parts");
  app.body({loop("i == 2 ? 0 : 1", {launch("a").on("parts", {"i"})}),
            loop("i == 2 ? 2 : 0", {launch("b"), launch("a").on("parts", {"i"})})});
  app.task("other", {"k"}).variant(cpu()).writes("x");
  app.body({loop("k", {launch("b")})});
  app.task("main").variant(cpu());
  app.body({launch("outer").over({4}, {"p"}).with({"p"}), launch("other").with({1}).on("x"),
            launch("other").with({0}).on("y"), launch("b")});
  const Again again = record(app.top_level("main").done());
  EXPECT_EQ(test::trace_of(again.after.data()), test::trace_of(again.before.data()));
  EXPECT_THAT(again.recording.notes, Not(Contains(HasSubstr("something else"))));
  EXPECT_THAT(again.recording.notes,
              Contains(HasSubstr("of 1 of the launches of `other` no task")));
}

// Nothing tells the two kinds of runs apart: the more are taken.
TEST(Recording, RunsThatNothingTellsApart) {
  app::Events events = very_scattered(12);
  events.tasks.push_back({"outer", {{}}});
  events.shapes.push_back({2, 0, {}});
  events.launches.push_back({1, {}});
  events.contexts = {
      {0, -1, {}, 1, {{1}, {1}, {1}}}, {2, 1, {}, 2, {{0}}}, {2, 1, {}, 1, {{0}, {0}}}};
  const auto recorded = recorded_application(app::text_of(events), "kinds");
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_THAT(recorded->notes,
              Contains("1 of 3 runs of `outer` launch something else than the others"));
  EXPECT_EQ(recorded->app.find("outer")->body.size(), 1U);
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
              ::testing::AllOf(HasSubstr("`calculate_new_currents`, `distribute_charge`"),
                               HasSubstr(" did not run on GPU: their time there is that on CPU")));
}

TEST(Recording, EventsAreTheSameAgain) {
  const auto workload = Workload::make(find_benchmark("circuit")->make());
  const std::string text = app::text_of(test::events_of(workload->data()));
  const auto read = app::parse_events(text);
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
  events.shapes = {{1, 0, {{app::Events::ColorRule::kFixed, 0, 0, Privilege::kReadOnly, {}, {0}}}}};
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
  EXPECT_TRUE(app::is_within_event_limits({Point{-kMost, 0}, Point{1, kMost}}));
  EXPECT_FALSE(app::is_within_event_limits({Point{-kMost - 1}, Point{1}}));
  EXPECT_FALSE(app::is_within_event_limits({Point{0}, Point{kMost + 1}}));
  EXPECT_FALSE(app::is_within_event_limits({Point{0}, Point{-1}}));
  EXPECT_FALSE(app::is_within_event_limits({Point{0, 0}, Point{kMost, 2}}));
  EXPECT_FALSE(app::is_within_event_limits({Point{0, 0}, Point{kMost, kMost}}));
  events.launches[0].numbers = {kMost + 1};
  EXPECT_EQ(recorded().error().code, Error::Code::kTooLarge);
  events.launches[0].numbers = {0};
  events.contexts.push_back(events.contexts[0]);
  events.contexts[0].count = events.contexts[1].count = kMost;
  static_cast<void>(recorded());
}

// A partition cuts its region, which has the number -1, or the pieces of an earlier partition.
TEST(Recording, PartitionsAreOfEarlierOnes) {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}};
  events.regions = {{"x", {Point{0}, Point{100}}, 100, {{"v", 8}}}};
  events.partitions.assign(3, {"parts", 0, -1, {Point{0}, Point{4}}, {}});
  events.contexts = {{0, -1, {}, 1, {}}};
  for (std::int32_t number = 0; number < 3; ++number) {
    for (std::int32_t outer = -3; outer <= 4; ++outer) {
      for (app::Events::Partition& each : events.partitions) each.outer = -1;
      events.partitions[static_cast<std::size_t>(number)].outer = outer;
      const auto read = app::parse_events(app::text_of(events));
      EXPECT_EQ(read.ok(), outer >= -1 && outer < number) << number << " of " << outer;
      if (!read.ok()) {
        EXPECT_EQ(read.error().code, Error::Code::kMalformed);
      }
    }
  }
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
