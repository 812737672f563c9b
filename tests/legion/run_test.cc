// `groma run --map`: Legion programs that know nothing of Groma, taken over without being rebuilt.
#include "command/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// All points of `moved` go to the first CPU.
constexpr const char* kFirst =
    "m = Machine(CPU);\n"
    "def first(Task task) { return m[0, 0]; }\n"
    "IndexTaskMap moved first;\n";

class Run : public testing::Test {
 protected:
  Run() { setenv("XDG_CACHE_HOME", (folder_.path() + "/cache").c_str(), 1); }

  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  // `groma run OPTIONS --map TEXT -- stranger WORDS -ll:cpu 2`. Where tasks ran, which the stranger
  // says, is no result.
  Outcome stranger(const std::string& text, const std::string& words,
                   const std::string& options = "") const {
    return run("groma run --same tunable --map " + write("my.mapper", text) + " " + options +
               " -- " + GROMA_STRANGER + " " + words + " -ll:cpu 2 -tag " + folder_.path());
  }
  // The folder stands in the words of all that the test starts.
  void expect_nothing_left() const {
    int processes = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string words = read_text(entry.path() / "cmdline");
      EXPECT_THAT(words, Not(HasSubstr(folder_.path())));
      processes += words.empty() ? 0 : 1;
    }
    EXPECT_GT(processes, 0);
  }
  void expect_failure(const Outcome& outcome, const std::string& text) const {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr(text));
    expect_nothing_left();
  }
  TemporaryFolder folder_;
};

TEST_F(Run, ADefaultMapperIsReplaced) {
  const Outcome outcome = stranger(kFirst, "plain");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nmoved: 0 0 0 0\n"));
  EXPECT_THAT(outcome.err, HasSubstr("\ngroma: "));
  EXPECT_THAT(outcome.err, HasSubstr("stranger under " + folder_.path() + "/my.mapper: "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("stranger under")));  // standard output is the program's
  EXPECT_THAT(outcome.out, Not(HasSubstr("Explain")));         // nothing is the matter
  EXPECT_THAT(outcome.err, HasSubstr("groma: mapped by "));
}

TEST_F(Run, WhatItPrintsIsComparedWithARunWithoutTheMapping) {
  // The stranger says where its tasks ran.
  const std::string map = write("my.mapper", kFirst) + " ";
  const std::string program = "-- " GROMA_STRANGER " own -ll:cpu 2";
  const Outcome differs = run("groma run --map " + map + program);
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(differs.out, AllOf(HasSubstr("other results than without the mapping: it prints "
                                           "`moved: 0 0 0 0` instead of `moved: 1 1 1 1`"),
                                 HasSubstr("--same RE")));
  const auto json = [&](const std::string& options) {
    const Outcome outcome = run("groma run --json " + options + " --map " + map + program);
    return nlohmann::json::parse(outcome.out).at("same_results");
  };
  EXPECT_EQ(json("--checks always"), false);
  EXPECT_EQ(json("--checks never"), nullptr);
  EXPECT_EQ(json("--same tunable"), true);
  EXPECT_EQ(json("--same tunable"), nullptr);  // it has run well under that mapping
  EXPECT_EQ(run("groma run --same '(' --map " + map + program).exit_code, 1);
  EXPECT_EQ(run("groma run --tolerance -1 --map " + map + program).exit_code, 2);
}

// Two runs without the mapping print the same by chance, the third does not.
TEST_F(Run, ANumberThatChangesFromRunToRunIsLeftOut) {
  const std::string runs = folder_.path() + "/runs";
  const std::string program =
      " -- sh " +
      write("random.sh", std::string(GROMA_STRANGER) +
                             " plain -ll:cpu 2\n"
                             "if [ \"$GROMA_MAPPING\" ]; then echo die 6; exit; fi\n"
                             "echo >> " +
                             runs + "\n" + "echo die $(($(wc -l < " + runs + ") / 3 + 1))\n");
  const std::string options =
      "groma run --same die --checks always --map " + write("my.mapper", kFirst);
  const Outcome outcome = run(options + program);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("it prints what it prints without it, except for 1 line that "
                                     "differs between runs without the mapping, such as `die 1`"));
  std::filesystem::remove(runs);
  EXPECT_EQ(nlohmann::json::parse(run(options + " --json" + program).out).at("unsteady_lines"), 1);
}

// A text that the guide takes for a failure, though the program always prints it.
TEST_F(Run, AFailureThatIsPrintedWithoutTheMappingIsNone) {
  const std::string stranger = GROMA_STRANGER " plain -ll:cpu 2 >&2\n";
  const std::string failure =
      "echo ' ** On entry to DGEMM parameter number 13 had an illegal value'\n";
  const std::string program = " -- sh " + write("always.sh", stranger + failure);
  const std::string options =
      "groma run --same DGEMM --map " + write("my.mapper", kFirst) + " --checks ";
  for (const char* checks : {"first", "first", "never"}) {
    const Outcome outcome = run(options + checks + program);
    EXPECT_EQ(outcome.exit_code, 0) << checks << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("it prints what it prints without it")) << checks;
  }
  write("always.sh", stranger + "[ -z \"$GROMA_MAPPING\" ] || " + failure);
  EXPECT_EQ(run(options + "never" + program).exit_code, 1);
}

TEST_F(Run, SaysThatItDoesNotCompare) {
  const char* const text = "; not compared with a run without it";
  EXPECT_THAT(stranger(kFirst, "plain").err, Not(HasSubstr(text)));
  EXPECT_THAT(stranger(kFirst, "plain").err, HasSubstr(text));
  const Outcome outcome = stranger(kFirst, "plain", "--json");
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("not_compared"), "known");
}

// The program's mapper is asked about every task. It keeps what no statement decides, its tunables
// and what it is asked for by name.
class Wrapped : public Run, public testing::WithParamInterface<const char*> {};

TEST_P(Wrapped, AnOwnMapperKeepsWhatNoStatementDecides) {
  const Outcome outcome = stranger(kFirst, GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\ntunable: 42\n"));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("own mapper: slices kept"), HasSubstr("own mapper: slices moved"),
                    HasSubstr("own mapper: maps inline")));
  // The points of `kept` and `moved`, and `top` where it is of this mapper.
  const bool top_too = GetParam() != std::string("beside");
  EXPECT_THAT(outcome.out, HasSubstr(top_too ? "mapped: 9\n" : "mapped: 8\n"));
}

