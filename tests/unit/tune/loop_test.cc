// The loop: budgets, what counts, and that a search which dies at any byte of its journal goes on
// as though it had not.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "groma/search_report.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using testing::FakeEvaluator;
using ::testing::HasSubstr;
using testing::read_text;
using End = tuning::TuneOutcome::End;

// Counts down from the best so far; asks a model before each, if it is to.
class CountDown : public tuning::Proposer {
 public:
  explicit CountDown(bool asks = false) : asks_(asks) {}
  std::string_view name() const override { return "count down"; }
  GuideDetail reads() const override { return GuideDetail::kExplain; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    const int next = last_ - 1;
    if (next < 0) return {};
    std::string why = "one less";
    if (asks_) {
      llm::ChatRequest request;
      request.messages.push_back({llm::ChatMessage::Role::kUser, std::to_string(next)});
      request.max_tokens = 16;
      const auto replies = round.ask({&request, 1});
      if (!replies.front()) return {};
      why = replies.front()->text;
    }
    return {{std::to_string(next), why, next}};
  }
  void learn(const tuning::Step& step) override { last_ = std::stoi(step.proposal.text); }

 private:
  bool asks_;
  int last_ = 0;
};

// The value is the number, of 13 nothing.
class CountedNumbers : public FakeEvaluator {
 public:
  CountedNumbers()
      : FakeEvaluator(
            [](const std::string& text) { return text == "13" ? -1.0 : 1 + std::stod(text); }) {}
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    ++calls;
    return FakeEvaluator::evaluate(request);
  }
  std::optional<tuning::Evaluation> check(const std::string& text, GuideDetail) const override {
    if (text != "17") return std::nullopt;
    tuning::Evaluation refused;
    refused.feedback.execution = "17 is not a number";
    return refused;
  }
  std::atomic<int> calls = 0;
};

tuning::SearchProblem from(std::string start) {
  tuning::SearchProblem problem;
  problem.start = std::move(start);
  return problem;
}

TEST(Tune, GoesOnUntilTheBudgetIsUsedUp) {
  CountedNumbers numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.budget.evaluations = 8;
  std::vector<std::int64_t> said;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind == tuning::TuneEvent::Kind::kEvaluated) said.push_back(event.step->number);
  };
  const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kBudget);
  // 17 is refused without a run and costs nothing; 13 fails.
  EXPECT_EQ(outcome->spent.evaluations, 8);
  EXPECT_EQ(numbers.calls, 8);
  EXPECT_EQ(outcome->best->proposal.text, "12");
  EXPECT_EQ(outcome->start->evaluation.score, 21);
  EXPECT_EQ(outcome->trajectory.size(), 7U);
  EXPECT_EQ(said.size(), 9U);
}

// The search is the same as if each text was checked first.
TEST(Tune, ChecksOnlyTextsWhoseRunFailsIfTheEvaluatorRunsFirst) {
  class RunsFirst : public CountedNumbers {
   public:
    bool runs_before_check() const override { return true; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      if (request.text == "17") return {};
      return CountedNumbers::evaluate(request);
    }
    std::optional<tuning::Evaluation> check(const std::string& text,
                                            GuideDetail detail) const override {
      checked.push_back(text);
      return CountedNumbers::check(text, detail);
    }
    mutable std::vector<std::string> checked;
  } numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.budget.evaluations = 8;
  const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->spent.evaluations, 8);
  EXPECT_EQ(numbers.calls, 8);
  EXPECT_EQ(outcome->best->proposal.text, "12");
  EXPECT_EQ(outcome->steps, 9);
  EXPECT_EQ(numbers.checked, (std::vector<std::string>{"17", "13"}));
}

TEST(Tune, InAComparisonEverythingCounts) {
  CountedNumbers numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.budget.evaluations = 8;
  options.compare = true;
  const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->best->proposal.text, "14");
  EXPECT_EQ(outcome->spent.evaluations, 8);
  EXPECT_EQ(numbers.calls, 7);
}

TEST(Tune, EndsWhereTheProposerDoes) {
  CountedNumbers numbers;
  CountDown proposer;
  const auto outcome = tuning::tune(from("3"), numbers, proposer, nullptr, nullptr, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kExhausted);
  EXPECT_EQ(outcome->spent.evaluations, 4);
}

TEST(Tune, OneTextIsEvaluatedOnce) {
  class Same : public tuning::Proposer {
   public:
    std::string_view name() const override { return "same"; }
    std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
      return {{"7", ""}, {"7", ""}, {"8", ""}};
    }
    void learn(const tuning::Step& step) override { explained = step.evaluation.feedback.explain; }
    std::vector<std::string> explained;
  } proposer;
  CountedNumbers numbers;
  const auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kExhausted);
  EXPECT_EQ(numbers.calls, 3);
  EXPECT_EQ(outcome->spent.evaluations, 3);
  EXPECT_THAT(proposer.explained, ::testing::ElementsAre("This was tried before, as number 4."));
}

TEST(Tune, StopsAndLeavesTheBest) {
  const TemporaryFolder directory;
  CountedNumbers numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  bool stop = false;
  options.stop = [&] { return stop; };
  options.on_event = [&](const tuning::TuneEvent& event) { stop = event.spent.evaluations == 3; };
  const auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kStopped);
  EXPECT_EQ(read_text(directory.path() + "/search/best.txt"), "7");
  EXPECT_THAT(read_text(directory.path() + "/search/report.txt"), HasSubstr("best   8 s"));
}

