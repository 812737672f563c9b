// `groma run --map`: Legion programs that know nothing of Groma, taken over without being rebuilt.
#include "command/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
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
  // `groma run OPTIONS --map TEXT -- stranger WORDS -ll:cpu 2`
  Outcome stranger(const std::string& text, const std::string& words,
                   const std::string& options = "") const {
    return run("groma run --map " + write("my.mapper", text) + " " + options + " -- " +
               GROMA_STRANGER + " " + words + " -ll:cpu 2 -tag " + folder_.path());
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
  EXPECT_THAT(outcome.out, HasSubstr("stranger under " + folder_.path() + "/my.mapper: "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Explain")));  // nothing is the matter
  EXPECT_THAT(outcome.err, HasSubstr("groma: mapped by "));
}

// The program's mapper keeps the tasks that are not mentioned, its tunables and what it is asked
// for by name.
class Wrapped : public Run, public testing::WithParamInterface<const char*> {};

TEST_P(Wrapped, AnOwnMapperKeepsWhatIsNotMentioned) {
  const Outcome outcome = stranger(kFirst, GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\ntunable: 42\n"));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("own mapper: slices kept"),
                                 Not(HasSubstr("own mapper: slices moved")),
                                 HasSubstr("own mapper: maps inline")));
  // The points of `kept`, and `top` where it is of this mapper.
  const bool top_too = GetParam() != std::string("beside");
  EXPECT_THAT(outcome.out, HasSubstr(top_too ? "mapped: 5\n" : "mapped: 4\n"));
}

TEST_P(Wrapped, AStarMentionsAllTasksAndWhatTheyDo) {
  const Outcome outcome = stranger(std::string(kFirst) + "IndexTaskMap * first;\n", GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 0 0 0 0\nmoved: 0 0 0 0\ntunable: 42\n"));
  EXPECT_THAT(outcome.out, HasSubstr("own mapper mapped: 0\n"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("own mapper: ")));
}

INSTANTIATE_TEST_SUITE_P(All, Wrapped, testing::Values("own", "shared", "beside"),
                         [](const auto& mode) { return std::string(mode.param); });

// Tasks that a limit holds back beside tasks of the program's mapper.
TEST_F(Run, BothMappersMaySchedule) {
  const Outcome outcome = stranger("InstanceLimit moved 1;\n", "own");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: "));
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

// ---- What goes wrong, and that nothing is left.

TEST_F(Run, NoSuchMapping) {
  expect_failure(run("groma run --map nosuch.mapper -- " GROMA_STRANGER " plain"),
                 "cannot read `nosuch.mapper`");
}

TEST_F(Run, AMappingWithErrorsStartsNothing) {
  const Outcome outcome = stranger("Task * CPUS;\n", "plain");
  expect_failure(outcome, "no processor kind `CPUS` [unknown-processor]");
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

TEST_F(Run, AnAnswerThatLegionCannotCarryOut) {
  const Outcome outcome = stranger("Task moved GPU;\n", "own");
  expect_failure(outcome, "`moved` can run on none of its kinds: `GPU`");
  EXPECT_THAT(outcome.out, HasSubstr("Suggest"));
}

TEST_F(Run, AProgramWithoutLegion) {
  const std::string map = "groma run --map " + write("my.mapper", kFirst);
  expect_failure(run(map + " -- true"), "the program started no Legion");
  expect_failure(run(map + " --timeout 1 -- sh -c 'sleep 1000; true' " + folder_.path()),
                 "before its time limit");
  EXPECT_THAT(run(map + " -- sh -c 'exit 3'").out, HasSubstr("the program started no Legion"));
}

TEST_F(Run, NoSuchProgram) {
  expect_failure(run("groma run --map " + write("my.mapper", kFirst) + " -- ./nosuch"),
                 "cannot run `./nosuch`: No such file or directory");
}

TEST_F(Run, AnotherLegion) {
  const Outcome outcome =
      run("groma run --map " + write("my.mapper", kFirst) + " -- " + GROMA_OTHER_STRANGER);
  expect_failure(outcome, "the program has Legion legion-24.03.0, this library is for legion-");
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
  expect_failure(stranger(kFirst, "abort"), "134");
}

// Legion loses its last message without -logfile.
TEST_F(Run, TheLastMessageComesHome) {
  const Outcome outcome = stranger(kFirst, "plain -lg:nosuchflag");
  expect_failure(outcome, "nosuchflag");
}

TEST_F(Run, WhoeverEndsTheCommandEndsTheProgram) {
  const std::string map = "groma run --map " + write("my.mapper", kFirst) + " -- " +
                          GROMA_STRANGER + " hang -ll:cpu 2 -tag " + folder_.path();
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Outcome outcome = run("timeout --foreground -s " + std::string(signal) + " 3 " + map);
    EXPECT_EQ(outcome.exit_code, 124) << signal;  // of `timeout`
    expect_nothing_left();
  }
}

TEST_F(Run, AProgramThatNobodyHearsAnyMoreIsEnded) {
  const Outcome outcome =
      run("groma run --map " + write("my.mapper", kFirst) + " -- " + GROMA_STRANGER +
          " talk -ll:cpu 2 -tag " + folder_.path() + " | head -n 1");
  EXPECT_EQ(outcome.out, "on and on\n");
  expect_nothing_left();
}

TEST_F(Run, ALibraryThatIsNotThere) {
  expect_failure(stranger(kFirst, "plain", "--library /nosuch.so"), "there is no `/nosuch.so`");
  const std::string spaced = write("with space.so", "x");
  expect_failure(stranger(kFirst, "plain", "--library '" + spaced + "'"), "cannot be preloaded");
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
  const Outcome outcome = run("groma run --map " + write("my.mapper", kFirst) + " -- sh " + script);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("moved: 0 0 0 0\n"));
}

TEST_F(Run, ALegionThatIsLoadedLater) {
  const Outcome outcome = run("groma run --map " + write("my.mapper", kFirst) + " -- " +
                              GROMA_LOADER + " " + GROMA_LOADED + " own -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept: 1 1 1 1\nmoved: 0 0 0 0\ntunable: 42\n"));
}

// Its mapper is one of ours, made by other code than what is preloaded.
TEST_F(Run, AProgramThatIsMappedByGromaItself) {
  const std::string map = "groma run --map " + write("my.mapper", "Task look GPU;\n") + " -- ";
  const Outcome outcome = run(map + GROMA_REFUSED + " 'Region look cells * SYSMEM' -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("`look` can run on none of its kinds: `GPU`"));
}

TEST_F(Run, ALargeMappingIsHandedOverAsAFile) {
  const std::string large = kFirst + std::string("#") + std::string(200'000, 'x') + "\n";
  EXPECT_THAT(stranger(large, "plain").out, HasSubstr("moved: 0 0 0 0\n"));
  const Outcome piped = run("groma run --map - -- " GROMA_STRANGER " plain -ll:cpu 2", large);
  expect_failure(piped, "is handed over as a file");
  EXPECT_THAT(run("groma run --map - -- " GROMA_STRANGER " plain -ll:cpu 2", kFirst).out,
              HasSubstr("moved: 0 0 0 0\n"));
}

}  // namespace
}  // namespace groma::test