// `top` launches both tasks over one dimension.
TEST_P(Wrapped, SelectorsSeeTheTasksAboveAndTheLaunch) {
  const char* const mapping =
      "m = Machine(CPU);\n"
      "def first(Task task) { return m[0, 0]; }\n"
      "IndexTaskMap top > moved[dim=1] first;\n"
      "IndexTaskMap other > kept, top > top > kept, kept[dim=2] first;\n";
  const Outcome outcome = stranger(mapping, GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\ntunable: 42\n"));
  EXPECT_THAT(outcome.err, HasSubstr("own mapper: slices kept"));
}

TEST_F(Run, SelectorsSeeTheTasksAboveInAPlainProgram) {
  const Outcome outcome = stranger(
      "m = Machine(CPU);\n"
      "def first(Task task) { return m[0, 0]; }\ndef last(Task task) { return m[0, 1]; }\n"
      "IndexTaskMap moved last;\nIndexTaskMap t* > moved first;\nIndexTaskMap moved > kept first;\n"
      "IndexTaskMap kept last;\n",
      "plain");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\n"));
}

TEST_P(Wrapped, AStarDecidesOfAllTasks) {
  const Outcome outcome = stranger(std::string(kFirst) + "IndexTaskMap * first;\n", GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 0 0 0 0\nmoved: 0 0 0 0\ntunable: 42\n"));
  const bool top_too = GetParam() != std::string("beside");
  EXPECT_THAT(outcome.out, HasSubstr(top_too ? "mapped: 9\n" : "mapped: 8\n"));
  EXPECT_THAT(outcome.err, HasSubstr("own mapper: maps inline"));
}

// The adapters' messages about places do not reach the program's mapper.
TEST_P(Wrapped, ALimitOfTheMachineHolds) {
  const Outcome outcome =
      stranger(std::string(kFirst) + "InstanceLimit * 1 Machine;\n", GetParam(), "--timeout 60");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("moved: 0 0 0 0\n"));
}

INSTANTIATE_TEST_SUITE_P(All, Wrapped, testing::Values("own", "shared", "beside", "concurrent"),
                         [](const auto& mode) { return std::string(mode.param); });

// ---- A program whose tasks rely on what its mapper decides (demanding.cc)

class Demanding : public Run {
 protected:
  Outcome demanding(const std::string& text, const std::string& options = "",
                    const std::string& mode = "plain") const {
    return run("groma run --map " + write("my.mapper", text) + " " + options +
               " -- " GROMA_DEMANDING " " + mode + " -ll:cpu 2 -ll:rsize 64 -ll:nsize 64");
  }
  // Records the program and returns the recording's file.
  std::string recorded(const std::string& mode = "plain") const {
    const std::string app = folder_.path() + "/" + mode + ".json";
    const Outcome outcome = run("groma record --out " + app + " -- " GROMA_DEMANDING " " + mode +
                                " -ll:cpu 2 -ll:rsize 64 -ll:nsize 64");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return app;
  }
  std::string checked(const std::string& text, const std::string& app) const {
    return run("groma check " + write("my.mapper", text) + " --app " + app +
               " --machine nodes=1,gpu=0,cpu=2,omp=0,sysmem=512,sockmem=64,rdmem=64")
        .out;
  }
};

TEST_F(Demanding, AnOverrideForATaskThatDoesNotRunIsReported) {
  EXPECT_THAT(demanding("Task * CPU;\n", "--override-layouts=rowz").err,
              HasSubstr("--override-layouts=rowz: no task `rowz` was launched; did you mean "
                        "`rows`?"));
  EXPECT_THAT(demanding("Task * CPU;\n", "--override-layouts=rows").err,
              Not(HasSubstr("was launched")));
}

TEST_F(Demanding, ALayoutAgainstItsMapperIsAnError) {
  const std::string text = "Layout columns 0 CPU C_order AOS;\n";
  const Outcome outcome = demanding(text);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("error: region 0 of `columns`: the program's own mapper asks for "
                              "F_order, the mapping says C_order [layout-demanded]\n"),
                    HasSubstr("my.mapper:1:1: error: region 0 of `columns`"),
                    HasSubstr("my.mapper:1:1: `Layout columns 0 CPU C_order AOS`")));
  const Outcome of_other = demanding(text, "--override-layouts=rows");
  EXPECT_THAT(of_other.err, HasSubstr("[layout-demanded]"));
  const Outcome of_it = demanding(text, "--override-layouts=columns");
  EXPECT_THAT(of_it.out + of_it.err, AllOf(HasSubstr("other results than without the mapping"),
                                           Not(HasSubstr("[layout-demanded]"))));
  // The task computes other sums then: which is noticed.
  const Outcome forced = demanding(text, "--override-layouts");
  EXPECT_EQ(forced.exit_code, 1);
  EXPECT_THAT(forced.out + forced.err, AllOf(HasSubstr("other results than without the mapping"),
                                             Not(HasSubstr("[layout-demanded]"))));
}

