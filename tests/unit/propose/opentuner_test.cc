// OpenTuner's parts against its definitions, and the whole against the original: the best after so
// many requests, how often it asks again, who asks, of 30 seeds each (tests/data/opentuner.json,
// support/record_opentuner.py).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/proposers.h"
#include "propose/ensemble.h"
#include "support/files.h"
#include "support/tune_round.h"

namespace groma::tuning {
namespace {

using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ScoreMemory, ForgetsTheOldest) {
  ScoreMemory memory(3);
  for (std::uint64_t hash = 1; hash <= 5; ++hash) {
    memory.add(hash, {static_cast<double>(hash)});
    memory.add(hash, {0});
  }
  EXPECT_EQ(memory.find(2), nullptr);
  for (std::uint64_t hash = 3; hash <= 5; ++hash) {
    ASSERT_NE(memory.find(hash), nullptr);
    EXPECT_EQ(memory.find(hash)->score, static_cast<double>(hash));
  }
}

TEST(Bandit, ScoresTheAreaUnderTheCurveAndWhatIsNotKnown) {
  for (const std::size_t window : {std::size_t{500}, std::size_t{4}}) {
    Bandit bandit(3, 0.05, window);
    for (const auto& [technique, success] :
         {std::pair{0, true}, {1, false}, {0, false}, {0, true}, {1, true}, {0, false}}) {
      bandit.record_use(static_cast<std::size_t>(technique), success);
    }
    EXPECT_NEAR(bandit.area_under_curve(0), window == 4 ? 0.333333 : 0.4, 1e-6);
    EXPECT_NEAR(bandit.score(0), window == 4 ? 0.391068 : 0.456844, 1e-6);
    EXPECT_NEAR(bandit.area_under_curve(1), window == 4 ? 1.0 : 0.666667, 1e-6);
    EXPECT_NEAR(bandit.score(1), window == 4 ? 1.1 : 0.747056, 1e-6);
    EXPECT_EQ(bandit.score(2), kInfinity);
    RandomNumbers draws(1);
    EXPECT_THAT(bandit.techniques_by_score(draws), ::testing::ElementsAre(2, 1, 0));
  }
}

TEST(Bandit, CountsAsItsDefinitionDoes) {
  Bandit bandit(3, 0.05, 50);
  std::deque<std::pair<std::size_t, bool>> history;
  RandomNumbers draws(7);
  for (int i = 0; i < 2000; ++i) {
    history.emplace_back(draws.below(3), draws.chance(0.3));
    bandit.record_use(history.back().first, history.back().second);
    if (history.size() > 50) history.pop_front();
    for (std::size_t technique = 0; technique < 3; ++technique) {
      double uses = 0, sum = 0;
      for (const auto& [used, success] : history) {
        if (used != technique) continue;
        ++uses;
        if (success) sum += uses;
      }
      ASSERT_NEAR(bandit.area_under_curve(technique), uses == 0 ? 0 : 2 * sum / (uses * (uses + 1)),
                  1e-12);
    }
  }
}

TEST(Bandit, TakesEqualOnesInAnyOrder) {
  const Bandit bandit(3);
  RandomNumbers draws(1);
  std::set<std::vector<std::size_t>> orders;
  for (int i = 0; i < 100; ++i) orders.insert(bandit.techniques_by_score(draws));
  EXPECT_EQ(orders.size(), 6U);
}

TEST(ParameterSpace, StaysWithinItsBounds) {
  const ParameterSpace space({Parameter::integer(3, 5), Parameter::real(-1, 1),
                              Parameter::enumeration(4), Parameter::boolean(),
                              Parameter::permutation(5)});
  RandomNumbers draws(1);
  std::set<double> integers, options;
  for (int i = 0; i < 2000; ++i) {
    Configuration made = space.random_configuration(draws);
    const Configuration a = space.random_configuration(draws),
                        b = space.random_configuration(draws);
    const auto p = static_cast<std::size_t>(i % 5);
    if (i % 2 == 0) {
      space.mutate_slightly(made, p, draws);
    } else {
      space.set_linear_combination(made, p, a, 2, b, made, draws);
    }
    ASSERT_EQ(made.size(), 9U);
    EXPECT_GE(made[0], 3);
    EXPECT_LE(made[0], 5);
    EXPECT_EQ(made[0], std::floor(made[0]));
    EXPECT_LE(std::abs(made[1]), 1);
    EXPECT_LT(made[2], 4);
    EXPECT_TRUE(made[3] == 0 || made[3] == 1);
    std::vector<double> items(made.begin() + 4, made.end());
    std::sort(items.begin(), items.end());
    EXPECT_THAT(items, ::testing::ElementsAre(0, 1, 2, 3, 4));
    integers.insert(made[0]);
    options.insert(made[2]);
  }
  EXPECT_EQ(integers.size(), 3U);
  EXPECT_EQ(options.size(), 4U);
}

TEST(ParameterSpace, CombinesNumbersAndKeepsTheRestWhereItAgrees) {
  const ParameterSpace space({Parameter::real(0, 10), Parameter::integer(0, 9),
                              Parameter::enumeration(1000), Parameter::enumeration(1000)});
  RandomNumbers draws(1);
  const Configuration a = {5, 3, 7, 7}, b = {6, 6, 1, 1}, c = {4, 4, 1, 2};
  Configuration made = {0, 0, 0, 0};
  for (std::size_t p = 0; p < 4; ++p) space.set_linear_combination(made, p, a, 0.5, b, c, draws);
  EXPECT_DOUBLE_EQ(made[0], 6);
  EXPECT_EQ(made[1], 4);
  EXPECT_EQ(made[2], 7);
  EXPECT_NE(made[3], 7);
  space.set_linear_combination(made, 0, a, 5, b, c, draws);
  EXPECT_EQ(made[0], 10);
}

TEST(ParameterSpace, DisturbsNumbersByATenthAndAlwaysFlips) {
  const ParameterSpace space(
      {Parameter::real(0, 100), Parameter::boolean(), Parameter::permutation(100)});
  RandomNumbers draws(1);
  double squares = 0, moved = 0;
  for (int i = 0; i < 4000; ++i) {
    Configuration made = space.random_configuration(draws);
    made[0] = 50;
    const Configuration before = made;
    for (std::size_t p = 0; p < 3; ++p) space.mutate_slightly(made, p, draws);
    squares += (made[0] - 50) * (made[0] - 50);
    EXPECT_EQ(made[1], 1 - before[1]);
    for (std::size_t item = 2; item < made.size(); ++item) moved += made[item] != before[item];
  }
  EXPECT_NEAR(std::sqrt(squares / 4000), 10, 0.5);
  // Half of the time all of it is drawn anew, else a quarter of the neighbours change places.
  EXPECT_NEAR(moved / 4000 / 100, (0.99 + 0.44) / 2, 0.02);
}

std::size_t common(const Configuration& a, const Configuration& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) ++count;
  }
  return count;
}

