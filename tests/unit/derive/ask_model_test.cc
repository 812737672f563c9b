// ask_for_map(): what the model is asked, which replies are read, and how mistakes are repaired.
// Scripts answer in place of a model.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groma/domain_derivation.h"
#include "support/scripted_model.h"

namespace groma::domains {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedModel;

const std::string kTriangle =
    "k => let y = root(m => m * (m + 1) / 2, k) in (k - y * (y + 1) / 2, y)";
const std::string kRows = "k => (k % 4, k / 4)";

// Returns the text in a fenced block.
std::string block(const std::string& text) { return testing::fenced(text + "\n"); }

Samples triangle_samples() {
  Samples samples{{"x", "y"}, {}};
  for (std::int64_t y = 0; samples.points.size() < 20; ++y) {
    for (std::int64_t x = 0; x <= y && samples.points.size() < 20; ++x) {
      samples.points.push_back({x, y});
    }
  }
  return samples;
}

ModelAnswer ask(const ScriptedModel& model, const ModelOptions& options = {}) {
  llm::ChatClient client = model.client();
  return ask_for_map(client, triangle_samples(), options);
}

TEST(AskForMap, TakesARightAnswerAtOnce) {
  const ScriptedModel model({"The rows grow.\n\n" + block(kTriangle)});
  const ModelAnswer answer = ask(model);
  EXPECT_EQ(answer.text, kTriangle);
  EXPECT_EQ(answer.rounds, 1);
  EXPECT_GT(answer.usage.output_tokens, 0);
  EXPECT_EQ(answer.point(5050), Point({0, 100}));
  EXPECT_THAT(model.question(0),
              AllOf(HasSubstr("These are the first 20 points, k -> (x, y):"),
                    HasSubstr("\n7 -> (1, 3)\n"), HasSubstr("Do not list the points themselves"),
                    HasSubstr("root(m => f, a)"), Not(HasSubstr("20 -> "))));
}

TEST(AskForMap, ReadsFormsThatModelsUse) {
  for (const std::string& reply :
       {std::string(kTriangle), "```text\n" + kTriangle + ";\n```", "  by " + kTriangle + "\n",
        std::string("```\nk =>\n  let y = root(m => m * (m + 1) / 2, k) in\n  (k - y * (y + 1) / "
                    "2, y)\n```")}) {
    const ScriptedModel model({reply});
    const ModelAnswer answer = ask(model);
    ASSERT_TRUE(answer.point) << reply << answer.refusal;
    EXPECT_EQ(answer.point(7), Point({1, 3}));
  }
}

TEST(AskForMap, TellsTheModelWhatIsWrong) {
  const ScriptedModel model({block(kRows), block("k => (k % 4, q)"), block(kTriangle)});
  const ModelAnswer answer = ask(model);
  EXPECT_EQ(answer.rounds, 3);
  EXPECT_EQ(answer.text, kTriangle);
  EXPECT_THAT(model.question(1), AllOf(HasSubstr("points wrong:\nk = 1 gives (1, 0), and must give "
                                                 "(0, 1)"),
                                       HasSubstr("assistant: ```\n" + kRows)));
  EXPECT_THAT(model.question(2), AllOf(HasSubstr("Your answer has mistakes:\nanswer:1:"),
                                       HasSubstr("[unknown-name]"), Not(HasSubstr(kRows))));
}

TEST(AskForMap, KeepsTheBestWrongAnswer) {
  const ScriptedModel model({block(kRows), block("k => (0, 0)"), block("not a map")});
  const ModelAnswer answer = ask(model);
  EXPECT_EQ(answer.rounds, 3);
  EXPECT_EQ(answer.text, kRows);
  EXPECT_EQ(answer.refusal, "");
}

TEST(AskForMap, RefusesNonsense) {
  std::string deep = "k => ";
  for (int i = 0; i < 400; ++i) deep += "(";
  std::string table = "k => [";
  for (int i = 0; i < 200; ++i) table += fmt::format("({}, {}), ", i, i);
  for (const std::string& nonsense :
       {std::string("I cannot help with that."), std::string("```\n```"), std::string("{}"),
        block("def map_to_coordinates(n):\n    return n, n"), block("k => system(\"ls\")"),
        block("k => k"), block("k => (k, k, k)"), block("domain d = x in loops x < 9;"),
        block(kTriangle) + block(kTriangle), deep, table + "(0, 0)][k]",
        std::string("k => (k, \x01\xff)"), block("k => while (1) {}"),
        block("k => (99999999999999999999, k)")}) {
    const ScriptedModel model({nonsense, nonsense, nonsense});
    const ModelAnswer answer = ask(model);
    EXPECT_FALSE(answer.point) << nonsense;
    EXPECT_EQ(answer.text, "") << nonsense;
    EXPECT_THAT(answer.refusal, HasSubstr("the model gave no usable answer")) << nonsense;
    EXPECT_EQ(answer.rounds, 3);
  }
}

TEST(AskForMap, EndlessTextIsBounded) {
  for (const auto& [bytes, why] :
       {std::pair(std::size_t{1} << 20, "it was cut off at the limit of tokens"),
        {std::size_t{1} << 11, "at most 1000 are allowed"}}) {
    const ScriptedModel model({std::string(bytes, 'k')});
    const ModelAnswer answer = ask(model, {.repairs = 1});
    EXPECT_FALSE(answer.point);
    EXPECT_THAT(model.question(1), HasSubstr(why));
    EXPECT_LT(model.question(1).size(), std::size_t{20000});
  }
}

TEST(AskForMap, AnswersWithoutAnEndUseUpTheirSteps) {
  const ScriptedModel model(
      {block("k => fold(k + 1, 2, 64, (0, 0), (v, q, i) => fold(k + 1, 2, 64, v, (w, p, j) => "
             "fold(k + 1, 2, 64, w, (u, o, l) => fold(k + 1, 2, 64, u, (t, n, m) => t + 1))))")});
  const ModelAnswer answer = ask(model, {.repairs = 0});
  ASSERT_TRUE(answer.point);
  const auto truth = [](std::int64_t k) { return std::optional(Point({k, k})); };
  const Grade grade = grade_answer(answer.point, truth, 50);
  EXPECT_EQ(grade.in_order, 0);
}

TEST(AskForMap, ReportsAFailedCall) {
  llm::ChatOptions options;
  options.endpoint = "exec:exit 3";
  options.attempts = 1;
  llm::ChatClient client = llm::ChatClient::make(options).value();
  const ModelAnswer answer = ask_for_map(client, triangle_samples());
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, llm::ChatError::Code::kServer);
  EXPECT_FALSE(answer.point);
}

}  // namespace
}  // namespace groma::domains
