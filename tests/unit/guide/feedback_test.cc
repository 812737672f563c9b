// What the guide says: the paper's cases, what wins over what, levels of detail, advice for a
// program at hand and from a profile, how runs end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>
#include <thread>

#include "groma/guide.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/run.h"
#include "guide/scanner.h"
#include "support/guide_rules.h"

namespace groma {
namespace {

using test::rules;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

GuideFeedback guided(const std::string& log, const GuideContext& context = {}) {
  return guide_log(rules(), log, context);
}

std::vector<std::string> ids(const GuideFeedback& feedback) {
  std::vector<std::string> all;
  for (const GuideMatch& match : feedback.matches) all.push_back(match.rule);
  return all;
}

// Why a program stopped comes before that it started no Legion.
TEST(GuideFeedback, APythonExceptionIsTheCause) {
  const GuideFeedback feedback = guided(
      "Traceback (most recent call last):\nValueError: no number\n"
      "groma: no Legion: the program started no Legion that could be taken over\n",
      {.exit_code = 1});
  EXPECT_EQ(feedback.execution, "Execution Error: ValueError: no number");
  EXPECT_THAT(feedback.explain.at(0), HasSubstr("Python stopped with ValueError: no number"));
  EXPECT_THAT(feedback.explain.at(1), HasSubstr("Nothing was mapped"));
}

// Legion itself said why it ended, so neither a launcher nor static linking is to blame.
TEST(GuideFeedback, ALegionThatAbortsBeforeItIsMapped) {
  const std::string no_legion =
      "groma: no Legion: the program started no Legion that could be taken over; signal 6 ended "
      "it\n";
  for (const bool maps_itself : {false, true}) {
    GuideContext context;
    context.exit_code = 134;
    context.checks = "";
    context.maps_itself = maps_itself;
    const GuideFeedback feedback = guided(
        "[0 - 7f]    0.000000 {5}{legion}: LEGION API USAGE EXCEPTION: something new\n" + no_legion,
        context);
    EXPECT_THAT(feedback.explain, ElementsAre("Legion says: something new.",
                                              HasSubstr("ended before Groma took over")));
    EXPECT_THAT(feedback.suggest, ElementsAre(HasSubstr("Correct what the message names")));
  }
  EXPECT_THAT(guided(no_legion, {.exit_code = 134}).suggest, Contains(HasSubstr("statically")));
}

// It is not an error of the text, which was compiled before the program ran.
TEST(GuideFeedback, ARefusalInARunIsNoCompileError) {
  const GuideFeedback feedback = guided(
      "a.mapper:1:1: error: region 0 of `t`: the program's own mapper asks for C_order, the "
      "mapping "
      "says F_order [layout-demanded]\n    1 | Layout * * * F_order;\n      | ^~~~~~\nnote: why\n"
      "help: leave that out\n",
      {.exit_code = 1});
  EXPECT_THAT(feedback.execution, HasSubstr("Execution Error: a.mapper:1:1: region 0 of `t`"));
  EXPECT_THAT(
      feedback.explain.at(0),
      HasSubstr("The run was ended, since a Layout statement contradicts the program's own"));
  EXPECT_THAT(feedback.suggest, ElementsAre("Leave that out."));
}

TEST(GuideFeedback, MemoriesAreAdvisedForTheKindOfProcessor) {
  const auto advice = [](const std::string& why) {
    return guided("error: region 0 of `t` has no possible memory: " + why + " [no-memory]\n",
                  {.exit_code = 1})
        .suggest.at(0);
  };
  EXPECT_EQ(advice("VIRTUAL (the variant is a leaf, so nobody else maps it)"),
            "Name a memory instead of VIRTUAL in the Region statement, or before it.");
  EXPECT_THAT(advice("FBMEM (CPU cannot address it)"), ::testing::Not(HasSubstr("ZCMEM")));
  EXPECT_THAT(advice("SYSMEM (GPU cannot address it)"), HasSubstr("ZCMEM"));
}

// A log of a machine without a GPU gets no advice to use one.
TEST(Paper, NoAdviceToUseAGpuThatIsNotThere) {
  const std::string time = "Performance Metric: Execution time is 0.03s.\n";
  EXPECT_THAT(guided(time).suggest, ElementsAre(HasSubstr("Move more tasks to GPU")));
  for (const std::string without :
       {"[0 - 7f]    0.000000 {4}{gpu}: cuInit(0) returned 100 (CUDA_ERROR_NO_DEVICE): no device, "
        "resource discovery failed\n",
        "[0 - 7f]    0.000000 {5}{gpu}: We are not able to discover the CUDA resources.\n",
        "groma: records, Legion 26.6.1, nodes=1,gpu=0,cpu=2,omp=0,sysmem=512,sockmem=0,rdmem=0\n",
        "groma: mapped by my.mapper, Legion 26.6.1, nodes=1,gpu=0,cpu=2,omp=0,sysmem=512\n"}) {
    EXPECT_THAT(guided(without + time).suggest, IsEmpty()) << without;
  }
  EXPECT_THAT(guided("groma: mapped by a, Legion 26.6.1, nodes=1,gpu=1,cpu=2\n" + time).suggest,
              ElementsAre(HasSubstr("Move more tasks to GPU")));
}

GuideFeedback guided_of(const std::string& log, const Program& program) {
  GuideContext context;
  context.program = &program;
  return guided(log, context);
}

Program program_of(const std::string& text) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return program;
}

// DGEMM refuses the order that the data has, whichever that is.
TEST(Paper, BlasWantsTheOtherOrder) {
  const std::string log = "Execution Error: DGEMM parameter number 8 had an illegal value\n";
  const struct {
    const char* text;
    const char* advice;
    const char* mended;
  } kCases[] = {
      {"Layout * * * F_order SOA;\n",
       "change line 1 (`Layout * * * F_order SOA`): write `C_order` for `F_order`",
       "Layout * * * C_order SOA;\n"},
      {"Task * GPU;\nLayout * * * C_order SOA No_Align;\n",
       "change line 2 (`Layout * * * C_order SOA No_Align`): write `F_order` for `C_order`",
       "Task * GPU;\nLayout * * * F_order SOA No_Align;\n"},
      {"Layout * * * AOS;\n",
       "change line 1 (`Layout * * * AOS`): add `C_order`, without which it is F_order",
       "Layout * * * AOS C_order;\n"},
      // A region whose name begins with the word.
      {"Task * GPU;\nLayout * F_orders * SOA;\n", "add `C_order`, without which it is F_order",
       "Task * GPU;\nLayout * F_orders * SOA C_order;\n"},
      {"Task * GPU;\n", "the default mapper does: add `Layout * * * C_order`", nullptr},
  };
  for (const auto& [text, advice, mended] : kCases) {
    SCOPED_TRACE(text);
    const Program program = program_of(text);
    const GuideFeedback feedback = guided_of(log, program);
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(advice)));
    if (mended == nullptr) continue;
    ASSERT_THAT(feedback.fixes, SizeIs(1));
    EXPECT_FALSE(feedback.fixes[0].sure);
    std::vector<Fix> fixes = feedback.fixes;
    fixes[0].sure = true;
    std::size_t applied = 0;
    EXPECT_EQ(apply_fixes(program.source(), fixes, &applied), mended);
  }
}

// Table A3, case 2: the original reads from the top; here order does not matter.
TEST(Paper, FunctionsComeBeforeTheirStatements) {
  const std::string log = "Compile Error: IndexTaskMap's function undefined\n";
  const std::string function = "def f(Task task) { return Machine(GPU)[0, 0]; }\n";
  const Program late = program_of("Task * GPU;\nIndexTaskMap work f;\n" + function);
  const GuideFeedback feedback = guided_of(log, late);
  EXPECT_THAT(
      feedback.suggest,
      ElementsAre(HasSubstr("Define the IndexTaskMap function first before using it"),
                  "In a.mapper change line 2 (`IndexTaskMap work f`; `f` is defined in line "
                  "3): move it behind the definition of `f`."));
  std::size_t applied = 0;
  EXPECT_EQ(apply_fixes(late.source(), feedback.fixes, &applied),
            "Task * GPU;\n" + function + "IndexTaskMap work f;\n");
  const Program early = program_of(function + "IndexTaskMap work f;\n");
  EXPECT_THAT(guided_of(log, early).suggest, SizeIs(1));
}

TEST(Paper, OutputWithoutAnEndMayBeThatOfAHang) {
  const GuideFeedback feedback = guided("step 1 of 10\nstep 2 of 10\n");
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kUnknown);
  EXPECT_THAT(feedback.explain,
              ElementsAre(::testing::StartsWith("If the run had to be stopped: the run is slower"),
                          HasSubstr("may be the cause: ")));
  EXPECT_THAT(feedback.suggest, Contains(HasSubstr("-lg:safe_mapper")));
  // Who knows how it ended does not wonder.
  GuideContext context;
  context.exit_code = 0;
  EXPECT_THAT(guided("step 1 of 10\n", context).explain, IsEmpty());
  context.exit_code.reset();
  context.timed_out = true;
  EXPECT_THAT(
      guided("step 1 of 10\n", context).explain,
      ElementsAre(::testing::StartsWith("The run is slower than the time that it was given"),
                  HasSubstr("may be the cause: ")));
  EXPECT_THAT(guided("ELAPSED TIME = 3.0 s\n").explain, IsEmpty());
}

