// `groma record`: what Legion programs do, watched from outside, as applications.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/data.h"
#include "command/run.h"
#include "groma/io.h"
#include "groma/workload.h"
#include "record_fixture.h"
#include "support/app_trace.h"

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- What is not usual (recorded.cc).

constexpr const char* kUnusual = GROMA_RECORDED " all -ll:cpu 2";

std::vector<std::string> lines_of(const std::vector<std::string>& lines, const std::string& text) {
  std::vector<std::string> found;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
               [&](const std::string& line) { return line.find(text) != line.npos; });
  return found;
}

TEST_F(Record, WhatIsNotUsual) {
  const Outcome outcome = record(kUnusual);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Application app = recorded();
  const auto workload = Workload::make(app);
  const std::vector<std::string> trace = trace_of(workload->data());
  // A projection functor that turns round by an argument, in the second and in the last step.
  const std::string quarter = ", read-only cells 8 bytes of (25) at ";
  const auto turns = lines_of(trace, "turn (");
  ASSERT_EQ(turns.size(), 32U);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    for (std::size_t point = 0; point < 4; ++point) {
      EXPECT_EQ(turns[4 * step + point], "turn (" + std::to_string(point) + ")" + quarter + "(" +
                                             std::to_string((point + step) % 4 * 25) + ")");
    }
  }
  // Colours that begin at 3.
  EXPECT_EQ(lines_of(trace, "work (3)").at(1), "work (3), read-write cells 8 bytes of (25) at (0)");
  EXPECT_EQ(lines_of(trace, "work (6)").size(), 8U);
  // A partition of pieces, launched by tasks on a piece each.
  EXPECT_EQ(lines_of(trace, "outer ()").size(), 12U);  // 4 and 2 each that they launch
  EXPECT_EQ(lines_of(trace, "inner (1)").at(2),
            "outer (): inner (1), read-write cells 8 bytes of (13) at (62)");
  // A must epoch.
  EXPECT_EQ(lines_of(trace, "together (1)"),
            std::vector<std::string>{"together (1), read-only cells 8 bytes of (25) at (75)"});
  EXPECT_THAT(
      outcome.err,
      HasSubstr("not described: that tasks of must epochs need processors of their own (1)"));
  // Two regions of one name, and what is no box.
  EXPECT_EQ(lines_of(trace, "work ()"),
            std::vector<std::string>{"work (), read-write cells_2 8 bytes of (100) at (0)"});
  EXPECT_EQ(app.regions.at(1).aliases, std::vector<std::string>{"cells"});
  EXPECT_TRUE(app.regions.at(1).unnamed && !app.regions.at(0).unnamed);
  std::string each_fourth;
  for (int at = 3; at < 100; at += 4) {
    each_fourth += std::string(at == 3 ? "" : " and ") + "(1) at (" + std::to_string(at) + ")";
  }
  EXPECT_EQ(lines_of(trace, "holes (").at(3),
            "holes (3), read-only cells 8 bytes of " + each_fourth);
  EXPECT_THAT(outcome.err,
              AllOf(Not(HasSubstr("boxes")), Not(HasSubstr("differ")),
                    HasSubstr("groma: not described: copies that the program makes (1)\n")));
  // What the runtime takes for a task stands there, of any computer that tests run on.
  ASSERT_TRUE(app.runtime.has_value());
  EXPECT_GT(app.runtime->map_s, 0);
  EXPECT_LT(app.runtime->map_s, 1);
  EXPECT_LE(app.runtime->replay_s, app.runtime->map_s);
  EXPECT_NE(run("groma run --machine local --json --app " + out()).out,
            run("groma run --machine local --json --app " + out() + ":runtime=default").out);
  // It is measured, and runs as it is.
  EXPECT_NE(app.find("inner")->variants.at(0).nanoseconds, Formula(0));
  EXPECT_EQ(run("groma run --machine local --app " + out()).exit_code, 0);
  EXPECT_EQ(run("groma tune --evaluations 3 --machine local --out " + folder_.path() +
                "/tuned --app " + out())
                .exit_code,
            0);
}