// What is better by no more than measurements differ is not taken, and that is said.
TEST(Tune, SaysWhatIsWithinTheNoise) {
  class Noisy : public CountedNumbers {
   public:
    std::vector<std::string> inputs() const override { return {"small", "large"}; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = CountedNumbers::evaluate(request);
      evaluation.values = {evaluation.score, evaluation.score};
      evaluation.noise = 0.06;  // from 20 on two steps are more than that
      return evaluation;
    }
  };
  const TemporaryFolder directory;
  Noisy numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  options.budget.evaluations = 3;
  std::string said;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind != tuning::TuneEvent::Kind::kEvaluated) return;
    said += event.is_best ? " best" : event.within_noise ? " noise" : " worse";
    EXPECT_EQ(to_json(event).find("\"within_noise\":true") != std::string::npos,
              event.within_noise);
  };
  const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(said, " best noise best");
  EXPECT_EQ(outcome->best->proposal.text, "18");
  EXPECT_THAT(
      read_text(directory.path() + "/search/steps.txt"),
      HasSubstr("Step 2: 20 s (small 20 s, large 20 s), better than the best by no more than "
                "measurements differ\n"));
}

// A start that was measured badly is measured anew beside each text: its noise blocks nothing.
TEST(Tune, ANoisyStartBlocksNothing) {
  class NoisyStart : public CountedNumbers {
   public:
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = CountedNumbers::evaluate(request);
      if (request.text == "20") evaluation.noise = 0.5;
      return evaluation;
    }
  } numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.budget.evaluations = 2;
  const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->best->proposal.text, "19");
}

// Whoever proposes and who looks on hear of the same best that is written down.
TEST(Tune, WhatIsNotTakenIsNobodysBest) {
  class Noisy : public CountedNumbers {
   public:
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = CountedNumbers::evaluate(request);
      evaluation.noise = 0.5;
      return evaluation;
    }
  } numbers;
  class Looking : public CountDown {
   public:
    std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
      EXPECT_EQ(round.history().best()->proposal.text, "20");
      return CountDown::propose(round);
    }
  } proposer;
  tuning::TuneOptions options;
  options.budget.evaluations = 4;
  double best_score = 0;
  options.on_event = [&](const tuning::TuneEvent& event) { best_score = event.best_score; };
  ASSERT_TRUE(tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options).ok());
  EXPECT_EQ(best_score, 21);
}

// At first a number looks one and a half better than it is, unless it is measured thoroughly.
class Hopeful : public testing::FakeEvaluator {
 public:
  explicit Hopeful(double each)
      : FakeEvaluator([](const std::string&) { return 1; }), each_(each) {}
  bool simulated() const override { return false; }
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    asked.push_back(request.text + (request.again ? " again beside " + request.incumbent : ""));
    const double value = 100 + each_ * std::stod(request.text);
    tuning::Evaluation evaluation = FakeEvaluator::evaluate(request);
    evaluation.score = value - (request.again || request.incumbent.empty() ? 0 : 1.5);
    evaluation.values = {evaluation.score};
    return evaluation;
  }
  std::vector<std::string> asked;

 private:
  double each_;
};

// Of many texts some look better by chance: each such is measured again before it is taken.
TEST(Tune, WhatLooksBetterIsMeasuredAgain) {
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  options.budget.evaluations = 3;
  Hopeful same(0);
  CountDown proposer;
  const auto outcome = tuning::tune(from("9"), same, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->best->proposal.text, "9");
  EXPECT_EQ(outcome->spent.evaluations, 3);
  EXPECT_EQ(outcome->spent.again, 2);
  EXPECT_FALSE(outcome->beside_start.has_value());
  EXPECT_THAT(same.asked,
              ::testing::ElementsAre("9", "8", "8 again beside 9", "7", "7 again beside 9"));
  const std::string report = read_text(options.directory + "/report.txt");
  EXPECT_THAT(report, HasSubstr("spent  3 evaluations, 2 of them made twice"));
  EXPECT_THAT(read_text(options.directory + "/steps.txt"),
              HasSubstr("  one less (it looked better and was measured again)\n"));
  EXPECT_THAT(to_json(*outcome), HasSubstr("\"evaluations\":3,\"failed\":0,\"again\":2"));
}

// Start and best are measured side by side when the search ends, once for each best.
TEST(Tune, TheBestIsMeasuredBesideTheStart) {
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  const auto go_on = [&](std::int64_t evaluations, std::vector<std::string>* asked) {
    options.budget.evaluations = evaluations;
    Hopeful numbers(1);
    CountDown proposer;
    auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    options.resume = true;
    *asked = numbers.asked;
    return outcome ? *std::move(outcome) : tuning::TuneOutcome();
  };
  std::vector<std::string> asked;
  const tuning::TuneOutcome first = go_on(3, &asked);
  EXPECT_THAT(asked, ::testing::ElementsAre("9", "8", "8 again beside 9", "7", "7 again beside 8",
                                            "7 again beside 9"));
  ASSERT_TRUE(first.beside_start.has_value());
  EXPECT_EQ(first.beside_start->score, 107);
  EXPECT_THAT(read_text(options.directory + "/report.txt"),
              HasSubstr("best   107 s, 1.02 times as fast (step 3: one less)\n"
                        "       measured beside the start again\n"));
  // Nothing is spent twice; a better one is compared anew.
  const tuning::TuneOutcome same = go_on(3, &asked);
  EXPECT_TRUE(asked.empty()) << asked.front();
  EXPECT_EQ(same.beside_start->score, 107);
  EXPECT_EQ(same.spent.again, 2);
  const tuning::TuneOutcome more = go_on(4, &asked);
  EXPECT_THAT(asked, ::testing::ElementsAre("6", "6 again beside 7", "6 again beside 9"));
  EXPECT_EQ(more.beside_start->score, 106);
  EXPECT_EQ(more.spent.again, 3);
  EXPECT_TRUE(std::filesystem::exists(options.directory + "/best.txt"));
  go_on(4, &asked);
  EXPECT_TRUE(asked.empty());
  // A line of it that holds something else counts as none.
  std::string journal = read_text(options.directory + "/journal.jsonl");
  const std::size_t last = journal.rfind("{\"beside_start\":");
  std::ofstream(options.directory + "/journal.jsonl")
      << journal.substr(0, last) << "{\"beside_start\":7}\n";
  EXPECT_EQ(go_on(4, &asked).beside_start->score, 106);
  EXPECT_THAT(asked, ::testing::ElementsAre("6 again beside 9"));
}

