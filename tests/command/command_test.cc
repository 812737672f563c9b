// The command's contract: exit codes, what goes to which stream, the shapes of its JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "command/run.h"
#include "groma/benchmarks.h"
#include "support/sanitized.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kBlock[] =
    "Task * GPU;\n"
    "m = Machine(GPU);\n"
    "def block(Task task) {\n"
    "  print(\"point {}\", task.ipoint);\n"
    "  return m[task.ipoint[0] * m.size[0] / task.ispace[0], task.ipoint[1] % m.size[1]];\n"
    "}\n"
    "def anywhere(Task task) {\n"
    "  return m[0, *];\n"
    "}\n"
    "def beside(Task task) {\n"
    "  return m[*task.parent.processor(m)];\n"
    "}\n"
    "IndexTaskMap work block;\n"
    "IndexTaskMap loose anywhere;\n"
    "SingleTaskMap init beside;\n";

TEST(Command, SaysHowItIsUsed) {
  EXPECT_EQ(run("groma").exit_code, 2);
  const Outcome nonsense = run("groma strategis");
  EXPECT_EQ(nonsense.exit_code, 2);
  EXPECT_EQ(nonsense.err,
            "groma: no command is named `strategis`\nhelp: did you mean `strategies`?\n");
  EXPECT_THAT(run("groma xyzzy").err, HasSubstr("`groma --help` lists them"));
  EXPECT_EQ(run("groma check").exit_code, 2);
  EXPECT_EQ(run("groma check --no-such-option x").exit_code, 2);
  for (const char* command :
       {"", "check", "format", "place", "explain", "run", "diff", "guide", "emit", "tune", "write",
        "machines", "apps", "prompt", "serve", "sample", "strategies", "grammar"}) {
    const Outcome help = run(std::string("groma ") + command + " --help");
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Examples:")) << command;
    EXPECT_THAT(help.out, Not(HasSubstr("[Option Group"))) << command;
  }
  EXPECT_THAT(run("groma help diff").out, HasSubstr("\nUsage: groma diff [OPTIONS] [A] B\n"));
  EXPECT_EQ(run("groma --version").out, "groma 0.1.0\n");
  EXPECT_EQ(run("groma help").out, run("groma --help").out);
  EXPECT_EQ(run("groma help run").out, run("groma run --help").out);
  EXPECT_EQ(run("groma help run").exit_code, 0);
  EXPECT_EQ(run("groma help rnu").err,
            "groma: no command is named `rnu`\nhelp: did you mean `run`?\n");
}

TEST(Emit, WritesAMapperOrSaysWhyNot) {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/placement.cc";
  const Outcome written = run("groma emit - --class Placement -o " + out, kBlock);
  EXPECT_EQ(written.exit_code, 0);
  EXPECT_EQ(written.out, "");
  EXPECT_THAT(test::read_text(out), HasSubstr("class Placement : public"));
  const Outcome decisions = run("groma emit - --decisions-only", kBlock);
  EXPECT_EQ(decisions.exit_code, 0);
  EXPECT_THAT(decisions.out, HasSubstr("Processor block(const Task& task) const {"));
  EXPECT_THAT(decisions.out, ::testing::Not(HasSubstr("legion.h")));
  const Outcome refused = run("groma emit -", "a = (1, true);");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              HasSubstr("<stdin>:1:5: error: cannot write C++ for a tuple with an integer and a "
                        "bool [not-emitted]"));
  EXPECT_EQ(run("groma emit - --class 2d", kBlock).exit_code, 2);
  EXPECT_EQ(run("groma emit").exit_code, 2);
  EXPECT_EQ(run("groma emit none.mapper").exit_code, 1);
  EXPECT_EQ(run("groma emit - --decisions-only -o -", kBlock).out, decisions.out);
}

// However it is called: nothing that is read is written over, and nothing is written twice.
TEST(Files, ThatAreReadAreNotOverwritten) {
  const TemporaryFolder folder;
  const std::string mapping = folder.write("a.mapper", "Task * CPU;\n");
  const std::string app = folder.write("a.json", "{}"), machine = folder.write("m.json", "{}");
  const std::string link = folder.path() + "/link.mapper", new_file = folder.path() + "/new";
  ASSERT_EQ(run("ln -s a.mapper " + link).exit_code, 0);
  const std::string program = folder.write("prog", "#!/bin/sh\n");
  for (const std::string& words : {
           "run --map " + mapping + " --log " + mapping + " -- true",
           "run --map " + mapping + " --report " + link + " -- true",
           "run --map " + link + " --trace " + folder.path() + "/../" +
               folder.path().substr(folder.path().rfind('/')) + "/a.mapper -- true",
           "run --map " + mapping + " --log " + program + " -- " + program,
           "run --map " + mapping + " --log " + new_file + " --trace " + folder.path() +
               "/./new -- true",
           "run " + mapping + " --app cannon --trace " + mapping,
           "run --app " + app + ":n=4 --report " + app,
           "run --app cannon --machine " + machine + " --trace " + machine,
           "run --app cannon --trace " + new_file + " --report " + new_file,
           "run --map " + mapping + " --log - -- true",
           "emit " + mapping + " -o " + link,
           "record --map " + mapping + " --out " + mapping + " -- true",
           "record --out " + program + " -- " + program,
           "place " + mapping + " --task a --domain 4 --machine " + machine + " --svg " + machine,
       }) {
    const Outcome outcome = run("groma " + words);
    EXPECT_EQ(outcome.exit_code, 2) << words << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(test::read_text(mapping), "Task * CPU;\n");
  EXPECT_EQ(test::read_text(app), "{}");
  EXPECT_THAT(run("groma emit " + mapping + " -o " + mapping).err,
              HasSubstr("--out: `" + mapping + "` is an input file and would be overwritten"));
  EXPECT_EQ(run("groma run --app cannon:size=small --trace /dev/null --report /dev/null").exit_code,
            0);
}

TEST(Files, ThatCannotBeWrittenAreKnownBeforeARun) {
  const TemporaryFolder folder;
  const std::string map = "groma run --map " + folder.write("a.mapper", "Task * CPU;\n");
  for (const std::string option : {"--trace", "--report", "--log"}) {
    for (const std::string& path : {folder.path() + "/no/x", folder.path()}) {
      const Outcome outcome = run(map + " " + option + " " + path + " -- echo it ran");
      EXPECT_EQ(outcome.exit_code, 1);
      EXPECT_EQ(outcome.out, "");  // the program was not started
      EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr("cannot write `" + path + "`"),
                                                HasSubstr("name a file: " + option + " FILE")));
    }
  }
  const Outcome simulated = run("groma run --app cannon --report " + folder.path() + "/no/x");
  EXPECT_EQ(simulated.exit_code, 1);
  EXPECT_EQ(simulated.out, "");
}

TEST(Tune, IsNotResumedOnAnotherMachine) {
  const TemporaryFolder folder;
  const std::string machine = folder.path() + "/m.json", search = folder.path() + "/search";
  ASSERT_EQ(run("groma machines nodes=1,gpu=2,cpu=2 --json > " + machine).exit_code, 0);
  EXPECT_EQ(run("groma tune --app stencil:size=small --evaluations 2 --machine " + machine +
                " --out " + search)
                .exit_code,
            0);
  EXPECT_EQ(run("groma tune --evaluations 3 --resume " + search).exit_code, 0);
  ASSERT_EQ(run("groma machines nodes=1,gpu=3,cpu=2 --json > " + machine).exit_code, 0);
  const Outcome other = run("groma tune --evaluations 4 --resume " + search);
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.err, "groma: " + search + "/journal.jsonl:1: `" + machine +
                           "` is not what it was when this search began\nhelp: what was found "
                           "would not be about it: begin another search\n");
}

TEST(Check, CleanFilesAreFine) {
  const Outcome outcome = run("groma check dsl/strategies/*.mapper dsl/mappers/*.mapper");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("no errors, 2 warnings in "));
  EXPECT_EQ(outcome.err, "");
}

TEST(Check, EmptyProgramIsFineWithANote) {
  const Outcome outcome = run("groma check -", "");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("<stdin>: note: the program has no statements [empty-program]"));
}

TEST(Check, UnreadableFilesAreNamed) {
  const TemporaryFolder folder;
  const Outcome missing = run("groma check " + folder.path() + "/none.mapper");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.out, HasSubstr("none.mapper`: No such file or directory [unreadable-file]"));
  const Outcome directory = run("groma check " + folder.path());
  EXPECT_EQ(directory.exit_code, 1);
  EXPECT_THAT(directory.out, HasSubstr("it is a directory [unreadable-file]"));
  // The others are checked all the same.
  const Outcome both = run("groma check --json " + folder.path() + " -", "Task a GPUS;");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_EQ(json::parse(both.out)["diagnostics"].size(), 2U);
}

TEST(Check, JsonHasTheContractsShape) {
  const Outcome outcome = run("groma check - --json", "\n\nTask t GPUS;\n");
  EXPECT_EQ(outcome.exit_code, 1);
  const json document = json::parse(outcome.out);
  ASSERT_EQ(document["diagnostics"].size(), 1U);
  const json& diagnostic = document["diagnostics"][0];
  EXPECT_EQ(diagnostic["id"], "unknown-processor");
  EXPECT_EQ(diagnostic["severity"], "error");
  EXPECT_EQ(diagnostic["message"], "unknown processor kind `GPUS`");
  EXPECT_EQ(diagnostic["file"], "<stdin>");
  EXPECT_EQ(diagnostic["start"], json({{"line", 3}, {"column", 8}}));
  EXPECT_EQ(diagnostic["end"], json({{"line", 3}, {"column", 12}}));
  EXPECT_TRUE(diagnostic["notes"].is_array());
  EXPECT_EQ(diagnostic["help"], json({"did you mean `GPU`?"}));
  ASSERT_EQ(diagnostic["fixes"].size(), 1U);
  EXPECT_EQ(diagnostic["fixes"][0]["sure"], false);
  EXPECT_EQ(diagnostic["fixes"][0]["edits"][0]["text"], "GPU");
}

