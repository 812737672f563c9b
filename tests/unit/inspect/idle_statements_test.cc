// check() warns about statements that can have no effect on the machine or for the application.
#include <gmock/gmock.h>

#include <string>

#include "groma/app_builder.h"
#include "groma/inspect.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// `main` may be replicated, `work` only on OMPs. `sum` reduces, so it runs once.
Workload app() {
  AppBuilder app("app");
  app.region("x", {80}).field("a", 8).partition("parts", {8});
  app.task("work").variant(cpu().leaf()).variant(omp().leaf().replicable()).writes("parts");
  app.task("sum").variant(cpu().leaf().replicable()).reduces("x");
  app.task("main").variant(cpu().replicable());
  app.body({launch("work").over({8}), launch("sum")});
  auto made = Workload::make(app.top_level("main").done());
  EXPECT_TRUE(made.ok()) << made.error().message;
  return *made;
}

std::string checked(const std::string& text, const char* spec, const Workload* app) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const auto machine =
      spec == nullptr ? Result<Machine>(Error{Error::Code::kUnknown, ""}) : make_machine(spec);
  check(source, machine ? &*machine : nullptr, app, diags);
  return render(diags);
}

constexpr const char* kCpus = "nodes=1,gpu=0,cpu=2,omp=0,sysmem=512,sockmem=0,rdmem=0";

TEST(IdleStatements, ForProcessorsThatTheMachineLacks) {
  for (const std::string statement :
       {"Region * * GPU FBMEM", "Layout * * GPU SOA", "InstanceLimit * GPU 4",
        "TaskSteal * GPU SAME_NODE", "InstanceLimit a, b, c OMP 4 Machine"}) {
    const std::string said = checked(statement + ";\n", kCpus, nullptr);
    EXPECT_THAT(said, HasSubstr("a.mapper:1:1: warning: `")) << statement;
    EXPECT_THAT(said, HasSubstr("processor [kind-not-on-machine]")) << statement;
    EXPECT_THAT(said, HasSubstr("note: the statement has no effect on this machine")) << statement;
    EXPECT_EQ(said.find("warning:"), said.rfind("warning:")) << statement;
    EXPECT_EQ(checked(statement + ";\n", "p100x4", nullptr), "") << statement;
    EXPECT_EQ(checked(statement + ";\n", nullptr, nullptr), "") << statement;
  }
}

TEST(IdleStatements, ForMemoriesThatTheMachineLacks) {
  EXPECT_THAT(checked("Layout * * FBMEM SOA;\n", kCpus, nullptr),
              HasSubstr("can address FBMEM [unaddressable-memory]"));
  EXPECT_THAT(checked("Region * * * FBMEM, ZCMEM;\n", kCpus, nullptr),
              HasSubstr("can address FBMEM [unaddressable-memory]"));
  EXPECT_EQ(checked("Region * * * FBMEM, SYSMEM;\n", kCpus, nullptr), "");
  EXPECT_EQ(checked("Region * * * VIRTUAL;\nLayout * * SYSMEM SOA;\n", kCpus, nullptr), "");
}

TEST(IdleStatements, ReplicationOfATaskThatIsNeverReplicated) {
  const Workload with = app();
  EXPECT_THAT(
      checked("ControlReplicate sum;\n", nullptr, &with),
      HasSubstr("a.mapper:1:1: warning: `sum` is never replicated: a task that reduces to a "
                "region runs once [never-replicated]"));
  EXPECT_THAT(checked("ControlReplicate main, work;\n", nullptr, &with), Not(HasSubstr("never")));
  EXPECT_THAT(checked("ControlReplicate work;\n", "p100x4", &with), Not(HasSubstr("never")));
  EXPECT_THAT(checked("Task work CPU;\nControlReplicate main, work;\n", "p100x4", &with),
              HasSubstr("a.mapper:2:1: warning: `work` is never replicated: its variant for CPU is "
                        "not replicable [never-replicated]"));
  EXPECT_THAT(checked("ControlReplicate *;\n", "p100x4", &with), Not(HasSubstr("never")));
}

TEST(IdleStatements, MapsForLaunchesThatTheApplicationLacks) {
  const Workload with = app();
  const std::string function = "def f(Task t) { return Machine(GPU)[0, 0]; }\n";
  EXPECT_THAT(
      checked(function + "SingleTaskMap work f;\n", nullptr, &with),
      HasSubstr("a.mapper:2:1: warning: `SingleTaskMap` decides nothing about `work`, which "
                "the application launches only as an index launch [other-launches]"));
  EXPECT_THAT(
      checked(function + "IndexTaskMap sum f;\n", nullptr, &with),
      HasSubstr("`IndexTaskMap` decides nothing about `sum`, which the application launches "
                "only as a single task [other-launches]"));
  EXPECT_THAT(checked(function + "IndexTaskMap work, * f;\nSingleTaskMap * f;\n", nullptr, &with),
              Not(HasSubstr("other-launches")));
}

TEST(IdleStatements, SelectorsThatStandForNoLaunch) {
  const Workload with = app();
  for (const std::string selector : {"sum > work", "work[dim=2]", "work[dim=0]", "sum > *"}) {
    const std::string said = checked("Task " + selector + " CPU;\n", "p100x4", &with);
    EXPECT_THAT(said, HasSubstr("a.mapper:1:1: warning: ")) << selector;
    EXPECT_THAT(said, HasSubstr("[unknown-task]")) << selector;
    EXPECT_THAT(said, HasSubstr("note: no launch of the task has")) << selector;
    EXPECT_EQ(said.find("warning:"), said.rfind("warning:")) << selector;
  }
  for (const std::string selector : {"main > work", "work[dim=1]", "main > *", "sum[dim=0]"}) {
    EXPECT_EQ(checked("Task " + selector + " CPU;\n", "p100x4", &with), "") << selector;
  }
}

}  // namespace
}  // namespace groma
