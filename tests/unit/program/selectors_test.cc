// Selectors of tasks: `main > step > update` and `update[dim=2]`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/program.h"
#include "groma/syntax.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string_view>;

Program compiled(const std::string& text) {
  Diagnostics diags(Source("a.mapper", text));
  Program program = compile(diags.source(), diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return program;
}

std::string errors_of(const std::string& text) {
  Diagnostics diags(Source("a.mapper", text));
  compile(diags.source(), diags);
  return render(diags);
}

// The kind on which the task runs; "-" if no statement says it.
std::string kind_of(const Program& program, std::string_view task, const Names& parents,
                    int dimensions = 0) {
  const auto decision = program.task(LaunchedTask(task, parents, dimensions));
  return decision ? std::string(name_of(decision->kinds.front())) : "-";
}

TEST(Selectors, APathIsMoreSpecificThanItsLastName) {
  const Program program = compiled(
      "Task * CPU\nTask update OMP\nTask main > step > update GPU\nTask step > update IO\n"
      "Task main > * PY\n");
  EXPECT_TRUE(program.has_selectors());
  EXPECT_EQ(kind_of(program, "update", {}), "OMP");
  EXPECT_EQ(kind_of(program, "update", {"step"}), "IO");
  EXPECT_EQ(kind_of(program, "update", {"step", "other"}), "IO");
  EXPECT_EQ(kind_of(program, "update", {"step", "main"}), "GPU");
  EXPECT_EQ(kind_of(program, "update", {"step", "main", "above"}), "GPU");
  // The name is more specific than `*` below a task.
  EXPECT_EQ(kind_of(program, "update", {"main"}), "OMP");
  EXPECT_EQ(kind_of(program, "other", {"main"}), "PY");
  EXPECT_EQ(kind_of(program, "other", {"step", "main"}), "CPU");
  // Nothing else is known of a name alone.
  EXPECT_EQ(program.task("update")->kinds.front(), ProcKind::kOmp);
}

TEST(Selectors, ThePartsOfAPathMayBePatternsAndQuotedNames) {
  const Program program = compiled(
      "Task st* > upd* GPU\nTask step > upd* OMP\nTask \"two words\" > ns::f, a.b > \"x y\" IO\n");
  EXPECT_EQ(kind_of(program, "update", {"start"}), "GPU");
  EXPECT_EQ(kind_of(program, "update", {"step"}), "OMP");
  EXPECT_EQ(kind_of(program, "update", {"other"}), "-");
  EXPECT_EQ(kind_of(program, "ns::f", {"two words"}), "IO");
  EXPECT_EQ(kind_of(program, "x y", {"a.b"}), "IO");
}

TEST(Selectors, TheFormOfALaunch) {
  const Program program = compiled(
      "Task update CPU\nTask update[dim=2] GPU\nTask update[dim=0] OMP\nTask *[dim=3] IO\n"
      "Task main > update[dim=2] PY\n");
  EXPECT_EQ(kind_of(program, "update", {}, 1), "CPU");
  EXPECT_EQ(kind_of(program, "update", {}, 2), "GPU");
  EXPECT_EQ(kind_of(program, "update", {"main"}, 2), "PY");
  EXPECT_EQ(kind_of(program, "update", {}, 0), "OMP");
  EXPECT_EQ(kind_of(program, "update", {}, 3), "CPU");
  EXPECT_EQ(kind_of(program, "other", {}, 3), "IO");
  // No `[dim=...]` matches a launch whose form is not known.
  EXPECT_EQ(kind_of(program, "update", {}, -1), "CPU");
}

TEST(Selectors, OfDataLimitsAndFunctions) {
  const Program program = compiled(
      "def f(Task task) { return Machine(GPU)[0, 0] }\n"
      "def g(Task task) { return Machine(GPU)[0, 0] }\n"
      "Region * * GPU FBMEM\nRegion main > update 1 GPU ZCMEM\nLayout main > update * * AOS\n"
      "InstanceLimit main > update 3\nIndexTaskMap update f\nIndexTaskMap main > update g\n"
      "CollectMemory main > update *\nControlReplicate main > update\n"
      "TaskSteal main > update GPU SAME_NODE\n");
  const Names main = {"main"};
  const LaunchedTask here("update", main, 1), elsewhere("update");
  const RegionNames region{1, {}};
  EXPECT_EQ(program.memories(here, region, ProcKind::kGpu).front().memory, MemKind::kZcmem);
  EXPECT_EQ(program.memories(elsewhere, region, ProcKind::kGpu).front().memory, MemKind::kFbmem);
  EXPECT_TRUE(program.layout(here, region, ProcKind::kGpu, MemKind::kFbmem));
  EXPECT_FALSE(program.layout(elsewhere, region, ProcKind::kGpu, MemKind::kFbmem));
  EXPECT_EQ(program.instance_limit(here, ProcKind::kGpu)->limit, 3);
  EXPECT_FALSE(program.instance_limit(elsewhere, ProcKind::kGpu));
  EXPECT_EQ(program.function_name(program.index_function(here, ProcKind::kGpu)->function), "g");
  EXPECT_EQ(program.function_name(program.index_function(elsewhere, ProcKind::kGpu)->function),
            "f");
  EXPECT_TRUE(program.collect_memory(here, region));
  EXPECT_TRUE(program.control_replicate(here));
  EXPECT_TRUE(program.task_steal(here, ProcKind::kGpu));
  EXPECT_FALSE(program.task_steal(elsewhere, ProcKind::kGpu));
}

TEST(Selectors, EquallySpecificOnesAreWarnedAbout) {
  EXPECT_THAT(errors_of("Task main > update GPU\nTask mai* > updat* CPU\n"),
              ::testing::Not(HasSubstr("equal-patterns")));
  EXPECT_THAT(errors_of("Task m*n > update GPU\nTask ma* > update CPU\n"),
              HasSubstr("equal-patterns"));
  EXPECT_THAT(errors_of("Task main > update GPU\nTask step > update CPU\n"),
              ::testing::Not(HasSubstr("equal-patterns")));
  EXPECT_THAT(errors_of("Task main > update GPU\nTask update[dim=2] CPU\n"),
              ::testing::Not(HasSubstr("equal-patterns")));
  EXPECT_THAT(errors_of("Task main > update GPU\nTask main > update CPU\n"),
              HasSubstr("shadowed-statement"));
}

TEST(Selectors, AreWrittenInOneForm) {
  Diagnostics diags(Source("a.mapper",
                           "Task main>step  >  upd*[ dim = 2 ] GPU\n"
                           "Region \"a b\">c,d * GPU FBMEM\n"));
  EXPECT_EQ(format(diags.source(), diags).value_or(""),
            "Task main > step > upd*[dim=2] GPU;\nRegion \"a b\" > c, d * GPU FBMEM;\n");
}

TEST(Selectors, MistakesAreExplained) {
  EXPECT_THAT(errors_of("Task main > GPU\n"), HasSubstr("error"));
  EXPECT_THAT(errors_of("Task main > step[x=2] GPU\n"), HasSubstr("`dim=`"));
  EXPECT_THAT(errors_of("Task main > step[dim=10] GPU\n"), HasSubstr("a number from 0 to 9"));
  EXPECT_THAT(errors_of("Task step[dim=2 GPU\n"), HasSubstr("expected"));
  EXPECT_THAT(errors_of("Task a > b > c > d > e > f > g > h > i GPU\n"),
              HasSubstr("tasks in one path"));
  EXPECT_THAT(errors_of("Task *_gpu CPU\n"), HasSubstr("does not begin with `*`"));
  EXPECT_THAT(errors_of("Task main > *_gpu CPU\n"), HasSubstr("does not begin with `*`"));
}

}  // namespace
}  // namespace groma