TEST(Check, MachineBindsTheProgramAndPrints) {
  const Outcome outcome =
      run("groma check - --machine nodes=3,gpu=2", "m = Machine(GPU);\nprint(\"{}\", m.size);\n");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "(3, 2)\n");
  EXPECT_EQ(run("groma check -", "print(\"{}\", 1 / 0);").exit_code, 0);
  EXPECT_EQ(run("groma check - --machine p100x4", "print(\"{}\", 1 / 0);").exit_code, 1);
}

TEST(Check, UnknownMachineNamesTheNearest) {
  const Outcome outcome = run("groma check - --machine lasen", "Task * GPU;");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[unknown-machine]"));
  EXPECT_THAT(outcome.out, HasSubstr("`lassen`"));
  EXPECT_EQ(
      json::parse(run("groma check - --machine lasen --json", "").out)["diagnostics"][0]["id"],
      "unknown-machine");
}

TEST(Check, AnEmptyMachineIsWrongUsage) {
  for (const char* command :
       {"groma check - --machine ''", "groma place - --machine '' --task t --domain 4"}) {
    const Outcome outcome = run(command, kBlock);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("--machine: it is empty")) << command;
  }
}

TEST(Check, AnApplicationHasNames) {
  const std::string check = "groma check - --app docs/examples/circuit.json";
  const std::string program = "Task update_voltage GPU; Region * rp_gost * FBMEM;";
  const Outcome outcome = run(check, program);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("has no task `update_voltage` [unknown-task]"));
  EXPECT_THAT(outcome.out, HasSubstr("has no region `rp_gost` [unknown-region]"));
  EXPECT_EQ(run(check + ":pieces=8 --machine p100x4", "Task * CPU;").out,
            "no errors, no warnings in 1 file\n");
  const Outcome bad = run(check + ":pieces=0 --json", "Task * CPU;");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(json::parse(bad.out)["diagnostics"][0]["id"], "bad-application");
  EXPECT_EQ(run("groma check - --app -").exit_code, 2);
}

TEST(Check, RegionsThatTheNamedTasksDoNotHaveDecideNothing) {
  const std::string check = "groma check - --app circuit";
  const Outcome outcome = run(check,
                              "Region init_nodes rp_wires CPU SYSMEM;\n"
                              "Layout init_nodes, init_wires 7 * SOA;\n"
                              "CollectMemory init_nodes rp_privat;\n"
                              "Region init_wires, init_nodes rp_wires GPU FBMEM;\n"
                              "Region * rp_wires CPU SYSMEM;\n"
                              "Region distribute_charge 3 CPU SYSMEM;\n");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("<stdin>:1:19: warning: `init_nodes` has no region `rp_wires`, "
                        "so the statement has no effect on it [matches-nothing]\n"));
  EXPECT_THAT(outcome.out, HasSubstr("note: its regions are `all_nodes`, "));
  EXPECT_THAT(outcome.out,
              HasSubstr("<stdin>:2:31: warning: `init_nodes` and `init_wires` have no "
                        "region 7, so the statement has no effect on it [matches-nothing]\n"));
  EXPECT_THAT(outcome.out, HasSubstr("`rp_privat` [unknown-region]\n"));
  EXPECT_THAT(outcome.out, HasSubstr("no errors, 3 warnings in 1 file\n"));
  EXPECT_EQ(run("groma check dsl/mappers/circuit.mapper --app circuit").out,
            "no errors, no warnings in 1 file\n");
}

TEST(Check, SaysThatTheMachineHasOtherNodes) {
  const std::string said =
      "note: application `cannon` is set up for 1 node, but machine `p100x4:nodes=4` has 4 "
      "[nodes-differ]\n"
      "help: `nodes=4` behind the application is for that machine\n";
  const std::string with = " --app cannon:size=small --machine p100x4:nodes=4";
  EXPECT_THAT(run("groma check -" + with, "Task * GPU,OMP,CPU;").out, HasSubstr(said));
  EXPECT_THAT(run("groma run" + with).err, HasSubstr(said));
  EXPECT_THAT(run("groma diff -" + with, "Task * GPU,OMP,CPU;").err, HasSubstr(said));
  EXPECT_EQ(run("groma run" + with + ",nodes=4").exit_code, 1);  // of the machine: there are two
  EXPECT_EQ(run("groma run --app cannon:size=small,nodes=4 --machine p100x4:nodes=4").err, "");
  // In other applications the name may mean anything.
  EXPECT_EQ(run("groma run --app docs/examples/circuit.json:size=small").err, "");
}

// Each point is in the way of the one before, far from the first: who it is, is not looked for
// again and again.
// Two tasks, and what the program's own mapper asks for them.
constexpr char kDemanding[] =
    R"({"top_level": "main", "regions": [{"name": "x", "extents": [8, 8], "fields": [{"name": "v"}, {"name": "w"}]}], "tasks": [
  {"name": "main", "variants": [{"kind": "CPU"}], "body": [{"launch": "a"}, {"launch": "b"}]},
  {"name": "a", "requirements": [{"data": "x", "privilege": "read-write"}], "variants": [
    {"kind": "CPU", "demands": [{"requirement": 0, "by": "mapper", "dimension_order": "C_order"}]}]},
  {"name": "b", "requirements": [{"data": "x", "privilege": "read-write"}], "variants": [
    {"kind": "CPU", "demands": [{"requirement": 0, "by": "mapper", "dimension_order": "C_order"}]}]}
]})";

TEST(Check, LayoutsOfSingleTasksAreOverridden) {
  const TemporaryFolder folder;
  const std::string with = " --app " + folder.write("a.json", kDemanding) +
                           " --machine nodes=1,gpu=0,cpu=2,omp=0,sysmem=64,sockmem=0,rdmem=0";
  const std::string check = "groma check - " + with;
  const auto refused = [&](const std::string& options) {
    const std::string out = run(check + options, "Layout * * * F_order;\n").out;
    std::string tasks;
    for (const std::string task : {"a", "b"}) {
      if (out.find("of `" + task + "`: the program's own mapper") != out.npos) tasks += task;
    }
    return tasks;
  };
  EXPECT_EQ(refused(""), "ab");
  EXPECT_EQ(refused(" --override-layouts=a"), "b");
  EXPECT_EQ(refused(" --override-layouts=a --override-layouts=b"), "");
  EXPECT_EQ(refused(" --override-layouts"), "");
  const Outcome unknown = run(check + " --override-layouts=c", "");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out + unknown.err, HasSubstr("`--override-layouts=c`: the application `"));
  const Outcome misspelt =
      run("groma check - --app circuit --override-layouts=distribute_charg", "");
  EXPECT_THAT(misspelt.out + misspelt.err, HasSubstr("did you mean `distribute_charge`?"));
  // A search that goes on has it as it was begun.
  const std::string found = folder.path() + "/found";
  const Outcome begun =
      run("groma tune --evaluations 2 --override-layouts=a --out " + found + with);
  ASSERT_EQ(begun.exit_code, 0) << begun.out << begun.err;
  const std::string resume = "groma tune --evaluations 3 --resume " + found;
  const Outcome other = run(resume + " --override-layouts=b --verify -- true");
  EXPECT_THAT(other.out + other.err, HasSubstr("was started with another `--override-layouts`"));
  EXPECT_EQ(run(resume).exit_code, 0);
}

TEST(Sample, DrawsNoLayoutThatTheProgramsMapperRefuses) {
  const TemporaryFolder folder;
  const std::string with = " --app " + folder.write("a.json", kDemanding) +
                           " --machine nodes=1,gpu=0,cpu=2,omp=0,sysmem=64,sockmem=0,rdmem=0";
  std::size_t left_out = 0, kept = 0;
  for (int seed = 0; seed < 12; ++seed) {
    const std::string draw = fmt::format("groma sample --seed {}{}", seed, with);
    const std::string mapping = run(draw).out;
    EXPECT_THAT(run("groma check -" + with, mapping).out, Not(HasSubstr("[layout-demanded]")));
    left_out += mapping.find("asks for another layout") != mapping.npos;
    kept += mapping.find("\nLayout") != mapping.npos;
    EXPECT_THAT(run(draw + " --override-layouts").out, HasSubstr("\nLayout"));
  }
  EXPECT_GT(left_out, 0U);
  EXPECT_GT(kept, 0U);
}

TEST(Check, ManyPointsInEachOthersWayAreSaidOnce) {
  const TemporaryFolder folder;
  const std::string app = folder.write("a.json", R"({
    "regions": [{"name": "r", "extents": [100001], "fields": [{"name": "x", "bytes": 8}]}],
    "partitions": [{"name": "p", "of": "r", "colors": [100000], "index": ["c"], "lower": ["c"],
                    "extents": [2]}],
    "top_level": "m", "tasks": [
    {"name": "m", "variants": [{"kind": "CPU"}], "body": [{"launch": "w", "domain": [100000]}]},
    {"name": "w", "variants": [{"kind": "CPU", "leaf": true}],
     "requirements": [{"privilege": "read-write", "data": "p"}]}]})");
  const std::string with = " - --machine p100x4 --app " + app;
  const Outcome check = run("groma check" + with, "Task * CPU;");
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("note: /tasks/0/body/0 of the application\n"
                                   "note: point (0) has some of the same data as its region 0\n"
                                   "note: point (1) of a launch of `w` over 100000, on CPU (0, "));
  EXPECT_THAT(check.out, HasSubstr("\n1 error, no warnings in 1 file\n"));
  EXPECT_THAT(run("groma run" + with, "Task * CPU;").err, HasSubstr("note: point (0) has some"));
}

TEST(Check, BadMachineNamesTheValue) {
  const Outcome outcome = run("groma check - --machine nodes=0", "Task * GPU;");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("`nodes` is `0`"));
  EXPECT_THAT(outcome.out, HasSubstr("[bad-machine]"));
}

TEST(Check, FixMendsWhatIsSureInPlace) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.mapper", "def f(Task t):\n  return Machine(GPU)[0, 0]\nTask GPU.x gpu\n");
  const Outcome outcome = run("groma check --fix " + path);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(test::read_text(path),
            "def f(Task t) {\n  return Machine(GPU)[0, 0]\n}\nTask GPU.x GPU\n");
  // From standard input, standard output is the mended text and nothing else.
  const Outcome piped = run("groma check --fix -", "Task a GPU OMP;\n");
  EXPECT_EQ(piped.out, "Task a GPU, OMP;\n");
  EXPECT_EQ(piped.exit_code, 0);
}

