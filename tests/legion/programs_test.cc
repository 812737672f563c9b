// The Legion programs of examples/legion. Those of benchmarks run by `groma run --on legion` and
// `groma tune --on legion`, the others by `groma run --map`. Each program compares its results with
// a serial reference itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "command/run.h"

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OnLegion : public testing::Test {
 protected:
  OnLegion() { setenv("XDG_CACHE_HOME", (folder_.path() + "/cache").c_str(), 1); }

  // `groma run MAPPING --on legion WORDS`
  Outcome run_under(const std::string& mapping, const std::string& words) const {
    return run("groma run " + folder_.write("my.mapper", mapping) + " --on legion " + words);
  }
  TemporaryFolder folder_;
};

struct Case {
  const char *app, *mapping;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.app; }

// Small, and where a size does not divide.
class Programs : public OnLegion, public testing::WithParamInterface<Case> {};

TEST_P(Programs, RunUnderAMapping) {
  const Outcome outcome = run_under(
      GetParam().mapping, "--app " + std::string(GetParam().app) + " --json -- -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("runtime"), "legion");
  EXPECT_TRUE(json.at("checked"));
  const double seconds = json.at("seconds");
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, json.at("total_seconds").get<double>());
  EXPECT_GT(json.at("throughput").get<double>(), 0);
  EXPECT_THAT(outcome.err,
              Not(HasSubstr("was launched")));  // the mapping's names are the program's
  EXPECT_THAT(outcome.err, Not(HasSubstr("LEGION WARNING")));
}

