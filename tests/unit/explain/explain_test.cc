// explain: who decided, who was beaten and why, and what never acts; on one small application.
#include "groma/explain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "groma/inspect.h"
#include "groma/io.h"
#include "support/files.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kApp = R"({
  "name": "small", "top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU", "inner": true, "replicable": true}],
     "requirements": [{"names": ["grid"], "privilege": "read-write"}],
     "body": [{"launch": "work", "domain": [8]}, {"launch": "init"}]},
    {"name": "work", "variants": [{"kind": "CPU"}, {"kind": "GPU"}],
     "requirements": [{"names": ["tiles", "grid"], "privilege": "read-write", "dimensions": 2},
                      {"names": ["ghosts", "grid"], "privilege": "read-only", "dimensions": 2},
                      {"privilege": "no-access"}]},
    {"name": "init", "variants": [{"kind": "CPU"}]}]})";

Workload workload(std::string_view app) {
  return Workload::make(application_from_json(app, "app").value()).value();
}

// One task `t` that can run on a GPU, launched by `main` as `body` says.
std::string launched(const std::string& body) {
  return R"({"top_level": "main", "tasks": [{"name": "t", "variants": [{"kind": "GPU"}]},
             {"name": "main", "variants": [{"kind": "CPU"}], "body": [)" +
         body + "]}]}";
}

struct Explained {
  BoundProgram bound;
  Diagnostics diags;
  std::optional<Explanation> result;

  std::string lines(const std::vector<DecisionOrigin>& origins) const {
    std::string text;
    for (DecisionOrigin origin : origins) {
      text += fmt::format("{}{}", text.empty() ? "" : " | ",
                          bound.program().source().text(bound.program().range(origin)));
    }
    return text;
  }
  std::string line(DecisionOrigin origin) const { return origin ? lines({origin}) : "default"; }
  // "A over B (0) | C (1)" with the reasons' numbers.
  std::string who(const DecidingStatement& decided) const {
    return line(decided.by) + over(decided.beaten);
  }
  std::string over(const std::vector<OverruledStatement>& beaten) const {
    std::string text;
    for (const OverruledStatement& other : beaten) {
      text += fmt::format("{}{} ({})", text.empty() ? " over " : " | ", line(other.origin),
                          static_cast<int>(other.reason));
    }
    return text;
  }
  const ExplainedTask& task(std::string_view name) const {
    const auto found =
        std::find_if(result->tasks.begin(), result->tasks.end(),
                     [name](const ExplainedTask& each) { return each.name == name; });
    EXPECT_NE(found, result->tasks.end()) << name;
    return *found;
  }
};

Explained explained(const std::string& text, const ExplainQuery& query = {},
                    const std::string& machine = "p100x4", std::string_view app = kApp) {
  Diagnostics diags{Source("a.mapper", text)};
  const Program program = compile(diags.source(), diags);
  auto bound = bind(program, load_machine(machine).value(), diags);
  EXPECT_TRUE(bound.has_value()) << render(diags);
  diags.clear();
  Explained made{*bound, diags, {}};
  made.result = explain(*bound, workload(app), query, made.diags);
  return made;
}

constexpr auto kPrecedence = 0, kShadowed = 1, kNothingNew = 2, kInner = 3, kVirtual = 4,
               kPrivilege = 5, kCondition = 6;
static_assert(static_cast<int>(OverruledStatement::Reason::kPrecedence) == kPrecedence &&
              static_cast<int>(OverruledStatement::Reason::kShadowed) == kShadowed &&
              static_cast<int>(OverruledStatement::Reason::kNothingNew) == kNothingNew &&
              static_cast<int>(OverruledStatement::Reason::kInner) == kInner &&
              static_cast<int>(OverruledStatement::Reason::kVirtual) == kVirtual &&
              static_cast<int>(OverruledStatement::Reason::kPrivilege) == kPrivilege &&
              static_cast<int>(OverruledStatement::Reason::kCondition) == kCondition);

TEST(Explain, KindsByTheMostSpecificStatement) {
  const Explained e = explained("Task * OMP, GPU\nTask work IO, GPU\nTask work CPU\nTask init CPU");
  const ExplainedKind& kind = e.task("work").kind;
  EXPECT_EQ(kind.kind, ProcKind::kGpu);
  EXPECT_EQ(e.who(kind), "Task work IO, GPU over Task work CPU (1) | Task * OMP, GPU (0)");
  ASSERT_EQ(kind.passed.size(), 1U);
  EXPECT_EQ(kind.passed[0].kind, ProcKind::kIo);
  EXPECT_EQ(kind.passed[0].why, "the machine has none");
}

// `update` is launched by `main`, and by `step`, which `main` and `start` launch.
constexpr std::string_view kNested = R"({
  "name": "nested", "top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU"}],
     "body": [{"launch": "start"}, {"launch": "step"}, {"launch": "update", "domain": [4]}]},
    {"name": "start", "variants": [{"kind": "CPU"}], "body": [{"launch": "step"}]},
    {"name": "step", "variants": [{"kind": "CPU"}], "body": [{"launch": "update", "domain": [2, 2]}]},
    {"name": "update", "variants": [{"kind": "CPU"}, {"kind": "GPU"}, {"kind": "OMP"}]}]})";

