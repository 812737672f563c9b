// Which shard owns a point: of the cyclic functor, and of a program's functions.
#include "groma/sharding.h"

#include <gmock/gmock.h>

#include <set>

#include "groma/evaluate.h"
#include "unit/mapper/hooks.h"

namespace groma {
namespace {

using test::cpu;
using test::FakeTask;
using test::gpu;
using test::machine_of;
using test::Mapping;
using test::rect;

TEST(Sharding, TheShardOfAProcessor) {
  const std::vector<Processor> by_node = {cpu(0, 0), cpu(1, 0), cpu(2, 0)};
  EXPECT_EQ(shard_of(cpu(1, 0), by_node), 1U);  // itself
  EXPECT_EQ(shard_of(gpu(2, 3), by_node), 2U);  // the one of its node
  EXPECT_EQ(shard_of(gpu(4, 0), by_node), 1U);  // no shard there: 4 of 3
  const std::vector<Processor> several = {gpu(0, 1), gpu(1, 0), gpu(0, 0)};
  EXPECT_EQ(shard_of(gpu(0, 0), several), 2U);
  EXPECT_EQ(shard_of(gpu(0, 2), several), 0U);  // the shards of node 0 in turn
  EXPECT_EQ(shard_of(gpu(0, 3), several), 2U);
  EXPECT_EQ(shard_of(cpu(1, 5), several), 1U);
}

// Every point in turn, the first coordinate fastest.
TEST(Sharding, CyclicGoesRound) {
  const CyclicSharding cyclic;
  for (const Rect& domain :
       {rect({7}), Rect{{-3, 4}, {3, 5}}, Rect{{1, -1, 2}, {2, 3, 4}}, Rect{{}, {}}}) {
    for (std::size_t count : {1U, 2U, 3U, 7U, 100U}) {
      const std::vector<Processor> shards(count);
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
  const std::vector<Processor> shards(1000);
  const Rect domain{{-kFar, 0}, {kFar, 2}};
  // -1 is point kFar - 1 of its row; the second row begins at kFar.
  EXPECT_EQ(cyclic.shard({-1, 0}, domain, shards), (kFar - 1) % 1000);
  EXPECT_EQ(cyclic.shard({-kFar, 1}, domain, shards), kFar % 1000);
}

// Each shard's boxes hold its points, and all of them together each point once.
void expect_boxes_agree(const ShardingFunctor& functor, const Rect& domain, ShardTable shards) {
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

TEST(Sharding, BoxesOfAShard) {
  const std::vector<Processor> shards = {cpu(0, 0), cpu(1, 0), cpu(2, 0)};
  expect_boxes_agree(CyclicSharding(), Rect{{2, -1}, {4, 3}}, shards);
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
  test::FakeRuntime runtime;
  const Rect domain{{-2, 1}, {24, 2}};
  std::vector<Processor> by_node, by_gpu;
  for (std::int64_t node = 0; node < 3; ++node) {
    by_node.push_back(cpu(node, 1));
    for (std::int64_t i = 0; i < 4; ++i) by_gpu.push_back(gpu(node, i));
  }
  for (const char* name : {"blocks", "nodes"}) {
    FakeTask task(name, {ProcKind::kGpu}, name[0] == 'b' ? 1 : 2);
    task.launch(domain);
    for (const auto& shards : {by_node, by_gpu}) {
      const ShardingId id = mapper.select_sharding_functor(runtime, task.view(), shards);
      ASSERT_GT(id, 0U);
      ASSERT_LE(id, mapper.sharding_functors().size());
      const ShardingFunctor& functor = *mapper.sharding_functors()[id - 1];
      const SliceAnswer slices = test::slices_of(mapper, task.view(), domain);
      ASSERT_FALSE(slices.failure);
      for (const TaskSlice& slice : slices.slices) {
        const ShardId shard = functor.shard(slice.box.lower, domain, shards);
        EXPECT_EQ(shard, shard_of(slice.processor, shards));
        EXPECT_EQ(shards[shard].node, slice.processor.node);
      }
      expect_boxes_agree(functor, domain, shards);
    }
  }
}

TEST(Sharding, WithoutAStatementOrForAnotherOperationCyclic) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  test::FakeRuntime runtime;
  const std::vector<Processor> shards = {cpu(0, 0), cpu(1, 0)};
  FakeTask other("other", {ProcKind::kGpu});
  other.launch(rect({4}));
  EXPECT_EQ(mapper.select_sharding_functor(runtime, other.view(), shards), kCyclicSharding);
  FakeTask fill("blocks", {}, 2);
  fill.launch(rect({4})).base.operation = OperationKind::kFill;
  EXPECT_EQ(mapper.select_sharding_functor(runtime, fill.view(), shards), kCyclicSharding);
}

// slice_task reports what goes wrong; every shard has to agree before that.
TEST(Sharding, WhereTheFunctionFailsShard0) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  test::FakeRuntime runtime;
  const std::vector<Processor> shards = {cpu(0, 0), cpu(1, 0)};
  FakeTask task("lost", {ProcKind::kGpu});
  task.launch(rect({4}));
  const ShardingId id = mapper.select_sharding_functor(runtime, task.view(), shards);
  const ShardingFunctor& functor = *mapper.sharding_functors()[id - 1];
  EXPECT_EQ(functor.shard({1}, rect({4}), shards), 1U);
  EXPECT_EQ(functor.shard({3}, rect({4}), shards), 0U);
  EXPECT_TRUE(test::slices_of(mapper, task.view(), rect({4})).failure.has_value());
}

// Its owner starts it where the function says, which may ask where the parent stands.
TEST(Sharding, ASingleTaskIsSentOnByItsOwner) {
  Mapping mapping(std::string(kProgram), machine_of("nodes=2,gpu=2"));
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  test::FakeRuntime runtime;
  const std::vector<Processor> shards = {cpu(0, 0), cpu(1, 0)};
  FakeTask task("one", {ProcKind::kGpu});
  EXPECT_EQ(mapper.select_sharding_functor(runtime, task.view(), shards), kCyclicSharding);
  TaskOptions options;
  mapper.select_task_options(runtime, task.view(), options);
  EXPECT_EQ(options.initial.node, 1);
}

}  // namespace
}  // namespace groma
