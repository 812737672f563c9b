// One mapping twice in a real Legion, by the adapter and by the C++ that `groma emit` makes of it:
// tasks say where they run and where and how their data lies, and say the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <legion.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include GROMA_EMITTED
#include "groma/legion.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::DomainPoint;
using Legion::PhysicalRegion;

constexpr Legion::MapperID kAdapter = 1;
constexpr Legion::MapperID kEmitted = 2;
constexpr Legion::MapperID kWatched = 3;
constexpr std::array kMappers = {kAdapter, kEmitted};
constexpr Legion::FieldID kFirst = 10;
constexpr Legion::FieldID kSecond = 11;

enum Tasks : Legion::TaskID {
  kWork = 1,
  kSquare,
  kCube,
  kSpread,
  kUnmapped,
  kHeld,
  kLook,
  kChild,
  kMother,
  kShards,
  kTogether,
  kCounted
};

// ---- Tasks that say what they see

std::size_t index_of(Legion::Processor processor) {
  std::vector<Legion::Processor> cpus;
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  for (const auto cpu : query.only_kind(Legion::Processor::LOC_PROC)) cpus.push_back(cpu);
  std::sort(cpus.begin(), cpus.end());
  return static_cast<std::size_t>(std::find(cpus.begin(), cpus.end(), processor) - cpus.begin());
}

std::int64_t here(Context context, Legion::Runtime* runtime) {
  return static_cast<std::int64_t>(index_of(runtime->get_executing_processor(context)));
}

// Of at most two regions: the kind of memory, how far from the first element the next ones lie, and
// whether it is aligned.
struct Seen {
  std::int64_t processor = -1;
  std::array<std::array<std::int64_t, 5>, 2> regions{};
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen see(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
         Legion::Runtime* runtime) {
  Seen seen;
  seen.processor = here(context, runtime);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    std::set<Legion::Memory> memories;
    regions[r].get_memories(memories);
    using Accessor = Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                                           Realm::AffineAccessor<double, 2, Legion::coord_t>>;
    const Accessor first(regions[r], kFirst), second(regions[r], kSecond);
    const Legion::Point<2> corner =
        runtime->get_index_space_domain(context, task->regions[r].region.get_index_space())
            .bounds<2, Legion::coord_t>()
            .lo;
    const auto at = [](const double* p) {
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
    };
    const std::int64_t origin = at(first.ptr(corner));
    seen.regions[r] = {memories.begin()->kind(),
                       at(first.ptr(corner + Legion::Point<2>(1, 0))) - origin,
                       at(first.ptr(corner + Legion::Point<2>(0, 1))) - origin,
                       at(second.ptr(corner)) - origin, origin % 128 == 0 ? 1 : 0};
  }
  return seen;
}

std::int64_t run_child(const Legion::Task* task, Context context, Legion::Runtime* runtime) {
  Legion::TaskLauncher launcher(kChild, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                task->map_id);
  return runtime->execute_task(context, launcher).get_result<Seen>().processor;
}

// Where it runs, and its child.
std::array<std::int64_t, 2> mother(const Legion::Task* task, const std::vector<PhysicalRegion>&,
                                   Context context, Legion::Runtime* runtime) {
  return {here(context, runtime), run_child(task, context, runtime)};
}

// Mapped and not ended, of the tasks `held` on one processor: now and at most.
std::mutex held_mutex;
std::array<int, 64> held_now;
int held_most = 0;

Seen held(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
          Legion::Runtime* runtime) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Seen seen = see(task, regions, context, runtime);
  const std::lock_guard lock(held_mutex);
  --held_now[static_cast<std::size_t>(seen.processor)];
  return seen;
}

// The emitted mapper, watched: somebody's own class can derive from it.
class Watched final : public emitted0::Emitted0 {
 public:
  using Emitted0::Emitted0;
  void map_task(Legion::Mapping::MapperContext context, const Legion::Task& task,
                const MapTaskInput& input, MapTaskOutput& output) override {
    Emitted0::map_task(context, task, input, output);
    const std::lock_guard lock(held_mutex);
    held_most = std::max(held_most, ++held_now[index_of(output.target_procs.front())]);
  }
};

