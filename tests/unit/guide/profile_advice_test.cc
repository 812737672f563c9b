// Suggestions from the facts about a run's time: what they name, in which order, and when there are
// none. guide_run_test.cc has those of real runs.
#include "guide/profile_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace groma::guide {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Program program_of(const std::string& text) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return program;
}

ProfileFacts::Stream stream(const std::string& task, const std::string& data, double share,
                            double saves) {
  ProfileFacts::Stream stream;
  stream.task = task;
  stream.kind = "GPU";
  stream.requirement = 1;
  stream.names = {data, "all"};
  stream.memory = "ZCMEM";
  stream.share = share;
  stream.bytes_per_s = 16e9;
  stream.elsewhere = {{"FBMEM", saves, true}};
  return stream;
}

ProfileFacts::Spread spread(const std::string& task, const std::string& kind) {
  ProfileFacts::Spread spread;
  spread.task = task;
  spread.kind = kind;
  spread.kinds = {kind};
  spread.processors = spread.used = 4;
  spread.busiest = kind + " 0 of node 0";
  return spread;
}

// The facts of a run in which `update` on GPUs streams `ghost` from ZCMEM.
ProfileFacts facts_of_update() {
  ProfileFacts facts;
  facts.streams = {stream("update", "ghost", 0.22, 0.18)};
  facts.spreads = {spread("update", "GPU")};
  facts.spreads[0].data = {{}, {{"ghost", "all"}, "all", {"ZCMEM"}}};
  return facts;
}

std::vector<std::string> sentences(const ProfileFacts& facts, const Program* program) {
  std::vector<std::string> all;
  for (const ProfileSuggestion& each : profile_suggestions(facts, program)) {
    all.push_back(sentence_of(each));
  }
  return all;
}

// The text after a suggestion is carried out.
std::string carried_out(const Program& program, const ProfileSuggestion& suggestion) {
  std::size_t applied = 0;
  std::string text = apply_fixes(program.source(), {suggestion.change.fix}, &applied);
  EXPECT_EQ(applied, 1U);
  return text;
}

TEST(Streams, NameTheStatementToWrite) {
  ProfileFacts facts = facts_of_update();
  const Program by_default;
  EXPECT_THAT(
      sentences(facts, &by_default),
      ElementsAre("22 % of the time tasks of `update` stream `ghost` from ZCMEM at 16 GB/s: put it "
                  "in FBMEM (add `Region update ghost GPU FBMEM;`); this saves at most 18 % of the "
                  "time"));
  EXPECT_THAT(sentences(facts, nullptr),
              ElementsAre(HasSubstr("put it in FBMEM (write `Region update ghost GPU FBMEM;`)")));
  // The statement that decided is changed if it is about this data alone.
  facts.streams[0].statement_number = 2;
  const Program own = program_of("Task * GPU;\nRegion * ghost GPU ZCMEM;\n");
  EXPECT_THAT(sentences(facts, &own),
              ElementsAre(HasSubstr("(in line 2 write `Region * ghost GPU FBMEM` for `Region * "
                                    "ghost GPU ZCMEM`)")));
  const Program all = program_of("Task * GPU;\nRegion * * GPU ZCMEM;\n");
  const auto suggestions = profile_suggestions(facts, &all);
  ASSERT_THAT(suggestions, SizeIs(1));
  EXPECT_EQ(carried_out(all, suggestions[0]),
            "Region update ghost GPU FBMEM;\nTask * GPU;\nRegion * * GPU ZCMEM;\n");
}

// A statement by position comes before one by name, so the name would decide nothing.
TEST(Streams, TheStatementDecides) {
  ProfileFacts facts = facts_of_update();
  facts.streams[0].statement_number = 1;
  const Program program = program_of("Region update 1 GPU ZCMEM;\n");
  const auto suggestions = profile_suggestions(facts, &program);
  ASSERT_THAT(suggestions, SizeIs(1));
  EXPECT_EQ(carried_out(program, suggestions[0]), "Region update 1 GPU FBMEM;\n");
}