TEST(Format, PrintsChecksAndRewrites) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mapper", "Task  *   GPU,CPU # fast\n");
  const std::string formatted = "Task * GPU, CPU;  # fast\n";
  EXPECT_EQ(run("groma format " + path).out, formatted);
  EXPECT_EQ(run("groma format -", "Task  *   GPU,CPU # fast\n").out, formatted);
  EXPECT_EQ(run("groma format --check " + path).exit_code, 1);
  const Outcome diff = run("groma format --diff --check " + path);
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_EQ(diff.out, "--- " + path + "\n+++ " + path +
                          " (formatted)\n@@ -1,1 +1,1 @@\n-Task  *   GPU,CPU # fast\n+" +
                          formatted);
  EXPECT_EQ(run("groma format --in-place " + path).exit_code, 0);
  EXPECT_EQ(test::read_text(path), formatted);
  EXPECT_EQ(run("groma format --check " + path).exit_code, 0);
}

TEST(Format, DiffIsOneThatPatchApplies) {
  if (run("command -v patch").exit_code != 0) GTEST_SKIP() << "no patch on this computer";
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += i % 9 == 4 ? "a" + std::to_string(i) + "=1\n" : "b" + std::to_string(i) + " = 1;\n";
  const std::string path = folder.write("a.mapper", text);
  const std::string expected = run("groma format " + path).out;
  EXPECT_EQ(run("groma format --diff " + path + " | patch -s " + path).exit_code, 0);
  EXPECT_EQ(test::read_text(path), expected);
}

TEST(Format, LeavesAFileWithErrorsAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mapper", "Task * ;\n");
  const Outcome outcome = run("groma format --in-place " + path);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("[expected-token]"));
  EXPECT_EQ(test::read_text(path), "Task * ;\n");
}

TEST(Format, KeepsAFileThatCannotBeReplaced) {
  if (run("[ $(id -u) != 0 ]").exit_code != 0) GTEST_SKIP() << "root may write anywhere";
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mapper", "Task * GPU\n");
  run("chmod a-w " + path);
  EXPECT_EQ(run("groma format --in-place " + path).exit_code, 1);
  EXPECT_EQ(test::read_text(path), "Task * GPU\n");
}

TEST(Place, JsonHasTheContractsShape) {
  const Outcome outcome =
      run("groma place - --machine nodes=2,gpu=2 --task work --domain 4x2 --json", kBlock);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["task"], "work");
  EXPECT_EQ(document["function"], "block");
  EXPECT_EQ(document["kind"], "GPU");
  EXPECT_EQ(document["domain"], json({4, 2}));
  EXPECT_EQ(document["lower"], json({0, 0}));
  EXPECT_EQ(document["points"], json::parse("[[0,0],[0,1],[0,0],[0,1],[1,0],[1,1],[1,0],[1,1]]"));
  EXPECT_FALSE(document.contains("sets"));
  EXPECT_EQ(document["loads"], json({{"max", 2}, {"min", 2}, {"processors", 4}}));
  EXPECT_EQ(outcome.err, "");
}

TEST(Place, SetsStandBesideTheirFirstProcessors) {
  const Outcome outcome =
      run("groma place - --machine nodes=2,gpu=2 --task loose --domain 1 --json", kBlock);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["points"], json::parse("[[0,0]]"));
  EXPECT_EQ(document["sets"], json::parse("[[[0,0],[0,1]]]"));
}

TEST(Place, SingleTasksStandBesideTheirParent) {
  const Outcome outcome =
      run("groma place - --machine nodes=2,gpu=2 --task init --parent 1,1 --json", kBlock);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(json::parse(outcome.out)["points"], json::parse("[[1,1]]"));
  EXPECT_EQ(run("groma place - --machine nodes=2,gpu=2 --task init --parent 2,0", kBlock).exit_code,
            1);
}

// An application does not say where the task runs that launches a single task.
TEST(Place, ASingleTaskOfAnApplicationNeedsItsParent) {
  const std::string mapping =
      "m = Machine(CPU);\ndef f(Task t) { return m[0, 0]; }\nSingleTaskMap init_wires f;\n";
  const std::string ask = "groma place - --app circuit --task init_wires";
  const Outcome outcome = run(ask, mapping);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "groma: `circuit` launches `init_wires` only as a single task, which has no domain\n"
            "help: name the node and the processor where `init_piece` runs, which launches "
            "`init_wires`: --parent 0,0\n");
  EXPECT_EQ(run(ask + " --parent 0,0", mapping).exit_code, 0);
}

TEST(Place, LowerCornersShiftNothing) {
  const std::string ask =
      "groma place - --machine nodes=2,gpu=2 --task work --domain 4x2 --json --lower ";
  const json at_zero = json::parse(run(ask + "0x0", kBlock).out);
  const json shifted = json::parse(run(ask + "-3x7", kBlock).out);
  EXPECT_EQ(at_zero["points"], shifted["points"]);
  EXPECT_EQ(shifted["lower"], json({-3, 7}));
}

TEST(Place, TracePrints) {
  const std::string ask = "groma place - --machine nodes=1,gpu=2 --task work --domain 1x2";
  EXPECT_EQ(run(ask, kBlock).err, "");
  EXPECT_EQ(run(ask + " --trace", kBlock).err, "point (0, 0)\npoint (0, 1)\n");
}

TEST(Place, FunctionsCanBeAskedForByName) {
  const Outcome outcome =
      run("groma place - --machine nodes=2,gpu=2 --function block --domain 2x2 --json", kBlock);
  EXPECT_EQ(json::parse(outcome.out)["task"], nullptr);
  const Outcome near = run("groma place - --function blok --domain 2x2", kBlock);
  EXPECT_EQ(near.exit_code, 1);
  EXPECT_THAT(near.err, HasSubstr("did you mean `block`?"));
}

TEST(Place, RefusesDomainsThatItCannotDraw) {
  const Outcome none = run("groma place - --task work --domain 0x4", kBlock);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("the launch domain 0x4 has no points [empty-domain]"));
  const Outcome large = run("groma place - --task work --domain 1048576x1048576", kBlock);
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, HasSubstr("has more than 1048576 points [domain-too-large]"));
}

TEST(Place, PointsOutOfBoundAreDiagnosed) {
  const Outcome outcome = run(
      "groma place - --machine nodes=2,gpu=2 --task work --domain 4x4 --json",
      "m = Machine(GPU);\ndef f(Task t) {\n  return m[t.ipoint[0], 0];\n}\nIndexTaskMap work f;\n");
  EXPECT_EQ(outcome.exit_code, 1);
  const json diagnostic = json::parse(outcome.out)["diagnostics"][0];
  EXPECT_EQ(diagnostic["id"], "slice-index-out-of-bound");
  EXPECT_EQ(diagnostic["message"], "index 0 is 2, outside of [0, 2)");
  EXPECT_EQ(diagnostic["notes"][0]["message"], "while `f` maps point (2, 0) of a launch of (4, 4)");
}

// The function sees coordinates from the lower corner on, the user the launch's own.
TEST(Place, PointsOutOfBoundAreToldFromTheLowerCorner) {
  const std::string function =
      "m = Machine(GPU);\ndef f(Task t) {\n  return m[t.ipoint[0] % 2, t.ipoint[1]];\n}\n"
      "IndexTaskMap work f;\n";
  const std::string arguments =
      "groma place - --machine nodes=2,gpu=4 --task work --domain 11x11 --lower 1x-2";
  const std::string note =
      "while `f` maps point (1, 2) of a launch of (11, 11) that begins at (1, -2), where `ipoint` "
      "is (0, 4)";
  const Outcome text = run(arguments, function);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("error: index 1 is 4, outside of [0, 4)"));
  EXPECT_THAT(text.err, HasSubstr("note: " + note + "\n"));
  const Outcome outcome = run(arguments + " --json", function);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(json::parse(outcome.out)["diagnostics"][0]["notes"][0]["message"], note);
}

TEST(Place, WrongUsageIsToldFromWrongInput) {
  for (const char* arguments :
       {"--task work", "--domain 4", "--function block --app cannon", "--task work --domain",
        "--task work --domain 4y4", "--task work --domain ,",
        "--task work --domain triangle --lower 1x1", "--task work --domain 4x",
        "--task work --domain -4", "--task work --domain 4 --lower 1x1",
        "--task work --function block --domain 4", "--task work --parent 1",
        "--task work --domain 4 --from GPUS", "--task work --domain 1x1x1x1x1x1x1x1x1x1",
        "--task work --domain 99999999999999999999"}) {
    EXPECT_EQ(run(std::string("groma place - ") + arguments, kBlock).exit_code, 2) << arguments;
  }
}

TEST(Place, AnApplicationHasTheLaunch) {
  const std::string place = "groma place dsl/mappers/cannon.mapper --app cannon --json --task ";
  const Outcome outcome = run(place + "task_1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json placed = json::parse(outcome.out);
  EXPECT_EQ(placed.at("task"), "task_1");
  EXPECT_FALSE(placed.at("points").empty());
  EXPECT_EQ(run(place + "task_1 --domain 4x4").exit_code, 2);
  const Outcome unknown = run(place + "tsk_1");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("unknown-task"));
}

TEST(Place, UnboundTasksSayWhatDecides) {
  const Outcome outcome = run("groma place - --task other --domain 4", kBlock);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("no IndexTaskMap statement decides `other` [no-mapping-function]"));
  const Outcome near = run("groma place - --task wrok --domain 4", kBlock);
  EXPECT_THAT(near.err, HasSubstr("help: did you mean `work`?\n"));
  const Outcome known = run("groma place - --task a --domain 4", "Task a GPU;\n");
  EXPECT_THAT(known.err, HasSubstr("help: write `IndexTaskMap a f;`"));
}