// Partitions of subregions are told apart by their names, and are one where these are the same.
TEST_F(Record, PartitionsOfSubregions) {
  const Outcome outcome = record(GROMA_RECORDED " subregions -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Application app = recorded();
  std::vector<std::string> names;
  for (const AppPartition& partition : app.partitions) {
    names.push_back(partition.name + " of " + partition.of);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("privacy of cells", "private of privacy",
                                                   "shared of privacy", "ghost of privacy",
                                                   "both of privacy"));
  const std::vector<std::string> trace = trace_of(Workload::make(app)->data());
  const auto piece = [&](std::size_t line) {
    return trace.at(line).substr(trace.at(line).find("of ("));
  };
  for (std::size_t launch = 0; launch < 5; ++launch) {
    const bool in_first = launch == 0 || launch == 3;
    EXPECT_EQ(piece(2 * launch), in_first ? "of (25) at (0)" : "of (25) at (50)") << launch;
    EXPECT_EQ(piece(2 * launch + 1), in_first ? "of (25) at (25)" : "of (25) at (75)") << launch;
  }
  // A mapping of the program finds them by their names.
  const std::string mapping = folder_.write("my.mapper",
                                            "Region work shared CPU SYSMEM;\n"
                                            "Region work ghost CPU SYSMEM;\n");
  EXPECT_THAT(run("groma check " + mapping + " --machine local --app " + out()).err,
              Not(HasSubstr("warning")));
}

// The domains of the launches differ, the first has one point. With `sparse`, the domains are
// diagonals of a square, which a condition selects. In both descriptions each tile is written once.
TEST_F(Record, Wavefronts) {
  for (const bool sparse : {false, true}) {
    const Outcome outcome =
        record(std::string(GROMA_RECORDED) + (sparse ? " sparse" : " wave") + " -ll:cpu 2");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("no rule")));
    EXPECT_THAT(outcome.err, Not(HasSubstr("holes")));
    std::vector<std::string> expected;
    for (int diagonal = 0; diagonal < 7; ++diagonal) {
      for (int i = std::max(0, diagonal - 3); i <= std::min(diagonal, 3); ++i) {
        const std::string j = std::to_string(diagonal - i);
        expected.push_back("work (" + std::to_string(i) + (sparse ? ", " + j : "") +
                           "), read-write matrix 8 bytes of (4, 4) at (" + std::to_string(4 * i) +
                           ", " + std::to_string(4 * (diagonal - i)) + ")");
      }
    }
    const std::vector<std::string> trace = trace_of(Workload::make(recorded())->data());
    EXPECT_EQ(trace, expected);
    if (sparse) {
      const auto body = recorded().find("top")->body;
      ASSERT_EQ(body.size(), 1U);
      const AppStatement& launch = std::get<AppLoop>(body.front().node).body.front();
      EXPECT_EQ(std::get<AppLaunch>(launch.node).where, Formula("i + j == t"));
    }
    const std::string mapping =
        folder_.write("my.mapper",
                      "m = Machine(CPU);\ndef any(Task task) { return m[0, task.ipoint[0] % 2]; }\n"
                      "IndexTaskMap work any;\n");
    for (const std::string& command : {"check " + mapping, "run " + mapping}) {
      const Outcome accepted =
          run("groma " + command + " --machine nodes=1,gpu=0,cpu=2,omp=0 --app " + out());
      EXPECT_EQ(accepted.exit_code, 0) << accepted.out << accepted.err;
    }
  }
}

// What each run launches stands there, by its piece and by the launch that it is of.
TEST_F(Record, RunsThatLaunchSomethingElse) {
  const Outcome outcome = record(GROMA_RECORDED " kinds -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("something else")));
  const std::vector<std::string> trace = trace_of(Workload::make(recorded())->data());
  EXPECT_EQ(lines_of(trace, "inner").size(), 6U + 1);  // none, one, two and three; then one
  EXPECT_EQ(lines_of(trace, "holes").size(), 4U + 4);
  EXPECT_EQ(lines_of(trace, "inner ()").at(5),
            "own (): inner (), read-write cells 8 bytes of (25) at (75)");
}

TEST_F(Record, PredicatesThatWereFalseAreSaid) {
  const Outcome outcome = record(GROMA_RECORDED " predicates -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("groma: not described: that tasks did not run since their "
                                     "predicates were false (7)\n"));
  EXPECT_THAT(record(kUnusual).err, Not(HasSubstr("predicates")));
  EXPECT_THAT(record(GROMA_RECORDED " many 20 -dm:memoize -ll:cpu 2").err,
              Not(HasSubstr("predicates")));  // a trace replays what nobody maps
  EXPECT_THAT(record(GROMA_RECORDED " kinds -ll:cpu 2").err, Not(HasSubstr("predicates")));
}