// The measurement beside the start comes after the last step, and its time counts, too. A search
// that is resumed begins with the time of the whole search before it.
TEST(Tune, TheTimeAfterTheLastStepCounts) {
  class Slow final : public Hopeful {
   public:
    using Hopeful::Hopeful;
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      // The last measurement of a search has the start as its incumbent.
      if (request.again && request.incumbent == "9") {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
      }
      return Hopeful::evaluate(request);
    }
  };
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  const auto seconds = [&](std::int64_t evaluations) {
    options.budget.evaluations = evaluations;
    Slow numbers(1);
    CountDown proposer;
    const auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    options.resume = true;
    return outcome ? outcome->spent.seconds : 0;
  };
  const double first = seconds(3);
  EXPECT_GE(first, 0.6);
  EXPECT_EQ(seconds(3), first) << "nothing new was tried";
  EXPECT_GE(seconds(4), first + 0.3);
  const auto report = tuning::read_search_report(options.directory, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_GE(report->spent.seconds, first + 0.3);
}

// A search whose start fails leaves nothing behind, so it can be begun again in the same place.
TEST(Tune, LeavesNothingIfTheStartFails) {
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  testing::FakeEvaluator failing([](const std::string&) { return HUGE_VAL; });
  CountDown proposer;
  EXPECT_FALSE(tuning::tune(from("9"), failing, proposer, nullptr, nullptr, options).ok());
  EXPECT_FALSE(std::filesystem::exists(options.directory));
  std::filesystem::create_directory(options.directory);
  std::ofstream(options.directory + "/mine") << "kept";
  EXPECT_FALSE(tuning::tune(from("9"), failing, proposer, nullptr, nullptr, options).ok());
  EXPECT_EQ(read_text(options.directory + "/mine"), "kept");
  EXPECT_FALSE(std::filesystem::exists(options.directory + "/journal.jsonl"));
  Hopeful numbers(1);
  EXPECT_TRUE(tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, options).ok());
}

TEST(Tune, SaysInTheReportWhichBarIsBetter) {
  class Higher : public testing::FakeEvaluator {
   public:
    using FakeEvaluator::FakeEvaluator;
    bool higher_is_better() const override { return true; }
  };
  const auto score = [](const std::string& text) { return 1 + std::stod(text); };
  testing::FakeEvaluator lower(score);
  Higher higher(score);
  for (tuning::Evaluator* evaluator :
       {static_cast<tuning::Evaluator*>(&lower), static_cast<tuning::Evaluator*>(&higher)}) {
    const TemporaryFolder directory;
    CountDown proposer;
    tuning::TuneOptions options;
    options.directory = directory.path() + "/search";
    ASSERT_TRUE(tuning::tune(from("3"), *evaluator, proposer, nullptr, nullptr, options).ok());
    EXPECT_THAT(
        read_text(options.directory + "/report.txt"),
        HasSubstr(evaluator == &lower ? "Trajectory  █▇▅▁  (the lower bar is the better)\n"
                                      : "Trajectory  ▁▂▅█  (the higher bar is the better)\n"));
  }
}

// So that a search of thousands of estimates before its first proposal can be followed; what was
// written down is not made again, so not said again.
TEST(Tune, SaysThatItEstimates) {
  class Estimating : public CountDown {
   public:
    std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
      const std::string texts[] = {"1", "2", "3"};
      round.estimate(texts, GuideDetail::kNone);
      return CountDown::propose(round);
    }
  };
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  options.budget.estimates = 8;
  std::vector<std::string> said;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind != tuning::TuneEvent::Kind::kEstimating) return;
    said.push_back(to_json(event));
    EXPECT_EQ(event.most_estimates, 8);
  };
  for (const bool resume : {false, true}) {
    options.resume = resume;
    options.budget.evaluations = resume ? 5 : 3;
    CountedNumbers numbers, estimator;
    Estimating proposer;
    ASSERT_TRUE(tuning::tune(from("9"), numbers, proposer, nullptr, &estimator, options).ok());
    ASSERT_EQ(said.size(), resume ? 3U : 2U);
    EXPECT_THAT(said.back(), HasSubstr(std::string("{\"event\":\"estimating\",\"estimates\":") +
                                       (resume ? "8" : "6") + ",\"of\":8,\"evaluations\":"));
  }
}