TEST(Place, SaysALoadOnceIfItIsTheSame) {
  const std::string command = "groma place - --machine nodes=1,gpu=2 --function f --domain ";
  const std::string mapping =
      "m = Machine(GPU);\ndef f(Task task) { return m[0, task.ipoint[0] % 2]; }\n";
  EXPECT_THAT(run(command + "4", mapping).out,
              HasSubstr("\nload: 2 points on each of 2 processors\n"));
  EXPECT_THAT(run(command + "2", mapping).out,
              HasSubstr("\nload: 1 point on each of 2 processors\n"));
  EXPECT_THAT(run(command + "3", mapping).out,
              HasSubstr("\nload: 1 to 2 points on each of 2 processors\n"));
}

TEST(Place, SvgIsWrittenAndWellFormed) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.svg";
  EXPECT_EQ(
      run("groma place - --machine nodes=2,gpu=2 --task work --domain 4x2 --svg " + path, kBlock)
          .exit_code,
      0);
  const std::string svg = test::read_text(path);
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  // The coordinates of rows and columns, which count from the launch's corner.
  EXPECT_THAT(svg, HasSubstr(">coordinate 0 runs down, coordinate 1 runs to the right<"));
  for (const char* number : {">0<", ">1<", ">2<", ">3<"}) EXPECT_THAT(svg, HasSubstr(number));
  EXPECT_THAT(svg, Not(HasSubstr(">4<")));
  EXPECT_THAT(svg, Not(HasSubstr("layer")));
  const std::string cube =
      "def f(Task task) { return Machine(GPU)[0, 0]; }\nIndexTaskMap work f;\n";
  ASSERT_EQ(
      run("groma place - --task work --domain 2x3x4 --lower 7x0x-1 --svg " + path, cube).exit_code,
      0);
  const std::string layers = test::read_text(path);
  EXPECT_THAT(layers, HasSubstr(">layer (7)<"));
  EXPECT_THAT(layers, HasSubstr(">layer (8)<"));
  EXPECT_THAT(layers, HasSubstr(">-1<"));
  const Outcome outcome =
      run("groma place - --task work --domain 4x2 --svg /nonexistent/a.svg", kBlock);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write `/nonexistent/a.svg`"));
}

TEST(Place, ColoursOnlyTerminals) {
  const std::string ask =
      "groma place dsl/strategies/strategy10.mapper --task calculate_new_currents --domain 8";
  EXPECT_EQ(run(ask).out.find('\x1b'), std::string::npos);
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  EXPECT_NE(run("script -qec '" + ask + "' /dev/null").out.find("\x1b[48;5;"), std::string::npos);
  EXPECT_EQ(run("NO_COLOR=1 script -qec '" + ask + "' /dev/null").out.find("\x1b[48;5;"),
            std::string::npos);
}

TEST(Place, CtrlCEndsWith130) {
  // A launch that takes seconds, interrupted after a while.
  const std::string slow =
      "m = Machine(GPU);\ndef f(Task t) {\n  x = tuple(i * i for i in t.ispace[0:1] + 0);\n"
      "  y = tuple(tuple(a + b for a in (1, 2, 3, 4, 5, 6, 7, 8)) for b in (1, 2, 3, 4, 5, 6, 7, "
      "8));\n"
      "  return m[0, 0];\n}\nIndexTaskMap work f;\n";
  const TemporaryFolder folder;
  const std::string path = folder.write("slow.mapper", slow);
  const Outcome outcome = run("timeout -s INT --preserve-status 0.5 groma place " + path +
                              " --task work --domain 1048576 --json");
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.out, "");
}

// `p` and `q` both launch `u`, `q` over two dimensions.
constexpr std::string_view kTwoParents = R"({
  "name": "parents", "top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU"}],
     "body": [{"launch": "p", "domain": [4]}, {"launch": "q", "domain": [4]}]},
    {"name": "p", "variants": [{"kind": "CPU"}], "body": [{"launch": "u", "domain": [8]}]},
    {"name": "q", "variants": [{"kind": "CPU"}], "body": [{"launch": "u", "domain": [4, 2]}]},
    {"name": "u", "variants": [{"kind": "GPU", "flops": "1000000000000"}]}]})";

// Launches to which different statements apply are counted apart: no place is lost, and none is
// taken by the other launches.
TEST(Run, LimitsOfSelectorsAreKeptApart) {
  const TemporaryFolder folder;
  const std::string app = folder.write("app.json", std::string(kTwoParents));
  const auto seconds = [&](const std::string& mapping) {
    const Outcome outcome = run("groma run - --machine p100x4 --json --app " + app, mapping);
    EXPECT_EQ(outcome.exit_code, 0) << mapping << outcome.out;
    const json found = json::parse(outcome.out, nullptr, false);
    return found.is_object() ? found.value("seconds", 0.0) : 0.0;
  };
  const double one = seconds("") * 4 / 64;  // of one instance: 64 instances on 4 GPUs
  EXPECT_GT(seconds("InstanceLimit p > u 1; InstanceLimit q > u 1 Machine"), 0);
  EXPECT_GT(seconds("InstanceLimit p > u 2; InstanceLimit q > u 1 SAME_NODE"), 0);
  EXPECT_GT(seconds("InstanceLimit p > u 1 Machine; InstanceLimit q > u 3 Machine"), 31 * one);
  EXPECT_GT(seconds("InstanceLimit u[dim=1] 1 Machine; InstanceLimit u[dim=2] 4 Machine"),
            31 * one);
}

TEST(Place, TakesAPathOfTasks) {
  const TemporaryFolder folder;
  const std::string app = " --app " + folder.write("app.json", std::string(kTwoParents));
  const std::string mapping =
      "def f(Task t) { return Machine(GPU)[0, 0] }\ndef g(Task t) { return Machine(GPU)[0, 1] }\n"
      "Task * GPU, CPU\nIndexTaskMap u f\nIndexTaskMap main > q > u g\n";
  const auto placed = [&](const std::string& options) {
    const Outcome outcome = run("groma place - --machine p100x4 " + options, mapping);
    return outcome.out + outcome.err;
  };
  EXPECT_THAT(placed("--task u --domain 4"), HasSubstr("by f"));
  EXPECT_THAT(placed("--task 'main>q >  u' --domain 4"), HasSubstr("by g"));
  EXPECT_THAT(placed("--task 'q > u' --domain 4"), HasSubstr("by f"));
  // The launch of the path, with all tasks above it.
  EXPECT_THAT(placed("--task 'q > u'" + app), AllOf(HasSubstr("by g"), HasSubstr("4 x 2")));
  EXPECT_THAT(placed("--task 'p > u'" + app), AllOf(HasSubstr("by f"), HasSubstr("8 points")));
  EXPECT_THAT(placed("--task 'u > p'" + app), HasSubstr("has no task `u > p`"));
  EXPECT_THAT(placed("--task 'q > *' --domain 4"), HasSubstr("does not name one task"));
  EXPECT_THAT(placed("--task 'u[dim=2]' --domain 4"), HasSubstr("does not name one task"));
}

TEST(Explain, TakesAPatternOrASelector) {
  const TemporaryFolder folder;
  const std::string app = folder.write("app.json", std::string(kTwoParents));
  const auto tasks = [&](const std::string& asked) {
    return run("groma explain - --machine p100x4 --app " + app + " --task '" + asked + "'",
               "Task * GPU, CPU")
        .out;
  };
  EXPECT_THAT(tasks("q > u"), AllOf(HasSubstr("task u, launched by q"), Not(HasSubstr("by p"))));
  EXPECT_THAT(tasks("u[dim=1]"), AllOf(HasSubstr("8 points"), Not(HasSubstr("4 x 2"))));
  EXPECT_THAT(tasks("*"), AllOf(HasSubstr("task main"), HasSubstr("task u")));
}

TEST(Explain, SaysWhoDecidedAndWhoWasBeaten) {
  const Outcome outcome = run(
      "groma explain - --app docs/examples/circuit.json --task update_voltages --region rp_shared",
      "Task update_voltages GPU; Task * CPU; Region * rp_shared GPU SOCKMEM, ZCMEM;");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no GPU of `p100x4` can address SOCKMEM"));
  EXPECT_EQ(outcome.out,
            "circuit on p100x4, decided by <stdin>\n"
            "\n"
            "task update_voltages\n"
            "  kind GPU\n"
            "    by <stdin>:1:1: Task update_voltages GPU\n"
            "    over <stdin>:1:27: Task * CPU (less specific)\n"
            "  index launch of 64 points: blocks over all GPU; 16 points on each of 4 GPU\n"
            "    by the default mapper\n"
            "  region 2 rp_shared, all_shared, read-only\n"
            "    SOCKMEM: no, GPU cannot address it\n"
            "      by <stdin>:1:39: Region * rp_shared GPU SOCKMEM, ZCMEM\n"
            "    ZCMEM\n"
            "      by <stdin>:1:39: Region * rp_shared GPU SOCKMEM, ZCMEM\n"
            "      layout SOA F_order\n"
            "        by the default mapper\n"
            "  region 3 rp_shared, all_shared, read-write\n"
            "    SOCKMEM: no, GPU cannot address it\n"
            "      by <stdin>:1:39: Region * rp_shared GPU SOCKMEM, ZCMEM\n"
            "    ZCMEM\n"
            "      by <stdin>:1:39: Region * rp_shared GPU SOCKMEM, ZCMEM\n"
            "      layout SOA F_order\n"
            "        by the default mapper\n"
            "  no limit, not replicated, not stolen\n"
            "    by the default mapper\n");
}

TEST(Explain, WhatWouldFailEndsWith1AndIsStillExplained) {
  const Outcome outcome =
      run("groma explain - --app docs/examples/circuit.json", "Task * GPU; Task wire GPU;");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("[no-variant]"));
  EXPECT_THAT(outcome.err, HasSubstr("has no task `wire` [unknown-task]"));
  EXPECT_THAT(outcome.out, HasSubstr("kind: none, it can run nowhere"));
  const Outcome as_json =
      run("groma explain - --app docs/examples/circuit.json --json", "Task * GPU;");
  EXPECT_EQ(as_json.exit_code, 1);
  const json document = json::parse(as_json.out);
  EXPECT_EQ(document["diagnostics"][0]["id"], "no-variant");
  EXPECT_TRUE(document["tasks"][0]["kind"]["value"].is_null());
}

