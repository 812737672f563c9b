// The proposer `scientist` on kernels of real size: what its prompts have, and the one repair of a
// text that failed. GROMA_UPDATE=1 writes the prompts to tests/data/prompts.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "groma/proposers.h"
#include "support/files.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::FakeRound;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_text;

std::string kernel_file(const std::string& name) {
  return read_text(testing::in_tree("tests/data/kernels/" + name));
}

// The decoder's kernels for several formats, in one file of some 100 kB.
std::string large_kernel() {
  const std::string decoder = kernel_file("decoder.cl");
  std::string all;
  for (const char* format : {"f32", "f16", "bf16", "f64", "f32x2", "f32x4", "tf32"}) {
    all += std::regex_replace(decoder, std::regex("_f32"), fmt::format("_{}", format));
  }
  return all;
}

tuning::SearchProblem decoder_problem(std::string text) {
  tuning::SearchProblem problem;
  problem.start = std::move(text);
  problem.file = "decoder.cl";
  problem.about =
      "OpenCL kernels of one layer of a transformer decoder. A run is matvec_q8_f32 with 2048 rows "
      "and 2048 columns four times, then with 5632 rows and 2048 columns twice, then scores_f32, "
      "softmax_f32 and values_f32 for 1000 tokens; nothing else is timed. The program that "
      "launches "
      "the kernels reads ROWS_f32, LANES_f32 and GROUP_f32 from the file. The names of the "
      "kernels, "
      "their arguments and the layout of the data must stay. Results may differ from those in "
      "double "
      "precision by 1 in 10000.";
  problem.hardware = "device: a CPU by PoCL, 2 cores, vectors of 256 bits, 32 kB L1, 1 MB L2\n";
  problem.knowledge = {{"techniques.md", kernel_file("techniques.md")}};
  return problem;
}

// Refuses texts with `char16` as a compiler does. Otherwise a text is the faster the more often
// `vload16` is in it.
class Compiler : public FakeEvaluator {
 public:
  Compiler()
      : FakeEvaluator([](const std::string& text) {
          if (text.find("char16 low") != text.npos) return -1.0;
          return text.find("vload16") == text.npos ? 0.0125 : 0.0092;
        }) {}
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    tuning::Evaluation evaluation = FakeEvaluator::evaluate(request);
    if (evaluation.ok()) return evaluation;
    evaluation.status = tuning::Evaluation::Status::kRefused;
    GuideFeedback& feedback = evaluation.feedback;
    feedback.execution = "Execution Error: the correctness command ended with exit code 1";
    const std::size_t at = request.text.find("char16 low");
    const auto line = std::count(request.text.begin(),
                                 request.text.begin() + static_cast<std::ptrdiff_t>(at), '\n') +
                      1;
    feedback.last_lines = {
        fmt::format(
            "/tmp/groma-1/decoder.cl:{}:16: error: initializing 'char16' with an expression "
            "of incompatible type 'float16'",
            line),
        "  const char16 low = convert_float16(vload16(0, block->weights));",
        "               ^     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~", "1 error generated."};
    feedback.explain = {"What it printed last may say why."};
    return evaluation;
  }
};

constexpr std::string_view kDesign = R"({"avenues": ["vector loads of weights",
  "several sums", "fuse scores and softmax", "sub-groups instead of local memory",
  "scales apart from weights", "larger groups", "fewer barriers", "native functions",
  "fuse additions with products", "half precision for the cache"], "experiments": [
 {"description": "Read 16 weights at once in block_times_vector", "rubric": "in block_times_vector_f32 replace the loop by vload16, convert_float16 and dot", "gain": [20, 60], "innovation": 40},
 {"description": "One kernel for scores, softmax and values", "rubric": "new kernel attention_f32 with a running maximum", "gain": [5, 30], "innovation": 90},
 {"description": "Native functions", "rubric": "native_exp in softmax_f32 and silu_f32", "gain": [0, 5], "innovation": 5},
 {"description": "Unroll", "rubric": "#pragma unroll in scores_f32", "gain": [0, 10], "innovation": 5},
 {"description": "Several sums in matvec_q8", "rubric": "four sums in the loop of matvec_q8_f32", "gain": [10, 25], "innovation": 20}]})";

