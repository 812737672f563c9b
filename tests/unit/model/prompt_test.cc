// The parts of prompts: what they say, what they leave out, how they are made to fit.
#include "model/prompt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "groma/benchmarks.h"
#include "groma/evaluate.h"
#include "groma/program.h"
#include "model/problem_words.h"
#include "support/tune_round.h"
#include "syntax/methods.h"

namespace groma::tuning {
namespace {

using ::groma::testing::FakeEvaluator;
using ::groma::testing::FakeRound;
using ::testing::HasSubstr;
using ::testing::Not;

SearchProblem problem_of(const std::string& benchmark, const std::string& machine = "p100x4") {
  SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine(machine).value());
  problem.inputs.push_back(Workload::make(find_benchmark(benchmark)->make()).value());
  return problem;
}

std::string text_of(const Prompt& prompt, std::size_t most = 1'000'000) {
  std::string text;
  for (const llm::ChatMessage& message : prompt.messages(most)) text += message.text;
  return text;
}

// ---------------------------------------------------------------------------------------- the card

std::string card() {
  std::string text;
  for (const LanguageCardPart& piece : language_card()) text += piece.text;
  return text;
}

TEST(Card, ItsExamplesAreAProgramWithoutMistakes) {
  std::string program;
  std::istringstream lines(card());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) program += line.substr(4) + "\n";
  }
  for (const char* statement : {"Task ", "Region ", "Layout ", "IndexTaskMap ", "SingleTaskMap ",
                                "Machine(", "def ", "decompose("}) {
    EXPECT_THAT(program, HasSubstr(statement));
  }
  Diagnostics diags(Source("card", program));
  const Program compiled = compile(diags.source(), diags);
  EXPECT_EQ(render(diags), "") << program;
  const auto bound = bind(compiled, make_machine("lassen:nodes=2").value(), diags);
  EXPECT_TRUE(bound) << render(diags);
}

TEST(Card, NamesEveryStatementAndFitsItsBudget) {
  const std::string text = card();
  for (const char* word : {"Task",          "Region",       "Layout",        "InstanceLimit",
                           "CollectMemory", "IndexTaskMap", "SingleTaskMap", "ControlReplicate",
                           "TaskSteal",     "CPU",          "GPU",           "OMP",
                           "SYSMEM",        "FBMEM",        "ZCMEM",         "SOCKMEM",
                           "SOA",           "AOS",          "C_order",       "F_order",
                           "Compact",       "Exact",        "Align==",       "ispace",
                           "ipoint",        "task.parent"}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    if (method.on_reference_card) {
      EXPECT_THAT(text, HasSubstr(signature_of(method)));
    }
  }
  EXPECT_LT(text.size(), 4'200U);  // 1,200 tokens
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

// ------------------------------------------------------------------------------------- the problem

TEST(ProblemBlock, SaysWhatTheMachineAndTheApplicationHave) {
  Prompt prompt;
  add_problem(prompt, problem_of("circuit"));
  const std::string text = text_of(prompt);
  EXPECT_THAT(text, HasSubstr("MACHINE: 1 node with"));
  EXPECT_THAT(text, HasSubstr("4 GPU"));
  EXPECT_THAT(text, HasSubstr("4 FBMEM of 1"));
  EXPECT_THAT(text, HasSubstr("TASKS name | variants | launched as | regions"));
  EXPECT_THAT(text, HasSubstr(" calculate_new_currents |"));
  EXPECT_THAT(text, HasSubstr(" update_voltages |"));
  EXPECT_THAT(text, HasSubstr(" launches of 4 points |"));
  EXPECT_THAT(text, HasSubstr("rp_shared"));
  EXPECT_THAT(text, HasSubstr("reduce"));
  EXPECT_THAT(text, HasSubstr("read-write"));
  // What it says of a region's size, a point's.
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        "rp_private \\(part of all_nodes\\) \\{[a-z_ ]+\\} [a-z-]+ [0-9.]+"));
}