// How many of a launch of `counted` run at once, now and at most.
std::atomic<int> counted_now = 0, counted_most = 0;

Seen counted(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
             Legion::Runtime* runtime) {
  const int now = ++counted_now;
  for (int most = counted_most; most < now && !counted_most.compare_exchange_weak(most, now);) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  --counted_now;
  return see(task, regions, context, runtime);
}

void use_watched(const Legion::RegistrationCallbackArgs& args) {
  auto shared = std::make_shared<emitted0::Shared>();
  shared->runtime = args.runtime;
  for (const Legion::Processor p : args.local_procs) {
    args.runtime->add_mapper(
        kWatched, new Watched(args.runtime->get_mapper_runtime(), args.machine, p, shared), p);
  }
}

// What the points of a launch inside the shards saw, and how many shards there were. In one
// process.
constexpr std::int64_t kSide = 6;
std::array<std::atomic<std::int64_t>, kSide * kSide> inner;
std::atomic<int> shards_seen;
std::array<std::atomic<std::int64_t>, 64> epoch;  // of a must epoch there

Seen square(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
            Legion::Runtime* runtime) {
  const Seen seen = see(task, regions, context, runtime);
  const DomainPoint& p = task->index_point;
  const auto inside = [](std::int64_t x) { return x >= 0 && x < kSide; };
  if (inside(p[0]) && inside(p[1])) {
    inner[static_cast<std::size_t>(p[0] * kSide + p[1])] = seen.processor;
  }
  return seen;
}

Seen together(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
              Legion::Runtime* runtime) {
  const Seen seen = see(task, regions, context, runtime);
  epoch[static_cast<std::size_t>(task->index_point[0])] = seen.processor;
  return seen;
}

void shards(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  ++shards_seen;
  const Legion::Domain domain(Legion::Rect<2>({0, 0}, {kSide - 1, kSide - 1}));
  Legion::IndexTaskLauncher launcher(kSquare, domain, Legion::UntypedBuffer(),
                                     Legion::ArgumentMap(), Legion::Predicate::TRUE_PRED, false,
                                     task->map_id);
  runtime->execute_index_space(context, launcher);
  Legion::MustEpochLauncher at_once(task->map_id);
  Legion::Machine::ProcessorQuery cpus(Legion::Machine::get_machine());
  const auto count =
      static_cast<Legion::coord_t>(cpus.only_kind(Legion::Processor::LOC_PROC).count());
  at_once.add_index_task({kTogether, Legion::Domain(Legion::Rect<1>(0, count - 1)),
                          Legion::UntypedBuffer(), Legion::ArgumentMap(),
                          Legion::Predicate::TRUE_PRED, false, task->map_id});
  runtime->execute_must_epoch(context, at_once);
  runtime->issue_execution_fence(context).wait();
}

template <auto kTask>
void add_task(Legion::TaskID id, const char* name, bool leaf = true) {
  Legion::TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(leaf);
  registrar.set_replicable(!leaf);
  using Result =
      std::invoke_result_t<decltype(kTask), const Legion::Task*, const std::vector<PhysicalRegion>&,
                           Context, Legion::Runtime*>;
  if constexpr (std::is_void_v<Result>) {
    Legion::Runtime::preregister_task_variant<kTask>(registrar, name);
  } else {
    Legion::Runtime::preregister_task_variant<Result, kTask>(registrar, name);
  }
}

const BeforeStart kSetUp([] {
  add_task<see>(kWork, "work");
  add_task<square>(kSquare, "square");
  add_task<see>(kCube, "cube");
  add_task<together>(kTogether, "together");
  add_task<see>(kSpread, "spread");
  add_task<see>(kUnmapped, "unmapped");
  add_task<held>(kHeld, "held");
  add_task<counted>(kCounted, "counted");
  add_task<see>(kLook, "look");
  add_task<see>(kChild, "child");
  add_task<mother>(kMother, "mother", false);
  add_task<shards>(kShards, "shards", false);
  const auto error =
      legion::use_file(GROMA_SOURCE_DIR "/tests/legion/emitted.mapper", {kAdapter, nullptr});
  if (error) {
    std::fprintf(stderr, "%s\n", error->message.c_str());
    std::exit(1);
  }
  use_emitted0(kEmitted);
  Legion::Runtime::add_registration_callback(use_watched, Legion::UntypedBuffer(), false);
});

