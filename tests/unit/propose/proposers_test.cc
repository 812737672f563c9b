// The list of proposers, what all of them hold to, and the random one.
#include "groma/proposers.h"

#include <gmock/gmock.h>

#include <set>

#include "groma/benchmarks.h"
#include "search/recent.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using testing::FakeEvaluator;
using testing::FakeRound;

// For every proposer.
tuning::SearchProblem limit_problem() {
  tuning::SearchProblem problem;
  problem.start = "InstanceLimit * 4;  # groma: one of 1 2 4 8 16\n";
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  return problem;
}

std::vector<std::string> texts_of(const std::string& name, std::uint64_t seed,
                                  std::size_t budget = 10) {
  const tuning::SearchProblem problem = limit_problem();
  FakeEvaluator evaluator(
      [](const std::string& text) { return 1.0 + static_cast<double>(text.size() % 7); });
  FakeRound round(problem, evaluator);
  round.left = budget;
  auto proposer = tuning::make_proposer(name, problem, seed);
  EXPECT_TRUE(proposer.ok()) << name;
  while (round.left > 0 && round.play(**proposer) > 0) {
  }
  std::vector<std::string> texts;
  for (const tuning::Step& step : round.past.recent()) texts.push_back(step.proposal.text);
  return texts;
}

TEST(Proposers, AreFoundByName) {
  const tuning::SearchProblem problem = limit_problem();
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    const auto made = tuning::make_proposer(info.name, problem, 1);
    ASSERT_TRUE(made.ok()) << info.name;
    EXPECT_EQ((*made)->name(), info.name);
  }
  const auto none = tuning::make_proposer("gess", problem, 1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "no proposer is named `gess`");
  tuning::SearchProblem kernel;
  kernel.start = "int main() {}\n";
  EXPECT_FALSE(tuning::make_proposer("random", kernel, 1).ok());
  // The texts for which mappings_only is false need marks, unless a model changes them.
  kernel.start = "n 4  // groma: one of 2 4 8\n";
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    EXPECT_EQ(tuning::make_proposer(info.name, kernel, 1).ok(), !info.mappings_only) << info.name;
  }
}

TEST(Proposers, ThatAskNoModelDependOnTheSeedAlone) {
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    if (info.asks_model) continue;
    const auto texts = texts_of(std::string(info.name), 3);
    EXPECT_FALSE(texts.empty()) << info.name;
    EXPECT_EQ(texts, texts_of(std::string(info.name), 3)) << info.name;
  }
  EXPECT_NE(texts_of("random", 3), texts_of("random", 4));
}

// So that a search can be resumed with a larger budget.
TEST(Proposers, ThatAskNoModelBeginAlikeWhateverTheBudget) {
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    if (info.asks_model) continue;
    std::vector<std::string> more = texts_of(std::string(info.name), 3, 50);
    const std::vector<std::string> few = texts_of(std::string(info.name), 3);
    ASSERT_GE(more.size(), few.size()) << info.name;
    more.resize(few.size());
    EXPECT_EQ(few, more) << info.name;
  }
}

TEST(History, KeepsTheBestFirstAndAFailureOfEachKind) {
  tuning::History history;
  const auto step = [](std::int64_t number, std::string text, double value) {
    tuning::Step made;
    made.number = number;
    made.proposal.text = std::move(text);
    if (value < 0) {
      made.evaluation.feedback.execution = "out of memory";
    } else {
      made.evaluation.status = tuning::Evaluation::Status::kOk;
      made.evaluation.values = {value};
      made.evaluation.score = value;
    }
    return made;
  };
  EXPECT_EQ(history.best(), nullptr);
  EXPECT_EQ(history.last(), nullptr);
  history.add(step(1, "a", 3));
  history.add(step(2, "b", 2));
  history.add(step(3, "c", -1));
  history.add(step(4, "d", -1));
  history.add(step(5, "b", 2));
  ASSERT_EQ(history.best_first().size(), 2U);
  EXPECT_EQ(history.best()->proposal.text, "b");
  EXPECT_EQ(history.last()->number, 5);
  ASSERT_EQ(history.failures().size(), 1U);
  EXPECT_EQ(history.failures().front().number, 4);
  EXPECT_FALSE(history.recent()[0].best_before);
  EXPECT_TRUE(history.recent()[0].was_best && history.recent()[1].was_best);
  EXPECT_FALSE(history.recent()[2].was_best || history.recent()[4].was_best);
  EXPECT_EQ(history.recent()[1].best_before.value().number, 1);
  EXPECT_EQ(history.recent()[4].best_before.value().number, 2);
  EXPECT_EQ(history.recent()[4].best_before.value().score, 2);
  for (int i = 0; i < 1000; ++i) history.add(step(6 + i, std::to_string(i), 10 + i));
  EXPECT_EQ(history.best_first().size(), tuning::History::kKept);
  EXPECT_EQ(history.recent().size(), tuning::History::kKept);
  EXPECT_EQ(history.best()->proposal.text, "b");
}

// What is better by no more than its noise stands behind the best, whatever the best's own noise
// is.
TEST(History, GoesOnFromWhatIsBetterByMoreThanNoise) {
  tuning::History history;
  const auto add = [&](std::string text, double score, double noise) {
    tuning::Step step;
    step.proposal.text = std::move(text);
    step.evaluation.status = tuning::Evaluation::Status::kOk;
    step.evaluation.score = score;
    step.evaluation.noise = noise;
    history.add(step);
    std::string all;
    for (const tuning::Step& each : history.best_first()) all += each.proposal.text;
    return all;
  };
  EXPECT_EQ(add("a", 20, 0.5), "a");
  EXPECT_EQ(add("b", 19, 0.1), "ab");
  EXPECT_EQ(add("c", 21, 0), "abc");
  EXPECT_EQ(add("d", 18, 0.01), "dbac");  // though the first one's noise is larger
  EXPECT_EQ(add("e", 17.9, 0.1), "debac");
  EXPECT_EQ(add("f", 17.95, 0.1), "defbac");
  EXPECT_EQ(history.best()->proposal.text, "d");
}

// Of a million results no more are kept than of some.
TEST(Recent, KeepsTheLast) {
  tuning::RecentMap<int> recent(100);
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(recent.add(i, 1));
    EXPECT_FALSE(recent.add(i, 2));
    std::size_t kept = 0;
    for (std::uint64_t key = 0; key <= i; ++key) {
      if (recent.find(key) == nullptr) continue;
      EXPECT_EQ(*recent.find(key), 1);
      EXPECT_GT(key + 100, i);
      ++kept;
    }
    EXPECT_EQ(kept, std::min<std::uint64_t>(i + 1, 100));
  }
}

// A key that was removed and added again is as new as any other.
TEST(Recent, ARemovedKeyLeavesNoTrace) {
  tuning::RecentMap<int> recent(3);
  for (std::uint64_t i = 0; i < 5; ++i) recent.add(i, 1);
  recent.erase(3);
  recent.erase(7);
  recent.add(3, 2);  // behind 2 and 4
  recent.add(5, 1);
  EXPECT_EQ(recent.find(2), nullptr);
  recent.add(6, 1);
  EXPECT_EQ(recent.find(4), nullptr);
  ASSERT_NE(recent.find(3), nullptr);
  EXPECT_EQ(*recent.find(3), 2);
}

}  // namespace
}  // namespace groma
