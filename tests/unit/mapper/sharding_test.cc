// Which shard owns a point: of the cyclic functor, and of a program's functions.
#include "groma/sharding.h"

#include <gmock/gmock.h>

#include <random>
#include <set>
#include <thread>

#include "groma/evaluate.h"
#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

TEST(Sharding, TheShardOfAProcessor) {
  const ShardTable by_node({cpu(0, 0), cpu(1, 0), cpu(2, 0)});
  EXPECT_EQ(by_node.shard_of(cpu(1, 0)), 1U);  // itself
  EXPECT_EQ(by_node.shard_of(gpu(2, 3)), 2U);  // the one of its node
  EXPECT_EQ(by_node.shard_of(gpu(4, 0)), 1U);  // no shard there: 4 of 3
  const ShardTable several({gpu(0, 1), gpu(1, 0), gpu(0, 0)});
  EXPECT_EQ(several.shard_of(gpu(0, 0)), 2U);
  EXPECT_EQ(several.shard_of(gpu(0, 2)), 0U);  // the shards of node 0 in turn
  EXPECT_EQ(several.shard_of(gpu(0, 3)), 2U);
  EXPECT_EQ(several.shard_of(cpu(1, 5)), 1U);
  EXPECT_EQ(several.count_on(0), 2U);
  EXPECT_EQ(several.count_on(2), 0U);
  EXPECT_EQ(ShardTable().count_on(0), 0U);
}

// The rule as it stands in the header, by a look at all shards.
ShardId plain_shard_of(const Processor& processor, const std::vector<Processor>& shards) {
  std::vector<ShardId> on_node;
  for (ShardId s = 0; s < shards.size(); ++s) {
    if (shards[s] == processor) return s;
    if (shards[s].node == processor.node) on_node.push_back(s);
  }
  if (!on_node.empty()) {
    return on_node[static_cast<std::size_t>(processor.index) % on_node.size()];
  }
  return static_cast<ShardId>(static_cast<std::size_t>(processor.node) % shards.size());
}

TEST(Sharding, AnyTableKeepsTheRule) {
  std::mt19937 random(11);
  const auto below = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t nodes = 1 + below(7), kinds = 1 + below(2);
    const auto any = [&](std::int64_t node_count) {
      return Processor{static_cast<ProcKind>(below(kinds)), below(node_count) * (1 + round % 3),
                       below(5)};
    };
    std::vector<Processor> shards;  // some twice
    for (std::int64_t i = 1 + below(20); i > 0; --i) shards.push_back(any(nodes));
    const ShardTable table(shards);
    EXPECT_EQ(table.shards(), shards);
    for (int i = 0; i < 50; ++i) {
      const Processor processor = any(nodes + 3);
      EXPECT_EQ(table.shard_of(processor), plain_shard_of(processor, shards));
    }
  }
}

// Every point in turn, the first coordinate fastest.
TEST(Sharding, CyclicGoesRound) {
  const CyclicSharding cyclic;
  for (const Rect& domain :
       {rect({7}), Rect{{-3, 4}, {3, 5}}, Rect{{1, -1, 2}, {2, 3, 4}}, Rect{{}, {}}}) {
    for (std::size_t count : {1U, 2U, 3U, 7U, 100U}) {
      const ShardTable shards{std::vector<Processor>(count)};
      Point at = domain.lower;
      do {
        std::int64_t linear = 0;
        for (int d = domain.dimensions() - 1; d >= 0; --d) {
          linear = linear * domain.extents[d] + at[d] - domain.lower[d];
        }
        EXPECT_EQ(cyclic.shard(at, domain, shards), linear % static_cast<std::int64_t>(count));
      } while (next_point(domain, &at));
    }
  }
}

TEST(Sharding, CyclicOfALaunchWithoutEnd) {
  const CyclicSharding cyclic;
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const ShardTable shards{std::vector<Processor>(1000)};
  const Rect domain{{-kFar, 0}, {kFar, 2}};
  // -1 is point kFar - 1 of its row; the second row begins at kFar.
  EXPECT_EQ(cyclic.shard({-1, 0}, domain, shards), (kFar - 1) % 1000);
  EXPECT_EQ(cyclic.shard({-kFar, 1}, domain, shards), kFar % 1000);
}

