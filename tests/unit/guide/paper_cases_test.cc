// The nine cases of Table A3 of Wei et al., Agent-System Interfaces, as printed there, each with a
// mapping that gives this output. The paper's advice stands in ours, which also explains each
// failure and names the line to change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "groma/program.h"
#include "support/guide_rules.h"

namespace groma {
namespace {

using test::rules;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* output;
  const char* mapping;
  // The paper's words; "" for N/A.
  const char* explain;
  const char* suggest;
  // A part of a suggestion that only we make, which names the line or the statement.
  const char* line;
};

const Case kCases[] = {
    {"Compile Error: Syntax error, unexpected :, expecting {",
     "mgpu = Machine(GPU);\ndef block(Task task):\n  return mgpu[0, 0];\nIndexTaskMap * block;\n",
     "", "There should be no colon : in function definition",
     "write an opening brace in its place"},
    {"Compile Error: IndexTaskMap’s function undefined",
     "Task * GPU;\nIndexTaskMap work block;\nmgpu = Machine(GPU);\n"
     "def block(Task task) { return mgpu[0, 0]; }\n",
     "", "Define the IndexTaskMap function first before using it",
     "In a.mapper change line 2 (`IndexTaskMap work block`; `block` is defined in line 4): move it "
     "behind the definition of `block`."},
    {"Compile Error: mgpu not found",
     "def block(Task task) { return mgpu[0, 0]; }\nIndexTaskMap work block;\n", "",
     "Include `mgpu = Machine(GPU);`", "above the functions that use it"},
    {"Execution Error: Assertion failed: stride does not match expected value.",
     "Task * GPU, CPU;\nLayout * * * AOS F_order;\n", "Memory layout is unexpected",
     "Adjust the layout constraints or move tasks to different processor types",
     "In a.mapper change line 2 (`Layout * * * AOS F_order`)"},
    {"Execution Error: DGEMM parameter number 8 had an illegal value",
     "Task * GPU;\nLayout * * * SOA F_order;\n", "Memory layout is unexpected",
     "Adjust the layout constraint",
     "In a.mapper change line 2 (`Layout * * * SOA F_order`): write `C_order` for `F_order`."},
    {"Execution Error: Slice processor index out of bound",
     "mgpu = Machine(GPU);\ndef block(Task task) {\n  ip = task.ipoint;\n  return mgpu[ip[0], "
     "ip[1]];\n}\nIndexTaskMap work block;\n",
     "IndexTaskMap statements cause error",
     "Ensure that the first index of mgpu ends with % mgpu.size[0], and the second element ends "
     "with "
     "% mgpu.size[1]",
     "In a.mapper change line 4, in the function of line 6 (`IndexTaskMap work block`; `block` is "
     "defined in line 2): end the indices with `% mgpu.size[...]`: `return mgpu[ip[0] % "
     "mgpu.size[0], ip[1] % mgpu.size[1]]`."},
    {"Execution Error: Assertion ‘event.exists()’ failed", "Task * GPU;\nInstanceLimit work 4;\n",
     "InstanceLimit statements cause error", "Avoid generating InstanceLimit statements",
     "In a.mapper remove line 2 (`InstanceLimit work 4`)."},
    {"Performance Metric: Execution time is 0.03s.", "Task * GPU;\nTask charge, update CPU;\n", "",
     "Move more tasks to GPU to reduce execution time",
     "a.mapper: in line 2 write `Task charge, update GPU, CPU` for `Task charge, update CPU`, so "
     "that its tasks use GPUs"},
    {"Performance Metric: Achieved throughput = 4877 GFLOPS",
     "mgpu = Machine(GPU);\ndef cyclic(Task task) {\n  ip = task.ipoint;\n  return mgpu[ip[0] % "
     "mgpu.size[0], ip[1] % mgpu.size[1]];\n}\nIndexTaskMap * cyclic;\n",
     "", "Try using different IndexTaskMap or SingleTaskMap statements to maximize throughput",
     "a.mapper: in line 6 write `IndexTaskMap * row2_block_gpu` for `IndexTaskMap * cyclic`, and "
     "above it "
     "`def row2_block_gpu(Task task) {"},
};

// The program may have errors, as in the first three cases.
Program program_of(const char* mapping, Diagnostics* diags) {
  *diags = Diagnostics(Source("a.mapper", mapping));
  return compile(diags->source(), *diags);
}

TEST(TableA3, OursSaysWhatThePaperSaysAndNamesTheLine) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.output);
    Diagnostics diags(Source("", ""));
    const Program program = program_of(each.mapping, &diags);
    GuideContext context;
    context.program = &program;
    const GuideFeedback feedback = guide_log(rules(), std::string(each.output) + "\n", context);
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(each.suggest)));
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(each.line)));
    const bool is_metric = std::string(each.output).starts_with("Performance");
    if (is_metric) {
      EXPECT_THAT(feedback.explain, IsEmpty());
    } else {
      EXPECT_THAT(feedback.explain, Contains(HasSubstr(each.explain)));
    }
    // Each suggestion is a sentence, and none is made twice.
    for (const std::string& text : feedback.suggest) {
      EXPECT_TRUE(text.ends_with(".")) << text;
      EXPECT_EQ(std::count(feedback.suggest.begin(), feedback.suggest.end(), text), 1) << text;
    }
  }
}

// Also without the mapping, each output gets the paper's advice.
TEST(TableA3, TheOutputAloneGetsThePapersAdvice) {
  for (const Case& each : kCases) {
    const GuideFeedback feedback = guide_log(rules(), std::string(each.output) + "\n");
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(each.suggest))) << each.output;
    EXPECT_THAT(feedback.matches, ::testing::SizeIs(1)) << each.output;
  }
}

// What is suggested after this output of a run under the mapping, on a machine that lacks the
// kinds.
std::vector<std::string> suggestions(const std::string& log, const std::string& mapping,
                                     const std::vector<std::string>& lacking = {}) {
  Diagnostics diags(Source("", ""));
  const Program program = program_of(mapping.c_str(), &diags);
  GuideContext context;
  context.program = &program;
  context.lacking = lacking;
  return guide_log(rules(), log, context).suggest;
}

// What several Layout statements may have decided, and what the program's order is not.
TEST(TableA3, BlasWantsTheOtherOrderThanTheLineThatDecides) {
  const std::string log = "Execution Error: DGEMM parameter number 8 had an illegal value\n";
  EXPECT_THAT(suggestions(log, "Layout a * * C_order;\nLayout b * * F_order;\n"),
              Contains(HasSubstr("line 2 (`Layout b * * F_order`); write the other order of the "
                                 "dimensions than it has")));
}

// All tasks are on GPUs already, or the machine has none.
TEST(TableA3, TasksAreMovedOnlyWhereTheyCanBe) {
  const std::string log = "Performance Metric: Execution time is 0.03s.\n";
  const std::string mapping = "Task * GPU;\nTask a CPU;\n";
  EXPECT_THAT(suggestions(log, mapping), Contains(HasSubstr("write `Task a GPU, CPU`")));
  EXPECT_THAT(suggestions(log, mapping, {"GPU"}), IsEmpty());
}

// A mapping without the statements gets one.
TEST(TableA3, PlacesAreSuggestedToAMappingWithoutAny) {
  const std::string log = "Performance Metric: Achieved throughput = 4877 GFLOPS\n";
  EXPECT_THAT(suggestions(log, "Task * GPU;\n"),
              Contains(HasSubstr("add `IndexTaskMap * first_block_gpu;`")));
}

}  // namespace
}  // namespace groma
