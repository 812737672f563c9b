// `groma tune` as a user runs it: what it refuses, what it prints, how it ends and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/run.h"
#include "support/sanitized.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::read_text;
using test::run;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs of milliseconds.
constexpr char kSmall[] = "groma tune --app cannon:size=small ";

// A text whose score is its number, and the command that says it.
constexpr char kNumber[] = "value 4  # groma: one of 1 2 3 4 5 6 7 8\n";
constexpr char kReadNumber[] = "--command 'cat {file}' --metric 'value (\\d+)' --repeats 1 ";

std::vector<json> json_lines(const std::string& out) {
  std::vector<json> all;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

// Without what differs from one run to the next.
json found_by(const Outcome& outcome) {
  json end = json_lines(outcome.out).back();
  end["spent"].erase("seconds");
  return end;
}

std::size_t steps_in(const std::string& folder) {
  std::istringstream lines(read_text(folder + "/journal.jsonl"));
  std::size_t steps = 0;
  for (std::string line; std::getline(lines, line);)
    steps += line.starts_with("{\"step\"") ? 1U : 0U;
  return steps;
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

// ---- What is refused.

TEST(Tune, WrongUsageIsToldFromWrongInput) {
  for (const char* wrong : {"",
                            "--app cannon --file a --command 'x {file}'",
                            "--file a",
                            "--command 'x {file}'",
                            "--app cannon --proposer nobody",
                            "--app cannon --proposer ''",
                            "--app ''",
                            "--app - --machine -",
                            "--app cannon --start ''",
                            "--app cannon --out ''",
                            "--resume ''",
                            "--resume d --trust --out e",
                            "--trust --app cannon",
                            "--app cannon --feedback much",
                            "--app cannon --money 1",
                            "--app cannon --unit km",
                            "--app cannon --proposer anneal --estimates 5",
                            "--file a --command '{file}' --estimates 5",
                            "--file a --command '{file}' --metric ''",
                            "--file a --command '{file}' --metric-json ''",
                            "--file a --command '{file}' --check-command ''",
                            "--file a --command '{file}' --start a",
                            "--file a --command '{file}' --machine lassen",
                            "--app cannon --about x --command {file}",
                            "--file a --command cat",
                            "--file a --command 'cat {file} {input}'",
                            "--file a --command 'cat {file}' --input x",
                            "--file a --command 'cat {file}' --higher-is-better",
                            "--file a --command 'cat {file}' --metric '('",
                            "--file a --command 'cat {file}' --metric x",
                            "--file a --command 'cat {file}' --metric-json a",
                            "--file a --command 'cat {file}' --metric '(' --json",
                            "--app cannon --command cat",
                            "--app cannon --tokens 5",
                            "--app cannon --proposer marks",
                            "--file a --command '{file}' --metric '(x)' --metric-json /x"}) {
    const Outcome outcome = run(std::string("groma tune ") + wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
  EXPECT_THAT(run("groma tune --app cannon --file a --command 'x {file}'").err,
              HasSubstr("which starts from `--start`"));
  EXPECT_EQ(run("groma tune --app canon").exit_code, 1);
}

TEST(Tune, AnApplicationIsTunedForOnce) {
  const Outcome outcome = run("groma tune --app cannon --app circuit --app cannon");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("`cannon` is given twice"));
}

TEST(Tune, NumbersAreNumbers) {
  const std::string kMany = "99999999999999999999999";
  const TemporaryFolder folder;
  const std::string command = kSmall + ("--out " + folder.path()) + "/found ";
  for (const char* option :
       {"--evaluations", "--estimates", "--time", "--tokens", "--money", "--timeout", "--seed"}) {
    for (const std::string& value :
         {std::string("''"), std::string("nan"), std::string("-1"), std::string("1e999"), kMany}) {
      const bool is_whole = option != std::string("--time") && option != std::string("--money");
      if (!is_whole && value == kMany) continue;
      const Outcome outcome =
          run(command + "--price 1,1 --command 'echo {file}' " + option + " " + value);
      EXPECT_EQ(outcome.exit_code, 2) << option << " " << value;
      EXPECT_LT(outcome.err.size(), 300U) << outcome.err;
    }
  }
  for (const char* nothing : {"--time 0", "--tokens 0", "--money 0 --price 1,1"}) {
    EXPECT_EQ(run(command + nothing).exit_code, 2) << nothing;
  }
  EXPECT_FALSE(exists(folder.path() + "/found"));
}

TEST(Tune, NothingOfTheUsersIsReplaced) {
  for (const char* name : {"journal.jsonl", "best.mapper", "best.txt", "findings.txt", "report.txt",
                           "steps.txt", "verified.mapper"}) {
    const TemporaryFolder folder;
    folder.write(name, "mine\n");
    const Outcome outcome = run(kSmall + ("--evaluations 1 --out " + folder.path()));
    EXPECT_EQ(outcome.exit_code, 1) << name;
    EXPECT_THAT(outcome.err, HasSubstr(name));
    EXPECT_THAT(outcome.err, HasSubstr("--resume"));
    EXPECT_EQ(read_text(folder.path() + "/" + name), "mine\n");
    EXPECT_FALSE(exists(folder.path() + "/lock")) << name;
  }
  const TemporaryFolder folder;
  folder.write("notes", "mine\n");
  EXPECT_EQ(run(kSmall + ("--evaluations 1 --out " + folder.path())).exit_code, 0);
  EXPECT_EQ(read_text(folder.path() + "/notes"), "mine\n");
  EXPECT_TRUE(exists(folder.path() + "/best.mapper"));
}

TEST(Tune, OptionsOfABeginningAreNotThoseOfAResumedSearch) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + found)).exit_code, 0);
  for (const char* option : {"--app cannon",
                             "--machine lassen",
                             "--file a --command '{file}'",
                             "--command 'x {file}'",
                             "--check-command x",
                             "--start a",
                             "--proposer anneal",
                             "--seed 2",
                             "--feedback none",
                             "--compare",
                             "--constrain",
                             "--reply-tokens 99",
                             "--about x",
                             "--input x",
                             "--metric '(x)'",
                             "--metric-json /x",
                             "--unit s",
                             "--higher-is-better",
                             "--repeats 1",
                             "--warmup 1",
                             "--timeout 1",
                             "--estimates 1",
                             "--out x"}) {
    EXPECT_EQ(run("groma tune --resume " + found + " " + option).exit_code, 2) << option;
  }
  const std::string paid = folder.path() + "/paid", model = " --endpoint 'exec:echo no' ";
  ASSERT_EQ(
      run(kSmall + ("--evaluations 1 --proposer trace --money 1 --price 1,1 --out " + paid) + model)
          .exit_code,
      0);
  EXPECT_EQ(run("groma tune --resume " + paid + model).exit_code, 2);
  EXPECT_EQ(run("groma tune --resume " + paid + model + "--price 1,1").exit_code, 0);
}

