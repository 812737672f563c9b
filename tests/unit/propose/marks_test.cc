// marks: the values that a text's lines name are tried, each text once, the best is found. The
// refusals are also those of opentuner.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "groma/proposers.h"
#include "groma/segments.h"
#include "support/files.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::FakeRound;
using ::testing::HasSubstr;

tuning::SearchProblem problem_with_marks(std::string text) {
  tuning::SearchProblem problem;
  problem.start = std::move(text);
  return problem;
}

// Returns the message with which `marks` and `opentuner` refuse a text.
std::string error_of(std::string text) {
  const tuning::SearchProblem problem = problem_with_marks(std::move(text));
  const auto made = tuning::make_proposer("marks", problem, 1);
  const auto same = tuning::make_proposer("opentuner", problem, 1);
  EXPECT_EQ(made.ok(), same.ok());
  if (made.ok() || same.ok()) return "none";
  EXPECT_EQ(made.error().message, same.error().message);
  EXPECT_EQ(made.error().help, same.error().help);
  EXPECT_EQ(made.error().code, same.error().code);
  return made.error().message;
}

// Goes on until nothing is proposed; every text that was.
std::vector<std::string> search(const tuning::SearchProblem& problem,
                                const FakeEvaluator::Values& value, std::size_t most,
                                std::uint64_t seed = 1) {
  FakeEvaluator evaluator(value);
  FakeRound round(problem, evaluator);
  round.left = most;
  std::vector<std::string> texts;
  auto proposer = tuning::make_proposer("marks", problem, seed);
  EXPECT_TRUE(proposer.ok()) << proposer.error().message;
  while (proposer.ok() && round.left > 0 && round.play(**proposer) > 0) {
    texts.push_back(round.past.last()->proposal.text);
  }
  return texts;
}

TEST(MarkedLineProposer, ChangeNothingElse) {
  const tuning::SearchProblem problem =
      problem_with_marks("a = 4;\t/* groma: one of 4 -8 */\r\nb = 4\nc(x1) # groma: one of x x1");
  const std::vector<std::string> texts = search(
      problem, [](const std::string&) { return 1; }, 100);
  EXPECT_EQ(texts.at(0), problem.start);
  const auto with = [](const char* a, const char* c) {
    return fmt::format("a = {};\t/* groma: one of 4 -8 */\r\nb = 4\nc({}) # groma: one of x x1", a,
                       c);
  };
  EXPECT_EQ(
      std::set<std::string>(texts.begin(), texts.end()),
      (std::set<std::string>{with("4", "x1"), with("4", "x"), with("-8", "x1"), with("-8", "x")}));
  EXPECT_EQ(texts.size(), 4U);
}

// A hundred million texts, of which one is best; each mark's values have a valley.
TEST(MarkedLineProposer, WalkDownhill) {
  std::string text;
  for (int m = 0; m < 8; ++m) {
    text += fmt::format("v{} = 0  # groma: one of 0 1 2 3 4 5 6 7 8 9\n", m);
  }
  const auto value = [](const std::string& tried) {
    double sum = 1;
    for (std::size_t m = 0; m < 8; ++m) {
      const double digit = tried.at(tried.find(fmt::format("v{} = ", m)) + 5) - '0';
      sum += std::abs(digit - static_cast<double>(m));
    }
    return sum;
  };
  double best = 100;
  for (const std::string& tried : search(problem_with_marks(text), value, 300)) {
    best = std::min(best, value(tried));
  }
  EXPECT_EQ(best, 1);
}

// The nearest values of each mark before those further away, and back from what did not help.
TEST(MarkedLineProposer, TryWhatIsNearFirst) {
  const auto texts = search(
      problem_with_marks("3 // groma: one of 1 2 3 4 5"),
      [](const std::string& text) { return text[0] == '3' ? 1 : 2; }, 10);
  std::string values;
  for (const std::string& text : texts) values += text[0];
  EXPECT_EQ(values, "34251");
}

// Of a long search they remember the last texts, no more: the first is then a new one again.
TEST(MarkedLineProposer, RememberTheLast) {
  std::string text;
  for (int m = 0; m < 20; ++m) text += "0 # groma: one of 0 1\n";
  const tuning::SearchProblem problem = problem_with_marks(text);
  FakeEvaluator evaluator([](const std::string&) { return 1; });
  FakeRound round(problem, evaluator);
  const auto proposer = std::move(tuning::make_proposer("marks", problem, 1)).value();
  ASSERT_EQ(round.play(*proposer), 1U);
  const std::string first = proposer->propose(round).at(0).text;
  std::size_t again = 0;
  for (int i = 0; i < 140'000; ++i) {
    if (proposer->propose(round).at(0).text == first) ++again;
  }
  EXPECT_EQ(again, 1U);
}

TEST(MarkedLineProposer, GoOnWhereAllFails) {
  const auto texts = search(
      problem_with_marks("1 // groma: one of 1 2\n1 // groma: one of 1 2 3\n"),
      [](const std::string& text) { return text.starts_with("2") ? 1 : -1; }, 100);
  EXPECT_EQ(texts.size(), 6U);
}