// An instance of one field has no order of fields; of two it has.
TEST_F(Demanding, WhatItsMapperDemandsIsRecorded) {
  const std::string app = folder_.path() + "/app.json";
  const Outcome outcome = run("groma record --out " + app +
                              " -- " GROMA_DEMANDING " plain -ll:cpu 2 -ll:rsize 64 -ll:nsize 64");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto demands =
      [tasks = nlohmann::json::parse(read_text(app)).at("tasks")](const std::string& name) {
        for (const auto& task : tasks) {
          if (task.at("name") == name) return task.at("variants").dump();
        }
        return std::string();
      };
  EXPECT_THAT(demands("columns"),
              AllOf(HasSubstr("\"dimension_order\":\"F_order\""), HasSubstr("\"exact\":true"),
                    Not(HasSubstr("field_order"))));
  EXPECT_THAT(demands("packed"), HasSubstr("\"field_order\":\"AOS\""));
  // DefaultMapper finds the instance of another task, which asked for a tight one.
  EXPECT_THAT(demands("rows"), HasSubstr("C_order"));
  EXPECT_THAT(demands("glance"), Not(HasSubstr("demands")));
  // Both variants run. Only where there are several for a kind is that of interest.
  EXPECT_THAT(demands("either"), AllOf(HasSubstr("\"chosen_by_mapper\":true,"), HasSubstr("},{"),
                                       Not(HasSubstr("null"))));
  EXPECT_THAT(demands("branch"), Not(HasSubstr("chosen")));
  const std::string machine = " --machine nodes=1,gpu=0,cpu=2,omp=0,sysmem=512,sockmem=64,rdmem=64";
  const auto checked = [&](const std::string& text) {
    return run("groma check " + write("my.mapper", text) + " --app " + app + machine).out;
  };
  EXPECT_THAT(checked("Layout columns 0 CPU AOS;\n"), Not(HasSubstr("[layout-demanded]")));
  // So a run accepts what a check accepts.
  const std::string glance = "Layout glance 0 CPU F_order;\n";
  EXPECT_THAT(checked(glance), Not(HasSubstr("[layout-demanded]")));
  const Outcome glanced = demanding(glance, "--checks always");
  EXPECT_EQ(glanced.exit_code, 0) << glanced.err;
  EXPECT_THAT(checked("Layout packed 0 CPU SOA;\n"), HasSubstr("[layout-demanded]"));
}

// A policy hook chooses the order of the dimensions and of the fields.
TEST_F(Demanding, AnOrderOfAPolicyHookIsADemand) {
  const std::string app = recorded("hooked");
  for (const auto& [text, wants] : {std::pair("Layout hooked 0 CPU AOS;\n", "asks for SOA"),
                                    std::pair("Layout hooked 0 CPU F_order;\n", "asks for C_order"),
                                    std::pair("Layout listed 0 CPU AOS;\n", "asks for SOA")}) {
    const Outcome outcome = demanding(text, "--checks always", "hooked");
    EXPECT_EQ(outcome.exit_code, 1) << text;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(wants), HasSubstr("[layout-demanded]"))) << text;
    EXPECT_THAT(checked(text, app), AllOf(HasSubstr(wants), HasSubstr("[layout-demanded]")));
  }
  const std::string harmless = "Layout hooked 0 CPU C_order SOA Align==64;\n";
  EXPECT_THAT(checked(harmless, app), Not(HasSubstr("[layout-demanded]")));
  EXPECT_EQ(demanding(harmless, "--checks always", "hooked").exit_code, 0);
}

TEST_F(Demanding, AnOrderThatNoStatementNamesIsADemand) {
  const std::string app = recorded();
  for (const std::string order : {"SOA", "AOS"}) {
    const std::string text = "Layout between 0 CPU " + order + ";\n";
    const Outcome outcome = demanding(text, "--checks always");
    EXPECT_EQ(outcome.exit_code, 1) << order;
    EXPECT_THAT(outcome.err, HasSubstr("asks for fields between the dimensions, the mapping says " +
                                       order + " [layout-demanded]"));
    EXPECT_THAT(checked(text, app), HasSubstr("[layout-demanded]"));
  }
}

// Legion does not compare alignments when it looks for an instance.
TEST_F(Demanding, AnInstanceOfAStatementIsFoundOnlyIfItHasTheLayout) {
  const Outcome outcome =
      demanding("Layout spread 0 CPU AOS Align==16 Exact;\n", "--checks always");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// A check refuses what a run refuses, and nothing else.
TEST_F(Demanding, AnAlignmentMayLeaveNoGapsBetweenFields) {
  const std::string app = recorded();
  const std::string gaps = "Layout packed 0 CPU Align==64;\n";
  const std::string refusal =
      "asks for fields without gaps between them, the mapping says Align==64 [layout-demanded]";
  EXPECT_THAT(demanding(gaps).err, HasSubstr(refusal));
  EXPECT_THAT(checked(gaps, app), HasSubstr(refusal));
  // A multiple of the demanded 128, and tasks that use a single field.
  for (const char* text : {"Layout aligned 0 CPU Align==512;\n", "Layout rows 0 CPU Align==64;\n",
                           "Layout peek 0 CPU Exact;\n"}) {
    EXPECT_THAT(checked(text, app), Not(HasSubstr("[layout-demanded]"))) << text;
    const Outcome outcome = demanding(text, "--checks always");
    EXPECT_EQ(outcome.exit_code, 0) << text << outcome.err;
  }
  const std::string less = "Layout aligned 0 CPU Align==64;\n";
  EXPECT_THAT(demanding(less).err, HasSubstr("asks for Align==128, the mapping says Align==64"));
  EXPECT_THAT(checked(less, app), HasSubstr("asks for Align==128, the mapping says Align==64"));
}

// RDMEM keeps no alignment of 128. DefaultMapper finds the instance of `aligned` for `glance`.
TEST_F(Demanding, AnAlignmentOfAnotherTaskIsNoDemand) {
  const Outcome found = demanding("Region glance * CPU RDMEM;\n", "--checks always");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const Outcome refused = demanding("Region aligned * CPU RDMEM;\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("128 is needed) [no-memory]"),
                                 HasSubstr("help: name another memory in the `Region` statement"),
                                 Not(HasSubstr("more room"))));
}