// A search whose budget is spent says so and how to go on. What it has spent stays the same.
TEST(Tune, AResumedSearchSaysThatItsBudgetIsSpent) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome first = run(kSmall + ("--evaluations 2 --out " + found));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, Not(HasSubstr("nothing is left to do")));
  const std::string journal = read_text(found + "/journal.jsonl"),
                    resume = "groma tune --resume " + found;
  const Outcome again = run(resume);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(
      again.out,
      HasSubstr("ended  nothing is left to do: the budget of evaluations was spent before"));
  EXPECT_THAT(again.out, HasSubstr("go on  groma tune --resume " + found +
                                   " --evaluations N, with a larger N\n"));
  EXPECT_EQ(read_text(found + "/journal.jsonl"), journal);
  const json once = json_lines(run(resume + " --json").out).back();
  const json twice = json_lines(run(resume + " --json").out).back();
  EXPECT_EQ(once["spent_before"], true);
  EXPECT_EQ(once["spent"], twice["spent"]);
  const Outcome more = run(resume + " --evaluations 4");
  EXPECT_THAT(more.out, Not(HasSubstr("nothing is left to do")));
  EXPECT_THAT(more.out, HasSubstr("spent  4 evaluations"));
}

TEST(Tune, AFileIsNoDirectoryForASearch) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine", "mine\n");
  const Outcome out = run(kSmall + ("--evaluations 1 --out " + file));
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_EQ(out.err, "groma: --out: `" + file +
                         "` is a file, not a directory\n"
                         "help: a search is a directory of several files: --out DIR\n");
  EXPECT_EQ(read_text(file), "mine\n");
  EXPECT_THAT(run("groma tune --resume " + file).err,
              HasSubstr("--resume: `" + file + "` is a file, not a directory\n"));
}

TEST(Tune, WhatIsWrongIsOneLineOfJson) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber), plain = folder.write("plain", "1\n");
  const std::string mapping = folder.write("wrong.mapper", "Task nothing GPU;\nTask a GPUS;\n");
  const std::string out = " --json --out " + folder.path() + "/found ";
  const std::string file = "groma tune --file " + text + " " + out;
  ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + folder.path() + "/taken")).exit_code, 0);
  folder.write("taken/notes", "");
  const std::string taken = "--json --out " + folder.path() + "/taken";
  for (const std::string& line :
       {kSmall + taken, "groma tune --json --resume " + folder.path(),
        kSmall + ("--out " + folder.path() + "/no/such --json"),
        file + "--command 'exit 3 # {file}'",
        "groma tune --command 'cat {file}' --file " + plain + out,
        "groma tune --command 'cat {file}' --file " + folder.path() + "/none" + out,
        "groma tune --app canon" + out, "groma tune --app cannon --machine lasen" + out,
        kSmall + ("--start " + mapping + out),
        kSmall + ("--proposer trace --replay /no/such/file" + out)}) {
    std::filesystem::remove_all(folder.path() + "/found");
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 1) << line;
    EXPECT_EQ(outcome.err, "") << line;
    const std::vector<json> lines = json_lines(outcome.out);
    ASSERT_FALSE(lines.empty()) << line;
    EXPECT_EQ(lines.back()["event"], "error") << line;
    EXPECT_NE(lines.back()["message"], "") << line;
    if (line.find("--start") == line.npos) continue;
    EXPECT_EQ(lines.back()["message"], "unknown processor kind `GPUS`");
    EXPECT_GT(lines.back()["diagnostics"].size(), 1U);
  }
}

TEST(Tune, WhyATextCannotBeBegunWithIsInTheProgramsWords) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber);
  const std::string line = "groma tune --file " + text +
                           " --command 'echo c[3] is 7; exit 3 # {file}' " + "--out " +
                           folder.path();
  const Outcome outcome = run(line + "/a");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "groma: the text to begin with cannot be used: Execution Error: the command ended with "
            "exit code 3\nhelp: What it printed last may say why.\n    c[3] is 7\n");
  EXPECT_THAT(json_lines(run(line + "/b --json").out).back()["help"].get<std::string>(),
              HasSubstr("c[3] is 7"));
}

// Once, of each input, before anything is tried; also where it is resumed.
TEST(Tune, SaysThatTheMachineHasOtherNodes) {
  const TemporaryFolder folder;
  const std::string said =
      "cannon:size=small: note: application `cannon` is set up for 1 node, but machine "
      "`p100x4:nodes=2` has 2 "
      "[nodes-differ]\nhelp: `nodes=2` behind the application is for that machine\n";
  const std::string search = kSmall +
                             std::string(
                                 "--machine p100x4:nodes=2 --evaluations 1 "
                                 "--app summa:size=small,nodes=2 --out ") +
                             folder.path();
  EXPECT_EQ(run(search + "/a").err, said);
  EXPECT_EQ(run("groma tune --resume " + folder.path() + "/a").err, said);
  const Outcome outcome = run(search + "/b --json");
  EXPECT_EQ(outcome.err, "");
  const std::vector<json> lines = json_lines(outcome.out);
  EXPECT_EQ(lines.front()["event"], "note");
  EXPECT_EQ(lines.front()["message"],
            "application `cannon` is set up for 1 node, but machine `p100x4:nodes=2` has 2");
  EXPECT_EQ(lines.front()["diagnostics"].front()["id"], "nodes-differ");
  EXPECT_EQ(lines[1]["event"], "proposed");
  EXPECT_EQ(run(search + "/c --proposer nobody --json").out, "");
  EXPECT_THAT(run(search + "/a").err, Not(HasSubstr("nodes-differ")));  // there is a search already
}

TEST(Tune, NamesOfTheStartThatTheApplicationLacksAreWarnedOfOnce) {
  const TemporaryFolder folder;
  const std::string start = " --start " + folder.write("a.mapper", "Task task_44 GPU,CPU;\n") +
                            " --evaluations 2 --out " + folder.path();
  const std::string said = "a.mapper:1:6: warning: ";
  const std::string err = run(kSmall + start + "/a").err;
  EXPECT_THAT(err, ::testing::AllOf(HasSubstr(said), HasSubstr("task_44")));
  EXPECT_EQ(err.find(said), err.rfind(said));
  const Outcome outcome = run(kSmall + start + "/b --json");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(json_lines(outcome.out).front()["event"], "note");
}

