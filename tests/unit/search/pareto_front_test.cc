// The Pareto front: which step dominates which, and that the front is the one that an obvious
// comparison of all pairs finds.
#include "groma/pareto_front.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "groma/evaluators.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tuning::Evaluation;
using tuning::ParetoFront;
using tuning::Step;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Evaluation evaluation(std::vector<double> values, double noise = 0, bool higher = false) {
  Evaluation made;
  made.status = Evaluation::Status::kOk;
  made.score = tuning::geometric_mean(values);
  if (higher) made.score = 1 / made.score;
  made.values = std::move(values);
  made.noise = noise;
  return made;
}

Step step(std::int64_t number, Evaluation evaluation) {
  return {number, {"text " + std::to_string(number), ""}, std::move(evaluation)};
}

std::vector<std::int64_t> numbers(const ParetoFront& front) {
  std::vector<std::int64_t> all;
  for (const Step& each : front.steps()) all.push_back(each.number);
  return all;
}

// Offers evaluations as steps 1, 2, ... as a search does, with History's choice of the best.
class Offered {
 public:
  explicit Offered(std::size_t inputs = 2, bool higher = false) : front(inputs, higher) {}
  bool add(Evaluation made) {
    const Step next = step(++number, std::move(made));
    const bool is_best = history.is_better(next.evaluation);
    if (is_best) best = number;
    history.add(next);
    steps.push_back(next);
    return front.add(next, is_best);
  }

  ParetoFront front;
  tuning::History history;
  std::vector<Step> steps;
  std::int64_t number = 0, best = 0;
};

TEST(ParetoFront, AStepDominatesIfItIsNowhereWorseAndSomewhereBetter) {
  const ParetoFront front(2);
  EXPECT_TRUE(front.dominates(evaluation({1, 1}), evaluation({2, 2})));
  EXPECT_TRUE(front.dominates(evaluation({1, 2}), evaluation({2, 2})));
  EXPECT_FALSE(front.dominates(evaluation({1, 3}), evaluation({2, 2})));
  EXPECT_FALSE(front.dominates(evaluation({2, 2}), evaluation({1, 3})));
  EXPECT_FALSE(front.dominates(evaluation({2, 2}), evaluation({2, 2})));
  EXPECT_FALSE(front.dominates(evaluation({2, 2}), evaluation({1, 2})));
}

TEST(ParetoFront, LargerValuesMayBeBetter) {
  const ParetoFront front(2, true);
  const auto high = [](std::vector<double> values, double noise = 0) {
    return evaluation(std::move(values), noise, true);
  };
  EXPECT_TRUE(front.dominates(high({2, 2}), high({1, 2})));
  EXPECT_FALSE(front.dominates(high({1, 2}), high({2, 2})));
  EXPECT_FALSE(front.is_better_somewhere(high({2, 1.05}, 0.1), high({2, 1})));
  EXPECT_TRUE(front.is_better_somewhere(high({1, 1.4}, 0.1), high({2, 1})));
}

// The noise of one input may be twice that of the score of two inputs.
TEST(ParetoFront, ADifferenceWithinTheNoiseDoesNotCount) {
  const ParetoFront front(2);
  const Evaluation before = evaluation({1, 1});
  EXPECT_FALSE(front.is_better_somewhere(evaluation({0.9, 1.2}, 0.1), before));
  EXPECT_TRUE(front.is_better_somewhere(evaluation({0.79, 1.5}, 0.1), before));
  EXPECT_FALSE(front.dominates(evaluation({0.9, 1}, 0.1), before));
  EXPECT_TRUE(front.dominates(evaluation({0.79, 1}, 0.1), before));
  // Both inputs are a little better: together this is more than the noise of the score.
  EXPECT_TRUE(front.dominates(evaluation({0.89, 0.89}, 0.1), before));
  // Only the noise of the step that is offered counts, as in History.
  EXPECT_TRUE(front.dominates(evaluation({0.9, 1}), evaluation({1, 1}, 0.5)));
  // With so much noise nothing is better.
  EXPECT_FALSE(front.is_better_somewhere(evaluation({0.001, 0.001}, 1), before));
}

