// What idle processors steal in the embedded runtime: how much, from whom, and who may not.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/io.h"
#include "groma/program_mapper.h"
#include "groma/simulate.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr RunTime kWork = 10'000'000'000;  // of a task, in ps

// So many tasks of 10 ms without data, launched by a CPU.
Workload tasks(std::int64_t count) {
  AppBuilder app("app");
  app.task("work").variant(gpu().leaf().kernels(0).nanoseconds(10'000'000));
  app.task("main").variant(cpu().inner().kernels(0));
  app.body({launch("work").over({count})});
  return Workload::make(app.top_level("main").done()).value();
}

struct Ran {
  std::vector<std::pair<std::string, int>> tasks;  // by GPU
  RunTime end = 0;
  std::vector<RunTime> mapped;  // when, by GPU, the last
  std::string refused;
};

Ran simulated(const std::string& machine_text, std::int64_t count,
              const std::function<std::unique_ptr<Mapper>(MapperSite)>& make,
              const RuntimeCosts& costs) {
  const auto machine = std::make_shared<const Machine>(make_machine(machine_text).value());
  SimulateOptions options;
  options.costs = costs;
  options.record = true;
  const RunResult result = simulate(
      tasks(count), machine,
      [&](const Processor& local) { return make(MapperSite{.machine = machine, .local = local}); },
      options);
  Ran ran;
  for (const Refusal& refusal : result.refusals) {
    ran.refused += fmt::format("[{}]", name_of(refusal.diagnostic.id));
  }
  ran.end = result.record->end;
  std::map<std::string, int> by_gpu;
  std::map<std::string, RunTime> mapped;
  for (const RunRecord::Event& event : result.record->events) {
    const auto& at = result.record->processors[static_cast<std::size_t>(event.where)];
    if (at.kind != "GPU") continue;
    const std::string name = fmt::format("{}.{}", at.node, at.index);
    ++by_gpu[name];
    mapped[name] = std::max(mapped[name], event.mapped);
  }
  ran.tasks.assign(by_gpu.begin(), by_gpu.end());
  for (const auto& [name, time] : mapped) ran.mapped.push_back(time);
  return ran;
}

constexpr RuntimeCosts kFree = {0, 0, 0, 0, 0, 0};

// All tasks to the first GPU, and what else the text says.
Ran run(const std::string& machine_text, std::int64_t count, const std::string& text,
        const RuntimeCosts& costs = kFree) {
  const Source source("a.mapper",
                      "m = Machine(GPU);\ndef first(Task task) { return m[0, 0]; }\n"
                      "IndexTaskMap work first;\n" +
                          text);
  Diagnostics diags(source);
  const Machine machine = make_machine(machine_text).value();
  const auto bound = bind(compile(source, diags), machine, diags);
  EXPECT_TRUE(bound) << render(diags);
  const auto shared = ProgramMapper::share(*bound);
  return simulated(
      machine_text, count,
      [&](MapperSite site) {
        site.machine = bound->shared_machine();
        return std::make_unique<ProgramMapper>(shared, std::move(site));
      },
      costs);
}

TEST(Stealing, AnIdleGpuTakesHalfOfWhatWaits) {
  const std::string limit = "InstanceLimit work GPU 1;\n";
  Ran ran = run("nodes=1,gpu=2,cpu=1", 8, limit);
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 8)));
  EXPECT_EQ(ran.end, 8 * kWork);
  // One is mapped, seven wait, of which the other gets four.
  ran = run("nodes=1,gpu=2,cpu=1", 8, limit + "TaskSteal work GPU SAME_NODE;\n");
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 4), Pair("0.1", 4)));
  EXPECT_EQ(ran.end, 4 * kWork);
  // 7 wait at the first: the others take 4, 2 and 1. When the first and the last are done, three
  // wait at the second, who gives two; one of these goes on to the last.
  ran = run("nodes=1,gpu=4,cpu=1", 8, limit + "TaskSteal work GPU SAME_NODE;\n");
  EXPECT_THAT(ran.tasks,
              ElementsAre(Pair("0.0", 2), Pair("0.1", 2), Pair("0.2", 2), Pair("0.3", 2)));
  EXPECT_EQ(ran.end, 2 * kWork);
}