TEST(Tune, AFullOutputIsSaidOnce) {
  const TemporaryFolder folder;
  for (const std::string form : {"", "--json"}) {
    const std::string found = folder.path() + "/found" + form;
    const Outcome outcome = run(kSmall + form + " --evaluations 5 --out " + found + " > /dev/full");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "groma: cannot write to standard output\n");
    EXPECT_EQ(steps_in(found), 5U);  // it is found all the same
  }
}

// ---- What is found.

TEST(Tune, BudgetsEndIt) {
  const TemporaryFolder folder;
  const auto spent = [&folder](const std::string& name, const std::string& options) {
    const Outcome outcome =
        run(kSmall + ("--json --out " + folder.path() + "/" + name + " " + options));
    const json end = found_by(outcome);
    EXPECT_EQ(end["end"], "budget");
    EXPECT_EQ(end["budget"], name);
    EXPECT_EQ(outcome.exit_code, end.contains("best") ? 0 : 1);
    return end["spent"];
  };
  EXPECT_EQ(spent("evaluations", "--evaluations 3")["evaluations"], 3);
  const Outcome none = run(kSmall + ("--proposer opro --endpoint 'exec:cat' --tokens 30000 --out " +
                                     folder.path() + "/none"));
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.out, ::testing::ContainsRegex(
                            "\nended  by the budget of tokens: the next 8 questions at once "
                            "may take [0-9]+ tokens, 0 of 30000 are spent: nothing was "
                            "asked\n"));
  spent("time", "--evaluations 0 --proposer anneal --time 0.3");
  EXPECT_THAT(run(kSmall + ("--command 'sleep 9; true {file}' --estimates 0 --time 0.3 --out " +
                            folder.path() + "/slow"))
                  .out,
              HasSubstr("\nended  by the budget of time\n"));
  const std::string model =
      "--proposer opro --endpoint 'exec:cat > /dev/null; echo \"Task * GPU;\"' --evaluations 0 "
      "--reply-tokens 100 ";
  const json tokens = spent("tokens", model + "--tokens 50000");
  EXPECT_GT(tokens["model_calls"], 0);
  EXPECT_LE(tokens["tokens"], 50000);
  const json money = spent("money", model + "--price 1,1 --money 0.05");
  EXPECT_GT(money["money"], 0);
  EXPECT_LE(money["money"], 0.05);
}

TEST(Tune, TheNumberOfJobsDoesNotChangeTheResult) {
  const TemporaryFolder folder;
  const auto found = [&](const std::string& jobs) {
    return found_by(run(std::string(kSmall) + "--proposer random --evaluations 12 --json --out " +
                        folder.path() + "/" + jobs + " --jobs " + jobs));
  };
  const json of_one = found("1");
  EXPECT_EQ(of_one.at("spent").at("evaluations"), 12);
  EXPECT_EQ(found("2"), of_one);
  EXPECT_EQ(run(std::string(kSmall) + "--jobs 0").exit_code, 2);
}

TEST(Tune, NothingFoundEndsWith1) {
  const TemporaryFolder folder;
  const std::string out = "--json --out " + folder.path() + "/found";
  const Outcome none =
      run(kSmall + ("--command 'false {file}' --estimates 0 --evaluations 2 " + out));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_FALSE(found_by(none).contains("best"));
  EXPECT_FALSE(exists(folder.path() + "/found/best.mapper"));
  const Outcome unasked =
      run(kSmall + ("--proposer trace --replay docs/examples/chat_check.jsonl " + out + "2"));
  EXPECT_EQ(unasked.exit_code, 1);
  EXPECT_EQ(found_by(unasked)["end"], "model");
}

TEST(Tune, ASegmentThatHasNoEndIsSaid) {
  const TemporaryFolder folder;
  const std::string text =
      folder.write("text", "# groma: begin size\nn = 2  # groma: one of 1 2\n");
  const Outcome outcome =
      run("groma tune --file " + text + " --command 'cat {file}' --out " + folder.path() + "/a");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("`size` has no `groma: end`"));
}

TEST(Tune, WhereATaskHasNoProcessorNothingBegins) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome outcome = run("groma tune --app cannon --machine gpu=0 --out " + found);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("can run on none of its kinds: `GPU`"),
                                 HasSubstr("help: take a machine that has `GPU`")));
  EXPECT_FALSE(exists(found));
}

// A start may be short of room, which the search mends, and of nothing else.
TEST(Tune, AStartThatIsShortOfRoomIsBegunWith) {
  const TemporaryFolder folder;
  const std::string start = folder.write("zc.mapper", "Region * * GPU ZCMEM;\n");
  const Outcome outcome =
      run("groma tune --app circuit:size=small --machine p100x4:zcmem=1 --start " + start +
          " --evaluations 3 --out " + folder.path() + "/out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: no room for region 4 (rp_wires)"));
  EXPECT_THAT(outcome.out, HasSubstr("rp_wires for GPU where there is room"));
}

TEST(Tune, TheDefaultMapperWhereItIsTheBestIsSaid) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome outcome =
      run("groma tune --app solomonik --evaluations 1 --proposer ccd --out " + found);
  EXPECT_THAT(outcome.out, HasSubstr(", nothing is better (step 1: "));
  EXPECT_EQ(read_text(found + "/best.mapper"), "# No statement: the default mapper decides.\n");
}

TEST(Tune, ATextIsTunedByItsMarksWithoutAskingForThem) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber), found = folder.path() + "/found";
  const Outcome outcome = run("groma tune --file " + text + " " + kReadNumber + "--out " + found);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("best   1 s, 4.00 times as fast"));
  EXPECT_THAT(read_text(found + "/best.txt"), HasSubstr("value 1"));
}

// The command is told a mapping's file; `check` and the embedded runtime come before it.
TEST(Tune, ACommandJudgesMappings) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found", log = folder.path() + "/log";
  const std::string command =
      "--app cannon:size=small --json --command 'echo {file} >> " + log +
      "; groma run --json {file} --app cannon:size=small' --metric-json /seconds --repeats 1 ";
  const Outcome outcome =
      run("groma tune " + command + "--evaluations 4 --estimates 60 --out " + found);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json end = found_by(outcome);
  EXPECT_EQ(end["spent"]["evaluations"], 4);
  EXPECT_LE(end["spent"]["estimates"], 60);
  EXPECT_GT(end["spent"]["estimates"], 50);
  EXPECT_LT(end["best"]["score"], end["start"]);
  EXPECT_TRUE(exists(found + "/best.mapper"));
  EXPECT_THAT(read_text(log), HasSubstr(".mapper\n"));
  const Outcome resumed = run("groma tune --trust --json --evaluations 5 --resume " + found);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(found_by(resumed)["spent"]["evaluations"], 5);
  // Without the runtime.
  const Outcome none =
      run("groma tune " + command + "--evaluations 2 --estimates 0 --out " + found + "0");
  EXPECT_EQ(found_by(none)["spent"]["estimates"], 0);
  // What check refuses reaches no command.
  const std::string refused = folder.write("refused.mapper", "Task * CPU;\n");
  const Outcome start = run("groma tune --app cannon:size=small --start " + refused +
                            " --command 'cat {file}' --out " + found + "1");
  EXPECT_EQ(start.exit_code, 1);
  EXPECT_THAT(start.err, HasSubstr("[no-variant]"));
}