TEST(Explain, WrongInputsAreNamed) {
  const std::string program = "groma explain dsl/mappers/circuit_a5.mapper ";
  EXPECT_THAT(run(program + "--app circuits").err, HasSubstr("`circuits` [unknown-application]"));
  const Outcome unknown = run(program + "--app circuits --json");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(json::parse(unknown.out)["diagnostics"][0]["id"], "unknown-application");
  const Outcome bad = run(program + "--app -", R"({"tasks": [{"nam": "t"}]})");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.err,
            "<stdin>: error: /tasks/0: no such key: `nam` [bad-application]\n"
            "help: did you mean `name`?\n");
  EXPECT_THAT(run(program + "--app docs/examples/none.json").err, HasSubstr("[unreadable-file]"));
  EXPECT_THAT(run(program + "--app docs/examples/circuit.json --region all_sharde").err,
              HasSubstr("[unknown-region]\nhelp: did you mean `all_shared`?"));
  const Outcome broken = run("groma explain - --app docs/examples/circuit.json --json", "Task;");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_FALSE(json::parse(broken.out).contains("tasks"));
}

TEST(Explain, WrongUsageIsToldFromWrongInput) {
  EXPECT_EQ(run("groma explain dsl/mappers/circuit_a5.mapper").exit_code, 2);
  EXPECT_EQ(run("groma explain --app docs/examples/circuit.json").exit_code, 2);
  EXPECT_EQ(run("groma explain - --app -").exit_code, 2);
  const std::string as_mapping = "groma explain --as-mapping --app docs/examples/circuit.json ";
  EXPECT_EQ(run(as_mapping + "--json").exit_code, 2);
  for (const std::string name : {"--task", "--region"}) {
    const Outcome ignored = run("groma explain - --log run.log " + name + " nosuch", "");
    EXPECT_EQ(ignored.exit_code, 2);
    EXPECT_THAT(ignored.err, HasSubstr(name + ": only valid with --app"));
  }
}

// A FILE that stands there, as in other calls, is not an error; nor does it change anything in
// silence.
TEST(Explain, TheDefaultMapperAsAProgramReadsNoFile) {
  const std::string as_mapping = " --as-mapping --app docs/examples/circuit.json";
  const Outcome without = run("groma explain" + as_mapping);
  EXPECT_EQ(without.err, "");
  const Outcome with = run("groma explain dsl/mappers/circuit_a5.mapper" + as_mapping);
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(
      with.err,
      "note: `dsl/mappers/circuit_a5.mapper` was not read, because --as-mapping prints what the "
      "default mapper decides\n");
}

TEST(Explain, TheDefaultMapperAsAProgramCanBeCheckedAndPlaced) {
  const TemporaryFolder folder;
  const std::string program = folder.path() + "/default.mapper";
  const std::string machine = " --machine p100x4:nodes=2 ";
  EXPECT_EQ(run("groma explain --as-mapping --app docs/examples/solomonik.json" + machine + "> " +
                program)
                .exit_code,
            0);
  EXPECT_EQ(run("groma check " + program + machine).out, "no errors, no warnings in 1 file\n");
  EXPECT_EQ(run("groma format --check " + program).exit_code, 0);
  const Outcome placed =
      run("groma place " + program + machine + "--task task_1 --domain 4x4x2 --json");
  EXPECT_EQ(json::parse(placed.out)["loads"]["min"], 4);
  const Outcome explained =
      run("groma explain " + program + machine + "--app docs/examples/solomonik.json");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("4 x 4 x 2 points: blocks_GPU_3d; 4 points on each of 8"));
}

TEST(Run, JsonHasTheContractsShape) {
  const Outcome fine = run("groma run dsl/mappers/cannon.mapper --app cannon:size=small --json");
  EXPECT_EQ(fine.exit_code, 0);
  const json done = json::parse(fine.out);
  EXPECT_EQ(done["status"], "ok");
  EXPECT_GT(done["seconds"].get<double>(), 0);
  EXPECT_GT(done["throughput"].get<double>(), 0);
  EXPECT_EQ(done["unit"], "FLOP/s");
  EXPECT_EQ(done["runtime"], "simulator");
  EXPECT_TRUE(done["profile"].contains("path"));
  EXPECT_EQ(done["diagnostics"], json::array());

  const Outcome wrong = run("groma run - --app cannon --json", "Task * GPUS;");
  EXPECT_EQ(wrong.exit_code, 1);
  const json unread = json::parse(wrong.out);
  EXPECT_EQ(unread["status"], "error");
  EXPECT_EQ(unread["stage"], "check");
  EXPECT_EQ(unread["raw"], unread["diagnostics"][0]["message"]);

  const Outcome refused =
      run("groma run - --app cannon --json", "Task * CPU;\nTask top_level CPU;\n");
  EXPECT_EQ(refused.exit_code, 1);
  const json unmapped = json::parse(refused.out);
  EXPECT_EQ(unmapped["stage"], "map");
  EXPECT_EQ(unmapped["diagnostics"][0]["id"], "no-variant");
  EXPECT_EQ(unmapped["diagnostics"][0]["start"]["line"], 1);
}

TEST(Run, DataThatIsMissingIsSaidWhere) {
  const std::string app = R"({"top_level": "main", "tasks": [
    {"name": "main", "variants": [{"kind": "CPU"}], "body": [{"launch": "a", "domain": [4]}]},
    {"name": "a", "variants": [{"kind": "CPU"}], "requirements": [{"privilege": "read-only"}]}]})";
  const Outcome outcome = run("groma run --app -", app);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("its requirement 0 has no `data` [cannot-run]\n"
                                     "note: /tasks/1/requirements/0 of the application\n"
                                     "note: point (0) of a launch of `a` over 4, on CPU (0, 0)\n"
                                     "help: `data` names the region or partition"));
  const TemporaryFolder folder;
  const Outcome check =
      run("groma check - --machine p100x4 --app " + folder.write("a.json", app), "Task * CPU;");
  EXPECT_THAT(check.out, HasSubstr("requirement 0 of `a` (/tasks/1/requirements/0) has no `data`"));
}

// What is wanted is what an instance takes, its padding included.
TEST(Run, NoRoomIsSaidOfWholeInstances) {
  EXPECT_THAT(run("groma run - --app cannon:size=small", "Layout * * * Align==1099511627776;").err,
              HasSubstr("(needs 1.00 TiB, has "));
}

// What run refuses, check refuses in the same words.
TEST(Run, SaysWhatCheckSays) {
  const auto first = [](const std::string& text) {
    const std::size_t from = text.find(": error:");
    return text.substr(from, text.find("\n<stdin>", from) - from + 1);
  };
  const std::string_view programs[] = {"Task * GPU,OMP,CPU; Region * * GPU SYSMEM;", "Task * CPU;",
                                       "Task * GPU,OMP,CPU; Region * * * VIRTUAL;",
                                       "Task * GPU,OMP,CPU; Region * * GPU FBMEM;"};
  for (const std::string_view program : programs) {
    const std::string with = " - --machine p100x4 --app cannon:n=100000";
    const Outcome ran = run("groma run" + with, std::string(program));
    EXPECT_EQ(ran.exit_code, 1) << program;
    const std::string said = first(ran.err);
    EXPECT_THAT(said, HasSubstr("note: ")) << program;
    EXPECT_THAT(said, HasSubstr("help: ")) << program;
    EXPECT_THAT(run("groma check" + with, std::string(program)).out, HasSubstr(said));
  }
  EXPECT_THAT(run("groma run - --app cannon --machine nodes=1,gpu=0", "Task * GPU,CPU;").err,
              HasSubstr("help: take a machine that has `GPU`\n"));
}

TEST(Run, NamesThatTheApplicationLacksAreWarnedOf) {
  const Outcome outcome = run("groma run - --app stencil --json", "Task stencl GPU,CPU;");
  EXPECT_EQ(outcome.exit_code, 0);
  const json document = json::parse(outcome.out);
  EXPECT_THAT(document["diagnostics"].dump(), HasSubstr("stencl"));
  EXPECT_THAT(run("groma run - --app stencil", "Task stencl GPU,CPU;").err,
              HasSubstr("did you mean `stencil`"));
}

TEST(Run, WritesWhatItIsAskedFor) {
  const TemporaryFolder folder;
  const std::string trace = folder.path() + "/t.json", page = folder.path() + "/p.html";
  const std::string call = "groma run --app cosma:size=small --trace " + trace;
  EXPECT_EQ(run(call + " --report " + page).exit_code, 0);
  EXPECT_TRUE(json::parse(test::read_text(trace)).contains("traceEvents"));
  EXPECT_THAT(test::read_text(page), HasSubstr("</html>"));
  const Outcome nowhere = run("groma run --app cosma:size=small --trace " + trace + "/x");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr(trace + "/x"));
}

// The page begins with the sentences that the command prints.
TEST(Run, ThePageExplainsTheRun) {
  const TemporaryFolder folder;
  folder.write("slow.mapper", "Task * GPU, CPU;\nRegion * * GPU ZCMEM;\n");
  const std::string path = folder.path() + "/p.html";
  const Outcome outcome = run("groma run " + folder.path() +
                              "/slow.mapper --app circuit:size=small --json --report " + path);
  EXPECT_EQ(outcome.exit_code, 0);
  const json document = json::parse(outcome.out);
  const std::string page = test::read_text(path);
  std::string head = page.substr(0, page.find("</header>"));
  EXPECT_THAT(head, HasSubstr("a <b>simulated</b> run"));
  EXPECT_THAT(head, HasSubstr("mapped by <b>slow.mapper</b>"));
  // The page shows words in backticks as code.
  head = std::regex_replace(head, std::regex("</?code>"), "`");
  ASSERT_FALSE(document["explain"].empty());
  ASSERT_FALSE(document["suggest"].empty());
  for (const char* list : {"explain", "suggest"}) {
    for (const json& sentence : document[list]) {
      // The page shows the file's name without its folder, and below a suggestion what changes.
      std::string words = sentence.get<std::string>();
      if (words.starts_with(folder.path())) words.erase(0, folder.path().size() + 1);
      EXPECT_THAT(head, HasSubstr("<li>" + words));
    }
  }
}

TEST(Run, TheSameSeedIsTheSameRun) {
  const std::string call = "groma run --app cosma:size=small --noise 0.2 --json --seed ";
  const std::string once = run(call + "1").out;
  EXPECT_EQ(run(call + "1").out, once);
  EXPECT_NE(run(call + "2").out, once);
}