TEST(ProblemBlock, NamesEachTaskThatIsLaunchedOfEveryBenchmark) {
  for (const Benchmark& benchmark : benchmarks()) {
    const SearchProblem problem = problem_of(std::string(benchmark.name), "lassen:nodes=2");
    const AppDescription words = describe_application(problem.inputs.front(), *problem.machine);
    EXPECT_FALSE(words.tasks.empty()) << benchmark.name;
    for (const std::string& line : words.tasks) {
      EXPECT_THAT(line, HasSubstr(" | ")) << benchmark.name;
      EXPECT_LT(line.size(), 600U) << benchmark.name;
    }
    const std::string decisions = describe_decisions("", *problem.machine, problem.inputs.front());
    EXPECT_THAT(decisions, HasSubstr(": ")) << benchmark.name;
  }
}

TEST(ProblemBlock, HasTheExamplesOfTheProblem) {
  SearchProblem problem = problem_of("circuit");
  Prompt without, with;
  add_problem(without, problem);
  EXPECT_THAT(text_of(without), Not(HasSubstr("EXAMPLES")));
  problem.examples = {"Task * GPU;\n", "Region * * GPU ZCMEM;\n"};
  add_problem(with, problem);
  EXPECT_THAT(text_of(with), HasSubstr("EXAMPLES: mappings of other applications, with other tasks "
                                       "and regions\n```\nTask * GPU;\n```\n```\nRegion *"));
}

TEST(ProblemBlock, OfAnyOtherTextIsWhatItIsAbout) {
  SearchProblem problem;
  problem.start = "// groma: begin a\nx\n// groma: end\n";
  problem.about = "A matrix kernel in C++.\nBuilt in /home/someone/kernel/build.";
  Prompt prompt;
  add_problem(prompt, problem);
  const std::string text = text_of(prompt);
  EXPECT_THAT(text, HasSubstr("A matrix kernel in C++.\nBuilt in build."));
  EXPECT_THAT(text, Not(HasSubstr("someone")));
  EXPECT_THAT(text, Not(HasSubstr("MACHINE")));
}

TEST(Decisions, AreWhatTheMappingDecides) {
  const SearchProblem problem = problem_of("circuit");
  const std::string words = describe_decisions(
      "Task * GPU;\nRegion * rp_shared GPU ZCMEM;\nRegion * * GPU FBMEM;\nLayout * * * AOS;\n"
      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nIndexTaskMap GPU f;\n",
      *problem.machine, problem.inputs.front());
  EXPECT_THAT(words, HasSubstr("calculate_new_currents: GPU"));
  EXPECT_THAT(words, HasSubstr("rp_shared ZCMEM AOS"));
  EXPECT_THAT(words, HasSubstr("points by `f`, 1 of 4 processors used"));
  EXPECT_EQ(describe_decisions("Task * NOWHERE;", *problem.machine, problem.inputs.front()), "");
}

// -------------------------------------------------------------------------------------- its length

