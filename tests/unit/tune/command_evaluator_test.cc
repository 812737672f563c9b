// The command evaluator with real processes: most texts are shell scripts that print their value.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "groma/evaluators.h"
#include "support/files.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using Status = tuning::Evaluation::Status;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_text;

class CommandEvaluator : public ::testing::Test {
 protected:
  CommandEvaluator() {
    std::string made = (fs::temp_directory_path() / "groma test.XXXXXX").string();
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
    options_.command = "sh {file}";
    options_.metric_pattern = "time: (\\S+)";
    options_.repeats = 1;
    options_.folder = folder_;
  }
  ~CommandEvaluator() override {
    evaluator_.reset();
    fs::remove_all(folder_);
  }

  tuning::Evaluator& evaluator() {
    if (evaluator_ == nullptr) {
      auto made = tuning::make_command_evaluator(options_);
      EXPECT_TRUE(made.ok()) << made.error().message;
      evaluator_ = std::move(*made);
    }
    return *evaluator_;
  }

  tuning::Evaluation evaluate(const std::string& text) {
    tuning::EvaluationRequest request;
    request.text = text;
    request.detail = GuideDetail::kProfile;
    return evaluator().evaluate(request);
  }
  tuning::Evaluation evaluate_beside(const std::string& text, const std::string& incumbent,
                                     double score) {
    tuning::EvaluationRequest request;
    request.text = text;
    request.detail = GuideDetail::kProfile;
    request.incumbent = incumbent;
    request.incumbent_score = score;
    return evaluator().evaluate(request);
  }
  double value_of(const std::string& text) {
    const tuning::Evaluation evaluation = evaluate(text);
    EXPECT_EQ(evaluation.status, Status::kOk) << evaluation.feedback.execution;
    return evaluation.ok() ? evaluation.values.at(0) : std::nan("");
  }
  std::string failure_of(const std::string& text, Status status = Status::kFailed) {
    const tuning::Evaluation evaluation = evaluate(text);
    EXPECT_EQ(evaluation.status, status);
    EXPECT_TRUE(evaluation.values.empty());
    EXPECT_TRUE(std::isinf(evaluation.score));
    EXPECT_EQ(evaluation.feedback.status, GuideFeedback::Status::kError);
    return evaluation.feedback.execution;
  }
  std::string said(const std::string& file) const { return read_text(folder_ + "/" + file); }
  std::string option_error() const {
    const auto made = tuning::make_command_evaluator(options_);
    return made.ok() ? "none" : made.error().message;
  }

  std::string folder_;
  tuning::CommandEvaluatorOptions options_;
  std::unique_ptr<tuning::Evaluator> evaluator_;
};

