// Our programs in a real Legion: tasks say on which processor they run and where their instances
// lie, and that is what the library says of the same program without Legion.
#include "legion/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/legion.h"
#include "groma/program_mapper.h"
#include "legion/machine_map.h"
#include "legion/sharding.h"
#include "legion/start.h"
#include "legion/task_views.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::DomainPoint;
using Legion::PhysicalRegion;
using Legion::Processor;

constexpr Legion::TaskID kWhere = 1;
constexpr Legion::TaskID kLook = 2;
constexpr Legion::TaskID kParent = 3;
constexpr Legion::TaskID kSquare = 4;
constexpr Legion::TaskID kScattered = 5;  // no function maps it
constexpr Legion::TaskID kSingle = 6;
constexpr Legion::TaskID kHeld = 7;
constexpr Legion::TaskID kTogether = 8;
constexpr Legion::TaskID kCrowded = 9;
constexpr Legion::MapperID kPlain = 1;
constexpr Legion::MapperID kReplicating = 2;
constexpr Legion::MapperID kLimited = 3;
constexpr Legion::FieldID kFirst = 10;
constexpr Legion::FieldID kSecond = 11;

constexpr const char* kProgram = R"(
m = Machine(CPU);
def block(Task t) { return m[0, t.ipoint[0] * m.size[1] / t.ispace[0]]; }
def diagonal(Task t) { return m[0, (t.ipoint[0] + 2 * t.ipoint[1]) % m.size[1]]; }
def turned(Task t) { return m[0, m.size[1] - 1 - t.ipoint[0]]; }
def one(Task t) { return m[0, 0]; }
def last(Task t) { return m[0, m.size[1] - 1]; }
Task * CPU;
IndexTaskMap where,held,parent block;
IndexTaskMap square diagonal;
IndexTaskMap together turned;
IndexTaskMap crowded one;
SingleTaskMap look,single last;
Region look cells CPU RDMEM;
Region look 1 CPU SYSMEM;
Layout look cells * AOS C_order;
Layout look others * SOA F_order Align==128;
)";

Program program(const char* more = "") {
  const Source source("test.mapper", std::string(kProgram) + more);
  Diagnostics diags(source);
  Program compiled = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return compiled;
}

// ---- Tasks that say where they are

std::int64_t cpu_index(Processor processor) {
  std::vector<Processor> cpus;
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  for (Processor cpu : query.only_kind(Processor::LOC_PROC)) cpus.push_back(cpu);
  std::sort(cpus.begin(), cpus.end());
  return std::find(cpus.begin(), cpus.end(), processor) - cpus.begin();
}

std::int64_t cpus() {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  return static_cast<std::int64_t>(query.only_kind(Processor::LOC_PROC).count());
}

std::int64_t where(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                   Legion::Runtime* runtime) {
  return cpu_index(runtime->get_executing_processor(context));
}

struct Seen {
  std::int64_t processor = -1;
  std::array<int, 2> memory{};
  // Distances in bytes from the first element: to the next in each dimension, to the other field.
  std::array<std::array<std::int64_t, 3>, 2> step{};
  std::array<std::uint64_t, 2> address{};
};

Seen look(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context context,
          Legion::Runtime* runtime) {
  Seen seen;
  seen.processor = cpu_index(runtime->get_executing_processor(context));
  for (std::size_t r = 0; r < 2; ++r) {
    std::set<Legion::Memory> memories;
    regions[r].get_memories(memories);
    seen.memory[r] = static_cast<int>(memories.begin()->kind());
    using Accessor = Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                                           Realm::AffineAccessor<double, 2, Legion::coord_t>>;
    const Accessor first(regions[r], kFirst);
    const Accessor second(regions[r], kSecond);
    const auto at = [](const double* p) {
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
    };
    const std::int64_t origin = at(first.ptr({0, 0}));
    seen.step[r] = {at(first.ptr({1, 0})) - origin, at(first.ptr({0, 1})) - origin,
                    at(second.ptr({0, 0})) - origin};
    seen.address[r] = static_cast<std::uint64_t>(origin);
  }
  return seen;
}