TEST(Tune, EveryLineOfJsonParses) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome first = run(kSmall + ("--json --evaluations 3 --out " + found));
  std::vector<json> lines = json_lines(first.out);
  EXPECT_EQ(lines.front()["event"], "proposed");
  EXPECT_EQ(lines.back()["event"], "end");
  const Outcome second = run("groma tune --json --evaluations 5 --resume " + found);
  lines = json_lines(second.out);
  EXPECT_EQ(lines.front()["event"], "resumed");
  EXPECT_EQ(lines.front()["evaluations"], 3);
  EXPECT_EQ(lines.back()["spent"]["evaluations"], 5);
}

// A region without a name is called by its position, as everywhere.
TEST(Tune, AStepNamesARegionThatHasNoName) {
  const TemporaryFolder folder;
  const std::string app = folder.write(
      "a.json",
      R"({"top_level": "main", "regions": [{"name": "x", "unnamed": true, "extents": [64, 64], "fields": [{"name": "v"}]}],
          "tasks": [{"name": "main", "variants": [{"kind": "CPU"}], "body": [{"launch": "a"}]},
                    {"name": "a", "variants": [{"kind": "CPU"}],
                     "requirements": [{"data": "x", "privilege": "read-write"}]}]})");
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run("groma tune --evaluations 30 --machine nodes=1,gpu=0,cpu=2,omp=0 --app " + app +
                " --out " + found)
                .exit_code,
            0);
  const std::string steps = test::read_text(found + "/steps.txt");
  EXPECT_THAT(steps, AllOf(HasSubstr("\n  region 0 of a "), Not(HasSubstr("\n   of a "))));
}

// ---- Several inputs.

constexpr char kTwoSizes[] = "groma tune --app circuit:size=small --app circuit --pareto ";

// Every mapping of the front is in a file. The best is the one in best.mapper.
TEST(Tune, ParetoKeepsWhatNothingElseBeatsOnAllInputs) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome outcome = run(kTwoSizes + ("--json --evaluations 40 --out " + found));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json end = json_lines(outcome.out).back();
  ASSERT_FALSE(end["front"].empty());
  bool has_best = false;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(found + "/front")) {
    files += entry.path().extension() == ".mapper" ? 1U : 0U;
  }
  EXPECT_EQ(files, end["front"].size());
  for (const json& each : end["front"]) {
    const std::string number = std::to_string(each["number"].get<int>());
    const std::string file = read_text(found + "/front/" + number + ".mapper");
    const std::string text = each["text"];
    EXPECT_EQ(file, text.empty() ? "# No statement: the default mapper decides.\n" : text);
    EXPECT_EQ(each["values"].size(), 2U);
    for (const json& other : end["front"]) {
      const bool beats = other["values"][0] <= each["values"][0] &&
                         other["values"][1] <= each["values"][1] && other != each;
      EXPECT_FALSE(beats) << other << " beats " << each;
    }
    if (each["number"] != end["best"]["number"]) continue;
    has_best = true;
    EXPECT_EQ(each["values"], end["best"]["values"]);
    EXPECT_EQ(file, read_text(found + "/best.mapper"));
  }
  EXPECT_TRUE(has_best);
  // Each of them joined when it was evaluated.
  std::size_t joined = 0;
  for (const json& event : json_lines(outcome.out)) {
    if (event["event"] == "evaluated" && event.value("front", false)) ++joined;
  }
  EXPECT_GE(joined, files);
  // A second search does not replace the front.
  const Outcome again = run(kTwoSizes + ("--evaluations 1 --out " + found));
  EXPECT_EQ(again.exit_code, 1);
  std::filesystem::create_directories(folder.path() + "/other/front");
  const Outcome other = run(kTwoSizes + ("--evaluations 1 --out " + folder.path()) + "/other");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("has a folder `front`"));
}

TEST(Tune, AResumedSearchHasTheFrontOfAWholeOne) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found", whole = folder.path() + "/whole";
  ASSERT_EQ(run(kTwoSizes + ("--jobs 2 --evaluations 7 --out " + found)).exit_code, 0);
  const Outcome resumed = run("groma tune --json --jobs 1 --evaluations 25 --resume " + found);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Outcome straight = run(kTwoSizes + ("--json --evaluations 25 --out " + whole));
  EXPECT_EQ(found_by(resumed), found_by(straight));
  EXPECT_FALSE(found_by(resumed)["front"].empty());
  EXPECT_EQ(run("diff -r " + found + "/front " + whole + "/front").exit_code, 0);
  const Outcome shown = run("groma tune --resume " + found);
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("that no other one beats on all inputs\n"),
                    HasSubstr("input 1: circuit:"), HasSubstr(": best.mapper, front/,")));
  const std::string table = shown.out.substr(shown.out.find("front  "));
  EXPECT_THAT(read_text(found + "/report.txt"), HasSubstr(table.substr(0, table.find("in     "))));
}

// The first value of `a,b` is the cost of the input `one`, the second that of `two`.
TEST(Tune, ACommandWithSeveralInputsHasAFront) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", "4,4  # groma: one of 2,9 4,4 5,5 9,1 9,9\n");
  const std::string found = folder.path() + "/found";
  const std::string command =
      "groma tune --file " + text +
      " --command 'case {input} in one) cut -d, -f1 {file};; *) cut -d, -f2 {file};; esac'"
      " --metric '^(\\d+)' --repeats 1 --input one --input two --out ";
  const Outcome outcome = run(command + found + " --pareto");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("front  3 texts that no other one beats on all inputs\n"
                                     "       step  one  two  mean\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  2 s  9 s  4.243 s\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  4 s  4 s  4 s      start\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  9 s  1 s  3 s      best\n"));
  // The front of a search that was begun without it.
  const std::string later = folder.path() + "/later";
  ASSERT_EQ(run(command + later).exit_code, 0);
  EXPECT_FALSE(exists(later + "/front"));
  ASSERT_EQ(run("groma tune --trust --pareto --resume " + later).exit_code, 0);
  EXPECT_EQ(run("diff -r " + found + "/front " + later + "/front").exit_code, 0);
}

