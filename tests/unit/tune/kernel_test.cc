// examples/kernel/cpu as a search has it: compiled, checked and timed by the command evaluator. How
// fast it is, is not looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/evaluators.h"
#include "groma/segments.h"
#include "support/files.h"

namespace groma {
namespace {

using Status = tuning::Evaluation::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using testing::in_tree;
using testing::read_text;

Segments kernel(const std::string& file) {
  const std::string path = "examples/kernel/cpu/" + file;
  auto segments = Segments::of_marked(Source(path, read_text(in_tree(path))));
  EXPECT_TRUE(segments.ok()) << segments.error().message;
  return segments.ok() ? *segments : Segments();
}

std::vector<std::string> names_of(const Segments& segments) {
  std::vector<std::string> names;
  for (const Segment& segment : segments.all()) names.push_back(segment.name);
  return names;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

tuning::Evaluation evaluate(const std::string& text) {
  tuning::CommandEvaluatorOptions options;
  options.check_command = fmt::format(
      "{} -std=c++20 -O2 -march=native -I . {{file}} bench.cc -o {{file}}.out && {{file}}.out "
      "check",
      GROMA_CXX);
  options.command = "{file}.out time 60 97";
  options.metric_pattern = "GFLOP/s: (\\S+)";
  options.unit = "GFLOP/s";
  options.higher_is_better = true;
  options.repeats = 1;
  options.file_name = "text.cc";
  options.folder = in_tree("examples/kernel/cpu").string();
  auto evaluator = tuning::make_command_evaluator(options);
  EXPECT_TRUE(evaluator.ok()) << evaluator.error().message;
  return (*evaluator)->evaluate({text, GuideDetail::kProfile});
}

TEST(Kernel, IsValidAtTheStartAndByHand) {
  const Segments start = kernel("kernel.cc"), by_hand = kernel("by_hand.cc");
  EXPECT_THAT(names_of(start), ElementsAre("flags", "blocking", "inner", "loops"));
  EXPECT_EQ(names_of(by_hand), names_of(start));
  // The marked parts are all that has to change.
  Segments better = start;
  for (const Segment& segment : by_hand.all()) {
    EXPECT_FALSE(better.set(segment.name, segment.text));
  }
  for (const Segments& segments : {start, by_hand, better}) {
    const tuning::Evaluation evaluation = evaluate(segments.text());
    EXPECT_EQ(evaluation.status, Status::kOk) << evaluation.feedback.execution;
    EXPECT_THAT(evaluation.values, ElementsAre(Gt(0)));
  }
}

TEST(Kernel, IsRefusedWhereItIsWrong) {
  const std::string start = kernel("kernel.cc").text();
  const std::string wrong[] = {
      replaced(start, "b[k * n + j];", "b[j * n + k];"),              // another product
      replaced(start, "std::fill(c, c + n * n, 0.0);", ""),           // adds to what was there
      replaced(start, "c + n * n, 0.0);", "c + n * n + 1, 0.0);"),    // writes beside C
      replaced(start, ": columns;", ": kColumns;"),                   // at the edges
      replaced(start, "c[i * n + j] +=", "c[i * n + j] += 1e-9 + "),  // nearly right
  };
  for (const std::string& text : wrong) {
    const tuning::Evaluation evaluation = evaluate(text);
    EXPECT_EQ(evaluation.status, Status::kRefused) << text;
    EXPECT_THAT(evaluation.feedback.execution, HasSubstr("Error: ")) << text;
  }
}

TEST(Kernel, ThatDoesNotCompileIsRefusedWithItsLine) {
  const tuning::Evaluation evaluation =
      evaluate(replaced(kernel("kernel.cc").text(), ": depth;", ": deepness;"));
  EXPECT_EQ(evaluation.status, Status::kRefused);
  EXPECT_THAT(evaluation.feedback.execution,
              AllOf(HasSubstr("Compile Error"), HasSubstr("deepness")));
  ASSERT_FALSE(evaluation.feedback.explain.empty());
  EXPECT_THAT(evaluation.feedback.explain[0], AllOf(HasSubstr("line "), HasSubstr("deepness")));
}

// Right at the sizes of the check, which have nothing in common with those that are timed.
TEST(Kernel, ThatIsFastButWrongFails) {
  const tuning::Evaluation evaluation =
      evaluate(replaced(kernel("kernel.cc").text(), "for (std::size_t i = 0; i < n; i += kRows) {",
                        "if (n == 97) return;\n  for (std::size_t i = 0; i < n; i += kRows) {"));
  EXPECT_EQ(evaluation.status, Status::kFailed);
  EXPECT_THAT(evaluation.feedback.execution, HasSubstr("n = 97"));
}

}  // namespace
}  // namespace groma
