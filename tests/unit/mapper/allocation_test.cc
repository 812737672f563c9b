// After warm-up the hooks that a runtime calls for every task allocate nothing.
// The operators are not inlined, so that g++ does not take malloc and new for a mismatch.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "unit/mapper/hooks.h"

namespace {
std::atomic<std::int64_t> allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto to = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(to, (size + to - 1) / to * to)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace groma::test {
namespace {

template <typename Work>
std::int64_t allocations_of(const Work& work) {
  for (int i = 0; i < 3; ++i) work();  // buffers grow, names are looked up
  const std::int64_t before = allocations;
  for (int i = 0; i < 100; ++i) work();
  return allocations - before;
}

TEST(Allocation, IsCounted) {
  const auto work = [] {
    int* volatile kept = new int(3);
    delete kept;
  };
  EXPECT_EQ(allocations_of(work), 100);
}

// The hooks for every task of `mapper`: a task with four regions, and a launch of it. `keyed`: the
// runtime promises equal names by equal keys.
void expect_no_allocation(Mapper& mapper, bool keyed = true) {
  FakeRuntime runtime;
  FakeTask task("calculate_new_currents", {ProcKind::kCpu, ProcKind::kGpu});
  std::uint64_t key = 0;
  for (const char* name : {"rp_wires", "rp_private", "rp_shared", "rp_ghost"}) {
    task.region({name, "a partition's name that is long"},
                key == 0 ? Privilege::kReadWrite : Privilege::kReadOnly, keyed ? key + 1 : 0);
    ++key;
  }
  TaskView view = task.at(gpu(0, 1));
  const std::vector<TaskView> ready(8, view);

  MapTaskOutput choice;
  EXPECT_EQ(allocations_of([&] {
              choice.clear();
              mapper.map_task(runtime, view, {}, choice);
              mapper.report_profiling(runtime, view, {});
            }),
            0);
  EXPECT_EQ(choice.requirements.size(), 4U);
  SelectMappingOutput schedule;
  EXPECT_EQ(allocations_of([&] {
              schedule.clear();
              runtime.triggered.clear();
              mapper.select_tasks_to_map(runtime, ready, schedule);
              for (int i = 0; i < 8; ++i) mapper.report_profiling(runtime, view, {});
            }),
            0);
  EXPECT_FALSE(schedule.map.empty());
  TaskOptions options;
  const auto choose = [&] {
    options.clear();
    mapper.select_task_options(runtime, view, options);
  };
  EXPECT_EQ(allocations_of(choose), 0);
  view.is_index = true;
  view.domain = rect({64});
  EXPECT_EQ(allocations_of(choose), 0);
  EXPECT_EQ(options.initial.kind, ProcKind::kGpu);
}

TEST(Allocation, DefaultMapper) {
  DefaultMapper mapper(
      {std::make_shared<Machine>(machine_of("nodes=2,gpu=2,cpu=4")), cpu(0, 0), {}, nullptr});
  expect_no_allocation(mapper);
}

TEST(Allocation, ProgramMapper) {
  Mapping mapping(
      "Task * GPU,CPU;\nRegion * * GPU FBMEM;\nRegion * rp_shared GPU ZCMEM,FBMEM;\n"
      "Region * rp_ghost GPU ZCMEM;\nLayout * * * C_order SOA Align==64;\n"
      "CollectMemory calculate_new_currents *;\nInstanceLimit calculate_new_currents 4;\n"
      "ControlReplicate main;\nTaskSteal other GPU ANY_NODE;\n",
      machine_of("nodes=2,gpu=2,cpu=4"));
  expect_no_allocation(mapping.on(gpu(0, 1)));
  expect_no_allocation(mapping.on(gpu(0, 1)), false);
}

TEST(Allocation, PointsThatAFunctionPlaces) {
  Mapping mapping(
      "Task * GPU;\nm = Machine(GPU);\n"
      "def cyclic(Task t) { return m[t.ipoint[0] % m.size[0], t.ipoint[0] / 2 % m.size[1]]; }\n"
      "IndexTaskMap * cyclic;\n",
      machine_of("nodes=2,gpu=2,cpu=4"));
  ProgramMapper& mapper = mapping.on(gpu(0, 1));
  FakeRuntime runtime;
  FakeTask task("t", {ProcKind::kGpu});
  TaskView view = task.at(gpu(0, 1));
  view.is_index = true;
  view.domain = rect({64});
  MapTaskOutput choice;
  std::int64_t x = 0;
  EXPECT_EQ(allocations_of([&] {
              view.point = Point{x = (x + 4) % 64};
              choice.clear();
              mapper.map_task(runtime, view, {}, choice);
            }),
            0);
  EXPECT_EQ(choice.processors, std::vector{gpu(0, x / 2 % 2)});
}

// A function that gives the set `text`, for a launch and for a single task on GPU (0, 1).
void expect_set_without_allocation(const std::string& index, const std::string& single,
                                   const std::vector<Processor>& expected) {
  Mapping mapping("Task * GPU;\nm = Machine(GPU);\ndef index(Task t) { return " + index +
                      "; }\ndef single(Task t) { return " + single +
                      "; }\nIndexTaskMap * index;\nSingleTaskMap * single;\n",
                  machine_of("nodes=2,gpu=3,cpu=4"));
  ProgramMapper& mapper = mapping.on(gpu(0, 1));
  FakeRuntime runtime;
  FakeTask parent("main", {ProcKind::kCpu}, 2);
  const TaskView above = parent.at(cpu(0, 0));
  FakeTask task("t", {ProcKind::kGpu});
  TaskView view = task.at(gpu(0, 1));
  view.parent = &above;
  MapTaskOutput choice;
  TaskOptions options;
  const auto map = [&] {
    choice.clear();
    mapper.map_task(runtime, view, {}, choice);
    options.clear();
    mapper.select_task_options(runtime, view, options);
  };
  EXPECT_EQ(allocations_of(map), 0) << single;
  EXPECT_EQ(choice.processors, expected) << single;
  EXPECT_EQ(options.initial, expected.front()) << single;
  view.is_index = true;
  view.domain = rect({64});
  view.point = Point{2};
  EXPECT_EQ(allocations_of(map), 0) << index;
  EXPECT_EQ(choice.processors, expected) << index;
}

TEST(Allocation, Sets) {
  expect_set_without_allocation("m[t.ipoint[0] % 2, *]", "m[t.processor(m)[0], *]",
                                {gpu(0, 0), gpu(0, 1), gpu(0, 2)});
  // On several nodes: those of the first.
  expect_set_without_allocation("m[*, t.ipoint[0] % 2 + 1]", "m[*, t.processor(m)[1]]",
                                {gpu(0, 1)});
  // Of a view that was split.
  expect_set_without_allocation("m.split(0, 2)[t.ipoint[0] % 2, 0, *]", "m.swap(0, 1)[*, 0]",
                                {gpu(0, 0), gpu(0, 1), gpu(0, 2)});
}

// Shards are asked for every point, too.
TEST(Allocation, Sharding) {
  Mapping mapping(
      "Task * GPU;\nm = Machine(GPU);\ndef set(Task t) { return m[t.ipoint[0] % 2, *]; }\n"
      "def one(Task t) { return t.name == \"a name that is not short\" ? m[1, 1] : m[0, 0]; }\n"
      "IndexTaskMap * set;\nIndexTaskMap one one;\n",
      machine_of("nodes=2,gpu=2"));
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  const Rect domain = rect({64});
  std::int64_t x = 0, sum = 0;
  for (const ShardingFunctor* functor : mapping.on(gpu(0, 1)).sharding_functors()) {
    EXPECT_EQ(allocations_of([&] {
                x = (x + 1) % 64;
                sum += functor->shard({x}, domain, shards);
              }),
              0);
  }
  EXPECT_GT(sum, 100);
}

// Sanitizers and the C library know more ways to allocate; ours count all that C++ has.
TEST(Allocation, AnswersKeepTheirBuffers) {
  MapTaskOutput choice;
  choice.processors.resize(20);
  choice.requirements.resize(20);
  choice.future_memories.resize(20);
  choice.clear();
  EXPECT_TRUE(choice.processors.empty() && choice.requirements.empty());
  EXPECT_GE(choice.processors.capacity(), 20U);
  EXPECT_GE(choice.requirements.capacity(), 20U);
  EXPECT_GE(choice.future_memories.capacity(), 20U);
  TaskOptions options;
  options.collective.resize(20);
  options.clear();
  EXPECT_GE(options.collective.capacity(), 20U);
  MapOperationOutput operation;
  operation.requirements.resize(20);
  operation.clear();
  EXPECT_GE(operation.requirements.capacity(), 20U);
}

}  // namespace
}  // namespace groma::test
