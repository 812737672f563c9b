// `task.irank` and `task.ivolume` through all hooks that place the points of launches.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "groma/program_mapper.h"
#include "groma/validate.h"
#include "mapper/launch_cutter.h"
#include "unit/mapper/hooks.h"

namespace groma {
namespace {

using Places = std::map<Point, Processor, PointBefore>;

struct Program4 {
  Source source;
  Diagnostics diags{source};
  BoundProgram bound;

  explicit Program4(std::string_view function)
      : source("m", fmt::format("Task * GPU;\nm = Machine(GPU);\n"
                                "def f(Task task) {{ {} }}\nIndexTaskMap * f;\n",
                                function)),
        bound(*bind(compile(source, diags), make_machine("nodes=2,gpu=2").value(), diags)) {}
};

constexpr std::string_view kByRank =
    "g = task.irank * m.volume / task.ivolume; return m[g / m.size[1], g % m.size[1]];";
// Reads the point, too, so that no index map can be specialised to a launch with holes.
constexpr std::string_view kByRankAndPoint =
    "g = (task.irank + task.ipoint[0]) % task.ivolume % m.volume;"
    "return m[g / m.size[1], g % m.size[1]];";
constexpr std::string_view kByPoint = "return m[task.ipoint[0] % 2, task.ipoint[1] % 2];";

LaunchDomain triangle(std::int64_t n) {
  const Rect box{{3, -1}, {n, n}};
  return {box, PointSet::from_predicate(box, [](const Point& p) {
                 return p[1] + 1 <= p[0] - 3;
               }).value()};
}

// What the reference evaluator says of each point.
Places expected_places(const Program4& program, const LaunchDomain& domain) {
  Places places;
  FunctionEvaluator evaluator(program.bound);
  Diagnostics diags(program.source);
  TaskPoint task;
  task.domain = domain.box;
  task.points = domain.some_points();
  domain.for_each_box(domain.box, [&](const Rect& box) {
    task.point = box.lower;
    do {
      places[task.point] = evaluator.place(0, task, ProcKind::kGpu, diags)->processors.front();
    } while (next_point(box, &task.point));
  });
  return places;
}

class LaunchRanks : public ::testing::TestWithParam<std::string_view> {
 protected:
  LaunchRanks() : program_(GetParam()), shared_(ProgramMapper::share(program_.bound)) {}

  TaskView view(const LaunchDomain& domain) {
    variant_.kind = ProcKind::kGpu;
    variant_.id = 1;
    TaskView view;
    view.name = "t";
    view.variants = {&variant_, 1};
    view.is_index = true;
    view.domain = domain.box;
    view.points = domain.some_points();
    view.current = {ProcKind::kGpu, 0, 0};
    view.depth = 1;
    view.parent = &parent_;
    return view;
  }
  std::unique_ptr<ProgramMapper> mapper() {
    return std::make_unique<ProgramMapper>(
        shared_, MapperSite{program_.bound.shared_machine(), {ProcKind::kGpu, 0, 0}});
  }