constexpr std::string_view kBroken =
    "PLAN: the loads of single weights limit the product; read 16 at once.\n"
    "<<<<<<< SEARCH\n"
    "float block_times_vector_f32(__global const block_q8_f32* block, __global const float* "
    "vector) "
    "{\n  float sum = 0;\n  for (int i = 0; i < 32; ++i) {\n"
    "    sum += (float)block->weights[i] * vector[i];\n  }\n  return block->scale * sum;\n"
    "=======\n"
    "float block_times_vector_f32(__global const block_q8_f32* block, __global const float* "
    "vector) "
    "{\n  const char16 low = convert_float16(vload16(0, block->weights));\n"
    "  const float16 high = convert_float16(vload16(1, block->weights));\n"
    "  const float16 sums = low * vload16(0, vector) + high * vload16(1, vector);\n"
    "  const float8 eight = sums.lo + sums.hi;\n  const float4 four = eight.lo + eight.hi;\n"
    "  return block->scale * (four.x + four.y + four.z + four.w);\n>>>>>>> REPLACE\n";

constexpr std::string_view kRepaired =
    "PLAN: the converted weights are floats.\n<<<<<<< SEARCH\n"
    "  const char16 low = convert_float16(vload16(0, block->weights));\n=======\n"
    "  const float16 low = convert_float16(vload16(0, block->weights));\n>>>>>>> REPLACE\n";