TEST(Run, FitsIntoMemory) {
  const Outcome found = run("groma run --app cannon:n=200000 --fit --json");
  EXPECT_EQ(found.exit_code, 1);  // that size does not run
  const json fit = json::parse(found.out)["fit"];
  const auto n = fit["parameters"]["n"].get<std::int64_t>();
  EXPECT_EQ(fit["beyond"]["parameters"]["n"], n + 1);
  EXPECT_EQ(run("groma run --app cannon:n=" + std::to_string(n)).exit_code, 0);
  EXPECT_EQ(run("groma run --app cannon:n=" + std::to_string(n + 1)).exit_code, 1);
  EXPECT_THAT(run("groma run --app cannon --fit --grow m").err, HasSubstr("no parameter `m`"));
}

TEST(Run, FitSaysItsErrorsAsRunDoes) {
  const Outcome outcome = run("groma run --app cannon:size=small --fit --grow m --json");
  EXPECT_EQ(outcome.exit_code, 1);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["status"], "ok");
  EXPECT_FALSE(document.contains("fit"));
  EXPECT_EQ(document["diagnostics"][0]["message"], "--fit: `cannon` has no parameter `m`");
}

// A loop that would go round for days ends at the time that is given, and says so.
TEST(Run, EndsAtItsTime) {
  const std::string app = R"({"name": "long", "top_level": "m", "tasks": [
    {"name": "m", "variants": [{"kind": "CPU"}],
     "body": [{"repeat": 1000000000, "body": [{"launch": "w"}]}]},
    {"name": "w", "variants": [{"kind": "CPU"}]}]})";
  const Outcome outcome = run("groma run --app - --time 0.2 --json", app);
  EXPECT_EQ(outcome.exit_code, 1);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["raw"], "the run takes longer than `--time` allows");
  EXPECT_EQ(document["diagnostics"][0]["id"], "cannot-run");
  ASSERT_EQ(document["suggest"].size(), 1U);
  EXPECT_THAT(document["suggest"][0], HasSubstr("Allow more time"));
  EXPECT_EQ(run("groma run --app cannon --time 0").exit_code, 2);
}

TEST(Run, WrongUsageIsToldFromWrongInput) {
  EXPECT_EQ(run("groma run dsl/mappers/cannon.mapper").exit_code, 2);
  EXPECT_EQ(run("groma run - --app -").exit_code, 2);
  for (const char* option :
       {"--noise 2", "--noise nan", "--time nan", "--time -1", "--time ''", "--seed -1",
        "--seed 18446744073709551616", "--grow n", "--trace -", "--trace /tmp/x --report /tmp/x"}) {
    EXPECT_EQ(run(std::string("groma run --app cannon ") + option).exit_code, 2) << option;
  }
  EXPECT_EQ(run("groma check - --app -:n=8 --machine p100x4").exit_code, 2);
  EXPECT_EQ(run("groma run --app cannon --fit --grow n,n").exit_code, 1);
  EXPECT_EQ(run("groma run --app canon").exit_code, 1);
}

TEST(Run, WhatStandsBehindTheDashesIsSaid) {
  const auto expect = [](const std::string& words, const std::string& text) {
    const Outcome outcome = run("groma " + words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(text)) << words;
  };
  expect("run --app cannon -- -ll:cpu 2", "--on legion");
  expect("run --app cannon -- ./program", "--map FILE -- PROGRAM");
  expect("run --map x.mapper ./program", "--map x.mapper -- ./program");
  expect("run ./program -ll:cpu 2", "not expected: -ll:cpu 2\nhelp: ");
  expect("run ./program -ll:cpu 2", "groma run --map FILE -- PROGRAM ARGS");
  expect("record ./program -n 4",
         "help: put the program and its arguments after `--`: groma "
         "record -- ./program -n 4\n");
  expect("tune --app cannon ./program -n 4", "--verify -- PROGRAM ARGS");
  expect("check a.mapper --nosuch", "not expected: --nosuch\nRun with --help");
  EXPECT_THAT(run("groma record --help").out,
              HasSubstr("groma record [OPTIONS] -- PROGRAM ARGS\n"));
  EXPECT_THAT(run("groma tune --help").out, HasSubstr("--verify -- PROGRAM ARGS]\n"));
}

TEST(Run, WithoutALibraryForLegionSaysSo) {
  const Outcome outcome =
      run("d=$(mktemp -d) && cp \"$(command -v groma)\" $d && echo 'Task * CPU;' > $d/my.mapper && "
          "$d/groma run --map $d/my.mapper -- true; code=$?; rm -r $d; exit $code");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("this build has no library for Legion programs"));
}

// The command then needs no library of its own: it goes on to look for the program.
TEST(Tune, VerifiesWithTheLibraryThatIsNamed) {
  const Outcome outcome =
      run("d=$(mktemp -d) && cp \"$(command -v groma)\" $d && $d/groma tune --app cannon "
          "--library $d/groma --verify -- $d/nosuch; code=$?; rm -r $d; exit $code");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/nosuch` that can be run"));
}

TEST(Run, ALibraryIsLookedForInAFolderThatIsGone) {
  const TemporaryFolder folder;
  const std::string map = folder.write("my.mapper", "Task * CPU;\n");
  const std::string gone = folder.path() + "/gone";
  const Outcome outcome = run("mkdir " + gone + " && cd " + gone + " && rmdir " + gone +
                              " && groma run --map " + map + " --library lib.so -- true");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no `lib.so`"));
}

// Without a Legion: the program says itself what the library would say. The loader ignores a
// library that is none.
TEST(Run, TakesAProgramAndALibrary) {
  const TemporaryFolder folder;
  const std::string map = "groma run --map " + folder.write("my.mapper", "Task * CPU;\n") +
                          " --library " + folder.write("none.so", "none") + " --json -- ";
  const std::string set = "XDG_CACHE_HOME=" + folder.path() + " ";
  const std::string says =
      "sh -c 'echo groma: mapped by me >&2; echo; echo \"$GROMA_MAPPING\" >&2; ";
  const Outcome fine = run(set + map + says + "echo $LEGION_DEFAULT_ARGS >&2'");
  EXPECT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_THAT(fine.err,
              ::testing::AllOf(HasSubstr("my.mapper\nTask * CPU;\n"), HasSubstr("safe_mapper")));
  const json done = json::parse(fine.out);
  EXPECT_EQ(done.at("status"), "ok");
  EXPECT_EQ(done.at("checked"), true);
  for (const bool first : {true, false}) {  // with other arguments it is another program
    EXPECT_EQ(json::parse(run(set + map + says + "true'").out).at("checked"), first);
  }
  const Outcome failed = run(set + map + says + "kill -SEGV $$'");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(json::parse(failed.out).at("stage"), "execute");
  EXPECT_EQ(json::parse(failed.out).at("exit_code"), 139);
  EXPECT_EQ(json::parse(run(set + map + "true").out).at("stage"), "map");
  // How it ended, where no Legion was started.
  EXPECT_THAT(run(set + map + "sh -c 'kill -SEGV $$'").out, HasSubstr("signal 11 ended it"));
  EXPECT_THAT(run(set + map + "sh -c 'exit 3'").out, HasSubstr("it ended with exit code 3"));
  EXPECT_THAT(run(set + map + "true").out, ::testing::Not(HasSubstr("ended it")));
  // What it measures of itself, the last time that it does.
  const json measured =
      json::parse(run(set + map + says + "echo elapsed 9 ms; echo elapsed 268.246 ms'").out);
  EXPECT_DOUBLE_EQ(measured.at("score").at("value").get<double>(), 0.268246);
  EXPECT_EQ(measured.at("score").at("unit"), "s");
  // Two of them leave one log.
  const std::string twice = "sh -c 'for i in 1 2; do echo groma: mapped by me >&2; done'";
  const std::string log = " --log " + folder.path() + "/run.log -- ";
  const std::string logs = std::string(map).replace(map.find(" -- "), 4, log);
  EXPECT_THAT(run(set + logs + twice).err,
              HasSubstr("Legion was started 2 times; the log is from only one of these runs\n"));
  EXPECT_THAT(run(set + map + twice).err, ::testing::Not(HasSubstr("2 times")));
  EXPECT_THAT(run(set + logs + says + "true'").err, ::testing::Not(HasSubstr("times:")));
}

TEST(Run, CtrlCEndsWith130) {
  const Outcome outcome =
      run("timeout -s INT --preserve-status 0.5 groma run --app "
          "stencil:nodes=1000,loops=100000 --machine lassen:nodes=1000 --json");
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.out, "");
}

TEST(Diff, JsonHasBothRunsAndWhatDiffers) {
  const Outcome outcome =
      run("groma diff - dsl/mappers/cannon.mapper --app cannon:size=small --json",
          "Region * * GPU ZCMEM;");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["a"]["status"], "ok");
  EXPECT_EQ(found["b"]["status"], "ok");
  ASSERT_FALSE(found["differences"].empty());
  for (const json& each : found["differences"]) {
    EXPECT_TRUE(each.contains("seconds") || each.contains("alone")) << each;
  }
}

TEST(Diff, OneThatDoesNotRunEndsWith1) {
  const Outcome outcome = run("groma diff - --app cannon:size=small", "Task * CPU;");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("B does not run"));
  EXPECT_THAT(outcome.err, HasSubstr("[no-variant]"));
  EXPECT_EQ(run("groma diff --app cannon").exit_code, 2);
  EXPECT_EQ(run("groma diff - - --app cannon").exit_code, 2);
  EXPECT_EQ(run("groma diff a.mapper --app cannon").exit_code, 1);
}

TEST(Machines, ListsShowsAndRoundTrips) {
  EXPECT_THAT(run("groma machines").out, HasSubstr("lassen"));
  EXPECT_THAT(run("groma machines lassen:nodes=16").out, HasSubstr("16 nodes"));
  const TemporaryFolder folder;
  const std::string path = folder.write("m.json", run("groma machines summit:nodes=3 --json").out);
  EXPECT_EQ(run("groma machines " + path + " --json").out,
            run("groma machines summit:nodes=3 --json").out);
  EXPECT_EQ(run("groma machines local --json").exit_code, 0);
  const json names = json::parse(run("groma machines --json").out)["machines"];
  EXPECT_THAT(run("groma machines").out, HasSubstr(names[0]["name"].get<std::string>()));
  const Outcome unknown = run("groma machines sumit");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("`summit`"));
}

// The file that `local` reads is written, used, and not replaced unless asked.
TEST(Calibrate, WritesTheMachineThatLocalReads) {
  const TemporaryFolder folder;
  const std::string config = "XDG_CONFIG_HOME=" + folder.path() + " ";
  const std::string path = folder.path() + "/groma/local.machine.json";
  const Outcome first = run(config + "groma machines calibrate --seconds 0.1");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("core memory bandwidth"));
  EXPECT_THAT(first.out, HasSubstr("\nwritten to " + path + ", which `--machine local` reads\n"));
  const json machine = json::parse(test::read_text(path));
  EXPECT_GE(machine["measured"]["figures"].size(), 10U);
  EXPECT_EQ(run(config + "groma machines local --json").out, test::read_text(path));
  EXPECT_THAT(run(config + "groma machines local").out,
              HasSubstr("Measured figures and where they come from\n  core memory bandwidth"));

  const Outcome second = run(config + "groma machines calibrate --seconds 0.1");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.err, "groma: the file `" + path +
                            "` exists\nhelp: `--force` replaces it; or name another file\n");
  folder.write("groma/local.machine.json", "{");
  const Outcome damaged = run(config + "groma machines local");
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("groma machines calibrate --force"));
  // A measurement takes seconds, so this one also shows what --json prints.
  const Outcome again = run(config + "groma machines calibrate --force --seconds 0.1 --json");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, test::read_text(path));
  EXPECT_EQ(run(config + "groma machines local --json").out, again.out);
}