TEST(Streams, TheSameDataIsMovedForAllTasks) {
  ProfileFacts facts = facts_of_update();
  facts.streams.push_back(stream("charge", "ghost", 0.1, 0.08));
  const Program program;
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(AllOf(HasSubstr("32 % of the time tasks of `update`, `charge` stream"),
                                HasSubstr("(add `Region * ghost GPU FBMEM;`)"),
                                HasSubstr("saves at most 26 %"))));
}

TEST(Streams, WithoutRoomOrGainNothingIsSuggested) {
  ProfileFacts facts = facts_of_update();
  facts.streams[0].elsewhere[0].has_room = false;
  const Program program;
  EXPECT_THAT(sentences(facts, &program), IsEmpty());
  EXPECT_THAT(
      guide_profile(facts, &program).explain,
      Contains(
          "22 % of the time tasks of `update` stream `ghost` from ZCMEM at 16 GB/s, "
          "whose memory the default mapper chose: FBMEM would be faster, but has no room for it."));
  facts.streams[0].elsewhere[0] = {"FBMEM", -0.3, true};
  EXPECT_THAT(sentences(facts, &program), IsEmpty());
  EXPECT_THAT(guide_profile(facts, &program).explain,
              Contains(HasSubstr("GPU reaches no faster memory for it")));
}

TEST(Streams, TheLargestGainComesFirst) {
  ProfileFacts facts = facts_of_update();
  facts.streams.push_back(stream("charge", "wires", 0.2, 0.19));
  const Program program;
  EXPECT_THAT(sentences(facts, &program), ElementsAre(HasSubstr("`wires`"), HasSubstr("`ghost`")));
}

ProfileFacts::Cause cause(const std::string& doing, double share) {
  ProfileFacts::Cause cause;
  cause.doing = doing;
  cause.share = share;
  return cause;
}

// A task that moves to GPUs needs no other memory for its present kind.
TEST(Tasks, MoveToGpusWithoutAContradiction) {
  ProfileFacts facts;
  facts.causes = {cause("task", 0.6), cause("task", 0.2)};
  facts.causes[0].task = "work";
  facts.causes[1].task = "sum";
  facts.spreads = {spread("work", "CPU"), spread("sum", "CPU")};
  facts.spreads[0].kinds = {"CPU", "GPU"};
  facts.streams = {stream("work", "r", 0.5, 0.2)};
  facts.streams[0].kind = "CPU";
  facts.streams[0].memory = "SYSMEM";
  facts.streams[0].elsewhere = {{"SOCKMEM", 0.2, true}};
  const Program program = program_of("Task * CPU;\n");
  EXPECT_THAT(
      sentences(facts, &program),
      ElementsAre("60 % of the time is task `work` on CPU, which has a GPU variant: move it "
                  "to GPUs (add `Task work GPU, CPU;`); this saves at most 60 % of the "
                  "time"));
  facts.spreads[1].kinds = {"CPU", "GPU"};
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(HasSubstr("80 % of the time is tasks `work` on CPU, `sum` on CPU, which "
                                    "have a GPU variant: move them to GPUs (add `Task work, sum "
                                    "GPU, CPU;`)")));
}

// A function that returns CPUs cannot place a task on GPUs.
TEST(Tasks, StayWhereTheirFunctionPutsThem) {
  ProfileFacts facts;
  facts.causes = {cause("task", 0.6)};
  facts.causes[0].task = "work";
  facts.spreads = {spread("work", "CPU")};
  facts.spreads[0].kinds = {"CPU", "GPU"};
  const std::string function = "def f(Task task) { return Machine(CPU)[0, 0]; }\nTask * CPU;\n";
  const Program bound = program_of(function + "IndexTaskMap work f;\n");
  EXPECT_THAT(sentences(facts, &bound), IsEmpty());
  const Program by_kind = program_of(function + "IndexTaskMap CPU f;\n");
  EXPECT_THAT(sentences(facts, &by_kind), SizeIs(1));
}