TEST(Explain, SelectorsTellLaunchesApart) {
  const Explained e = explained(
      "Task * CPU\nTask update GPU\nTask start > step > update OMP\nTask update[dim=1] CPU\n"
      "Task other > update CPU\n",
      {}, "p100x4", kNested);
  std::vector<std::string> kinds;
  for (const ExplainedTask& task : e.result->tasks) {
    if (task.name != "update") continue;
    kinds.push_back(fmt::format("{}: {}", task.selected, e.who(task.kind)));
  }
  EXPECT_THAT(kinds,
              ::testing::UnorderedElementsAre(
                  "launched by main, in 1 dimension: Task update[dim=1] CPU over Task update GPU "
                  "(0) | Task * CPU (0)",
                  "launched by main > step, in 2 dimensions: Task update GPU over Task * CPU (0)",
                  "launched by start > step, in 2 dimensions: Task start > step > update OMP over "
                  "Task update GPU (0) | Task * CPU (0)"));
  EXPECT_EQ(e.lines(e.result->unmatched), "Task other > update CPU");
  EXPECT_THAT(render(e.diags), HasSubstr("has no task `other`"));
  EXPECT_THAT(draw(*e.result, e.bound.program()),
              HasSubstr("task update, launched by main > step"));
  // Without selectors, the launches of a task are explained together.
  const Explained plain = explained("Task * CPU\n", {}, "p100x4", kNested);
  EXPECT_EQ(plain.result->tasks.size(), 4U);
  EXPECT_EQ(plain.task("update").selected, "");
}

TEST(Explain, PatternsAndConditions) {
  const Explained e = explained(
      "Task * CPU\nTask w* CPU, GPU\nTask wo*k GPU\nTask nothing_* GPU\n"
      "Region * gh* * ZCMEM\nRegion * * * FBMEM\n"
      "when Machine(GPU).volume == 4 { Task wo*k CPU; Region * * * SYSMEM, ZCMEM }\n"
      "when Machine(GPU).volume > 4 { Task * OMP; Region * * * SOCKMEM }\n");
  EXPECT_EQ(e.who(e.task("work").kind),
            "Task wo*k CPU over Task wo*k GPU (6) | Task w* CPU, GPU (0) | Task * CPU (0)");
  EXPECT_EQ(e.over(e.task("work").requirements[0].beaten), " over Region * * * FBMEM (6)");
  EXPECT_EQ(e.lines(e.result->unmatched), "Task nothing_* GPU");
  EXPECT_EQ(e.lines(e.result->inactive), "Task * OMP | Region * * * SOCKMEM");
  const std::string text = draw(*e.result, e.bound.program());
  EXPECT_THAT(text, HasSubstr("Task wo*k CPU, when Machine(GPU).volume == 4\n"));
  EXPECT_THAT(text, HasSubstr("(a statement in a `when` block says it)"));
  EXPECT_THAT(text, HasSubstr("Statements in blocks whose conditions do not hold here:\n"));
  const auto json = nlohmann::json::parse(to_json(*e.result, e.bound.program(), e.diags));
  EXPECT_EQ(json["inactive"][0]["when"], "Machine(GPU).volume > 4");
  // A pattern that matches no name is reported as a name is.
  EXPECT_THAT(render(e.diags), HasSubstr("`nothing_*` [unknown-task]"));
}

TEST(Explain, ATaskThatCanRunNowhereIsAnError) {
  const Explained e = explained("Task * GPU");
  EXPECT_FALSE(e.task("init").kind.kind.has_value());
  EXPECT_EQ(e.task("init").kind.passed[0].why, "the task has no variant for it");
  EXPECT_TRUE(e.task("init").launches.empty());
  EXPECT_THAT(render(e.diags), HasSubstr("[no-variant]"));
  // Asked about another task, it is not said.
  EXPECT_FALSE(explained("Task * GPU", {.task = "work", .region = ""}).diags.has_errors());
}

TEST(Explain, NothingWrittenIsTheDefaultMapper) {
  const Explained e = explained("", {}, "p100x4:nodes=2");
  const ExplainedTask& work = e.task("work");
  EXPECT_EQ(work.kind.kind, ProcKind::kGpu);
  EXPECT_EQ(e.who(work.kind), "default");
  ASSERT_EQ(work.launches.size(), 1U);
  EXPECT_EQ(work.launches[0].function, "");
  EXPECT_EQ(work.launches[0].loads->processors, 8);
  EXPECT_EQ(work.launches[0].loads->used, 8);
  EXPECT_EQ(work.launches[0].loads->max, 1);
  const ExplainedMemory& memory = work.requirements[0].memories.at(0);
  EXPECT_EQ(memory.memory, MemKind::kFbmem);
  EXPECT_EQ(e.line(memory.by) + " " + e.who(memory.layout_decided), "default default");
  EXPECT_FALSE(work.requirements[2].is_mapped);
  EXPECT_TRUE(e.task("main").replicated);
  EXPECT_EQ(e.who(e.task("main").replication), "default");
  EXPECT_EQ(e.task("main").launches.at(0).depth, 0);
  EXPECT_EQ(e.task("init").launches.at(0).depth, 1);
}

