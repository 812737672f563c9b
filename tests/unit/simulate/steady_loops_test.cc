// simulate, where a loop comes to a steady state: the run skips iterations, and ends as if it had
// not.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/mapper.h"
#include "groma/simulate.h"

namespace groma {
namespace {

// What mappers do in a run, and what they were asked.
struct Answers {
  // The single tasks `look` and `roam` start on another CPU or GPU from launch number `moves_at`
  // on.
  int moves_at = 1 << 30;
  // ContextConfigOutput::max_window. -1: Legion's default.
  int window = -1, hysteresis = -1;
  int options = 0, looks = 0;
};

// Maps as the default mapper does, except for `Answers`.
class Asked : public Mapper {
 public:
  Asked(MapperSite site, Answers& answers) : Mapper(std::move(site)), answers_(answers) {}
  bool selects() const override { return false; }
  bool reads_valid() const override { return false; }
  bool repeats_answers() const override { return true; }
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override {
    Mapper::select_task_options(runtime, task, answer);
    ++answers_.options;
    if (task.name != "look" && task.name != "roam") return;
    const ProcKind kind = task.name == "look" ? ProcKind::kCpu : ProcKind::kGpu;
    answer.initial = {kind, 0, answers_.looks++ < answers_.moves_at ? 0 : 1};
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    answer.processors = {task.current};
  }
  void configure_context(MapperRuntime& runtime, const TaskView& task,
                         ContextConfigOutput& answer) override {
    Mapper::configure_context(runtime, task, answer);
    if (answers_.window >= 0) answer.max_window = answers_.window;
    if (answers_.hysteresis >= 0) answer.hysteresis_percent = answers_.hysteresis;
  }