// Copies between a CPU's memory and a GPU's.
ProfileFacts facts_of_copies() {
  ProfileFacts facts;
  facts.causes = {cause("copy", 0.4)};
  facts.causes[0].region = "all";
  facts.causes[0].from = "SYSMEM";
  facts.causes[0].to = "FBMEM";
  facts.causes[0].bytes = std::int64_t{3} << 30;
  facts.spreads = {spread("solve", "GPU"), spread("check", "CPU")};
  facts.spreads[0].data = {{{"part", "all"}, "all", {"FBMEM"}}};
  facts.spreads[1].data = {{{"all"}, "all", {"SYSMEM"}}};
  return facts;
}

TEST(Copies, EndIfAllTasksRunOnGpus) {
  ProfileFacts facts = facts_of_copies();
  facts.spreads[1].kinds = {"CPU", "GPU"};
  const Program program;
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(AllOf(
                  HasSubstr("40 % of the time is copies of `all` from SYSMEM to FBMEM (3.00 "
                            "GiB in all) for task `check` on CPU, which has a GPU variant: move it "
                            "to GPUs (add `Task check GPU, CPU;`)"))));
}

TEST(Copies, EndInAMemoryThatAllTasksReach) {
  ProfileFacts facts = facts_of_copies();
  const Program program;
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(AllOf(HasSubstr("keep it in ZCMEM for all its tasks"),
                                HasSubstr("Region "), HasSubstr("ZCMEM;`)"))));
  // GPUs touch the data so much that this would take longer.
  facts.streams = {stream("solve", "part", 0.01, 0)};
  facts.streams[0].requirement = 0;
  facts.streams[0].memory = "FBMEM";
  facts.streams[0].elsewhere = {{"ZCMEM", -0.5, true}};
  EXPECT_THAT(sentences(facts, &program), IsEmpty());
}

TEST(Copies, WithinOneMemoryNeedOneLayout) {
  ProfileFacts facts = facts_of_copies();
  facts.causes[0].from = "FBMEM";
  facts.causes[0].same_memory = true;
  facts.spreads[1] = spread("check", "GPU");
  facts.spreads[1].data = {{{"all"}, "all", {"FBMEM"}}};
  const Program program = program_of("Layout check * GPU AOS C_order;\n");
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(AllOf(HasSubstr("give `check` the layout that its other tasks use"),
                                HasSubstr("`Layout check all GPU SOA F_order"))));
  const Program same = program_of("Layout * * GPU AOS C_order;\n");
  EXPECT_THAT(sentences(facts, &same), IsEmpty());
}

TEST(Places, PointsAreSpreadTogether) {
  ProfileFacts facts;
  facts.spreads = {spread("a", "GPU"), spread("b", "GPU")};
  for (ProfileFacts::Spread& each : facts.spreads) {
    each.used = 1;
    each.points = 8;
    each.dimensions = 2;
    each.lost = 0.3;
  }
  const Program program = program_of(
      "def f(Task task) { return Machine(GPU)[0, 0]; }\nIndexTaskMap a f;\nIndexTaskMap b f;\n");
  const auto suggestions = profile_suggestions(facts, &program);
  ASSERT_THAT(suggestions, SizeIs(1));
  EXPECT_THAT(
      sentence_of(suggestions[0]),
      AllOf(
          HasSubstr("1 of 4 GPU processors runs all of `a` and `b`: spread the 8 points "
                    "over all 4 GPU processors (add `IndexTaskMap a, b grid_gpu;`, and above it "),
          HasSubstr("saves at most 60 %")));
  EXPECT_THAT(carried_out(program, suggestions[0]), HasSubstr("def grid_gpu(Task task) {"));
  // One point each on too many processors cannot be spread.
  facts.spreads[0].lost = facts.spreads[1].lost = 0;
  EXPECT_THAT(sentences(facts, &program), IsEmpty());
}