TEST(Tune, ParetoNeedsSeveralInputs) {
  const Outcome simulated = run(kSmall + std::string("--pareto"));
  EXPECT_EQ(simulated.exit_code, 2);
  EXPECT_THAT(simulated.err, HasSubstr("--pareto: needs at least two inputs: give `--app` again, "
                                       "with another size"));
  for (const char* app : {"--app cannon", "--app cannon --app cannon:n=40000", "--file a"}) {
    const Outcome measured =
        run(std::string("groma tune --pareto --command 'x {file} {input}' ") + "--input 1 " + app);
    EXPECT_EQ(measured.exit_code, 2) << app;
    EXPECT_THAT(measured.err, HasSubstr("give `--input` again, with another value of `{input}`"));
  }
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + found)).exit_code, 0);
  const Outcome resumed = run("groma tune --pareto --resume " + found);
  EXPECT_EQ(resumed.exit_code, 1);
  EXPECT_THAT(resumed.err, HasSubstr("has only one input"));
  EXPECT_FALSE(exists(found + "/front"));
}

// ---- Going on.

TEST(Tune, AResumedSearchIsWhatItWasBegunWith) {
  const TemporaryFolder folder;
  const std::string start = folder.write("start.mapper", "Task * GPU, OMP, CPU;\n");
  const std::string options =
      "groma tune --app cannon:size=small --app summa:size=small --machine p100x4:nodes=2 --json "
      "--proposer anneal --seed 18446744073709551615 --feedback none --compare --start " +
      start + " --reply-tokens 77 ";
  const std::string found = folder.path() + "/found", whole = folder.path() + "/whole";
  ASSERT_EQ(run(options + "--evaluations 2 --out " + found).exit_code, 0);
  std::filesystem::remove(start);
  const Outcome resumed = run("groma tune --json --evaluations 9 --resume " + found);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  folder.write("start.mapper", "Task * GPU, OMP, CPU;\n");
  EXPECT_EQ(found_by(resumed), found_by(run(options + "--evaluations 9 --out " + whole)));
}

TEST(Tune, ATextsOptionsAreResumed) {
  const TemporaryFolder folder;
  const std::string text = folder.write("a text.cc", kNumber);
  // Every odd letter comes back as it was.
  const std::string options =
      "groma tune --json --file '" + text +
      "' --about 'a\nb\\n \\\\ c' --check-command 'test -f {file}\ntest -n {input}' --command "
      "'cat {file}; echo \"$GROMA_FILE {input}\"' --input 'x y' --input 'back\\slash\n' --metric "
      "'value (\\d+)' --unit 'k\\m' --higher-is-better --repeats 1 --warmup 1 --timeout 50 "
      "--memory 4000 ";
  const std::string found = folder.path() + "/found", whole = folder.path() + "/whole";
  ASSERT_EQ(run(options + "--evaluations 2 --out " + found).exit_code, 0);
  const Outcome resumed = run("groma tune --json --trust --evaluations 8 --resume " + found);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const json end = found_by(resumed);
  EXPECT_EQ(end["best"]["values"], json({8.0, 8.0}));
  EXPECT_EQ(end, found_by(run(options + "--evaluations 8 --out " + whole)));
}

// It is asked of the model as it was then, also where it is not said again.
TEST(Tune, TheTemperatureIsResumed) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found", asked = folder.path() + "/asked";
  const std::string model = "--endpoint 'exec:cat >> " + asked +
                            "; echo \"Task * GPU, OMP, CPU; InstanceLimit task_4 $(wc -c < " +
                            asked + ");\"' ";
  ASSERT_EQ(run(kSmall + ("--proposer trace --temperature 0.375 --evaluations 3 " + model) +
                "--out " + found)
                .exit_code,
            0);
  EXPECT_THAT(read_text(asked), HasSubstr("0.375"));
  const std::string resume = "groma tune --evaluations 4 " + model + "--resume " + found;
  const Outcome other = run(resume + " --temperature 0.5");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("was started with another temperature"));
  EXPECT_EQ(run(resume + " --temperature 0.375").exit_code, 0);
  const Outcome resumed = run("groma tune --evaluations 5 " + model + "--resume " + found);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

// A limit on time is the endpoint's, so a resumed search may have another one.
TEST(Tune, AReplyMayTakeAsLongAsIsSaid) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  const Outcome slow = run(kSmall + ("--proposer trace --evaluations 3 --endpoint 'exec:exec sleep "
                                     "60' --reply-timeout 0.25 --out " +
                                     found));
  EXPECT_EQ(slow.exit_code, 1);
  EXPECT_THAT(slow.out, HasSubstr("not done after 0."));
  const Outcome resumed = run("groma tune --reply-timeout 600 --resume " + found +
                              " --endpoint 'exec:cat > /dev/null; echo \"Region * * GPU ZCMEM;\"' "
                              "--evaluations 2");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("spent  2 evaluations"));
}