TEST(Explain, ALayoutThatTheProgramsMapperDemands) {
  constexpr std::string_view kDemanded = R"({"top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU"}], "body": [{"launch": "work"}]},
    {"name": "work", "variants": [{"kind": "GPU", "demands": [
       {"requirement": 0, "by": "mapper", "dimension_order": "C_order", "exact": true}]}],
     "requirements": [{"names": ["x"], "privilege": "read-write", "dimensions": 2},
                      {"names": ["y"], "privilege": "read-write", "dimensions": 2}]}]})";
  const auto text = [&](const std::string& mapping) {
    const Explained e = explained(mapping, {}, "p100x4", kDemanded);
    return draw(*e.result, e.bound.program());
  };
  EXPECT_THAT(text(""),
              HasSubstr("layout SOA C_order Exact\n        by the program's own mapper\n"));
  EXPECT_THAT(text(""), HasSubstr("layout SOA F_order\n        by the default mapper\n"));
  EXPECT_THAT(text("Layout * * * Align==64;\n"), Not(HasSubstr("own mapper")));
  const Explained e = explained("", {}, "p100x4", kDemanded);
  EXPECT_THAT(to_json(*e.result, e.bound.program(), e.diags),
              HasSubstr(R"("over":[],"demanded_by_mapper":true)"));
}

TEST(Explain, TheLayoutsOfAllVariantsThatRun) {
  constexpr std::string_view kOpposite = R"({"top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU"}], "body": [{"launch": "work"}]},
    {"name": "work", "variants": [
       {"kind": "GPU", "chosen_by_mapper": true, "demands": [
          {"requirement": 0, "dimension_order": "C_order"}]},
       {"kind": "GPU", "chosen_by_mapper": true, "demands": [
          {"requirement": 0, "dimension_order": "F_order"}]}],
     "requirements": [{"names": ["x"], "privilege": "read-write", "dimensions": 2}]}]})";
  const Explained e = explained("", {}, "p100x4", kOpposite);
  EXPECT_THAT(draw(*e.result, e.bound.program()),
              HasSubstr("layout SOA F_order\n        or SOA C_order, for launches that run another "
                        "variant\n"));
  EXPECT_THAT(to_json(*e.result, e.bound.program(), e.diags),
              HasSubstr(R"("other_layouts":["SOA C_order"])"));
}

TEST(Explain, MemoriesInOrderAndWhyNotTheFirst) {
  const Explained e = explained(
      "Region work tiles GPU SOCKMEM, ZCMEM\n"
      "Region work tiles * FBMEM\n"
      "Region work grid GPU ZCMEM\n"
      "Region * * * FBMEM, VIRTUAL\n"
      "Region * grid GPU REGSOCKMEM\n"
      "Layout * * ZCMEM AOS\n"
      "Layout * * GPU C_order\n"
      "Layout work 0 FBMEM C_order AOS Align==64\n");
  const ExplainedRequirement& tiles = e.task("work").requirements.at(0);
  std::string found;
  for (const ExplainedMemory& memory : tiles.memories) {
    found +=
        fmt::format("{} {} [{}] {}; {}\n", name_of(memory.memory), static_cast<int>(memory.state),
                    memory.why, e.line(memory.by), e.who(memory.layout_decided));
  }
  EXPECT_EQ(found,
            "SOCKMEM 0 [GPU cannot address it] Region work tiles GPU SOCKMEM, ZCMEM; default\n"
            "ZCMEM 1 [] Region work tiles GPU SOCKMEM, ZCMEM; "
            "Layout * * ZCMEM AOS over Layout * * GPU C_order (0)\n"
            "REGSOCKMEM 0 [the machine has none] Region * grid GPU REGSOCKMEM; default\n"
            "FBMEM 2 [] Region * * * FBMEM, VIRTUAL; "
            "Layout work 0 FBMEM C_order AOS Align==64 over Layout * * GPU C_order (0)\n"
            "VIRTUAL 2 [] Region * * * FBMEM, VIRTUAL; default\n");
  EXPECT_EQ(e.over(tiles.beaten),
            " over Region work tiles * FBMEM (0) | Region work grid GPU ZCMEM (2)");
}

TEST(Explain, AnInnerVariantsRegionsAreVirtual) {
  const Explained e = explained("Region main grid CPU SYSMEM\nLayout * * * AOS");
  const ExplainedRequirement& grid = e.task("main").requirements.at(0);
  EXPECT_TRUE(grid.is_virtual && grid.inner);
  EXPECT_TRUE(grid.memories.empty());
  EXPECT_EQ(e.over(grid.beaten), " over Region main grid CPU SYSMEM (3) | Layout * * * AOS (3)");
  const std::string text = draw(*e.result, e.bound.program());
  EXPECT_THAT(text, HasSubstr("virtual, since the task's variant is inner"));
  EXPECT_THAT(text, HasSubstr("(an inner variant's regions are virtual)"));
}

TEST(Explain, VirtualByAStatement) {
  const Explained e = explained("Region work tiles GPU VIRTUAL\nLayout * * * AOS");
  const ExplainedRequirement& tiles = e.task("work").requirements.at(0);
  EXPECT_TRUE(tiles.is_virtual);
  EXPECT_FALSE(tiles.inner);
  EXPECT_EQ(e.line(tiles.memories.at(0).by), "Region work tiles GPU VIRTUAL");
  EXPECT_EQ(e.over(tiles.beaten), " over Layout * * * AOS (4)");
}