TEST(Paper, FiguresAreTheScore) {
  const GuideFeedback time = guided("Performance Metric: Execution time is 0.03s.\n");
  EXPECT_EQ(time.status, GuideFeedback::Status::kOk);
  EXPECT_EQ(time.execution, "Performance Metric: 0.03 s");
  ASSERT_TRUE(time.score);
  EXPECT_DOUBLE_EQ(time.score->value, 0.03);
  EXPECT_EQ(time.score->unit, "s");
  EXPECT_FALSE(time.score->higher_is_better);
  const GuideFeedback rate =
      guided("Achieved throughput = 4877 GFLOPS\nAchieved throughput = 4,900.5 GFLOPS");
  ASSERT_TRUE(rate.score);
  EXPECT_DOUBLE_EQ(rate.score->value, 4900.5);  // the last
  EXPECT_TRUE(rate.score->higher_is_better);
  EXPECT_DOUBLE_EQ(guided("ELAPSED TIME =  120.5 ms").score->value, 0.1205);
  EXPECT_DOUBLE_EQ(guided("elapsed 120.5 ms\nelapsed 268.246 ms\n").score->value, 0.268246);
  EXPECT_FALSE(guided("about elapsed 268.246 ms or so\n").score);
}

constexpr const char* kNotVisible =
    "[0 - 7f]    1.2 {5}{legion}: LEGION MAPPER EXCEPTION: Invalid mapper output from invocation "
    "of "
    "'map_task' on mapper m. Mapper selected an instance for region requirement 1 in memory 1e00 "
    "which is not visible from the target processors for stencil(UID: 42)";
constexpr const char* kWarning =
    "[0 - 7f]    0.9 {4}{legion}: LEGION WARNING: Mapper m requested to replicate task top (UID 1) "
    "but only reqeuested one shard to be made.";

TEST(Ranking, ErrorsWinOverWarningsAndCausesOverConsequences) {
  const GuideFeedback feedback = guided(
      std::string(kWarning) + "\n" + "a.cc:1: f(): Assertion `x' failed.\nAborted (core dumped)\n" +
      kNotVisible + "\nsrun: error: n1: task 0: Aborted\n");
  EXPECT_THAT(ids(feedback), ElementsAre("map_task.memory_not_visible", "sys.assert", "sys.aborted",
                                         "slurm.ended", "repl.one_shard_ignored"));
  EXPECT_THAT(feedback.explain, ElementsAre(HasSubstr("Region argument 1 of `stencil`")));
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kError);
  EXPECT_THAT(feedback.execution,
              ::testing::StartsWith("Execution Error: LEGION MAPPER EXCEPTION"));
}

TEST(Ranking, TheFirstErrorIsTheCause) {
  const GuideFeedback feedback = guided(
      "{5}{legion}: Missing instance for field pressure (FieldID: 101)\n"
      "{5}{legion}: Invalid mapper output from invocation of 'map_copy' on mapper m. Mapper failed "
      "to specify a physical instance for 2 fields of the destination region requirement 0of copy");
  EXPECT_THAT(ids(feedback), ElementsAre("map_task.missing_field_line", "copy.missing_fields"));
}

TEST(Ranking, RepeatedMessagesCountOnce) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "tick\n" + std::string(kWarning) + "\n";
  GuideContext context;
  context.exit_code = 0;
  const GuideFeedback feedback = guided(log, context);
  ASSERT_THAT(feedback.matches, SizeIs(1));
  EXPECT_EQ(feedback.matches[0].count, 1000);
  EXPECT_EQ(feedback.matches[0].line, 2);
  EXPECT_THAT(feedback.explain, ElementsAre(HasSubstr("(Said 1000 times.)")));
}

// The same text is an error or a warning as Legion's release and -lg:werror have it.
TEST(Ranking, TheLogSaysHowBadItIs) {
  std::string text =
      "Region requirement 0 of operation stencil (UID 9) in parent task main (UID 2) is using "
      "uninitialized data for field(s) 101 of logical region (1,1,1)";
  GuideContext fine;
  fine.exit_code = 0;
  const GuideFeedback warned = guided("{4}{runtime}: LEGION WARNING: " + text, fine);
  EXPECT_EQ(warned.status, GuideFeedback::Status::kOk);
  EXPECT_THAT(warned.explain, SizeIs(1));
  EXPECT_EQ(guided("{5}{legion}: LEGION PROGRAMMING MODEL EXCEPTION: " + text).status,
            GuideFeedback::Status::kError);
  std::string fatal = kWarning;
  fatal[fatal.find("{4}") + 1] = '5';
  EXPECT_EQ(guided(fatal).status, GuideFeedback::Status::kError);
}

TEST(Endings, WithoutTextAreKnownByTheirCode) {
  const struct {
    int code;
    const char* rule;
  } kEndings[] = {{134, "silent.abort"},     {-6, "silent.abort"},   {139, "silent.crash"},
                  {-11, "silent.crash"},     {137, "silent.killed"}, {136, "silent.float"},
                  {127, "silent.not_found"}, {3, "silent.exit"},     {1, "silent.exit"},
                  {124, "silent.hang"}};
  for (const auto& [code, rule] : kEndings) {
    GuideContext context;
    context.exit_code = code;
    const GuideFeedback feedback = guided("hello\n", context);
    EXPECT_THAT(ids(feedback), ElementsAre(rule));
    EXPECT_THAT(feedback.last_lines, ElementsAre("hello"));
    EXPECT_EQ(feedback.status, GuideFeedback::Status::kError);
  }
  GuideContext context;
  context.timed_out = true;
  EXPECT_THAT(ids(guided("", context)), ElementsAre("silent.hang"));
  EXPECT_THAT(ids(guided(kNotVisible, context)), ElementsAre("map_task.memory_not_visible"));
  context.timed_out = false;
  context.exit_code = INT_MIN;  // no signal
  EXPECT_THAT(guided("", context).execution, HasSubstr("exit code -2147483648,"));
  context.exit_code = 139;  // the crash says so itself, and what was warned of may be its cause
  EXPECT_THAT(ids(guided(std::string(kWarning) + "\nSegmentation fault (core dumped)\n", context)),
              ElementsAre("silent.crash", "sys.segv", "repl.one_shard_ignored"));
}

// A kernel of nobody's may have died: what is said of Legion says that it is of Legion.
TEST(Endings, WithoutTextSayWhatIsOfLegion) {
  for (const int code : {1, 124, 126, 127, 129, 130, 132, 134, 135, 136, 137, 139, 143, 152}) {
    GuideContext context;
    context.exit_code = code;
    const GuideFeedback feedback = guided("hello\n", context);
    std::vector<std::string> sentences = feedback.suggest;
    for (std::string text : feedback.explain) {
      for (std::size_t at = text.find(". "); at != text.npos; at = text.find(". ")) {
        sentences.push_back(text.substr(0, at));
        text.erase(0, at + 2);
      }
      sentences.push_back(text);
    }
    for (const std::string& sentence : sentences) {
      for (const char* word : {"Legion", "-lg:", "-ll:", "apping", "mapper", "map_task", "Region",
                               "InstanceLimit", "IndexTaskMap", "slice", "launch"}) {
        if (sentence.find(word) == sentence.npos) continue;
        const bool says = sentence.starts_with("Under Legion") ||
                          sentence.starts_with("If that was because it hung, under Legion:");
        EXPECT_TRUE(says) << code << ": " << sentence;
      }
    }
    EXPECT_FALSE(sentences.empty());
  }
}

// A run under Legion's checks is not advised to have them, nor to mend what they let pass.
TEST(Endings, AdviceToCheckIsByTheRunsOwnMeans) {
  Diagnostics diags(Source("a.mapper",
                           "m = Machine(GPU);\n"
                           "def f(Task task) { return m[0, task.ipoint[0]]; }\n"
                           "IndexTaskMap * f;\n"));
  const Program program = compile(diags.source(), diags);
  const std::string log = "Segmentation fault (core dumped)\n";
  GuideContext context;
  context.exit_code = 139;
  context.program = &program;
  const auto said = [&] {
    std::string all;
    for (const std::string& each : guided(log, context).suggest) all += each + "\n";
    return all;
  };
  EXPECT_THAT(said(), ::testing::AllOf(HasSubstr("run again with -lg:safe_mapper"),
                                       HasSubstr("% m.size"), HasSubstr("change line 3")));
  context.checks = "`--checks always`";
  EXPECT_THAT(said(), ::testing::AllOf(HasSubstr("run again with `--checks always`, which"),
                                       Not(HasSubstr("safe_mapper")), HasSubstr("change line 3")));
  context.checks = "";
  EXPECT_EQ(said(), "Look for the crash in a debugger or under AddressSanitizer.\n");
  // Of a program that maps itself there is nothing to change.
  context.checks = "-lg:safe_mapper";
  context.program = nullptr;
  EXPECT_THAT(said(), HasSubstr("% m.size"));
  context.maps_itself = true;
  EXPECT_THAT(said(), Not(HasSubstr("% m.size")));
}

