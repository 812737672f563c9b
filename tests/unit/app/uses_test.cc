// uses: what is launched with which domain, by whom, how deep; domains that have no value.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "app/data.h"
#include "app/launch_domains.h"
#include "groma/workload.h"

namespace groma::app {
namespace {

AppTask task(std::string name, std::vector<std::string> arguments = {},
             std::vector<AppStatement> body = {}) {
  AppTask task{.name = std::move(name), .variants = {AppVariant{}}};
  task.arguments = std::move(arguments);
  task.body = std::move(body);
  return task;
}

AppStatement launch(std::string task, Formulas domain = {}, std::vector<std::string> index = {},
                    Formulas arguments = {}) {
  return {AppLaunch{.task = std::move(task),
                    .domain = std::move(domain),
                    .index = std::move(index),
                    .arguments = std::move(arguments)}};
}

AppStatement loop(Formula count, std::string variable, std::vector<AppStatement> body) {
  return {AppLoop{std::move(count), std::move(variable), false, std::move(body)}};
}

Application application(std::vector<AppTask> tasks) {
  return {.name = "a", .top_level = tasks.front().name, .tasks = std::move(tasks)};
}

std::string listed(const Application& app, bool expect_complete = true, std::size_t most = 100) {
  const Workload workload = Workload::make(app).value();
  bool complete = false;
  std::string text;
  for (const DistinctLaunch& use : list_launches(workload.data(), most, complete)) {
    const std::vector<Task>& tasks = workload.data().tasks;
    text += fmt::format("{}{}<{}@{}", text.empty() ? "" : " ", tasks[use.task].name,
                        use.parent < 0 ? "" : tasks[static_cast<std::size_t>(use.parent)].name,
                        use.depth);
    if (use.domain) {
      text += fmt::format("[{}+{}]", fmt::join(use.domain->box.lower.coordinates(), ","),
                          fmt::join(use.domain->box.extents.coordinates(), ","));
    }
  }
  EXPECT_EQ(complete, expect_complete) << text;
  return text;
}

TEST(Uses, InTheOrderOfTheFirstRun) {
  const AppStatement twice = {AppPhase{"p", {launch("b", {4}), launch("a")}}};
  EXPECT_EQ(listed(application(
                {task("main", {}, {loop(3, "", {launch("a"), twice})}), task("a"), task("b")})),
            "main<@0 a<main@1 b<main@1[0+4] a<main@1");
  EXPECT_EQ(listed(application({task("main", {}, {loop(0, "", {launch("a")})}), task("a")})),
            "main<@0");
}

TEST(Uses, OnceForEachDomain) {
  const auto main =
      task("main", {}, {loop(6, "k", {launch("a", {"k / 2", 2}), launch("b", {"k % 2"})})});
  EXPECT_EQ(listed(application({main, task("a"), task("b")})),
            "main<@0 a<main@1[0,0+0,2] b<main@1[0+0] b<main@1[0+1] a<main@1[0,0+1,2] "
            "a<main@1[0,0+2,2]");
}

TEST(Uses, ByArguments) {
  const auto main = task("main", {}, {launch("t", {3}, {"i"}, {"i * i"})});
  const auto t = task("t", {"n"}, {launch("leaf", {"n + 1"}), launch("u")});
  EXPECT_EQ(listed(application({main, t, task("leaf"), task("u", {}, {launch("leaf")})})),
            "main<@0 t<main@1[0+3] leaf<t@2[0+1] u<t@2 leaf<u@2 leaf<t@2[0+2] leaf<t@2[0+5]");
}

TEST(Uses, Recursion) {
  EXPECT_EQ(listed(application({task("main", {}, {launch("main")})})),
            "main<@0 main<main@1 "
            "main<main@2");
  const auto down = task("t", {"n"}, {loop("n > 0", "", {launch("t", {}, {}, {"n - 1"})})});
  EXPECT_EQ(listed(application({task("main", {}, {launch("t", {}, {}, {5})}), down})),
            "main<@0 t<main@1 t<t@2");
  const auto up = task("t", {"n"}, {launch("t", {"n"}, {}, {"n + 1"})});
  const std::string text = listed(application({task("main", {}, {launch("t", {}, {}, {1})}), up}));
  EXPECT_NE(text.find("[0+62]"), text.npos);  // as deep as it looks
}

TEST(Uses, LargeLaunchesAreNotWalked) {
  const auto t = task("t", {}, {launch("leaf")});
  EXPECT_EQ(listed(application(
                {task("main", {}, {launch("t", {"1000000 * 1000000"})}), t, task("leaf")})),
            "main<@0 t<main@1[0+1000000000000] leaf<t@2");
  const auto asked = task("t", {"n"}, {launch("leaf")});
  EXPECT_EQ(
      listed(application({task("main", {}, {launch("t", {"1000000 * 1000000"}, {"i"}, {"i"})}),
                          asked, task("leaf")}),
             false),
      "main<@0 t<main@1[0+1000000000000] leaf<t@2");
}

TEST(Uses, AreBounded) {
  const auto main = task("main", {}, {loop(1000, "k", {launch("a", {"k"})})});
  EXPECT_EQ(listed(application({main, task("a")}), false, 3),
            "main<@0 a<main@1[0+0] a<main@1[0+1]");
  const auto forever = task("main", {}, {loop(INT64_MAX, "k", {launch("a")}), launch("b")});
  EXPECT_EQ(listed(application({forever, task("a"), task("b")}), false), "main<@0 a<main@1");
}

TEST(Uses, WhatHasNoDomainIsLeftOut) {
  const auto main =
      task("main", {}, {loop(3, "k", {launch("a", {"k - 1"}), launch("b", {"6 / k"})})});
  EXPECT_EQ(listed(application({main, task("a"), task("b")})),
            "main<@0 a<main@1[0+0] b<main@1[0+6] a<main@1[0+1] b<main@1[0+3]");
}

TEST(Uses, WithoutATopLevel) {
  Application app = application({task("main", {}, {launch("a")}), task("a")});
  app.top_level.clear();
  EXPECT_EQ(listed(app), "");
}

TEST(Domain, Faults) {
  Application app =
      application({task("main", {}, {loop(9, "k", {launch("a", {"k", "k"})})}), task("a")});
  std::get<AppLaunch>(std::get<AppLoop>(app.tasks[0].body[0].node).body[0].node).lower = {
      "-k", "9223372036854775806 / (k - 2)"};
  const Workload workload = Workload::make(app).value();
  const auto& body = std::get<Loop>(workload.data().tasks[0].body[0].node).body;
  const auto& launch = std::get<Launch>(body[0].node);
  const auto fault_at = [&](std::int64_t k) {
    std::vector<std::int64_t> frame(static_cast<std::size_t>(workload.data().tasks[0].frame_size));
    frame[0] = k;
    FormulaFault fault = FormulaFault::kNone;
    const auto domain = domain_of(launch, frame, fault);
    EXPECT_EQ(domain.has_value(), fault == FormulaFault::kNone);
    EXPECT_EQ(domain ? domain->box.lower[0] : -k, -k);
    return fault;
  };
  EXPECT_EQ(fault_at(1), FormulaFault::kNone);
  EXPECT_EQ(fault_at(2), FormulaFault::kDivisionByZero);
  EXPECT_EQ(fault_at(3), FormulaFault::kNoBox);
  EXPECT_EQ(fault_at(-1), FormulaFault::kNoBox);
}

AppStatement launch_where(Formulas domain, Formula condition) {
  return {AppLaunch{.task = "work",
                    .domain = std::move(domain),
                    .index = {"i", "j"},
                    .where = std::move(condition)}};
}

// A condition without a value anywhere costs as much as one that has values, so the walk ends.
TEST(Launches, ConditionsThatFailCount) {
  const Application app = application({task("main", {},
                                            {loop(1'000'000, "k",
                                                  {launch_where({1024, 1024}, "1 / (i - i)"),
                                                   launch_where({1024, 1024}, "i + j < 0")})}),
                                       task("work")});
  const Workload workload = Workload::make(app).value();
  bool complete = true;
  EXPECT_LE(list_launches(workload.data(), 1'000, complete).size(), 2U);
  EXPECT_FALSE(complete);
}

// A condition is evaluated once for the same box and the same values of the variables that it
// reads. The evaluation counts its steps, and ends if it may not go on.
TEST(Launches, ConditionsAreEvaluatedOnce) {
  const AppStatement inner = launch_where({100, 100}, "i < j + k");
  const Application app =
      application({task("main", {}, {loop(5, "k", {loop(5, "l", {inner})})}), task("work")});
  const Workload workload = Workload::make(app).value();
  const Task& main = workload.data().tasks[0];
  const auto& outer = std::get<Loop>(main.body.front().node);
  const auto& second = std::get<Loop>(outer.body.front().node);
  const auto& compiled = std::get<Launch>(second.body.front().node);
  DomainCache cache;
  std::vector<std::int64_t> frame(static_cast<std::size_t>(main.frame_size));
  std::int64_t spent = 0, budget = INT64_MAX;
  const auto domain_at = [&](std::int64_t k, std::int64_t l) {
    frame[static_cast<std::size_t>(outer.slot)] = k;
    if (second.slot >= 0) frame[static_cast<std::size_t>(second.slot)] = l;
    FormulaFault fault = FormulaFault::kNone;
    spent = 0;
    auto domain = cache.domain_of(compiled, frame, fault, [&](std::int64_t units) {
      spent += units;
      return spent <= budget;
    });
    EXPECT_EQ(fault, FormulaFault::kNone);
    return domain;
  };
  const auto first = domain_at(1, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->count(), 100 * 101 / 2);
  EXPECT_GE(spent, 100 * 100);
  EXPECT_EQ(domain_at(1, 3), first);
  EXPECT_EQ(spent, 1);
  EXPECT_NE(domain_at(2, 0), first);
  EXPECT_GE(spent, 100 * 100);
  budget = 1000;
  EXPECT_FALSE(domain_at(3, 0));
  EXPECT_LT(spent, 2000);
  budget = INT64_MAX;
  EXPECT_TRUE(domain_at(3, 0));
}

// The box of a launch is the one around its points.
TEST(Launches, OfSomePointsHaveATightBox) {
  const Application app =
      application({task("main", {}, {launch_where({4, 6}, "(i > 1) * (j == i)")}), task("work")});
  const Workload workload = Workload::make(app).value();
  bool complete = true;
  const auto uses = list_launches(workload.data(), 10, complete);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[1].domain->count(), 2);
  EXPECT_EQ(uses[1].domain->box.lower, (Point{2, 2}));
  EXPECT_EQ(uses[1].domain->box.extents, (Point{2, 2}));
}

}  // namespace
}  // namespace groma::app