// What the points of a launch inside the replicated parent saw; one process, so plain memory will
// do.
constexpr std::int64_t kSide = 6;
std::array<std::atomic<std::int64_t>, kSide * kSide> inner_points;
std::atomic<std::int64_t> single_at;
std::mutex shards_mutex;
std::vector<std::int64_t> shard_processors;

void single(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  single_at = cpu_index(runtime->get_executing_processor(context));
}

void square(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  const DomainPoint& p = task->index_point;
  inner_points[static_cast<std::size_t>(p[0] * kSide + p[1])] =
      1 + cpu_index(runtime->get_executing_processor(context));
}

std::mutex together_mutex;
std::map<Legion::coord_t, std::int64_t> together_at, crowded_at;

void together(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
              Legion::Runtime* runtime) {
  const std::lock_guard lock(together_mutex);
  auto& seen = task->task_id == kTogether ? together_at : crowded_at;
  seen[task->index_point[0]] = cpu_index(runtime->get_executing_processor(context));
}

// Index launches over points of a line, at once.
void epoch_of(
    const Legion::Task* task, Context context, Legion::Runtime* runtime,
    const std::vector<std::pair<Legion::TaskID, std::array<Legion::coord_t, 2>>>& launches) {
  Legion::MustEpochLauncher epoch(task->map_id);
  for (const auto& [id, ends] : launches) {
    const Legion::Rect<2> points({ends[0], 0}, {ends[1], 0});
    epoch.add_index_task({id, Legion::Domain(points), Legion::UntypedBuffer(),
                          Legion::ArgumentMap(), Legion::Predicate::TRUE_PRED, false,
                          task->map_id});
  }
  runtime->execute_must_epoch(context, epoch);
}

void parent(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  {
    const std::lock_guard lock(shards_mutex);
    shard_processors.push_back(cpu_index(Processor::get_executing_processor()));
  }
  const Legion::Domain domain(Legion::Rect<2>({0, 0}, {kSide - 1, kSide - 1}));
  Legion::IndexTaskLauncher launcher(kSquare, domain, Legion::UntypedBuffer(),
                                     Legion::ArgumentMap(), Legion::Predicate::TRUE_PRED, false,
                                     task->map_id);
  runtime->execute_index_space(context, launcher);
  epoch_of(task, context, runtime, {{kTogether, {0, cpus() - 1}}});
  if (task->map_id == kPlain) {  // shards do not take several launches: see docs/legion.md
    epoch_of(task, context, runtime,
             {{kCrowded, {0, cpus() / 2 - 1}}, {kCrowded, {cpus() / 2, cpus() - 1}}});
  }
  // Its future must not be read here: see docs/legion.md.
  runtime->execute_task(context, Legion::TaskLauncher(kSingle, Legion::UntypedBuffer(),
                                                      Legion::Predicate::TRUE_PRED, task->map_id));
  runtime->issue_execution_fence(context).wait();
}

// ---- What a program's mapper was asked

// Forwards to a functor and notes by whom points are owned and that it was asked in boxes.
struct NotedFunctor {
  std::map<std::array<std::int64_t, 2>, ShardId> owners;
  std::set<ShardId> inverted;
};
std::mutex functors_mutex;
std::map<std::size_t, NotedFunctor> noted_functors;  // by their number, from 1

class Noting final : public ShardingFunctor {
 public:
  Noting(const ShardingFunctor* functor, std::size_t number) : functor_(functor), number_(number) {}

  ShardId shard(const Point& point, const LaunchDomain& domain,
                const ShardTable& shards) const override {
    const ShardId owner = functor_->shard(point, domain, shards);
    const std::lock_guard lock(functors_mutex);
    noted_functors[number_].owners[{point[0], point[1]}] = owner;
    return owner;
  }
  void boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override {
    std::vector<Rect> boxes;
    functor_->boxes_of(shard, domain, shards, [&](const Rect& one) { boxes.push_back(one); });
    {
      const std::lock_guard lock(functors_mutex);
      noted_functors[number_].inverted.insert(shard);
      for (const Rect& one : boxes) {
        Point at = one.lower;
        do noted_functors[number_].owners[{at[0], at[1]}] = shard;
        while (next_point(one, &at));
      }
    }
    for (const Rect& one : boxes) box(one);
  }