std::string prompt_text(const llm::ChatRequest& request) {
  std::string text;
  for (const llm::ChatMessage& message : request.messages) {
    text += fmt::format("---- {}\n{}",
                        message.role == llm::ChatMessage::Role::kSystem ? "system" : "user",
                        message.text);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

// Answers the designer, then breaks the first experiment, and repairs it.
Result<std::string, llm::ChatError> model(const llm::ChatRequest& request) {
  const std::string text = prompt_text(request);
  if (text.find("\"base\"") != text.npos)
    return std::string(R"({"base": 1, "reference": 1, "reason": "the only one that runs"})");
  if (text.find("\"avenues\"") != text.npos) return std::string(kDesign);
  if (text.find("You repair a text") != text.npos) return std::string(kRepaired);
  if (text.find("EXPERIMENT, to be carried out on the base: Read 16") != text.npos) {
    return std::string(kBroken);
  }
  return std::string("I cannot do that.");
}

// Plays a start, a round whose experiment fails, its repair and the next round. Returns the prompts
// of the designer, of the writer (of the experiment that fails), of the repair and of the last
// designer.
struct Played {
  std::vector<std::string> prompts;
  std::vector<tuning::Step> steps;
  std::string findings;
};
Played play(const std::string& kernel, GuideDetail detail = GuideDetail::kExplain) {
  const tuning::SearchProblem problem = decoder_problem(kernel);
  Compiler evaluator;
  FakeRound round(problem, evaluator);
  round.shown = detail;
  round.left = 20;
  round.model = model;
  auto proposer = tuning::make_proposer("scientist", problem, 1).value();
  tuning::Step start{1, {problem.start, "the start", 0}, evaluator.evaluate({problem.start})};
  round.past.add_start(start);
  proposer->learn(start);
  for (int i = 0; i < 3; ++i) round.play(*proposer);
  Played played;
  for (const llm::ChatRequest& request : round.asked) {
    const std::string text = prompt_text(request);
    const bool is_other_writer =
        text.find("EXPERIMENT, to be") != text.npos && text.find("base: Read 16") == text.npos;
    const bool selects = text.find("\"base\"") != text.npos;
    if (!is_other_writer && !selects) played.prompts.push_back(text);
  }
  played.prompts.resize(std::min<std::size_t>(played.prompts.size(), 4));
  played.steps = round.past.recent();
  played.findings = proposer->findings();
  return played;
}

TEST(ScientistOnKernels, RepairsOnceWhatFailed) {
  const Played played = play(kernel_file("decoder.cl"));
  ASSERT_EQ(played.steps.size(), 3U);
  EXPECT_FALSE(played.steps[1].evaluation.ok());
  EXPECT_TRUE(played.steps[2].evaluation.ok());
  EXPECT_EQ(played.steps[2].proposal.why,
            "repaired: Read 16 weights at once in block_times_vector");
  EXPECT_THAT(played.steps[2].proposal.parents, ElementsAre(2, 1));
  EXPECT_THAT(played.findings,
              AllOf(HasSubstr("\n- \"Read 16 weights at once in block_times_vector\" on #1: it did "
                              "not run.\n  Execution Error: the correctness command ended"),
                    HasSubstr("\n- \"Read 16 weights at once in block_times_vector\", repaired, on "
                              "#1: -26.4 % time.\n")));
  EXPECT_THAT(
      played.prompts[2],
      AllOf(HasSubstr("WHAT WENT WRONG: it was refused: it does not build"),
            HasSubstr("error: initializing 'char16' with an expression"),
            HasSubstr("+  const char16 low = convert_float16("), Not(HasSubstr("/tmp/groma"))));
}

TEST(ScientistOnKernels, ATextThatCannotBeRepairedCostsOneQuestion) {
  const tuning::SearchProblem problem = decoder_problem(kernel_file("decoder.cl"));
  Compiler evaluator;
  FakeRound round(problem, evaluator);
  round.left = 20;
  round.model = [](const llm::ChatRequest& request) -> Result<std::string, llm::ChatError> {
    if (prompt_text(request).find("You repair a text") != std::string::npos) {
      return std::string(
          "PLAN: still wrong.\n<<<<<<< SEARCH\n  const float4 four = eight.lo + eight.hi;\n"
          "=======\n  const float4 four = eight.hi + eight.lo;\n>>>>>>> REPLACE\n");
    }
    return model(request);
  };
  auto proposer = tuning::make_proposer("scientist", problem, 1).value();
  std::size_t repairs = 0;
  for (int i = 0; i < 3; ++i) round.play(*proposer);
  for (const llm::ChatRequest& request : round.asked) {
    if (prompt_text(request).find("You repair a text") != std::string::npos) ++repairs;
  }
  EXPECT_EQ(repairs, 1U);
  EXPECT_THAT(proposer->findings(), HasSubstr(", repaired, on #0: it did not run.\n"));
}

// Without feedback about failures nobody could say what is to be repaired.
TEST(ScientistOnKernels, RepairsNothingWithoutFeedback) {
  const Played played = play(kernel_file("decoder.cl"), GuideDetail::kNone);
  for (const std::string& prompt : played.prompts) {
    EXPECT_THAT(prompt, Not(HasSubstr("You repair a text")));
    EXPECT_THAT(prompt, Not(HasSubstr("char16' with")));
  }
}

// A prompt of a text that is too long shows the parts that the question is about.
TEST(ScientistOnKernels, PromptsOfALargeFileShowWhatIsChanged) {
  const std::string large = large_kernel();
  EXPECT_GT(large.size(), 100'000U);
  const Played played = play(large);
  ASSERT_EQ(played.prompts.size(), 4U);
  for (const std::string& prompt : played.prompts) {
    EXPECT_LE(prompt.size(), tuning::AskOptions().prompt_bytes + 100);
    EXPECT_THAT(prompt, AllOf(HasSubstr("These are parts of "), HasSubstr(" are left out: "),
                              HasSubstr("THE MACHINE, as a command on it printed\n"),
                              HasSubstr("KNOWLEDGE, quoted from documents. ")));
  }
  // The writer, and the one who repairs, see the function that the experiment names.
  EXPECT_THAT(played.prompts[1], HasSubstr("float block_times_vector_f32(__global const"));
  EXPECT_THAT(played.prompts[2], HasSubstr("  const char16 low = convert_float16("));
  EXPECT_THAT(played.prompts[3],
              AllOf(HasSubstr("FINDINGS of earlier experiments\n"), HasSubstr("\n- \"Read 16")));
  EXPECT_TRUE(played.steps.back().evaluation.ok());
}

TEST(ScientistOnKernels, PromptsFitTheSmallestLimit) {
  const tuning::SearchProblem problem = decoder_problem(large_kernel());
  Compiler evaluator;
  FakeRound round(problem, evaluator);
  round.model = model;
  tuning::AskOptions options;
  options.prompt_bytes = 6'000;
  auto proposer = tuning::make_proposer("scientist", problem, 1, options).value();
  for (int i = 0; i < 3; ++i) round.play(*proposer);
  for (const llm::ChatRequest& request : round.asked) {
    EXPECT_LE(prompt_text(request).size(), 6'100U) << prompt_text(request).substr(0, 500);
  }
}

class KernelPrompts : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelPrompts, AreAsTheFilesHaveThem) {
  const Played played =
      play(GetParam() == "kernel_15kB" ? kernel_file("decoder.cl") : large_kernel());
  std::string text;
  for (std::size_t i = 0; i < played.prompts.size(); ++i) {
    constexpr std::string_view kTitles[] = {"designer", "writer", "repair", "designer again"};
    ASSERT_LT(i, std::size(kTitles));
    text += fmt::format("======== {}\n{}", kTitles[i], played.prompts[i]);
  }
  const auto path = testing::in_tree("tests/data/prompts/" + GetParam() + ".txt");
  if (testing::updating()) std::ofstream(path, std::ios::binary) << text;
  EXPECT_TRUE(read_text(path) == text) << "GROMA_UPDATE=1 writes " << path;
}

INSTANTIATE_TEST_SUITE_P(OfTwoSizes, KernelPrompts,
                         ::testing::Values("kernel_15kB", "kernel_100kB"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace groma