TEST(Calibrate, WritesToStandardOutput) {
  const Outcome out = run("groma machines calibrate - --seconds 0.1");
  EXPECT_EQ(out.exit_code, 0) << out.err;
  EXPECT_TRUE(json::parse(out.out).contains("measured"));
}

TEST(Calibrate, RefusesBeforeItMeasures) {
  const TemporaryFolder folder;
  EXPECT_EQ(run("groma machines calibrate --seconds 0").exit_code, 2);
  EXPECT_EQ(run("groma machines calibrate --seconds nan").exit_code, 2);
  EXPECT_EQ(run("groma machines calibrate --sideways").exit_code, 2);
  const Outcome nowhere = run("groma machines calibrate " + folder.path() + "/no/such/m.json");
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("name another file"));
  const std::string gpu = folder.write("gpu.json", "{\"gpu\": 3}");
  const Outcome wrong = run("groma machines calibrate - --gpu " + gpu);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("`" + gpu + "`: `figures` is missing"));
  EXPECT_EQ(run("groma machines calibrate " + gpu + " --force --gpu " + gpu).exit_code, 2);
  EXPECT_THAT(run("groma machines calibrate --help").out, HasSubstr("Examples:"));
}

TEST(Apps, ListsAndShows) {
  const Outcome all = run("groma apps");
  EXPECT_EQ(all.exit_code, 0);
  for (const Benchmark& benchmark : built_in_applications()) {
    const std::string name(benchmark.name);
    EXPECT_THAT(all.out, HasSubstr(name + " "));
    const Outcome one = run("groma apps " + name);
    EXPECT_EQ(one.exit_code, 0);
    for (const AppTask& task : benchmark.make().tasks) {
      EXPECT_THAT(one.out, HasSubstr("  " + task.name + ": "));
    }
    const Outcome written = run("groma apps " + name + " --json");
    EXPECT_EQ(nlohmann::json::parse(written.out)["name"], name);
  }
  const Outcome unknown = run("groma apps canon");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean `cannon`?"));
  const json names = json::parse(run("groma apps --json").out)["applications"];
  EXPECT_EQ(names.size(), built_in_applications().size());
  EXPECT_EQ(names.back()["name"], "cholesky");
  EXPECT_EQ(names[0]["name"], benchmarks()[0].name);
  EXPECT_EQ(names[0]["summary"], benchmarks()[0].summary);
}

TEST(Apps, TakesWhateverAppTakes) {
  const Outcome file = run("groma apps docs/examples/circuit.json:size=small");
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_THAT(file.out, HasSubstr("  nodes       = 5000        nodes of a piece\n"));
  const Outcome with = run("groma apps cannon:nodes=4 --json");
  EXPECT_EQ(json::parse(with.out)["parameters"][0]["value"], 4);
  EXPECT_THAT(run("groma apps no/such.json").err, HasSubstr("[unreadable-file]"));
}

// A piece of a piece stands below it; what is too long to be read is cut, and said to be.
TEST(Apps, ShowsAllOfAnApplication) {
  const Outcome outcome = run("groma apps -", R"({
    "parameters": [{"name": "n", "value": 8}],
    "definitions": [{"name": "long", "value": "n)" +
                                                  std::string(200, ' ') + R"(+ 1"}],
    "regions": [{"name": "r", "extents": ["n + 1", 4]}],
    "partitions": [{"name": "halves", "of": "r", "colors": [2, 1]},
                   {"name": "quarters", "of": "halves", "colors": [1, 2]}],
    "tasks": [{"name": "t", "variants": [{"kind": "CPU"}],
               "requirements": [{"privilege": "read-only", "names": ["some\u001b[2Jname"]}]}]})");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  r                     (n + 1) x 4: \n"
                                     "    halves              colors 2 x 1\n"
                                     "      quarters            colors 1 x 2 of each\n"));
  EXPECT_THAT(outcome.out, HasSubstr("(204 characters in all: see --json)"));
  EXPECT_THAT(outcome.out, HasSubstr("some\\u001b[2Jname"));
}

TEST(Apps, MarksNamesThatNoMappingCanUse) {
  const Outcome outcome = run("groma apps -", R"({
    "regions": [{"name": "region_1", "unnamed": true, "extents": [8],
                 "fields": [{"name": "v"}]}],
    "partitions": [{"name": "tiles_2", "aliases": ["tiles"], "unnamed": true, "of": "region_1",
                    "colors": [4]},
                   {"name": "rows", "of": "region_1", "colors": [2]}],
    "tasks": [{"name": "t", "variants": [{"kind": "CPU"}],
               "requirements": [{"privilege": "read-only", "data": "tiles_2"},
                                {"privilege": "read-only", "data": "rows"},
                                {"privilege": "read-only", "data": "rows", "names": ["r"]}]}]})");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      HasSubstr("  region_1              8: v  (unnamed: a mapping writes the position)\n"
                "    tiles_2             colors 4  (unnamed: a mapping writes `tiles` or the "
                "position)\n"
                "    rows                colors 2\n"));
  EXPECT_THAT(outcome.out, HasSubstr("    0 read-only     tiles_2 (unnamed): v\n"
                                     "    1 read-only     rows: v\n"
                                     "    2 read-only     r (rows): v\n"));
}

TEST(Apps, EveryValueStandsThereOnce) {
  const auto said = [](const std::string& spec) {
    const Outcome outcome = run("groma apps " + spec);
    EXPECT_EQ(outcome.exit_code, 1) << spec;
    return outcome.err;
  };
  EXPECT_EQ(said("cannon:n=16,n=32"),
            "cannon:n=16,n=32: error: `n` has two values [bad-application]\n");
  EXPECT_THAT(said("cannon:size=small,size=small"), HasSubstr("`size` has two values"));
  EXPECT_EQ(said("cannon:n"),
            "cannon:n: error: `n` has no value [bad-application]\nhelp: it is written `n=4000`\n");
  EXPECT_THAT(said("cannon:size"), HasSubstr("`size=small`"));
  EXPECT_THAT(said("cannon:"), HasSubstr("no values stand behind the colon of `cannon:`"));
  EXPECT_THAT(said("docs/examples/circuit.json:pieces"), HasSubstr("`pieces=64`"));
  // A size gives what nothing else does, wherever it stands.
  EXPECT_EQ(run("groma apps cannon:n=32,size=small").out,
            run("groma apps cannon:size=small,n=32").out);
}

TEST(Strategies, ListsAndPrintsTexts) {
  EXPECT_THAT(run("groma strategies").out, HasSubstr("strategy10"));
  for (int i = 1; i <= 10; ++i) {
    const std::string name = (i < 10 ? "strategy0" : "strategy") + std::to_string(i);
    const Outcome outcome = run("groma strategies " + name + " | groma check -");
    EXPECT_EQ(outcome.exit_code, 0) << name << outcome.out;
  }
  EXPECT_EQ(run("groma strategies strategy11").exit_code, 1);
  const json names = json::parse(run("groma strategies --json").out)["strategies"];
  ASSERT_EQ(names.size(), 10U);
  EXPECT_EQ(names[9]["name"], "strategy10");
  const json one = json::parse(run("groma strategies strategy10 --json").out);
  EXPECT_EQ(one["text"], run("groma strategies strategy10").out);
}