// Each shard's boxes hold its points, and all of them together each point once.
void expect_boxes_agree(const ShardingFunctor& functor, const Rect& domain,
                        const ShardTable& shards) {
  std::int64_t points = 0;
  for (ShardId shard = 0; shard < shards.size(); ++shard) {
    functor.boxes_of(shard, domain, shards, [&](const Rect& box) {
      ASSERT_GT(box.volume(), 0);
      Point at = box.lower;
      do {
        ++points;
        EXPECT_TRUE(domain.contains(at));
        EXPECT_EQ(functor.shard(at, domain, shards), shard);
      } while (next_point(box, &at));
    });
  }
  EXPECT_EQ(points, domain.volume());
}

// As a look at every point gives them: in row-major order.
TEST(Sharding, CyclicBoxesComeInOrder) {
  struct Plain final : ShardingFunctor {
    ShardId shard(const Point& point, const LaunchDomain& domain,
                  const ShardTable& shards) const override {
      return CyclicSharding().shard(point, domain, shards);
    }
  };
  const ShardTable shards({cpu(0, 0), cpu(1, 0), cpu(2, 0), cpu(3, 0)});
  for (const Rect& domain : {rect({5, 7}), Rect{{2, -1, 9}, {4, 3, 6}}, rect({10, 1}), rect({2})}) {
    for (ShardId shard = 0; shard < shards.size(); ++shard) {
      const auto points_of = [&](const ShardingFunctor& functor) {
        std::vector<Point> points;
        functor.boxes_of(shard, domain, shards, [&](const Rect& box) {
          EXPECT_EQ(box.volume(), 1);
          points.push_back(box.lower);
        });
        return points;
      };
      EXPECT_EQ(points_of(CyclicSharding()), points_of(Plain()));
    }
  }
}

TEST(Sharding, BoxesOfAShard) {
  const ShardTable shards({cpu(0, 0), cpu(1, 0), cpu(2, 0)});
  expect_boxes_agree(CyclicSharding(), Rect{{2, -1}, {4, 3}}, shards);
  expect_boxes_agree(CyclicSharding(), rect({3, 1, 5}), shards);
  expect_boxes_agree(CyclicSharding(), Rect{{-7}, {100}}, shards);
  expect_boxes_agree(CyclicSharding(), rect({0}), shards);
  expect_boxes_agree(CyclicSharding(), Rect{}, shards);
}

constexpr std::string_view kProgram = R"(
Task * GPU;
m = Machine(GPU);
def block(Task task) {
  flat = task.ipoint[0] * m.volume / task.ispace[0];
  return m[flat / m.size[1], flat % m.size[1]];
}
def whole_node(Task task) { return m[task.ipoint[0] % m.size[0], *]; }
def beyond(Task task) { return m[task.ipoint[0], 0]; }
def fixed(Task task) { return m[1, 1]; }
IndexTaskMap blocks block;
IndexTaskMap nodes whole_node;
IndexTaskMap lost beyond;
SingleTaskMap one fixed;
)";

TEST(Sharding, APointBelongsToTheShardOfItsProcessor) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=3,gpu=4,cpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeRuntime runtime;
  const Rect domain{{-2, 1}, {24, 2}};
  std::vector<Processor> by_node, by_gpu;
  for (std::int64_t node = 0; node < 3; ++node) {
    by_node.push_back(cpu(node, 1));
    for (std::int64_t i = 0; i < 4; ++i) by_gpu.push_back(gpu(node, i));
  }
  // Two shards for the four GPUs of node 0, one of CPUs on node 1.
  const std::vector<Processor> mixed = {gpu(0, 2), cpu(1, 0), gpu(2, 1), gpu(0, 1), gpu(2, 0)};
  for (const char* name : {"blocks", "nodes"}) {
    FakeTask task(name, {ProcKind::kGpu}, name[0] == 'b' ? 1 : 2);
    task.launch(domain);
    for (const ShardTable& shards : {ShardTable(by_node), ShardTable(by_gpu), ShardTable(mixed)}) {
      const ShardingId id = mapper.select_sharding_functor(runtime, task.view(), shards);
      ASSERT_GT(id, 0U);
      ASSERT_LE(id, mapper.sharding_functors().size());
      const ShardingFunctor& functor = *mapper.sharding_functors()[id - 1];
      const SliceTaskOutput slices = slices_of(mapper, task.view(), domain);
      ASSERT_FALSE(slices.failure);
      for (const TaskSlice& slice : slices.slices) {
        const ShardId shard = functor.shard(slice.box.lower, domain, shards);
        EXPECT_EQ(shard, shards.shard_of(slice.processor));
        EXPECT_EQ(shards[shard].node, slice.processor.node);
      }
      expect_boxes_agree(functor, domain, shards);
    }
  }
}