TEST(MarkedLineProposer, SayWhatTheyChange) {
  const tuning::SearchProblem problem = problem_with_marks("\nn = 4;  // groma: one of 4 8\n");
  FakeEvaluator evaluator([](const std::string&) { return 1; });
  FakeRound round(problem, evaluator);
  auto proposer = tuning::make_proposer("marks", problem, 1);
  ASSERT_TRUE(proposer.ok());
  EXPECT_EQ(round.play(**proposer), 1U);
  EXPECT_EQ(round.past.last()->proposal.why, "as it is");
  EXPECT_EQ(round.play(**proposer), 1U);
  EXPECT_EQ(round.past.last()->proposal.why, "line 2: 8 for 4");
  EXPECT_EQ(round.play(**proposer), 0U);
}

TEST(MarkedLineProposer, OfAFileAreRefusedByItsName) {
  tuning::SearchProblem problem = problem_with_marks("int n = 4;\n");
  problem.file = "kernel.cc";
  const auto refusal = [&](const std::string& name) {
    const auto made = tuning::make_proposer(name, problem, 1);
    return made.ok() ? "none" : made.error().message;
  };
  EXPECT_EQ(refusal("trace"), "none");  // a model may change the whole file
  for (const char* name : {"marks", "opentuner"}) {
    problem.start = "int n = 4;\n";
    EXPECT_EQ(refusal(name), "no line of `kernel.cc` has `groma: one of`");
    problem.start = "\nn = 4; // groma: one of 4";
    EXPECT_EQ(refusal(name), "`kernel.cc`: line 2: `groma: one of` has 1 value, not 2 to 64");
    problem.start = "n = 4; // groma: one of 4, 8";
    EXPECT_EQ(refusal("marks"),
              "`kernel.cc`: line 1: spaces, not commas, part the values of `groma: one of`");
    problem.start = "groma: file a.cc\nint n;\ngroma: file b.h\n\nn = 4; // groma: one of 4\n";
    EXPECT_EQ(refusal("marks"), "`kernel.cc`: b.h:2: `groma: one of` has 1 value, not 2 to 64");
    problem.start = "// groma: begin a\n";
    EXPECT_EQ(refusal(name), "kernel.cc:1: `a` has no `groma: end`");
  }
}

TEST(MarkedLineProposer, ThatCannotBeMeantAreRefused) {
  EXPECT_EQ(error_of("int n = 4;\n"), "no line of the text has `groma: one of`");
  EXPECT_EQ(error_of("\nn = 4; // groma: one of 4"),
            "line 2: `groma: one of` has 1 value, not 2 to 64");
  EXPECT_EQ(error_of("n = 4; // groma: one of 8 16"),
            "line 1: none of the values of `groma: one of` stands before it as a word of its own; "
            "spaces part values");
  EXPECT_EQ(error_of("n = 4, m = 8; // groma: one of 4 8"),
            "line 1: 2 of the values of `groma: one of` stand before it, not one");
  EXPECT_EQ(error_of("n4 = 4.5; // groma: one of 4.5 4 n"), "none");
  std::string many;
  for (int i = 0; i < 65; ++i) many += "1 // groma: one of 1 2\n";
  EXPECT_THAT(error_of(many), HasSubstr("line 65: there are more than 64 lines"));
}

// A misspelt mark beside a right one would otherwise be left out of the search.
TEST(MarkedLineProposer, MisspeltMarksAreRefused) {
  const std::string right = "n = 4; // groma: one of 4 8\n";
  for (const char* wrong : {"m = 1; // groma: on of 1 2", "m = 1; // Groma: one of 1 2",
                            "m = 1; // groma one of 1 2", "m = 1; // groma:one of 1 2",
                            "// groma: beginn tile", "// groma: edn", "groma: fiel a.cc"}) {
    EXPECT_EQ(error_of(right + wrong), "`text`: line 2: this looks like a mark, but is not one")
        << wrong;
  }
  for (const char* fine :
       {"// groma ends here", "// see groma: the language", "groma file", "// Groma is a tool",
        "printf(\"groma: error\");", "// groma: one of these", "int groma"}) {
    const std::string error = error_of(right + fine);
    EXPECT_THAT(error, ::testing::Not(HasSubstr("looks like a mark"))) << fine;
  }
}

TEST(MarkedLineProposer, OfTheKernelsAreMeant) {
  for (const char* file :
       {"examples/kernel/cpu/kernel.cc", "examples/kernel/cpu/by_hand.cc",
        "examples/kernel/opencl/matmul.cl", "examples/kernel/opencl/matmul_by_hand.cl",
        "examples/kernel/opencl/stencil.cl", "examples/kernel/opencl/stencil_by_hand.cl"}) {
    const tuning::SearchProblem problem =
        problem_with_marks(testing::read_text(testing::in_tree(file)));
    const auto texts = search(
        problem, [](const std::string&) { return 1; }, 50);
    ASSERT_EQ(texts.size(), 50U);
    for (const std::string& text : texts) {
      EXPECT_TRUE(Segments::of_marked(Source(file, text)).ok());
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
                std::count(problem.start.begin(), problem.start.end(), '\n'));
    }
  }
}

}  // namespace
}  // namespace groma
