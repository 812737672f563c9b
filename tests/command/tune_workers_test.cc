// `groma tune --workers` as a user runs it: workers that evaluate at once, die, lose their device,
// and searches that go on afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::read_text;
using test::run;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kEightNumbers[] = "value 4  # groma: one of 1 2 3 4 5 6 7 8\n";

std::vector<json> events_in(const std::string& out) {
  std::vector<json> all;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    all.push_back(json::parse(line, nullptr, false));
    EXPECT_FALSE(all.back().is_discarded()) << line;
  }
  return all;
}

class TuneWorkers : public ::testing::Test {
 protected:
  // The command line of a search for the least number. The shell of the command is in `folder_`.
  std::string search(const std::string& more, const std::string& command = "cat {file}") {
    const std::string file = folder_.write("number", kEightNumbers);
    return "groma tune --file " + file + " --metric 'value (\\d+)' --repeats 1 --out " + found() +
           " --command 'cd " + folder_.path() + " && " + command + "' " + more;
  }
  std::string found() const { return folder_.path() + "/found"; }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_.path() + "/" + name);
  }
  std::string resume(const std::string& more = "") {
    return "groma tune --resume " + found() + " --trust " + more;
  }

  TemporaryFolder folder_;
};

// From the second text on, a run waits until a run of the other worker has begun.
TEST_F(TuneWorkers, EvaluateAtOnceAndSayWho) {
  const char* meets =
      "echo x >> began.$GROMA_WORKER; if [ -e second ]; then for i in $(seq 3000); do "
      "[ -e began.0 ] && [ -e began.1 ] && break; sleep 0.01; done; "
      "[ -e began.0 ] && [ -e began.1 ] || exit 1; fi; touch second; cat {file}";
  const Outcome outcome = run(search("--evaluations 8 --json --workers 1 --workers sh", meets));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<json> all = events_in(outcome.out);
  for (const json& event : all) {
    if (event["event"] != "evaluated") continue;
    EXPECT_TRUE(event["valid"]) << event;
    EXPECT_THAT(event["worker"].get<std::string>(), AnyOf("0", "1 (`sh`)"));
    EXPECT_GT(event["drift"], 0);
  }
  const json& end = all.back();
  EXPECT_EQ(end["best"]["text"], "value 1  # groma: one of 1 2 3 4 5 6 7 8\n");
  EXPECT_GE(end["workers"].size(), 1U);
  EXPECT_THAT(read_text(folder_.path() + "/began.0"), Not(""));
  EXPECT_THAT(read_text(folder_.path() + "/began.1"), Not(""));
  EXPECT_THAT(read_text(found() + "/report.txt"), HasSubstr(" % slower than at first ("));
  EXPECT_THAT(read_text(found() + "/steps.txt"),
              HasSubstr(", 0.0 % slower than at first; beside it the best text had "));
  EXPECT_THAT(read_text(found() + "/journal.jsonl"), HasSubstr("\"drift\":1.0"));
}

// The device of worker 1 fails from its third run on. No text is blamed.
TEST_F(TuneWorkers, AGoneDeviceIsNotTheTextsFault) {
  const char* fails =
      "[ $GROMA_WORKER = 0 ] || { echo x >> runs; [ $(wc -l < runs) -lt 3 ] || "
      "{ echo no device >&2; exit 9; }; }; cat {file}";
  const Outcome outcome = run(search("--evaluations 8 --json --workers 2", fails));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t evaluated = 0, failed = 0;
  for (const json& event : events_in(outcome.out)) {
    if (event["event"] == "evaluated") {
      EXPECT_TRUE(event["valid"]) << event;
      ++evaluated;
    }
    if (event["event"] == "worker") {
      EXPECT_THAT(event["text"].get<std::string>(), HasSubstr("worker 1 failed"));
      ++failed;
    }
  }
  EXPECT_EQ(evaluated, 8U);
  EXPECT_GE(failed, 1U);
}