TEST_F(Demanding, WhatCannotBeChangedSafelyStaysAndIsToldOnce) {
  const Outcome outcome = demanding(
      "m = Machine(CPU);\ndef first(Task task) { return m[0, 0]; }\n"
      "IndexTaskMap meet first;\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string told =
      "warning: the placement of `meet` stays as the program's own mapper decides: ";
  const std::size_t at = outcome.err.find(told);
  ASSERT_NE(at, outcome.err.npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(told, at + 1), outcome.err.npos);
  EXPECT_THAT(outcome.err, HasSubstr("[kept-by-mapper]\n"));
}

// Its mapper finds the instance that was made for the statement, and so does the statement. Legion
// then warned that the mapper had not acquired it. (Other results are right: `packed` relies on
// what is overridden here.)
TEST_F(Demanding, AnInstanceThatIsFoundAgainStaysAcquired) {
  const Outcome outcome =
      demanding("Layout * 0 CPU Align==64;\n", "--checks always --override-layouts");
  const std::string said = outcome.out + outcome.err;
  EXPECT_THAT(said, AllOf(HasSubstr("\nmeet 100.000000\n"), Not(HasSubstr("failed to acquire"))));
}

// Its mapper found the instance of the whole for one point last, by a region that is destroyed
// since.
TEST_F(Demanding, AnInstanceThatIsMadeAnewHoldsWhatTheTaskReads) {
  const Outcome outcome = demanding("Layout again 0 CPU Align==64;\n", "--checks always");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

// Tasks that a limit holds back beside tasks of the program's mapper.
TEST_F(Run, BothMappersMaySchedule) {
  const Outcome outcome = stranger("InstanceLimit moved 1;\n", "own");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: "));
}

// The limit holds `moved` back and the program's mapper `kept`: either may go on first.
TEST_F(Run, AnOwnMapperMayDeferBesideALimit) {
  const Outcome outcome = stranger("InstanceLimit moved 1;\n", "defers", "--timeout 60");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("moved: 1 1 1 1\n"));
}

// None of them ends before all are mapped.
TEST_F(Run, PointsThatMakeARegionTogetherAreNotLimited) {
  const Outcome outcome = stranger("InstanceLimit make 1 Machine;\n", "outputs", "--timeout 60");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("made: 12\n"));
}

// Legion asks about the top-level task twice where it does not stay on the first processor.
TEST_F(Run, ATopLevelTaskCountsOnce) {
  const Outcome outcome = stranger(
      "InstanceLimit * 1 Machine;\n"
      "m = Machine(CPU);\n"
      "def last(Task task) { return m[0, 1]; }\n"
      "SingleTaskMap * last;\n",
      "plain", "--timeout 60");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(Run, LegionChecksAMappingUntilItHasRunWell) {
  const auto checked = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out).at("checked").get<bool>();
  };
  EXPECT_TRUE(checked(stranger(kFirst, "plain", "--json")));
  EXPECT_FALSE(checked(stranger(kFirst, "plain", "--json")));
  EXPECT_FALSE(checked(stranger(std::string("# other\n") + kFirst, "plain", "--json")));
  EXPECT_TRUE(checked(stranger(std::string(kFirst) + "Task kept CPU;\n", "plain", "--json")));
  EXPECT_TRUE(checked(stranger(kFirst, "plain", "--json --checks always")));
  EXPECT_FALSE(checked(stranger("Task * CPU;\n", "plain", "--json --checks never")));
  EXPECT_TRUE(checked(stranger("Task * CPU;\n", "plain", "--json")));
  // Behind a launcher another program is another one.
  const std::string map = "groma run --same tunable --json --map " +
                          write("env.mapper", "Task kept CPU;\n") + " -- env ";
  const std::string other = folder_.path() + "/other";
  std::filesystem::copy_file(GROMA_STRANGER, other);
  for (const std::string& program : {std::string(GROMA_STRANGER), other}) {
    EXPECT_TRUE(checked(run(map + program + " plain -ll:cpu 2"))) << program;
    EXPECT_FALSE(checked(run(map + program + " plain -ll:cpu 2"))) << program;
  }
}

// What the library says counts however much else is said; what a launcher does not hand on is
// missed.
TEST_F(Run, ALauncherMayBeNoisyAndForgetful) {
  const std::string map = "groma run --same tunable --map " + write("my.mapper", kFirst) + " ";
  const std::string stranger = GROMA_STRANGER " plain -ll:cpu 2";
  const std::string noise = "yes | head -c 9000000 >&2";
  const Outcome noisy =
      run(map + "-- sh -c '" + noise + "; " + stranger + "; " + noise + "' 2>/dev/null");
  EXPECT_EQ(noisy.exit_code, 0) << noisy.out;
  const std::string log = folder_.path() + "/run.log";
  const Outcome forgetful = run(map + "--log " + log + " -- env -u GROMA_LOG " + stranger);
  EXPECT_EQ(forgetful.exit_code, 1);
  EXPECT_THAT(forgetful.out + forgetful.err, HasSubstr("does its launcher hand GROMA_LOG on?"));
  EXPECT_EQ(run(map + "--log " + log + " -- env " + stranger).exit_code, 0);
}

TEST_F(Run, ADeadlineIsANumber) {
  const std::string map =
      "groma run --same tunable --map " + write("my.mapper", kFirst) + " --timeout ";
  EXPECT_EQ(run(map + "nan -- sleep 3").exit_code, 2);
  const Outcome least = run(map + "0.0004 -- sleep 3");
  EXPECT_EQ(least.exit_code, 1);
  EXPECT_THAT(least.out + least.err, HasSubstr("time limit"));
}

TEST_F(Run, JsonHasTheContractsShape) {
  const Outcome outcome = stranger(kFirst, "plain", "--json");
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("runtime"), "legion");
  EXPECT_GT(json.at("seconds").get<double>(), 0);
  EXPECT_EQ(json.at("exit_code"), 0);
  for (const char* list : {"explain", "suggest", "fixes", "diagnostics"}) {
    EXPECT_TRUE(json.at(list).is_array()) << list;
  }
  EXPECT_THAT(outcome.err, HasSubstr("moved: 0 0 0 0\n"));  // the program's own output
}

// ---- What went on: profiles of real runs, and logs.

std::int64_t sum_of(const nlohmann::json& list, const char* field) {
  std::int64_t sum = 0;
  for (const auto& each : list) sum += each.at(field).get<std::int64_t>();
  return sum;
}

std::map<std::string, std::int64_t> runs(const nlohmann::json& profile) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& task : profile.at("by_task"))
    counts[task.at("task")] += task.at("runs").get<int>();
  return counts;
}