TEST(Sharding, WithoutAStatementOrForAnotherOperationCyclic) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeRuntime runtime;
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  FakeTask other("other", {ProcKind::kGpu});
  other.launch(rect({4}));
  EXPECT_EQ(mapper.select_sharding_functor(runtime, other.view(), shards), kCyclicSharding);
  FakeTask fill("blocks", {}, 2);
  fill.launch(rect({4})).base.operation = OperationKind::kFill;
  EXPECT_EQ(mapper.select_sharding_functor(runtime, fill.view(), shards), kCyclicSharding);
}

// A shard that no processor of the machine is of, and nodes without shards.
TEST(Sharding, TablesThatDoNotFitTheMachine) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=3,gpu=4,cpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const Rect domain = rect({24, 2});
  for (const ShardTable& shards :
       {ShardTable({cpu(1, 0)}), ShardTable({cpu(0, 0), cpu(2, 0)}),
        ShardTable({cpu(0, 0), cpu(1, 0), cpu(2, 0), cpu(3, 0)}),
        ShardTable({gpu(0, 0), gpu(0, 1), gpu(0, 2), gpu(0, 3), gpu(0, 4), gpu(1, 0)})}) {
    expect_boxes_agree(*mapper.sharding_functors()[0], domain, shards);
  }
}