 private:
  const ShardingFunctor* functor_;
  std::size_t number_;
};

// Of the tasks `where` of kLimited: mapped and not ended on a processor, now and at most.
struct InFlight {
  std::mutex mutex;
  std::map<std::int64_t, int> now;
  int most = 0;
};
InFlight in_flight;

class Watched final : public Mapper {
 public:
  Watched(const MapperSite& site, std::unique_ptr<Mapper> inner)
      : Mapper(site), inner_(std::move(inner)) {
    for (const ShardingFunctor* functor : inner_->sharding_functors()) {
      functors_.push_back(std::make_unique<Noting>(functor, functors_.size() + 1));
      functor_list_.push_back(functors_.back().get());
    }
  }
  std::span<const ShardingFunctor* const> sharding_functors() const override {
    return functor_list_;
  }
  bool selects() const override { return inner_->selects(); }
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override {
    inner_->select_task_options(runtime, task, answer);
  }
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override {
    return inner_->select_sharding_functor(runtime, operation, shards);
  }
  void replicate_task(MapperRuntime& runtime, const TaskView& task,
                      ReplicateTaskOutput& answer) override {
    inner_->replicate_task(runtime, task, answer);
  }
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override {
    if (task.name == "square") {
      ++slices_of_square;
      if (task.parent == nullptr || task.parent->shards != expected_shards) ++wrong_shards;
    }
    inner_->slice_task(runtime, task, part, answer);
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    inner_->map_task(runtime, task, valid, answer);
    if (task.name != "held") return;
    const std::lock_guard lock(in_flight.mutex);
    int& now = ++in_flight.now[answer.processors.front().index];
    in_flight.most = std::max(in_flight.most, now);
  }
  void map_must_epoch(MapperRuntime& runtime, std::span<const TaskView> tasks,
                      MapMustEpochOutput& answer) override {
    inner_->map_must_epoch(runtime, tasks, answer);
  }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override {
    inner_->select_tasks_to_map(runtime, ready, answer);
  }
  void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                        const ProfilingReport& report) override {
    inner_->report_profiling(runtime, operation, report);
  }

  static inline std::atomic<std::size_t> expected_shards = 1;
  static inline std::atomic<int> slices_of_square = 0, wrong_shards = 0;

 private:
  std::unique_ptr<Mapper> inner_;
  std::vector<std::unique_ptr<Noting>> functors_;
  std::vector<const ShardingFunctor*> functor_list_;
};

// The program, watched.
void use_watched(const Program& program, Legion::MapperID mapper) {
  const legion::MapperFactory factory = legion::factory_of(program, nullptr);
  legion::use(
      [factory](const MapperSite& site) { return std::make_unique<Watched>(site, factory(site)); },
      {mapper, nullptr});
}

// Takes a while, so that without a limit others are mapped meanwhile.
std::int64_t held(const Legion::Task* task, const std::vector<PhysicalRegion>& regions,
                  Context context, Legion::Runtime* runtime) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::int64_t at = where(task, regions, context, runtime);
  const std::lock_guard lock(in_flight.mutex);
  --in_flight.now[at];
  return at;
}

template <typename Register>
void add_task(Legion::TaskID id, const char* name, bool leaf, Register preregister) {
  Legion::TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(Legion::ProcessorConstraint(Processor::LOC_PROC));
  registrar.set_leaf(leaf);
  registrar.set_replicable(!leaf);
  preregister(registrar, name);
}

const BeforeStart kSetUp([] {
  using Legion::Runtime;
  add_task(kWhere, "where", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<std::int64_t, where>(registrar, name);
  });
  add_task(kScattered, "scattered", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<std::int64_t, where>(registrar, name);
  });
  add_task(kLook, "look", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<Seen, look>(registrar, name);
  });
  add_task(kSquare, "square", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<square>(registrar, name);
  });
  add_task(kSingle, "single", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<single>(registrar, name);
  });
  add_task(kTogether, "together", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<together>(registrar, name);
  });
  add_task(kCrowded, "crowded", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<together>(registrar, name);
  });
  add_task(kParent, "parent", false, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<parent>(registrar, name);
  });
  legion::use(program(), {kPlain, nullptr});
  add_task(kHeld, "held", true, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<std::int64_t, held>(registrar, name);
  });
  use_watched(program("ControlReplicate parent;"), kReplicating);
  use_watched(program("InstanceLimit held 2;"), kLimited);
});