TEST(Sample, DrawsMappingsThatRunAndThatDoNot) {
  const std::string first = "groma sample --app cannon:size=small --seed ";
  EXPECT_EQ(run(first + "7").out, run(first + "7").out);
  EXPECT_NE(run(first + "7").out, run(first + "8").out);
  EXPECT_THAT(run(first + "7").out, HasSubstr("# Drawn at random, seed 7.\n"));
  EXPECT_THAT(run(first + "7 --grain arguments").out, HasSubstr("Region task_1 0 GPU "));
  int passed = 0, refused = 0;
  for (int seed = 0; seed < 30 && (passed == 0 || refused == 0); ++seed) {
    const Outcome checked = run(first + std::to_string(seed) +
                                " | groma check - --machine p100x4 --app cannon:size=small");
    ++(checked.exit_code == 0 ? passed : refused);
    EXPECT_LE(checked.exit_code, 1) << checked.out;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(run("groma sample").exit_code, 2);
  EXPECT_EQ(run("groma sample --app nosuch").exit_code, 1);
}

TEST(Sample, ListsTheDecisionsAndWritesAChosenMapping) {
  const std::string command = "groma sample --app cannon:size=small";
  const json space = json::parse(run(command + " --seed 7 --json").out);
  EXPECT_EQ(space["mapping"], run(command + " --seed 7").out);
  EXPECT_EQ(space["decisions"][0]["head"], "Task init_cublas");
  EXPECT_THAT(space["decisions"][0]["options"].dump(), HasSubstr(R"("","CPU","GPU")"));
  std::string drawn, first_options;
  for (const json& option : space["choice"]) {
    drawn += (drawn.empty() ? "" : ",") + option.dump();
    first_options += first_options.empty() ? "0" : ",0";
  }
  EXPECT_EQ("# Drawn at random, seed 7.\n\n" + run(command + " --choice " + drawn).out,
            space["mapping"]);
  const Outcome valid = run(command + " --choice " + first_options + " | groma check -");
  EXPECT_EQ(valid.exit_code, 0) << valid.out;
  const Outcome few = run(command + " --choice 0,1 2>&1");
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_THAT(few.out, HasSubstr("--choice has 2 numbers, but the search space has "));
  const Outcome large = run(command + " --choice 99" + first_options.substr(1) + " 2>&1");
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.out, HasSubstr("decision 0 of --choice is 99, but `Task init_cublas` has "));
  EXPECT_EQ(run(command + " --choice 0,x").exit_code, 2);
  EXPECT_EQ(run(command + " --choice 0 --seed 1").exit_code, 2);
}

TEST(Grammar, PrintsEachNotation) {
  EXPECT_EQ(run("groma grammar").out, run("groma grammar --format ebnf").out);
  for (const char* format : {"ebnf", "gbnf", "lark"}) {
    EXPECT_EQ(run(std::string("groma grammar --format ") + format).out,
              test::read_text(std::string(GROMA_SOURCE_DIR) + "/dsl/grammar/groma." + format));
  }
  EXPECT_EQ(run("groma grammar --format yacc").exit_code, 2);
  const Outcome narrow = run("groma grammar --app circuit --machine nodes=1,gpu=0");
  EXPECT_THAT(narrow.out, HasSubstr("\"calculate_new_currents\" | "));
  EXPECT_THAT(narrow.out, HasSubstr("proc = \"CPU\""));
  EXPECT_THAT(narrow.out, Not(HasSubstr("FBMEM")));
  EXPECT_THAT(run("groma grammar --app circut").err, HasSubstr("did you mean `circuit`?"));
  EXPECT_EQ(run("groma grammar --machine mars").exit_code, 1);
}

TEST(Guide, ReadsFilesAndStandardInput) {
  const TemporaryFolder folder;
  const std::string log = folder.write("a.log", "x\nSlice processor index out of bound\n");
  const std::string other = folder.write("b.log", "mgpu not found\n");
  const json read = json::parse(run("groma guide " + log + " " + other + " --json").out);
  EXPECT_EQ(read["status"], "error");
  ASSERT_EQ(read["matches"].size(), 2U);
  EXPECT_EQ(read["matches"][0]["rule"], "dsl.slice_index");
  EXPECT_EQ(read["matches"][0]["line"], 2);
  EXPECT_EQ(read["matches"][0]["log"], log);
  EXPECT_EQ(read["matches"][1]["log"], other);
  const json piped =
      json::parse(run("groma guide - --json --exit-code 0", "Execution time is 2 s\n").out);
  EXPECT_EQ(piped["status"], "ok");
  EXPECT_EQ(piped["score"], json({{"value", 2.0}, {"unit", "s"}, {"higher_is_better", false}}));
  EXPECT_FALSE(piped.contains("fixes"));
}

TEST(Guide, NothingKnownIsFineUnlessStrict) {
  EXPECT_EQ(run("groma guide -", "nothing\n").exit_code, 0);
  EXPECT_THAT(run("groma guide -", "some text\n").out, HasSubstr("some text"));
  EXPECT_EQ(run("groma guide - --strict", "nothing\n").exit_code, 1);
  EXPECT_EQ(run("groma guide - --strict", "mgpu not found\n").exit_code, 0);
  EXPECT_EQ(run("groma guide --exit-code -11 --strict").exit_code, 0);
}

// What `groma run` prints of a run, whether it failed or not, is a profile or a log.
TEST(Guide, ReadsWhatRunPrints) {
  const std::string failing = "printf 'Task * GPU;' | groma run - --app circuit";
  const Outcome text = run(failing);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("[no-variant]"));
  EXPECT_THAT(text.out, HasSubstr("\nSuggest\n  <stdin>: in line 1 write `Task * GPU, OMP, CPU`"));
  const Outcome told = run(failing + " --json | groma guide --profile -");
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_THAT(told.out, HasSubstr("Execution Error: "));
  EXPECT_THAT(told.out, HasSubstr("can run on none of its kinds"));
  EXPECT_THAT(told.out, HasSubstr("in line 1 write `Task * GPU, OMP, CPU`"));
  const Outcome slow = run("groma run --app cannon --json | groma guide --profile - --json");
  EXPECT_THAT(slow.out, HasSubstr(R"({"status":"ok")"));
  EXPECT_THAT(slow.out, HasSubstr("simulated 2.6 times as fast"));
}

TEST(Guide, WrongUsageIsToldFromWrongInput) {
  EXPECT_EQ(run("groma guide").exit_code, 2);
  EXPECT_EQ(run("groma guide - --detail loud").exit_code, 2);
  EXPECT_EQ(run("groma guide - --program -").exit_code, 2);
  EXPECT_EQ(run("groma guide no/such.log").exit_code, 1);
  EXPECT_THAT(run("groma guide no/such.log").err, HasSubstr("cannot read `no/such.log`"));
  EXPECT_EQ(run("groma guide no/such.log").out, "");
  // A log that cannot be read leaves nothing on standard output, whatever else was named.
  for (const std::string_view named : {"no/such.log", "docs", "- no/such.log", "no/such.log -"}) {
    for (const std::string_view form : {"", " --json"}) {
      const Outcome outcome = run(fmt::format("groma guide {}{}", named, form), "mgpu not found\n");
      EXPECT_EQ(outcome.exit_code, 1) << named << form;
      EXPECT_EQ(outcome.out, "") << named << form;
      EXPECT_THAT(outcome.err, HasSubstr("groma: cannot read `")) << named << form;
    }
  }
  EXPECT_EQ(run("groma guide - --profile README.md", "").exit_code, 1);
  EXPECT_THAT(run("groma guide - --rules README.md", "").err, HasSubstr("list of `rules`"));
  EXPECT_EQ(run("groma guide - --program no/such.mapper", "").exit_code, 1);
}

#if !GROMA_SANITIZED  // which takes terabytes of addresses
// A log of 200 MB in memory that does not grow with it.
TEST(Guide, ReadsMuchInLittleMemory) {
  const Outcome outcome = run(
      "(ulimit -v 400000; yes 'iteration 1: residual 0.5, nothing to see' | head -c 200000000 | "
      "groma guide - --strict)");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nothing in it is known as a failure"));
}
#endif

TEST(Output, AFullDiskIsNoSuccess) {
  EXPECT_EQ(run("groma machines > /dev/full").exit_code, 1);
  EXPECT_EQ(run("groma --help > /dev/full").exit_code, 1);
  EXPECT_EQ(run("groma check --help > /dev/full").exit_code, 1);
  EXPECT_EQ(run("groma --version > /dev/full").exit_code, 1);
}

TEST(LlmCommand, NeverShowsAKey) {
  const Outcome outcome =
      run("WORD=sk-SECRET-123456 GROMA_API_KEY=sk-SECRET-123456 groma llm check --endpoint "
          "'exec:cat; echo no use for $WORD$GROMA_API_KEY >&2; exit 1'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the command ended with 1: no use for [key]"));
  EXPECT_EQ((outcome.out + outcome.err).find("SECRET"), std::string::npos);
}

TEST(LlmCommand, TellsWhetherRepliesAreKept) {
  const std::string ignores = "groma llm check --endpoint 'exec:echo ready'";
  EXPECT_EQ(run(ignores).exit_code, 0);
  const Outcome strict = run(ignores + " --strict");
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.err, HasSubstr("neither into a JSON schema nor into a grammar"));
  EXPECT_THAT(strict.out, HasSubstr("schema ignored, grammar ignored"));
  const Outcome both = run(ignores + " --strict --json");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.out, HasSubstr("\"structured\":false"));
  const std::string recording = std::string(GROMA_SOURCE_DIR) + "/docs/examples/chat_check.jsonl";
  EXPECT_EQ(run("groma llm check --strict --replay " + recording).exit_code, 0);
  const Outcome empty = run("groma llm check --endpoint exec:true");
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_EQ(empty.out, "");
  EXPECT_THAT(empty.err, HasSubstr("no text"));
  EXPECT_THAT(empty.err, HasSubstr("help: the command has to write"));
  const Outcome failed = run("groma llm check --endpoint exec:true --json");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("{\"status\":\"error\",\"code\":\"no-text\","));
  EXPECT_EQ(failed.err, "");
}

TEST(LlmCommand, AReplyMayTakeAsLongAsIsSaid) {
  const Outcome outcome =
      run("groma llm check --endpoint 'exec:exec sleep 60' --reply-timeout 0.25");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("out of time: not done after 0."));
  EXPECT_THAT(outcome.err, HasSubstr("help: a slow model needs a longer `--reply-timeout`"));
  EXPECT_EQ(run("groma llm check --endpoint 'exec:echo ready' --reply-timeout 600").exit_code, 0);
}

TEST(LlmCommand, WrongUsage) {
  for (const char* wrong :
       {"llm", "llm check --api x", "llm check --price 1", "llm check --record a --replay b",
        "llm check --temperature 3", "llm check --temperature nan", "llm check --reply-timeout 0",
        "llm check --reply-timeout nan", "llm check --reply-timeout 1e7"}) {
    EXPECT_EQ(run(std::string("groma ") + wrong).exit_code, 2) << wrong;
  }
  EXPECT_EQ(run("groma llm check --replay /no/such/file").exit_code, 1);
  const Outcome nothing = run("env -u GROMA_API_KEY groma llm check");
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("neither an endpoint nor a key"));
}

}  // namespace
}  // namespace groma
