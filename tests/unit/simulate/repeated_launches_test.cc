// simulate, where a loop launches the same statement again: a mapper that repeats its answers is
// asked once, and the run is the same as with a mapper that is always asked.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/mapper.h"
#include "groma/simulate.h"

namespace groma {
namespace {

// How often the hooks of all mapper objects were called, and the number of launches after which the
// tasks `look` start on another CPU.
struct Calls {
  int slice_task = 0, map_task = 0, select_sources = 0;
  int looks = 0, looks_before_move = 1000;
};

// Maps as the default mapper does, but puts data into zero-copy memory if `host` is set.
class Counting : public Mapper {
 public:
  Counting(MapperSite site, bool repeats, bool host, Calls& calls)
      : Mapper(std::move(site)), repeats_(repeats), host_(host), calls_(calls) {}
  bool selects() const override { return false; }
  bool reads_valid() const override { return false; }
  bool repeats_answers() const override { return repeats_; }
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override {
    Mapper::select_task_options(runtime, task, answer);
    if (task.name != "look") return;
    answer.initial = {ProcKind::kCpu, 0, calls_.looks++ < calls_.looks_before_move ? 0 : 1};
  }
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override {
    ++calls_.slice_task;
    Mapper::slice_task(runtime, task, part, answer);
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    ++calls_.map_task;
    Mapper::map_task(runtime, task, valid, answer);
    if (!host_ || task.current.kind != ProcKind::kGpu) return;
    for (InstanceChoice& choice : answer.requirements) {
      if (choice.candidate_count == 0) continue;
      InstanceCandidate second = choice.candidates()[0];
      choice.candidate_count = 0;
      second.memory = MemKind::kZcmem;
      InstanceCandidate first = second;
      first.memory = MemKind::kFbmem;
      choice.add(first);
      choice.add(second);
    }
  }
  void select_sources(MapperRuntime& runtime, const TaskView& task, const InstanceView& target,
                      std::span<const InstanceView> sources,
                      std::vector<std::uint32_t>& answer) override {
    ++calls_.select_sources;
    Mapper::select_sources(runtime, task, target, sources, answer);
  }

 private:
  const bool repeats_, host_;
  Calls& calls_;
};

RunResult run(const AppBuilder& app, const std::shared_ptr<const Machine>& machine, bool repeats,
              bool host, Calls& calls) {
  SimulateOptions options;
  options.record = true;
  options.costs = RuntimeCosts{0, 0, 0, 0, 0, 0};  // so that tasks are mapped long before they run
  return simulate(
      *Workload::make(app.done()), machine,
      [&](const Processor& local) {
        MapperSite site;
        site.machine = machine;
        site.local = local;
        return std::make_unique<Counting>(std::move(site), repeats, host, calls);
      },
      options);
}

void expect_same(const RunResult& one, const RunResult& other) {
  EXPECT_EQ(one.status, other.status);
  EXPECT_EQ(one.raw, other.raw);
  EXPECT_EQ(one.total_seconds, other.total_seconds);
  EXPECT_EQ(one.moved_bytes, other.moved_bytes);
  ASSERT_EQ(one.record->events.size(), other.record->events.size());
  for (std::size_t e = 0; e < one.record->events.size(); ++e) {
    const RunRecord::Event &a = one.record->events[e], &b = other.record->events[e];
    EXPECT_EQ(std::tie(a.kind, a.name, a.where, a.start, a.end, a.cause, a.bytes, a.from),
              std::tie(b.kind, b.name, b.where, b.start, b.end, b.cause, b.bytes, b.from));
  }
}

// Runs the application with a mapper that repeats its answers and with one that is always asked.
// Expects that both runs are the same, and that they succeed if `is_ok`.
void run_both(const AppBuilder& app, const std::shared_ptr<const Machine>& machine, Calls& once,
              Calls& always, bool host = false, bool is_ok = true) {
  const RunResult kept = run(app, machine, true, host, once);
  const RunResult asked = run(app, machine, false, host, always);
  ASSERT_EQ(kept.ok(), is_ok) << kept.raw;
  expect_same(kept, asked);
}

// A region of `pieces` pieces of 1 MiB, written by `write` and read by `read`, with the neighbours'
// elements.
AppBuilder line(std::int64_t pieces) {
  AppBuilder app("line");
  app.parameter("n", pieces, "");
  app.region("line", {"n * 131072"}).field("value", 8);
  app.partition("pieces", {"n"}).partition("wider", {"n"}).halo({2});
  app.task("write").variant(gpu().leaf()).writes("pieces");
  app.task("read").variant(gpu().leaf()).reads("wider");
  return app.top_level("main");
}

TEST(RepeatedLaunches, AreMappedOnce) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"));
  AppBuilder app = line(16);
  app.task("main").variant(cpu());
  app.body({loop(10, {launch("write").over({"n"}), launch("read").over({"n"})})});
  Calls once, always;
  run_both(app, machine, once, always);
  EXPECT_EQ(always.slice_task, 20);
  EXPECT_EQ(always.map_task, 1 + 10 * 32);
  EXPECT_EQ(once.slice_task, 2);
  EXPECT_EQ(once.map_task, 1 + 32);
}

// The points of a launch with a condition are the same in each iteration, unless the condition
// reads the counter of the loop.
TEST(RepeatedLaunches, WithConditionsAreMappedOnce) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"));
  for (const bool reads_counter : {false, true}) {
    AppBuilder app = line(16);
    app.task("main").variant(cpu());
    const char* const where = reads_counter ? "i % 3 != k % 3" : "i % 3 != 1";
    app.body({loop(10, {launch("write").over({"n"}, {"i"}).where(where)}, "k")});
    Calls once, always;
    run_both(app, machine, once, always);
    if (!reads_counter) {
      EXPECT_EQ(once.map_task, 1 + 11);
      EXPECT_EQ(always.map_task, 1 + 10 * 11);
    } else {
      EXPECT_GT(once.map_task, 1 + 2 * 10);  // at least the three sets of points
    }
  }
}