// Of a text that is no mapping, however long it is.
TEST(Tune, ReportsWhatChangedInAText) {
  std::string start =
      "a secret\n// groma: begin blocking  of it\nrows 4\nkept\ncolumns 4\n"
      "// groma: end\nunits 2  // groma: one of 2 3\n";
  const auto with = [&](const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = start;
    for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
    return text;
  };
  class Listed : public tuning::Proposer {
   public:
    explicit Listed(std::vector<std::string> texts) : texts_(std::move(texts)) {}
    std::string_view name() const override { return "listed"; }
    std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
      if (next_ == texts_.size()) return {};
      return {{texts_[next_++], "as listed"}};
    }

   private:
    std::vector<std::string> texts_;
    std::size_t next_ = 0;
  };
  std::string many;
  for (int i = 0; i < 100; ++i) many += "more\n";
  const std::string endless(100'000, 'x');
  Listed proposer({with({{"rows 4", "rows 8"}, {"columns 4", "tall\x1b 8\nwide 8"}}),
                   with({{"units 2 ", "units 3 "}}), with({{"kept\n", many}}),
                   with({{"kept", endless}})});
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  testing::FakeEvaluator evaluator(
      [](const std::string& text) { return text.find("units 3") == text.npos ? 2.0 : 1.0; });
  ASSERT_TRUE(tuning::tune(from(start), evaluator, proposer, nullptr, nullptr, options).ok());
  const std::string report = read_text(options.directory + "/report.txt");
  const std::string steps = read_text(options.directory + "/steps.txt");
  for (const std::string& text : {report, steps}) {
    EXPECT_EQ(text.find("secret"), text.npos);
    EXPECT_EQ(text.find("groma: begin"), text.npos);
  }
  EXPECT_THAT(steps, HasSubstr("\nStep 1: 2 s\n  the start\n\nStep 2: 2 s\n  as listed\n"
                               "  | line 3 of blocking\n  | - rows 4\n  | + rows 8\n"
                               "  | line 5 of blocking\n  | - columns 4\n  | + tall\\u001b 8\n"
                               "  | + wide 8\n\nStep 3: 1 s\n"));
  EXPECT_THAT(report, HasSubstr("\nThe best against the start\n  | line 7\n"
                                "  | - units 2  // groma: one of 2 3\n"
                                "  | + units 3  // groma: one of 2 3\n"));
  EXPECT_THAT(steps, HasSubstr("  | + more\n  | and 61 further lines\n"));
  EXPECT_LT(steps.size(), 3'000U);
  EXPECT_THAT(report, HasSubstr("\nImprovements, by their steps\n       1        2 s  the start\n"
                                "       3        1 s  as listed\n"));
  EXPECT_LT(report.size(), 1'000U);
}

// To the proposer, the report, a tool, and a search that is resumed.
TEST(Tune, WhatAFailureSaidLastIsTold) {
  class Talking : public CountedNumbers {
   public:
    bool simulated() const override { return false; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      tuning::Evaluation evaluation = CountedNumbers::evaluate(request);
      if (!evaluation.ok()) evaluation.feedback.last_lines = {"a line", "c[3] is \xFF"};
      return evaluation;
    }
  };
  class Hearing : public CountDown {
   public:
    void learn(const tuning::Step& step) override {
      CountDown::learn(step);
      if (!step.evaluation.ok()) heard = step.evaluation.feedback.last_lines;
    }
    std::vector<std::string> heard;
  };
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  std::string said;
  options.on_event = [&](const tuning::TuneEvent& event) { said += to_json(event); };
  for (const bool resume : {false, true}) {
    for (const auto feedback : {GuideDetail::kExecution, GuideDetail::kNone}) {
      options.feedback = feedback;
      options.directory = directory.path() + "/" + std::to_string(static_cast<int>(feedback));
      options.resume = resume;
      options.budget.evaluations = resume ? 5 : 4;
      Talking numbers;
      Hearing proposer;
      ASSERT_TRUE(tuning::tune(from("15"), numbers, proposer, nullptr, nullptr, options).ok());
      if (feedback == GuideDetail::kNone) {
        EXPECT_TRUE(proposer.heard.empty());
      } else {
        EXPECT_THAT(proposer.heard, ::testing::ElementsAre("a line", "c[3] is \xFF"));
      }
      EXPECT_THAT(read_text(options.directory + "/steps.txt"),
                  HasSubstr("  output: a line\n  output: c[3] is \\xff\n"));
    }
  }
  EXPECT_THAT(said, HasSubstr("\"last_lines\":[\"a line\",\"c[3] is "));
}

TEST(Tune, WithoutAModelThereIsNoneToAsk) {
  CountedNumbers numbers;
  CountDown proposer(true);
  const auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kModel);
  EXPECT_EQ(outcome->why, "there is no model to ask");
}

// ------------------------------------------------------------------------------- resuming a search

// A child process as the model: it answers "well, N" and notes in a file that it was asked.
llm::ChatClient model_noting(const std::string& path) {
  llm::ChatOptions options;
  options.endpoint = "exec:cat > /dev/null; echo asked >> " + path + "; echo well";
  return llm::ChatClient::make(std::move(options)).value();
}

std::size_t lines_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

Result<tuning::TuneOutcome> search(const std::string& directory, bool resume,
                                   CountedNumbers& numbers) {
  CountDown proposer(true);
  llm::ChatClient model = model_noting(directory + ".asked");
  tuning::TuneOptions options;
  options.directory = directory;
  options.resume = resume;
  options.budget.evaluations = 6;
  return tuning::tune(from("18"), numbers, proposer, &model, nullptr, options);
}

// Runs the search in a process that is killed when its journal has so many bytes.
void search_until(const std::string& directory, std::size_t bytes, bool full_disk) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{bytes, bytes};
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (full_disk) signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    CountedNumbers numbers;
    const auto outcome = search(directory, false, numbers);
    _exit(outcome.ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (full_disk) {
    EXPECT_TRUE(WIFEXITED(status));
  }
}

void expect_resumed(bool full_disk) {
  const TemporaryFolder directory;
  CountedNumbers numbers;
  const std::string whole = directory.path() + "/whole";
  const auto expected = search(whole, false, numbers);
  ASSERT_TRUE(expected.ok());
  const std::string journal = read_text(whole + "/journal.jsonl");
  const std::size_t asked = lines_in(whole + ".asked");
  std::set<std::size_t> cuts;
  for (std::size_t at = journal.find('\n'); at != journal.npos; at = journal.find('\n', at + 1)) {
    for (const std::size_t cut : {at, at + 30}) cuts.insert(cut);
  }
  EXPECT_GT(cuts.size(), 30U);
  for (const std::size_t cut : cuts) {
    if (cut >= journal.size() - 2) continue;
    const std::string killed = directory.path() + "/" + std::to_string(cut);
    search_until(killed, cut, full_disk);
    const std::string left = read_text(killed + "/journal.jsonl");
    ASSERT_LE(left.size(), cut);
    const auto recorded = [&](const char* about) {
      std::size_t count = 0;
      for (std::size_t at = left.find(about); at != left.npos; at = left.find(about, at + 1)) {
        count += left.find('\n', at) != left.npos ? 1U : 0U;
      }
      return count;
    };
    const std::size_t steps = recorded("{\"step\""), free = recorded("\"free\"");
    CountedNumbers again;
    // What could not even write what it is left nothing.
    const bool begun = std::filesystem::exists(killed + "/journal.jsonl");
    EXPECT_EQ(begun, !full_disk || cut > *cuts.begin()) << cut;
    const auto outcome = search(killed, begun, again);
    ASSERT_TRUE(outcome.ok()) << cut << ": " << outcome.error().message;
    EXPECT_EQ(outcome->best->proposal.text, expected->best->proposal.text) << cut;
    EXPECT_EQ(outcome->trajectory, expected->trajectory) << cut;
    EXPECT_EQ(outcome->spent.evaluations, expected->spent.evaluations) << cut;
    EXPECT_EQ(static_cast<std::size_t>(again.calls),
              static_cast<std::size_t>(expected->spent.evaluations) + free - steps)
        << cut;
    // A reply that was being written when the end came is asked for again, and counted twice.
    const std::size_t lost = recorded("{\"asked\"") - recorded("{\"reply\"");
    const std::size_t all = lines_in(killed + ".asked");
    EXPECT_LE(all, asked + 1) << cut;
    if (lost > 0) {
      EXPECT_GT(outcome->spent.tokens, expected->spent.tokens) << cut;
    } else {
      EXPECT_EQ(outcome->spent.tokens, expected->spent.tokens) << cut;
    }
    const std::string now = testing::without_times(read_text(killed + "/journal.jsonl"));
    if (lost == 0) {
      EXPECT_EQ(now, testing::without_times(journal)) << cut;
    }
    EXPECT_EQ(read_text(killed + "/best.txt"), read_text(whole + "/best.txt")) << cut;
    std::filesystem::remove_all(killed);
  }
}

TEST(Resume, AfterAnEndAtAnyWrite) { expect_resumed(false); }
TEST(Resume, AfterAFullDiskAtAnyWrite) { expect_resumed(true); }

// Proposals that come several at once, some of them alike: where the search ends among them, those
// that are written down are not run again.
TEST(Resume, AmongProposalsThatCameAtOnce) {
  class Threes : public tuning::Proposer {
   public:
    std::string_view name() const override { return "threes"; }
    std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
      const std::string next = std::to_string(next_ -= 2), other = std::to_string(next_ + 1);
      return {{next, ""}, {"17", ""}, {" " + next, ""}, {other, ""}, {next, ""}, {"17", ""}};
    }

   private:
    int next_ = 20;
  };
  class Spaced : public CountedNumbers {
   public:
    std::string canonical(const std::string& text) const override {
      return text.substr(text.find_first_not_of(' '));
    }
    int parallel() const override { return 2; }
  };
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.budget.evaluations = 7;
  const auto go = [&](const std::string& name, bool resume) {
    options.directory = directory.path() + "/" + name;
    options.resume = resume;
    Threes proposer;
    Spaced numbers;
    const auto outcome = tuning::tune(from("20"), numbers, proposer, nullptr, nullptr, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return numbers.calls.load();
  };
  EXPECT_EQ(go("whole", false), 7);
  const std::string whole = read_text(directory.path() + "/whole/journal.jsonl");
  int runs = 0, cuts = 0;
  for (std::size_t at = whole.find('\n') + 1; at < whole.size(); at = whole.find('\n', at) + 1) {
    const std::string name = std::to_string(at);
    std::filesystem::create_directory(directory.path() + "/" + name);
    std::ofstream(directory.path() + "/" + name + "/journal.jsonl") << whole.substr(0, at);
    EXPECT_EQ(go(name, true), 7 - runs) << at;
    EXPECT_EQ(testing::without_times(read_text(directory.path() + "/" + name + "/journal.jsonl")),
              testing::without_times(whole))
        << at;
    const std::string line = whole.substr(at, whole.find('\n', at) - at);
    const bool ran = line.starts_with("{\"step") && line.find("\"free\"") == line.npos;
    runs += ran ? 1 : 0;
    ++cuts;
  }
  EXPECT_EQ(runs, 7);
  EXPECT_GT(cuts, 15);
}

// A search of 20 numbers without a model; what was wrong with it, and how often it says that it is
// resumed.
std::string count_down(const std::string& directory, bool resume, int* resumed = nullptr,
                       const std::function<void()>& on_event = {}) {
  CountedNumbers numbers;
  CountDown proposer;
  tuning::TuneOptions options;
  options.directory = directory;
  options.resume = resume;
  options.budget.evaluations = 20;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (resumed != nullptr && event.kind == tuning::TuneEvent::Kind::kResumed) ++*resumed;
    if (on_event) on_event();
  };
  const auto outcome = tuning::tune(from("30"), numbers, proposer, nullptr, nullptr, options);
  if (!outcome) return outcome.error().message;
  return outcome->best->proposal.text == "10" ? "" : "another best";
}