TEST(Endings, WhatIsNotInTheMappingNeedNotBeLeftOut) {
  for (const auto& [text, said] :
       {std::pair("Task * GPU;\n", false), {"InstanceLimit a 1;\n", true}}) {
    Diagnostics diags(Source("a.mapper", text));
    const Program program = compile(diags.source(), diags);
    GuideContext context;
    context.timed_out = true;
    context.checks = "";  // they do not find that
    const auto without = Contains(HasSubstr("do without InstanceLimit"));
    EXPECT_THAT(guided("", context).suggest, without);
    context.program = &program;
    const bool has = ::testing::Matches(without)(guided("", context).suggest);
    EXPECT_EQ(has, said) << text;
  }
}

// The causes that the mapping can have come first, and those that it cannot have are left out.
TEST(Endings, WithoutTextNameCausesThatTheMappingCanHave) {
  const struct {
    const char* mapping;
    int code;
    const char *first, *second, *not_said;
  } kCases[] = {
      {"ControlReplicate top;\n", 124, "ControlReplicate runs all shards",
       "the code of a task waits", "InstanceLimit"},
      {"TaskSteal top CPU SAME_NODE;\n", 124, "TaskSteal moves", "the code of a task waits",
       "ControlReplicate"},
      {"Task * CPU;\n", 124, "the code of a task waits", "no background worker", "InstanceLimit"},
      {"Layout * * * C_order;\n", 139, "a Layout statement", "the code of a task reads",
       "function"},
      {"Task * CPU;\n", 139, "the code of a task reads", "slice_task", "Layout"},
      {"Task * CPU;\n", 134, "a task, or a library", "map_task", "Layout"},
  };
  for (const auto& [mapping, code, first, second, not_said] : kCases) {
    SCOPED_TRACE(mapping);
    Diagnostics diags(Source("a.mapper", mapping));
    const Program program = compile(diags.source(), diags);
    ASSERT_FALSE(diags.has_errors());
    GuideContext context;
    context.exit_code = code;
    context.timed_out = code == 124;
    context.program = &program;
    const GuideFeedback feedback = guided("", context);
    ASSERT_EQ(feedback.explain.size(), 2U);
    const std::string& causes = feedback.explain[1];
    EXPECT_LT(causes.find(first), causes.find(second)) << causes;
    EXPECT_NE(causes.find(second), causes.npos) << causes;
    for (const std::string& each : feedback.explain) EXPECT_THAT(each, Not(HasSubstr(not_said)));
    for (const std::string& each : feedback.suggest) EXPECT_THAT(each, Not(HasSubstr(not_said)));
  }
}

// What Legion's checks find is not the cause of a run that they let pass.
TEST(Endings, WithoutTextAndUnderChecksAreTheTasksOwn) {
  Diagnostics diags(Source("a.mapper", "Task * CPU;\n"));
  const Program program = compile(diags.source(), diags);
  GuideContext context;
  context.exit_code = 134;
  context.program = &program;
  context.checks = "";
  EXPECT_THAT(guided("", context).explain,
              ElementsAre(HasSubstr("The run aborted"),
                          "Under Legion, this may be the cause: a task, or a library that it "
                          "calls, ends the program."));
}

TEST(Legion, SaysWhichFlagGivesWhatItLacks) {
  for (const auto& [text, flag] :
       {std::pair("Region * * CPU RDMEM;\n", "-ll:rsize MB, which gives Legion RDMEM"),
        {"Region * * CPU SOCKMEM;\n", "-ll:nsize MB, which gives Legion SOCKMEM"},
        {"Task * GPU;\n", "-ll:gpu N, which gives Legion GPU"},
        {"Task * OMP;\n", "-ll:ocpu N, which gives Legion OMP"}}) {
    Diagnostics diags(Source("a.mapper", text));
    const auto machine = machine_from_json(R"({"nodes": [{"processors": [{"kind": "CPU",
        "count": 2}], "memories": [{"kind": "SYSMEM", "capacity_bytes": 4096}]}]})",
                                           "legion");
    ASSERT_TRUE(machine);
    ASSERT_TRUE(bind(compile(diags.source(), diags), *machine, diags));
    GuideContext context;
    context.exit_code = 0;
    const GuideFeedback feedback = guided(render(diags), context);
    EXPECT_THAT(ids(feedback), ElementsAre("groma.not-given-to-legion")) << render(diags);
    EXPECT_THAT(feedback.suggest, ElementsAre(HasSubstr(flag)));
  }
}

// As `groma check --json` prints them: all on one line, in the order of the text.
TEST(Ranking, OurDiagnosticsAreReadAsJson) {
  const GuideFeedback feedback = guided(
      R"({"diagnostics": [{"id": "unknown-task", "severity": "warning", "message": "no \"x\""},)"
      R"({"id": "unknown-processor","severity":"error","message":"no kind `GPUS`"},)"
      R"({"id": "recursion", "severity": "error", "message": "`f` calls itself"},)"
      R"({"id": "unknown-name", "severity": "error", "message": "nothing is named `m`"}]})");
  EXPECT_THAT(ids(feedback), ElementsAre("groma.unknown-processor", "groma.diagnostic",
                                         "groma.unknown-name", "groma.unknown-task"));
  EXPECT_THAT(feedback.explain[0], "No kind `GPUS`.");
  EXPECT_EQ(feedback.execution, "Compile Error: error: no kind `GPUS`");
  GuideContext fine;
  fine.exit_code = 0;
  EXPECT_EQ(guided("a.mapper:1:2: warning: no task `x` [unknown-task]", fine).status,
            GuideFeedback::Status::kOk);
}

// A catch-all is a word of warning where the run says that it ended well.
TEST(Endings, AGoodEndOutweighsCatchAlls) {
  GuideContext context;
  context.exit_code = 0;
  const std::string log = "Aborted (core dumped)\nAborted transactions: 0\n";
  EXPECT_EQ(guided(log, context).status, GuideFeedback::Status::kOk);
  EXPECT_EQ(guided(log).status, GuideFeedback::Status::kError);
  EXPECT_EQ(guided(log).matches[0].count, 1);
  EXPECT_EQ(guided(kNotVisible, context).status, GuideFeedback::Status::kError);
}

// As programs that follow the examples of Legion say it.
TEST(Endings, AGoodEndMayBeSaid) {
  for (const char* said : {"done", "SUCCESS!", "[  PASSED  ] 3 tests.", "All tests passed",
                           "Simulation finished successfully"}) {
    const GuideFeedback feedback =
        guided(std::string("{5}{gpu}: We are not able to discover the CUDA resources.\n") + said);
    EXPECT_EQ(feedback.status, GuideFeedback::Status::kOk) << said;
    EXPECT_TRUE(feedback.known);
    EXPECT_THAT(feedback.matches, IsEmpty());
    EXPECT_THAT(feedback.last_lines, IsEmpty());
  }
  EXPECT_EQ(guided("done\n" + std::string(kNotVisible)).status, GuideFeedback::Status::kError);
  EXPECT_EQ(guided("it is done later\n").status, GuideFeedback::Status::kUnknown);
  GuideContext context;
  context.exit_code = 139;
  EXPECT_EQ(guided("done\n", context).status, GuideFeedback::Status::kError);
}

// Regent warns in the form in which it reports errors.
TEST(Endings, RegentsWarningsAreNoErrors) {
  const std::string warned =
      "stencil_fast.rg:340: WARNING: ignoring a potential loop-carried dependence in a task that "
      "demands CUDA. Please check that this loop is indeed parallelizable.\n"
      "circuit.rg:77: ignoring pragma at circuit.rg:77 since CUDA is not available\n"
      "ELAPSED TIME =   1.234 s\n";
  GuideContext context;
  context.exit_code = 0;
  const GuideFeedback feedback = guided(warned, context);
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kOk);
  ASSERT_TRUE(feedback.score.has_value());
  EXPECT_EQ(feedback.score->value, 1.234);
  ASSERT_FALSE(feedback.matches.empty());
  for (const auto& match : feedback.matches) EXPECT_NE(match.rule, "build.regent");
  context.exit_code = 1;
  const GuideFeedback failed =
      guided("stencil_fast.rg:12: type mismatch in argument 1: expected a region but got int32\n",
             context);
  EXPECT_EQ(failed.status, GuideFeedback::Status::kError);
  EXPECT_EQ(failed.matches.front().rule, "build.regent");
}