TEST(ParetoFront, OfEqualStepsTheFirstStays) {
  Offered offered;
  EXPECT_TRUE(offered.add(evaluation({1, 4})));
  EXPECT_TRUE(offered.add(evaluation({4, 1})));
  EXPECT_FALSE(offered.add(evaluation({4, 1})));
  EXPECT_FALSE(offered.add(evaluation({1, 4})));
  EXPECT_FALSE(offered.add(evaluation({3.9, 1.1}, 0.1)));  // within the noise of step 2
  EXPECT_THAT(numbers(offered.front), ElementsAre(1, 2));
  EXPECT_TRUE(offered.add(evaluation({1, 3})));
  EXPECT_THAT(numbers(offered.front), ElementsAre(6, 2));
  EXPECT_TRUE(offered.add(evaluation({1, 1})));
  EXPECT_THAT(numbers(offered.front), ElementsAre(7));
}

TEST(ParetoFront, NoStepJoinsWithoutValuesThatCanBeCompared) {
  ParetoFront front(2);
  for (const double value : {std::nan(""), kInfinity, -kInfinity, -1.0, 0.0}) {
    Evaluation wrong = evaluation({1, 1});
    wrong.values[1] = value;
    EXPECT_FALSE(front.add(step(1, wrong), true)) << value;
    wrong = evaluation({1, 1});
    wrong.score = value;
    EXPECT_FALSE(front.add(step(1, wrong), true)) << value;
    if (value == 0) continue;
    wrong = evaluation({1, 1}, value);
    EXPECT_FALSE(front.add(step(1, wrong), true)) << value;
    EXPECT_FALSE(front.dominates(wrong, evaluation({2, 2})));
    EXPECT_FALSE(front.dominates(evaluation({0.5, 0.5}), wrong));
  }
  EXPECT_FALSE(front.add(step(1, evaluation({1})), true));
  EXPECT_FALSE(front.add(step(1, evaluation({1, 1, 1})), true));
  Evaluation failed = evaluation({1, 1});
  failed.status = Evaluation::Status::kFailed;
  EXPECT_FALSE(front.add(step(1, failed), true));
  EXPECT_THAT(front.steps(), IsEmpty());
}

TEST(ParetoFront, AStepThatHasChangedReplacesItself) {
  ParetoFront front(2);
  EXPECT_TRUE(front.add(step(1, evaluation({1, 4})), true));
  EXPECT_TRUE(front.add(step(2, evaluation({3, 1})), true));
  EXPECT_TRUE(front.add(step(2, evaluation({2, 1})), true));
  EXPECT_THAT(numbers(front), ElementsAre(1, 2));
  EXPECT_EQ(front.steps()[1].evaluation.values[0], 2);
  // The same text again, which is now measured as better.
  Step again = step(9, evaluation({1, 1}));
  again.proposal.text = "text 2";
  EXPECT_FALSE(front.add(again, false));
  EXPECT_TRUE(front.add(again, true));
  EXPECT_THAT(numbers(front), ElementsAre(9));
}

// The best step of all and the best step for each input stay; of the others the worst go.
TEST(ParetoFront, AFullFrontDropsTheWorstScore) {
  Offered offered;
  const auto on_curve = [](double x) { return evaluation({x, 100 / x + 1}); };
  for (int i = 1; i <= 100; ++i) {
    offered.add(on_curve(i));
    EXPECT_LE(offered.front.steps().size(), ParetoFront::kMaxSteps);
  }
  const std::vector<std::int64_t> kept = numbers(offered.front);
  EXPECT_EQ(kept.size(), ParetoFront::kMaxSteps);
  EXPECT_EQ(kept.front(), 1);   // the best for the first input
  EXPECT_EQ(kept.back(), 100);  // the best for the second input
  EXPECT_EQ(std::count(kept.begin(), kept.end(), offered.best), 1);
  double worst_kept = 0;
  for (std::size_t i = 1; i + 1 < kept.size(); ++i) {
    worst_kept = std::max(worst_kept, offered.front.steps()[i].evaluation.score);
  }
  for (const Step& each : offered.steps) {
    if (std::count(kept.begin(), kept.end(), each.number) > 0) continue;
    EXPECT_GE(each.evaluation.score, worst_kept) << each.number;
  }
}

