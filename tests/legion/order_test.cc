// What decides when and where ready tasks are mapped, in a real Legion: limits, stealing, traces,
// must epochs. And what running tasks ask of their mapper: tunables, messages, contexts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "groma/legion.h"
#include "groma/program.h"
#include "legion/map_by.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::DomainPoint;
using Legion::PhysicalRegion;

constexpr Legion::TaskID kSlow = 1;
constexpr Legion::TaskID kStolen = 2;
constexpr Legion::TaskID kQuick = 3;
constexpr Legion::TaskID kTogether = 4;
constexpr Legion::TaskID kParent = 5;
constexpr Legion::TaskID kCounted = 6;
constexpr Legion::TaskID kRaided = 7;
constexpr Legion::MapperID kProgram = 1;
constexpr Legion::MapperID kTalker = 2;

std::int64_t cpu_index(Legion::Processor processor) {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  query.only_kind(Legion::Processor::LOC_PROC);
  std::vector<Legion::Processor> cpus(query.begin(), query.end());
  std::sort(cpus.begin(), cpus.end());
  return std::find(cpus.begin(), cpus.end(), processor) - cpus.begin();
}

std::int64_t slow(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                  Legion::Runtime* runtime) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return cpu_index(runtime->get_executing_processor(context));
}

// How many of a launch of `counted` or `raided` run at once, now and at most.
std::atomic<int> counted_now = 0, counted_most = 0;

std::int64_t counted(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                     Legion::Runtime* runtime) {
  const int now = ++counted_now;
  for (int most = counted_most; most < now && !counted_most.compare_exchange_weak(most, now);) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  --counted_now;
  return cpu_index(runtime->get_executing_processor(context));
}

std::int64_t quick(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                   Legion::Runtime* runtime) {
  return cpu_index(runtime->get_executing_processor(context));
}

// All points of a launch are here at once, or it waits for ever.
std::int64_t together(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
                      Legion::Runtime* runtime) {
  static std::atomic<std::int64_t> here = 0;
  const auto all = static_cast<std::int64_t>(task->index_domain.get_volume());
  ++here;
  while (here % all != 0) std::this_thread::yield();
  return cpu_index(runtime->get_executing_processor(context));
}

void parent(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  runtime->execute_task(context, Legion::TaskLauncher(kQuick, Legion::UntypedBuffer(),
                                                      Legion::Predicate::TRUE_PRED, task->map_id));
}

// ---- A mapper that counts and talks

struct Heard {
  std::atomic<int> maps = 0, messages = 0, window = 0;
};
Heard heard;

class Talker final : public Mapper {
 public:
  using Mapper::Mapper;
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    ++heard.maps;
    const std::byte text[] = {std::byte{1}, std::byte{2}};
    if (task.name == "parent") {
      EXPECT_EQ(runtime.task_name(task.id), "parent");
      EXPECT_EQ(runtime.variants(task.id).size(), 1U);
      EXPECT_TRUE(runtime.send_message({ProcKind::kCpu, 0, 1}, 7, text));
      EXPECT_FALSE(runtime.send_message({ProcKind::kCpu, 0, 99}, 7, text));
    }
    Mapper::map_task(runtime, task, valid, answer);
  }
  void handle_message(MapperRuntime&, const Processor&, std::uint32_t kind,
                      std::span<const std::byte> message) override {
    if (site().local.index == 1 && kind == 7 && message.size() == 2) ++heard.messages;
  }
  void configure_context(MapperRuntime& runtime, const TaskView& task,
                         ContextConfigOutput& answer) override {
    heard.window = answer.max_window;
    Mapper::configure_context(runtime, task, answer);
  }
};

template <typename Register>
void add_task(Legion::TaskID id, const char* name, Register preregister) {
  Legion::TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(id != kParent);
  registrar.set_concurrent(id == kTogether);
  preregister(registrar, name);
}

const BeforeStart kSetUp([] {
  for (const auto& [id, name] : {std::pair(kSlow, "slow"), std::pair(kStolen, "stolen")}) {
    add_task(id, name, [](auto& registrar, const char* task) {
      Legion::Runtime::preregister_task_variant<std::int64_t, slow>(registrar, task);
    });
  }
  for (const auto& [id, name] : {std::pair(kCounted, "counted"), std::pair(kRaided, "raided")}) {
    add_task(id, name, [](auto& registrar, const char* task) {
      Legion::Runtime::preregister_task_variant<std::int64_t, counted>(registrar, task);
    });
  }
  add_task(kQuick, "quick", [](auto& registrar, const char* task) {
    Legion::Runtime::preregister_task_variant<std::int64_t, quick>(registrar, task);
  });
  add_task(kTogether, "together", [](auto& registrar, const char* task) {
    Legion::Runtime::preregister_task_variant<std::int64_t, together>(registrar, task);
  });
  add_task(kParent, "parent", [](auto& registrar, const char* task) {
    Legion::Runtime::preregister_task_variant<parent>(registrar, task);
  });
  legion::use([](const MapperSite& site) { return std::make_unique<Talker>(site); },
              {kTalker, nullptr});
  map_by(GROMA_SOURCE_DIR "/tests/legion/order.mapper", kProgram);
});