TEST(Explain, ALeafsRegionIsNotVirtual) {
  std::string app(kApp);
  const std::string_view gpu = R"({"kind": "GPU"})";
  app.replace(app.find(gpu), gpu.size(), R"({"kind": "GPU", "leaf": true})");
  const Explained only = explained("Region work tiles GPU VIRTUAL", {}, "p100x4", app);
  EXPECT_THAT(
      render(only.diags),
      HasSubstr("region 0 of `work` cannot be virtual: the variant is a leaf, so nobody else "
                "maps it [bad-virtual]"));
  const Explained last = explained("Region work tiles GPU FBMEM, VIRTUAL", {}, "p100x4", app);
  EXPECT_FALSE(last.diags.has_errors());
  const ExplainedMemory& memory = last.task("work").requirements.at(0).memories.at(1);
  EXPECT_EQ(memory.state, ExplainedMemory::State::kPassed);
  EXPECT_EQ(memory.why, "the variant is a leaf, so nobody else maps it");
}

TEST(Explain, LaunchesByTheirFunctions) {
  const Explained e = explained(
      "m = Machine(GPU)\n"
      "def one(Task task) { return m[0, task.ipoint[0] % 2]; }\n"
      "def other(Task task) { return m[0, 0]; }\n"
      "def beside(Task task) { return Machine(CPU)[*task.parent.processor(Machine(CPU))]; }\n"
      "IndexTaskMap work one\nIndexTaskMap work other\nIndexTaskMap GPU other\n"
      "IndexTaskMap * other\nSingleTaskMap init beside\nSingleTaskMap work other\n");
  const ExplainedLaunch& work = e.task("work").launches.at(0);
  EXPECT_EQ(work.function, "one");
  EXPECT_EQ(e.who(work),
            "IndexTaskMap work one over IndexTaskMap work other (1) | IndexTaskMap GPU other (0) "
            "| IndexTaskMap * other (0)");
  EXPECT_EQ(work.loads->used, 2);
  EXPECT_EQ(work.loads->max, 4);
  const ExplainedLaunch& init = e.task("init").launches.at(0);
  EXPECT_EQ(init.function, "beside");
  EXPECT_EQ(init.example, (Processor{ProcKind::kCpu, 0, 0}));
  EXPECT_EQ(e.lines(e.result->unmatched), "SingleTaskMap work other");
}

TEST(Explain, AFunctionThatFailsIsAnError) {
  const Explained e = explained(
      "m = Machine(GPU)\ndef f(Task task) { return m[0, task.ipoint[0]]; }\nIndexTaskMap work f");
  EXPECT_FALSE(e.task("work").launches.at(0).loads.has_value());
  EXPECT_THAT(render(e.diags), HasSubstr("[slice-index-out-of-bound]"));
}

TEST(Explain, LimitsStealingReplicationCollection) {
  const Explained e = explained(
      "InstanceLimit work GPU 4\nInstanceLimit work 2\nInstanceLimit * 0\n"
      "TaskSteal work GPU ANY_NODE\nTaskSteal * GPU SAME_NODE\n"
      "ControlReplicate main\nCollectMemory work *\nCollectMemory * *\n");
  const ExplainedTask& work = e.task("work");
  EXPECT_EQ(work.limit, 4);
  EXPECT_EQ(e.who(work.limit_decided),
            "InstanceLimit work GPU 4 over InstanceLimit work 2 (0) | InstanceLimit * 0 (0)");
  EXPECT_EQ(work.steal, StealScope::kAnyNode);
  EXPECT_EQ(e.who(work.stealing), "TaskSteal work GPU ANY_NODE over TaskSteal * GPU SAME_NODE (0)");
  EXPECT_TRUE(e.task("main").replicated);
  EXPECT_EQ(e.who(e.task("main").replication), "ControlReplicate main");
  EXPECT_FALSE(work.requirements[0].collected);
  EXPECT_EQ(e.who(work.requirements[0].collection),
            "default over CollectMemory work * (5) | CollectMemory * * (5)");
  EXPECT_TRUE(work.requirements[1].collected);
  EXPECT_EQ(e.who(work.requirements[1].collection),
            "CollectMemory work * over CollectMemory * * (0)");
  EXPECT_EQ(e.lines(e.result->never_decide),
            "InstanceLimit work 2 | TaskSteal * GPU SAME_NODE | CollectMemory * *");
}

TEST(Explain, LimitsOverSeveralProcessors) {
  for (const auto& [scope, words, name] :
       {std::tuple("", "on a processor", ""),
        std::tuple(" SAME_NODE", "on all processors of a node", "SAME_NODE"),
        std::tuple(" Machine", "on the whole machine", "Machine")}) {
    ExplainQuery query;
    query.task = "work";
    const Explained e = explained(fmt::format("InstanceLimit work 4{}\n", scope), query);
    EXPECT_THAT(draw(*e.result, e.bound.program()),
                HasSubstr(fmt::format("at most 4 instances at a time {}\n", words)));
    const auto json = nlohmann::json::parse(to_json(*e.result, e.bound.program(), e.diags));
    const auto& limit = json["tasks"][0]["limit"];
    EXPECT_EQ(limit["value"], 4);
    EXPECT_EQ(limit.value("scope", ""), name);
  }
}

