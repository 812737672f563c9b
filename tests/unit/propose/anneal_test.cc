// anneal finds an optimum that is known, and makes do with a small budget.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "groma/benchmarks.h"
#include "groma/proposers.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using testing::FakeEvaluator;
using testing::FakeRound;

tuning::SearchProblem stencil() {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  return problem;
}

// Ten decisions, two of which are worth something together only.
double loss(const std::string& text) {
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  double score = 1;
  for (const char* words : {"Task increment CPU;", "Region * private GPU ZCMEM;", " AOS", "F_order",
                            "InstanceLimit stencil 4;", "IndexTaskMap stencil first_block_",
                            "CollectMemory check *;", "ControlReplicate *;", "Compact"}) {
    if (!says(words)) score += 0.25;
  }
  const bool in = says("Region * pxm_in GPU ZCMEM;"), out = says("Region * pxm_out GPU ZCMEM;");
  return score + (in && out ? 0 : 0.5);
}

TEST(Anneal, FindsTheOptimum) {
  const tuning::SearchProblem problem = stencil();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    FakeEvaluator evaluator(loss);
    FakeRound round(problem, evaluator);
    round.left = 10'000;
    auto anneal = tuning::make_proposer("anneal", problem, seed);
    std::set<std::string> texts;
    while (round.left > 0) {
      const std::size_t count = round.play(**anneal);
      ASSERT_GT(count, 0U);
      const std::vector<tuning::Step>& recent = round.past.recent();
      for (std::size_t i = recent.size() - count; i < recent.size(); ++i) {
        EXPECT_TRUE(texts.insert(recent[i].proposal.text).second);
      }
    }
    EXPECT_EQ(round.past.best()->evaluation.score, 1) << "seed " << seed;
  }
}

TEST(Anneal, IsNoWorseThanWhereItBegins) {
  const tuning::SearchProblem problem = stencil();
  FakeEvaluator evaluator(loss);
  FakeRound round(problem, evaluator);
  auto anneal = tuning::make_proposer("anneal", problem, 1);
  while (round.left > 0) EXPECT_EQ(round.play(**anneal), 1U);
  EXPECT_EQ(round.past.recent().front().evaluation.score, 3.75);
  EXPECT_LE(round.past.best()->evaluation.score, 3.75);
}

TEST(Anneal, DrawsUntilSomethingRuns) {
  const tuning::SearchProblem problem = stencil();
  FakeEvaluator evaluator([](const std::string& text) {
    return text.find("Task stencil GPU") == std::string::npos ? -1 : loss(text);
  });
  FakeRound round(problem, evaluator);
  round.left = 1000;
  auto anneal = tuning::make_proposer("anneal", problem, 1);
  while (round.left > 0) ASSERT_GT(round.play(**anneal), 0U);
  ASSERT_NE(round.past.best(), nullptr);
  EXPECT_LT(round.past.best()->evaluation.score, 2);
}

}  // namespace
}  // namespace groma
