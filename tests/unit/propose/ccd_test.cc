// ccd finds optima that are known, one decision after the other and several that belong together.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/data.h"
#include "groma/benchmarks.h"
#include "groma/proposers.h"
#include "space/collections.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using testing::FakeEvaluator;
using testing::FakeRound;

tuning::SearchProblem problem_of(const std::string& benchmark) {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark(benchmark)->make()).value());
  return problem;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// Whether the region is put into zero-copy memory, for any kind of processor.
bool in_zero_copy(const std::string& text, const std::string& region) {
  return says(text, "Region * " + region + " GPU ZCMEM;") ||
         says(text, "Region * " + region + " OMP ZCMEM;") ||
         says(text, "Region * " + region + " CPU ZCMEM;");
}

// Goes on until the proposer has nothing more.
std::vector<std::string> exhaust(FakeRound& round, tuning::Proposer& proposer) {
  round.left = 1'000'000;
  std::vector<std::string> texts;
  while (true) {
    const std::size_t count = round.play(proposer);
    if (count == 0) return texts;
    const std::vector<tuning::Step>& recent = round.past.recent();
    for (std::size_t i = recent.size() - count; i < recent.size(); ++i) {
      texts.push_back(recent[i].proposal.text);
    }
  }
}

TEST(Collections, KnowSizesAndWhatOverlaps) {
  const tuning::SearchProblem problem = problem_of("circuit");
  const tuning::Collections found = tuning::collections_of(problem.inputs.front());
  std::map<std::string, std::uint32_t> numbers;
  for (std::uint32_t c = 0; c < found.all.size(); ++c) {
    numbers[found.all[c].names.front()] = c;
  }
  const auto overlap = [&](const std::string& a, const std::string& b) {
    for (const tuning::CollectionOverlap& each : found.overlaps) {
      if (std::minmax(numbers[a], numbers[b]) == std::minmax(each.a, each.b)) {
        return each.bytes;
      }
    }
    return 0.0;
  };
  // Nodes that pieces share are what ghosts are; private ones are nobody else's.
  EXPECT_EQ(overlap("rp_shared", "rp_ghost"), found.all[numbers["rp_ghost"]].bytes);
  EXPECT_EQ(overlap("rp_private", "rp_shared"), 0);
  EXPECT_EQ(overlap("rp_private", "rp_wires"), 0);
  EXPECT_EQ(overlap("rp_wires", "rp_wires"), found.all[numbers["rp_wires"]].bytes);
  EXPECT_TRUE(std::is_sorted(found.overlaps.begin(), found.overlaps.end(),
                             [](const auto& a, const auto& b) { return a.bytes < b.bytes; }));

  const app::Data& data = problem.inputs.front().data();
  const int charge = data.find_task("distribute_charge");
  ASSERT_GE(charge, 0);
  std::vector<std::string> arguments;
  for (std::uint32_t argument : found.arguments_of_task[static_cast<std::size_t>(charge)]) {
    arguments.push_back(found.all[argument].names.front());
  }
  EXPECT_THAT(arguments, ::testing::ElementsAre("rp_wires", "rp_private", "rp_shared", "rp_ghost"));
}

TEST(Ccd, FindsTheOptimumOfDecisionsThatDoNotMeet) {
  const tuning::SearchProblem problem = problem_of("stencil");
  const std::map<std::string, double> wanted = {{"Task increment CPU;", 1},
                                                {"Region * private GPU ZCMEM;", 2},
                                                {" AOS", 0.5},
                                                {"F_order", 0.5},
                                                {"InstanceLimit stencil 4;", 0.25},
                                                {"IndexTaskMap stencil first_block_", 3},
                                                {"CollectMemory check *;", 0.125}};
  FakeEvaluator evaluator([&](const std::string& text) {
    double score = 1;
    for (const auto& [words, loss] : wanted) score += says(text, words) ? 0 : loss;
    return score;
  });
  FakeRound round(problem, evaluator);
  auto ccd = tuning::make_proposer("ccd", problem, 1);
  const std::vector<std::string> texts = exhaust(round, **ccd);
  EXPECT_EQ(round.past.best()->evaluation.score, 1) << round.past.best()->proposal.text;
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
}

