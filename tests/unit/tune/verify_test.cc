// Verification: which mappings of a search are worth one, what their runs say, and runs of a shell
// script that answers as a Legion program with Groma's library does.
#include "groma/verify.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_text;
using Measure = tuning::Verification::ComparedValue;

tuning::Step step(std::int64_t number, const std::string& text, double score) {
  tuning::Step step{number, {text, "why"}, {}};
  step.evaluation.score = score;
  step.evaluation.status =
      std::isfinite(score) ? tuning::Evaluation::Status::kOk : tuning::Evaluation::Status::kFailed;
  return step;
}

std::vector<std::string> names_of(const std::vector<tuning::VerifyCandidate>& candidates) {
  std::vector<std::string> names;
  for (const tuning::VerifyCandidate& each : candidates) names.push_back(each.name);
  return names;
}

tuning::VerifiedMapping ran(const std::string& name, std::vector<double> runs,
                            double simulated = NAN) {
  return {{name, name + " text", simulated, name == "start"}, std::move(runs)};
}

tuning::VerifiedMapping failed(const std::string& name, const std::string& why, bool is_wrong) {
  tuning::VerifiedMapping mapping = ran(name, {});
  mapping.why = why;
  mapping.is_wrong = is_wrong;
  return mapping;
}

// ---- Candidates

TEST(BestSteps, KeepsTheBestWithDifferentTexts) {
  tuning::BestSteps best;
  for (const tuning::Step& each :
       {step(1, "a", 5), step(2, "b", 3), step(3, "b", 3), step(4, "c", HUGE_VAL), step(5, "d", 4),
        step(6, "e", 1), step(7, "f", 6)}) {
    best.add(each);
  }
  std::vector<std::int64_t> numbers;
  for (const tuning::Step& each : best.all()) numbers.push_back(each.number);
  EXPECT_THAT(numbers, ElementsAre(6, 2, 5));
}

TEST(Candidates, AreTheStartAndTheBestSteps) {
  const FakeEvaluator evaluator([](const std::string&) { return 1.0; });
  tuning::TuneOutcome outcome;
  outcome.start = step(1, "a", 5);
  outcome.best = step(3, "c", 2);
  tuning::BestSteps best;
  for (const tuning::Step& each : {*outcome.start, step(2, "b", 3), *outcome.best}) best.add(each);
  const auto candidates = tuning::candidates_of(outcome, best, evaluator);
  EXPECT_THAT(names_of(candidates), ElementsAre("start", "step 3", "step 2"));
  EXPECT_TRUE(candidates[0].is_start);
  EXPECT_FALSE(candidates[1].is_start);
  EXPECT_EQ(candidates[1].simulated, 2);
  EXPECT_EQ(candidates[1].text, "c");
}

// A resumed search passes on only its new steps.
TEST(Candidates, HaveTheBestOfAResumedSearch) {
  const FakeEvaluator evaluator([](const std::string&) { return 1.0; });
  tuning::TuneOutcome outcome;
  outcome.start = step(1, "a", 5);
  outcome.best = step(3, "c", 2);
  tuning::BestSteps best;
  best.add(step(9, "d", 4));
  EXPECT_THAT(names_of(tuning::candidates_of(outcome, best, evaluator)),
              ElementsAre("start", "step 9", "step 3"));
  outcome.best = outcome.start;
  EXPECT_THAT(names_of(tuning::candidates_of(outcome, {}, evaluator)), ElementsAre("start"));
}

TEST(Candidates, OfMeasuredMappingsHaveNoSimulatedValue) {
  tuning::TuneOutcome outcome;
  outcome.start = step(1, "a", HUGE_VAL);
  outcome.best = step(3, "c", 2);
  const auto candidates = tuning::candidates_of(outcome);
  EXPECT_THAT(names_of(candidates), ElementsAre("step 3"));  // the start did not run
  EXPECT_TRUE(std::isnan(candidates[0].simulated));
  outcome.start = step(1, "a", 5);
  EXPECT_THAT(names_of(tuning::candidates_of(outcome)), ElementsAre("start", "step 3"));
  outcome.best = outcome.start;
  EXPECT_THAT(names_of(tuning::candidates_of(outcome)), ElementsAre("start"));
}