Legion::FutureMap launch(Legion::TaskID task, std::int64_t points,
                         Legion::MapperID mapper = kProgram) {
  Legion::IndexTaskLauncher launcher(task, Legion::Domain(Legion::Rect<1>(0, points - 1)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, mapper);
  launcher.concurrent = task == kTogether;
  return runtime()->execute_index_space(context(), launcher);
}

std::vector<std::int64_t> run(Legion::TaskID task, std::int64_t points) {
  const auto places = launch(task, points);
  std::vector<std::int64_t> at;
  for (std::int64_t x = 0; x < points; ++x) {
    at.push_back(places.get_result<std::int64_t>(DomainPoint(x)));
  }
  return at;
}

std::int64_t cpus() {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  return static_cast<std::int64_t>(query.only_kind(Legion::Processor::LOC_PROC).count());
}

// A launch with a limit and one without in the same trace: it ends, with every point in its place.
TEST(Traces, LimitsEnd) {
  std::vector<Legion::FutureMap> places;
  for (int round = 0; round < 6; ++round) {
    runtime()->begin_trace(context(), 1);
    places.push_back(launch(kSlow, 4));
    launch(kQuick, 8);
    runtime()->end_trace(context(), 1);
  }
  for (const Legion::FutureMap& place : places) {
    for (std::int64_t x = 0; x < 4; ++x) {
      EXPECT_EQ(place.get_result<std::int64_t>(DomainPoint(x)), 0);
    }
  }
}

// With -dm:memoize a trace that was seen is not mapped again.
TEST(Traces, AreMemoized) {
  heard.maps = 0;
  constexpr int kRounds = 20, kPoints = 8;
  for (int round = 0; round < kRounds; ++round) {
    runtime()->begin_trace(context(), 2);
    launch(kQuick, kPoints, kTalker);
    runtime()->end_trace(context(), 2);
  }
  runtime()->issue_execution_fence(context()).wait();
  EXPECT_GE(heard.maps, kPoints);
  EXPECT_LE(heard.maps, kRounds * kPoints / 2);
}

TEST(Concurrent, PointsRunAtOnce) {
  const auto at = run(kTogether, cpus());
  for (std::int64_t x = 0; x < cpus(); ++x) {
    EXPECT_EQ(at[static_cast<std::size_t>(x)], cpus() - 1 - x);
  }
}

TEST(Tunables, AreDefaultMappers) {
  const auto tunable = [](Legion::TunableID id) {
    Legion::TunableLauncher launcher(id, kProgram);
    return runtime()->select_tunable_value(context(), launcher).get_result<std::size_t>();
  };
  EXPECT_EQ(tunable(0), 1U);                                // nodes
  EXPECT_EQ(tunable(1), static_cast<std::size_t>(cpus()));  // CPUs of this one
  EXPECT_EQ(tunable(6), static_cast<std::size_t>(cpus()));  // of all
}

TEST(Messages, Arrive) {
  heard.messages = 0;
  runtime()
      ->execute_task(context(), Legion::TaskLauncher(kParent, Legion::UntypedBuffer(),
                                                     Legion::Predicate::TRUE_PRED, kTalker))
      .get_void_result();
  for (int i = 0; i < 1000 && heard.messages == 0; ++i) {
    runtime()->issue_execution_fence(context()).wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(heard.messages, 1);
  EXPECT_EQ(heard.window, 77);
}

TEST(Limits, OfTheMachineCountOnAllProcessors) {
  counted_most = 0;
  const auto at = run(kCounted, 40);
  const auto used = static_cast<std::int64_t>(std::set<std::int64_t>(at.begin(), at.end()).size());
  EXPECT_EQ(used, cpus());
  EXPECT_EQ(counted_most, 2);
}

TEST(Limits, OfTheMachineHoldWhileTasksAreStolen) {
  counted_most = 0;
  const auto at = run(kRaided, 60);
  EXPECT_GT(std::set<std::int64_t>(at.begin(), at.end()).size(), 1U);
  EXPECT_LE(counted_most, 3);
}

TEST(Stealing, TakesWhatWaits) {
  const auto slow_at = run(kSlow, 40);
  EXPECT_EQ(std::set<std::int64_t>(slow_at.begin(), slow_at.end()), std::set<std::int64_t>{0});
  const auto at = run(kStolen, 40);
  const std::set<std::int64_t> used(at.begin(), at.end());
  EXPECT_GT(used.size(), 1U);
}

}  // namespace
}  // namespace groma::legion_test