TEST(Explain, LayoutsThatAVariantRefuses) {
  const Explained e = explained("Layout * * * C_order", {}, "p100x4",
                                R"({"tasks": [{"name": "t", "variants": [{"kind": "GPU",
          "demands": [{"requirement": 0, "dimension_order": "F_order"}]}],
          "requirements": [{"privilege": "read-only", "dimensions": 2}]}]})");
  EXPECT_THAT(render(e.diags), HasSubstr("a.mapper:1:1: error: region 0 of `t`: its variant wants "
                                         "F_order, the mapping says C_order [layout-refused]"));
  // Both forms of a launch that is not described.
  ASSERT_EQ(e.task("t").launches.size(), 2U);
  EXPECT_TRUE(e.task("t").launches[0].is_index);
  EXPECT_FALSE(e.task("t").launches[1].is_index);
}

TEST(Explain, RegionsThatCanGoNowhere) {
  const Explained e = explained("Region work tiles GPU SOCKMEM");
  EXPECT_THAT(
      render(e.diags),
      HasSubstr("a.mapper:1:1: error: region 0 of `work` has no possible memory: SOCKMEM (GPU "
                "cannot address it) [no-memory]"));
  EXPECT_THAT(e.result->never_decide, IsEmpty());  // it decided, wrongly
}

TEST(Explain, OneTaskOnSeveralPartitions) {
  const std::string app = R"({"name": "a", "top_level": "main",
      "regions": [{"name": "r", "extents": [8], "fields": [{"name": "x"}]}],
      "partitions": [{"name": "mine", "of": "r", "colors": [4]},
                     {"name": "ghost", "of": "r", "colors": [4], "halo": [1]}],
      "tasks": [
        {"name": "main", "variants": [{"kind": "CPU"}], "body": [
          {"launch": "t", "domain": [4], "data": ["mine", "mine"]},
          {"launch": "t", "domain": [4], "data": ["mine", "ghost"]},
          {"launch": "t", "domain": [2], "data": ["mine", "ghost"]}]},
        {"name": "t", "variants": [{"kind": "GPU"}], "requirements": [
          {"privilege": "read-write", "data": "r"}, {"privilege": "read-only", "data": "r"}]}]})";
  const Explained e = explained("Region t ghost * ZCMEM\nRegion t gost * ZCMEM", {}, "p100x4", app);
  const ExplainedTask& task = e.task("t");
  EXPECT_EQ(task.launches.size(), 2U);  // by domain
  std::string found;
  for (const ExplainedRequirement& each : task.requirements) {
    found += fmt::format("{} {}: {}\n", each.position, fmt::join(each.names, ","),
                         name_of(each.memories.at(0).memory));
  }
  EXPECT_EQ(found, "0 mine,r: FBMEM\n1 mine,r: FBMEM\n1 ghost,r: ZCMEM\n");
  EXPECT_THAT(render(e.diags), HasSubstr("has no region `gost` [unknown-region]\n"));
  const Explained one = explained("", {.task = "t", .region = "ghost"}, "p100x4", app);
  EXPECT_EQ(one.task("t").requirements.size(), 1U);
}

// A recorded region without a name, or with the name of another region, has a name that only the
// description uses. The message says what a mapping can write.
TEST(Explain, SaysWhatToWriteForNamesOfTheDescriptionOnly) {
  const std::string app = R"({"name": "a", "top_level": "main",
      "regions": [{"name": "region_1", "unnamed": true, "extents": [8]},
                  {"name": "cells", "extents": [8]}],
      "partitions": [{"name": "tiles", "of": "cells", "colors": [4]},
                     {"name": "tiles_2", "aliases": ["tiles"], "unnamed": true,
                      "of": "region_1", "colors": [4]}],
      "tasks": [
        {"name": "main", "variants": [{"kind": "CPU"}],
         "body": [{"launch": "t", "domain": [4]}]},
        {"name": "t", "variants": [{"kind": "GPU"}], "requirements": [
          {"privilege": "read-write", "data": "tiles"},
          {"privilege": "read-only", "data": "tiles_2"}]}]})";
  const Explained e =
      explained("Region t region_1 * ZCMEM\nRegion t tiles_2 * ZCMEM", {}, "p100x4", app);
  const std::string said = render(e.diags);
  EXPECT_THAT(said, HasSubstr("has no region `region_1` [unknown-region]\n"));
  EXPECT_THAT(said,
              HasSubstr("note: the name `region_1` is used only in the description of `a`: the "
                        "program itself has no region of this name\n"
                        "help: write the position of the region: 1 in `t`\n"));
  EXPECT_THAT(said, HasSubstr("program itself has no partition of this name\n"
                              "help: write `tiles`, or the position of the region: 1 in `t`\n"));
  const Explained one = explained("", {"", "region_1"}, "p100x4", app);
  EXPECT_THAT(render(one.diags), HasSubstr("help: write the position of the region: 1 in `t`\n"));
}