// ---- What the runs say

TEST(Verification, TheFastestHasTheBestMedian) {
  tuning::Verification verified;
  verified.all = {ran("start", {3, 1, 2}), failed("step 2", "exit code 3", false),
                  ran("step 3", {1.5, 9, 1}), ran("step 4", {1, 4})};
  EXPECT_EQ(verified.all[0].median(), 2);
  EXPECT_EQ(verified.all[3].median(), 2.5);
  EXPECT_EQ(verified.fastest(), &verified.all[2]);
  EXPECT_EQ(verified.start(), &verified.all[0]);
  verified.higher_is_better = true;
  EXPECT_EQ(verified.fastest(), &verified.all[3]);
  verified.all = {failed("start", "exit code 3", false)};
  EXPECT_EQ(verified.fastest(), nullptr);
  EXPECT_EQ(verified.start(), nullptr);
}

TEST(Verification, RunsDifferOnlyIfTheirIntervalsDoNotOverlap) {
  tuning::Verification verified;
  const auto slower = verified.compare(ran("one", {4, 4, 4}), ran("other", {2, 2, 2}));
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->speedup, 0.5);
  EXPECT_TRUE(slower->differs);
  EXPECT_FALSE(slower->one_run);
  const auto noisy = verified.compare(ran("one", {2, 2, 2}), ran("other", {1, 4, 7}));
  ASSERT_TRUE(noisy);
  EXPECT_FALSE(noisy->differs);
  EXPECT_EQ(noisy->noise, 0.75);
  EXPECT_TRUE(verified.compare(ran("one", {2}), ran("other", {1, 4}))->one_run);
  EXPECT_FALSE(verified.compare(ran("one", {}), ran("other", {1})));
  verified.higher_is_better = true;
  EXPECT_EQ(verified.compare(ran("one", {4}), ran("other", {2}))->speedup, 2);
}

TEST(Verification, IsDrawn) {
  tuning::Verification verified;
  verified.measure = Measure::kElapsed;
  verified.repeats = 3;
  verified.without = ran("without a mapping", {0.02, 0.02, 0.02});
  verified.all = {ran("start", {0.03, 0.03, 0.03}, 4), failed("step 3", "exit code 3", false),
                  failed("step 4", "it prints `1` instead of `2`", true),
                  ran("step 5", {0.01, 0.01, 0.01}, 2)};
  EXPECT_EQ(draw(verified, "./program", "s", "solve"),
            "\n./program for real, medians of 3 runs each in turn, of the `elapsed` time that it "
            "says; simulated is its phase `solve`\n"
            "                        measured  least to most             simulated\n"
            "  without a mapping        20 ms  20 ms to 20 ms\n"
            "  start                    30 ms  30 ms to 30 ms            4 s  1.5 times as slow as "
            "without a mapping\n"
            "  step 3                  failed  exit code 3\n"
            "  step 4                   wrong  it prints `1` instead of `2`\n"
            "  step 5                   10 ms  10 ms to 10 ms            2 s  2 times as fast as "
            "without a mapping\n"
            "the fastest mapping is step 5: 2 times as fast as without a mapping, 3 times as fast "
            "as the start\n");
}

TEST(Verification, SaysThatNothingIsFaster) {
  tuning::Verification verified;
  verified.repeats = 1;
  verified.without = ran("without a mapping", {2});
  verified.all = {ran("start", {1}), ran("step 2", {1.5})};
  EXPECT_THAT(draw(verified, "./program", "", ""),
              AllOf(HasSubstr("medians of 1 run each in turn, of the whole process, its start "
                              "included\n"),
                    HasSubstr("\nnothing that was found is faster for real than the start\n"),
                    HasSubstr("\none run each does not show the noise: --repeats 3\n"),
                    Not(HasSubstr("simulated"))));
  verified.without.runs = {1};
  EXPECT_THAT(draw(verified, "./program", "", ""),
              HasSubstr("\nnothing that was found is faster for real than the program without a "
                        "mapping\n"));
}