TEST(Stealing, OnlyWhatWaitsToBeMapped) {
  const Ran ran = run("nodes=1,gpu=2,cpu=1", 8, "TaskSteal work GPU ANY_NODE;\n");
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 8)));
  EXPECT_EQ(ran.end, 8 * kWork);
}

TEST(Stealing, StaysInItsNodeOrNot) {
  const std::string limit = "InstanceLimit work GPU 1;\n";
  Ran ran = run("nodes=2,gpu=2,cpu=1", 8, limit + "TaskSteal work GPU SAME_NODE;\n");
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 4), Pair("0.1", 4)));
  EXPECT_EQ(ran.end, 4 * kWork);
  ran = run("nodes=2,gpu=2,cpu=1", 8, limit + "TaskSteal work GPU ANY_NODE;\n");
  EXPECT_THAT(ran.tasks,
              ElementsAre(Pair("0.0", 2), Pair("0.1", 2), Pair("1.0", 2), Pair("1.1", 2)));
  EXPECT_EQ(ran.end, 2 * kWork);
}

TEST(Stealing, FromAnotherNodeTakesTwoMessages) {
  RuntimeCosts costs = kFree;
  costs.remote_s = 1e-3;
  const Ran ran = run("nodes=2,gpu=1,cpu=1", 2,
                      "InstanceLimit work GPU 1;\nTaskSteal work GPU ANY_NODE;\n", costs);
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 1), Pair("1.0", 1)));
  EXPECT_THAT(ran.mapped, ElementsAre(0, 2'000'000'000));
  EXPECT_EQ(ran.end, 2'000'000'000 + kWork);
}

// With places of a limit over both nodes on their way while tasks are stolen, none is lost.
TEST(Stealing, BesideALimitOfTheMachine) {
  for (int limit = 1; limit <= 4; ++limit) {
    const Ran ran = run("nodes=2,gpu=2,cpu=1", 40,
                        fmt::format("InstanceLimit work GPU {} Machine;\n", limit) +
                            "TaskSteal work GPU ANY_NODE;\n");
    EXPECT_EQ(ran.refused, "");
    int all = 0;
    for (const auto& [name, count] : ran.tasks) all += count;
    EXPECT_EQ(all, 40) << limit;
  }
}

TEST(Stealing, MoreTasksThanAnyoneWaitsFor) {
  // A quarter each, whatever the order; nobody runs one twice.
  const Ran ran = run("nodes=1,gpu=4,cpu=1", 1000,
                      "InstanceLimit work GPU 1;\nTaskSteal work GPU SAME_NODE;\n");
  int all = 0;
  for (const auto& [name, count] : ran.tasks) all += count;
  EXPECT_EQ(all, 1000);
  EXPECT_EQ(ran.end, 250 * kWork);
}

// ---- Mappers written by hand

// Two tasks to each of the first two GPUs, one at a time; what thieves ask and get is the tests'.
class OneByOne : public Mapper {
 public:
  using Mapper::Mapper;
  void slice_task(MapperRuntime&, const TaskView&, const Rect& part,
                  SliceTaskOutput& answer) override {
    for (std::int64_t i = 0; i < part.extents[0]; ++i) {
      answer.slices.push_back(
          {{Point{part.lower[0] + i}, Point{1}}, {ProcKind::kGpu, 0, i / 2 % 2}, false, true});
    }
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    answer.task_profiling.status = true;
    ++running_;
  }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView>,
                           SelectMappingOutput& answer) override {
    if (running_ == 0) return answer.map.push_back(0);
    if (event_ == 0) event_ = runtime.create_event();
    answer.deferral = event_;
  }
  void report_profiling(MapperRuntime& runtime, const TaskView&, const ProfilingReport&) override {
    --running_;
    if (event_ != 0) runtime.trigger_event(std::exchange(event_, 0));
  }

 private:
  int running_ = 0;
  MapperEvent event_ = 0;
};

// The third GPU asks one after the other; all refuse.
class RefusedSteals final : public OneByOne {
 public:
  RefusedSteals(MapperSite site, std::vector<std::vector<Processor>>& blacklists)
      : OneByOne(std::move(site)), blacklists_(blacklists) {}
  void select_steal_targets(MapperRuntime&, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override {
    if (site().local.index != 2) return;
    std::vector<Processor>& gpus = blacklists_.emplace_back();
    for (const Processor& p : blacklist) {
      if (p.kind == ProcKind::kGpu) gpus.push_back(p);
    }
    // One that is on it is not asked: it would have been on it twice.
    answer = {{ProcKind::kGpu, 0, blacklists_.size() % 2 == 1 ? 1 : 0}, blacklist.front()};
  }

 private:
  std::vector<std::vector<Processor>>& blacklists_;
};

TEST(Stealing, WhoRefusedIsOnTheBlacklist) {
  std::vector<std::vector<Processor>> blacklists;
  const Ran ran = simulated(
      "nodes=1,gpu=3,cpu=1", 4,
      [&](MapperSite site) { return std::make_unique<RefusedSteals>(std::move(site), blacklists); },
      kFree);
  EXPECT_EQ(ran.refused, "");
  EXPECT_THAT(ran.tasks, ElementsAre(Pair("0.0", 2), Pair("0.1", 2)));
  const auto gpu_of = [](std::int64_t i) { return Processor{ProcKind::kGpu, 0, i}; };
  // Once, after the launch: nobody else ever becomes idle while something waits.
  EXPECT_THAT(blacklists, ElementsAre(ElementsAre(gpu_of(2)), ElementsAre(gpu_of(2), gpu_of(1))));
}

// Both hooks answer what the test says.
class Nonsense final : public OneByOne {
 public:
  Nonsense(MapperSite site, std::vector<Processor> victims, std::vector<std::uint32_t> given)
      : OneByOne(std::move(site)), victims_(std::move(victims)), given_(std::move(given)) {}
  void select_steal_targets(MapperRuntime&, std::span<const Processor>,
                            std::vector<Processor>& answer) override {
    if (site().local.index == 2) answer = victims_;
  }
  void permit_steal_request(MapperRuntime&, const Processor&, std::span<const TaskView>,
                            std::vector<std::uint32_t>& answer) override {
    answer = given_;
  }

 private:
  std::vector<Processor> victims_;
  std::vector<std::uint32_t> given_;
};

std::string refused(const std::vector<Processor>& victims,
                    const std::vector<std::uint32_t>& given) {
  return simulated(
             "nodes=1,gpu=3,cpu=1", 4,
             [&](MapperSite site) {
               return std::make_unique<Nonsense>(std::move(site), victims, given);
             },
             kFree)
      .refused;
}

TEST(Stealing, NonsenseIsRefused) {
  const Processor victim{ProcKind::kGpu, 0, 0};
  EXPECT_EQ(refused({victim}, {0}), "");
  EXPECT_EQ(refused({victim, victim}, {0}), "");  // asked once
  EXPECT_EQ(refused({victim}, {0, 0}), "[bad-steal]");
  EXPECT_EQ(refused({victim}, {1}), "[bad-steal]");                 // one waits there
  EXPECT_EQ(refused({{ProcKind::kGpu, 0, 2}}, {}), "[bad-steal]");  // itself
  EXPECT_EQ(refused({{ProcKind::kGpu, 0, 3}}, {}), "[bad-processor]");
  EXPECT_EQ(refused({{ProcKind::kGpu, -1, 0}}, {}), "[bad-processor]");
}

}  // namespace
}  // namespace groma