 private:
  Answers& answers_;
};

RunResult run(const AppBuilder& app, Answers& answers, const SimulateOptions& options) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"));
  return simulate(
      *Workload::make(app.done()), machine,
      [&](const Processor& local) {
        MapperSite site;
        site.machine = machine;
        site.local = local;
        return std::make_unique<Asked>(std::move(site), answers);
      },
      options);
}

// Runs the application once without a record, so that iterations are skipped, and once with a
// record. Expects the same result, and the same number of questions.
RunResult run_both(const AppBuilder& app, Answers answers = {},
                   std::optional<RuntimeCosts> costs = {}) {
  SimulateOptions options;
  options.costs = costs;
  Answers all = answers;
  RunResult found = run(app, answers, options);
  options.record = true;
  const RunResult expected = run(app, all, options);
  EXPECT_EQ(found.raw, expected.raw);
  EXPECT_EQ(found.seconds, expected.seconds);
  EXPECT_EQ(found.total_seconds, expected.total_seconds);
  EXPECT_EQ(found.tasks, expected.tasks);
  EXPECT_EQ(found.copies, expected.copies);
  EXPECT_EQ(found.moved_bytes, expected.moved_bytes);
  EXPECT_EQ(answers.options, all.options);
  return found;
}

constexpr RuntimeCosts kNoCosts = {0, 0, 0, 0, 0, 0};
// Launching a task takes as long as running it or longer.
constexpr RuntimeCosts kSlowLaunches = {3e-5, 2e-5, 2e-5, 1e-6, 2e-5, 1e-6};

// A region of 16 pieces of 1 MiB, written by `write` and read by `read` with the neighbours'
// elements.
AppBuilder long_line(std::int64_t times = 60) {
  AppBuilder app("line");
  app.parameter("n", 16, "").parameter("times", times, "");
  app.region("line", {"n * 131072"}).field("value", 8);
  app.region("small", {"n"}).field("value", 8);
  app.partition("pieces", {"n"}).partition("wider", {"n"}).halo({2});
  app.task("write").variant(gpu().leaf()).writes("pieces");
  app.task("read").variant(gpu().leaf()).reads("wider");
  app.task("look").variant(cpu().leaf().nanoseconds("1000000")).reads("small");
  app.task("sum").variant(cpu().leaf().nanoseconds("777")).reads("small");
  app.task("grow", {"x"}).variant(gpu().leaf().nanoseconds("1000 * x")).writes("pieces");
  app.task("roam").variant(gpu().leaf().nanoseconds("100000")).reads("line").writes("small");
  app.task("count").variant(cpu().leaf().nanoseconds("5000")).writes("small");
  app.task("sleep").variant(gpu().leaf().nanoseconds("100000000000000")).writes("pieces");
  app.task("main").variant(cpu());
  return app.top_level("main");
}

const LaunchBuilder kWrite = launch("write").over({"n"}), kRead = launch("read").over({"n"});

// Many more iterations than fit into this memory if each were carried out.
TEST(SteadyLoops, TakeNoMemoryForIterationsThatAreSkipped) {
  for (const auto& body : {loop("times", {kWrite, kRead}), traced_loop("times", {kWrite, kRead})}) {
    AppBuilder app = long_line(200000);
    app.body({body});
    Answers answers;
    SimulateOptions options;
    options.max_bytes = std::int64_t{16} << 20;
    const RunResult result = run(app, answers, options);
    ASSERT_TRUE(result.ok()) << result.raw;
    EXPECT_EQ(result.tasks, 1 + 200000 * 32);
    EXPECT_EQ(answers.options, 1 + 200000 * 2);
  }
}

TEST(SteadyLoops, EndAsIfNothingWereSkipped) {
  const std::vector<std::vector<AppStatement>> bodies = {
      {loop("times", {kWrite, kRead})},
      {traced_loop("times", {kWrite, kRead})},
      {phase("timed", {traced_loop("times", {kWrite, kRead}), wait()}), kWrite},
      {phase("timed", {loop("times", {kWrite, kRead})}), loop("times", {kRead, kWrite}), kRead},
      {loop("times", {kWrite, kRead, wait()})},
      {loop("times", {phase("timed", {kWrite}), kRead})},
      {loop("times", {kWrite, loop(3, {kRead}), kWrite}, "t")},
      {loop("times", {kWrite, LaunchBuilder(kRead).gives("f"), wait("f")})},
      {loop("times", {LaunchBuilder(kWrite).gives("f"), LaunchBuilder(kRead).takes("f")})},
      {loop("times", {kWrite, launch("sum"), kRead})},
      {loop("times", {kWrite, launch("sum").gives("f"), LaunchBuilder(kRead).takes("f")}),
       launch("sum"), launch("sum")}};
  for (const auto& body : bodies) {
    for (const auto& costs :
         {std::optional<RuntimeCosts>{}, std::optional{kNoCosts}, std::optional{kSlowLaunches}}) {
      for (const int window : {-1, 0, 1, 3, 8, 20, 64}) {
        AppBuilder app = long_line();
        app.body(body);
        Answers answers;
        answers.window = window;
        const RunResult result = run_both(app, answers, costs);
        EXPECT_TRUE(result.ok()) << result.raw;
      }
    }
  }
}

// A mapper that answers select_task_options differently from some launch on, in the middle of the
// iterations that could be skipped.
TEST(SteadyLoops, EndWhereAnAnswerChanges) {
  for (const int moves_at : {0, 3, 10, 11, 12, 30, 58, 59, 60}) {
    for (const auto& body :
         {loop("times", {launch("look"), kRead, kWrite}),
          loop("times", {kRead, kWrite, launch("look")}),
          loop("times", {kRead, launch("look").gives("f"), kWrite, wait("f")})}) {
      AppBuilder app = long_line();
      app.body({body, kWrite, kRead});
      Answers answers;
      answers.moves_at = moves_at;
      EXPECT_TRUE(run_both(app, answers).ok());
    }
  }
}

// The task that moves waits for the iteration before, but its copy of `line` to the other GPU waits
// for nothing. So it matters when the task is launched.
TEST(SteadyLoops, EndWhereAnAnswerChangesInAChain) {
  for (const int window : {-1, 0, 64}) {
    for (const int moves_at : {5, 30, 59}) {
      AppBuilder app = long_line();
      app.body({loop("times", {launch("roam")})});
      Answers answers;
      answers.moves_at = moves_at;
      answers.window = window;
      EXPECT_TRUE(run_both(app, answers).ok());
    }
  }
}

// Launches end at the very times at which others are launched. It does not matter which of these
// events is handled first.
TEST(SteadyLoops, MayHaveLaunchesThatEndWhenOthersBegin) {
  for (const int window : {1, 2, 3, 5}) {
    for (const int hysteresis : {0, 25, 50, 100}) {
      for (const double issue : {0.0, 1e-6, 5e-6}) {
        AppBuilder app = long_line(17);
        app.body({loop("times", {launch("count")})});
        Answers answers;
        answers.window = window;
        answers.hysteresis = hysteresis;
        EXPECT_TRUE(run_both(app, answers, RuntimeCosts{issue, 1e-5, 5e-6, 0, 1e-6, 0}).ok());
      }
    }
  }
}

// The time of a task may depend on the variable of the loop although its data does not.
TEST(SteadyLoops, AreNotFoundIfATaskDependsOnTheIteration) {
  AppBuilder app = long_line();
  app.body({loop("times", {launch("grow").over({"n"}).with({"t"}), kRead}, "t")});
  EXPECT_TRUE(run_both(app).ok());
}

// A limit of the run ends it in the middle of the iterations that could be skipped.
TEST(SteadyLoops, ReachTheLimitsOfTheRun) {
  const auto expect_same_end = [](const AppBuilder& app, SimulateOptions options) {
    Answers one, other;
    const RunResult found = run(app, one, options);
    options.record = true;
    const RunResult expected = run(app, other, options);
    EXPECT_EQ(found.status, expected.status);
    EXPECT_EQ(found.raw, expected.raw);
    return found.status;
  };
  AppBuilder app = long_line();
  app.body({loop("times", {kWrite, kRead})});
  for (const std::int64_t most : {700, 1000, 1919}) {
    SimulateOptions options;
    options.max_tasks = most;
    EXPECT_EQ(expect_same_end(app, options), RunStatus::kTooLarge);
  }
  AppBuilder slow = long_line();
  slow.body({loop("times", {launch("sleep").over({"n"}), kRead})});
  EXPECT_EQ(expect_same_end(slow, {}), RunStatus::kExecuteError);
}

// Random loops in which every task waits for a task of the iteration before, so that launching gets
// far ahead, under random costs, durations and windows.
TEST(SteadyLoops, EndAsIfNothingWereSkippedInRandomChains) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t n) {
      return static_cast<std::int64_t>(random() % n);
    };
    AppBuilder app("chains");
    app.parameter("n", 1 + below(12), "").parameter("times", 8 + below(60), "");
    const std::int64_t regions = 1 + below(3);
    std::vector<std::string> tasks;
    for (std::int64_t r = 0; r < regions; ++r) {
      const std::string name = "r" + std::to_string(r);
      app.region(name, {"n * 4096"}).field("value", 8);
      app.partition(name + "_own", {"n"}).partition(name + "_wide", {"n"}).halo({1 + below(5000)});
    }
    for (std::int64_t t = 1 + below(4); t > 0; --t) {
      tasks.push_back("t" + std::to_string(t));
      const VariantBuilder variant = below(4) == 0 ? cpu() : gpu();
      const std::string nanoseconds = std::to_string(below(3) == 0 ? 1000 : 500 + below(60000));
      app.task(tasks.back()).variant(VariantBuilder(variant).leaf().nanoseconds(nanoseconds));
      const std::int64_t updated = below(static_cast<std::uint64_t>(regions));
      for (std::int64_t r = 0; r < regions; ++r) {
        const std::string name = "r" + std::to_string(r);
        if (r == updated) app.writes(name + "_own");
        if (r != updated && below(2) == 0) app.reads(name + "_wide");
      }
    }
    app.task("main").variant(cpu()).top_level("main");
    std::vector<AppStatement> body;
    for (std::int64_t launches = 1 + below(5); launches > 0; --launches) {
      body.push_back(launch(tasks[static_cast<std::size_t>(below(tasks.size()))]).over({"n"}));
    }
    if (below(5) == 0) body.push_back(loop(1 + below(3), {body.front()}));
    const AppStatement repeated = below(2) == 0 ? loop("times", body) : traced_loop("times", body);
    app.body({body.front(), phase("timed", {repeated, wait()}), body.back()});
    const auto time = [&below](std::uint64_t most) {
      return below(3) == 0 ? 0 : 1e-9 * static_cast<double>(below(most));
    };
    const std::uint64_t most = below(2) == 0 ? 300 : 20000;
    const RuntimeCosts costs = {time(most), time(most), time(most),
                                time(most), time(most), time(most)};
    Answers answers;
    answers.window = static_cast<int>(below(3) == 0 ? -1 : below(below(2) == 0 ? 12 : 200));
    answers.hysteresis = static_cast<int>(below(2) == 0 ? -1 : below(101));
    EXPECT_TRUE(run_both(app, answers, costs).ok()) << "seed " << seed;
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace groma