// ---- What the library says

class Expected {
 public:
  explicit Expected(std::string task)
      : task_(std::move(task)), program_(program()), diags_(program_.source()) {
    const auto map = legion::MachineMap::make();
    EXPECT_TRUE(map.ok());
    bound_ = bind(program_, *(*map)->machine(), diags_);
  }
  // What `groma explain` says of the task.
  ExplainedTask explained(std::vector<AppRequirement> requirements) {
    AppVariant variant;
    variant.leaf = true;
    Application app;
    app.name = "test";
    app.tasks = {{.name = task_, .variants = {variant}, .requirements = std::move(requirements)}};
    const auto explanation = explain(*bound_, Workload::make(app).value(), {}, diags_);
    EXPECT_TRUE(explanation);
    return explanation->tasks.front();
  }
  std::int64_t processor(const Rect& domain, const Point& point) {
    TaskPoint task;
    task.name = task_;
    task.domain = domain;
    task.point = point;
    FunctionEvaluator evaluator(*bound_);
    const auto function = program_.index_function(task_, ProcKind::kCpu);
    const auto placed = evaluator.place(function->function, task, ProcKind::kCpu, diags_);
    return placed ? placed->processors.front().index : -1;
  }

 private:
  std::string task_;
  Program program_;
  Diagnostics diags_;
  std::optional<BoundProgram> bound_;
};

Legion::FutureMap launch(Legion::TaskID task, const Legion::Domain& domain,
                         Legion::MapperID mapper = kPlain) {
  Legion::IndexTaskLauncher launcher(task, domain, Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, mapper);
  return runtime()->execute_index_space(context(), launcher);
}

TEST(Adapter, PointsOfALineRunWhereTheFunctionSays) {
  for (std::int64_t n : {1, 3, 37}) {
    const auto places = launch(kWhere, Legion::Domain(Legion::Rect<1>(5, 4 + n)));
    Expected expected("where");
    for (std::int64_t x = 5; x < 5 + n; ++x) {
      EXPECT_EQ(places.get_result<std::int64_t>(DomainPoint(x)),
                expected.processor(Rect{Point{5}, Point{n}}, Point{x}))
          << x << " of " << n;
    }
  }
}

// Legion's DefaultMapper handles the operations of the other two.
TEST(Adapter, OnlyAMapperWrittenByHandDecidesOperations) {
  const auto machine = (*legion::MachineMap::make())->machine();
  const MapperSite site{machine, {ProcKind::kCpu, 0, 0}};
  const Program mapping = program();
  Diagnostics diags(mapping.source());
  const auto bound = bind(mapping, *machine, diags);
  ASSERT_TRUE(bound);
  class ByHand final : public Mapper {
   public:
    using Mapper::Mapper;
  };
  EXPECT_FALSE(legion::decides_operations(ProgramMapper(ProgramMapper::share(*bound), site)));
  EXPECT_FALSE(legion::decides_operations(DefaultMapper(site)));
  EXPECT_TRUE(legion::decides_operations(ByHand(site)));
}

// The limit holds tasks back until profiling reports that others have ended: that all points run
// shows that every event is triggered.
TEST(Adapter, LimitedInstancesAllRun) {
  const auto places = launch(kHeld, Legion::Domain(Legion::Rect<1>(0, 99)), kLimited);
  Expected expected("held");
  for (std::int64_t x = 0; x < 100; ++x) {
    EXPECT_EQ(places.get_result<std::int64_t>(DomainPoint(x)),
              expected.processor(Rect{Point{0}, Point{100}}, Point{x}))
        << x;
  }
  EXPECT_EQ(in_flight.most, 2);
}