// A command does not report tokens.
TEST(Tune, SaysThatTokensAreEstimated) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run(kSmall + ("--proposer trace --evaluations 2 --price 1,1 --endpoint 'exec:cat > "
                    "/dev/null; echo \"Region * * GPU ZCMEM;\"' --out " +
                    folder.path() + "/found"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              ::testing::ContainsRegex("1 question to the model .about [0-9]+ tokens, about 0.0"));
  // The reply may have 4,096 tokens and has five.
  const json end = found_by(run("groma tune --json --resume " + folder.path() +
                                "/found --price 1,1"
                                " --endpoint exec:false"));
  EXPECT_EQ(end["spent"]["tokens_estimated"], true);
  EXPECT_GT(end["spent"]["tokens"], 500);
  EXPECT_LT(end["spent"]["tokens"], 4'000);
}

TEST(Tune, SaysThatTheModelGetsAPartOfALongDescription) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", "# groma: begin number\nvalue 4\n# groma: end\n");
  const auto said = [&](int bytes) {
    const Outcome outcome = run("groma tune --file " + text + " " + kReadNumber +
                                "--evaluations 1 --about \"$(head -c " + std::to_string(bytes) +
                                " /dev/zero | tr '\\0' x)\" --proposer trace --endpoint " +
                                "exec:false --out " + folder.path() + "/" + std::to_string(bytes));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(
      said(32'001),
      HasSubstr("groma: `--about` has 32001 bytes, the model gets the first 32000 of them\n"));
  EXPECT_THAT(said(32'000), Not(HasSubstr("--about")));
}

TEST(Tune, CommandsOfADirectoryAreRunOnlyWhereTheyAreTrusted) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber), found = folder.path() + "/found";
  const std::string mark = folder.path() + "/ran";
  const std::string command = "--command 'touch " + mark + "; cat {file}' ";
  const std::string check = "--check-command 'true\n' ";
  ASSERT_EQ(run("groma tune --evaluations 2 --file " + text + " --metric 'value (\\d+)' " +
                command + check + "--out " + found)
                .exit_code,
            0);
  std::filesystem::remove(mark);
  const std::string resume = "groma tune --evaluations 3 --resume " + found + " ";
  const Outcome untrusted = run(resume);
  EXPECT_EQ(untrusted.exit_code, 1);
  EXPECT_THAT(untrusted.err, HasSubstr("`touch " + mark + "; cat {file}`"));
  EXPECT_THAT(untrusted.err, HasSubstr("`true\\n`"));
  EXPECT_THAT(untrusted.err, HasSubstr("--trust"));
  EXPECT_FALSE(exists(mark));
  const Outcome told = run(resume + "--json");
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(json_lines(told.out).back()["message"].get<std::string>(), HasSubstr("cat {file}"));
  const Outcome trusted = run("groma tune --evaluations 4 --trust --resume " + found);
  EXPECT_EQ(trusted.exit_code, 0);
  EXPECT_THAT(trusted.err, HasSubstr("`touch " + mark + "; cat {file}`"));
  EXPECT_TRUE(exists(mark));
}

TEST(Tune, ADirectorysTextDoesNotSteerTheTerminal) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber), found = folder.path() + "/found";
  ASSERT_EQ(run("groma tune --evaluations 1 --file " + text +
                " --command 'cat {file} # \x1b[2K\r' --metric 'value (\\d+)' --out " + found)
                .exit_code,
            0);
  const Outcome outcome = run("groma tune --resume " + found);
  EXPECT_THAT(outcome.err, HasSubstr("`cat {file} # \\u001b[2K\\r`"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
}

// A model's endpoint that gives away a part of the key: it is in no file of the search, not in the
// recording, and is not printed.
TEST(Tune, NoPartOfAKeyIsKept) {
  const std::string key = "sk-SECRETKEY12345ab-and-more";
  for (const std::size_t letters : {std::size_t{4}, std::size_t{21}, key.size()}) {
    for (const char* proposer : {"trace", "opro", "scientist", "hybrid"}) {
      for (const char* says :
           {"echo \"Task * GPU, OMP, CPU; # bad key $PART, $PART\"",
            "echo \"{\\\"why\\\": \\\"bad key $PART\\\"}\"", "echo bad key $PART >&2; exit 1"}) {
        const TemporaryFolder folder;
        const Outcome outcome =
            run("export PART=" + key.substr(0, letters) + " GROMA_API_KEY=" + key + "\n" + kSmall +
                "--evaluations 4 --time 20 --proposer " + proposer + " --record " + folder.path() +
                "/recording --out " + folder.path() + "/found --endpoint 'exec:cat > /dev/null; " +
                says + "'");
        std::string all = outcome.out + outcome.err;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
          if (entry.is_regular_file()) all += read_text(entry.path().string());
        }
        EXPECT_EQ(all.find("sk-S"), std::string::npos)
            << proposer << " " << letters << " " << all.substr(all.find("sk-S") - 100, 200);
        EXPECT_THAT(all, HasSubstr("[key]")) << proposer;
      }
    }
  }
}

// Nor do its values, a unit, inputs.
TEST(Tune, ATextsWordsDoNotSteerTheTerminal) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", "value 4  # groma: one of 4 \x1b[2J\n");
  const std::string search =
      "groma tune --repeats 1 --file " + text +
      " --unit 's\x1b[31m' --input 'a\x1b[32m' --input b --metric 'score (\\d)' --command ";
  const std::string found = " --out " + folder.path() + "/found";
  const Outcome outcome =
      run(search + "'test {input}; echo score $((1 + $(grep -c \"value 4\" {file})))'" + found);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("    2  1 s\\u001b[31m  line 1: \\u001b[2J for 4\n"));
  EXPECT_THAT(outcome.out, HasSubstr("best   1 s\\u001b[31m (a\\u001b[32m 1 s\\u001b[31m, b 1 "
                                     "s\\u001b[31m), 2.00 times as fast"));
  const Outcome failing = run(search + "'exit 3 # {file} {input}'" + found + "2");
  EXPECT_THAT(failing.err, HasSubstr("exit code 3 (of a\\u001b[32m)"));
  for (const std::string& shown : {outcome.out, outcome.err, failing.err}) {
    EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  }
}

TEST(Tune, AJournalThatIsNoneOfOursIsRefused) {
  for (const char* of :
       {"", "machine p100x4\\n", "app cannon\\nfeedback much\\n", "app cannon\\nrepeats x\\n",
        "app cannon\\nwhatever 1\\n", "file a\\n", "app cannon\\nseed 99999999999999999999\\n"}) {
    const TemporaryFolder folder;
    folder.write("journal.jsonl",
                 std::string("{\"search\":{\"of\":\"") + of + "\",\"start\":\"\"}}\n");
    const Outcome outcome = run("groma tune --evaluations 1 --resume " + folder.path());
    EXPECT_EQ(outcome.exit_code, 1) << of;
    EXPECT_THAT(outcome.err, HasSubstr("help: it was begun by another")) << of;
  }
}

TEST(Tune, NothingIsWrittenThroughADirectorysLinks) {
  for (const char* name : {"best.mapper", "best.txt", "findings.txt", "journal.jsonl", "lock",
                           "report.txt", "steps.txt", "verified.mapper"}) {
    const TemporaryFolder folder;
    const std::string mine = folder.write("mine", "mine\n"), found = folder.path() + "/found";
    ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + found)).exit_code, 0);
    std::filesystem::remove(found + "/" + name);
    std::filesystem::create_symlink(mine, found + "/" + name);
    const Outcome outcome = run("groma tune --evaluations 2 --resume " + found);
    EXPECT_EQ(outcome.exit_code, 1) << name;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("has a link for its `") + name));
    EXPECT_EQ(read_text(mine), "mine\n") << name;
    const std::string other = folder.path() + "/other";
    std::filesystem::create_directory(other);
    std::filesystem::create_symlink(mine, other + "/" + name);
    const Outcome begun = run(kSmall + ("--evaluations 1 --out " + other));
    EXPECT_EQ(begun.exit_code, 1) << name;
    EXPECT_THAT(begun.err, HasSubstr(std::string("has a link for its `") + name));
    EXPECT_EQ(read_text(mine), "mine\n") << name;
  }
  // Nor through what is beside the report for a moment.
  const TemporaryFolder folder;
  const std::string mine = folder.write("mine", "mine\n"), found = folder.path() + "/found";
  ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + found)).exit_code, 0);
  std::filesystem::create_symlink(mine, found + "/report.txt.next");
  EXPECT_EQ(run("groma tune --evaluations 2 --resume " + found).exit_code, 0);
  EXPECT_EQ(read_text(mine), "mine\n");
}