TEST(Endings, NothingKnownSaysSoAndShowsTheLastLines) {
  std::string log;
  for (int i = 0; i < 20; ++i) log += "line " + std::to_string(i) + "\n\n";
  log += "{5}{gpu}: We are not able to discover the CUDA resources.\n";
  const GuideFeedback feedback = guided(log);
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kUnknown);
  EXPECT_FALSE(feedback.known);
  EXPECT_THAT(feedback.execution, HasSubstr("nothing in it is known as a failure"));
  ASSERT_THAT(feedback.last_lines, Not(IsEmpty()));
  EXPECT_EQ(feedback.last_lines.back(), "line 19");
  EXPECT_THAT(feedback.matches, IsEmpty());
}

TEST(Endings, ABinaryLogIsNotShown) {
  std::mt19937 random(7);
  std::string log;
  for (int i = 0; i < 20000; ++i) log += static_cast<char>(random() & 0xFF);
  const GuideFeedback feedback = guided(log);
  EXPECT_THAT(feedback.execution, HasSubstr("it is binary"));
  EXPECT_THAT(feedback.last_lines, IsEmpty());
}

TEST(Endings, LinesThatSayErrorAreKnown) {
  for (const char* line : {"ERROR: solver failed to converge", "fatal: not a git repository",
                           "error: use of undeclared identifier 'x'"}) {
    EXPECT_THAT(ids(guided(std::string(line) + "\n")), ElementsAre("sys.error")) << line;
  }
  EXPECT_THAT(ids(guided("error: 1e-9\n")), IsEmpty());  // of a solver
  EXPECT_THAT(ids(guided("app[1234]: segfault at 0 ip 0000\n")), ElementsAre("sys.segv"));
  EXPECT_THAT(ids(guided("[0] NCCL WARN Cuda failure 2 'out of memory'\n")),
              ElementsAre("nccl.memory"));
}

TEST(Detail, EachLevelAddsToThoseBefore) {
  ProfileFacts facts;
  facts.causes = {{"task", "work", "", "", "", "", "", false, 0.8, 0}};
  GuideContext context;
  context.profile = &facts;
  const std::string log = std::string(kWarning) + "\nExecution time is 2 s\n";
  const auto shape = [&](const char* detail) {
    context.detail = *guide_detail(detail);
    const GuideFeedback f = guided(log, context);
    EXPECT_TRUE(f.score);
    return std::vector<bool>{!f.execution.empty(), !f.explain.empty(), !f.suggest.empty(),
                             f.profile.has_value()};
  };
  EXPECT_THAT(shape("none"), ElementsAre(false, false, false, false));
  EXPECT_THAT(shape("execution"), ElementsAre(true, false, false, false));
  EXPECT_THAT(shape("explain"), ElementsAre(true, true, false, false));
  EXPECT_THAT(shape("suggest"), ElementsAre(true, true, true, false));
  EXPECT_THAT(shape("profile"), ElementsAre(true, true, true, true));
  EXPECT_FALSE(guide_detail("all"));
}

// Advice names the statement; where a fix is sure, the mended program says what it should.
TEST(Program, AdviceNamesStatementsAndMendsThem) {
  const std::string text =
      "Task * GPU,CPU;\n"
      "Region * * GPU FBMEM;\n"
      "Region stencil rp_shared GPU SYSMEM;\n"
      "InstanceLimit stencil 2;\n"
      "m = Machine(GPU);\n"
      "def f(Task task) { ip = task.ipoint; return m[ip[0], 0]; }\n"
      "IndexTaskMap stencil f;\n"
      "ControlReplicate top_level;\n"
      "Layout * * * AOS F_order;\n";
  const struct {
    const char* log;
    const char* advice;
    const char* line;  // of the mended program
  } kCases[] = {
      {kNotVisible, "change line 3 (`Region stencil rp_shared GPU SYSMEM`)",
       "Region stencil rp_shared GPU FBMEM;"},
      {"Assertion 'event.exists()' failed", "remove line 4 (`InstanceLimit stencil 2`)", nullptr},
      {"Slice processor index out of bound", "is defined in line 6)",
       "return m[ip[0] % m.size[0], 0];"},
      {"Mapper m requested to replicate must epoch task top_level (UID 12).",
       "remove line 8 (`ControlReplicate top_level`)", nullptr},
      {"supports only the SOA layout for output regions, but output region 0 of stencil (UID: 14)",
       "write `SOA` for `AOS`", "Layout * * * SOA F_order;"},
  };
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  ASSERT_FALSE(diags.has_errors()) << render(diags);
  GuideContext context;
  context.program = &program;
  for (const auto& [log, advice, line] : kCases) {
    SCOPED_TRACE(log);
    const GuideFeedback feedback = guided(log, context);
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(advice)));
    ASSERT_THAT(feedback.fixes, SizeIs(1));
    EXPECT_TRUE(feedback.fixes[0].sure);
    std::size_t applied = 0;
    const Source mended("a.mapper", apply_fixes(source, feedback.fixes, &applied));
    EXPECT_EQ(applied, 1U);
    Diagnostics again(mended);
    compile(mended, again);
    EXPECT_FALSE(again.has_errors()) << render(again);
    if (line != nullptr) {
      EXPECT_THAT(std::string(mended.text()), HasSubstr(line));
    } else {
      EXPECT_LT(mended.text().size(), text.size());
    }
    EXPECT_THAT(to_json(feedback, &source), HasSubstr("\"fixes\":[{\"title\""));
  }
}

TEST(Program, AFullMemoryIsBlamedOnThoseWhoNameIt) {
  const Source source("a.mapper",
                      "Region * * GPU FBMEM;\n"
                      "Region * * CPU SYSMEM;\n"
                      "Region stencil grid GPU ZCMEM;\n"
                      "CollectMemory stencil *;\n");
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  GuideContext context;
  context.program = &program;
  const struct {
    const char* memory;
    const char* processor;
    const char* line;
  } kCases[] = {{"GPU_FB_MEM", "TOC_PROC", "change line 1 (`Region * * GPU FBMEM`)"},
                {"Z_COPY_MEM", "TOC_PROC", "change line 3 (`Region stencil grid GPU ZCMEM`)"},
                {"SYSTEM_MEM", "LOC_PROC", "change line 2 (`Region * * CPU SYSMEM`)"}};
  for (const auto& [memory, processor, line] : kCases) {
    const GuideFeedback feedback =
        guided(fmt::format("Default mapper failed allocation of size 4 bytes for region  "
                           "requirement 0 of task stencil (UID 75) in memory 1e00000000000003 ({}) "
                           "for processor 1d00000000000009 ({}).",
                           memory, processor),
               context);
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(line)));
    EXPECT_THAT(feedback.suggest, Not(Contains(HasSubstr("line 4"))));
  }
}

// The message of a mistake in the text shows the place by itself.
TEST(Failure, MistakesOfTheTextAreSaidOnce) {
  Diagnostics diags(Source("a.mapper", "Task * GPUS;\n"));
  compile(diags.source(), diags);
  GuideContext context;
  context.diags = &diags;
  const std::vector<std::string> explained = guided("", context).explain;
  EXPECT_THAT(explained, Contains(HasSubstr("GPUS")));
  EXPECT_THAT(explained, Not(Contains(HasSubstr("says so"))));
}

// Ours as a diagnostic and in a log, DefaultMapper's in both its forms; at no other level or
// failure.
TEST(Failure, ForWantOfRoomNamesTaskAndRequirement) {
  Diagnostics diags(Source("a.mapper", "Region * * GPU FBMEM;\n"));
  diags.add(DiagId::kOutOfMemory, std::nullopt,
            {RegionArg{2, "rp_ghost"}, std::string("update"), std::string("FBMEM")});
  GuideContext context;
  context.exit_code = 1;
  context.diags = &diags;
  const auto told = [](const std::optional<MemoryShortage>& shortage) {
    return shortage ? fmt::format("{} {}", shortage->task, shortage->requirement) : "";
  };
  EXPECT_EQ(told(guided("", context).shortage), "update 2");
  context.detail = GuideDetail::kExecution;
  EXPECT_EQ(told(guided("", context).shortage), "update 2");
  context.detail = GuideDetail::kNone;
  EXPECT_EQ(told(guided("", context).shortage), "");
  const std::pair<std::string, std::string> kLogs[] = {
      {render(diags), "update 2"},
      {"a.mapper:1:1: error: no room for region 99999999999999999999 (a) of `b`: x [out-of-memory]",
       ""},
      {"a.mapper:1:8: error: no room for region 3 of `stencil`: SYSMEM (no room for 288 bytes, it "
       "has "
       "200 in all) [out-of-memory]",
       "stencil 3"},
      {"Default mapper failed allocation of size 1845753728 bytes for region  requirement 1 of "
       "task "
       "stencil (UID 75) in memory 1e00000000000003 (GPU_FB_MEM) for processor 1d00000000000009 "
       "(TOC_PROC). This means the working set",
       "stencil 1"},
      {"Default mapper failed allocation for region requirement 0 of task work (UID 14) in memory "
       "1e00000000000000 for processor 1d00000000000001. This means the working set",
       "work 0"},
      {"a.mapper:3:8: error: unknown memory kind `FB` [unknown-memory]", ""}};
  for (const auto& [log, expected] : kLogs) EXPECT_EQ(told(guided(log).shortage), expected) << log;
}