TEST_F(Run, AProfileHasAllTasksAndAddsUp) {
  const Outcome outcome = stranger(kFirst, "plain", "--profile --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto profile = nlohmann::json::parse(outcome.out).at("profile");
  EXPECT_EQ(runs(profile),
            (std::map<std::string, std::int64_t>{{"top", 1}, {"kept", 4}, {"moved", 4}}));
  EXPECT_EQ(profile.at("tasks"), 9);
  EXPECT_EQ(profile.at("copies"), 0);
  EXPECT_TRUE(profile.at("notes").empty()) << profile.at("notes");
  const auto total = profile.at("time_ps").get<std::int64_t>();
  EXPECT_GT(total, 0);
  EXPECT_EQ(sum_of(profile.at("path").at("causes"), "time_ps"), total);
  EXPECT_EQ(sum_of(profile.at("path").at("by_reason"), "time_ps"), total);
  EXPECT_LE(sum_of(profile.at("by_processor"), "busy_ps"), 2 * total);  // of two CPUs
  // What it says goes into the guide's words.
  const auto explain = nlohmann::json::parse(outcome.out).at("explain").dump();
  EXPECT_THAT(explain, HasSubstr("% of the time"));
  // What is not asked for is not measured.
  EXPECT_FALSE(nlohmann::json::parse(stranger(kFirst, "plain", "--json").out).contains("profile"));
}

// 200 ms between two launches and as much at the end.
TEST_F(Run, AProfileHasWhatALaunchingTaskDoesItself) {
  const Outcome outcome = stranger(kFirst, "works", "--profile --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto profile = nlohmann::json::parse(outcome.out).at("profile");
  EXPECT_EQ(runs(profile).at("top"), 1);
  constexpr std::int64_t kMillisecond = 1'000'000'000;
  std::int64_t on_path = 0;
  for (const auto& cause : profile.at("path").at("causes")) {
    if (cause.at("doing") == "task" && cause.at("task") == "top") {
      on_path += cause.at("time_ps").get<std::int64_t>();
    }
  }
  EXPECT_GE(on_path, 390 * kMillisecond);
  for (const auto& task : profile.at("by_task")) {
    if (task.at("task") != "top") continue;
    EXPECT_GE(task.at("longest_ps").get<std::int64_t>(), 390 * kMillisecond);
  }
}

// Two pieces of five doubles each, which `read` wants elsewhere.
constexpr const char* kElsewhere =
    "Region write cells CPU SYSMEM;\n"
    "Region read cells CPU RDMEM;\n"
    "Region nobody cells CPU RDMEM;\n";

TEST_F(Run, AProfileHasTheBytesOfCopiesAndWhoWantedThem) {
  const Outcome outcome = stranger(kElsewhere, "data -ll:rsize 16", "--profile --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto profile = nlohmann::json::parse(outcome.out).at("profile");
  EXPECT_EQ(profile.at("moved_bytes"), 80);
  std::int64_t bytes = 0;
  for (const auto& move : profile.at("moves")) {
    EXPECT_EQ(move.at("region"), "cells");
    EXPECT_EQ(move.at("from"), "SYSMEM");
    EXPECT_EQ(move.at("to"), "RDMEM");
    EXPECT_THAT(move.at("by").at("text").get<std::string>(),
                HasSubstr("Region read cells CPU RDMEM"));
    EXPECT_THAT(move.at("by").at("place").get<std::string>(), HasSubstr("my.mapper:2:1"));
    bytes += move.at("bytes").get<std::int64_t>();
  }
  EXPECT_EQ(bytes, 80);
  bool held = false;
  for (const auto& memory : profile.at("by_memory")) {
    if (memory.at("memory").at(0) != "RDMEM") continue;
    held = true;
    EXPECT_EQ(memory.at("capacity_bytes"), 16 << 20);
    EXPECT_GE(memory.at("peak_bytes"), 80);
    EXPECT_EQ(memory.at("in_bytes"), 80);
  }
  EXPECT_TRUE(held);
}

TEST_F(Run, AProfileComesAsTextTraceAndPage) {
  const std::string trace = folder_.path() + "/t.json", page = folder_.path() + "/p.html";
  const Outcome outcome =
      stranger(kFirst, "plain", "--profile --trace " + trace + " --report " + page);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("What the time is made of (the critical path)"),
                                 HasSubstr("Processors, busy of the whole time")));
  const auto events = nlohmann::json::parse(read_text(trace)).at("traceEvents");
  int moved = 0;
  for (const auto& event : events) {
    moved +=
        event.at("ph") == "X" && event.at("name") == "moved" && event.at("cat") == "task" ? 1 : 0;
  }
  EXPECT_EQ(moved, 4);
  EXPECT_THAT(read_text(page), AllOf(HasSubstr("</html>"), HasSubstr("moved")));
  EXPECT_EQ(run("groma run --map a --trace x --report x -- true").exit_code, 2);
}

// Its own requests come to it, and nobody else's.
TEST_F(Run, AnOwnMapperHearsWhatItAskedFor) {
  for (const char* options : {"", "--profile --json"}) {
    const Outcome outcome = stranger("Task moved CPU;\n", "asks", options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::size_t heard = 0;
    for (std::size_t at = 0;
         (at = outcome.err.find("own mapper: hears of kept\n", at)) != std::string::npos; ++at) {
      ++heard;
    }
    EXPECT_EQ(heard, 4U) << options;
    EXPECT_THAT(outcome.err,
                AllOf(Not(HasSubstr("not what it asked for")), Not(HasSubstr("hears of moved")),
                      Not(HasSubstr("hears of top"))));
  }
}

// Who only watches leaves it to the program's mapper how it is called.
TEST_F(Run, AConcurrentMapperStaysOne) {
  const std::string log = folder_.path() + "/run.log";
  for (const std::string& options : {std::string("--profile"), "--log " + log}) {
    for (const char* text : {kFirst, "InstanceLimit moved 1;\n"}) {
      const Outcome outcome = stranger(text, "concurrent -ll:util 4", options);
      EXPECT_EQ(outcome.exit_code, 0) << options << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: ")) << options;
    }
  }
}

// Adapters above concurrent mappers hear of each other's work in calls within their own.
TEST_F(Run, TasksAreStolenAboveAConcurrentMapper) {
  const Outcome outcome =
      stranger("Task * CPU;\nTaskSteal kept CPU ANY_NODE;\nInstanceLimit kept CPU 1;\n",
               "concurrent -ll:cpu 3", "--checks never");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: "));
}

// What became of each statement, by its place in the text.
std::map<int, std::string> states(const Outcome& outcome) {
  std::map<int, std::string> all;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& each : json.at("log").at("statements")) {
    all[each.at("statement").at("line").get<int>()] = each.at("state");
  }
  return all;
}

TEST_F(Run, ALogSaysWhatBecameOfEachStatement) {
  const std::string text = std::string(kElsewhere) +
                           "Region * * * SYSMEM;\n"  // line 4: there is no RDMEM
                           "m = Machine(CPU);\n"
                           "def first(Task task) { return m[0, 0]; }\n"
                           "IndexTaskMap read first;\n"
                           "InstanceLimit write 1;\n";
  const std::string log = folder_.path() + "/run.log";
  const Outcome run_of_it = stranger(text, "data", "--log " + log);
  ASSERT_EQ(run_of_it.exit_code, 0) << run_of_it.err;
  const std::string explain = "groma explain " + folder_.path() + "/my.mapper --log " + log;
  const Outcome outcome = run(explain + " --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(states(outcome), (std::map<int, std::string>{{1, "acted"},
                                                         {2, "not-honoured"},
                                                         {3, "unmatched"},
                                                         {4, "acted"},
                                                         {7, "acted"},
                                                         {8, "not-shown"}}));
  const nlohmann::json said = nlohmann::json::parse(outcome.out).at("log");
  const nlohmann::json& read = said.at("statements").at(1);
  EXPECT_EQ(read.at("refused"), 2);
  EXPECT_EQ(read.at("differences").at(0).at("wanted"), "RDMEM");
  EXPECT_EQ(read.at("differences").at(0).at("got"), "SYSMEM");
  EXPECT_EQ(said.at("unreadable_lines"), 0);
  EXPECT_THAT(run(explain).out, HasSubstr("It says RDMEM, but the run took SYSMEM 2 times"));
}