// Of 64 points apart from each other: by a function as any; by default in Legion's own blocks, each
// of which any CPU may take.
TEST(Adapter, LaunchesWithHoles) {
  std::vector<Legion::Point<1>> points;
  for (std::int64_t i = 0; i < 64; ++i) points.emplace_back(3 * i);
  const auto space = runtime()->create_index_space(context(), points);
  const Legion::Domain domain = runtime()->get_index_space_domain(context(), space);
  const auto placed = launch(kWhere, domain);
  const auto scattered = launch(kScattered, domain);
  Expected expected("where");
  for (const auto& point : points) {
    EXPECT_EQ(placed.get_result<std::int64_t>(DomainPoint(point)),
              expected.processor(Rect{Point{0}, Point{3 * 63 + 1}}, Point{point[0]}));
    const auto cpu = scattered.get_result<std::int64_t>(DomainPoint(point));
    EXPECT_TRUE(cpu >= 0 && cpu < cpus());
  }
}

Legion::LogicalRegion named_region(const char* name) {
  const auto space = runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {7, 15}));
  const auto fields = runtime()->create_field_space(context());
  auto allocator = runtime()->create_field_allocator(context(), fields);
  allocator.allocate_field(sizeof(double), kFirst);
  allocator.allocate_field(sizeof(double), kSecond);
  const auto region = runtime()->create_logical_region(context(), space, fields);
  runtime()->attach_name(region, name);
  for (Legion::FieldID field : {kFirst, kSecond}) {
    runtime()->fill_field<double>(context(), region, region, field, 1.0);
  }
  return region;
}

TEST(Adapter, RegionsLieWhereAndAsTheStatementsSay) {
  const std::array regions = {named_region("cells"), named_region("others")};
  Legion::TaskLauncher launcher(kLook, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                kPlain);
  for (const auto& region : regions) {
    Legion::RegionRequirement requirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region);
    requirement.add_field(kFirst).add_field(kSecond);
    launcher.add_region_requirement(requirement);
  }
  const Seen seen = runtime()->execute_task(context(), launcher).get_result<Seen>();
  EXPECT_EQ(seen.processor, cpus() - 1);
  EXPECT_EQ(seen.memory[0], Legion::Memory::REGDMA_MEM);
  EXPECT_EQ(seen.memory[1], Legion::Memory::SYSTEM_MEM);
  const AppField field;
  AppRequirement cells{{"cells"}, Privilege::kReadOnly, Coherence::kExclusive, 2, {field, field}};
  AppRequirement others = cells;
  others.names = {"others"};
  const ExplainedTask said = Expected("look").explained({cells, others});
  const auto taken = [&](std::size_t r) {
    const auto& memories = said.requirements[r].memories;
    return *std::find_if(memories.begin(), memories.end(), [](const ExplainedMemory& memory) {
      return memory.state == ExplainedMemory::State::kTaken;
    });
  };
  EXPECT_EQ(said.kind.kind, ProcKind::kCpu);
  EXPECT_EQ(taken(0).memory, MemKind::kRdmem);
  EXPECT_EQ(taken(0).layout.fields, FieldOrder::kAos);
  EXPECT_EQ(taken(0).layout.dimensions, DimensionOrder::kC);
  EXPECT_EQ(taken(1).memory, MemKind::kSysmem);
  EXPECT_EQ(taken(1).layout.align_bytes, 128);
  // AOS, C order: the other field first, then y, then x.
  EXPECT_EQ(seen.step[0], (std::array<std::int64_t, 3>{16 * 16, 16, 8}));
  // SOA, F order: x first.
  EXPECT_EQ(seen.step[1][0], 8);
  EXPECT_EQ(seen.step[1][1], 8 * 8);
  EXPECT_GE(seen.step[1][2], 8 * 16 * 8);
  EXPECT_EQ(seen.address[1] % 128, 0U);
}

// With control replication: a shard on each CPU, every point where the function says whichever
// shard owns it.
void check_parent(Legion::MapperID mapper, std::size_t shards) {
  for (auto& point : inner_points) point = 0;
  single_at = -1;
  shard_processors.clear();
  together_at.clear();
  crowded_at.clear();
  Legion::TaskLauncher launcher(kParent, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                mapper);
  runtime()->execute_task(context(), launcher).get_void_result();
  // This Legion runs all shards of a process on the processor of the first; anything else it
  // refuses.
  EXPECT_EQ(shard_processors, std::vector<std::int64_t>(shards, shard_processors.front()));
  EXPECT_EQ(single_at, cpus() - 1);
  EXPECT_EQ(together_at.size(), static_cast<std::size_t>(cpus()));
  for (const auto& [point, at] : together_at) EXPECT_EQ(at, cpus() - 1 - point);
  EXPECT_EQ(crowded_at.size(), mapper == kPlain ? static_cast<std::size_t>(cpus()) : 0U);
  for (const auto& [point, at] : crowded_at) EXPECT_EQ(at, point);
  Expected expected("square");
  const Rect domain{Point{0, 0}, Point{kSide, kSide}};
  Point at = domain.lower;
  do {
    EXPECT_EQ(inner_points[static_cast<std::size_t>(at[0] * kSide + at[1])] - 1,
              expected.processor(domain, at))
        << at[0] << "," << at[1];
  } while (next_point(domain, &at));
}