TEST(DifferentialEvolution, CrossesAFifthAndKeepsTheBetter) {
  const ParameterSpace space(std::vector<Parameter>(100, Parameter::enumeration(1000)));
  EnsembleState shared{space, RandomNumbers(1), ScoreMemory(), nullptr};
  DifferentialEvolution evolution;
  const auto ask = [&](double score) {
    const Technique::Request request = evolution.next_trial(shared);
    EXPECT_EQ(request.answer, Technique::RequestStatus::kTrial);
    shared.memory.add(request.trial->hash, {score, true, false});
    EXPECT_TRUE(shared.look_up_result(*request.trial));
    evolution.receive_result(*request.trial, shared);
    return request.trial->configuration;
  };
  constexpr std::size_t kAll = DifferentialEvolution::kPopulation;
  std::vector<Configuration> members, worse, better, last;
  double kept = 0;
  for (std::size_t m = 0; m < kAll; ++m) members.push_back(ask(2));
  for (std::size_t m = 0; m < kAll; ++m) worse.push_back(ask(3));
  for (std::size_t m = 0; m < kAll; ++m) better.push_back(ask(1));
  for (std::size_t m = 0; m < kAll; ++m) last.push_back(ask(1));
  for (std::size_t m = 0; m < kAll; ++m) {
    kept += static_cast<double>(common(worse[m], members[m])) / kAll;
    EXPECT_GT(common(better[m], members[m]), common(better[m], worse[m]));
    EXPECT_GT(common(last[m], better[m]), common(last[m], members[m]));
  }
  EXPECT_NEAR(kept, 99 * 0.8, 3);
}