// The journal can be written, the best text cannot.
TEST(Resume, WhereTheBestCouldNotBeWritten) {
  const TemporaryFolder directory;
  const std::string whole = directory.path() + "/whole", search = directory.path() + "/search";
  ASSERT_EQ(count_down(whole, false), "");
  int events = 0;
  const auto block = [&] {
    if (++events != 7) return;
    std::filesystem::remove(search + "/best.txt");
    std::filesystem::create_directory(search + "/best.txt");
  };
  EXPECT_THAT(count_down(search, false, nullptr, block),
              HasSubstr("cannot write `" + search + "/best.txt`: Is a directory"));
  EXPECT_THAT(count_down(search, true), HasSubstr("best.txt`: Is a directory"));
  std::filesystem::remove(search + "/best.txt");
  EXPECT_EQ(count_down(search, true), "");
  EXPECT_EQ(read_text(search + "/best.txt"), "10");
  EXPECT_EQ(testing::without_times(read_text(search + "/journal.jsonl")),
            testing::without_times(read_text(whole + "/journal.jsonl")));
}

TEST(Resume, SaysOnceThatItIs) {
  const TemporaryFolder directory;
  const std::string whole = directory.path() + "/whole";
  ASSERT_EQ(count_down(whole, false), "");
  const std::string journal = read_text(whole + "/journal.jsonl");
  int cuts = 0;
  for (std::size_t at = journal.find('\n') + 1; at < journal.size();
       at = journal.find('\n', at) + 1) {
    const std::string cut = directory.path() + "/" + std::to_string(at);
    std::filesystem::create_directory(cut);
    std::ofstream(cut + "/journal.jsonl") << journal.substr(0, at);
    int resumed = 0;
    EXPECT_EQ(count_down(cut, true, &resumed), "");
    EXPECT_EQ(resumed, cuts++ == 0 ? 0 : 1) << at;  // at first there is nothing to go through
  }
  EXPECT_GT(cuts, 40);
}