// The shards of the top-level task are one run, each of which maps some of the points.
TEST_F(Record, AReplicatedTopLevelTask) {
  const std::string mapping = folder_.write("my.mapper", "ControlReplicate top;\n");
  const Outcome plain = record(GROMA_RECORDED " shards -ll:cpu 2");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const auto trace = [&] { return trace_of(Workload::make(recorded())->data()); };
  const std::vector<std::string> expected = trace();
  const Outcome outcome = record(GROMA_RECORDED " shards -ll:cpu 2", "--map " + mapping);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(trace(), expected);
  EXPECT_THAT(outcome.err, AllOf(Not(HasSubstr("top-level tasks before the last")),
                                 Not(HasSubstr("no rule")), Not(HasSubstr("not seen"))));
}

// A trace: after the first few its points are not mapped any more.
TEST_F(Record, ManyLaunchesAreALoop) {
  const Outcome outcome = record(GROMA_RECORDED " many 1000 -dm:memoize -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string text = read_text(out());
  EXPECT_THAT(text, HasSubstr(R"({"repeat": 1000, "body": [)"));
  EXPECT_THAT(text, HasSubstr(R"({"of": "pieces", "color": ["(i + 1) % 4"]})"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("groma: not described")));
  EXPECT_LT(text.size(), 2500U);
}

// What a task launches that waits for it, or works in between, costs no more for that.
TEST_F(Record, WhatALaunchCosts) {
  for (const std::string mode : {"waits", "computes"}) {
    const Outcome outcome = record(GROMA_RECORDED " " + mode + " -ll:cpu 2");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Application app = recorded();
    ASSERT_TRUE(app.runtime.has_value());
    EXPECT_GT(app.runtime->issue_s, 0) << mode;
    EXPECT_LT(app.runtime->issue_s, 0.015) << mode;  // it waits, or works, 30 ms
    const Formula& longest = app.find(mode == "waits" ? "long" : "top")->variants.at(0).nanoseconds;
    EXPECT_THAT(longest.text(), testing::SizeIs(testing::Ge(8))) << mode;  // ten ms and more
  }
}

TEST_F(Record, WhatIsTooMuchIsCounted) {
  const Outcome outcome = record(GROMA_RECORDED " beyond -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(recorded().tasks.size(), 4096U);
  // `top` and `work` are two of the tasks; each of the others is launched on each of 17 regions.
  const auto not_described = [&](const std::string& what, int count) {
    EXPECT_THAT(outcome.err,
                HasSubstr("groma: not described: " + what + " (" + std::to_string(count) + ")\n"));
  };
  not_described("launches of tasks after those that are kept", 6 * 17);
  not_described("launches of kinds after those that are kept", 1 + 4094 * 17 - 65'536);
  not_described("launches over domains with too large numbers", 1);
  not_described("regions of launches that could not be looked at", 1);
}

TEST_F(Record, OfSeveralProgramsTheLastIsDescribed) {
  const Outcome outcome = record("sh -c '" GROMA_STRANGER " plain -ll:cpu 2; " GROMA_STRANGER
                                 " plain -ll:cpu 2; " GROMA_RECORDED " many 5 -ll:cpu 2'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("not described: Legion programs that ended before the last (2)\n"));
  EXPECT_NE(recorded().find("turn"), nullptr);
  EXPECT_EQ(recorded().find("moved"), nullptr);
  EXPECT_THAT(record(GROMA_STRANGER " plain -ll:cpu 2").err, Not(HasSubstr("Legion programs")));
}

TEST_F(Record, RegionsWithoutNames) {
  ASSERT_EQ(record(GROMA_RECORDED " unnamed -ll:cpu 2").exit_code, 0);
  const Application app = recorded();
  EXPECT_EQ(app.regions.at(0).name, "region_1");
  EXPECT_EQ(app.partitions.at(0).name, "region_1_parts");
  EXPECT_TRUE(app.regions.at(0).unnamed && app.partitions.at(0).unnamed);
}

// ---- Whose mapper it is.

TEST_F(Record, TheProgramsOwnMapperDecides) {
  for (const std::string mode : {"plain", "own", "shared", "beside", "concurrent"}) {
    const Outcome outcome = record(std::string(GROMA_STRANGER) + " " + mode + " -ll:cpu 2");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(read_text(out()), AllOf(HasSubstr("{\"launch\": \"kept\", \"domain\": [4]}"),
                                        HasSubstr("{\"launch\": \"moved\", \"domain\": [4]}")));
    if (mode == "plain") continue;
    EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 1 1 1 1\ntunable: 42\n"));
    EXPECT_THAT(outcome.out, HasSubstr("own mapper mapped: "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("mapped: -1")));  // it gets its mapper by name
  }
}

TEST_F(Record, UnderAMapping) {
  const std::string mapping = folder_.write("my.mapper",
                                            "m = Machine(CPU);\n"
                                            "def first(Task task) { return m[0, 0]; }\n"
                                            "IndexTaskMap moved first;\n");
  const Outcome outcome = record(GROMA_STRANGER " own -ll:cpu 2", "--map " + mapping);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\n"));
  EXPECT_EQ(recorded().find("top")->body.size(), 2U);
}

// ---- Where it goes, and what goes wrong.

TEST_F(Record, StandardOutputIsTheApplicationAlone) {
  const Outcome outcome = run("groma record --out - -- " GROMA_STRANGER " plain -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("times: what was recorded")));
  EXPECT_TRUE(application_from_json(outcome.out, "out").ok()) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("moved: "));
}

TEST_F(Record, TheNextCommandHasTheMachineOfTheRun) {
  for (const std::string cpus : {"1", "2"}) {
    const Outcome outcome = record(GROMA_STRANGER " plain -ll:cpu " + cpus);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string next = "Next: groma tune --app " + out() + " --machine ";
    EXPECT_THAT(outcome.err, HasSubstr(next + "nodes=1,gpu=0,cpu=" + cpus +
                                       ",omp=0,sysmem=512,sockmem=0,rdmem=0 --verify -- " +
                                       GROMA_STRANGER " plain -ll:cpu " + cpus + "\n"));
  }
  const std::string program = GROMA_STRANGER " plain -ll:cpu 1";
  const Outcome twice = record("sh -c '" + program + "; " + program + "'");
  EXPECT_THAT(twice.err,
              HasSubstr("Legion was started 2 times; what was recorded is from only one of"));
}

TEST_F(Record, WhatFailsLeavesTheFileAlone) {
  folder_.write("app.json", "mine");
  const auto expect = [&](const std::string& words, const std::string& options,
                          const std::string& text) {
    const Outcome outcome = record(words, options);
    EXPECT_EQ(outcome.exit_code, 1) << words;
    EXPECT_THAT(outcome.err, HasSubstr(text)) << words;
    EXPECT_EQ(read_text(out()), "mine");
  };
  expect("/bin/true", "", "started no Legion that could be taken over");
  expect("nosuchprogram", "", "nosuchprogram");
  expect(GROMA_STRANGER " crash -ll:cpu 2", "", "Execution Error");
  EXPECT_THAT(record(GROMA_STRANGER " crash -ll:cpu 2").err,
              AllOf(HasSubstr("-lg:safe_mapper"), Not(HasSubstr("mapping functions"))));
  expect(GROMA_STRANGER " hang -ll:cpu 2", "--timeout 2", "slower than the time that it was given");
  expect(GROMA_STRANGER " plain", "--map nosuch.mapper", "cannot read `nosuch.mapper`");
  expect(GROMA_STRANGER " plain", "--library nosuch.so", "there is no `nosuch.so`");
  EXPECT_EQ(run("groma record").exit_code, 2);
  EXPECT_EQ(run("groma record --checks never -- /bin/true").exit_code, 2);
  const Outcome unwritable =
      run("groma record --out /nosuch/app.json -- " GROMA_STRANGER " plain -ll:cpu 2");
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("/nosuch/app.json"));
  EXPECT_EQ(unwritable.out, "");  // the program was not started
}

TEST_F(Record, WhatIsThereIsReplacedWhereItIsNamed) {
  const std::string program = GROMA_STRANGER " plain -ll:cpu 2";
  const std::string file = std::filesystem::path(GROMA_STRANGER).filename().string() + ".json";
  const auto unnamed = [&] {
    return run("cd " + folder_.path() + " && groma record -- " + program);
  };
  EXPECT_EQ(unnamed().exit_code, 0);
  folder_.write(file, "mine");
  const Outcome again = unnamed();
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, AllOf(HasSubstr("`" + file + "` exists already"),
                               HasSubstr("`--out " + file + "` replaces it")));
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(read_text(folder_.path() + "/" + file), "mine");
  EXPECT_THAT(record(program).out, Not(HasSubstr("replaced")));
  EXPECT_THAT(record(program).out, HasSubstr(out() + ", replaced: "));
}

TEST_F(Record, ItIsCalledAfterTheProgramBehindLaunchers) {
  const std::string name = std::filesystem::path(GROMA_STRANGER).filename().string();
  const Outcome outcome =
      run("cd " + folder_.path() +
          " && groma record -- env A=1 nice -n 1 " GROMA_STRANGER " plain -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto app = load_application(folder_.path() + "/" + name + ".json");
  ASSERT_TRUE(app.ok()) << app.error().message;
  EXPECT_EQ(app->name, name);
}

// The folder is gone when the program has ended.
TEST_F(Record, WhatCannotBeWrittenIsKept) {
  const std::string sub = folder_.path() + "/sub";
  std::filesystem::create_directory(sub);
  const Outcome outcome =
      run("TMPDIR=" + folder_.path() + " groma record --out " + sub +
          "/app.json -- sh -c '" GROMA_STRANGER " plain -ll:cpu 2; rm -r " + sub + "'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write `" + sub + "/app.json`"));
  const std::string said = "was saved in ";
  const std::size_t at = outcome.err.find(said);
  ASSERT_NE(at, outcome.err.npos) << outcome.err;
  const std::size_t begin = at + said.size();
  const auto kept = load_application(outcome.err.substr(begin, outcome.err.find('\n', at) - begin));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_NE(kept->find("kept"), nullptr);
}

// ---- groma tune --verify

class Verify : public Record {
 protected:
  void SetUp() override {
    ASSERT_EQ(record(GROMA_STRANGER " plain -ll:cpu 2").exit_code, 0);
    start_ = folder_.write("start.mapper",
                           "m = Machine(CPU);\ndef first(Task task) { return m[0, 0]; }\n"
                           "IndexTaskMap * first;\n");
  }
  Outcome tune(const std::string& options, const std::string& program) const {
    return run("groma tune --app " + out() +
               " --machine nodes=1,gpu=0,cpu=2,omp=0,sysmem=512,sockmem=0,rdmem=0 --start " +
               start_ + " --evaluations " + std::to_string(evaluations_) + " --out " + found() +
               " --verify " + options + " " + same_ + " -- " + program);
  }
  // Where the tasks ran, which the stranger prints, is no result: of its lines the names count.
  std::string same_ = "--same '^([a-z]+):'";
  std::string found() const { return folder_.path() + "/found"; }
  std::string start_;
  int evaluations_ = 4;  // 1: only the start is run for real
};

TEST_F(Verify, RunsStartAndBestForReal) {
  const Outcome outcome = tune("--repeats 1", GROMA_STRANGER " plain -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("for real, medians of 1 run each in turn, of the whole process, its "
                              "start included; simulated is the whole run\n"),
                    HasSubstr("\n  without a mapping  "), HasSubstr("  start  "),
                    HasSubstr("  step "), HasSubstr("\nthe fastest mapping is "),
                    HasSubstr("\none run each does not show the noise: --repeats 3\n")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));  // it is the program that was recorded
  EXPECT_THAT(outcome.out, Not(HasSubstr("kept: ")));   // the program's own output
  EXPECT_FALSE(read_text(found() + "/verified.mapper").empty());
}

