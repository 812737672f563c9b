// The prompts of `trace` for all nine benchmarks, three steps deep, as files that a person can
// read: tests/data/prompts. GROMA_UPDATE=1 writes them anew. The figures in the files are
// simulated, and are not compared: a change of the model's constants needs no new files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "model/prompt.h"
#include "support/files.h"
#include "support/tune_round.h"

namespace groma::tuning {
namespace {

using testing::FakeRound;

// The replies of the model: a mapping that is slower, and one that cannot run.
constexpr std::string_view kSlower =
    R"({"reasoning": "r", "change": "all data of GPUs in host memory",
        "suggestion": {"region": "Region * * GPU ZCMEM;"}})";
constexpr std::string_view kOutOfRange =
    R"({"reasoning": "r", "change": "points to the processors of their number",
        "suggestion": {"index": "m = Machine(GPU);\ndef f(Task task) { return m[0, task.ipoint[0] + 100]; }\nIndexTaskMap GPU f;"}})";

// Returns the prompt, without the reference card, which is the same in all prompts.
std::string readable(const llm::ChatRequest& request) {
  std::string text;
  for (const llm::ChatMessage& message : request.messages) {
    text += fmt::format("---- {}\n{}",
                        message.role == llm::ChatMessage::Role::kSystem ? "system" : "user",
                        message.text);
    if (!text.ends_with('\n')) text += '\n';
  }
  for (const LanguageCardPart& part : language_card()) {
    const std::size_t at = text.find(part.text);
    if (at != text.npos) text.erase(at, part.text.size());
  }
  return text;
}

// Returns the text with `0` for each number.
std::string without_figures(std::string_view text) {
  std::string without;
  for (const char c : text) {
    const bool is_figure = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (!is_figure || without.empty() || without.back() != '0') without += is_figure ? '0' : c;
  }
  return without;
}

class GoldenPrompts : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPrompts, AreAsTheFilesHaveThem) {
  SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("lassen:nodes=4").value());
  problem.inputs.push_back(
      Workload::make(find_benchmark(GetParam())->make(), {{"nodes", 4}}).value());
  const auto evaluator =
      make_simulated_evaluator(problem.machine, problem.inputs, SimulateOptions());
  FakeRound round(problem, *evaluator);
  const auto proposer = make_proposer("trace", problem, 1, {}).value();
  round.past.add({1,
                  {problem.start, "the start", 0},
                  evaluator->evaluate({problem.start, GuideDetail::kProfile})});
  std::string text;
  for (const std::string_view reply : {kSlower, kOutOfRange, std::string_view("TERMINATE")}) {
    round.model = [&](const llm::ChatRequest&) { return std::string(reply); };
    round.play(*proposer);
    text += fmt::format("======== prompt {}\n{}", round.asked.size(), readable(round.asked.back()));
  }
  ASSERT_EQ(round.asked.size(), 3U);
  const auto path = testing::in_tree("tests/data/prompts/" + GetParam() + ".txt");
  if (testing::updating()) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(without_figures(testing::read_text(path)), without_figures(text))
      << "GROMA_UPDATE=1 writes " << path;
}

INSTANTIATE_TEST_SUITE_P(OfEachBenchmark, GoldenPrompts,
                         ::testing::Values("circuit", "stencil", "pennant", "cannon", "summa",
                                           "pumma", "johnson", "solomonik", "cosma"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace groma::tuning