// What boxes_of gives first is not held until the launch is cut: 10^12 points in rows of one.
TEST(Sharding, BoxesAreStreamed) {
  Mapping mapping(
      "Task * GPU;\nm = Machine(GPU);\n"
      "def cyclic(Task t) { return m[t.ipoint[0] % m.size[0], t.ipoint[1] % m.size[1]]; }\n"
      "IndexTaskMap * cyclic;\n",
      machine_of("nodes=3,gpu=2"));
  const Rect domain = rect({1'000'000, 1'000'000});
  const ShardTable shards({gpu(0, 0), gpu(0, 1), gpu(1, 0), gpu(1, 1), gpu(2, 0), gpu(2, 1)});
  struct Enough {};
  int boxes = 0;
  const ShardingFunctor& functor = *mapping.on(cpu(0, 0)).sharding_functors()[0];
  EXPECT_THROW(functor.boxes_of(3, domain, shards,
                                [&](const Rect& box) {
                                  EXPECT_EQ(box.lower[0] % 3, 1);
                                  EXPECT_EQ(box.lower[1] % 2, 1);
                                  if (++boxes == 1'000) throw Enough();
                                }),
               Enough);
  EXPECT_EQ(functor.shard({4, 7}, domain, shards), 3U);  // the cursor is free again
}

// A function that reads its task's name shards as it places, under any statement.
TEST(Sharding, ByTheNameOfTheTask) {
  Mapping mapping(
      "Task * GPU;\nm = Machine(GPU);\n"
      "def far(Task t) { return t.name == \"left\" ? m[0, 0] : last(t); }\n"
      "def last(Task t) { return t.name != \"right\" ? m[1, 0] : m[2, t.ipoint[0] % 2]; }\n"
      "def plain(Task t) { return m[1, 1]; }\n"
      "IndexTaskMap * far;\nIndexTaskMap flat plain;\n",
      machine_of("nodes=3,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeRuntime runtime;
  const ShardTable shards({cpu(0, 0), cpu(1, 0), cpu(2, 0)});
  const Rect domain = rect({5});
  std::set<ShardingId> ids;
  TaskId id = 0;
  for (const char* name : {"left", "right", "other", "flat"}) {
    FakeTask task(name, {ProcKind::kGpu}, ++id);
    task.launch(domain);
    const ShardingId chosen = mapper.select_sharding_functor(runtime, task.view(), shards);
    ASSERT_LE(chosen, mapper.sharding_functors().size());
    ids.insert(chosen);
    const ShardingFunctor& functor = *mapper.sharding_functors()[chosen - 1];
    for (const TaskSlice& slice : slices_of(mapper, task.view(), domain).slices) {
      EXPECT_EQ(functor.shard(slice.box.lower, domain, shards), slice.processor.node) << name;
    }
    expect_boxes_agree(functor, domain, shards);
  }
  EXPECT_EQ(ids.size(), 4U);
  EXPECT_EQ(mapper.sharding_functors().size(), 3U + 2 * 2);  // of `plain` one
}

// More launches than are kept open, and more threads than one: all the same answers.
TEST(Sharding, ManyLaunchesFromManyThreads) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=3,gpu=4,cpu=2"));
  const ShardingFunctor& functor = *mapping.on(cpu(0, 0)).sharding_functors()[0];
  const ShardTable shards({cpu(0, 0), cpu(1, 0), cpu(2, 0)});
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int& each : wrong) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) {
        for (std::int64_t extent = 12; extent < 512; ++extent) {
          const Rect domain = rect({extent});
          for (std::int64_t x : {std::int64_t{0}, extent / 2, extent - 1}) {
            const ShardId expected = static_cast<ShardId>(x * 12 / extent / 4);
            if (functor.shard({x}, domain, shards) != expected) ++each;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

// slice_task reports what goes wrong; every shard has to agree before that.
TEST(Sharding, WhereTheFunctionFailsShard0) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeRuntime runtime;
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  FakeTask task("lost", {ProcKind::kGpu});
  task.launch(rect({4}));
  const ShardingId id = mapper.select_sharding_functor(runtime, task.view(), shards);
  const ShardingFunctor& functor = *mapper.sharding_functors()[id - 1];
  EXPECT_EQ(functor.shard({1}, rect({4}), shards), 1U);
  EXPECT_EQ(functor.shard({3}, rect({4}), shards), 0U);
  EXPECT_TRUE(slices_of(mapper, task.view(), rect({4})).failure.has_value());
  expect_boxes_agree(functor, rect({4}), shards);
}

// The same of a launch that takes too many steps: all of it is shard 0's, found within those steps.
TEST(Sharding, WhatTakesTooLongIsShard0s) {
  Mapping mapping(std::string(kSlow), machine_of("nodes=2,gpu=2"));
  const ShardingFunctor& functor = *mapping.on(cpu(0, 0)).sharding_functors()[1];
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  const Rect domain = rect({1'000'000'000});
  for (ShardId shard : {0U, 1U}) {
    std::vector<Rect> boxes;
    functor.boxes_of(shard, domain, shards, [&](const Rect& box) { boxes.push_back(box); });
    ASSERT_EQ(boxes.size(), shard == 0 ? 1U : 0U);
    for (const Rect& box : boxes) EXPECT_EQ(box.volume(), domain.volume());
  }
  expect_boxes_agree(functor, rect({20}), shards);
}

// A function that fails late and slowly: neither that it fails nor where may take for ever.
TEST(Sharding, WhatFailsAndTakesTooLongIsShard0s) {
  std::string text(kSlow);
  const std::string in_time = "node = t.ipoint[0] % 2;";
  text.replace(text.find(in_time), in_time.size(), "node = t.ipoint[0] == 7 ? 5 : 0;");
  Mapping mapping(text, machine_of("nodes=2,gpu=2"));
  const ShardingFunctor& functor = *mapping.on(cpu(0, 0)).sharding_functors()[1];
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  std::int64_t points = 0;
  const auto count = [&](const Rect& box) { points += box.volume(); };
  functor.boxes_of(1, rect({1'000'000'000}), shards, count);
  EXPECT_EQ(points, 0);
  functor.boxes_of(0, rect({1'000'000'000}), shards, count);
  EXPECT_EQ(points, 1'000'000'000);
  expect_boxes_agree(functor, rect({20}), shards);
}

// Its owner starts it where the function says, which may ask where the parent stands.
TEST(Sharding, ASingleTaskIsSentOnByItsOwner) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeRuntime runtime;
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  FakeTask task("one", {ProcKind::kGpu});
  EXPECT_EQ(mapper.select_sharding_functor(runtime, task.view(), shards), kCyclicSharding);
  TaskOptions options;
  mapper.select_task_options(runtime, task.view(), options);
  EXPECT_EQ(options.initial.node, 1);
}

}  // namespace
}  // namespace groma::test