TEST_F(Verify, WhatFailsForRealIsNotTaken) {
  const Outcome outcome = tune("--repeats 1 --json",
                               "sh -c 'if test \"$GROMA_MAPPING\"; then exit 3; fi; "
                               "exec " GROMA_STRANGER " plain -ll:cpu 2'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr(R"({"event":"verified","measure":"process","unit":"s","without_mapping":)"
                      R"({"value":)"),
            HasSubstr(R"("candidates":[{"name":"start")"), HasSubstr(R"("error":")"),
            HasSubstr(R"("fastest":null)")));
  EXPECT_FALSE(std::filesystem::exists(found() + "/verified.mapper"));
  EXPECT_TRUE(std::filesystem::exists(found() + "/best.mapper"));
}

// What the program says of itself counts, the more so what the user asks for.
TEST_F(Verify, WhatIsMeasured) {
  const std::string program =
      "sh -c '" GROMA_STRANGER " plain -ll:cpu 2; echo elapsed 12.5 ms; echo score: 5'";
  const Outcome elapsed = tune("--repeats 2", program);
  EXPECT_THAT(elapsed.out,
              AllOf(HasSubstr("of the `elapsed` time that it says; simulated is "),
                    HasSubstr("  without a mapping      12.5 ms  12.5 ms to 12.5 ms\n"),
                    HasSubstr("  start                  12.5 ms  12.5 ms to 12.5 ms "),
                    HasSubstr("  no difference from without a mapping beyond the noise "
                              "(±0 %)\n"),
                    HasSubstr("\nnothing that was found is faster for real than")));
  std::filesystem::remove_all(found());
  const Outcome as_legions_examples = tune(
      "--repeats 1", "sh -c '" GROMA_STRANGER " plain -ll:cpu 2; echo ELAPSED TIME =   0.025 s'");
  EXPECT_THAT(as_legions_examples.out,
              AllOf(HasSubstr("of the `elapsed` time that it says; simulated is "),
                    HasSubstr("  start                    25 ms  25 ms to 25 ms ")));
  std::filesystem::remove_all(found());
  const Outcome in_microseconds =
      tune("--repeats 1", "sh -c '" GROMA_STRANGER " plain -ll:cpu 2; echo elapsed 7032126 us'");
  EXPECT_THAT(in_microseconds.out,
              HasSubstr("  start                  7.032 s  7.032 s to 7.032 s "));
  std::filesystem::remove_all(found());
  const Outcome metric =
      tune("--repeats 1 --json --metric 'score: (.*)' --unit points --higher-is-better", program);
  EXPECT_THAT(
      metric.out,
      AllOf(HasSubstr(R"("measure":"metric","unit":"points")"),
            HasSubstr(R"("value":5.0,"runs":[5.0],"beside_without":{"speedup":1.0,"noise":0.0,)"
                      R"("differs":false},"within_spread":true})"),
            HasSubstr(R"("warnings":[]})")));
  std::filesystem::remove_all(found());
  evaluations_ = 1;
  const Outcome without_unit = tune("--repeats 1 --metric 'score: (.*)'", program);
  EXPECT_THAT(without_unit.out, HasSubstr("  start                        5  5 to 5 "));
  std::filesystem::remove_all(found());
  const Outcome none = tune("--repeats 1 --metric 'nothing: (.*)'", program);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("cannot be verified: nothing that was printed matches"));
  EXPECT_FALSE(std::filesystem::exists(found()));
}