TEST(Ensemble, AsksInGenerationsAndAnswersRepeatsItself) {
  // Of two configurations: most requests repeat one.
  Ensemble ensemble({Parameter::boolean()}, 1);
  std::set<double> first;
  int repeated = 0;
  for (int i = 0; i < 50; ++i) {
    const auto requests = ensemble.next_generation(i == 3 ? 2 : Ensemble::kGenerationSize);
    ASSERT_EQ(requests.size(), i == 3 ? 2U : 4U);
    for (const Ensemble::Request& request : requests) {
      repeated += request.repeated ? 1 : 0;
      EXPECT_EQ(request.repeated, !first.insert(request.configuration[0]).second);
      ensemble.report_result(request.number, request.configuration[0], true);
    }
  }
  EXPECT_EQ(repeated, 196);
  EXPECT_TRUE(Ensemble({}, 1).next_generation().empty());
}

TEST(Ensemble, LearnsNothingOfFailuresButThatTheyFailed) {
  Ensemble ensemble({Parameter::enumeration(50), Parameter::enumeration(50)}, 3);
  std::set<double> firsts;
  for (int i = 0; i < 100; ++i) {
    for (const Ensemble::Request& request : ensemble.next_generation()) {
      firsts.insert(request.configuration[0]);
      ensemble.report_result(request.number, kInfinity, false);
    }
  }
  EXPECT_GT(firsts.size(), 40U);  // nothing to be greedy about: all stays random
}

TEST(OpenTuner, SearchesTheSpaceInGenerations) {
  groma::tuning::SearchProblem mapping;
  mapping.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  mapping.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  testing::FakeEvaluator evaluator([](const std::string& text) {
    double score = 1;
    for (const char* words :
         {"Task increment CPU", "Region * private GPU ZCMEM", " AOS", "F_order", "Compact"}) {
      if (text.find(words) == std::string::npos) ++score;
    }
    return text.find("ControlReplicate") == std::string::npos ? score : -1;
  });
  testing::FakeRound round(mapping, evaluator);
  round.left = 1501;
  auto proposer = make_proposer("opentuner", mapping, 1);
  while (round.left > 1) EXPECT_EQ(round.play(**proposer), 4U);
  EXPECT_EQ(round.play(**proposer), 1U);
  EXPECT_EQ(round.past.best()->evaluation.score, 1);
}

TEST(Ensemble, MutatesAResultThatWasAddedAndDoesNotTryItAgain) {
  const std::vector<Parameter> parameters(20, Parameter::enumeration(1000));
  const Configuration added(20, 7);
  Ensemble ensemble(parameters, 3);
  ensemble.add_result(added, 1);
  std::size_t mutations = 0;
  for (int i = 0; i < 20; ++i) {
    for (const Ensemble::Request& request : ensemble.next_generation()) {
      const bool mutates = Ensemble::kTechniques[request.technique].ends_with("GreedyMutation");
      if (mutates) {
        ++mutations;
        EXPECT_GT(common(request.configuration, added), 5U);
      }
      ensemble.report_result(request.number, 2);
    }
  }
  EXPECT_GT(mutations, 0U);
  Ensemble small({Parameter::boolean()}, 1);
  small.add_result({0}, 1);
  for (const Ensemble::Request& request : small.next_generation()) {
    if (request.configuration[0] == 0) {
      EXPECT_TRUE(request.repeated);
    }
  }
}

// ---- Texts with marks.

constexpr char kMarked[] =
    "opt O2  # groma: one of O1 O2 O3\nrows 8  # groma: one of 1 2 4 8 16 32 64 128\n"
    "columns 3 # groma: one of 1 2 3 4 6\nswap no # groma: one of no yes\nrows 8\n";

// Returns a marked text with these values.
std::string marked(std::string_view opt, int rows, int columns, std::string_view swap) {
  return fmt::format(
      "opt {}  # groma: one of O1 O2 O3\nrows {}  # groma: one of 1 2 4 8 16 32 64 128\n"
      "columns {} # groma: one of 1 2 3 4 6\nswap {} # groma: one of no yes\nrows 8\n",
      opt, rows, columns, swap);
}

// Returns the losses of all texts that kMarked can become. The best one has the loss 1.
std::map<std::string, double> losses_of_marked() {
  std::map<std::string, double> losses;
  for (const auto& [opt, slow] : {std::pair("O1", 2), {"O2", 1}, {"O3", 0}}) {
    for (int exponent = 0; exponent < 8; ++exponent) {
      for (const int columns : {1, 2, 3, 4, 6}) {
        for (const char* swap : {"no", "yes"}) {
          losses[marked(opt, 1 << exponent, columns, swap)] =
              1 + slow + std::abs(exponent - 6) + std::abs(columns - 4) + (*swap == 'n' ? 2 : 0);
        }
      }
    }
  }
  return losses;
}