// With more inputs than the front has room for, even a step that is the best for an input may go.
TEST(ParetoFront, IsBoundedForAnyNumberOfInputs) {
  const std::size_t inputs = 2 * ParetoFront::kMaxSteps;
  Offered offered(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<double> values(inputs, 2);
    values[i] = 1.0 + 0.001 * static_cast<double>(i);
    offered.add(evaluation(values));
  }
  EXPECT_EQ(offered.front.steps().size(), ParetoFront::kMaxSteps);
  EXPECT_EQ(offered.front.steps().front().number, offered.best);
}

// Returns the numbers of the steps that no other one beats, from all pairs of steps without noise.
std::vector<std::int64_t> obvious_front(const std::vector<Step>& steps) {
  std::vector<std::int64_t> front;
  for (const Step& each : steps) {
    const auto& mine = each.evaluation.values;
    const bool is_beaten = std::any_of(steps.begin(), steps.end(), [&](const Step& other) {
      const auto& theirs = other.evaluation.values;
      if (theirs == mine) return other.number < each.number;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (theirs[i] > mine[i]) return false;
      }
      return true;
    });
    if (!is_beaten) front.push_back(each.number);
  }
  return front;
}

TEST(ParetoFront, IsTheOneThatAllPairsGive) {
  std::mt19937_64 random(20240611);
  const auto any = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  std::size_t largest = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto inputs = static_cast<std::size_t>(any(1, 4));
    // Few different values give many ties; so few steps never reach the limit of the front.
    const int most = any(2, 12);
    Offered offered(inputs);
    for (int i = any(1, 31); i > 0; --i) {
      std::vector<double> values;
      for (std::size_t k = 0; k < inputs; ++k) values.push_back(any(1, most));
      offered.add(evaluation(values));
    }
    std::vector<std::int64_t> found = numbers(offered.front);
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, obvious_front(offered.steps)) << "round " << round;
    largest = std::max(largest, found.size());
  }
  EXPECT_GT(largest, 10U);
}

// What the header promises, for steps with random noise.
TEST(ParetoFront, EachStepThatIsMissingHasOneThatIsNoWorse) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(1, 2), noise(0, 0.1);
  for (int round = 0; round < 1000; ++round) {
    const std::size_t inputs = 2 + static_cast<std::size_t>(round) % 2;
    Offered offered(inputs);
    for (int i = 0; i < 31; ++i) {
      std::vector<double> values(inputs);
      std::generate(values.begin(), values.end(), [&] { return value(random); });
      offered.add(evaluation(values, noise(random)));
      const std::vector<std::int64_t> kept = numbers(offered.front);
      ASSERT_EQ(std::count(kept.begin(), kept.end(), offered.best), 1);
    }
    const std::vector<Step>& front = offered.front.steps();
    for (const Step& each : offered.steps) {
      ASSERT_TRUE(std::any_of(front.begin(), front.end(), [&](const Step& kept) {
        return !offered.front.is_better_somewhere(each.evaluation, kept.evaluation);
      })) << each.number;
    }
    for (const Step& a : front) {
      for (const Step& b : front) {
        ASSERT_FALSE(a.number > b.number && offered.front.dominates(a.evaluation, b.evaluation));
      }
    }
    ASSERT_TRUE(std::is_sorted(front.begin(), front.end(), [](const Step& a, const Step& b) {
      return a.evaluation.values[0] < b.evaluation.values[0];
    }));
  }
}

}  // namespace
}  // namespace groma