// A mapping that is slower than the program is by itself is no gain, though it is faster than the
// start. The runs without a mapping differ more from each other than from those of the start.
TEST_F(Verify, AMappingIsComparedWithTheProgramAsItIs) {
  const auto program = [&](const std::string& without) {
    return "sh " + folder_.write("program.sh", std::string(GROMA_STRANGER) +
                                                   " plain -ll:cpu 2\n"
                                                   "if [ \"$GROMA_MAPPING\" ]; then t=30; else\n"
                                                   "  echo >> " +
                                                   folder_.path() + "/runs\n" + "  n=$(wc -l < " +
                                                   folder_.path() + "/runs)\n  " + without +
                                                   "\nfi\necho elapsed $t ms\n");
  };
  evaluations_ = 1;
  const Outcome slower = tune("--repeats 3", program("t=20"));
  EXPECT_THAT(slower.out,
              AllOf(HasSubstr("\n  without a mapping        20 ms  20 ms to 20 ms\n  start"),
                    HasSubstr("  1.5 times as slow as without a mapping\n"),
                    HasSubstr("nothing that was found is faster for real than the program "
                              "without a mapping\n")));
  std::filesystem::remove_all(found());
  const Outcome noisy = tune("--repeats 3", program("t=$((20 + 10 * (n % 3)))"));
  // What stands above these lines was simulated.
  const std::size_t real = noisy.out.find(" for real, ");
  ASSERT_NE(real, noisy.out.npos) << noisy.out << noisy.err;
  EXPECT_THAT(noisy.out.substr(real),
              AllOf(HasSubstr("\n  without a mapping        30 ms  20 ms to 40 ms\n"),
                    HasSubstr("no difference from without a mapping beyond the noise (±33 %)"),
                    Not(HasSubstr("times as"))));
}