TEST(Program, WithoutAStatementTheDefaultMapperDecided) {
  const Source source("a.mapper", "Task * CPU;\n");
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  GuideContext context;
  context.program = &program;
  EXPECT_THAT(guided(kNotVisible, context).suggest,
              Contains(HasSubstr("No statement of a.mapper decides it")));
  // Of a hang no statement that is missing would help.
  context.timed_out = true;
  EXPECT_THAT(guided("", context).suggest, Not(Contains(HasSubstr("No statement"))));
}

TEST(Program, TasksThatRunOnGpusNeedNotMoveThere) {
  for (const auto& [text, said] : {std::pair("Task * GPU,CPU;\n", false),
                                   {"Task * GPU;\nTask a CPU;\n", true},
                                   {"Task a GPU;\n", true}}) {
    Diagnostics diags(Source("a.mapper", text));
    const Program program = compile(diags.source(), diags);
    GuideContext context;
    context.program = &program;
    const auto suggest = guided("Execution time is 0.03s.\n", context).suggest;
    EXPECT_EQ(said, !suggest.empty()) << text;
    context.lacking = {"GPU"};
    EXPECT_THAT(guided("Execution time is 0.03s.\n", context).suggest, ::testing::IsEmpty())
        << text;
  }
}

// A run of the embedded runtime: its result is all that the guide needs.
class SimulatedRun {
 public:
  SimulatedRun(const std::string& app, const std::string& text) : diags(Source("a.mapper", text)) {
    const auto machine = std::make_shared<const Machine>(make_machine("p100x4").value());
    workload = Workload::make(load_application(app).value()).value();
    bound = bind(compile(diags.source(), diags), *machine, diags);
    SimulateOptions options;
    options.record = true;
    result = run(*bound, *workload, options, diags);
    words = profile_words_of(*workload, *machine, &bound->program());
    if (result.ok()) facts = facts_of(make_profile(result.record), words);
  }

  GuideFeedback feedback() const {
    GuideContext context;
    context.exit_code = result.ok() ? 0 : 1;
    if (result.ok()) context.score = MeasuredScore{result.throughput, result.unit, true};
    context.program = &bound->program();
    context.diags = &diags;
    context.profile = facts ? &*facts : nullptr;
    return guided(result.raw, context);
  }

  Diagnostics diags;
  std::optional<Workload> workload;
  std::optional<BoundProgram> bound;
  RunResult result;
  ProfileWords words;
  std::optional<ProfileFacts> facts;
};

TEST(Run, ACopyIsNamedWhetherByItsValueOrItsJson) {
  const SimulatedRun run("cannon", "Task * GPU,OMP,CPU;\n");
  ASSERT_TRUE(run.result.ok());
  const auto read = read_profile_facts(to_json(make_profile(run.result.record), run.words));
  for (const ProfileFacts& facts : {*run.facts, *read}) {
    EXPECT_THAT(guide_profile(facts).explain,
                Contains(HasSubstr("copies of `A` from FBMEM to another FBMEM")));
    EXPECT_EQ(facts.measured, "compute");
    EXPECT_NEAR(facts.measured_seconds, run.result.seconds, 1e-9);
    EXPECT_NEAR(facts.tasks + facts.copies + facts.runtime, 1, 1e-6);
  }
}

TEST(Run, AFailureIsExplainedOnceAndByItsDiagnostic) {
  const SimulatedRun run("circuit", "Task * GPU;\n");
  ASSERT_FALSE(run.result.ok());
  const GuideFeedback feedback = run.feedback();
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kError);
  EXPECT_THAT(ids(feedback), ElementsAre("groma.no-variant"));
  EXPECT_THAT(feedback.explain, Contains(HasSubstr("can run on none of its kinds")));
  EXPECT_THAT(feedback.explain, Contains("It has variants for `CPU`."));
}

TEST(Run, AProfileSaysWhatTookTheTimeAndWhy) {
  const SimulatedRun run("circuit",
                         "Task * GPU,OMP,CPU;\n"
                         "Region * * GPU FBMEM;\n"
                         "Region * * * SOCKMEM,SYSMEM;\n"
                         "Region * rp_shared GPU ZCMEM;\n"
                         "Region * rp_ghost GPU ZCMEM;\n");
  ASSERT_TRUE(run.result.ok());
  const GuideFeedback feedback = run.feedback();
  EXPECT_EQ(feedback.status, GuideFeedback::Status::kOk);
  ASSERT_TRUE(feedback.score);
  ASSERT_TRUE(feedback.profile);
  double all = 0;
  for (const ProfileFacts::Cause& cause : feedback.profile->causes) all += cause.share;
  EXPECT_LE(all, 1.0001);
  EXPECT_NEAR(feedback.profile->tasks + feedback.profile->copies + feedback.profile->runtime, 1,
              1e-6);
  EXPECT_THAT(feedback.explain, Contains(HasSubstr(" % of the time is ")));
  // The facts are the same from the JSON that `groma run` prints.
  const auto read = read_profile_facts(to_json(make_profile(run.result.record), run.words));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->causes.size(), run.facts->causes.size());
  EXPECT_EQ(read->title, run.facts->title);
}

TEST(Run, ATaskThatRanReplicatedIsNotToBeReplicated) {
  const SimulatedRun one("circuit",
                         "Task * GPU,OMP,CPU;\nTask toplevel CPU;\nControlReplicate x;\n");
  ASSERT_TRUE(one.facts);
  EXPECT_EQ(one.facts->could_replicate, "toplevel");
  const SimulatedRun all("circuit", "Task * GPU,OMP,CPU;\nControlReplicate toplevel;\n");
  ASSERT_TRUE(all.facts);
  EXPECT_EQ(all.facts->could_replicate, "");
}

// The facts of a run in which the task `main` on CPUs took nine tenths of the time.
ProfileFacts facts_of_main(std::int64_t runs) {
  ProfileFacts facts;
  ProfileFacts::Cause cause;
  cause.doing = "task";
  cause.task = "main";
  cause.share = 0.9;
  facts.causes = {cause};
  facts.by_task = {{"main", "CPU", 0.9, runs}};
  return facts;
}

TEST(Profile, WithoutAGpuNothingMovesThere) {
  ProfileFacts facts = facts_of_main(4);
  const auto moves = Contains(HasSubstr("moves `main` to GPUs"));
  EXPECT_THAT(guide_profile(facts).suggest, moves);
  facts.kinds = {{"CPU", 2, 2, 0.5, 1}};
  EXPECT_THAT(guide_profile(facts).suggest, Not(moves));
  facts.kinds.push_back({"GPU", 1, 0, 0, 1});
  EXPECT_THAT(guide_profile(facts).suggest, moves);
}

// A task that ran on a CPU although the mapping prefers GPUs for it has no variant for them.
TEST(Profile, ATaskWithoutAVariantForGpusIsNotMovedToThem) {
  const ProfileFacts facts = facts_of_main(1);
  const auto suggested = [&](const char* mapping) {
    const Source source("my.mapper", mapping);
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    EXPECT_FALSE(diags.has_errors()) << render(diags);
    return guide_profile(facts, &program).suggest;
  };
  const auto moves = Contains(HasSubstr("moves `main` to GPUs"));
  EXPECT_THAT(suggested("Task * GPU, CPU;\n"), Not(moves));
  EXPECT_THAT(suggested("Task * CPU;\nTask main GPU, CPU;\n"), Not(moves));
  EXPECT_THAT(suggested("# The default mapper prefers GPUs.\n"), Not(moves));
  EXPECT_THAT(suggested("Task * GPU, CPU;\nTask main CPU, GPU;\n"), moves);
  EXPECT_THAT(suggested("Task * CPU;\n"), moves);
}

// Whether a copy leaves its memory, and its node, decides what helps.
TEST(Profile, CopiesWithinOneKindOfMemoryAreToldApart) {
  ProfileFacts facts;
  ProfileFacts::Cause cause;
  cause.doing = "copy";
  cause.region = "r";
  cause.from = cause.to = "FBMEM";
  cause.share = 0.3;
  facts.causes = {cause, cause, cause};
  facts.causes[1].other_node = true;
  facts.causes[2].same_memory = true;
  const GuideFeedback feedback = guide_profile(facts);
  EXPECT_THAT(feedback.explain, ElementsAre(HasSubstr("from FBMEM to another FBMEM"),
                                            HasSubstr("from FBMEM to FBMEM on another node"),
                                            HasSubstr("within one FBMEM")));
  EXPECT_THAT(feedback.suggest, ElementsAre(HasSubstr("run on one processor"),
                                            HasSubstr("run on one node"), HasSubstr("one layout")));
  facts.causes = {cause, cause};  // said once
  EXPECT_THAT(guide_profile(facts).explain, SizeIs(1));
  EXPECT_THAT(guide_profile(facts).suggest, SizeIs(1));
}