// Returns the proposals of a search for the best of a marked text, in their order.
std::vector<Proposal> search_marked(const std::string& text, std::uint64_t seed, std::size_t most,
                                    const testing::FakeEvaluator::Values& loss) {
  SearchProblem problem;
  problem.start = text;
  testing::FakeEvaluator evaluator(loss);
  testing::FakeRound round(problem, evaluator);
  round.left = most;
  std::vector<Proposal> proposals;
  const auto proposer = make_proposer("opentuner", problem, seed);
  EXPECT_TRUE(proposer.ok());
  while (proposer.ok() && round.left > 0) {
    const std::size_t count = round.play(**proposer);
    if (count == 0) break;
    const std::vector<Step>& steps = round.past.recent();
    for (auto step = steps.end() - static_cast<std::ptrdiff_t>(count); step != steps.end(); ++step)
      proposals.push_back(step->proposal);
  }
  return proposals;
}

std::vector<std::string> texts_of(const std::vector<Proposal>& proposals) {
  std::vector<std::string> texts;
  for (const Proposal& proposal : proposals) texts.push_back(proposal.text);
  return texts;
}

TEST(OpenTuner, FindsTheBestValuesOfMarksAndProposesNothingElse) {
  const std::map<std::string, double> losses = losses_of_marked();
  ASSERT_EQ(losses.size(), 240U);
  const auto loss = [&](const std::string& text) {
    const auto found = losses.find(text);
    EXPECT_NE(found, losses.end()) << text;
    return found == losses.end() ? 100 : found->second;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<std::string> texts = texts_of(search_marked(kMarked, seed, 300, loss));
    ASSERT_EQ(texts.size(), 300U);
    EXPECT_EQ(texts[0], kMarked);
    EXPECT_THAT(texts, ::testing::Contains(marked("O3", 64, 4, "yes"))) << seed;
    EXPECT_EQ(texts, texts_of(search_marked(kMarked, seed, 300, loss)));
    EXPECT_NE(texts, texts_of(search_marked(kMarked, seed + 1, 300, loss)));
  }
}

TEST(OpenTuner, SaysWhichTechniqueChangedWhatOfTheStart) {
  const std::string text = "\nn = 4;  // groma: one of 4 8\n";
  const std::vector<Proposal> proposals =
      search_marked(text, 1, 9, [](const std::string&) { return 1; });
  ASSERT_EQ(proposals.size(), 9U);
  EXPECT_EQ(proposals[0].why, "as it is");
  std::set<std::string> changes;
  for (std::size_t i = 1; i < proposals.size(); ++i) {
    const std::string& why = proposals[i].why;
    const std::size_t colon = why.find(": ");
    ASSERT_NE(colon, why.npos);
    changes.insert(why.substr(colon + 2));
    EXPECT_EQ(why.substr(colon + 2), proposals[i].text == text ? "as it is" : "line 2: 8 for 4");
  }
  EXPECT_EQ(changes.size(), 2U);
}

// The simplex method needs a number, and makes no request without one.
TEST(OpenTuner, TakesOnlyRisingIntegersAsNumbers) {
  const auto has_simplex = [](const std::string& values) {
    std::string text;
    for (const char* name : {"a", "b"})
      text += fmt::format("{} 8 # groma: one of {}\n", name, values);
    const std::vector<Proposal> proposals = search_marked(
        text, 1, 60,
        [](const std::string& tried) { return 1 + std::abs(std::stod(tried.substr(2)) - 32); });
    return std::any_of(proposals.begin(), proposals.end(), [](const Proposal& proposal) {
      return proposal.why.starts_with("RandomNelderMead");
    });
  };
  EXPECT_TRUE(has_simplex("-4 1 2 8 16 32 100"));
  EXPECT_FALSE(has_simplex("1 8 8 16 32"));
  EXPECT_FALSE(has_simplex("1 8 32 16"));
  EXPECT_FALSE(has_simplex("1 8 16.5 32"));
  EXPECT_FALSE(has_simplex("1 8 16 32 99999999999999999999"));
}