// Points that wait on one CPU are stolen by the other.
TEST_F(Run, ALogSaysWhatWasStolen) {
  const std::string log = folder_.path() + "/run.log";
  const std::string text =
      "m = Machine(CPU);\ndef first(Task task) { return m[0, 0]; }\n"
      "IndexTaskMap kept first;\n"  // line 3
      "InstanceLimit kept CPU 1;\n"
      "TaskSteal kept CPU ANY_NODE;\n"
      "ControlReplicate *;\n";  // nothing can be replicated
  const Outcome run_of_it = stranger(text, "plain", "--checks never --log " + log);
  ASSERT_EQ(run_of_it.exit_code, 0) << run_of_it.err;
  EXPECT_THAT(run_of_it.out, AllOf(HasSubstr("kept: "), Not(HasSubstr("kept: 0 0 0 0"))));
  const Outcome outcome =
      run("groma explain " + folder_.path() + "/my.mapper --log " + log + " --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(states(outcome), (std::map<int, std::string>{
                                 {3, "acted"}, {4, "not-shown"}, {5, "acted"}, {6, "unmatched"}}));
}

// Shards cut their launches before they slice them. The points have the domain of the whole launch.
TEST_F(Run, ALogOfShardsIsHeldToFunctions) {
  const std::string log = folder_.path() + "/run.log";
  const std::string mapping =
      write("shards.mapper",
            "m = Machine(CPU);\n"
            "def spread(Task task) { return m[0, task.ipoint[0] * m.size[1] / task.ispace[0]]; }\n"
            "IndexTaskMap turn, work spread;\n"  // line 3
            "ControlReplicate top;\n");
  const Outcome run_of_it = run("groma run --map " + mapping + " --log " + log +
                                " -- " GROMA_RECORDED " shards -ll:cpu 2");
  ASSERT_EQ(run_of_it.exit_code, 0) << run_of_it.err;
  EXPECT_THAT(read_text(log), HasSubstr("  REPLICANT 1 -> "));
  const Outcome outcome = run("groma explain " + mapping + " --log " + log + " --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");  // all processes' logs are there
  EXPECT_EQ(states(outcome), (std::map<int, std::string>{{3, "acted"}, {4, "acted"}}));
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("log").at("statements").at(0).at("acted"), 16);
}

// The logs of other processes lie beside that of the first.
TEST_F(Run, LogsOfSeveralProcessesAreReadTogether) {
  const std::string machine =
      "RUN begins\nMemories on rank 0:\n  1e00000000000000 (SYSTEM_MEM): 1000 bytes\n"
      "Memories on rank 1:\n  1e00010000000000 (SYSTEM_MEM): 1000 bytes\n"
      "Processors on rank 0:\n  1d00000000000001 (LOC_PROC)\n"
      "Processors on rank 1:\n  1d00010000000001 (LOC_PROC)\n";
  const auto point = [](int at, int node) {
    return "MAP_TASK for work(index_point=(" + std::to_string(at) + "))<" + std::to_string(9 + at) +
           ">\n  LAUNCH <0>..<1>\n  TARGET PROCS: 1d000" + std::to_string(node) +
           "0000000001\nRUN ends\n";
  };
  const std::string log = write("run.log", machine + point(0, 0));
  const std::string mapping = write("nodes.mapper",
                                    "m = Machine(CPU);\n"
                                    "def node(Task task) { return m[task.ipoint[0], 0]; }\n"
                                    "IndexTaskMap work node;\n");
  const std::string explain = "groma explain " + mapping + " --log " + log;
  const Outcome missing = run(explain);
  EXPECT_THAT(missing.err,
              HasSubstr("note: the logs of 1 of the 2 processes of the run are missing"));
  EXPECT_THAT(missing.out, HasSubstr("run.log: 1 task and "));
  write("run.log.1", machine + point(1, 1));
  const Outcome whole = run(explain);
  EXPECT_EQ(whole.err, "");
  EXPECT_THAT(whole.out, AllOf(HasSubstr("run.log: 2 tasks and "), HasSubstr("2 points")));
}

// Legion's LoggingWrapper, round the program's own mapper, which knows nothing of the mapping.
TEST_F(Run, ALogOfLegionsOwnWrapperIsRead) {
  const std::string log = folder_.path() + "/legion.log";
  const Outcome empty = stranger("", "logged -level mapper=2 -logfile " + log, "--checks never");
  ASSERT_EQ(empty.exit_code, 0) << empty.err;
  const std::string mapping =
      write("other.mapper", std::string(kFirst) +
                                "Task write CPU;\nRegion write 0 CPU SYSMEM;\n"
                                "Region read cells * RDMEM;\n");
  const Outcome outcome = run("groma explain " + mapping + " --log " + log + " --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(states(outcome),
            (std::map<int, std::string>{
                {3, "not-honoured"}, {4, "acted"}, {5, "acted"}, {6, "not-shown"}}));
}