// A copy waits mostly for its channel if that takes more than half of its time.
TEST(Profile, CopiesThatMostlyWaitForTheirChannelAreSaidTo) {
  ProfileFacts facts;
  ProfileFacts::Cause cause;
  cause.doing = "copy";
  cause.region = "r";
  cause.from = "SYSMEM";
  cause.to = "FBMEM";
  cause.share = 0.4;
  const auto waits = Contains(HasSubstr("; most of it waits for a busy channel"));
  for (const double waiting : {0.0, 0.1, 0.19, 0.2}) {
    cause.waiting = waiting;
    facts.causes = {cause};
    EXPECT_THAT(guide_profile(facts).explain, Not(waits)) << waiting;
  }
  for (const double waiting : {0.21, 0.3, 0.4}) {
    cause.waiting = waiting;
    facts.causes = {cause};
    EXPECT_THAT(guide_profile(facts).explain, waits) << waiting;
  }
}

TEST(Profile, CopiesNameRegionMemoriesLineAndCure) {
  const auto facts = read_profile_facts(R"({"profile": {"title": "t", "time_ps": 1000,
    "path": {"by_reason": [{"doing": "copy", "reason": "data", "time_ps": 630}],
             "causes": [{"doing": "copy", "reason": "data", "time_ps": 400, "move": 0},
                        {"doing": "copy", "reason": "channel", "time_ps": 230, "move": 0},
                        {"doing": "task", "reason": "end", "time_ps": 300, "task": "work"}]},
    "by_task": [{"task": "work", "kind": "CPU", "time_ps": 300}],
    "by_kind": [{"kind": "CPU", "processors": 4, "used": 1, "imbalance": 4},
                {"kind": "GPU", "processors": 1, "used": 1, "imbalance": 1}],
    "moves": [{"region": "rp_shared", "from": "SYSMEM", "to": "FBMEM", "other_node": false,
               "by": {"text": "Region * rp_shared GPU FBMEM", "place": "a.mapper:4:1"}}]}})");
  ASSERT_TRUE(facts) << facts.error().message;
  GuideContext context;
  context.exit_code = 0;
  context.profile = &*facts;
  const GuideFeedback feedback = guided("", context);
  EXPECT_THAT(feedback.explain,
              Contains(HasSubstr("63 % of the time is copies of `rp_shared` from SYSMEM to FBMEM, "
                                 "because of line 4 (`Region * rp_shared GPU FBMEM`)")));
  EXPECT_THAT(feedback.suggest,
              Contains(::testing::AllOf(HasSubstr("`Region * rp_shared GPU ZCMEM` would avoid"),
                                        HasSubstr("at a price"), HasSubstr("has room"))));
  EXPECT_THAT(feedback.suggest, Contains(HasSubstr("`Task work GPU, CPU`")));
  EXPECT_THAT(feedback.explain, Contains("Only 1 of 4 CPU processors ran anything."));
  ProfileFacts once = *facts;  // no function spreads what runs once
  once.by_task.front().runs = 1;
  EXPECT_THAT(guide_profile(once).explain, Not(Contains(HasSubstr("4 CPU processors"))));
  // The statement that decides, where another that is added would not; evenly spread points are not
  // to be spread.
  const auto zero_copy = read_profile_facts(R"({"profile": {"title": "t", "time_ps": 1000,
    "path": {"causes": [{"doing": "copy", "reason": "data", "time_ps": 600, "move": 0},
                        {"doing": "task", "reason": "processor", "time_ps": 400, "task": "work"}]},
    "by_task": [{"task": "work", "kind": "GPU", "time_ps": 300}],
    "by_kind": [{"kind": "GPU", "processors": 4, "used": 4, "imbalance": 1}],
    "moves": [{"region": "T", "from": "FBMEM", "to": "ZCMEM"}]}})");
  ASSERT_TRUE(zero_copy);
  Diagnostics diags(Source("a.mapper", "Region * * GPU FBMEM;\nRegion * T_halo GPU ZCMEM;\n"));
  const Program program = compile(diags.source(), diags);
  const GuideFeedback by_program = guide_profile(*zero_copy, &program);
  EXPECT_THAT(by_program.suggest,
              Contains("What keeps data in ZCMEM in a.mapper is line 2 (`Region * T_halo GPU "
                       "ZCMEM`)."));
  EXPECT_THAT(by_program.suggest, Not(Contains(HasSubstr("spread"))));
  for (const char* wrong :
       {"", "[]", "{}", R"({"profile": 3})", R"({"path": {}, "time_ps": "x"})"}) {
    EXPECT_FALSE(read_profile_facts(wrong)) << wrong;
  }
  EXPECT_TRUE(read_profile_facts(R"({"path": {}, "time_ps": 1, "more": {"a": [1]}})"));
}

// Of another program than the given one its lines would be wrong, and what was tried.
TEST(Profile, OfAnotherMappingNamesNoLines) {
  const auto profile = [](const std::string& mapping) {
    return read_profile_facts(R"({"tried": true, "suggest": ["Tried."],
      "profile": {"title": "t", "time_ps": 1000, )" +
                              mapping + R"(
        "path": {"causes": [{"doing": "copy", "reason": "data", "time_ps": 600, "move": 0}]},
        "moves": [{"region": "T", "from": "FBMEM", "to": "ZCMEM",
                   "by": {"text": "Region * T GPU ZCMEM", "place": "a.mapper:2:1"}}]}})")
        .value();
  };
  const auto guided_by = [](const ProfileFacts& facts, const char* text) {
    Diagnostics diags(Source("b.mapper", text));
    const Program program = compile(diags.source(), diags);
    return guide_profile(facts, &program);
  };
  const char* const same = "Task * GPU;\nRegion * T GPU ZCMEM;\n";
  const char* const other = "Task * GPU;\nRegion * U GPU FBMEM, ZCMEM;\n";
  Diagnostics diags(Source("a.mapper", same));
  const Program ran = compile(diags.source(), diags);
  const std::string mark = R"("mapping": ")" + mapping_mark(ran) + R"(",)";
  const char* const is_another = "The profile is of another mapping than b.mapper";
  for (const std::string& mapping : {mark, std::string()}) {
    const GuideFeedback of_it = guided_by(profile(mapping), same);
    EXPECT_THAT(of_it.explain,
                ElementsAre(HasSubstr("because of line 2 (`Region * T GPU ZCMEM`)")));
    EXPECT_THAT(of_it.suggest, ElementsAre("Tried."));
    const GuideFeedback of_another = guided_by(profile(mapping), other);
    EXPECT_THAT(of_another.explain,
                ElementsAre(HasSubstr(is_another), HasSubstr("because of `Region * T GPU ZCMEM`")));
    EXPECT_THAT(of_another.suggest, ElementsAre(HasSubstr("Keep `T` in one memory")));
  }
  // Comments make no other mapping, though other lines.
  const GuideFeedback commented =
      guided_by(profile(mark), "# More.\nTask * GPU; # Tasks.\nRegion * T  GPU ZCMEM;\n");
  EXPECT_THAT(commented.explain, ElementsAre(HasSubstr("because of `Region * T GPU ZCMEM`")));
  EXPECT_THAT(commented.suggest, ElementsAre("Tried."));
  // Without a program there is nothing to compare; the default mapper's run is of none.
  EXPECT_THAT(guide_profile(profile(mark)).suggest, ElementsAre("Tried."));
  EXPECT_THAT(guided_by(profile(R"("mapping": "default",)"), same).explain,
              Contains(HasSubstr(is_another)));
  // What was not tried is said anew.
  EXPECT_FALSE(
      read_profile_facts(R"({"suggest": ["x"], "profile": {"time_ps": 1, "path": {}}})")->tried);
}