// What a kill left behind while a file was replaced goes when the search goes on; a user's own
// files stay.
TEST(Tune, ResumedItRemovesWhatAKillLeftBehind) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run(kSmall + ("--evaluations 1 --out " + found)).exit_code, 0);
  for (const char* name :
       {"best.mapper", "best.txt", "report.txt", "findings.txt", "verified.mapper"}) {
    folder.write(std::string("found/") + name + ".groma-k3v9x0", "half");
    folder.write(std::string("found/") + name + ".backup", "mine");
  }
  EXPECT_EQ(run("groma tune --evaluations 2 --resume " + found).exit_code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(found)) {
    EXPECT_EQ(entry.path().string().find(".groma-"), std::string::npos) << entry.path();
  }
  EXPECT_EQ(read_text(found + "/best.txt.backup"), "mine");
  EXPECT_EQ(read_text(found + "/verified.mapper.backup"), "mine");
}

// A file of a gigabyte in one line, a pipe, a device.
TEST(Tune, AJournalIsReadWithinBounds) {
  for (const char* make : {"truncate -s 1G", "mkfifo", "ln -s /dev/zero"}) {
    const TemporaryFolder folder;
    const std::string journal = folder.path() + "/journal.jsonl";
    ASSERT_EQ(run(std::string(make) + " " + journal).exit_code, 0);
    const Outcome outcome = run("timeout 60 groma tune --evaluations 1 --resume " + folder.path());
    EXPECT_EQ(outcome.exit_code, 1) << make;
    EXPECT_THAT(outcome.err, HasSubstr(folder.path())) << make;
  }
  rusage used{};  // by all so far
  ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &used), 0);
  if (!GROMA_SANITIZED) {
    EXPECT_LT(used.ru_maxrss, 512 << 10);  // KB
  }
}

TEST(Tune, ADirectorysApplicationIsNoPipe) {
  const TemporaryFolder folder;
  const std::string app = folder.path() + "/app.json", found = folder.path() + "/found";
  ASSERT_EQ(run("groma apps cannon --json > " + app).exit_code, 0);
  ASSERT_EQ(run("groma tune --app " + app + ":n=2000 --evaluations 1 --out " + found).exit_code, 0);
  ASSERT_EQ(run("rm " + app + "; mkfifo " + app).exit_code, 0);
  const Outcome outcome = run("timeout 60 groma tune --evaluations 2 --resume " + found);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("has no file for `" + app + ":n=2000`"));
}

TEST(Tune, WhereNothingWasBegunOneMayBegin) {
  for (const char* left : {"", "{\"sea", "{\"search\":{\"version\":\"0."}) {
    const TemporaryFolder folder;
    folder.write("journal.jsonl", left);
    folder.write("lock", "");
    const Outcome resumed = run("groma tune --evaluations 1 --resume " + folder.path());
    EXPECT_EQ(resumed.exit_code, 1) << left;
    EXPECT_THAT(resumed.err, HasSubstr("begin it again, in the same directory")) << left;
    const Outcome begun = run(kSmall + ("--evaluations 1 --out " + folder.path()));
    EXPECT_EQ(begun.exit_code, 0) << begun.err;
    EXPECT_EQ(steps_in(folder.path()), 1U) << left;
  }
}

TEST(Tune, SeveralThatBeginAtOnceHaveADirectoryEach) {
  const TemporaryFolder folder;
  const Outcome all =
      run("cd " + folder.path() +
          "; for i in 1 2 3 4 5 6; do groma tune --app cannon:size=small "
          "--evaluations 3 > /dev/null & pids=\"$pids $!\"; done; for pid in $pids; do "
          "wait $pid || exit 1; done");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  for (const char* name : {"tune", "tune.2", "tune.3", "tune.4", "tune.5", "tune.6"}) {
    EXPECT_EQ(steps_in(folder.path() + "/" + name), 3U) << name;
  }
}

TEST(Tune, ASearchGoesOnFromAnotherFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/at");
  folder.write("at/text", kNumber);
  folder.write("at/judge", "cat \"$1\"\n");
  const std::string at = "cd " + folder.path() + "/at && groma ";
  ASSERT_EQ(run(at + "machines p100x4 --json > mach.json").exit_code, 0);
  ASSERT_EQ(run(at + "apps cannon --json > app.json").exit_code, 0);
  ASSERT_EQ(run(at + "tune --app app.json:n=2000 --machine mach.json --evaluations 1 --out found")
                .exit_code,
            0);
  const Outcome mapping = run("groma tune --evaluations 2 --resume " + folder.path() + "/at/found");
  EXPECT_EQ(mapping.exit_code, 0) << mapping.err;
  ASSERT_EQ(run(at + "tune --file text --command 'sh ./judge {file}' --metric 'value (\\d+)' "
                     "--evaluations 1 --out text.found")
                .exit_code,
            0);
  const Outcome text =
      run("cd " + folder.path() + " && groma tune --trust --evaluations 4 --resume at/text.found");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("best   2 s"));
}

// A search that is sent this signal once its journal has so many lines.
Outcome interrupted(const std::string& command, const std::string& found, int lines,
                    const std::string& signal) {
  return run(command + " --json --out " + found + " & pid=$!\nwhile [ \"$(cat " + found +
             "/journal.jsonl 2> /dev/null | wc -l)\" -lt " + std::to_string(lines) +
             " ] && kill -0 $pid; do sleep 0.02; done\nkill -" + signal + " $pid\nwait $pid");
}

void expect_goes_on_as_if_it_had_not_ended(const std::string& signal, int exit_code) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found", whole = folder.path() + "/whole";
  const Outcome first =
      interrupted(std::string(kSmall) + "--proposer anneal --evaluations 0", found, 30, signal);
  EXPECT_EQ(first.exit_code, exit_code) << first.err;
  const std::string bound = std::to_string(steps_in(found) + 20) + " ";
  const Outcome resumed = run("groma tune --json --evaluations " + bound + "--resume " + found);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const Outcome straight = run(std::string(kSmall) + "--proposer anneal --json --evaluations " +
                               bound + "--out " + whole);
  EXPECT_EQ(found_by(resumed), found_by(straight));
  EXPECT_EQ(read_text(found + "/best.mapper"), read_text(whole + "/best.mapper"));
  EXPECT_TRUE(exists(found + "/report.txt"));
  if (exit_code == 130) {
    EXPECT_EQ(json_lines(first.out).back()["end"], "stopped");
  }
}

TEST(Tune, CtrlCEndsWith130AndResumes) { expect_goes_on_as_if_it_had_not_ended("INT", 130); }