TEST(Places, NestedTasksRunWhereTheirParentsRun) {
  ProfileFacts facts;
  facts.spreads = {spread("inner", "GPU")};
  facts.spreads[0].used = 1;
  facts.spreads[0].nested_runs = 16;
  facts.spreads[0].lost = 0.5;
  const Program program;
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(HasSubstr("let each one run where its parent runs (add `SingleTaskMap "
                                    "inner same_point_gpu;`, and above it ")));
}

TEST(Runtime, SeveralNodesLaunchTogether) {
  ProfileFacts facts;
  facts.runtime = 0.6;
  facts.nodes = 2;
  facts.could_replicate = "main";
  facts.spreads = {spread("t", "GPU")};
  const Program program;
  EXPECT_THAT(sentences(facts, &program),
              ElementsAre(AllOf(HasSubstr("(add `ControlReplicate main;`)"),
                                HasSubstr("saves at most 30 %"))));
  const Program replicates = program_of("ControlReplicate main;\n");
  EXPECT_THAT(sentences(facts, &replicates), IsEmpty());
  facts.nodes = 1;
  EXPECT_THAT(sentences(facts, &program), IsEmpty());
}

TEST(Runtime, TheNodeThatMapsMostTasksIsNamed) {
  ProfileFacts facts;
  facts.causes = {cause("runtime", 0.5)};
  facts.nodes = 4;
  facts.mapped = 100;
  facts.most_mapped = 70;
  facts.busiest_mapper = 2;
  facts.could_replicate = "main";
  facts.spreads = {spread("t", "GPU")};
  EXPECT_THAT(guide_profile(facts).explain,
              Contains(HasSubstr("node 2 maps 70 of the 100 tasks: a mapping shortens that if it "
                                 "gives each node as many tasks, or by ControlReplicate; ")));
  facts.most_mapped = 25;
  facts.could_replicate.clear();
  EXPECT_THAT(guide_profile(facts).explain,
              Contains(HasSubstr("and each of the 4 nodes maps about as many: only the program "
                                 "shortens that, with fewer")));
}

TEST(Copies, TasksOnOtherNodesThanTheirDataAreNamed) {
  ProfileFacts facts;
  facts.causes = {cause("copy", 0.4)};
  facts.causes[0].region = "edge";
  facts.causes[0].from = "SYSMEM";
  facts.causes[0].to = "FBMEM";
  facts.causes[0].other_node = true;
  facts.apart = {{"load", "gather", 16, 8, {"vertex", "edge"}}, {"a", "b", 4, 2, {"vertex"}}};
  facts.spreads = {spread("gather", "GPU")};
  EXPECT_THAT(guide_profile(facts).explain,
              AllOf(Contains(HasSubstr("8 of the 16 points of `load` run on another node than the "
                                       "same point of `gather`, and both tasks use `edge`")),
                    Not(Contains(HasSubstr("`a`")))));
}

// Facts of a real program, or of an old recording, get the general advice.
TEST(Profile, WithoutDetailsTheAdviceIsGeneral) {
  ProfileFacts facts;
  facts.causes = {cause("copy", 0.4)};
  facts.causes[0].region = "r";
  facts.causes[0].from = "SYSMEM";
  facts.causes[0].to = "FBMEM";
  EXPECT_FALSE(are_detailed(facts));
  EXPECT_THAT(guide_profile(facts).suggest, ElementsAre(HasSubstr("Let all tasks that use `r`")));
  facts.spreads = {spread("t", "GPU")};
  EXPECT_THAT(guide_profile(facts).suggest, Not(Contains(HasSubstr("et all tasks"))));
}

}  // namespace
}  // namespace groma::guide
