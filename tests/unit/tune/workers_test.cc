// Workers of the command evaluator: several at once, behind real shells, that die, hang, lie or
// lose their device. Stand-ins for ssh, srun and sbatch lie in tests/support/workers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <set>
#include <sstream>
#include <thread>

#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "groma/tune.h"
#include "support/files.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using Status = tuning::Evaluation::Status;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_text;
using ::testing::SizeIs;

class WorkersTest : public ::testing::Test {
 protected:
  WorkersTest() {
    options_.command = "sh {file}";
    options_.metric_pattern = "time: (\\S+)";
    options_.repeats = 1;
    options_.folder = folder_.path();
    options_.patience = {20'000, 10, 3};
    const std::string path = std::getenv("PATH");
    setenv("PATH", (testing::in_tree("tests/support/workers").string() + ":" + path).c_str(), 1);
    path_ = path;
  }
  ~WorkersTest() override {
    evaluator_.reset();
    setenv("PATH", path_.c_str(), 1);
  }

  tuning::Evaluator& evaluator() {
    if (evaluator_ == nullptr) {
      auto made = tuning::make_command_evaluator(options_);
      EXPECT_TRUE(made.ok()) << made.error().message;
      evaluator_ = std::move(*made);
    }
    return *evaluator_;
  }
  tuning::Evaluation evaluate(const std::string& text, const std::string& incumbent = "",
                              double score = HUGE_VAL) {
    tuning::EvaluationRequest request;
    request.text = text;
    request.detail = GuideDetail::kProfile;
    request.incumbent = incumbent;
    request.incumbent_score = score;
    return evaluator().evaluate(request);
  }
  // The score of a text that runs well.
  double score_of(const std::string& text, const std::string& incumbent = "",
                  double score = HUGE_VAL) {
    const tuning::Evaluation evaluation = evaluate(text, incumbent, score);
    EXPECT_EQ(evaluation.status, Status::kOk) << evaluation.feedback.execution;
    return evaluation.score;
  }
  std::string failure_of(const std::string& text, Status status = Status::kFailed) {
    const tuning::Evaluation evaluation = evaluate(text);
    EXPECT_EQ(evaluation.status, status);
    return evaluation.feedback.execution;
  }
  std::string error() {
    const auto error = evaluator().error();
    return error ? error->message : "none";
  }
  std::string said(const std::string& file) const { return read_text(folder_.path() + "/" + file); }
  bool exists(const std::string& file) const { return fs::exists(folder_.path() + "/" + file); }
  // The lines of a file that name something that still exists.
  std::set<std::string> left_of(const std::string& file) const {
    std::set<std::string> left;
    std::istringstream lines(said(file));
    for (std::string line; std::getline(lines, line);) {
      if (fs::exists(line)) left.insert(line);
    }
    return left;
  }
  bool all_gone(const std::string& file) const {
    for (int i = 0; i < 3000 && !left_of(file).empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return left_of(file).empty();
  }

  // Connects to a shell whose process id is in the file `pid`.
  static constexpr const char* kWithPid = "echo $$ > pid; exec sh";

  test::TemporaryFolder folder_;
  tuning::CommandEvaluatorOptions options_;
  std::unique_ptr<tuning::Evaluator> evaluator_;
  std::string path_;
};

// ---- The same behaviour on this computer and behind each kind of connection.

class EveryPlace : public WorkersTest, public ::testing::WithParamInterface<const char*> {
 protected:
  EveryPlace() { options_.workers = {GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(All, EveryPlace,
                         ::testing::Values("1", "sh", "bash", "ssh -T host sh",
                                           "srun --gres=gpu:1 sh"));

TEST_P(EveryPlace, RunsCommands) {
  EXPECT_EQ(score_of("echo time: 3; echo time: 4"), 4);
  EXPECT_EQ(score_of("echo time: 2 >&2"), 2);
  EXPECT_EQ(score_of("cat; echo time: 1"), 1);  // the input is empty
  EXPECT_EQ(score_of("pwd > here; echo time: $((GROMA_WORKER + 1))"), 1);
  EXPECT_EQ(fs::canonical(said("here").substr(0, said("here").size() - 1)),
            fs::canonical(folder_.path()));
}

TEST_P(EveryPlace, SaysHowARunEnded) {
  options_.command = "exec sh {file}";
  EXPECT_EQ(failure_of("exit 3"), "Execution Error: the command ended with exit code 3");
  EXPECT_THAT(failure_of("kill -11 $$"), HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(failure_of("echo x"), HasSubstr("nothing that was printed matches"));
  const tuning::Evaluation evaluation = evaluate("echo first; echo last >&2; exit 1");
  EXPECT_THAT(evaluation.feedback.last_lines, ElementsAre("first", "last"));
}

TEST_P(EveryPlace, EndsTheGroupAtTheTimeLimit) {
  options_.timeout_ms = 700;
  EXPECT_THAT(failure_of("(sleep 300; touch late) & echo $! > child; sleep 301", Status::kTimedOut),
              HasSubstr("the command was still running at its time limit"));
  const int child = std::atoi(said("child").c_str());
  ASSERT_GT(child, 0);
  for (int i = 0; i < 500 && kill(child, 0) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(kill(child, 0), 0);
  EXPECT_EQ(score_of("echo time: 1"), 1);
}

TEST_P(EveryPlace, WhatATextLeavesRunningEnds) {
  EXPECT_EQ(score_of("sleep 300 & echo $! > child; echo time: 1"), 1);
  const int child = std::atoi(said("child").c_str());
  for (int i = 0; i < 500 && kill(child, 0) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(kill(child, 0), 0);
}

TEST_P(EveryPlace, BoundsOutputAndMemory) {
  EXPECT_EQ(score_of("echo time: 7; head -c 30000000 /dev/zero | tr '\\0' 'x'; echo; echo end"), 7);
  options_.timeout_ms = 2000;
  evaluator_.reset();
  EXPECT_THAT(failure_of("yes time: 1", Status::kTimedOut), HasSubstr("time limit"));
#if !GROMA_SANITIZED
  options_.memory_bytes = 300 << 20;
  options_.timeout_ms = 60'000;
  evaluator_.reset();
  EXPECT_EQ(score_of("ulimit -v > limit; echo time: 1"), 1);
  EXPECT_EQ(said("limit"), "307200\n");
#endif
}

TEST_P(EveryPlace, TextsInputsAndFilesComeByteForByte) {
  options_.command = "cp {file} copy; printf %s {input} > input; echo time: 1";
  options_.inputs = {"a'b\"c $(touch ran) \\n\nline 2\n \xFF`touch ran`"};
  options_.file_name = "text.cc";
  std::string text("a\r\n\0\xFF b", 8);
  while (text.size() < 300'000) text += text + "x";
  EXPECT_EQ(score_of(text), 1);
  EXPECT_EQ(said("copy"), text);
  EXPECT_EQ(said("input"), options_.inputs[0]);
  EXPECT_FALSE(exists("ran"));
  EXPECT_EQ(score_of(""), 1);
  EXPECT_EQ(said("copy"), "");
}

// The check builds once; the command runs what it built, that of the incumbent too.
TEST_P(EveryPlace, BuildsOnceAndRunsOften) {
  options_.check_command = "echo x >> checks; grep -q time {file} && cp {file} {file}.out";
  options_.command = "sh {file}.out";
  options_.repeats = 2;
  const double first = score_of("echo time: 4");
  EXPECT_DOUBLE_EQ(score_of("echo time: 5", "echo time: 4", first), 5);
  EXPECT_DOUBLE_EQ(score_of("echo time: 2", "echo time: 4", first), 2);
  EXPECT_DOUBLE_EQ(score_of("echo time: 1", "echo time: 2", 2), 1);
  EXPECT_EQ(said("checks"), "x\nx\nx\nx\n");
  EXPECT_THAT(failure_of("echo x", Status::kRefused), HasSubstr("the correctness command ended"));
}

TEST_P(EveryPlace, TheModelsKeyIsNotGivenAway) {
  setenv("GROMA_API_KEY", "secret", 1);
  EXPECT_EQ(score_of("env > environment; echo time: 1"), 1);
  unsetenv("GROMA_API_KEY");
  EXPECT_THAT(said("environment"), Not(HasSubstr("secret")));
}

TEST_P(EveryPlace, IsStoppedWhenAsked) {
  tuning::EvaluationRequest request;
  request.text = "touch began; sleep 300";
  request.stop = [&] { return exists("began"); };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(evaluator().evaluate(request).status, Status::kFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(error(), "none");
}

TEST_P(EveryPlace, LeavesNothingBehind) {
  options_.command = "dirname {file} >> at; sh {file}";
  score_of("echo time: 4");
  for (const char* text : {"exit 1", "d=$(dirname $0)/a; mkdir -p $d/b; chmod 0 $d/b $d; exit 1"}) {
    evaluate(text, "echo time: 4", 4);
  }
  EXPECT_GE(left_of("at").size(), 1U);
  EXPECT_LE(left_of("at").size(), 2U);
  evaluator_.reset();
  EXPECT_THAT(left_of("at"), IsEmpty());
}

// The process is killed in the middle of a run.
TEST_P(EveryPlace, LeavesNothingBehindWhereItIsKilled) {
  options_.command = "dirname {file} >> at; sh {file}";
  const pid_t child = fork();
  if (child == 0) {
    evaluate("echo time: 2");
    evaluate("echo /proc/$$ >> at; touch ready; sleep 300", "echo time: 2", 2);
    _exit(1);
  }
  while (!exists("ready")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(all_gone("at"));
}

// ---- Several workers

// Each run waits until the other one has begun.
TEST_F(WorkersTest, EvaluateAtTheSameTime) {
  for (const std::vector<std::string>& workers :
       {std::vector<std::string>{"2"}, {"sh", "bash"}, {"1", "ssh host sh"}}) {
    fs::remove(folder_.path() + "/0");
    fs::remove(folder_.path() + "/1");
    options_.workers = workers;
    evaluator_.reset();
    EXPECT_EQ(evaluator().parallel(), 2);
    const std::string meets =
        "touch $GROMA_WORKER; for i in $(seq 3000); do [ -e 0 ] && [ -e 1 ] && "
        "{ echo time: $((GROMA_WORKER + 1)); exit; }; sleep 0.01; done";
    auto other = std::async(std::launch::async, [&] { return score_of(meets + " # a"); });
    const double one = score_of(meets + " # b");
    EXPECT_EQ(one + other.get(), 3);
  }
}

// BusyBox has no `%N`: its `date` prints the letter.
TEST_F(WorkersTest, NeedNoNanoseconds) {
  fs::create_directory(folder_.path() + "/bin");
  folder_.write("bin/date", "#!/bin/sh\nexec /bin/date \"$(printf %s \"$1\" | sed s/%N/N/)\"\n");
  fs::permissions(folder_.path() + "/bin/date", fs::perms::owner_all);
  options_.workers = {"PATH=\"$PWD/bin:$PATH\" sh"};
  EXPECT_EQ(score_of("[ \"$(date +%N)\" = N ] && echo time: 4"), 4);
}

// Two machines whose speeds differ: what counts is how a text compares with the best at each.
TEST_F(WorkersTest, CompareWithTheIncumbentOfTheSameWorker) {
  options_.workers = {"sh", "sh"};
  options_.command =
      "sh {file} | awk -v w=$GROMA_WORKER '{print \"time: \" $1 * (w == 1 ? 5 : 1)}'";
  const double start = score_of("echo 4");
  EXPECT_THAT(start, AnyOf(4, 20));  // the first one's scale counts
  std::set<std::string> names;
  const auto measured = [&](const std::string& text) {
    const tuning::Evaluation evaluation = evaluate(text, "echo 4", start);
    EXPECT_DOUBLE_EQ(evaluation.score, start / 2);
    return evaluation.measured ? evaluation.measured->worker : "none";
  };
  const std::string meets =
      "touch $GROMA_WORKER; until [ -e 0 ] && [ -e 1 ]; do sleep 0.01; done; ";
  auto other = std::async(std::launch::async, [&] { return measured(meets + "echo 2 # a"); });
  names.insert(measured(meets + "echo 2 # b"));
  names.insert(other.get());
  EXPECT_THAT(names, ElementsAre("0 (`sh`)", "1 (`sh`)"));
}

TEST_F(WorkersTest, TheDriftIsThatOfRepeatedRuns) {
  // The machine becomes 10 % slower with each evaluation.
  options_.command = "sh {file} | awk -v f=$(cat factor) '{print \"time: \" $1 * f}'";
  const auto measured = [&](const char* factor, const char* text, const char* incumbent,
                            double score) {
    folder_.write("factor", factor);
    const tuning::Evaluation evaluation = evaluate(text, incumbent, score);
    EXPECT_TRUE(evaluation.measured);
    return evaluation.measured.value_or(tuning::Evaluation::Measurement());
  };
  EXPECT_DOUBLE_EQ(measured("1", "echo 4", "", HUGE_VAL).drift, 1);
  const auto second = measured("1.1", "echo 2", "echo 4", 4);
  EXPECT_NEAR(second.drift, 1.1, 1e-9);
  EXPECT_NEAR(second.incumbent_value, 4.4, 1e-9);
  // A new incumbent begins where the old one was.
  EXPECT_NEAR(measured("1.1", "echo 3", "echo 2", 2).drift, 1.1, 1e-9);
  EXPECT_NEAR(measured("0.99", "echo 5", "echo 2", 2).drift, 0.99, 1e-9);
}

// ---- Workers that die

// The text is evaluated again, from the start, by the worker that is started again.
TEST_F(WorkersTest, ADeathMidwayHandsTheTextBack) {
  options_.workers = {kWithPid};
  options_.check_command = "echo x >> checks; dirname {file} >> at; grep -q time {file}";
  const std::string dies =
      "[ -e died ] || { touch died; kill -9 $(cat pid); sleep 5; }; echo time: 3";
  EXPECT_EQ(score_of("echo time: 4"), 4);
  EXPECT_DOUBLE_EQ(score_of(dies, "echo time: 4", 4), 3);
  EXPECT_THAT(evaluator().take_notes(),
              ElementsAre(HasSubstr("worker 0 (`echo $$ > pid; exec sh`) failed, it is started "
                                    "again: the connection ended, signal 9 (Killed)")));
  EXPECT_THAT(evaluator().take_notes(), IsEmpty());
  EXPECT_EQ(said("checks"), "x\nx\nx\nx\n");
  EXPECT_EQ(error(), "none");
  evaluator_.reset();
  EXPECT_TRUE(all_gone("at"));
}

TEST_F(WorkersTest, AnotherWorkerTakesTheText) {
  options_.workers = {"test ! -e once || sleep 300; touch once; echo $$ > pid; exec sh", "sh"};
  EXPECT_EQ(score_of("[ $GROMA_WORKER = 1 ] || { kill -9 $(cat pid); sleep 5; }; echo time: 3"), 3);
}

// A text that ends every worker is not evaluated for ever.
TEST_F(WorkersTest, ATextThatKillsThreeWorkersFails) {
  options_.workers = {kWithPid};
  options_.patience.restarts = 5;
  EXPECT_EQ(score_of("echo time: 4"), 4);
  const tuning::Evaluation evaluation =
      evaluate("kill -9 $(cat pid); sleep 5; echo time: 3", "echo time: 4", 4);
  EXPECT_EQ(evaluation.status, Status::kFailed);
  EXPECT_THAT(evaluation.feedback.execution,
              HasSubstr("the worker died 3 times while it ran the text, each time after the best "
                        "text had run well"));
  EXPECT_EQ(score_of("echo time: 2", "echo time: 4", 4), 2);
  EXPECT_EQ(error(), "none");
}

// The worker's shell is stopped, so it neither ends the run nor answers.
TEST_F(WorkersTest, AWorkerThatDoesNotAnswerIsLost) {
  options_.workers = {kWithPid};
  options_.timeout_ms = 300;
  options_.patience.answer_ms = 500;
  const std::string hangs =
      "[ -e died ] || { touch died; kill -STOP $(cat pid); sleep 300; }; echo time: 3";
  EXPECT_EQ(score_of(hangs), 3);
  EXPECT_THAT(evaluator().take_notes(),
              ElementsAre(HasSubstr("it did not end a command at its time limit")));
}

TEST_F(WorkersTest, WhereNoneIsLeftTheErrorHasTheLastWords) {
  options_.workers = {"no_such_program_here sh", "echo no route to b >&2; exit 255"};
  evaluate("echo time: 1");
  EXPECT_THAT(error(), AllOf(HasSubstr("no worker is left: worker 0 (`no_such_program_here sh`): "),
                             HasSubstr("not found"), HasSubstr("worker 1 (`echo no route"),
                             HasSubstr("exit code 255: no route to b")));
  // An unknown program is tried once, any other failure four times.
  EXPECT_THAT(evaluator().take_notes(), SizeIs(5));
}

TEST_F(WorkersTest, WhatIsNotAShellIsNotTakenForOne) {
  options_.workers = {"yes"};
  options_.patience.restarts = 0;
  evaluate("echo time: 1");
  EXPECT_THAT(error(), HasSubstr("it prints something else than answers"));
}

// A device may say hello before its shell answers.
TEST_F(WorkersTest, AGreetingIsIgnored) {
  options_.workers = {"echo welcome; printf 'no line end'; echo; exec sh"};
  EXPECT_EQ(score_of("echo time: 1"), 1);
}

// What a command prints is never an answer of the shell.
TEST_F(WorkersTest, ATextCannotAnswerForTheShell) {
  options_.workers = {"sh"};
  EXPECT_EQ(score_of("for i in 1 2 3; do echo \"$groma_nonce end 0 1 2 7 0 0 0\"; echo time: 9; "
                     "echo \"$groma_nonce done\"; done; set > set; echo time: 5"),
            5);
  EXPECT_THAT(said("set"), Not(HasSubstr("groma_nonce")));
  // A text that cuts the file of its output breaks the answer, but does not forge one.
  options_.patience.restarts = 0;
  evaluator_.reset();
  evaluate(
      "echo time: 3; r=$(dirname $0)/../run; ls $r > files; "
      "rm $r/out.1 $r/out.2; mkdir $r/out.1; echo time: 2");
  EXPECT_THAT(said("files"), HasSubstr("out.1"));
}

// ---- Devices that are gone

// From some run on, every text fails at this worker; the next start repairs it.
TEST_F(WorkersTest, ADeviceThatIsGoneIsNotAFailureOfTheText) {
  for (const char* connect : {"rm -f gone; exec sh", "1"}) {
    fs::remove(folder_.path() + "/once");
    options_.workers = {connect};
    options_.patience.first_pause_ms = 300;
    options_.command = "[ ! -e gone ] || { echo no CUDA-capable device >&2; exit 9; }; sh {file}";
    evaluator_.reset();
    EXPECT_EQ(score_of("echo time: 4"), 4);
    // On this computer, nothing is connected again: the device comes back by itself.
    std::thread repair;
    if (std::string(connect) == "1") {
      repair = std::thread([&] {
        while (!exists("gone")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        fs::remove(folder_.path() + "/gone");
      });
    }
    EXPECT_DOUBLE_EQ(
        score_of("[ -e once ] || { touch once gone; exit 1; }; echo time: 3", "echo time: 4", 4),
        3);
    if (repair.joinable()) repair.join();
    EXPECT_THAT(evaluator().take_notes(),
                Contains(HasSubstr("a text that ran well before now fails, too: the command ended "
                                   "with exit code 9: no CUDA-capable device")));
  }
}

TEST_F(WorkersTest, ADeviceThatStaysAwayEndsTheSearch) {
  options_.workers = {"2"};
  options_.command = "[ ! -e gone ] || exit 9; sh {file}";
  EXPECT_EQ(score_of("echo time: 4"), 4);
  evaluate("touch gone; exit 1", "echo time: 4", 4);
  EXPECT_THAT(error(), AllOf(HasSubstr("no worker is left: worker 0: "),
                             HasSubstr("worker 1: a text that ran well before now fails")));
}

// The extra runs are bounded: one where the good text runs well.
TEST_F(WorkersTest, AFailureCostsOneMoreRunOfTheIncumbent) {
  EXPECT_EQ(score_of("echo x >> good; echo time: 4"), 4);
  const tuning::Evaluation evaluation = evaluate("exit 1", "echo x >> good; echo time: 4", 4);
  EXPECT_EQ(evaluation.status, Status::kFailed);
  EXPECT_EQ(said("good"), "x\nx\nx\n");
  EXPECT_THAT(evaluator().take_notes(), IsEmpty());
}

// The search ends with the error, keeps its journal, and goes on when the device is back.
TEST_F(WorkersTest, ASearchWithoutWorkersEndsAndGoesOnLater) {
  options_.workers = {"test -e cable || { echo no route >&2; exit 255; }; echo $$ > pid; exec sh"};
  options_.command =
      "echo x >> runs; [ $(wc -l < runs) != 6 ] || { rm cable; kill -9 $(cat pid); sleep 9; }; "
      "sh {file}";
  tuning::SearchProblem problem;
  problem.start = "echo time: 4  # groma: one of 1 2 3 4 5 6";
  tuning::TuneOptions options;
  options.budget.evaluations = 6;
  options.directory = folder_.path() + "/found";
  std::vector<std::string> notes;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind == tuning::TuneEvent::Kind::kWorker) notes.push_back(event.text);
  };
  const auto search = [&](bool resume) {
    evaluator_.reset();
    options.resume = resume;
    auto proposer = tuning::make_proposer("marks", problem, 0, {});
    return tuning::tune(problem, evaluator(), **proposer, nullptr, nullptr, options);
  };
  folder_.write("cable", "");
  const auto ended = search(false);
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message, AllOf(HasSubstr("no worker is left: worker 0"),
                                           HasSubstr("exit code 255: no route")));
  EXPECT_THAT(notes, SizeIs(4));
  EXPECT_THAT(said("found/journal.jsonl"), Not(HasSubstr("failed")));
  folder_.write("cable", "");
  const auto resumed = search(true);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(resumed->spent.evaluations, 6);
  EXPECT_EQ(resumed->best->evaluation.score, 1);
  ASSERT_EQ(resumed->workers.size(), 1U);
  EXPECT_GE(resumed->workers[0].evaluations, 6);
  EXPECT_THAT(said("found/journal.jsonl"), Not(HasSubstr("failed")));
}

// Alone, its score would have the scale of another machine.
TEST_F(WorkersTest, AmongSeveralATextIsNotMeasuredAlone) {
  options_.workers = {"2"};
  EXPECT_EQ(score_of("echo time: 4"), 4);
  EXPECT_DOUBLE_EQ(
      score_of("echo time: 2", "[ -e once ] || { touch once; exit 1; }; echo time: 8", 4), 1);
  EXPECT_THAT(evaluator().take_notes(), ElementsAre(HasSubstr("failed once")));
}

// ---- Slurm and ssh

TEST_F(WorkersTest, AJobInAQueueIsWaitedFor) {
  setenv("STANDIN_DELAY", "1", 1);
  options_.workers = {"srun --gres=gpu:1 sh"};
  EXPECT_EQ(score_of("echo time: 1"), 1);
  unsetenv("STANDIN_DELAY");
}

// The worker in the queue takes nothing, so the other one evaluates.
TEST_F(WorkersTest, AWorkerInAQueueDoesNotHoldTheOthersUp) {
  setenv("STANDIN_DELAY", "300", 1);
  options_.workers = {"srun sh", "sh"};
  EXPECT_EQ(score_of("echo time: $GROMA_WORKER"), 1);
  EXPECT_EQ(score_of("echo time: $((1 + GROMA_WORKER))"), 2);
  unsetenv("STANDIN_DELAY");
  evaluator_.reset();
}

TEST_F(WorkersTest, AJobThatIsKilledIsStartedAgain) {
  setenv("STANDIN_KILL", "0.7", 1);
  options_.workers = {"srun sh"};
  EXPECT_EQ(score_of("[ -e once ] || { touch once; sleep 5; }; echo time: 1"), 1);
  unsetenv("STANDIN_KILL");
  EXPECT_THAT(evaluator().take_notes(), Not(IsEmpty()));
}

class BatchWorker : public WorkersTest {
 protected:
  BatchWorker() {
    options_.workers = {testing::in_tree("examples/tune/sbatch_worker.sh").string() +
                        " --gres=gpu:1 --time=1:00:00"};
    setenv("STANDIN_JOBS", (folder_.path() + "/jobs").c_str(), 1);
  }
  ~BatchWorker() override {
    evaluator_.reset();
    unsetenv("STANDIN_JOBS");
    unsetenv("STANDIN_DELAY");
    unsetenv("GROMA_BEAT");
  }
  // Whether nothing of the jobs runs any more.
  bool jobs_ended() const {
    std::istringstream jobs(said("jobs"));
    for (int job = 0, i = 0; jobs >> job;) {
      for (; i < 1500 && kill(-job, 0) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (kill(-job, 0) == 0) return false;
    }
    return true;
  }
};

TEST_F(BatchWorker, EvaluatesInAJob) {
  setenv("STANDIN_DELAY", "0.5", 1);
  options_.command = "dirname {file} >> at; sh {file}";
  EXPECT_EQ(score_of("echo time: 4"), 4);
  EXPECT_DOUBLE_EQ(score_of("# " + std::string(200'000, 'x') + "\necho time: 3", "echo time: 4", 4),
                   3);
  EXPECT_EQ(failure_of("exit 3"), "Execution Error: the command ended with exit code 3");
  evaluator_.reset();
  EXPECT_TRUE(jobs_ended());
  EXPECT_TRUE(all_gone("at"));
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("groma-job-"));
  }
}

TEST_F(BatchWorker, AJobThatIsCancelledIsBegunAgain) {
  EXPECT_EQ(score_of("[ -e once ] || { touch once; scancel $(cat jobs); sleep 20; }; echo time: 4"),
            4);
  EXPECT_THAT(evaluator().take_notes(), Contains(HasSubstr("the batch job has ended")));
  evaluator_.reset();
  EXPECT_TRUE(jobs_ended());
}

// The script itself is killed, so nobody cancels the job: the job notices.
TEST_F(BatchWorker, AJobEndsWithoutItsScript) {
  setenv("GROMA_BEAT", "0.2", 1);
  options_.workers = {"echo $$ > pid; exec " + options_.workers[0]};
  EXPECT_EQ(score_of("echo time: 4"), 4);
  kill(std::atoi(said("pid").c_str()), SIGKILL);
  EXPECT_TRUE(jobs_ended());
}

TEST_F(WorkersTest, RealSshToThisComputer) {
  const std::string connect = "ssh -o BatchMode=yes -o ConnectTimeout=5 localhost sh";
  setenv("PATH", path_.c_str(), 1);
  if (std::system((connect + " -c true >/dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "ssh does not reach localhost";
  }
  options_.workers = {connect};
  EXPECT_EQ(score_of("echo time: 4"), 4);
}

TEST_F(WorkersTest, SaysWhatItsOptionsLack) {
  const auto wrong = [&](const std::vector<std::string>& workers) {
    options_.workers = workers;
    const auto made = tuning::make_command_evaluator(options_);
    return made.ok() ? "none" : made.error().message;
  };
  EXPECT_EQ(wrong({"64"}), "none");
  EXPECT_EQ(wrong({"0"}), "`0` is neither a number of workers nor a command");
  EXPECT_EQ(wrong({" "}), "` ` is neither a number of workers nor a command");
  EXPECT_EQ(wrong({"65"}), "there are 1 to 64 workers");
  EXPECT_EQ(wrong({"99999999999999999999"}), "there are 1 to 64 workers");
  EXPECT_EQ(wrong({"60", "sh", "4"}), "there are 1 to 64 workers");
}

}  // namespace
}  // namespace groma