TEST(Profile, FiguresThatNoneCanBeAreRefusedWithTheirPlace) {
  const struct {
    const char* members;  // beside `time_ps`
    const char* message;
  } kCases[] = {
      {R"("path": {"causes": [{"time_ps": 1}, {"time_ps": -5}]})",
       "/profile/path/causes/1/time_ps: it is -5, a negative number"},
      {R"("path": {"causes": [{"time_ps": 1001}]})",
       "/profile/path/causes/0/time_ps: it is 1001, more than `time_ps`"},
      {R"("path": {"causes": [{"time_ps": 600}, {"time_ps": 600}]})",
       "/profile/path: the times of its `causes` add up to more than `time_ps`"},
      {R"("path": {"causes": [{"time_ps": 5, "measured_ps": 6}]})",
       "/profile/path/causes/0/measured_ps: it is 6, more than its `time_ps`"},
      {R"("path": {"causes": [{"time_ps": "5"}]})",
       R"(/profile/path/causes/0/time_ps: it is "5", where a number is due)"},
      {R"("path": {"causes": 7})", "/profile/path/causes: it is 7, where a list is due"},
      {R"("path": {"causes": [[]]})",
       "/profile/path/causes/0: it is a list, where an object is due"},
      {R"("path": {"causes": [{"time_ps": 1, "move": -1}]})",
       "/profile/path/causes/0/move: it is -1, a negative number"},
      {R"("path": {"causes": [{"time_ps": 1, "move": 0}]})",
       "/profile/path/causes/0/move: it is 0, more than the number of the last of `moves`"},
      {R"("path": {"causes": [{"time_ps": 1, "move": 0.5}]}, "moves": [{}, {}])",
       "/profile/path/causes/0/move: it is 0.5, no whole number"},
      {R"("path": {"causes": [{"time_ps": 1, "move": 0}]}, "moves": [{"region": 3}])",
       "/profile/moves/0/region: it is 3, where a text is due"},
      {R"("path": {}, "by_kind": [{"processors": 2, "used": 3}])",
       "/profile/by_kind/0/used: it is 3, more than its `processors`"},
      {R"("path": {}, "by_kind": [{"processors": 1e300}])",
       "/profile/by_kind/0/processors: it is 1e+300, more than 2^53"},
      {R"("path": {}, "by_memory": [{"memory": ["FBMEM"], "capacity_bytes": 1, "peak_bytes": 2}])",
       "/profile/by_memory/0/peak_bytes: it is 2, more than its `capacity_bytes`"},
      {R"("path": {}, "by_memory": [{"memory": [1]}])",
       "/profile/by_memory/0/memory/0: it is 1, where a text is due"},
  };
  for (const auto& [members, message] : kCases) {
    const auto facts =
        read_profile_facts(fmt::format(R"({{"profile": {{"time_ps": 1000, {}}}}})", members));
    ASSERT_FALSE(facts) << members;
    EXPECT_EQ(facts.error().message, message);
    EXPECT_THAT(facts.error().help, HasSubstr("groma run --json"));
  }
  for (const char* number : {"NaN", "1e999", "0x1"}) {
    const auto facts =
        read_profile_facts(fmt::format("{{\"path\": {{}},\n\"time_ps\": {}}}", number));
    ASSERT_FALSE(facts);
    EXPECT_THAT(facts.error().message, HasSubstr("it is not JSON: ")) << number;
    const bool value = std::string_view(number) == "1e999";
    EXPECT_THAT(facts.error().message, HasSubstr(value ? number : "error at line 2"));
    EXPECT_LT(facts.error().message.size(), 200U);
  }
}

TEST(Profile, WhatWasTriedLeavesTheLogsAdviceAlone) {
  const auto facts = read_profile_facts(
      R"({"suggest": ["Tried."], "tried": true, "profile": {"time_ps": 1, "path": {}}})");
  GuideContext context;
  context.exit_code = 0;
  const std::vector<std::string> advice = guided(kWarning, context).suggest;
  ASSERT_THAT(advice, Not(IsEmpty()));
  context.profile = &*facts;
  std::vector<std::string> all = advice;
  all.emplace_back("Tried.");
  EXPECT_EQ(guided(kWarning, context).suggest, all);
}

// Deep ones would need a deep stack, wide ones would be searched from their beginning.
TEST(Profile, JsonThatNoRunPrintsIsRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  std::string wide;
  for (int i = 0; i < 20'000; ++i) wide += fmt::format(R"("k{}": 0, )", i);
  for (const std::string& text : {R"({"path": )" + deep + R"(, "time_ps": 1})",
                                  "{" + wide + R"("path": {}, "time_ps": 1})"}) {
    const auto facts = read_profile_facts(text);
    ASSERT_FALSE(facts);
    EXPECT_THAT(facts.error().message, HasSubstr("it is nested too deep or too wide"));
    EXPECT_FALSE(log_of_failed_run(text));
  }
}

TEST(Forms, FunctionsStandBeneathTheirSentence) {
  GuideFeedback feedback;
  feedback.suggest = {
      "Write `IndexTaskMap t f;` and `def f(Task task) { m = Machine(GPU); return m[0, 0]; }`: it "
      "runs.",
      "Not `def this`."};
  EXPECT_EQ(draw_advice(feedback),
            "\nSuggest\n"
            "  Write `IndexTaskMap t f;` and this function: it runs.\n"
            "      def f(Task task) {\n"
            "        m = Machine(GPU);\n"
            "        return m[0, 0];\n"
            "      }\n"
            "  Not `def this`.\n");
  EXPECT_THAT(to_json(feedback), HasSubstr("`def f(Task task) { m ="));
}

// What compilers, batch systems, MPI, GPUs and checkers print: which rule explains it first.
TEST(Outputs, OfRealLife) {
  const struct {
    const char* log;
    const char* rule;
  } kCases[] = {
      {"a.cc:42:7: error: use of undeclared identifier 'f'\n1 error generated.\n"
       "make: *** [Makefile:12: a.o] Error 1\n",
       "build.compiler"},
      {"In file included from m.cc:3:\nm.h:12:10: error: 'Foo' has not been declared\n"
       "m.cc:8:3: warning: unused variable 'x' [-Wunused-variable]\n",
       "build.compiler"},
      {"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
       "make: *** [Makefile:3: a.o] Error 1\n",
       "build.killed"},
      {"/usr/bin/ld: /opt/lib/liblegion.a: error adding symbols: file format not recognized\n"
       "collect2: error: ld returned 1 exit status\n",
       "build.linker"},
      {"/usr/bin/ld: cannot open output file app: Permission denied\n"
       "collect2: error: ld returned 1 exit status\n",
       "build.linker"},
      {"/usr/bin/ld: main.o: undefined reference to symbol 'dlopen@@GLIBC_2.2.5'\n"
       "/usr/bin/ld: libdl.so.2: error adding symbols: DSO missing from command line\n",
       "build.undefined_reference"},
      {"slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have "
       "been OOM Killed.\nsrun: error: n01: task 0: Out Of Memory\n",
       "sys.oom_kill"},
      {"srun: error: n01: task 0: Out Of Memory\n", "sys.oom_kill"},
      {"slurmstepd: error: *** JOB 1 ON n01 CANCELLED AT 2025-01-01T00:00:00 DUE TO TIME LIMIT "
       "***\n",
       "sys.time_limit"},
      {"slurmstepd: error: *** JOB 1 ON n01 CANCELLED AT 2025-01-01T00:00:00 DUE TO NODE FAILURE, "
       "SEE SLURMCTLD LOG FOR DETAILS ***\n",
       "sys.taken_away"},
      {"srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
       "slurmstepd: error: *** STEP 1.0 ON n01 CANCELLED AT 2025-01-01T00:00:00 ***\n"
       "0: CUDA error: out of memory\n",
       "cuda.out_of_memory"},
      {"srun: error: Unable to allocate resources: Requested node configuration is not "
       "available\n",
       "sys.not_started"},
      {"There are not enough slots available in the system to satisfy the 8\nslots that were "
       "requested by the application:\n",
       "mpi.slots"},
      {"Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1)\n",
       "mpi.ended"},
      {"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 139\n",
       "mpi.ended"},
      {"CUDA Runtime Error at circuit_gpu.cu:88: invalid device ordinal\n", "cuda.no_device"},
      {"CUDA Runtime Error at circuit_gpu.cu:88: invalid argument\n", "cuda.error"},
      {"GPUassert: out of memory foo.cu 44\n", "cuda.out_of_memory"},
      {"terminate called after throwing an instance of 'thrust::system::system_error'\n"
       "  what():  parallel_for failed: cudaErrorInvalidDeviceFunction: invalid device function\n",
       "cuda.no_image"},
      {"cudaErrorECCUncorrectable: uncorrectable ECC error encountered\n", "cuda.hardware"},
      {"ptxas fatal   : Unresolved extern function 'interpolate'\n", "build.device_linker"},
      {"WARNING: ThreadSanitizer: data race (pid=1234)\n", "sys.sanitizer"},
      {"==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n", "sys.sanitizer"},
      {"==123== Invalid read of size 8\n==123==    at 0x4005: main (a.c:5)\n", "sys.valgrind"},
      {"Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\n"
       "AssertionError\n",
       "python.exception"},
      {"ImportError: libcudart.so.11.0: cannot open shared object file: No such file or "
       "directory\n",
       "load.library"},
      {"/opt/regent/terra: attempt to index global 'foo' (a nil value)\nstack traceback:\n",
       "regent.lua"},
      {"bash: ./circuit: Permission denied\n", "sys.shell"},
      // One process writes into the line of another.
      {"ELAPSED TIME = 1.2[0 - 7f12] 1.2 {5}{legion}: [error 506] LEGION ERROR: Out of memory\n "
       "s\n",
       "sys.generic_mapper"},
  };
  for (const auto& [log, rule] : kCases) {
    const GuideFeedback feedback = guided(log);
    ASSERT_THAT(feedback.matches, Not(::testing::IsEmpty())) << log;
    EXPECT_EQ(feedback.matches.front().rule, rule) << log;
    EXPECT_THAT(feedback.explain, Not(::testing::IsEmpty())) << log;
  }
}

// What a run says of its results counts more than how fast it was, however it ended.
TEST(Results, ThatAreNoNumbersAreNoSuccess) {
  for (const char* line :
       {"NaN detected in field pressure at step 12", "2 NaNs found", "GFLOPS = nan",
        "residual: -nan", "norm = nan, stopped", "Throughput = inf GFLOPS", "NaN found: 0.5 -> nan",
        "VERIFICATION FAILED! max error = 3.5", "Verification failed: 0.003 > 1e-6",
        "Validation failed: 0 != 5"}) {
    GuideContext context;
    context.exit_code = 0;
    const GuideFeedback feedback = guided(std::string(line) + "\nELAPSED TIME = 1.2 s\n", context);
    EXPECT_EQ(feedback.status, GuideFeedback::Status::kError) << line;
    EXPECT_THAT(feedback.suggest, ElementsAre(HasSubstr("A mapping changes no result")));
  }
  for (const char* line :
       {"No NaN detected", "0 NaNs found", "best error = inf", "max error = 1.2e-15",
        "L2 error: 3e-9", "error: 0", "name = nancy", "Time: info", "verification passed",
        "0 errors, 0 failures", "GFLOPS = 12", "Validation failed: 0 of 100",
        "Verification failed = 0", "NaNs detected: 0", "Number of NaN values found: 0",
        "nan found 0 times", "norm: nan-safe reduction",
        "bash: /etc/profile.d/a.sh: Permission denied"}) {
    GuideContext context;
    context.exit_code = 0;
    const GuideFeedback feedback = guided(std::string(line) + "\nELAPSED TIME = 1.2 s\n", context);
    EXPECT_EQ(feedback.status, GuideFeedback::Status::kOk) << line;
  }
}

TEST(Forms, JsonHasItsShape) {
  const std::string json = to_json(guided(std::string("\xff\x01 x\n") + kNotVisible));
  EXPECT_THAT(json, HasSubstr(R"({"status":"error","execution":"Execution Error: )"));
  EXPECT_THAT(json, HasSubstr(R"("score":null,"profile":null,"matches":[{"rule":)"
                              R"("map_task.memory_not_visible","line":2,"count":1,)"));
  EXPECT_EQ(json.back(), '\n');
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 1);
}

// ------------------------------------------------------------------------------- long and odd logs

GuideFeedback in_pieces(const std::string& log, std::mt19937& draw, std::size_t longest) {
  GuideReader reader(rules());
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t some = 1 + draw() % longest;
    reader.read(std::string_view(log).substr(at, some));
    at += some;
  }
  return reader.feedback();
}