TEST(Adapter, PlacesTheLaunchesOfATask) { check_parent(kPlain, 1); }

// By the functor of the launch's function alone, asked by every shard for its part: a point's owner
// is the shard on the processor where the function puts it.
TEST(Adapter, PlacesTheLaunchesOfShards) {
  noted_functors.clear();
  Watched::expected_shards = static_cast<std::size_t>(cpus());
  check_parent(kReplicating, static_cast<std::size_t>(cpus()));
  EXPECT_GT(Watched::slices_of_square, 0);
  EXPECT_EQ(Watched::wrong_shards, 0);
  ASSERT_EQ(noted_functors.size(), 2U);  // in the order of the mapping
  const NotedFunctor& epoch = noted_functors.rbegin()->second;
  for (const auto& [point, owner] : epoch.owners) {
    EXPECT_EQ(static_cast<std::int64_t>(owner), cpus() - 1 - point[0]);
  }
  const NotedFunctor& noted = noted_functors.begin()->second;
  EXPECT_EQ(noted.inverted.size(), static_cast<std::size_t>(cpus()));
  EXPECT_EQ(noted.owners.size(), static_cast<std::size_t>(kSide * kSide));
  Expected expected("square");
  const Rect domain{Point{0, 0}, Point{kSide, kSide}};
  for (const auto& [point, owner] : noted.owners) {
    EXPECT_EQ(static_cast<std::int64_t>(owner),
              expected.processor(domain, Point{point[0], point[1]}));
  }
}

// ---- Functors under Legion's ids

// The shard that its first coordinate falls to, and boxes as the functor's default has them.
class Columns final : public ShardingFunctor {
 public:
  explicit Columns(std::int64_t shift) : shift_(shift) {}
  ShardId shard(const Point& point, const LaunchDomain&, const ShardTable& shards) const override {
    return static_cast<ShardId>((point[0] + shift_) % static_cast<std::int64_t>(shards.size()));
  }

 private:
  std::int64_t shift_;
};

const ShardTable kTwo({{ProcKind::kCpu, 0, 0}, {ProcKind::kCpu, 0, 1}});

// Legion passes the domains in either order; points of the launch alone are wanted.
TEST(Functors, InvertFindsThePointsOfAShard) {
  const Columns columns(0);
  legion::FunctorAdapter adapter(&columns, kTwo, nullptr);
  const Legion::Domain sharding(Legion::Rect<2>({0, 0}, {5, 3}));
  const Legion::Domain launched(Legion::Rect<2>({1, 1}, {4, 2}));
  for (const bool swapped : {false, true}) {
    std::set<std::array<std::int64_t, 2>> seen;
    for (const Legion::ShardID shard : {0U, 1U}) {
      std::vector<DomainPoint> points;
      adapter.invert(shard, swapped ? launched : sharding, swapped ? sharding : launched, 2,
                     points);
      EXPECT_EQ(points.size(), 4U);
      for (const DomainPoint& point : points) {
        EXPECT_EQ(adapter.shard(point, sharding, 2), shard);
        EXPECT_EQ(point[0] % 2, static_cast<std::int64_t>(shard));
        EXPECT_TRUE(launched.contains(point));
        seen.insert({point[0], point[1]});
      }
    }
    EXPECT_EQ(seen.size(), 8U);
  }
}