TEST(Prompt, LeavesOutWhatItCanDoWithoutInItsOrder) {
  // Each part is longer than the line that says what is left out.
  const auto part = [](char name) { return std::string(400, name); };
  Prompt prompt;
  prompt.add_system_text("[role]");
  prompt.add_system_text(part('c'), RemovalStage::kCard);
  prompt.add_user_text(part('a'), RemovalStage::kApp, "[names]");
  prompt.add_heading("[history]", RemovalStage::kHistory);
  prompt.add_user_text(part('w'), RemovalStage::kHistory);
  prompt.add_user_text(part('b'), RemovalStage::kHistory);
  prompt.add_heading("[tried]", RemovalStage::kTried);
  prompt.add_user_text(part('f'), RemovalStage::kTried);
  prompt.add_user_text(part('p'), RemovalStage::kProfile);
  prompt.add_user_text("[current]");
  // The prompt in short: each run of one letter as one letter.
  const auto in_short = [&](std::size_t most) {
    std::string text = text_of(prompt, most);
    for (char name : std::string_view("cawbfp")) {
      const std::size_t at = text.find(part(name));
      if (at != text.npos) text.replace(at, 400, 1, name);
    }
    EXPECT_LE(text.size(), std::max<std::size_t>(most, 300));
    return text;
  };
  const std::size_t whole = text_of(prompt).size();
  EXPECT_EQ(in_short(whole), "[role]ca[history]wb[tried]fp[current]");
  const auto without = [](std::string_view what, std::size_t most) {
    return fmt::format("(This prompt may have {} bytes. It leaves out: {}.)\n\n", most, what);
  };
  EXPECT_EQ(in_short(whole - 1),
            "[role]c" + without("the profile", whole - 1) + "a[history]wb[tried]f[current]");
  EXPECT_EQ(in_short(whole - 401),
            "[role]c" + without("the profile, entries about earlier texts (1)", whole - 401) +
                "a[history]b[tried]f[current]");
  const std::string all =
      "the profile, entries about earlier texts (2), lines about failures and decisions, details "
      "of the problem, parts of the reference card";
  EXPECT_EQ(in_short(0), "[role]" + without(all, 0) + "[names][current]");
  const auto messages = prompt.messages(10'000);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].role, llm::ChatMessage::Role::kSystem);
  EXPECT_THAT(messages[0].text, HasSubstr("[role]c"));
  EXPECT_EQ(messages[1].role, llm::ChatMessage::Role::kUser);
}

TEST(Prompt, IsUtf8WhateverTheTextIs) {
  Prompt prompt;
  prompt.add_user_text("a \xE4 \xC3\xA4 \xC3");
  EXPECT_EQ(text_of(prompt), "a \xEF\xBF\xBD \xC3\xA4 \xEF\xBF\xBD");
}

TEST(Prompt, HoldsNoFolders) {
  EXPECT_EQ(strip_directories("/home/me/work/a.mapper:4:1: error"), "a.mapper:4:1: error");
  EXPECT_EQ(strip_directories("in `/a/b.cc` and ~/x/y"), "in `b.cc` and y");
  EXPECT_EQ(strip_directories("a / b, ip[0]/n/2, 3/4/5, (x)/y"), "a / b, ip[0]/n/2, 3/4/5, (x)/y");
  EXPECT_EQ(strip_directories("// a comment"), "// a comment");
  EXPECT_EQ(strip_directories("GB/s"), "GB/s");
  EXPECT_EQ(strip_directories("/"), "/");
  EXPECT_EQ(strip_directories("/tmp/"), "tmp/");
}

TEST(FencedBlock, IsLongerThanAnyInIt) {
  EXPECT_EQ(as_fenced_block("a\n", "task"), "```task\na\n```\n");
  EXPECT_EQ(as_fenced_block("a"), "```\na\n```\n");
  EXPECT_EQ(as_fenced_block("x ```` y\n"), "`````\nx ```` y\n`````\n");
}

TEST(Difference, IsOfLines) {
  const auto of = [](const std::string& text) { return Segments::of_mapping(Source("", text)); };
  EXPECT_EQ(
      describe_segment_changes(of("Task a CPU;\nTask b GPU;\n"), of("Task b GPU;\nTask c GPU;\n")),
      "  task:\n    - Task c GPU;\n    + Task a CPU;\n");
  EXPECT_EQ(describe_segment_changes(of("Task a CPU;\n"), of("Task a CPU;\n")), "");
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += fmt::format("Task t{} CPU;\n", i);
  const std::string changes = describe_segment_changes(of(many), of(""));
  EXPECT_LT(changes.size(), 1'200U);
  // What is left out is said.
  EXPECT_THAT(changes, ::testing::ContainsRegex("\\+ \\([0-9]+ more lines\\)"));
}

// ---------------------------------------------------------------------------------------- feedback

GuideFeedback feedback() {
  GuideFeedback feedback;
  feedback.execution = "Performance Metric: 0.03 s, see /scratch/me/run.log";
  feedback.explain = {"It explains.", "Twice."};
  feedback.suggest = {"It suggests."};
  feedback.last_lines = {"a last line"};
  ProfileFacts facts;
  facts.tasks = 0.6;
  facts.copies = 0.25;
  facts.by_task = {{"work", "GPU", 0.5}};
  facts.causes = {{"copy", "", "ghost", "ZCMEM", "FBMEM", "", "", true, 0.25, 0, false}};
  facts.kinds = {{"GPU", 4, 2, 0.7, 1.5}};
  facts.memories = {{"FBMEM", 0.5}};
  feedback.profile = facts;
  return feedback;
}

std::string lines_at(GuideDetail detail) {
  std::string text;
  for (const FeedbackLine& line : feedback_lines(feedback(), detail)) text += line.text;
  return text;
}

TEST(FeedbackBlock, HasWhatItsLevelAllows) {
  EXPECT_EQ(lines_at(GuideDetail::kNone), "");
  const std::string execution =
      "EXECUTION: Performance Metric: 0.03 s, see run.log\n"
      "OUTPUT: a last line\n";
  EXPECT_EQ(lines_at(GuideDetail::kExecution), execution);
  const std::string explain = execution + "EXPLAIN: It explains.\nEXPLAIN: Twice.\n";
  EXPECT_EQ(lines_at(GuideDetail::kExplain), explain);
  const std::string suggest = explain + "SUGGEST: It suggests.\n";
  EXPECT_EQ(lines_at(GuideDetail::kSuggest), suggest);
  EXPECT_EQ(lines_at(GuideDetail::kProfile),
            suggest +
                "PROFILE: of the time tasks 60 %, copies 25 %, runtime 0 %; 25 % copy of ghost "
                "from ZCMEM to FBMEM between nodes; work on GPU 50 % of task time; GPU 2 of 4 "
                "used, busy 70 %, the busiest 1.5 times the mean; FBMEM 50 % full\n");
}

TEST(FeedbackBlock, IsALineOfAList) {
  EXPECT_EQ(feedback_summary(feedback(), GuideDetail::kNone, 200), "");
  EXPECT_EQ(feedback_summary(feedback(), GuideDetail::kExplain, 200),
            "Performance Metric: 0.03 s, see run.log It printed `a last line`. It explains.");
}

TEST(FeedbackBlock, IsBounded) {
  GuideFeedback feedback;
  feedback.execution = std::string(100'000, 'x');
  feedback.explain.assign(100, std::string(100'000, 'x'));
  feedback.suggest = feedback.explain;
  feedback.last_lines = feedback.explain;
  std::size_t bytes = 0;
  for (const FeedbackLine& line : feedback_lines(feedback, GuideDetail::kProfile)) {
    bytes += line.text.size();
  }
  EXPECT_GT(bytes, 1'000U);
  EXPECT_LT(bytes, 16'000U);
}

TEST(FeedbackBlock, SaysResultsOfAllInputsAndWhatIsBetter) {
  class Two : public FakeEvaluator {
   public:
    Two() : FakeEvaluator([](const std::string&) { return 1.0; }) {}
    std::vector<std::string> inputs() const override { return {"small", "large"}; }
    std::string unit() const override { return "GFLOPS"; }
    bool higher_is_better() const override { return true; }
  } evaluator;
  Evaluation evaluation;
  evaluation.status = Evaluation::Status::kOk;
  evaluation.values = {100, 400};
  evaluation.score = 1 / 200.0;
  EXPECT_EQ(describe_result(evaluation, evaluator), "valid, 200 GFLOPS (small 100, large 400)");
  evaluation.score = 1 / 123.456;
  evaluation.noise = 0.1;
  EXPECT_EQ(format_score(evaluation, evaluator), "1.2e+02 GFLOPS");
  EXPECT_THAT(describe_goal(evaluator),
              HasSubstr("Maximise the result, which is measured in GFLOPS"));
  evaluation.status = Evaluation::Status::kTimedOut;
  EXPECT_THAT(describe_result(evaluation, evaluator), HasSubstr("stopped"));
}

TEST(Failures, AreListedOnceEachWithWhatTheyChanged) {
  const SearchProblem problem = problem_of("circuit");
  FakeEvaluator evaluator([](const std::string&) { return -1.0; });
  FakeRound round(problem, evaluator);
  for (int i = 1; i <= 20; ++i) {
    Step step;
    step.number = i;
    step.proposal.text = fmt::format("Task t{} CPU;\n", i);
    step.evaluation = evaluator.evaluate({step.proposal.text});
    step.evaluation.feedback.execution = fmt::format("it fails in way {}", i % 10);
    round.past.add(step);
  }
  Prompt prompt;
  add_failures(prompt, round, Segments::of_mapping(Source("", "")), GuideDetail::kProfile);
  const std::string text = text_of(prompt);
  EXPECT_THAT(text, HasSubstr("#20 failed: it fails in way 0\n  task:\n    + Task t20 CPU;\n"));
  EXPECT_THAT(text, Not(HasSubstr("#10 ")));
  EXPECT_THAT(text, Not(HasSubstr("#14 "))) << "only the last few";
  Prompt silent;
  add_failures(silent, round, Segments::of_mapping(Source("", "")), GuideDetail::kNone);
  EXPECT_THAT(text_of(silent), Not(HasSubstr("in way")));
}

}  // namespace
}  // namespace groma::tuning