TEST(Tune, CtrlCEndsACommand) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", kNumber), found = folder.path() + "/found";
  const Outcome outcome = interrupted(
      "groma tune --file " + text + " --command 'sleep 1000; cat {file}'", found, 1, "INT");
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(json_lines(outcome.out).back()["end"], "stopped");
}

TEST(Tune, KilledItGoesOn) { expect_goes_on_as_if_it_had_not_ended("KILL", 128 + 9); }

TEST(Tune, KilledItKeepsTheRepliesThatHadCome) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found", slow = folder.path() + "/slow";
  // One of eight takes long, the first time.
  const std::string model = "--endpoint 'exec:cat > /dev/null; mkdir " + slow +
                            " 2> /dev/null && sleep 100; echo >> " + folder.path() +
                            "/asked; echo \"Region * * GPU ZCMEM;\"' ";
  const Outcome first =
      interrupted(kSmall + ("--proposer opro --evaluations 20 " + model), found, 4 + 7, "KILL");
  EXPECT_EQ(first.exit_code, 128 + 9) << first.err;
  EXPECT_EQ(read_text(folder.path() + "/asked"), "\n\n\n\n\n\n\n");
  const Outcome resumed = run("groma tune --json --evaluations 2 --resume " + found + " " + model);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.out;
  EXPECT_EQ(read_text(folder.path() + "/asked"), "\n\n\n\n\n\n\n\n");
  EXPECT_EQ(found_by(resumed)["spent"]["model_calls"], 9);  // the lost one was perhaps paid for
}

// ---- The live line.

// What a terminal of so many columns is shown.
std::string on_terminal(int columns, const std::string& term, const std::string& line) {
  const TemporaryFolder folder;
  const std::string script =
      folder.write("script", "stty cols " + std::to_string(columns) + " rows 24\n" + line + "\n");
  return run("TERM=" + term + " script -qec 'sh " + script + "' /dev/null").out;
}

// The states of the live line.
std::vector<std::string> live_lines(const std::string& shown) {
  constexpr std::string_view kClear = "\r\x1b[K";
  std::vector<std::string> all;
  for (std::size_t at = shown.find(kClear); at != shown.npos;) {
    at += kClear.size();
    const std::size_t end = shown.find(kClear, at);
    const std::size_t stop = shown.find('\r', at);
    const bool printed = stop < shown.size() && shown[stop + 1] == '\n';
    if (!printed) all.push_back(shown.substr(at, std::min(stop, end) - at));
    at = end;
  }
  return all;
}

// Of these tests' letters: two for 字, none for what stands over another.
std::size_t columns_of(const std::string& text) {
  std::size_t columns = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = (byte & 0xC0U) != 0x80U;
    columns += byte == 0xE5 ? 2U : begins && byte != 0xCC ? 1U : 0U;
  }
  return columns;
}

TEST(Tune, TheLiveLineFitsIntoATerminal) {
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  const TemporaryFolder folder;
  const std::string model =
      "--proposer hybrid --price 1,1 --endpoint \"exec:cat > /dev/null; echo 'Task * GPU;'\" ";
  for (const int columns : {20, 60, 80, 200}) {
    const std::string out = "--out " + folder.path() + "/" + std::to_string(columns) + " ";
    const std::vector<std::string> lines =
        live_lines(on_terminal(columns, "xterm", kSmall + out + model + "--evaluations 12"));
    ASSERT_GT(lines.size(), 10U);
    for (const std::string& line : lines) {
      EXPECT_LT(columns_of(line), static_cast<std::size_t>(columns)) << line;
    }
    if (columns < 80) continue;
    EXPECT_THAT(lines, ::testing::Contains(HasSubstr("asking the model")));
    const auto asked = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
      return line.find(" asked, ") != line.npos;
    });
    ASSERT_NE(asked, lines.rend());
    EXPECT_THAT(*asked, ::testing::ContainsRegex("^best [0-9.]+ ms "));
    EXPECT_THAT(*asked, HasSubstr("▁"));
    EXPECT_THAT(*asked,
                ::testing::ContainsRegex(
                    "[0-9]+ runs, [0-9]+ asked, about [0-9k]+ tokens, [0-9.]+, [0-9]+ s: [a-z]"));
  }
}

// Before its first proposal, for seconds.
TEST(Tune, EstimatesAreShown) {
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  const TemporaryFolder folder;
  const std::string search =
      "groma tune --app cannon:size=small --command 'groma run --json {file} --app "
      "cannon:size=small' --metric-json /seconds --repeats 1 --evaluations 2 --estimates 400 ";
  const std::vector<std::string> lines =
      live_lines(on_terminal(120, "xterm", search + "--out " + folder.path() + "/a"));
  EXPECT_THAT(lines,
              ::testing::Contains(::testing::ContainsRegex(": estimating [0-9]+ of 400 *$")));
  const std::vector<json> events =
      json_lines(run(search + "--json --out " + folder.path() + "/b").out);
  const auto said = std::count_if(events.begin(), events.end(), [](const json& event) {
    return event["event"] == "estimating" && event["of"] == 400 && event["estimates"] > 0;
  });
  EXPECT_GE(said, 1);
  // Some 25 batches, two lines a second.
  EXPECT_LE(static_cast<double>(said), 2 + 2 * events.back()["spent"]["seconds"].get<double>());
}

TEST(Tune, ADumbTerminalHasNoLiveLine) {
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  const TemporaryFolder folder;
  const std::string shown =
      on_terminal(80, "dumb", kSmall + ("--evaluations 3 --out " + folder.path()) + "/found");
  EXPECT_THAT(shown, HasSubstr("best "));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
}

TEST(Tune, LettersOfTheLiveLineAreWhole) {
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  const TemporaryFolder folder;
  const std::string text = folder.write("text",
                                        "x = 字字字字字字字字字字字字;  # groma: one of "
                                        "字字字字字字字字字字字字 a\u0301é字e\u0301字é字\n");
  for (int columns = 50; columns < 56; ++columns) {
    const std::vector<std::string> lines =
        live_lines(on_terminal(columns, "xterm",
                               "groma tune --repeats 1 --file " + text + " --out " + folder.path() +
                                   "/" + std::to_string(columns) +
                                   " --command 'cat {file}; echo score 3' --metric 'score (3)'"));
    ASSERT_FALSE(lines.empty());
    std::size_t longest = 0;
    for (const std::string& line : lines) {
      EXPECT_NO_THROW(static_cast<void>(json(line).dump())) << line;  // it is UTF-8
      longest = std::max(longest, columns_of(line));
    }
    EXPECT_LT(longest, static_cast<std::size_t>(columns));
    EXPECT_GE(longest + 2, static_cast<std::size_t>(columns));
  }
}

}  // namespace
}  // namespace groma