// Whatever ends a run, its log has what was decided before.
TEST_F(Run, ALogOfARunThatIsEndedIsWhole) {
  const std::string log = folder_.path() + "/run.log";
  for (const std::string mode : {"hang", "crash"}) {
    const Outcome outcome = stranger(kFirst, mode, "--timeout 4 --log " + log);
    EXPECT_EQ(outcome.exit_code, 1);
    const std::string text = read_text(log);
    EXPECT_THAT(text, AllOf(HasSubstr("MAP_TASK for top<"), testing::EndsWith("\n"))) << mode;
  }
}

TEST_F(Run, OfARunThatAStatementEndedALogSaysThatItBrokeOff) {
  const std::string log = folder_.path() + "/run.log";
  const std::string explain = "groma explain " + folder_.path() + "/my.mapper --log " + log;
  EXPECT_EQ(stranger("Task * CPU;\nRegion read * CPU RDMEM;\n", "data", "--log " + log).exit_code,
            1);
  const Outcome outcome = run(explain);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nThe run broke off: "), Not(HasSubstr("nothing in"))));
  EXPECT_EQ(states(run(explain + " --json")),
            (std::map<int, std::string>{{1, "acted"}, {2, "not-shown"}}));
  ASSERT_EQ(stranger("Task * CPU;\n", "data", "--log " + log).exit_code, 0);
  EXPECT_THAT(run(explain + " --json").out, HasSubstr("\"broken_off\":false"));
}

TEST_F(Run, WhatIsNoLogIsRefused) {
  const std::string mapping = write("a.mapper", "Task * CPU;\n");
  const Outcome outcome = run("groma explain " + mapping + " --log " + write("no.log", "hello\n"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("no task that a mapper mapped"), HasSubstr("help: write one")));
  EXPECT_EQ(run("groma explain " + mapping + " --log nosuch.log").exit_code, 1);
  EXPECT_EQ(run("groma explain " + mapping).exit_code, 2);
}

// ---- What goes wrong, and that nothing is left.

TEST_F(Run, NoSuchMapping) {
  expect_failure(run("groma run --map nosuch.mapper -- " GROMA_STRANGER " plain"),
                 "cannot read `nosuch.mapper`");
}

TEST_F(Run, AMappingWithErrorsStartsNothing) {
  const Outcome outcome = stranger("Task * CPUS;\n", "plain");
  expect_failure(outcome, "unknown processor kind `CPUS` [unknown-processor]");
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("kept")));
  const Outcome json = stranger("Task * CPUS;\n", "plain", "--json");
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(json.out).at("stage"), "check");
}

TEST_F(Run, AMappingThatFailsOnThisMachine) {
  const std::string text = "m = Machine(GPU);\nx = 1 / m.size[1];\nTask * CPU;\n";
  expect_failure(stranger(text, "plain"), "my.mapper:2:");
  const Outcome json = stranger(text, "plain", "--json");
  EXPECT_EQ(nlohmann::json::parse(json.out).at("stage"), "map");
}

TEST_F(Run, AMemoryThatLegionWasNotGiven) {
  const Outcome outcome = stranger("Region * * CPU RDMEM, SYSMEM;\n", "plain");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("No CPU of `legion` can address RDMEM, it has none."),
                                 HasSubstr("Start the program with -ll:rsize MB"),
                                 Not(HasSubstr("FBMEM and ZCMEM for GPUs"))));
}

TEST_F(Run, AnAnswerThatLegionCannotCarryOut) {
  const Outcome outcome = stranger("Task moved GPU;\n", "own");
  expect_failure(outcome, "`moved` can run on none of its kinds: `GPU`");
  EXPECT_THAT(outcome.out, HasSubstr("Suggest"));
}

TEST_F(Run, AProgramWithoutLegion) {
  const std::string map = "groma run --same tunable --map " + write("my.mapper", kFirst);
  expect_failure(run(map + " -- true"), "the program started no Legion");
  expect_failure(run(map + " --timeout 1 -- sh -c 'sleep 1000; true' " + folder_.path()),
                 "before its time limit");
  EXPECT_THAT(run(map + " -- sh -c 'exit 3'").out, HasSubstr("the program started no Legion"));
}

// No statement names the tasks of the program, so no other hook than its mapper's sees them.
TEST_F(Run, AMisspeltTaskIsNearOneThatNoStatementNames) {
  const Outcome outcome = stranger("Task move CPU;\n", "own");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no task `move` was launched; did you mean `moved`?"));
}

TEST_F(Run, NoSuchProgram) {
  expect_failure(
      run("groma run --same tunable --map " + write("my.mapper", kFirst) + " -- ./nosuch"),
      "cannot run `./nosuch`: No such file or directory");
}

TEST_F(Run, AnotherLegion) {
  const std::string mapped = stranger(kFirst, "plain").err, before = ", Legion ";
  const std::size_t begin = mapped.find(before) + before.size();
  const std::string version = mapped.substr(begin, mapped.find(',', begin) - begin);
  ASSERT_THAT(version, testing::StartsWith("legion-"));
  const Outcome outcome = run("groma run --same tunable --map " + write("my.mapper", kFirst) +
                              " -- " + GROMA_OTHER_STRANGER);
  expect_failure(outcome,
                 "groma: not mapped: the program has Legion legion-24.03.0, this library "
                 "is for " +
                     version + "\n");
  EXPECT_THAT(outcome.out, Not(HasSubstr("it ran")));
}

TEST_F(Run, OneThatHangsIsEnded) {
  const Outcome outcome = stranger(kFirst, "hang", "--timeout 4 --json");
  expect_failure(outcome, "error");
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("timed_out"), true);
}