// Small changes of numbers and combinations of them stay near the best, those of an enum do not.
TEST(OpenTuner, FindsTheBestOfNumbersSooner) {
  // Returns how many proposals the search makes until it finds the best, summed over ten seeds. The
  // values of the two marked lines are the numbers 0 to 63 with this word behind each.
  const auto proposals_until_best = [](const std::string& word) {
    std::string values;
    for (int i = 0; i < 64; ++i) values += fmt::format(" {}{}", i, word);
    const std::string text =
        fmt::format("0{0} # groma: one of{1}\n0{0} # groma: one of{1}\n", word, values);
    const auto loss = [](const std::string& tried) {
      const int first = std::stoi(tried), second = std::stoi(tried.substr(tried.find('\n')));
      return 1 + std::abs(first - 40) + std::abs(second - 20);
    };
    std::size_t sum = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const std::vector<Proposal> proposals = search_marked(text, seed, 1000, loss);
      const auto best = std::find_if(proposals.begin(), proposals.end(),
                                     [&](const Proposal& made) { return loss(made.text) == 1; });
      sum += static_cast<std::size_t>(best - proposals.begin());
    }
    return sum;
  };
  EXPECT_LT(proposals_until_best(""), proposals_until_best("x") / 2);
}

// ---- The problems of support/record_opentuner.py.

struct Problem {
  std::vector<Parameter> parameters;
  std::function<double(const Configuration&)> loss;
};

double rosenbrock(const Configuration& x) {
  return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(x[0] - 1, 2);
}

double beale(const Configuration& x) {
  const double a = x[0], b = x[1];
  return std::pow(1.5 - a + a * b, 2) + std::pow(2.25 - a + a * b * b, 2) +
         std::pow(2.625 - a + a * b * b * b, 2);
}

double tsp(const Configuration& tour) {
  const auto x = [](double i) { return std::fmod(37 * i * i + 11 * i, 101); };
  const auto y = [](double i) { return std::fmod(53 * i * i + 29 * i + 7, 97); };
  double length = 0;
  for (std::size_t i = 1; i < tour.size(); ++i) {
    length +=
        std::floor(std::hypot(x(tour[i]) - x(tour[i - 1]), y(tour[i]) - y(tour[i - 1])) + 0.5);
  }
  return length;
}

double unitary(const Configuration& x) {
  using Complex = std::complex<double>;
  using Matrix = std::array<std::array<Complex, 2>, 2>;
  const auto rotation = [](double angle, double tilt) {
    const double c = std::cos(angle / 2), s = std::sin(angle / 2);
    return Matrix{{{Complex(c, -std::cos(tilt) * s), -std::sin(tilt) * s},
                   {std::sin(tilt) * s, Complex(c, std::cos(tilt) * s)}}};
  };
  const double unit = 1 / std::sqrt(10), tilt = std::numbers::pi / 3;
  const Matrix goal = {
      {{Complex(-unit, -unit * std::sqrt(3)), Complex(unit * std::sqrt(2), -2 * unit)},
       {Complex(-unit * std::sqrt(2), -2 * unit), Complex(-unit, unit * std::sqrt(3))}}};
  Matrix made = {{{1, 0}, {0, 1}}};
  for (double choice : x) {
    if (choice == 4) continue;
    const double sign = std::fmod(choice, 2) == 0 ? 1 : -1;
    const Matrix turn = rotation(sign * std::numbers::pi / 10, choice < 2 ? 0 : tilt);
    Matrix next{};
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        next[i][j] = turn[i][0] * made[0][j] + turn[i][1] * made[1][j];
      }
    }
    made = next;
  }
  Complex trace = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 2; ++k) trace += goal[i][k] * std::conj(made[i][k]);
  }
  return 1 - std::abs(trace) / 2;
}

double mixed(const Configuration& x) {
  constexpr double kLosses[] = {0, 3, 1, 4, 2, 5};
  const auto option = [&](std::size_t i) { return static_cast<int>(x[5 + i]); };
  if ((option(0) + 2 * option(1) + (x[2] == 1 ? 3 : 0)) % 3 == 0) return kInfinity;
  double loss = 1 + std::abs(x[0] - 37) / 10 + std::pow(x[1] - 6, 2) / 100;
  for (std::size_t i = 0; i < 3; ++i) loss += (x[2 + i] == 1) == (i != 1) ? 0 : 1;
  for (std::size_t i = 0; i < 4; ++i) loss += kLosses[(option(i) + static_cast<int>(i)) % 6];
  return loss;
}