  TaskView parent_;
  VariantView variant_;
  Program4 program_;
  std::shared_ptr<ProgramMapper::Shared> shared_;
};

TEST_P(LaunchRanks, EveryHookPlacesAPointAlike) {
  const auto mapper = this->mapper();
  MapperRuntime runtime;
  for (const LaunchDomain& domain :
       {triangle(1), triangle(7), LaunchDomain(Rect{{2, 5}, {4, 3}})}) {
    const Places expected = expected_places(program_, domain);
    TaskView task = view(domain);

    // Slices, with and without shards.
    for (const std::size_t shards : {1U, 2U, 4U}) {
      std::vector<Processor> table;
      for (std::size_t i = 0; i < shards; ++i) {
        table.push_back(
            {ProcKind::kGpu, static_cast<std::int64_t>(i % 2), static_cast<std::int64_t>(i / 2)});
      }
      const mapper::LaunchCutter cutter{program_.bound.machine(), runtime,
                                        [&](const Processor&) -> Mapper& { return *mapper; },
                                        [](const std::vector<Refusal>& refusals) {
                                          for (const Refusal& refusal : refusals)
                                            ADD_FAILURE() << refusal.diagnostic.message;
                                          return refusals.empty();
                                        },
                                        [](const std::string& why) {
                                          ADD_FAILURE() << why;
                                          return false;
                                        }};
      TaskSlices slices;
      parent_.shards = static_cast<std::uint32_t>(shards);
      ASSERT_TRUE(cutter.cut(task, task.current, ShardTable(table), slices));
      Places places;
      for (const TaskSlice& slice : slices) {
        Point point = slice.box.lower;
        do {
          EXPECT_TRUE(places.emplace(point, slice.processor).second) << "a point in two slices";
        } while (next_point(slice.box, &point));
      }
      EXPECT_EQ(places, expected);
    }

    // The functor of the function says of each point what its boxes say.
    const ShardTable nodes({{ProcKind::kGpu, 0, 0}, {ProcKind::kGpu, 1, 0}});
    const ShardingFunctor& functor = *mapper->sharding_functors()[0];
    std::size_t points = 0;
    for (ShardId shard = 0; shard < 2; ++shard) {
      functor.boxes_of(shard, domain, nodes, [&](const Rect& box) {
        Point point = box.lower;
        do {
          ++points;
          ASSERT_TRUE(expected.contains(point));
          EXPECT_EQ(functor.shard(point, domain, nodes), shard);
          EXPECT_EQ(expected.at(point).node, static_cast<std::int64_t>(shard));
        } while (next_point(box, &point));
      });
    }
    EXPECT_EQ(points, expected.size());

    // map_task of a point.
    for (const auto& [point, processor] : expected) {
      task.point = point;
      task.current = processor;
      MapTaskOutput answer;
      mapper->map_task(runtime, task, {}, answer);
      ASSERT_FALSE(answer.failure);
      EXPECT_EQ(answer.processors.front(), processor);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, LaunchRanks,
                         ::testing::Values(kByRank, kByRankAndPoint, kByPoint));

TEST(Ranks, BalanceATriangle) {
  const Program4 program(kByRank);
  std::map<std::int64_t, int> loads;
  for (const auto& [point, processor] : expected_places(program, triangle(11))) {
    ++loads[2 * processor.node + processor.index];
  }
  // 66 points on 4 GPUs.
  EXPECT_EQ(loads, (std::map<std::int64_t, int>{{0, 17}, {1, 16}, {2, 17}, {3, 16}}));
}

TEST(Ranks, OnlyProgramsThatReadThemNeedThePoints) {
  const auto needs = [](std::string_view function) {
    const Program4 program(function);
    return ProgramMapper(ProgramMapper::share(program.bound),
                         MapperSite{program.bound.shared_machine(), {ProcKind::kGpu, 0, 0}})
        .reads_launch_points();
  };
  EXPECT_TRUE(needs(kByRank));
  EXPECT_FALSE(needs(kByPoint));
}

// A program may have a function that reads ranks for one task, and another function for the others.
TEST(Ranks, OnlyLaunchesOfTasksThatReadThemNeedThePoints) {
  Source source("m",
                "Task * GPU;\nm = Machine(GPU);\n"
                "def by_rank(Task task) { return m[0, task.irank % 2]; }\n"
                "def by_point(Task task) { return m[0, task.ipoint[0] % 2]; }\n"
                "IndexTaskMap update by_rank;\nIndexTaskMap fill by_point;\n");
  Diagnostics diags(source);
  const BoundProgram bound =
      *bind(compile(source, diags), make_machine("nodes=2,gpu=2").value(), diags);
  const ProgramMapper mapper(ProgramMapper::share(bound),
                             MapperSite{bound.shared_machine(), {ProcKind::kGpu, 0, 0}});
  VariantView variant;
  variant.kind = ProcKind::kGpu;
  variant.id = 1;
  TaskView task;
  task.variants = {&variant, 1};
  task.is_index = true;
  task.domain = {{0}, {4}};
  const auto needs = [&](TaskId id, std::string_view name) {
    task.id = id;
    task.name = name;
    return mapper.reads_launch_points_of(task);
  };
  EXPECT_TRUE(mapper.reads_launch_points());
  EXPECT_TRUE(needs(1, "update"));
  EXPECT_FALSE(needs(2, "fill"));
  EXPECT_FALSE(needs(3, "other"));
}

// A launch over a part of its sharding space. The functor divides the sharding space, so the slices
// of a shard are placed in it, too: every point stays on the node of its shard.
TEST_P(LaunchRanks, SlicesAgreeWithTheFunctorOfAnotherSpace) {
  const auto mapper = this->mapper();
  MapperRuntime runtime;
  const LaunchDomain space = triangle(7);
  const Places expected = expected_places(program_, space);
  const Rect part{{6, -1}, {4, 3}};
  const LaunchDomain launch{part, PointSet::from_predicate(part, [&](const Point& p) {
                                    return space.contains(p);
                                  }).value()};
  TaskView task = view(launch);
  task.sharding_space = &space;
  parent_.shards = 2;
  const ShardTable nodes({{ProcKind::kGpu, 0, 0}, {ProcKind::kGpu, 1, 0}});
  const ShardingFunctor& functor = *mapper->sharding_functors()[0];
  std::int64_t points = 0;
  launch.for_each_box(part, [&](const Rect& run) {
    SliceTaskOutput answer;
    mapper->slice_task(runtime, task, run, answer);
    ASSERT_FALSE(answer.failure);
    EXPECT_TRUE(validate(answer, task, run, program_.bound.machine()).empty());
    for (const TaskSlice& slice : answer.slices) {
      Point point = slice.box.lower;
      do {
        ++points;
        EXPECT_EQ(slice.processor, expected.at(point));
        EXPECT_EQ(functor.shard(point, space, nodes), static_cast<ShardId>(slice.processor.node));
      } while (next_point(slice.box, &point));
    }
  });
  EXPECT_EQ(points, launch.count());
  // Without shards, nobody asks the functor, and the launch is placed in its own domain.
  parent_.shards = 1;
  const Places own = expected_places(program_, launch);
  task.point = launch.first_point();
  task.current = own.begin()->second;
  MapTaskOutput answer;
  mapper->map_task(runtime, task, {}, answer);
  EXPECT_EQ(answer.processors.front(), own.begin()->second);
}

// A sharding space that lacks points of its launch is a mistake of the program. It is reported.
TEST_P(LaunchRanks, PointsOutsideTheSpaceAreErrors) {
  const auto mapper = this->mapper();
  MapperRuntime runtime;
  const LaunchDomain space = triangle(7), launch(space.box);
  TaskView task = view(launch);
  task.sharding_space = &space;
  parent_.shards = 2;
  task.point = Point{3, 5};
  ASSERT_FALSE(space.contains(task.point));
  MapTaskOutput answer;
  mapper->map_task(runtime, task, {}, answer);
  EXPECT_EQ(answer.failure.has_value(), GetParam() != kByPoint);
  if (answer.failure) {
    EXPECT_THAT(answer.failure->message, ::testing::HasSubstr("the point (3, 5) is not in"));
  }
  const ShardTable nodes({{ProcKind::kGpu, 0, 0}, {ProcKind::kGpu, 1, 0}});
  EXPECT_LT(mapper->sharding_functors()[0]->shard(task.point, space, nodes), 2U);
  EXPECT_LT(mapper->sharding_functors()[0]->shard(Point{99, 99}, space, nodes), 2U);
}

TEST(Ranks, SlicesHoldThePointsOfTheLaunchOnly) {
  const LaunchDomain domain = triangle(3);
  TaskView task;
  task.name = "t";
  task.is_index = true;
  task.domain = domain.box;
  task.points = domain.some_points();
  const Machine machine = make_machine("nodes=1,gpu=1").value();
  const Processor gpu{ProcKind::kGpu, 0, 0};
  const auto refusal_of = [&](const std::vector<Rect>& boxes) {
    SliceTaskOutput answer;
    for (const Rect& box : boxes) answer.slices.push_back({box, gpu});
    const auto refusals = validate(answer, task, domain.box, machine);
    return refusals.empty() ? std::string() : refusals.front().diagnostic.message;
  };
  EXPECT_EQ(refusal_of({{{3, -1}, {3, 1}}, {{4, 0}, {2, 1}}, {{5, 1}, {1, 1}}}), "");
  EXPECT_EQ(refusal_of({{{3, -1}, {3, 1}}, {{4, 0}, {2, 1}}}),
            "slice_task of `t`: at least 1 of 6 points are in no slice");
  EXPECT_EQ(refusal_of({{{3, -1}, {3, 2}}}),
            "slice_task of `t`: two slices hold the same point, another is in none");
  EXPECT_EQ(refusal_of({domain.box}), "slice_task of `t`: two slices hold the same point");
}

}  // namespace
}  // namespace groma