// The number that a process wrote of itself is nobody's any more.
bool gone(const std::string& number) {
  const pid_t process = static_cast<pid_t>(std::atoi(number.c_str()));
  for (int i = 0; process > 0 && i < 500; ++i) {
    if (kill(process, 0) != 0) return true;
    std::error_code zombie;
    const fs::path at = fs::path("/proc") / std::to_string(process) / "exe";
    if (!fs::exists(fs::read_symlink(at, zombie)) && zombie) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// ----------------------------------------------------------------------------------- the value

// From seven runs on, one disturbed run does not count as noise.
TEST(Noise, LeavesOutTheQuartersOfManyRuns) {
  using Interval = std::pair<double, double>;
  const std::vector<double> few = {10, 12, 9, 50}, many = {10, 12, 9, 50, 11, 10, 12, 1};
  EXPECT_EQ(tuning::interval_of(few), Interval(9, 50));
  EXPECT_EQ(tuning::interval_of(many), Interval(10, 12));
  EXPECT_EQ(tuning::interval_of({3}), Interval(3, 3));
  EXPECT_DOUBLE_EQ(tuning::half_width(tuning::interval_of(few), few), 20.5 / 11);
  EXPECT_DOUBLE_EQ(tuning::half_width(tuning::interval_of(many), many), 1 / 10.5);
}

TEST_F(CommandEvaluator, TakesTheLastMatch) {
  EXPECT_EQ(value_of("echo time: 3; echo time: 1,234.5; echo 'no times: 7'"), 1234.5);
  EXPECT_EQ(value_of("echo time: 2 >&2"), 2);
  EXPECT_EQ(value_of("echo time: 2 >&2; echo time: +1e-3"), 1e-3);
  EXPECT_EQ(evaluator().inputs().size(), 1U);
  EXPECT_EQ(evaluate("echo time: 2").feedback.execution, "Performance Metric: 2 s");
}

// --------------------------------------------------------------------------------- the results

TEST_F(CommandEvaluator, RefusesATextThatPrintsOtherResults) {
  options_.results.emplace();
  EXPECT_EQ(value_of("echo $0; echo sum 4.5; echo time: 3"), 3);
  EXPECT_EQ(value_of("echo $0; echo sum 4.50000001; echo time: 2"), 2);  // another order of sums
  EXPECT_THAT(failure_of("echo $0; echo sum nan; echo time: 1", Status::kRefused),
              HasSubstr("other results than those of the first text that ran: it prints `sum nan` "
                        "instead of `sum 4.5`"));
  EXPECT_EQ(value_of("echo $0; echo sum 4.5; echo time: 1"), 1);  // nothing was learned from that
}

TEST_F(CommandEvaluator, ComparesWhatChangesFromRunToRunWithNothing) {
  options_.results.emplace();
  options_.repeats = 2;
  EXPECT_EQ(value_of("echo x >> runs; echo seed $(wc -l < runs); echo time: 3"), 3);
  EXPECT_EQ(value_of("echo seed 77; echo time: 1"), 1);
}

// The only run of the first text prints by chance what its next run prints, too.
TEST_F(CommandEvaluator, RunsTheFirstTextAgainBeforeItRefusesAnother) {
  options_.results.emplace();
  options_.repeats = 1;
  EXPECT_EQ(value_of("echo x >> runs; echo die $(($(wc -l < runs) / 3)); echo sum 4; echo time: 3"),
            3);
  EXPECT_EQ(value_of("echo die 6; echo sum 4; echo time: 2"), 2);
  EXPECT_EQ(said("runs"), "x\nx\nx\n");
  EXPECT_THAT(failure_of("echo die 6; echo sum 5; echo time: 1", Status::kRefused),
              HasSubstr("`sum 5` instead of `sum 4`"));
  EXPECT_EQ(said("runs"), "x\nx\nx\nx\nx\n");
}

// As `groma run --map {file}` and compilers print it.
TEST_F(CommandEvaluator, DoesNotTakeDiagnosticsOfTheTextForResults) {
  options_.results.emplace();
  options_.command =
      "if grep -q warned {file}; then echo {file}:8: no task x was launched >&2; "
      "printf '%s:9:3: warning: no GPU\\n    9 | Task\\n      | ^~\\nhelp: write CPU\\n' "
      "{file} >&2; fi; sh {file}";
  EXPECT_EQ(value_of("echo sum 4; echo time: 3  # warned"), 3);
  EXPECT_EQ(value_of("echo sum 4; echo time: 2"), 2);
  failure_of("echo time: 1  # warned", Status::kRefused);
}

TEST_F(CommandEvaluator, ComparesTheResultsOfEachInput) {
  options_.results.emplace();
  options_.command = "sh {file} {input}";
  options_.inputs = {"1", "2"};
  EXPECT_TRUE(evaluate("echo sum $1; echo time: 3").ok());
  EXPECT_TRUE(evaluate("echo sum $1; echo time: 2").ok());
  EXPECT_THAT(failure_of("echo sum 1; echo time: 1", Status::kRefused), HasSubstr("(of 2)"));
}

// Though it ends well and its other output is the same.
TEST_F(CommandEvaluator, RefusesATextUnderWhichTheCommandSaysThatItFailed) {
  options_.results.emplace();
  EXPECT_EQ(value_of("echo sum 4; echo time: 3"), 3);
  EXPECT_THAT(failure_of("echo sum 4; echo time: 1; echo ' ** On entry to DGEMM parameter number 8 "
                         "had an illegal value' >&2"),
              HasSubstr("DGEMM"));
}

// A failure that is printed under every text, even an empty one, is the command's way.
TEST_F(CommandEvaluator, TakesNoOffenceAtWhatTheCommandAlwaysPrints) {
  options_.results.emplace();
  for (const std::string usual :
       {"Error: none", " ** On entry to DGEMM parameter number 13 had an illegal value"}) {
    evaluator_.reset();
    options_.command = "echo '" + usual + "'; echo x >> runs; sh {file}";
    EXPECT_EQ(value_of("echo sum 4; echo time: 3"), 3);
    EXPECT_EQ(value_of("echo sum 4; echo time: 2"), 2);
    EXPECT_THAT(failure_of("echo sum 4; echo time: 1; echo ' ** On entry to DGEMM parameter number "
                           "8 had an illegal value' >&2"),
                HasSubstr("number 8"));
    EXPECT_THAT(failure_of("echo sum 5; echo time: 1", Status::kRefused),
                HasSubstr("other results"));
  }
  // Each of the two commands ran eight times: under its four texts, under an empty text, twice more
  // under the first text, because one text printed other results, and once more under the second
  // one, because a text failed.
  EXPECT_EQ(said("runs"), "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n");
}

// A text that says itself that it failed is no measure for the others.
TEST_F(CommandEvaluator, TakesNoResultsFromWhatFailed) {
  options_.results.emplace();
  const std::string failing = " ** On entry to DGEMM parameter number 8 had an illegal value";
  EXPECT_THAT(failure_of("echo '" + failing + "'; echo sum nan; echo time: 1"), HasSubstr("DGEMM"));
  EXPECT_EQ(value_of("echo sum 4; echo time: 3"), 3);
}

TEST_F(CommandEvaluator, ComparesTheLinesThatThePatternsName) {
  options_.results = ResultsOptions{.same = {"^sum (.*)"}};
  EXPECT_EQ(value_of("echo ran on 1; echo sum 4; echo time: 3"), 3);
  EXPECT_EQ(value_of("echo ran on 2; echo sum 4; echo time: 2"), 2);
  failure_of("echo ran on 1; echo sum 5; echo time: 1", Status::kRefused);
  options_.results->same = {"("};
  EXPECT_THAT(option_error(), HasSubstr("is not a pattern"));
}

TEST_F(CommandEvaluator, TakesWhatAJsonPointerSays) {
  options_.metric_pattern.clear();
  options_.metric_pointer = "/runs/1/a~1b~0";
  EXPECT_EQ(value_of(R"(echo '{"runs": [1, {"a/b~": 2.5}]}')"), 2.5);
  EXPECT_THAT(failure_of(R"(echo '{"runs": [1]}')"), HasSubstr("has no `/runs/1/a~1b~0`"));
  EXPECT_THAT(failure_of(R"(echo '{"runs": [1, {"a/b~": "2"}]}')"), HasSubstr("is not a number"));
  EXPECT_THAT(failure_of(R"(echo '{"runs": [1, {"a/b~": -2}]}')"), HasSubstr("the value is -2"));
  EXPECT_THAT(failure_of("echo fast"), HasSubstr("is not JSON"));
  EXPECT_THAT(failure_of("yes '[' | head -n 100000"), HasSubstr("is not JSON"));
  EXPECT_THAT(failure_of("echo '{}'; head -c 2000000 /dev/zero"), HasSubstr("too much"));
}

// Of which only those between thousands are left out: "3,5" is no 35.
TEST_F(CommandEvaluator, TakesNoOtherCommas) {
  EXPECT_EQ(value_of("echo time: 1,234,567"), 1234567);
  EXPECT_EQ(value_of("echo time: 12,345e-1"), 1234.5);
  for (const char* value : {"3,5", "1,23", "1234,567", "1,2345", ",123", "1,234,5", "1,,234"}) {
    EXPECT_EQ(failure_of(fmt::format("echo time: {}", value)),
              fmt::format("Execution Error: the value is `{}`, which is not a number", value));
  }
}

TEST_F(CommandEvaluator, WithoutAMetricTakesTheSeconds) {
  options_.metric_pattern.clear();
  EXPECT_GE(value_of("sleep 0.2"), 0.2);
}

TEST_F(CommandEvaluator, ValuesBeyondComparisonAreSaidToBeThat) {
  EXPECT_EQ(
      failure_of("echo time: 1e-300"),
      "Execution Error: the value is 1e-300, too small to compare: have it printed in another "
      "unit");
  EXPECT_THAT(failure_of("echo time: 1e200"), HasSubstr("too large to compare"));
  EXPECT_EQ(value_of("echo time: 1e-100"), 1e-100);
}

TEST_F(CommandEvaluator, NeedsAValueThatIsAboveZero) {
  for (const char* value : {"0", "-1", "inf", "-inf"}) {
    EXPECT_THAT(failure_of(fmt::format("echo time: {}", value)),
                HasSubstr("not a finite number above 0"));
  }
  EXPECT_THAT(failure_of("echo time: nan"), HasSubstr("nan"));  // the guide's words
  EXPECT_EQ(failure_of("echo time: soon"),
            "Execution Error: the value is `soon`, which is not a number");
  EXPECT_THAT(failure_of("echo time: 1e999"), HasSubstr("not a number"));
  EXPECT_EQ(failure_of("echo slow"),
            "Execution Error: nothing that was printed matches `time: (\\S+)`");
  EXPECT_THAT(evaluate("echo slow").feedback.last_lines, ElementsAre("slow"));
}

// The first two of five runs do not count.
TEST_F(CommandEvaluator, TakesTheMedianOfTheRepeats) {
  options_.warmup = 2;
  options_.repeats = 3;
  const tuning::Evaluation evaluation = evaluate(
      "echo x >> count; echo time: $(sed -n $(wc -l < count)p <<END\n100\n200\n8\n5\n4\nEND\n)");
  EXPECT_EQ(evaluation.score, 5);
  EXPECT_EQ(evaluation.noise, 0.4);
  EXPECT_EQ(said("count"), "x\nx\nx\nx\nx\n");
}

// To be sure there are more runs, of which a disturbed one hides nothing.
TEST_F(CommandEvaluator, MeasuresAgainWithMoreRuns) {
  options_.repeats = 3;
  evaluate("echo a >> runs; echo time: 4");
  tuning::EvaluationRequest request{
      "echo b >> runs; n=$(grep -c b runs); test $n = 3 && echo time: 30 || "
      "echo time: 3.$((n % 3))"};
  request.incumbent = "echo a >> runs; echo time: 4";
  request.incumbent_score = 4;
  request.again = true;
  const tuning::Evaluation again = evaluator().evaluate(request);
  EXPECT_EQ(said("runs"), "a\na\na\na\nb\na\nb\na\nb\na\nb\na\nb\na\nb\na\nb\na\n");
  EXPECT_LT(again.score, 4 * (1 - again.noise));
  EXPECT_GT(again.score, 3);
}

TEST_F(CommandEvaluator, HasAValueForEachInput) {
  options_.command = "sh {file} {input}";
  options_.inputs = {"2", "8"};
  EXPECT_EQ(evaluator().inputs(), options_.inputs);
  const tuning::Evaluation evaluation = evaluate("echo time: $1");
  EXPECT_THAT(evaluation.values, ElementsAre(2, 8));
  EXPECT_THAT(evaluation.score, DoubleNear(4, 1e-12));
  EXPECT_THAT(failure_of("test $1 = 2 && echo time: 3"), HasSubstr("exit code 1"));
}

TEST_F(CommandEvaluator, MayHaveValuesThatAreBetterWhenHigher) {
  options_.command = "sh {file} {input}";
  options_.inputs = {"2", "8"};
  options_.higher_is_better = true;
  options_.unit = "GFLOP/s";
  const tuning::Evaluation evaluation = evaluate("echo time: $1");
  EXPECT_THAT(evaluation.values, ElementsAre(2, 8));
  EXPECT_THAT(evaluation.score, DoubleNear(0.25, 1e-12));
  const tuning::Evaluation beside = evaluate_beside("echo time: $(($1 * 2))", "echo time: $1", 0.5);
  EXPECT_THAT(beside.score, DoubleNear(0.25, 1e-12));
  EXPECT_THAT(beside.values, ElementsAre(DoubleNear(2, 1e-12), DoubleNear(8, 1e-12)));
}

// ------------------------------------------------------------------------- beside the incumbent

// A machine on which every run takes a tenth of the first one's time longer than the one before.
class SlowingMachine : public CommandEvaluator {
 protected:
  SlowingMachine() {
    options_.command =
        "n=$(cat runs 2>/dev/null || echo 0); echo $((n + 1)) > runs; cost=$(cat {file}); "
        "echo time: $((cost * (10 + n)))";
    options_.repeats = 3;
  }
};

TEST_F(SlowingMachine, DoesNotDecide) {
  const tuning::Evaluation first = evaluate("1000");
  EXPECT_EQ(first.score, 11'000);
  const tuning::Evaluation better = evaluate_beside("900", "1000", first.score);
  EXPECT_THAT(better.score, DoubleNear(0.9 * first.score, 5e-3 * first.score));
  const tuning::Evaluation worse = evaluate_beside("1100", "1000", first.score);
  EXPECT_THAT(worse.score, DoubleNear(1.1 * first.score, 5e-3 * first.score));
  const tuning::Evaluation best = evaluate_beside("500", "900", better.score);
  EXPECT_THAT(best.score, DoubleNear(0.5 * first.score, 5e-3 * first.score));
  // Measured by itself the better one would have lost.
  EXPECT_GT(evaluate("900").score, first.score);
  EXPECT_LT(better.noise, 0.01);
}

TEST_F(SlowingMachine, ComparesWithTheSameInput) {
  options_.command += "0 # {input}";
  options_.inputs = {"a", "b"};
  const tuning::Evaluation first = evaluate("1000");
  const tuning::Evaluation better = evaluate_beside("900", "1000", first.score);
  EXPECT_THAT(better.score, DoubleNear(0.9 * first.score, 5e-3 * first.score));
  EXPECT_THAT(std::sqrt(better.values[0] * better.values[1]), DoubleNear(better.score, 1e-6));
}

// Whenever it becomes twice as slow, or fast: some runs of each are before that, some after.
TEST_F(CommandEvaluator, AMachineThatChangesAtOnceDoesNotDecide) {
  options_.repeats = 3;
  for (const char* change : {"-lt", "-ge"}) {
    for (int run = 0; run <= 7; ++run) {
      options_.command = fmt::format(
          "n=$(wc -l < {0}); echo x >> {0}; cost=$(cat {{file}}); "
          "test $n {1} {2} && cost=$((cost * 2)); echo time: $cost",
          fmt::format("runs{}{}", change, run), change, run);
      std::ofstream(folder_ + fmt::format("/runs{}{}", change, run)).flush();
      evaluator_.reset();
      EXPECT_DOUBLE_EQ(evaluate_beside("90", "100", 1).score, 0.9) << change << run;
    }
  }
}

// A run of either that something disturbed changes nothing.
TEST_F(CommandEvaluator, ADisturbedRunDoesNotDecide) {
  options_.repeats = 3;
  const std::string sometimes =
      "echo x >> {0}; test $(wc -l < {0}) = 2 && echo time: 90 || echo time: {1}";
  const std::string incumbent = fmt::format(fmt::runtime(sometimes), "a", 4);
  const std::string text = fmt::format(fmt::runtime(sometimes), "b", 3);
  EXPECT_DOUBLE_EQ(evaluate_beside(text, incumbent, 8).score, 6);
  EXPECT_EQ(said("a"), "x\nx\nx\nx\n");
  EXPECT_EQ(said("b"), "x\nx\nx\n");
}

TEST_F(CommandEvaluator, AnIncumbentThatFailsNowIsLeftOut) {
  EXPECT_EQ(evaluate_beside("echo time: 3", "exit 1", 100).score, 3);
  EXPECT_EQ(
      evaluate_beside("echo time: 3", "echo x >> a; test $(wc -l < a) = 1 && echo time: 4", 100)
          .score,
      3);
  EXPECT_EQ(evaluate_beside("echo time: 3", "echo time: 3", 100).score, 3);  // itself
}

// What the check left is there for the runs, of the incumbent too, which is built once.
TEST_F(CommandEvaluator, TheIncumbentKeepsWhatItsCheckLeft) {
  options_.check_command = "sh {file} > {file}.out; echo x >> checks";
  options_.command = "cat {file}.out";
  const tuning::Evaluation first = evaluate("echo time: 4");
  EXPECT_DOUBLE_EQ(evaluate_beside("echo time: 5", "echo time: 4", first.score).score, 5);
  const tuning::Evaluation third = evaluate_beside("echo time: 2", "echo time: 4", first.score);
  EXPECT_DOUBLE_EQ(third.score, 2);
  EXPECT_DOUBLE_EQ(evaluate_beside("echo time: 1", "echo time: 2", third.score).score, 1);
  EXPECT_EQ(said("checks"), "x\nx\nx\nx\n");
  evaluator_.reset();  // as after a resumption
  EXPECT_DOUBLE_EQ(evaluate_beside("echo time: 3", "echo time: 1", 1).score, 3);
  EXPECT_EQ(said("checks"), "x\nx\nx\nx\nx\nx\n");
}

TEST_F(CommandEvaluator, ATextWhoseFileIsGoneIsWrittenAgain) {
  const std::string vanishes = "echo time: 3; rm -r \"$(dirname \"$GROMA_FILE\")\"";
  options_.repeats = 1;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(vanishes).score, 3);
  EXPECT_EQ(evaluate_beside("echo time: 2", vanishes, 3).score, 2);
}

// ------------------------------------------------------------------------------ what is refused

TEST_F(CommandEvaluator, RefusesWhatTheCheckRefuses) {
  options_.check_command = "grep -q right {file} || { echo 'c[3] is 7, not 9'; exit 3; }";
  options_.command = "touch ran; sh {file}";
  EXPECT_EQ(failure_of("echo time: 1", Status::kRefused),
            "Execution Error: the correctness command ended with exit code 3");
  const GuideFeedback feedback = evaluate("echo time: 1").feedback;
  EXPECT_THAT(feedback.last_lines, ElementsAre("c[3] is 7, not 9"));
  EXPECT_THAT(feedback.explain, ElementsAre("What it printed last may say why."));
  EXPECT_THAT(feedback.suggest, ElementsAre());
  EXPECT_FALSE(fs::exists(folder_ + "/ran"));
  EXPECT_EQ(value_of("echo time: 1 # right"), 1);
}

TEST_F(CommandEvaluator, ChecksEachInputWhereItIsAsked) {
  options_.check_command = "test {input} != b";
  options_.command = "sh {file} # {input}";
  options_.inputs = {"a", "b"};
  EXPECT_EQ(failure_of("echo time: 1", Status::kRefused),
            "Execution Error: the correctness command ended with exit code 1 (of b)");
}

TEST_F(CommandEvaluator, SaysOfWhichInputItSpeaks) {
  options_.command = "sh {file} {input}";
  options_.inputs = {"a", "b"};
  EXPECT_EQ(evaluate("echo time: 1").feedback.execution, "Performance Metric: 1 s (of a)");
  EXPECT_EQ(failure_of("echo time: 1; test $1 != b || exit 7"),
            "Execution Error: the command ended with exit code 7 (of b)");
  EXPECT_THAT(failure_of("echo time: 1; test $1 != b || { echo 'x.cc:1:2: error: y'; exit 1; }"),
              ::testing::EndsWith(" (of b)"));
}

TEST_F(CommandEvaluator, SaysWhatTheGuideKnows) {
  options_.check_command = "sh {file}";
  const std::string text =
      "echo \"text.cc:12:7: error: 'tile' was not declared in this scope\" >&2; exit 1";
  const GuideFeedback feedback = evaluate(text).feedback;
  EXPECT_THAT(feedback.execution, HasSubstr("Compile Error: text.cc:12:7: error: 'tile'"));
  ASSERT_FALSE(feedback.explain.empty());
  EXPECT_THAT(feedback.explain.front(), HasSubstr("line 12, does not compile: 'tile'"));
}

TEST_F(CommandEvaluator, SaysAsMuchAsIsAskedFor) {
  const auto asked = [&](GuideDetail detail) {
    return evaluator().evaluate({"echo why; exit 1", detail}).feedback;
  };
  EXPECT_EQ(asked(GuideDetail::kNone).execution, "");
  EXPECT_TRUE(asked(GuideDetail::kNone).last_lines.empty());
  EXPECT_NE(asked(GuideDetail::kExecution).execution, "");
  EXPECT_TRUE(asked(GuideDetail::kExecution).explain.empty());
  EXPECT_FALSE(asked(GuideDetail::kExplain).explain.empty());
  EXPECT_EQ(evaluator().evaluate({"echo time: 1", GuideDetail::kNone}).feedback.execution, "");
}

// Also where the guide knows something in it, but not why.
TEST_F(CommandEvaluator, SaysWhatWasPrintedLast) {
  const GuideFeedback other =
      evaluate("echo first; echo 'ELAPSED TIME = 3.5 s'; echo 'gflops: soon'").feedback;
  EXPECT_THAT(other.last_lines, ElementsAre("first", "ELAPSED TIME = 3.5 s", "gflops: soon"));
  EXPECT_THAT(other.explain,
              ElementsAre("The command ended well, but what it printed gives no value."));
  const GuideFeedback many = evaluate("seq 100000; printf '%10000s' x; exit 1").feedback;
  EXPECT_LE(many.last_lines.size(), 8U);
  for (const std::string& line : many.last_lines) EXPECT_LE(line.size(), 400U + 3U);
  EXPECT_TRUE(evaluate("head -c 5000 /dev/zero; exit 1").feedback.last_lines.empty());
  EXPECT_THAT(evaluate("printf 'a\\033[2Jb\\377'; exit 1").feedback.last_lines,
              ElementsAre("ab\\xff"));
}

TEST_F(CommandEvaluator, SaysHowARunEnded) {
  options_.command = "exec sh {file}";
  EXPECT_EQ(failure_of("exit 7"), "Execution Error: the command ended with exit code 7");
  EXPECT_EQ(failure_of("kill -KILL $$"),
            "Execution Error: the command was ended by signal 9 (Killed)");
  EXPECT_EQ(failure_of("echo time: 1; exit 1"),
            "Execution Error: the command ended with exit code 1");
  options_.check_command = "kill -KILL $$ # {file}";
  evaluator_.reset();
  EXPECT_THAT(failure_of("", Status::kRefused), HasSubstr("signal 9"));
}

// --------------------------------------------------------------------------------- hostile texts

TEST_F(CommandEvaluator, InputsAreNotReadAsCommands) {
  options_.inputs = {"a b",          "'; touch evil; '", "$(touch evil)", "\"; touch evil; \"",
                     "`touch evil`", "x\ntouch evil",    "{file}",        ""};
  options_.command =
      "printf '%s|' {input} >> said; printf '%s|' \"{input}\" '{input}' > /dev/null; "
      "sh {file}";
  EXPECT_EQ(value_of("echo time: 1"), 1);
  EXPECT_FALSE(fs::exists(folder_ + "/evil"));
  EXPECT_EQ(said("said"),
            "a b|'; touch evil; '|$(touch evil)|\"; touch evil; \"|`touch evil`|x\ntouch evil|"
            "{file}||");
}

TEST_F(CommandEvaluator, TheModelsKeyIsNotGivenAway) {
  setenv("GROMA_API_KEY", "secret-1234", 1);
  EXPECT_EQ(value_of("test -z \"$GROMA_API_KEY\" && echo time: 1"), 1);
  unsetenv("GROMA_API_KEY");
}

TEST_F(CommandEvaluator, WhatATextLeavesRunningEnds) {
  EXPECT_EQ(value_of("sleep 300 & echo $! > left; echo time: 1"), 1);
  EXPECT_TRUE(gone(said("left")));
}

TEST_F(CommandEvaluator, ReadsBoundedOutput) {
  EXPECT_EQ(value_of("echo time: 1; yes aaaaaaaaaaaaaaa | head -c 100000000; echo time: 2"), 2);
  // The line may stand in what is not read.
  EXPECT_THAT(
      failure_of("yes b | head -c 3000000; echo time: 4; yes b | head -c 3000000"),
      ::testing::MatchesRegex(".*it printed too much: 49[0-9]* bytes in the middle are left "
                              "out, and nothing of the rest matches .*"));
  EXPECT_THAT(failure_of("echo little"), HasSubstr("nothing that was printed matches"));
}

TEST_F(CommandEvaluator, BoundsMemory) {
  options_.memory_bytes = std::int64_t{200} << 20;
  options_.command = "perl {file}";
  EXPECT_EQ(evaluate("my $x = 'x' x 2_000_000_000; print 'time: ', length $x").status,
            Status::kFailed);
  EXPECT_EQ(value_of("my $x = 'x' x 2_000_000; print 'time: ', length $x"), 2e6);
}

TEST_F(CommandEvaluator, EndsTheGroupAtTheTimeLimit) {
  options_.timeout_ms = 300;
  const std::string text = "sleep 300 & echo $! > left; sleep 300";
  EXPECT_THAT(failure_of(text, Status::kTimedOut), HasSubstr("still running at its time limit"));
  EXPECT_TRUE(gone(said("left")));
  options_.check_command = "sh {file}";
  evaluator_.reset();
  EXPECT_THAT(failure_of(text, Status::kRefused), HasSubstr("still running at its time limit"));
}

// Ten times what the incumbent takes, not the ten minutes of the options.
TEST_F(CommandEvaluator, ALateTextIsEndedSooner) {
  const tuning::Evaluation late = evaluate_beside("sleep 500; echo time: 1", "echo time: 2", 2);
  EXPECT_EQ(late.status, Status::kTimedOut);
}

TEST_F(CommandEvaluator, IsStoppedWhenAsked) {
  options_.repeats = 100;
  tuning::EvaluationRequest request;
  request.text = "touch began; sleep 300";
  request.stop = [&] { return fs::exists(folder_ + "/began"); };
  EXPECT_EQ(evaluator().evaluate(request).status, Status::kFailed);
  request.incumbent = "sleep 300";
  request.incumbent_score = 1;
  EXPECT_EQ(evaluator().evaluate(request).status, Status::kFailed);
}

// ---------------------------------------------------------------------------------- its folders

TEST_F(CommandEvaluator, LeavesNothingBehind) {
  options_.file_name = "kernel.tar.gz";
  options_.command = "dirname {file} >> at; basename {file} > name; sh {file}";
  // Those of all texts so far that are still there.
  const auto left = [&] {
    std::set<std::string> there;
    std::istringstream lines(said("at"));
    for (std::string line; std::getline(lines, line);) {
      if (fs::exists(line)) there.insert(line);
    }
    return there;
  };
  const tuning::Evaluation first = evaluate("echo time: 4");
  EXPECT_EQ(said("name"), "kernel.tar.gz\n");
  const std::set<std::string> best = left();  // which stays, the others go
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(fs::status(*best.begin()).permissions(), fs::perms::owner_all);
  for (const char* text : {"exit 1", "kill -9 $$", "echo slow", "echo time: 5",
                           "d=$(dirname $0)/a; mkdir -p $d/b; chmod 0 $d/b $d; exit 1"}) {
    evaluate_beside(text, "echo time: 4", first.score);
    EXPECT_EQ(left(), best) << text;
  }
  evaluate_beside("echo time: 3", "echo time: 4", first.score);
  EXPECT_EQ(left().size(), 2U);  // it may be measured again
  evaluate_beside("echo time: 5", "echo time: 3", 3);
  EXPECT_EQ(left().size(), 1U);
  EXPECT_NE(left(), best);
  evaluator_.reset();
  EXPECT_TRUE(left().empty());
}

// Where the process is killed in the middle of a run: that of the text and that of the best.
TEST_F(CommandEvaluator, LeavesNothingBehindWhereItIsKilled) {
  options_.command = "dirname {file} >> at; touch {file}.left; sh {file}";
  const pid_t child = fork();
  if (child == 0) {
    evaluate("echo time: 2");
    evaluate_beside("touch ready; sleep 300", "echo time: 2", 2);
    _exit(1);
  }
  while (!fs::exists(folder_ + "/ready")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::set<std::string> folders;
  std::istringstream lines(said("at"));
  for (std::string line; std::getline(lines, line);) folders.insert(line);
  EXPECT_EQ(folders.size(), 2U);
  for (int i = 0; i < 6000; ++i) {  // a minute
    std::erase_if(folders, [](const std::string& folder) { return !fs::exists(folder); });
    if (folders.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(folders.empty());
}

TEST_F(CommandEvaluator, TheTextComesByteForByte) {
  options_.command = "cp {file} copy; echo time: 1";
  const std::string text("a\r\n\0\xFF b", 8);
  EXPECT_EQ(value_of(text), 1);
  EXPECT_EQ(said("copy"), text);
}

// ---------------------------------------------------------------------------------- its options

TEST_F(CommandEvaluator, SaysWhatItsOptionsLack) {
  EXPECT_EQ(option_error(), "none");
  const tuning::CommandEvaluatorOptions good = options_;
  const auto wrong = [&](auto change) {
    options_ = good;
    change(options_);
    return option_error();
  };
  using Options = tuning::CommandEvaluatorOptions&;
  EXPECT_EQ(wrong([](Options o) { o.command = "make"; }),
            "the command has no `{file}`, so no text would reach it");
  EXPECT_EQ(wrong([](Options o) { o.command += " {input}"; }),
            "the command has `{input}`, but no inputs");
  EXPECT_EQ(wrong([](Options o) { o.check_command = "test {input}"; }),
            "the correctness command has `{input}`, but there are no inputs");
  EXPECT_EQ(wrong([](Options o) { o.inputs = {"1"}; }),
            "there are inputs, but the command has no `{input}`");
  EXPECT_EQ(wrong([](Options o) {
              o.command += " {input}";
              o.inputs = {"1", "2", "1"};
            }),
            "the input `1` is there twice");
  EXPECT_EQ(wrong([](Options o) { o.metric_pointer = "/a"; }),
            "the metric is either a pattern or a JSON pointer");
  EXPECT_EQ(wrong([](Options o) { o.metric_pattern = "time: .*"; }),
            "the metric `time: .*` has 0 groups, not one");
  EXPECT_EQ(wrong([](Options o) { o.metric_pattern = "(a)(b)"; }),
            "the metric `(a)(b)` has 2 groups, not one");
  EXPECT_THAT(wrong([](Options o) { o.metric_pattern = "time: ("; }),
              HasSubstr("the metric `time: (` is not a pattern: missing )"));
  const auto pointer = [&](const char* text) {
    return wrong([text](Options o) {
      o.metric_pattern.clear();
      o.metric_pointer = text;
    });
  };
  EXPECT_EQ(pointer("a"), "`a` is not a JSON pointer: it begins with `/`");
  EXPECT_EQ(pointer("/a~2"), "`/a~2` is not a JSON pointer: after `~` stands `0` or `1`");
  EXPECT_EQ(wrong([](Options o) { o.repeats = 0; }), "there are 1 to 1000 repeats, not 0");
  EXPECT_EQ(wrong([](Options o) { o.warmup = -1; }), "there are 0 to 1000 warm-up runs, not -1");
  EXPECT_EQ(wrong([](Options o) { o.timeout_ms = 0; }), "the time limit of a run is above 0");
  EXPECT_EQ(wrong([](Options o) { o.memory_bytes = -1; }), "the memory of a run is not below 0");
  EXPECT_EQ(wrong([](Options o) {
              o.metric_pattern.clear();
              o.higher_is_better = true;
            }),
            "of seconds fewer are better; a metric is missing");
  for (const char* name : {"../x", "a/b", ".x", "-x", "a b"}) {
    EXPECT_EQ(wrong([name](Options o) { o.file_name = name; }),
              fmt::format("`{}` cannot be the name of the text's file", name));
  }
  EXPECT_EQ(wrong([](Options o) { o.folder = "/no/such"; }), "`/no/such` is not a folder");
}

}  // namespace
}  // namespace groma