TEST(Ccd, MovesTogetherWhatSharesData) {
  const tuning::SearchProblem problem = problem_of("stencil");
  FakeEvaluator evaluator([](const std::string& text) {
    const bool in = in_zero_copy(text, "pxm_in");
    const bool out = in_zero_copy(text, "pxm_out");
    return in && out ? 1.0 : in || out ? 5.0 : 2.0;
  });
  FakeRound round(problem, evaluator);
  auto ccd = tuning::make_proposer("ccd", problem, 1);
  exhaust(round, **ccd);
  EXPECT_EQ(round.past.best()->evaluation.score, 1);
}

TEST(Ccd, MovesTasksToWhereTheyReachTheirData) {
  const tuning::SearchProblem problem = problem_of("stencil");
  // To the CPU one by one, back to the GPU both at once: as they must when what both use goes to
  // frame buffers.
  FakeEvaluator evaluator([](const std::string& text) {
    const bool stencil = says(text, "Task stencil CPU;"),
               increment = says(text, "Task increment CPU;");
    if (stencil && increment) return 3.0;
    const bool back = says(text, "Task stencil GPU;") && says(text, "Task increment GPU;");
    return back ? 1.0 : stencil || increment ? 4.0 : 5.0;
  });
  FakeRound round(problem, evaluator);
  auto ccd = tuning::make_proposer("ccd", problem, 1);
  exhaust(round, **ccd);
  EXPECT_EQ(round.past.best()->evaluation.score, 1);
}

TEST(Ccd, MovesApartInTheEnd) {
  const tuning::SearchProblem problem = problem_of("stencil");
  FakeEvaluator evaluator([](const std::string& text) {
    const bool in = in_zero_copy(text, "pxm_in");
    const bool out = in_zero_copy(text, "pxm_out");
    return in && out ? 5.0 : in ? 1.0 : 2.0;
  });
  FakeRound round(problem, evaluator);
  auto ccd = tuning::make_proposer("ccd", problem, 1);
  exhaust(round, **ccd);
  EXPECT_EQ(round.past.best()->evaluation.score, 1);
  // The first rotation moves both or none.
  EXPECT_FALSE(says(round.past.best()->proposal.why, "rotation 1"));
}

TEST(Ccd, BeginsWithTheTaskThatTookLongest) {
  const tuning::SearchProblem problem = problem_of("stencil");
  class Profiled : public FakeEvaluator {
   public:
    using FakeEvaluator::FakeEvaluator;
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = FakeEvaluator::evaluate(request);
      evaluation.feedback.profile.emplace();
      evaluation.feedback.profile->by_task = {{"increment", "GPU", 0.7}, {"stencil", "GPU", 0.3}};
      return evaluation;
    }
  };
  for (const bool profiled : {false, true}) {
    Profiled with([](const std::string&) { return 1.0; });
    FakeEvaluator without([](const std::string&) { return 1.0; });
    FakeRound round(problem, profiled ? static_cast<tuning::Evaluator&>(with) : without);
    auto ccd = tuning::make_proposer("ccd", problem, 1);
    EXPECT_EQ(round.play(**ccd), 1U);
    EXPECT_GT(round.play(**ccd), 0U);
    EXPECT_TRUE(says(round.past.last()->proposal.why,
                     profiled ? "rotation 1: increment on" : "rotation 1: stencil on"))
        << round.past.last()->proposal.why;
  }
}

TEST(Ccd, GoesOnWhereTheBeginningFails) {
  const tuning::SearchProblem problem = problem_of("stencil");
  FakeEvaluator evaluator(
      [](const std::string& text) { return says(text, "Task stencil CPU;") ? 1.0 : -1.0; });
  FakeRound round(problem, evaluator);
  auto ccd = tuning::make_proposer("ccd", problem, 1);
  exhaust(round, **ccd);
  ASSERT_NE(round.past.best(), nullptr);
}

// A search that may try one mapping a round tries in the end what one with many may try.
TEST(Ccd, WhatARoundLeavesOutIsTriedLater) {
  const tuning::SearchProblem problem = problem_of("stencil");
  FakeEvaluator evaluator([](const std::string&) { return 1.0; });
  const auto tried = [&](std::size_t a_round) {
    FakeRound round(problem, evaluator);
    auto ccd = tuning::make_proposer("ccd", problem, 1);
    do {
      round.left = a_round;
    } while (round.play(**ccd) > 0);
    return round.past.last()->number;
  };
  EXPECT_EQ(tried(1), tried(1000));
}

}  // namespace
}  // namespace groma