INSTANTIATE_TEST_SUITE_P(
    All, Programs,
    testing::Values(Case{"cannon:n=65,nodes=2,repeats=1",
                         "Layout task_4 * * F_order;\n"
                         "CollectMemory task_4 *;\n"
                         "m = Machine(CPU);\n"
                         "def here(Task task) { return m[*task.parent.processor(m)]; }\n"
                         "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                         "IndexTaskMap taco_fill,task_1,task_2,task_3,task_5,task_7 spread;\n"
                         "SingleTaskMap task_4,task_6 here;\n"},
                    Case{"johnson:n=65,repeats=2",
                         "Region task_4 A_tiles CPU SYSMEM;\n"
                         "m = Machine(CPU);\n"
                         "def last(Task task) { return m[0, task.ipoint[2] % m.size[1]]; }\n"
                         "IndexTaskMap task_1,task_2,task_3,task_4 last;\n"},
                    Case{"circuit:npp=150,wpp=500,superpiece=3,steps=3,loops=3",
                         "Layout * rp_wires * AOS;\n"
                         "InstanceLimit distribute_charge 1;\n"
                         "m = Machine(CPU);\n"
                         "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                         "IndexTaskMap calculate_new_currents,update_voltages spread;\n"},
                    Case{"stencil:edge=33,nodes=2,loops=3",
                         "Region stencil pxm_in CPU SYSMEM;\n"
                         "m = Machine(CPU);\n"
                         "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                         "IndexTaskMap stencil,increment,check spread;\n"}),
    [](const auto& each) {
      const std::string app = each.param.app;
      return app.substr(0, app.find(':'));
    });

// ---- Three of benchmarks/applications as programs, which `groma run --map` takes over.

struct ApplicationCase {
  const char *name, *words, *mapping;
};
void PrintTo(const ApplicationCase& each, std::ostream* out) { *out << each.name; }

class Applications : public OnLegion, public testing::WithParamInterface<ApplicationCase> {};

// The program compares its result with that of a serial program, and prints a number that depends
// on all of it. Groma compares this line with that of a run under Legion's default mapper.
TEST_P(Applications, HaveTheSameResultUnderAMapping) {
  const Outcome outcome =
      run("groma run --json --checks always --same '^(digest|residual|shift) ' --map " +
          folder_.write("my.mapper", GetParam().mapping) + " -- " GROMA_PROGRAMS "/" +
          GetParam().words + " -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("same_results"), true) << outcome.out;
  EXPECT_THAT(outcome.err, Not(HasSubstr("was launched")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("LEGION WARNING")));
}

constexpr const char* kOneCpu =
    "m = Machine(CPU);\n"
    "def first(Task task) { return m[0, 0]; }\n"
    "IndexTaskMap * first;\n"
    "SingleTaskMap * first;\n";

INSTANTIATE_TEST_SUITE_P(
    All, Applications,
    testing::Values(
        ApplicationCase{"cg_one_cpu", "cg -nx 6 -nz 8", kOneCpu},
        ApplicationCase{"cg_spread", "cg -nx 6 -nz 8 -nodes 2",
                        "Region spmv vec_ghost CPU SYSMEM;\n"
                        "Layout * vec_rows * AOS;\n"
                        "Layout assemble A_rows * SOA;\n"
                        "CollectMemory spmv *;\n"
                        "m = Machine(CPU);\n"
                        "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                        "def back(Task task) { return m[0, 1 - task.ipoint[0] % 2]; }\n"
                        "IndexTaskMap * spread;\n"
                        "IndexTaskMap dot_rz,update_p,norm_r back;\n"},
        ApplicationCase{"kmeans_one_cpu", "kmeans -iterations 5", kOneCpu},
        ApplicationCase{"kmeans_spread", "kmeans -samples 1001 -k 5 -dim 3 -iterations 5",
                        "Region accumulate sums CPU SYSMEM;\n"
                        "Layout * data * AOS C_order;\n"
                        "Layout assign centroid * F_order;\n"
                        "InstanceLimit assign 1;\n"
                        "CollectMemory accumulate *;\n"
                        "m = Machine(CPU);\n"
                        "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                        "def last(Task task) { return m[0, m.size[1] - 1]; }\n"
                        "IndexTaskMap * spread;\n"
                        "SingleTaskMap zero_sums last;\n"},
        ApplicationCase{"cholesky_one_cpu", "cholesky -edge 9 -tiles 6", kOneCpu},
        ApplicationCase{"cholesky_layouts", "cholesky -edge 16 -tiles 4",
                        "Region update * CPU SYSMEM;\n"
                        "Layout * * * C_order;\n"
                        "CollectMemory update *;\n"},
        ApplicationCase{"sort_tree_one_cpu", "sort_tree -keys 5000 -depth 3", kOneCpu},
        ApplicationCase{"sort_tree_spread", "sort_tree -keys 5001 -depth 5",
                        "Region merge_halves segment CPU SYSMEM;\n"
                        "Layout sort_leaf segment * AOS;\n"
                        "CollectMemory copy_back *;\n"
                        "m = Machine(CPU);\n"
                        "def spread(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
                        "def other(Task task) {\n"
                        "  parent = task.parent.processor(m);\n"
                        "  return m[0, 1 - parent[1]];\n"
                        "}\n"
                        "IndexTaskMap generate spread;\n"
                        "SingleTaskMap msort,merge_halves other;\n"}),
    [](const auto& each) { return std::string(each.param.name); });

constexpr const char* kTilesByRank =
    "Task * CPU;\n"
    "m = Machine(CPU);\n"
    "def by_rank(Task task) { return m[0, task.irank * m.volume / task.ivolume]; }\n"
    "IndexTaskMap fill_tile,trsm,update by_rank;\n";

// The launches of cholesky are triangles. Each point runs where the mapping sends it, by what the
// log says. `groma place` has the same launch from the description of the application.
TEST_F(OnLegion, PlacesThePointsOfSparseLaunchesByTheirRanks) {
  const std::string mapping = folder_.write("my.mapper", kTilesByRank);
  const std::string log = folder_.path() + "/log";
  const Outcome outcome =
      run("groma run --json --checks always --same '^digest ' --log " + log + " --map " + mapping +
          " -- " GROMA_PROGRAMS "/cholesky -edge 8 -tiles 5 -ll:cpu 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("same_results"), true) << outcome.out;
  EXPECT_THAT(outcome.err, Not(HasSubstr("LEGION WARNING")));

  const Outcome explained = run("groma explain " + mapping + " --log " + log + " --json");
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  const auto judged = nlohmann::json::parse(explained.out).at("log").at("statements");
  const auto placing = std::find_if(judged.begin(), judged.end(), [](const auto& statement) {
    return statement.dump().find("IndexTaskMap") != std::string::npos;
  });
  ASSERT_NE(placing, judged.end());
  EXPECT_EQ(placing->at("state"), "acted") << placing->dump();
  // 15 tiles are filled; steps have 4, 3, 2 and 1 points below the diagonal, and the triangles of
  // these.
  EXPECT_EQ(placing->at("acted"), 15 + (4 + 3 + 2 + 1) + (10 + 6 + 3 + 1));

  const Outcome placed =
      run("groma place " + mapping +
          " --machine nodes=1,cpu=3 --app cholesky:tiles=5 --task update --json");
  ASSERT_EQ(placed.exit_code, 0) << placed.err;
  const auto places = nlohmann::json::parse(placed.out);
  // The judgement above evaluates the mapping for each logged point, as `groma place` does here.
  EXPECT_EQ(places.at("coordinates").size(), 10U);
  // The recorded application has the same launches, with the same ranks.
  const Outcome recorded =
      run("groma record --out " + folder_.path() +
          "/app.json -- " GROMA_PROGRAMS "/cholesky -edge 8 -tiles 5 -ll:cpu 3");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Outcome again = run("groma place " + mapping + " --machine nodes=1,cpu=3 --app " +
                            folder_.path() + "/app.json --task update --json");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const auto recorded_places = nlohmann::json::parse(again.out);
  EXPECT_EQ(recorded_places.at("coordinates"), places.at("coordinates"));
  EXPECT_EQ(recorded_places.at("points"), places.at("points"));
  EXPECT_EQ(places.at("coordinates").at(9), nlohmann::json({4, 4}));
  EXPECT_EQ(places.at("loads").at("max"), 4);
  EXPECT_EQ(places.at("loads").at("min"), 3);
}

// Under Legion's default mapper, alone.
TEST(ApplicationPrograms, CheckTheirResult) {
  for (const char* const words :
       {"cg -iterations 3", "cg -nx 8 -nz 8 -over 2 -iterations 100", "kmeans -iterations 2",
        "kmeans -samples 16 -nodes 2 -k 17 -dim 1", "cholesky", "cholesky -edge 1 -tiles 1",
        "sort_tree", "sort_tree -keys 64 -depth 6"}) {
    const Outcome outcome = run(std::string(GROMA_PROGRAMS "/") + words + " -ll:cpu 2");
    EXPECT_EQ(outcome.exit_code, 0) << words << outcome.err;
    EXPECT_THAT(outcome.out,
                testing::ContainsRegex("(digest|residual|shift) [-0-9a-f.+]+\nelapsed "));
    EXPECT_THAT(outcome.err, Not(HasSubstr("LEGION WARNING"))) << words;
  }
  for (const auto& [words, text] :
       {std::pair("cg -nz 10", "-nz takes a multiple of 4 * over = 4, not `10`"),
        {"cg -nx 4096 -nz 65536", "fit into a column number"},
        {"kmeans -samples 15 -k 15", "15 samples are fewer than 16, the number of batches"},
        {"kmeans -samples 16 -k 17", "16 samples are fewer than 17, the number of clusters"},
        {"cholesky -tiles 0", "-tiles takes a number from 1 to 2048, not `0`"},
        {"sort_tree -keys 63", "-keys takes a number from 64 to "},
        {"sort_tree -depth 7", "-depth takes a number from 1 to 6, not `7`"}}) {
    const Outcome outcome = run(std::string(GROMA_PROGRAMS "/") + words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
}

TEST_F(OnLegion, TellsTheTimeOfWhatTheApplicationMeasures) {
  const Outcome outcome = run("groma run --on legion --app stencil:edge=20 -- -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex(
                               "^stencil on Legion by the default mapper: [0-9.]+ m?s measured, "
                               "[0-9.]+ .?points/s, with Legion's checks\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("elapsed")));
}

// Cannon's leaf multiplies in Fortran order.
TEST_F(OnLegion, AWrongMappingEndsWithItsReason) {
  const Outcome outcome =
      run_under("Layout task_4 * * C_order;", "--app cannon:n=16,repeats=1 -- -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("task_4"), HasSubstr("Layout task_4 * * C_order")));
  EXPECT_THAT(outcome.err, HasSubstr("[layout-refused]"));
}

TEST_F(OnLegion, WhatIsNoLegionProgramIsRefused) {
  const auto expect = [](const std::string& words, int code, const std::string& text) {
    const Outcome outcome = run("groma " + words);
    EXPECT_EQ(outcome.exit_code, code) << words;
    EXPECT_THAT(outcome.err, HasSubstr(text)) << words;
  };
  expect("run --on legion --app pennant", 1, "there is no Legion program for `pennant`");
  expect("run --on legion --app pennant", 1,
         "there is cannon, cholesky, circuit, johnson, stencil;");
  expect("run --on legion --app cg", 1, "cg");  // it is no benchmark
  expect("run --on legion --app docs/examples/ring.json", 1, "ring.json`");
  expect("run --on legion --app cannon:n=15", 1, "`n`");
  expect("run --on legion --app cannon --machine local", 2, "--machine");
  expect("run --on legion --app cannon --fit", 2, "--fit");
  expect("run --on legion --app cannon:n=512 -- -n 50 -ll:cpu 2", 2, "--app cannon:n=50");
  expect("run --on legion --app cannon -- -ll:cpu 2 -repeats", 2, "--app cannon:repeats=");
  expect("run --on legion --app cannon -- -ll:cpu two", 2, "`-ll:cpu` takes a number, not `two`");
  expect("run --on legion --app cannon -- -ll:fsize 8g", 2, "`-ll:fsize` takes a number, not `8g`");
  expect("tune --on legion --app cannon:n=64 -- -n 50", 2, "--app cannon:n=50");
  expect("tune --on legion --app cannon:n=64 -- -ll:csize", 2, "`-ll:csize` takes a number");
  expect("run --app cannon --checks never", 2, "--checks");
  expect("tune --on legion --app pennant", 1, "there is no Legion program for `pennant`");
  expect("tune --on legion --app wave.json", 1,
         "`groma tune --app wave.json --machine M --verify -- PROGRAM ARGS`");
  expect("tune --on legion --app cannon --machine local", 2, "--machine");
}

TEST_F(OnLegion, TuningSaysInWordsWhyNothingRuns) {
  const Outcome outcome =
      run("groma tune --on legion --app stencil:edge=20 --evaluations 1 --estimates 0 --out " +
          folder_.path() + "/nothing -- -ll:cpu 2 -ll:cpus 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("unrecognized lowlevel option: -ll:cpus\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\"status\"")));
}

// The start is checked on the computer that the flags describe. The run itself then finds no GPU on
// a computer without one.
TEST_F(OnLegion, TuningKnowsTheGpusOfTheFlags) {
  const std::string start = folder_.write("gpu.mapper", "Task stencil GPU;\nTask * CPU;\n");
  const auto tune = [&](const std::string& out, const std::string& flags) {
    return run("groma tune --on legion --app stencil:edge=20 --start " + start +
               " --evaluations 1 --estimates 0 --out " + folder_.path() + out + " -- -ll:cpu 2" +
               flags);
  };
  const auto refused = HasSubstr("`legion` has no GPU processor");
  EXPECT_THAT(tune("/with", " -ll:gpu 1 -ll:fsize 100 -ll:zsize 100").err, Not(refused));
  EXPECT_THAT(tune("/without", "").err, refused);
}

TEST_F(OnLegion, AFlagThatNobodyKnowsIsRefused) {
  const Outcome outcome =
      run("groma run --on legion --app cannon:n=64 -- -ll:cpu 2 -level 4 -repeat 3");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no parameter -repeat; there are -n -nodes -repeats"));
}

// From one processor for all to a better one.
TEST_F(OnLegion, Tunes) {
  const std::string start = folder_.write(
      "start.mapper",
      "m = Machine(CPU);\ndef first(Task task) { return m[0, 0]; }\nIndexTaskMap * first;\n");
  const std::string out = folder_.path() + "/found";
  const Outcome outcome =
      run("groma tune --on legion --app stencil:edge=40,loops=2 --start " + start +
          " --evaluations 2 --repeats 1 --estimates 20 --out " + out + " -- -ll:cpu 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  the start\n"));
  // Beside them the program without a mapping, which nothing simulated.
  EXPECT_THAT(outcome.out, HasSubstr("for real, medians of 1 run each in turn"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  without a mapping "));
  EXPECT_THAT(outcome.out, HasSubstr("\n  start "));
  const std::string table = outcome.out.substr(outcome.out.find(" for real, ") + 1);
  EXPECT_THAT(table, Not(HasSubstr("simulated")));
  EXPECT_THAT(read_text(out + "/report.txt"), HasSubstr("best"));
  EXPECT_THAT(read_text(out + "/journal.jsonl"), HasSubstr("on legion"));
  // What it ran stands there, so it goes on without being told again.
  const Outcome further = run("groma tune --trust --resume " + out + " --evaluations 3");
  EXPECT_EQ(further.exit_code, 0) << further.out << further.err;
}

}  // namespace
}  // namespace groma::test