TEST(Explain, SaysThatANumberIsAPosition) {
  const std::string app = R"({"name": "a", "regions": [{"name": "r", "extents": [8]}],
      "tasks": [{"name": "t", "variants": [{"kind": "GPU"}], "requirements": [
        {"privilege": "read-write", "data": "r"}, {"privilege": "read-only", "data": "r"}]}]})";
  EXPECT_THAT(render(explained("", {"", "33"}, "p100x4", app).diags),
              HasSubstr("has no region `33` [unknown-region]\n"
                        "note: a number is the position of a region in its task, here at most 1\n"
                        "help: write a position, or a name: `r`\n"));
}

TEST(Explain, LaunchesInLaunches) {
  const Explained e = explained("", {}, "p100x4", R"({"top_level": "main", "tasks": [
      {"name": "main", "variants": [{"kind": "CPU"}], "body": [
        {"repeat": 3, "body": [{"launch": "outer", "domain": [2], "index": ["i"],
                                "arguments": ["i"]}]}]},
      {"name": "outer", "arguments": ["i"], "variants": [{"kind": "CPU"}], "body": [
        {"repeat": 2, "variable": "k",
         "body": [{"launch": "leaf", "domain": ["i + k + 1"]}, {"launch": "main"}]}]},
      {"name": "leaf", "variants": [{"kind": "GPU"}]}]})");
  std::string found;
  for (const ExplainedTask& task : e.result->tasks) {
    for (const ExplainedLaunch& launch : task.launches) {
      found += fmt::format("{} in `{}` at {}: {}\n", task.name, launch.parent, launch.depth,
                           launch.domain ? launch.domain->count() : 0);
    }
  }
  EXPECT_EQ(found,
            "main in `` at 0: 0\nmain in `outer` at 2: 0\n"
            "outer in `` at 1: 2\nouter in `main` at 2: 2\n"
            "leaf in `outer` at 2: 1\nleaf in `outer` at 2: 2\nleaf in `outer` at 2: 3\n");
  EXPECT_TRUE(e.result->all_launches);
}

// The launches of a factorisation shrink from step to step. They are one line.
TEST(Explain, LaunchesThatDifferInTheirDomainsShareALine) {
  const Explained e = explained(
      "m = Machine(GPU);\nTask * GPU;\n"
      "def f(Task task) { return m[0, task.irank % m.size[1]]; }\n"
      "IndexTaskMap t f;\n",
      {}, "nodes=1,gpu=2", launched(R"(
      {"repeat": 9, "variable": "k", "body": [
        {"launch": "t", "domain": ["8 - k", "8 - k"], "index": ["i", "j"], "where": "i <= j"}]})"));
  const std::string text = draw(*e.result, e.bound.program(), false);
  EXPECT_THAT(text, HasSubstr("  9 index launches of 0 to 36 points: f; of the largest, 18 points "
                              "on each of 2 GPU\n"));
  EXPECT_THAT(text, Not(HasSubstr("index launch of")));
  EXPECT_EQ(e.task("t").launches.size(), 9U);
}

TEST(Explain, MoreLaunchesThanAreExplained) {
  const Explained e = explained("", {}, "p100x4", launched(R"({"repeat": 1000000, "variable": "i",
                             "body": [{"launch": "t", "domain": ["i + 1"]}]})"));
  EXPECT_FALSE(e.result->all_launches);
  EXPECT_GT(e.task("t").launches.size(), 1000U);
  EXPECT_THAT(draw(*e.result, e.bound.program()), HasSubstr("more launches than are shown"));
}

TEST(Explain, NodesThatDiffer) {
  NodeType with = make_machine("gpu=2").value().node(0);
  NodeType without = with;
  std::erase_if(without.memories, [](const MemoryGroup& m) { return m.kind == MemKind::kZcmem; });
  std::erase_if(without.affinities, [](const Affinity& a) { return a.memory == MemKind::kZcmem; });
  std::erase_if(without.channels, [](const Channel& c) {
    return c.from == MemKind::kZcmem || c.to == MemKind::kZcmem;
  });
  const Machine machine = Machine::make("mixed", "", {with, without}, {0, 1}).value();
  Diagnostics diags{Source("a.mapper", "Region * * * ZCMEM, FBMEM")};
  const auto bound = check(diags.source(), &machine, diags);
  ASSERT_TRUE(bound.has_value());
  const auto result = explain(*bound, workload(kApp), {.task = "work", .region = "tiles"}, diags);
  // What is decided is the same list; which of it is taken is said for each node.
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->tasks[0].requirements.size(), 2U);
  EXPECT_EQ(result->tasks[0].requirements[0].memories[0].state, ExplainedMemory::State::kTaken);
  EXPECT_EQ(result->tasks[0].requirements[1].node, 1);
  EXPECT_EQ(result->tasks[0].requirements[1].memories[0].state, ExplainedMemory::State::kPassed);
  EXPECT_EQ(result->tasks[0].requirements[1].memories[0].why, "node 1 has none");
}