TEST(RepeatedLaunches, AreAskedAgainWhenPiecesChange) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4"));
  AppBuilder app = line(8);
  app.task("main").variant(cpu());
  app.body({loop(6,
                 {launch("write").over({"n"}, {"i"}).on("pieces", {"(i + k) % n"}),
                  launch("read").over({"k + 1"})},
                 "k")});
  Calls once, always;
  run_both(app, machine, once, always);
  // `write` has other pieces each time and always the same slices; `read` has another domain.
  EXPECT_EQ(once.slice_task, 1 + 6);
  EXPECT_EQ(once.map_task, always.map_task);
}

TEST(RepeatedLaunches, FindOutThatAMemoryIsFull) {
  // A framebuffer has room for the eight pieces of `write`, but not for the wider ones as well.
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:gpu=1,fbmem=10"));
  AppBuilder app = line(8);
  app.task("main").variant(cpu());
  app.body({loop(4, {launch("write").over({"n"}), launch("read").over({"n"})})});
  for (const bool host : {false, true}) {
    Calls once, always;
    run_both(app, machine, once, always, host, host);
  }
}

// A reader takes the elements of its neighbours from three instances, so each one that is mapped
// asks select_sources. Only the first iterations are mapped.
TEST(RepeatedLaunches, NeedNoLookAtTheData) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"));
  AppBuilder app = line(16);
  app.task("main").variant(cpu());
  app.body({loop(10, {launch("write").over({"n"}), launch("read").over({"n"})})});
  Calls once, always;
  run_both(app, machine, once, always);
  EXPECT_GT(once.select_sources, 0);
  EXPECT_LE(3 * once.select_sources, always.select_sources);
}

// What follows a loop waits for the tasks of all its iterations, of which most were not looked at.
TEST(RepeatedLaunches, AreWaitedFor) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4"));
  AppBuilder app = line(8);
  app.task("main").variant(cpu());
  app.body({launch("write").over({"n"}), loop(10, {launch("read").over({"n"})}),
            launch("write").over({"n"}), launch("read").over({"n"})});
  Calls once, always;
  run_both(app, machine, once, always);
}

// A loop is repeated until one of its tasks starts on another processor than in the iteration that
// is repeated. The data is then as if all tasks before had been mapped one by one.
TEST(RepeatedLaunches, AreMappedAgainWhenATaskMoves) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4"));
  const LaunchBuilder read = launch("read").over({"n"}), write = launch("write").over({"n"});
  for (const int before_move : {3, 4, 7, 9, 10}) {
    for (const auto& body :
         {loop(10, {launch("look"), read, write}), loop(10, {read, launch("look"), write}),
          loop(10, {read, write, launch("look")})}) {
      AppBuilder app = line(8);
      app.region("small", {"n"}).field("value", 8);
      app.task("look").variant(cpu().leaf().nanoseconds("1000000")).reads("small");
      app.task("main").variant(cpu());
      app.body({body, write, read});
      Calls once, always;
      once.looks_before_move = always.looks_before_move = before_move;
      run_both(app, machine, once, always);
      EXPECT_LT(once.map_task, always.map_task / 2);
    }
  }
}

}  // namespace
}  // namespace groma