// A file system of some pages of 4 KB, for the lock, the journal, the best and its next one; then
// there is more room.
TEST(Resume, AfterADiskOfAnySizeIsFull) {
  const TemporaryFolder directory;
  const std::string search = directory.path() + "/search";
  const std::string whole = directory.path() + "/whole", said = directory.path() + "/said";
  ASSERT_EQ(count_down(whole, false), "");
  std::filesystem::create_directory(search);
  std::set<std::string> failures;
  for (int pages = 1; pages <= 8; ++pages) {
    const pid_t child = fork();
    if (child == 0) {  // the mount ends with it
      const auto mounted = [&](unsigned long how, int count) {
        return mount("none", search.c_str(), "tmpfs", how,
                     ("size=" + std::to_string(count * 4096)).c_str()) == 0;
      };
      if (unshare(CLONE_NEWNS) != 0 ||
          mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mounted(0, pages)) {
        _exit(2);
      }
      const std::string first = count_down(search, false);
      const bool more = mounted(MS_REMOUNT, 100);
      const bool begun = std::filesystem::exists(search + "/journal.jsonl");
      const std::string second = more ? count_down(search, begun) : "nothing to resume";
      const bool same =
          second.empty() && testing::without_times(read_text(search + "/journal.jsonl")) ==
                                testing::without_times(read_text(whole + "/journal.jsonl"));
      std::ofstream(said) << first << "\n" << second << "\n" << (same ? "same" : "other") << "\n";
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "nothing may be mounted";
    std::istringstream lines(read_text(said));
    std::string first, second, same;
    std::getline(lines, first);
    std::getline(lines, second);
    std::getline(lines, same);
    failures.insert(first.substr(first.find_last_of('/') + 1));
    EXPECT_EQ(second, "") << pages << " pages, before: " << first;
    EXPECT_EQ(same, "same") << pages << " pages, before: " << first;
  }
  EXPECT_THAT(failures, ::testing::IsSupersetOf({"journal.jsonl`: No space left on device",
                                                 "best.txt`: No space left on device", ""}))
      << ::testing::PrintToString(failures);
}

TEST(Resume, GoesOnWithALargerBudget) {
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  options.budget.evaluations = 3;
  CountedNumbers numbers;
  CountDown first;
  ASSERT_TRUE(tuning::tune(from("9"), numbers, first, nullptr, nullptr, options).ok());
  options.resume = true;
  options.budget.evaluations = 5;
  CountDown second;
  const auto outcome = tuning::tune(from("9"), numbers, second, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->best->proposal.text, "5");
  EXPECT_EQ(numbers.calls, 5);
}

TEST(Resume, RefusesWhatIsNotTheSearch) {
  const TemporaryFolder directory;
  tuning::TuneOptions options;
  options.directory = directory.path() + "/search";
  options.budget.evaluations = 3;
  CountedNumbers numbers;
  const auto again = [&](const std::string& start, bool resume) {
    CountDown proposer;
    options.resume = resume;
    const auto outcome = tuning::tune(from(start), numbers, proposer, nullptr, nullptr, options);
    return outcome.ok() ? std::string("it went on") : outcome.error().message;
  };
  EXPECT_EQ(again("9", false), "it went on");
  EXPECT_THAT(again("9", false), HasSubstr("holds a search already"));
  EXPECT_THAT(again("8", true),
              HasSubstr("journal.jsonl:1: this is the journal of another search"));
  // Damaged before its end.
  const std::string path = directory.path() + "/search/journal.jsonl";
  std::string journal = read_text(path);
  const std::size_t second = journal.find('\n') + 1;
  std::string damaged = journal;
  damaged[second + 2] = '\1';
  std::ofstream(path) << damaged;
  EXPECT_THAT(again("9", true), HasSubstr("journal.jsonl:2: the journal is damaged here"));
  // Of a search that went another way.
  const std::size_t text = journal.find("\"text\":\"8\"");
  ASSERT_NE(text, journal.npos);
  std::ofstream(path) << journal.substr(0, text) + "\"text\":\"6\"" + journal.substr(text + 10);
  EXPECT_THAT(again("9", true), HasSubstr("proposes something else"));
  options.directory = directory.path() + "/nowhere";
  EXPECT_THAT(again("9", true), HasSubstr("cannot read"));
}

TEST(Resume, TwoDoNotWriteIntoOneDirectory) {
  const TemporaryFolder directory;
  const std::string path = directory.path() + "/search";
  tuning::TuneOptions options;
  options.directory = path;
  options.budget.evaluations = 3;
  std::string other;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind != tuning::TuneEvent::Kind::kEvaluated || !other.empty()) return;
    const pid_t child = fork();
    if (child == 0) {
      tuning::TuneOptions second;
      second.directory = path;
      second.resume = true;
      CountedNumbers numbers;
      CountDown proposer;
      const auto outcome = tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, second);
      std::ofstream(directory.path() + "/said") << (outcome ? "" : outcome.error().message);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    other = read_text(directory.path() + "/said");
  };
  CountedNumbers numbers;
  CountDown proposer;
  ASSERT_TRUE(tuning::tune(from("9"), numbers, proposer, nullptr, nullptr, options).ok());
  EXPECT_THAT(other, HasSubstr(std::to_string(getpid())));
  EXPECT_EQ(read_text(path + "/best.txt"), "7");
}