TEST(Explain, NamesThatTheApplicationDoesNotHave) {
  const Explained e = explained(
      "Task wrok GPU\nRegion wrok tile * FBMEM\nRegion * \"ghost\" * FBMEM\nRegion * 7 * FBMEM\n"
      "Task MAIN, elsewhere CPU\n");
  EXPECT_EQ(render(e.diags),
            "a.mapper:1:6: warning: the application `small` has no task `wrok` [unknown-task]\n"
            "    1 | Task wrok GPU\n"
            "      |      ^~~~\n"
            "help: did you mean `work`?\n"
            "a.mapper:2:13: warning: the application `small` has no region `tile` "
            "[unknown-region]\n"
            "    2 | Region wrok tile * FBMEM\n"
            "      |             ^~~~\n"
            "help: did you mean `tiles`?\n"
            "a.mapper:3:10: warning: the application `small` has no region `ghost` "
            "[unknown-region]\n"
            "    3 | Region * \"ghost\" * FBMEM\n"
            "      |          ^~~~~~~\n"
            "help: did you mean `ghosts`?\n"
            "a.mapper:5:6: warning: the application `small` has no task `MAIN` [unknown-task]\n"
            "    5 | Task MAIN, elsewhere CPU\n"
            "      |      ^~~~\n"
            "help: did you mean `main`?\n"
            "a.mapper:5:12: warning: the application `small` has no task `elsewhere` "
            "[unknown-task]\n"
            "    5 | Task MAIN, elsewhere CPU\n"
            "      |            ^~~~~~~~~\n");
  EXPECT_EQ(e.lines(e.result->unmatched),
            "Task wrok GPU | Region wrok tile * FBMEM | Region * \"ghost\" * FBMEM | "
            "Region * 7 * FBMEM | Task MAIN, elsewhere CPU");
}

TEST(Explain, PositionsThatTasksDoNotHave) {
  const std::string said =
      render(explained("Region work 9 * FBMEM\nRegion main 9 * FBMEM\n").diags);
  EXPECT_THAT(said, HasSubstr("a.mapper:1:13: warning"));
  EXPECT_THAT(said, HasSubstr("a.mapper:2:13: warning"));
}

// The application has the region, but the task does not.
TEST(Explain, RegionsOfOtherTasks) {
  const std::string said =
      render(explained("Region work ghosts * FBMEM\nRegion main ghosts * FBMEM\n").diags);
  EXPECT_THAT(said,
              HasSubstr("a.mapper:2:13: warning: `main` has no region `ghosts`, so the statement "
                        "has no effect on it [matches-nothing]"));
  EXPECT_THAT(said, Not(HasSubstr("a.mapper:1")));
}

TEST(Explain, QueriesOfWhatIsNotThere) {
  const Explained task = explained("", {.task = "wrok", .region = ""});
  EXPECT_FALSE(task.result.has_value());
  EXPECT_THAT(render(task.diags), HasSubstr("error: the application `small` has no task `wrok`"));
  const Explained region = explained("", {.task = "main", .region = "tiles"});
  EXPECT_FALSE(region.result.has_value());
  EXPECT_THAT(render(region.diags), HasSubstr("note: none of `main`, which was asked about"));
  const Explained position = explained("", {.task = "work", .region = "1"});
  ASSERT_TRUE(position.result.has_value());
  ASSERT_EQ(position.result->tasks.at(0).requirements.size(), 1U);
  EXPECT_EQ(position.result->tasks[0].requirements[0].position, 1U);
}

TEST(Explain, LaunchesTooLargeToAskAboutAreLeftOut) {
  const std::string app =
      launched(R"({"launch": "t", "domain": [1000000000]}, {"launch": "t", "domain": [0]})");
  const Explained e = explained(
      "m = Machine(GPU)\ndef f(Task task) { return m[0, task.ipoint[0] % 4]; }\nIndexTaskMap t f",
      {}, "p100x4", app);
  EXPECT_FALSE(e.task("t").launches[0].loads.has_value());
  EXPECT_FALSE(e.task("t").launches[1].loads.has_value());
  EXPECT_FALSE(e.diags.has_errors());
  EXPECT_EQ(explained("", {}, "p100x4", app).task("t").launches[0].loads->max, 250'000'000);
}

// By their blocks, whatever the number of points; the same as point by point.
TEST(Explain, LargeLaunchesByBlocks) {
  const std::string text =
      "m = Machine(GPU)\n"
      "def f(Task t) { return m[0, t.ipoint[0] * 2 / t.ispace[0] * 2 + t.ipoint[1] * 2 / "
      "t.ispace[1]]; }\nIndexTaskMap t f";
  const auto loads = [&](const std::string& domain) {
    const Explained e =
        explained(text, {}, "p100x4", launched(R"({"launch": "t", "domain": )" + domain + "}"));
    const auto& all = e.task("t").launches.at(0).loads;
    EXPECT_TRUE(all.has_value()) << domain;
    return all ? fmt::format("{} on {}: {} to {}", all->points, all->used, all->min, all->max) : "";
  };
  EXPECT_EQ(loads("[5, 3]"), "15 on 4: 2 to 6");
  EXPECT_EQ(loads("[1, 3]"), "3 on 2: 0 to 2");
  EXPECT_EQ(loads("[3, 5000001]"), "15000003 on 4: 2500000 to 5000002");
  EXPECT_EQ(loads("[5000001, 3]"), "15000003 on 4: 2500000 to 5000002");
  EXPECT_EQ(loads("[100000, 10000000]"), "1000000000000 on 4: 250000000000 to 250000000000");
}

