// The estimates of check_run(): near the times of the runs that they stand for, and none where
// there is no run.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/run.h"

namespace groma {
namespace {

const Machine& machine(const std::string& spec) {
  static std::map<std::string, Machine> all;
  return all.try_emplace(spec, make_machine(spec).value()).first->second;
}

struct Times {
  std::optional<double> estimate;
  RunResult run;
};

Times times_of(const Workload& app, const std::string& spec, const std::string& text,
               const SimulateOptions& simulate = {}) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), machine(spec), diags);
  EXPECT_TRUE(bound) << render(diags);
  CheckOptions options;
  options.estimate = EstimateConstants{simulate.costs, simulate.model};
  Times times;
  times.estimate = check_run(*bound, app, diags, options);
  times.run = run(*bound, app, simulate, diags);
  return times;
}

Workload benchmark(const std::string& name, const std::string& values) {
  return Workload::make(with_values(find_benchmark(name)->make(), values).value()).value();
}

TEST(Estimate, IsNearTheTimeOfTheRun) {
  for (const Benchmark& each : benchmarks()) {
    const std::string name(each.name);
    for (const std::string spec : {"p100x4", "lassen:nodes=2"}) {
      const Workload app = benchmark(name, spec == "p100x4" ? "size=small" : "size=small,nodes=2");
      const Times times = times_of(app, spec, "");
      ASSERT_TRUE(times.run.ok()) << name;
      ASSERT_TRUE(times.estimate) << name;
      EXPECT_NEAR(*times.estimate / times.run.seconds, 1, 0.1) << name << " on " << spec;
    }
  }
}

TEST(Estimate, TellsGoodMappingsFromBadOnes) {
  const Workload app = benchmark("stencil", "size=small");
  const Times fast = times_of(app, "p100x4", "");
  for (const char* text : {"Region * * GPU ZCMEM;", "Task * CPU;"}) {
    const Times slow = times_of(app, "p100x4", text);
    ASSERT_TRUE(slow.run.ok() && slow.estimate) << text;
    EXPECT_GT(slow.run.seconds, 1.5 * fast.run.seconds) << text;
    EXPECT_NEAR(*slow.estimate / slow.run.seconds, 1, 0.15) << text;
  }
}

// An application whose top-level task runs this body. `step` takes a millisecond on one of four
// pieces.
Workload application(std::vector<AppStatement> body) {
  AppBuilder app("app");
  app.region("x", {64}).field("a", 8).partition("parts", {4});
  app.task("step")
      .variant({.kind = ProcKind::kGpu, .leaf = true, .nanoseconds = 1'000'000})
      .writes("parts");
  app.task("main").variant({.kind = ProcKind::kCpu, .inner = true}).body(std::move(body));
  app.top_level("main");
  return Workload::make(app.done()).value();
}

AppLaunch step() {
  AppLaunch launch;
  launch.task = "step";
  launch.domain = {4};
  return launch;
}

// Only a few iterations are examined; the others count, too.
TEST(Estimate, CountsAllIterationsOfALoop) {
  AppLoop loop;
  loop.count = 1000;
  loop.traced = true;
  loop.body = {{step()}};
  const Times times = times_of(application({{loop}}), "p100x4", "");
  ASSERT_TRUE(times.run.ok() && times.estimate);
  EXPECT_GT(times.run.seconds, 1);
  EXPECT_NEAR(*times.estimate / times.run.seconds, 1, 0.01);
}

TEST(Estimate, UsesTheConstantsOfTheRun) {
  const Workload app = benchmark("circuit", "size=small");
  SimulateOptions slow;
  slow.costs = RuntimeCosts{};
  slow.costs->replay_s *= 20;
  slow.costs->map_s *= 20;
  const Times before = times_of(app, "p100x4", ""), after = times_of(app, "p100x4", "", slow);
  ASSERT_TRUE(before.estimate && after.estimate);
  EXPECT_GT(*after.estimate, 1.5 * *before.estimate);
  EXPECT_NEAR(*after.estimate / after.run.seconds, 1, 0.1);
}

TEST(Estimate, IsNoneForARefusedRun) {
  const Workload app = benchmark("circuit", "size=small");
  const Times times = times_of(app, "p100x4", "Region * * GPU SYSMEM;");
  EXPECT_FALSE(times.run.ok());
  EXPECT_FALSE(times.estimate);
}

TEST(Estimate, IsNoneForACheckThatEndsEarly) {
  const Workload app = benchmark("circuit", "size=small");
  const Source source("a.mapper", "");
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), machine("p100x4"), diags);
  CheckOptions options;
  options.estimate = EstimateConstants{};
  EXPECT_TRUE(check_run(*bound, app, diags, options));
  options.max_steps = 10;
  EXPECT_FALSE(check_run(*bound, app, diags, options));
  EXPECT_FALSE(check_run(*bound, app, diags));
}

}  // namespace
}  // namespace groma