// ---- The same by both

std::vector<Seen> launch(Legion::TaskID task, const Legion::Domain& domain, Legion::MapperID mapper,
                         const std::vector<Legion::RegionRequirement>& requirements = {}) {
  Legion::IndexTaskLauncher launcher(task, domain, Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, mapper);
  for (const auto& requirement : requirements) launcher.add_region_requirement(requirement);
  const Legion::FutureMap results = runtime()->execute_index_space(context(), launcher);
  std::vector<Seen> seen;
  for (Legion::Domain::DomainPointIterator at(domain); at; at++) {
    seen.push_back(results.get_result<Seen>(*at));
  }
  return seen;
}

void expect_same(Legion::TaskID task, const Legion::Domain& domain,
                 const std::vector<Legion::RegionRequirement>& requirements = {}) {
  const auto adapter = launch(task, domain, kAdapter, requirements);
  const auto emitted = launch(task, domain, kEmitted, requirements);
  ASSERT_EQ(adapter.size(), emitted.size());
  for (std::size_t i = 0; i < adapter.size(); ++i) {
    EXPECT_EQ(adapter[i].processor, emitted[i].processor) << "task " << task << ", point " << i;
    EXPECT_EQ(adapter[i].regions, emitted[i].regions) << "task " << task << ", point " << i;
  }
}

TEST(Emitted, PointsRunWhereTheAdapterPutsThem) {
  for (const std::int64_t n : {1, 3, 37}) {
    expect_same(kWork, Legion::Domain(Legion::Rect<1>(5, 4 + n)));
  }
  expect_same(kSquare, Legion::Domain(Legion::Rect<2>({-2, 3}, {6, 9})));
  expect_same(kCube, Legion::Domain(Legion::Rect<3>({0, 0, 0}, {3, 4, 2})));
}

TEST(Emitted, LaunchesWithHoles) {
  std::vector<Legion::Point<1>> points;
  for (std::int64_t i = 0; i < 40; ++i) points.emplace_back(3 * i);
  const auto space = runtime()->create_index_space(context(), points);
  expect_same(kWork, runtime()->get_index_space_domain(context(), space));
}

// On any processor.
TEST(Emitted, SetsAndUnmappedTasksRun) {
  for (const Legion::TaskID task : {kSpread, kUnmapped}) {
    for (const Legion::MapperID mapper : kMappers) {
      for (const Seen& seen : launch(task, Legion::Domain(Legion::Rect<1>(0, 19)), mapper)) {
        EXPECT_GE(seen.processor, 0);
      }
    }
  }
}

TEST(Emitted, ChildrenRunBesideTheirParents) {
  for (const Legion::MapperID mapper : kMappers) {
    for (int i = 0; i < 4; ++i) {
      Legion::TaskLauncher launcher(kMother, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                    mapper);
      const auto seen =
          runtime()->execute_task(context(), launcher).get_result<std::array<std::int64_t, 2>>();
      EXPECT_EQ(seen[0], seen[1]);
    }
  }
}

Legion::LogicalRegion region_named(const char* name) {
  const auto space = runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {7, 15}));
  const auto fields = runtime()->create_field_space(context());
  auto allocator = runtime()->create_field_allocator(context(), fields);
  allocator.allocate_field(sizeof(double), kFirst);
  allocator.allocate_field(sizeof(double), kSecond);
  const auto region = runtime()->create_logical_region(context(), space, fields);
  runtime()->attach_name(region, name);
  for (const Legion::FieldID field : {kFirst, kSecond}) {
    runtime()->fill_field<double>(context(), region, region, field, 1.0);
  }
  return region;
}

Legion::RegionRequirement reads(Legion::LogicalRegion region) {
  Legion::RegionRequirement requirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region);
  requirement.add_field(kFirst).add_field(kSecond);
  return requirement;
}