std::map<std::string, Problem> problems() {
  using P = Parameter;
  return {
      {"rosenbrock", {{P::real(-1000, 1000), P::real(-1000, 1000)}, rosenbrock}},
      {"beale", {{P::real(-4.5, 4.5), P::real(-4.5, 4.5)}, beale}},
      {"tsp", {{P::permutation(15)}, tsp}},
      {"unitary", {std::vector<P>(10, P::enumeration(5)), unitary}},
      {"mixed",
       {{P::integer(1, 100), P::integer(-50, 50), P::boolean(), P::boolean(), P::boolean(),
         P::enumeration(6), P::enumeration(6), P::enumeration(6), P::enumeration(6)},
        mixed}},
  };
}

// What one run shows, by a name for each figure.
using Figures = std::map<std::string, double>;

Figures recorded(const Json& data, const Json& run) {
  Figures figures;
  for (std::size_t i = 0; i < data["checkpoints"].size(); ++i) {
    const Json& best = run["best"][i];
    figures["best after " + data["checkpoints"][i].dump()] =
        best.is_null() ? kInfinity : best.get<double>();
  }
  figures["duplicates"] = run["duplicates"];
  for (std::size_t i = 0; i < data["techniques"].size(); ++i) {
    figures["requests of " + data["techniques"][i].get<std::string>()] = run["requests"][i];
  }
  return figures;
}

Figures ours(const Json& data, const Problem& problem, std::uint64_t seed) {
  Figures figures;
  std::vector<double> requests(std::size(Ensemble::kTechniques));
  double best = kInfinity, duplicates = 0;
  Ensemble ensemble(problem.parameters, seed);
  for (std::int64_t number = 0; number < data["tests"].get<std::int64_t>();) {
    for (const Ensemble::Request& request : ensemble.next_generation()) {
      const double loss = problem.loss(request.configuration);
      ensemble.report_result(request.number, loss, std::isfinite(loss));
      ++requests[request.technique];
      duplicates += request.repeated ? 1 : 0;
      best = std::min(best, std::stod(fmt::format("{:.6g}", loss)));  // as the record has it
      ++number;
      for (const Json& checkpoint : data["checkpoints"]) {
        if (checkpoint == number) figures["best after " + checkpoint.dump()] = best;
      }
    }
  }
  figures["duplicates"] = duplicates;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    figures["requests of " + std::string(Ensemble::kTechniques[i])] = requests[i];
  }
  return figures;
}

// Mann and Whitney: how many standard deviations the number of pairs in which a is the larger lies
// off half of them, where both are drawn from one distribution.
double rank_deviation(const std::vector<double>& a, const std::vector<double>& b) {
  double larger = 0;
  std::map<double, double> tied;
  for (double x : a) {
    ++tied[x];
    for (double y : b) larger += x > y ? 1 : x == y ? 0.5 : 0;
  }
  for (double y : b) ++tied[y];
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double ties = 0;
  for (const auto& [value, count] : tied) ties += count * count * count - count;
  const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  return variance <= 0 ? 0 : (larger - n * m / 2) / std::sqrt(variance);
}

// One in a thousand pairs of equal distributions lies further apart; of 12 figures of five
// problems, most of which go together, none should.
constexpr double kBound = 3.3;

TEST(Ensemble, SpreadsAsTheOriginalDoes) {
  const Json data = Json::parse(testing::read_text(testing::in_tree("tests/data/opentuner.json")));
  const std::map<std::string, Problem> all = problems();
  ASSERT_EQ(data["problems"].size(), all.size());
  for (const auto& [name, runs] : data["problems"].items()) {
    std::map<std::string, std::vector<double>> theirs, all_ours;
    ASSERT_EQ(runs.size(), 30U);
    for (std::size_t seed = 1; seed <= runs.size(); ++seed) {
      for (const auto& [figure, value] : recorded(data, runs[seed - 1])) {
        theirs[figure].push_back(value);
      }
      for (const auto& [figure, value] : ours(data, all.at(name), seed)) {
        all_ours[figure].push_back(value);
      }
    }
    ASSERT_EQ(theirs.size(), 12U);
    for (auto& [figure, values] : theirs) {
      std::vector<double>& own = all_ours[figure];
      const double deviation = rank_deviation(own, values);
      std::sort(values.begin(), values.end());
      std::sort(own.begin(), own.end());
      EXPECT_LT(std::abs(deviation), kBound)
          << name << ", " << figure << ": medians " << values[values.size() / 2]
          << " (original) and " << own[own.size() / 2];
    }
  }
}

}  // namespace
}  // namespace groma::tuning