// The mappings move the points of `kept`, and the program prints where they ran.
TEST_F(Verify, OtherResultsAreWrong) {
  same_ = "--same '^kept: '";
  const Outcome outcome = tune("--repeats 1 --json", GROMA_STRANGER " own -ll:cpu 2");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("other results than without the mapping: it prints `kept: 0 0 0 0` "
                              "instead of `kept: 1 1 1 1`"),
                    HasSubstr(R"("wrong":true)")));
}

TEST_F(Verify, AnotherProgramIsSaid) {
  const Outcome other = tune("--repeats 1", GROMA_RECORDED " many 5 -ll:cpu 2");
  EXPECT_THAT(other.err, HasSubstr("launched none of the tasks of `groma_legion_stranger`"));
}

TEST_F(Verify, AProgramThatFailsAsItMapsItselfMayRunOtherwise) {
  const Outcome outcome = tune("--repeats 1", GROMA_STRANGER " abort -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("_stranger` fails as it maps itself: "));
  EXPECT_THAT(outcome.out, HasSubstr("failed"));
}

TEST_F(Verify, AnotherMachineIsSaid) {
  const Outcome outcome = tune("--repeats 1", GROMA_STRANGER " plain -ll:cpu 1");
  EXPECT_THAT(outcome.err,
              HasSubstr("has other processors or memories: --machine nodes=1,gpu=0,cpu=1,omp=0,"));
}

TEST_F(Verify, OtherArgumentsAreSaid) {
  ASSERT_EQ(record(GROMA_RECORDED " many 20 -ll:cpu 2").exit_code, 0);
  const Outcome other = tune("--repeats 1 --json", GROMA_RECORDED " many 30 -ll:cpu 2");
  EXPECT_THAT(other.out, HasSubstr(": other arguments?"));
}

TEST_F(Verify, AProgramThatCannotBeVerifiedIsNoticedBeforeTheSearch) {
  for (const auto& [program, why] :
       {std::pair("./nosuch -ll:cpu 2", "there is no program `./nosuch` that can be run"),
        {"sh -c 'echo hello'", "`sh` cannot be verified: "}}) {
    const Outcome outcome = tune("", program);
    EXPECT_EQ(outcome.exit_code, 1) << program;
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(found())) << program;
  }
}

TEST_F(Verify, WhatWasFoundBeforeIsRunAfterAResumption) {
  const std::string begin = "groma tune --app " + out() + " --machine nodes=1,gpu=0,cpu=2,omp=0";
  ASSERT_EQ(run(begin + " --start " + start_ + " --evaluations 4 --out " + found()).exit_code, 0);
  const Outcome outcome = run("groma tune --resume " + found() + " --verify --repeats 1 " + same_ +
                              " -- " GROMA_STRANGER " plain -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("for real, medians of 1 run each"), HasSubstr("  start  ")));
  EXPECT_FALSE(read_text(found() + "/verified.mapper").empty());
}

TEST_F(Verify, WrongUsage) {
  const auto code = [&](const std::string& words) { return run("groma tune " + words).exit_code; };
  EXPECT_EQ(code("--app cannon --verify"), 2);
  EXPECT_EQ(code("--app cannon -- ./program"), 2);
  EXPECT_EQ(code("--app cannon --repeats 2"), 2);
  EXPECT_EQ(code("--app cannon --metric '(.)'"), 2);
  EXPECT_EQ(code("--app cannon --verify --metric '.' -- ./program"), 1);
  EXPECT_EQ(code("--app cannon --on legion --verify -- ./program"), 2);
  EXPECT_EQ(code("--app cannon --command true --verify -- ./program"), 2);
}

}  // namespace
}  // namespace groma::test