// ----------------------------------------------------------------------------------- the simulator

TEST(SimulatedEvaluator, GivesWhatARunGives) {
  const auto machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  const Workload stencil = Workload::make(find_benchmark("stencil")->make()).value();
  const Workload small =
      Workload::make(with_values(find_benchmark("stencil")->make(), "size=small").value()).value();
  auto evaluator = tuning::make_simulated_evaluator(machine, {stencil, small});
  EXPECT_EQ(evaluator->inputs().size(), 2U);
  EXPECT_NE(evaluator->inputs()[0], evaluator->inputs()[1]);
  const tuning::Evaluation default_mapper = evaluator->evaluate({"", GuideDetail::kProfile});
  ASSERT_TRUE(default_mapper.ok());
  ASSERT_EQ(default_mapper.values.size(), 2U);
  EXPECT_NEAR(default_mapper.score, std::sqrt(default_mapper.values[0] * default_mapper.values[1]),
              1e-12);
  ASSERT_TRUE(default_mapper.feedback.profile.has_value());
  EXPECT_FALSE(default_mapper.feedback.explain.empty());
  // Which of the inputs that is about.
  EXPECT_THAT(default_mapper.feedback.execution,
              ::testing::EndsWith(" (of " + evaluator->inputs()[0] + ")"));
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(evaluator->check("Task * GPU, CPU;", GuideDetail::kNone).has_value());
    EXPECT_TRUE(evaluator->check("Task * GPUS;", GuideDetail::kNone).has_value());
  }
  const auto refused = evaluator->check("Task * GPUS;", GuideDetail::kSuggest);
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->feedback.execution, HasSubstr("GPUS"));
  EXPECT_EQ(evaluator->evaluate({"Task * GPUS;"}).status, tuning::Evaluation::Status::kRefused);
  // It checks first after a text that was refused, and runs first after a text that ran.
  EXPECT_FALSE(evaluator->runs_before_check());
  EXPECT_TRUE(evaluator->evaluate({"Task * GPU, CPU;"}).ok());
  EXPECT_TRUE(evaluator->runs_before_check());
  EXPECT_EQ(evaluator->canonical("Task  * GPU; # a"), evaluator->canonical("Task * GPU;"));
  EXPECT_NE(evaluator->canonical("Task * GPU;"), evaluator->canonical("Task * CPU;"));
}

// Proposals of one generation are checked and run on all cores.
TEST(SimulatedEvaluator, SeveralAtOnceFindWhatOneFinds) {
  const TemporaryFolder directory;
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs = {
      Workload::make(with_values(find_benchmark("circuit")->make(), "size=small").value()).value()};
  const auto journal = [&](const std::string& name, int threads) {
    auto evaluator = tuning::make_simulated_evaluator(problem.machine, problem.inputs);
    auto proposer = tuning::make_proposer("opentuner", problem, 3).value();
    tuning::TuneOptions options;
    options.directory = directory.path() + "/" + name;
    options.budget.evaluations = 40;
    options.threads = threads;
    const auto outcome = tuning::tune(problem, *evaluator, *proposer, nullptr, nullptr, options);
    EXPECT_TRUE(outcome.ok() && outcome->spent.evaluations == 40);
    return testing::without_times(read_text(options.directory + "/journal.jsonl"));
  };
  const std::string one = journal("one", 1);
  EXPECT_THAT(one, HasSubstr("\"status\":\"refused\""));
  EXPECT_EQ(one, journal("all", 0));
}

// Proposes one mapping; what of it decides nothing goes when the search ends.
class OneMapping : public tuning::Proposer {
 public:
  explicit OneMapping(std::string text) : text_(std::move(text)) {}
  std::string_view name() const override { return "one mapping"; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    if (round.history().best() != nullptr && round.history().last()->number > 1) return {};
    return {{text_, "one"}};
  }