std::string words(std::mt19937& draw, std::size_t bytes, bool binary) {
  constexpr std::string_view kLetters = "abcdefgh 0123 {2}{inst}: task region requirement\n";
  std::string text;
  while (text.size() < bytes) {
    text += binary ? static_cast<char>(draw()) : kLetters[draw() % kLetters.size()];
  }
  return text;
}

// However the log is cut into pieces and whatever surrounds a message.
TEST(Long, LogsAreReadAsOneInAnyPieces) {
  std::mt19937 draw(3);
  for (const bool binary : {false, true}) {
    std::string log;
    for (int i = 0; i < 40; ++i) {
      log +=
          words(draw, draw() % 60000, binary) + "\n" + (i % 2 == 0 ? kWarning : kNotVisible) + "\n";
    }
    const GuideFeedback whole = guided(log);
    ASSERT_THAT(ids(whole), ElementsAre("map_task.memory_not_visible", "repl.one_shard_ignored"));
    EXPECT_EQ(whole.matches[0].count, 20);
    EXPECT_EQ(whole.matches[1].count, 20);
    for (const std::size_t longest : {1000U, 100000U, 1000000U}) {
      const GuideFeedback pieces = in_pieces(log, draw, longest);
      EXPECT_EQ(to_json(pieces), to_json(whole));
    }
  }
}

TEST(Long, OneEndlessLineIsSearchedThroughout) {
  std::mt19937 draw(5);
  std::string log;
  int count = 0;
  while (log.size() < 3'000'000) {
    std::string text = words(draw, 5000 + draw() % 90000, false);
    std::replace(text.begin(), text.end(), '\n', ' ');
    log += text + kNotVisible + " ";
    ++count;
  }
  for (const std::size_t longest : {5000U, 1000000U}) {
    const GuideFeedback feedback = in_pieces(log, draw, longest);
    ASSERT_THAT(ids(feedback), ElementsAre("map_task.memory_not_visible"));
    EXPECT_EQ(feedback.matches[0].count, count);
    EXPECT_EQ(feedback.matches[0].line, 1);
  }
}

TEST(Long, LinesAndLogsAreCounted) {
  GuideReader reader(rules());
  reader.begin("a.log");
  reader.read("x\ny\n" + std::string(kWarning));  // without a line end
  reader.begin("b.log");
  reader.read(std::string(300000, '\n') + kNotVisible);
  const GuideFeedback feedback = reader.feedback();
  ASSERT_THAT(feedback.matches, SizeIs(2));
  EXPECT_EQ(feedback.matches[0].log, "b.log");
  EXPECT_EQ(feedback.matches[0].line, 300001);
  EXPECT_EQ(feedback.matches[1].log, "a.log");
  EXPECT_EQ(feedback.matches[1].line, 3);
}

// Links end as GCC ends them, `tput sgr0` sets letters back; what is cut off takes no line's end
// along.
TEST(Long, TerminalsSequencesLeaveTheTextWhole) {
  const std::string killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=1";
  const auto with = [&](std::string_view word, std::string_view before, std::string_view after) {
    std::string text = killed;
    const std::size_t at = text.find(word);
    return text.insert(at + word.size(), after).insert(at, before);
  };
  for (const std::string& line :
       {with("oom_kill", "\x1b]8;;http://x\x1b\\", "\x1b]8;;\x1b\\"),
        with("oom_kill", "\x1b]8;;http://x\a", "\x1b]8;;\a"),
        with("oom", "\x1b[1m", "\x1b(B\x1b[m"), with("oom", "\x1b\x1b[1m", "\x1b]8;;\x1b[0m"),
        killed + "\x1b", killed + "\x1b]0;title", killed + "\x1b]0;title\x1b", killed + "\x1b("}) {
    for (const char* end : {"", "\n", "\nbye"}) {
      const GuideFeedback feedback = guided("hello\x1b\nhello\x1b]0;\n" + line + end);
      ASSERT_THAT(ids(feedback), ElementsAre("sys.oom_kill")) << line << end;
      EXPECT_EQ(feedback.matches[0].line, 3);
      EXPECT_EQ(feedback.matches[0].text, killed);
    }
  }
}

// Our own messages take their notes and helps along, over the end of a block too.
TEST(Long, LinesThatBelongToAMessageAreRead) {
  const std::string message =
      "a.mapper:1:8: error: unknown processor kind `GPUS` [unknown-processor]\n"
      "    1 | Task * GPUS, CPU;\n      |        ^~~~\nnote: it is none\nhelp: did you mean "
      "`GPU`?\n";
  for (const std::size_t before :
       {std::size_t{0}, guide::kBlockBytes - 70, guide::kBlockBytes - 130}) {
    const GuideFeedback feedback = guided(std::string(before, '\n') + message);
    EXPECT_THAT(feedback.explain, Contains("It is none."));
    EXPECT_THAT(feedback.suggest, Contains("Did you mean `GPU`?"));
  }
}

// RE2 makes its automata while it matches: many logs at once, of which each needs others.
TEST(Threads, ShareTheRules) {
  std::vector<std::string> logs, alone;
  std::string all;
  for (const auto& rule :
       {"unknown processor kind `GPUS` [unknown-processor]", "Assertion failed: stride",
        "DGEMM parameter number 8 had an illegal value", "mgpu not found",
        "Slice processor index out of bound", "Segmentation fault",
        "error: 'x' was not declared in this scope", "out of memory"}) {
    logs.push_back(fmt::format("line\n{}\nline\n", rule));
    all += logs.back();
  }
  logs.push_back(all);
  const GuideRules fresh = std::move(GuideRules::make()).value();
  const auto said = [&fresh](const std::string& log) { return to_json(guide_log(fresh, log)); };
  for (const std::string& log : logs) alone.push_back(to_json(guided(log)));
  std::vector<std::thread> threads;
  std::vector<int> different(4);
  for (std::size_t t = 0; t < different.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 3 * logs.size(); ++i) {
        const std::size_t log = (i * 5 + t) % logs.size();
        different[t] += said(logs[log]) == alone[log] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, std::vector<int>(4));
}

}  // namespace
}  // namespace groma