TEST(Verification, IsALineOfJson) {
  tuning::Verification verified;
  verified.measure = Measure::kMetric;
  verified.unit = "points";
  verified.higher_is_better = true;
  verified.without = ran("without a mapping", {5});
  verified.all = {ran("start", {5}, 4), failed("step 2", "exit code 3", false)};
  EXPECT_EQ(to_json(verified, {"a warning"}),
            R"({"event":"verified","measure":"metric","unit":"points",)"
            R"("without_mapping":{"value":5.0,"runs":[5.0]},"candidates":[)"
            R"({"name":"start","simulated":4.0,"value":5.0,"runs":[5.0],)"
            R"("beside_without":{"speedup":1.0,"noise":0.0,"differs":false}},)"
            R"({"name":"step 2","error":"exit code 3","wrong":false}],"fastest":"start",)"
            R"("unsteady_lines":0,"warnings":["a warning"]})"
            "\n");
}

// ---- Runs

// A file that the loader accepts as a library.
std::string any_library() {
  Dl_info info;
  GROMA_CHECK(dladdr(reinterpret_cast<void*>(&std::getenv), &info) != 0);
  return info.dli_fname;
}

class Verify : public ::testing::Test {
 protected:
  // The program is a shell script. `$mapped` is empty in a run without a mapping.
  void set_program(const std::string& script) {
    options_.run.words = {"sh",
                          folder_.write("program.sh",
                                        "mapped=$GROMA_MAPPING\n"
                                        "if [ \"$mapped\" ]; then\n"
                                        "  echo groma: mapped by it >&2\n"
                                        "elif [ \"${GROMA_RECORD}\" ]; then\n"
                                        "  echo 'groma: records, nodes=1,gpu=0,cpu=2,omp=0' >&2\n"
                                        "fi\n" +
                                            script)};
    options_.run.library = any_library();
    options_.repeats = 2;
  }
  Result<tuning::Verification> verified(const std::vector<std::string>& texts) const {
    std::vector<tuning::VerifyCandidate> candidates;
    for (const std::string& text : texts) candidates.push_back({"the " + text, text});
    return tuning::verify(candidates, options_);
  }

  TemporaryFolder folder_;
  tuning::VerifyOptions options_;
};

TEST_F(Verify, RunsInTurnForwardsAndBackwards) {
  set_program("exit 0\n");
  std::vector<std::string> told;
  options_.on_run = [&](const std::string& name, int run) {
    told.push_back(name + " " + std::to_string(run));
  };
  const auto result = verified({"# a", "# b"});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->measure, Measure::kProcess);
  EXPECT_EQ(result->unit, "s");
  for (const tuning::VerifiedMapping* each : {&result->without, &result->all[0], &result->all[1]}) {
    EXPECT_EQ(each->runs.size(), 2U) << each->candidate.name << ": " << each->why;
  }
  EXPECT_THAT(
      told, ElementsAre("without a mapping 0", "the # a 0", "the # b 0", "without a mapping 1",
                        "the # a 1", "the # b 1", "the # b 2", "the # a 2", "without a mapping 2"));
}

TEST_F(Verify, TheTimeThatTheProgramPrintsCounts) {
  set_program("if [ \"$mapped\" ]; then t=0.015; else t=0.030; fi\necho ELAPSED TIME = $t s\n");
  const auto result = verified({"# a"});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->measure, Measure::kElapsed);
  EXPECT_THAT(result->without.runs, ElementsAre(0.030, 0.030));
  EXPECT_THAT(result->all[0].runs, ElementsAre(0.015, 0.015));
  EXPECT_EQ(result->fastest(), &result->all[0]);
}