TEST_F(TuneWorkers, WhereNoneIsLeftTheSearchEndsAndGoesOnLater) {
  folder_.write("cables", "");
  // The fourth run pulls the cable and kills the worker.
  const char* dies =
      "echo x >> runs; if [ $(wc -l < runs) = 4 ]; then rm cables; kill -9 $(cat pid); sleep 9; "
      "fi; "
      "cat {file}";
  const std::string with_pid =
      "--workers 'cd " + folder_.path() +
      "; test -e cables || { echo no route >&2; exit 255; }; echo $$ > pid; exec sh' ";
  // The pauses are 2, 8 and 32 s, so --time ends this search before the last one.
  const Outcome first = run(search(with_pid + "--evaluations 8 --time 5", dies));
  EXPECT_THAT(first.err, HasSubstr("failed, it is started again: the connection ended, signal 9"));
  EXPECT_TRUE(exists("found/journal.jsonl"));
  folder_.write("cables", "");
  const Outcome refused = run("groma tune --resume " + found());
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("by the workers `cd "));
  const Outcome second = run(resume("--time 500"));
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("spent  8 evaluations"));
  EXPECT_THAT(read_text(found() + "/steps.txt"), Not(HasSubstr("failed")));
}

TEST_F(TuneWorkers, AnUnknownWorkerIsSaid) {
  const Outcome outcome = run(search("--workers 'no_such_host sh'"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("groma: no worker is left: worker 0 (`no_such_host sh`)"),
                    HasSubstr("not found"), HasSubstr("resume the search")));
  const Outcome as_json = run(resume("--workers 'no_such_host_2 sh' --json"));
  EXPECT_EQ(as_json.exit_code, 1);
  EXPECT_THAT(events_in(as_json.out).back()["message"].get<std::string>(),
              HasSubstr("no_such_host_2"));
  EXPECT_THAT(run(resume("--workers 2")).err, HasSubstr("has 1 worker\n"));
  EXPECT_EQ(run(resume("--workers sh --evaluations 3")).exit_code, 0);
}

// The process is killed in the middle of the runs of two workers.
TEST_F(TuneWorkers, GoOnAfterAKill) {
  const char* hangs =
      "dirname {file} >> at; echo x >> runs; "
      "if [ $(wc -l < runs) -ge 9 ] && [ ! -e hung ]; then touch hung; sleep 300; fi; cat {file}";
  const Outcome killed = run(search("--evaluations 8 --workers sh --workers 1", hangs) +
                             " & p=$!; " + "for i in $(seq 3000); do [ -e " + folder_.path() +
                             "/hung ] && break; sleep 0.01; done; sleep 0.2; kill -9 $p; wait");
  EXPECT_TRUE(exists("found/journal.jsonl")) << killed.err;
  const Outcome second = run(resume());
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("spent  8 evaluations"));
  EXPECT_THAT(read_text(found() + "/best.txt"), HasSubstr("value 1"));
  // The folders of the texts are gone, also that of the run that was killed.
  const Outcome left = run("for i in $(seq 3000); do left=$(for d in $(cat " + folder_.path() +
                           "/at); do ls -d $d 2>/dev/null; done); [ -z \"$left\" ] && break; "
                           "sleep 0.01; done; echo \"left: $left\"");
  EXPECT_EQ(left.out, "left: \n");
}

TEST_F(TuneWorkers, WrongUsageIsSaid) {
  for (const char* workers : {"--workers 0", "--workers 65", "--workers ''", "--workers ' '"}) {
    EXPECT_EQ(run(search(workers)).exit_code, 2) << workers;
  }
  EXPECT_EQ(run("groma tune --app cannon --workers 2").exit_code, 2);
  EXPECT_THAT(run("groma tune --help").out, HasSubstr("--workers 'srun --gres=gpu:1 sh'"));
}

}  // namespace
}  // namespace groma