TEST(Explain, AHundredThousandStatementsOfOneKeyAreNoBurden) {
  std::string text = "Task * CPU\n";
  for (int i = 0; i < 100'000; ++i) text += "Region * * * SYSMEM\n";
  const Explained e = explained(text);
  EXPECT_EQ(e.task("work").requirements[0].beaten.size(), kMaxShadowed);
  EXPECT_EQ(e.result->never_decide.size(), 99'999U);
  const std::string drawn = draw(*e.result, e.bound.program());
  EXPECT_THAT(drawn, HasSubstr("  and 99899 more\n"));
}

TEST(Explain, AllLaunchesTogetherAreBounded) {
  const std::string app =
      launched(R"({"launch": "t", "domain": [600000]}, {"launch": "t", "domain": [600001]},
                  {"launch": "t", "domain": [9]})");
  const Explained e = explained(
      "m = Machine(GPU)\ndef f(Task task) { return m[0, task.ipoint[0] % 2]; }\nIndexTaskMap * f",
      {}, "p100x4", app);
  EXPECT_EQ(e.task("t").launches[0].loads->max, 300'000);
  EXPECT_FALSE(e.task("t").launches[1].loads.has_value());
  EXPECT_EQ(e.task("t").launches[2].loads->max, 5);
}

// The first statement of `matches` that is not shadowed is the one that the questions name.
TEST(Matches, BeginWithTheOneThatDecides) {
  const Application app =
      load_application(testing::in_tree("docs/examples/circuit.json").string()).value();
  std::size_t asked = 0;
  for (const auto& file : testing::files_below("dsl", ".mapper")) {
    Diagnostics diags{Source::read(file.string()).value()};
    const Program program = compile(diags.source(), diags);
    for (const AppTask& task : app.tasks) {
      const ProcKind kind = task.variants.back().kind;
      const auto first = [&](const MatchQuery& query) {
        for (const Match& match : program.matches(query)) {
          if (!match.shadowed) return match.origin;
        }
        return DecisionOrigin{};
      };
      const auto expect = [&](const MatchQuery& query, const auto& decision) {
        EXPECT_EQ(first(query), decision ? decision->origin : DecisionOrigin{})
            << file << " " << task.name;
        asked += decision.has_value();
      };
      using enum MappingStatement;
      expect({kTask, task.name, {}, {}, {}}, program.task(task.name));
      expect({kIndexTaskMap, task.name, {}, kind, {}}, program.index_function(task.name, kind));
      expect({kSingleTaskMap, task.name, {}, kind, {}}, program.single_function(task.name, kind));
      expect({kInstanceLimit, task.name, {}, kind, {}}, program.instance_limit(task.name, kind));
      expect({kTaskSteal, task.name, {}, kind, {}}, program.task_steal(task.name, kind));
      for (std::size_t i = 0; i < task.requirements.size(); ++i) {
        const std::string& data = task.requirements[i].data.of;
        const std::string region = "all" + data.substr(2);  // rp_shared: all_shared
        const std::vector<std::string_view> aliases{data, region};
        const RegionNames names{static_cast<std::int64_t>(i), aliases};
        expect({kLayout, task.name, names, kind, MemKind::kFbmem},
               program.layout(task.name, names, kind, MemKind::kFbmem));
        const auto memories = program.memories(task.name, names, kind);
        EXPECT_EQ(first({kRegion, task.name, names, kind, {}}),
                  memories.empty() ? DecisionOrigin{} : memories.front().origin);
      }
    }
  }
  EXPECT_GT(asked, 100U);
}

TEST(ExplainJson, HasTheDocumentedShape) {
  const Explained e = explained(
      "Task work GPU\nTask * CPU\nRegion work tiles GPU SOCKMEM, FBMEM\nInstanceLimit * 3\n",
      {.task = "work", .region = "tiles"});
  const auto json = nlohmann::json::parse(to_json(*e.result, e.bound.program(), e.diags));
  EXPECT_EQ(json["application"], "small");
  const auto& task = json["tasks"][0];
  EXPECT_EQ(task["kind"]["value"], "GPU");
  EXPECT_EQ(task["kind"]["by"]["line"], 1);
  EXPECT_EQ(task["kind"]["over"][0]["text"], "Task * CPU");
  EXPECT_EQ(task["kind"]["over"][0]["why"], "less-specific");
  EXPECT_EQ(task["launches"][0]["loads"]["processors"], 4);
  EXPECT_TRUE(task["launches"][0]["function"]["value"].is_null());
  EXPECT_EQ(task["limit"]["value"], 3);
  const auto& memories = task["requirements"][0]["memories"];
  EXPECT_EQ(memories[0]["state"], "passed");
  EXPECT_EQ(memories[0]["why"], "GPU cannot address it");
  EXPECT_EQ(memories[1]["layout"]["value"], "SOA F_order");
  EXPECT_THAT(json["unmatched"], IsEmpty());
  EXPECT_THAT(json["diagnostics"], IsEmpty());
}

}  // namespace
}  // namespace groma