TEST_F(Verify, AMetricCounts) {
  set_program("echo elapsed 7 ms\necho score: 5\n");
  options_.metric.metric_pattern = "score: (.*)";
  options_.metric.unit = "points";
  options_.metric.higher_is_better = true;
  const auto result = verified({"# a"});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->measure, Measure::kMetric);
  EXPECT_EQ(result->unit, "points");
  EXPECT_TRUE(result->higher_is_better);
  EXPECT_THAT(result->all[0].runs, ElementsAre(5, 5));
}

TEST_F(Verify, AFailureAndOtherResultsAreNotTaken) {
  set_program("case $mapped in *fails*) exit 3;; *wrong*) echo sum 5;; *) echo sum 4;; esac\n");
  const auto result = verified({"# fails", "# wrong", "# right"});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_THAT(result->all[0].runs, IsEmpty());
  EXPECT_THAT(result->all[0].why, HasSubstr("exit code 3"));
  EXPECT_FALSE(result->all[0].is_wrong);
  EXPECT_THAT(result->all[1].why, HasSubstr("it prints `sum 5` instead of `sum 4`"));
  EXPECT_TRUE(result->all[1].is_wrong);
  EXPECT_EQ(result->fastest(), &result->all[2]);
}

TEST_F(Verify, AStopLeavesWhatWasMeasured) {
  set_program("exit 0\n");
  int runs = 0;
  options_.on_run = [&](const std::string&, int) { ++runs; };
  options_.run.stop = [&] { return runs >= 3; };
  const auto result = verified({"# a"});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(runs, 3);
  EXPECT_THAT(result->all[0].runs, IsEmpty());
}

TEST_F(Verify, WrongOptionsRunNothing) {
  set_program("echo > " + folder_.path() + "/ran\n");
  options_.metric.higher_is_better = true;
  EXPECT_EQ(tuning::look_at_program(options_).error().message,
            "of seconds fewer are better; a metric is missing");
  options_.metric.metric_pattern = "(";
  EXPECT_EQ(tuning::look_at_program(options_).error().code, Error::Code::kMalformed);
  EXPECT_EQ(verified({"# a"}).error().code, Error::Code::kMalformed);
  EXPECT_EQ(read_text(folder_.path() + "/ran"), "");
  options_.run.words = {"./no_such_program"};
  EXPECT_EQ(tuning::wrong_verify_options(options_)->message,
            "there is no program `./no_such_program` that can be run");
}

TEST_F(Verify, TheProgramIsLookedAtBeforeASearch) {
  set_program("exit 0\n");
  const auto machine = make_machine("nodes=1,gpu=0,cpu=4,omp=0");
  ASSERT_TRUE(machine.ok());
  options_.machine = std::make_shared<const Machine>(*machine);
  const auto other = tuning::look_at_program(options_);
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_THAT(*other, ElementsAre(HasSubstr("`sh` has other processors or memories: --machine "
                                            "nodes=1,gpu=0,cpu=2,omp=0")));
  options_.machine = std::make_shared<const Machine>(*make_machine("nodes=1,gpu=0,cpu=2,omp=0"));
  EXPECT_THAT(*look_at_program(options_), IsEmpty());
  options_.metric.metric_pattern = "score: (.*)";
  EXPECT_THAT(tuning::look_at_program(options_).error().message,
              HasSubstr("`sh` cannot be verified: nothing that was printed matches"));
}

TEST_F(Verify, AProgramThatFailsAsItMapsItselfMayRunUnderAMapping) {
  set_program("exit 3\n");
  const auto warnings = tuning::look_at_program(options_);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  EXPECT_THAT(*warnings, ElementsAre(HasSubstr("`sh` fails as it maps itself: ")));
  options_.run.words = {"sh", "-c", "echo hello"};  // it starts no Legion
  EXPECT_THAT(tuning::look_at_program(options_).error().message,
              HasSubstr("`sh` cannot be verified: "));
}

}  // namespace
}  // namespace groma