// 1 to 64 shards on 16 nodes: each point belongs to the shard of the processor where the function
// puts it, and each shard gets its own points and no others. The number is the same in every
// process.
TEST(Functors, AgreeWithTheFunctionForAnyNumberOfShards) {
  const Source source("sharded.mapper", R"(
m = Machine(GPU);
def scattered(Task t) { return m[(3 * t.ipoint[0] + t.ipoint[1]) % m.size[0], t.ipoint[1] % m.size[1]]; }
def blocks(Task t) { return m[t.ipoint[0] * m.size[0] / t.ispace[0], t.ipoint[1] * m.size[1] / t.ispace[1]]; }
IndexTaskMap square scattered;
IndexTaskMap other blocks;
)");
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), *make_machine("nodes=16,gpu=4"), diags);
  ASSERT_TRUE(bound) << render(diags);
  const auto shared = ProgramMapper::share(*bound);
  const ProgramMapper mapper(shared,
                             {ProgramMapper::machine_of(*shared), {ProcKind::kGpu, 0, 0}, {}, {}});
  const Rect domain{Point{-3, 5}, Point{24, 10}};
  std::uint64_t digest = 0;
  FunctionEvaluator evaluator(*bound);
  for (std::int64_t count = 1; count <= 64; ++count) {
    std::vector<groma::Processor> processors;
    for (std::int64_t i = 0; i < count; ++i) processors.push_back({ProcKind::kGpu, i % 16, i / 16});
    const ShardTable table(processors);
    for (FunctionId f = 0; f < 2; ++f) {
      legion::FunctorAdapter functor(mapper.sharding_functors()[f], table, nullptr);
      std::map<std::array<std::int64_t, 2>, Legion::ShardID> owners;
      for (Legion::ShardID shard = 0; shard < count; ++shard) {
        std::vector<DomainPoint> points;
        const Legion::Domain all = legion::domain_of(domain);
        functor.invert(shard, all, all, table.size(), points);
        for (const DomainPoint& point : points) {
          EXPECT_EQ(functor.shard(point, all, table.size()), shard);
          EXPECT_TRUE(
              owners.emplace(std::array{std::int64_t{point[0]}, std::int64_t{point[1]}}, shard)
                  .second);
        }
      }
      EXPECT_EQ(owners.size(), 240U);
      for (const auto& [point, owner] : owners) {
        TaskPoint task;
        task.domain = domain;
        task.point = Point{point[0], point[1]};
        const auto placed = evaluator.place(f, task, ProcKind::kGpu, diags);
        EXPECT_EQ(owner, table.shard_of(placed->processors.front()));
        digest = digest * 0x9E3779B97F4A7C15U + owner + 1;
      }
    }
  }
  EXPECT_EQ(digest, 6592859091166259610U);
}

TEST(Functors, EachHasAnIdForEachTableOfShards) {
  static const Columns kFirstOfTwo(0), kSecondOfTwo(1);  // Legion keeps what refers to them
  static const std::array<const ShardingFunctor*, 2> kFunctors = {&kFirstOfTwo, &kSecondOfTwo};
  legion::ShardFunctors functors;
  EXPECT_FALSE(functors.is_set());
  functors.set(Legion::Runtime::get_runtime(), "test" + std::to_string(cpus()), kFunctors, nullptr);
  const Legion::ShardingID first = functors.id_of(1, kTwo);
  EXPECT_EQ(functors.id_of(2, kTwo), first + 1);
  EXPECT_EQ(functors.id_of(1, kTwo), first);
  const ShardTable three({{ProcKind::kCpu, 0, 0}, {ProcKind::kCpu, 0, 1}, {ProcKind::kCpu, 0, 2}});
  const Legion::ShardingID other = functors.id_of(2, three);
  EXPECT_NE(other, first);
  EXPECT_NE(other, first + 1);
  const Legion::Domain domain(Legion::Rect<2>({0, 0}, {5, 3}));
  const auto shard = [&](Legion::ShardingID id) {
    return Legion::Runtime::get_sharding_functor(id)->shard(DomainPoint(Legion::Point<2>(2, 0)),
                                                            domain, 3);
  };
  EXPECT_EQ(shard(first), 0U);
  EXPECT_EQ(shard(first + 1), 1U);
  EXPECT_EQ(shard(other), 0U);  // (2 + 1) % 3
}

}  // namespace
}  // namespace groma::legion_test
