// program_name: what a command line starts. to_json: what a run of a program is told as.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "groma/run_program.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

class ProgramName : public ::testing::Test {
 protected:
  ProgramName() {
    program_ = folder_.write("circuit", "#!/bin/sh\n");
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    script_ = folder_.write("solve.py", "");
    regent_ = folder_.write("regent.py", "");
    source_ = folder_.write("stencil.rg", "");
    hosts_ = folder_.write("hosts", "");
  }
  test::TemporaryFolder folder_;
  std::string program_, script_, regent_, source_, hosts_;
};

TEST_F(ProgramName, IsThatOfTheProgram) {
  EXPECT_EQ(program_name({program_, "-n", "5"}), "circuit");
  EXPECT_EQ(program_name({"nosuchprogram", "sh"}), "nosuchprogram");
  EXPECT_EQ(program_name({"sh", "-c", program_}), "sh");
}

TEST_F(ProgramName, StandsBehindLaunchers) {
  EXPECT_EQ(program_name({"mpirun", "-np", "4", "-x", "LD_PRELOAD", "-hostfile", hosts_, program_}),
            "circuit");
  EXPECT_EQ(
      program_name({"/usr/bin/srun", "-n", "2", "numactl", "--membind=0", program_, "-l", "3"}),
      "circuit");
  EXPECT_EQ(program_name({"env", "A=" + program_, "timeout", "100", program_}), "circuit");
  EXPECT_EQ(program_name({"jsrun", "--nrs", "2"}), "jsrun");  // nothing follows
}

TEST_F(ProgramName, OfAScriptIsTheScripts) {
  EXPECT_EQ(program_name({"python3", script_, "x"}), "solve");
  EXPECT_EQ(program_name({"python3.11", "-u", script_}), "solve");
  EXPECT_EQ(program_name({"legate", "--cpus", "2", script_}), "solve");
  EXPECT_EQ(program_name({"mpirun", "-np", "2", "python3", script_}), "solve");
  EXPECT_EQ(program_name({"python3", regent_, source_, "-fcuda", "0"}), "stencil");
  EXPECT_EQ(program_name({"python3", "-m", "package.solve"}), "package.solve");
  EXPECT_EQ(program_name({"python3", "-c", "print()"}), "python3");
}

// `same_results` is null, with the reason, if the results were not compared.
TEST(ProgramJson, SaysWhetherTheResultsAreTheSame) {
  using Same = ProgramResult::ResultComparison;
  const auto same = [](Same same_results) {
    ProgramResult result;
    result.same_results = same_results;
    const auto json = nlohmann::json::parse(to_json(result, Diagnostics(Source("a.mapper", ""))));
    EXPECT_NE(json.at("same_results").is_null(), json.at("not_compared").is_null());
    return json.at("same_results");
  };
  EXPECT_EQ(same(Same::kSame), true);
  EXPECT_EQ(same(Same::kDifferent), false);
  EXPECT_EQ(same(Same::kUnknown), nullptr);
  EXPECT_EQ(same(Same::kTooLong), nullptr);
}

}  // namespace
}  // namespace groma