TEST_F(Run, OneThatCrashesIsExplained) {
  const Outcome outcome = stranger(kFirst, "crash", "--json");
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("stage"), "execute");
  EXPECT_EQ(json.at("exit_code"), 139);
  EXPECT_FALSE(json.at("explain").empty());
  EXPECT_THAT(outcome.out, Not(HasSubstr("safe_mapper")));  // it ran under Legion's checks
  EXPECT_THAT(outcome.out, Not(HasSubstr("IndexTaskMap moved")));
  // By the command's option, where it did not.
  EXPECT_THAT(stranger(kFirst, "crash", "--checks never").out,
              AllOf(HasSubstr("run again with `--checks always`"), Not(HasSubstr("safe_mapper")),
                    HasSubstr("IndexTaskMap moved")));
  EXPECT_THAT(stranger(kFirst, "crash -lg:safe_mapper", "--checks never").out,
              Not(HasSubstr("--checks always")));
  expect_failure(stranger(kFirst, "abort"), "134");
}

// Legion loses its last message without -logfile.
TEST_F(Run, TheLastMessageComesHome) {
  const Outcome outcome = stranger(kFirst, "plain -lg:nosuchflag");
  expect_failure(outcome, "nosuchflag");
}

TEST_F(Run, WhoeverEndsTheCommandEndsTheProgram) {
  const std::string map = "groma run --same tunable --map " + write("my.mapper", kFirst) + " -- " +
                          GROMA_STRANGER + " hang -ll:cpu 2 -tag " + folder_.path();
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Outcome outcome = run("timeout --foreground -s " + std::string(signal) + " 3 " + map);
    EXPECT_EQ(outcome.exit_code, 124) << signal;  // of `timeout`
    expect_nothing_left();
  }
}

TEST_F(Run, AProgramThatNobodyHearsAnyMoreIsEnded) {
  const Outcome outcome =
      run("groma run --same tunable --map " + write("my.mapper", kFirst) + " -- " + GROMA_STRANGER +
          " talk -ll:cpu 2 -tag " + folder_.path() + " | head -n 1");
  EXPECT_EQ(outcome.out, "on and on\n");
  expect_nothing_left();
}

TEST_F(Run, ALibraryThatIsNotThere) {
  expect_failure(stranger(kFirst, "plain", "--library /nosuch.so"), "there is no `/nosuch.so`");
  const std::string spaced = write("with space.so", "x");
  expect_failure(stranger(kFirst, "plain", "--library '" + spaced + "'"), "cannot be preloaded");
}

// The library that is preloaded loads the one that maps, which lies beside it.
TEST_F(Run, ALibraryWithoutTheOneThatMaps) {
  const std::string alone = folder_.path() + "/alone.so";
  std::filesystem::copy_file(GROMA_PRELOAD, alone);
  const Outcome outcome = stranger(kFirst, "plain", "--library " + alone);
  expect_failure(outcome, "groma: not mapped: cannot load what maps: " + folder_.path() +
                              "/libgroma_preload_mapper.so: ");
  EXPECT_THAT(outcome.out, Not(HasSubstr("moved: ")));
}

TEST_F(Run, WrongUsageIsToldFromWrongInput) {
  const std::string map = "--map " + write("my.mapper", kFirst);
  EXPECT_EQ(run("groma run " + map).exit_code, 2);
  EXPECT_EQ(run("groma run " + map + " --").exit_code, 2);
  EXPECT_EQ(run("groma run a.mapper " + map + " -- true").exit_code, 2);
  EXPECT_EQ(run("groma run " + map + " --app cannon -- true").exit_code, 2);
  EXPECT_EQ(run("groma run " + map + " --timeout -1 -- true").exit_code, 2);
  EXPECT_EQ(run("groma run --app cannon -- true").exit_code, 2);
  EXPECT_EQ(run("groma run --timeout 3 --app cannon").exit_code, 2);
}

// What the program starts itself is not mapped and not disturbed.
TEST_F(Run, AScriptMayStartTheProgram) {
  const std::string script =
      write("run.sh", "ls / >/dev/null && exec " GROMA_STRANGER " plain -ll:cpu 2\n");
  const Outcome outcome =
      run("groma run --same tunable --map " + write("my.mapper", kFirst) + " -- sh " + script);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("moved: 0 0 0 0\n"));
}

TEST_F(Run, TwoProgramsLeaveOneLog) {
  const std::string script =
      write("run.sh", "for i in 1 2; do " GROMA_STRANGER " plain -ll:cpu 2; done\n");
  const Outcome outcome = run("groma run --same tunable --map " + write("my.mapper", kFirst) +
                              " --log " + folder_.path() + "/log -- sh " + script);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("groma: Legion was started 2 times; the log is from only one of"));
}

TEST_F(Run, ALegionThatIsLoadedLater) {
  const Outcome outcome = run("groma run --same tunable --map " + write("my.mapper", kFirst) +
                              " -- " + GROMA_LOADER + " " + GROMA_LOADED + " own -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\ntunable: 42\n"));
}

// Its mapper is one of ours, made by other code than what is preloaded.
TEST_F(Run, AProgramThatIsMappedByGromaItself) {
  const std::string map =
      "groma run --same tunable --map " + write("my.mapper", "Task look GPU;\n") + " -- ";
  const Outcome outcome = run(map + GROMA_REFUSED + " 'Region look cells * SYSMEM' -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("`look` can run on none of its kinds: `GPU`"));
}

// What that mapping names and does not get, the other one has.
TEST_F(Run, AnOwnMappingIsNotToldOfWhatItDoesNotGet) {
  const std::string map =
      "groma run --same tunable --map " + write("my.mapper", "Task look CPU;\n") + " -- ";
  const Outcome outcome =
      run(map + GROMA_REFUSED + " 'Task nobody CPU; Region look cells * RDMEM, SYSMEM' -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err,
              AllOf(Not(HasSubstr("no task `nobody`")), Not(HasSubstr("-ll:rsize"))));
}

TEST_F(Run, ALargeMappingIsHandedOverAsAFile) {
  const std::string large = kFirst + std::string("#") + std::string(200'000, 'x') + "\n";
  EXPECT_THAT(stranger(large, "plain").out, HasSubstr("moved: 0 0 0 0\n"));
  const Outcome piped =
      run("groma run --same tunable --map - -- " GROMA_STRANGER " plain -ll:cpu 2", large);
  expect_failure(piped, "is handed over as a file");
  EXPECT_THAT(
      run("groma run --same tunable --map - -- " GROMA_STRANGER " plain -ll:cpu 2", kFirst).out,
      HasSubstr("moved: 0 0 0 0\n"));
}

}  // namespace
}  // namespace groma::test