TEST(Emitted, DataLiesAsTheAdapterLaysIt) {
  std::array<Seen, 3> seen;
  for (const Legion::MapperID mapper : kMappers) {
    Legion::TaskLauncher launcher(kLook, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                  mapper);
    for (const char* name : {"cells", "others"}) {
      launcher.add_region_requirement(reads(region_named(name)));
    }
    seen[mapper] = runtime()->execute_task(context(), launcher).get_result<Seen>();
  }
  EXPECT_EQ(seen[kAdapter], seen[kEmitted]);
  // AOS, C order in the registered memory; SOA, Fortran order, aligned.
  const auto& cells = seen[kEmitted].regions[0];
  EXPECT_EQ(cells[0], Legion::Memory::REGDMA_MEM);
  EXPECT_EQ(cells[1], 16 * 16);
  EXPECT_EQ(cells[3], 8);
  EXPECT_EQ(seen[kEmitted].regions[1][1], 8);
  EXPECT_EQ(seen[kEmitted].regions[1][4], 1);
}

// Of a partition: `Exact` gives each point an instance of its part alone.
TEST(Emitted, PartsLieAsTheAdapterLaysThem) {
  const auto region = region_named("cells");
  const auto colors = runtime()->create_index_space(context(), Legion::Rect<1>(0, 3));
  Legion::Transform<2, 1> transform;
  transform[0][0] = 2;
  transform[1][0] = 0;
  const auto partition = runtime()->create_partition_by_restriction(
      context(), Legion::IndexSpaceT<2>(region.get_index_space()), Legion::IndexSpaceT<1>(colors),
      transform, Legion::Rect<2>({0, 0}, {1, 15}));
  const auto parts = runtime()->get_logical_partition(context(), region, partition);
  Legion::RegionRequirement requirement(parts, 0, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region);
  requirement.add_field(kFirst).add_field(kSecond);
  expect_same(kWork, Legion::Domain(Legion::Rect<1>(0, 3)), {requirement});
  const auto seen = launch(kWork, Legion::Domain(Legion::Rect<1>(0, 3)), kEmitted, {requirement});
  EXPECT_EQ(seen[0].regions[0][0], Legion::Memory::REGDMA_MEM);
  EXPECT_EQ(seen[0].regions[0][2], 8);           // C order
  EXPECT_EQ(seen[0].regions[0][3], 2 * 16 * 8);  // the other field follows two rows, not eight
}

TEST(Emitted, LimitsHold) {
  const Legion::Domain domain(Legion::Rect<1>(0, 99));
  expect_same(kHeld, domain);
  held_now = {};
  held_most = 0;
  launch(kHeld, domain, kWatched);
  EXPECT_EQ(held_most, 2);
}

TEST(Emitted, LimitsOfTheMachineHold) {
  for (const Legion::MapperID mapper : kMappers) {
    counted_most = 0;
    launch(kCounted, Legion::Domain(Legion::Rect<1>(0, 39)), mapper);
    EXPECT_EQ(counted_most, 2);
  }
}

TEST(Emitted, ShardsOwnWhatTheAdapterGivesThem) {
  std::array<std::vector<std::int64_t>, 3> seen;
  std::array<int, 3> counts{};
  for (const Legion::MapperID mapper : kMappers) {
    shards_seen = 0;
    for (auto& point : inner) point = -1;
    for (auto& point : epoch) point = -1;
    Legion::TaskLauncher launcher(kShards, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                  mapper);
    runtime()->execute_task(context(), launcher).get_void_result();
    seen[mapper].assign(inner.begin(), inner.end());
    counts[mapper] = shards_seen;
    EXPECT_GE(epoch[0], counts[mapper] - 1);  // the last
    for (std::int64_t i = 0; i <= epoch[0]; ++i) {
      EXPECT_EQ(epoch[static_cast<std::size_t>(i)], epoch[0] - i);
    }
  }
  EXPECT_EQ(seen[kAdapter], seen[kEmitted]);
  EXPECT_THAT(seen[kEmitted], ::testing::Each(::testing::Ge(0)));
  EXPECT_EQ(counts[kAdapter], counts[kEmitted]);
  EXPECT_GT(counts[kEmitted], 1);
}

}  // namespace
}  // namespace groma::legion_test