 private:
  std::string text_;
};

constexpr char kGiven[] = "# mine\nTask * GPU, OMP, CPU;\n";
constexpr char kWorth[] =
    "def same(Task task) {\n  m = Machine(GPU);\n  return m[*task.parent.processor(m)];\n}\n\n"
    "SingleTaskMap task_4 same;\n";
constexpr char kWorthless[] =
    "# Of no use.\ndef unused(Task task) {\n  m = Machine(GPU);\n  return m[0, 0];\n}\n\n"
    "InstanceLimit task_4 1000000;\n";

struct Tidied {
  Result<tuning::TuneOutcome> outcome;
  std::string best, report, journal;
};

Tidied tidied(const std::string& directory, const std::function<void(tuning::TuneOptions*)>& change,
              bool simulated = true) {
  tuning::SearchProblem problem;
  problem.start = kGiven;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs = {
      Workload::make(with_values(find_benchmark("cannon")->make(), "size=small").value()).value()};
  class Measured : public tuning::Evaluator {
   public:
    explicit Measured(std::unique_ptr<tuning::Evaluator> runtime) : runtime_(std::move(runtime)) {}
    std::vector<std::string> inputs() const override { return runtime_->inputs(); }
    std::string unit() const override { return "s"; }
    tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
      return runtime_->evaluate(request);
    }

   private:
    std::unique_ptr<tuning::Evaluator> runtime_;
  };
  auto evaluator = tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  if (!simulated) evaluator = std::make_unique<Measured>(std::move(evaluator));
  OneMapping proposer(std::string(kWorthless) + kWorth + kGiven);
  tuning::TuneOptions options;
  options.directory = directory;
  options.budget.evaluations = 5;
  change(&options);
  auto outcome = tuning::tune(problem, *evaluator, proposer, nullptr, nullptr, options);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return {std::move(outcome), read_text(directory + "/best.mapper"),
          read_text(directory + "/report.txt"),
          testing::without_times(read_text(directory + "/journal.jsonl"))};
}

TEST(Tune, WhatIsWorthNothingIsTakenOutOfTheBest) {
  const TemporaryFolder directory;
  const auto nothing = [](tuning::TuneOptions*) {};
  const Tidied first = tidied(directory.path() + "/first", nothing);
  EXPECT_EQ(first.best, std::string(kWorth) + kGiven);
  EXPECT_EQ(first.outcome->best->proposal.text, first.best);
  EXPECT_EQ(first.outcome->spent.evaluations, 2);
  ASSERT_EQ(first.outcome->dropped.size(), 2U);
  EXPECT_EQ(first.outcome->dropped.front(), "InstanceLimit task_4 1000000;");
  EXPECT_THAT(first.report, HasSubstr("\n       without 2 statements that were worth nothing\n"));
  EXPECT_THAT(first.report,
              HasSubstr("\nWorth nothing, and so taken out of the best\n  - InstanceLimit task_4"));
  EXPECT_THAT(to_json(*first.outcome), HasSubstr("\"dropped\":[\"InstanceLimit task_4 1000000;\""));
  // The journal has it as it was tried; gone through again it comes to the same.
  EXPECT_THAT(first.journal, HasSubstr("unused"));
  const Tidied again = tidied(directory.path() + "/first",
                              [](tuning::TuneOptions* options) { options->resume = true; });
  EXPECT_EQ(again.best, first.best);
  EXPECT_EQ(again.journal, first.journal);
  EXPECT_EQ(to_json(*again.outcome).substr(0, to_json(*again.outcome).find("\"seconds\"")),
            to_json(*first.outcome).substr(0, to_json(*first.outcome).find("\"seconds\"")));
}

TEST(Tune, NothingIsTakenOutWhereThatIsNotForNothing) {
  const TemporaryFolder directory;
  const std::string all = std::string(kWorthless) + kWorth + kGiven;
  EXPECT_EQ(
      tidied(directory.path() + "/compare", [](tuning::TuneOptions* o) { o->compare = true; }).best,
      all);
  EXPECT_EQ(tidied(
                directory.path() + "/measured", [](tuning::TuneOptions*) {}, false)
                .best,
            all);
  const Tidied stopped = tidied(directory.path() + "/stopped", [](tuning::TuneOptions* options) {
    const auto stop = std::make_shared<bool>(false);
    options->stop = [stop] { return *stop; };
    options->on_event = [stop](const tuning::TuneEvent& event) {
      *stop = event.spent.evaluations == 2;
    };
  });
  EXPECT_EQ(stopped.outcome->end, End::kStopped);
  EXPECT_EQ(stopped.best, all);
}

TEST(Sparkline, IsALetterForEachScore) {
  EXPECT_EQ(tuning::sparkline(std::vector<double>{}), "");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(tuning::sparkline(std::vector<double>{8, inf, 4, 1}), "█·▆▁");
  EXPECT_EQ(tuning::sparkline(std::vector<double>{2, 2}), "▁▁");
  // Scores of values that are better when they are higher: 1/8, 1/4, 1.
  EXPECT_EQ(tuning::sparkline(std::vector<double>{8, inf, 4, 1}, 60, true), "▁·▃█");
  EXPECT_EQ(tuning::sparkline(std::vector<double>{2, 2}, 60, true), "██");
  EXPECT_EQ(tuning::sparkline(std::vector<double>{8, 1, 4, 8}, 2, true),
            "█▁");  // the best of each half
  const std::vector<double> many(1000, 3.0);
  EXPECT_EQ(tuning::sparkline(many, 10).size(), 10 * std::string("▁").size());
}

}  // namespace
}  // namespace groma
