// groma domain derive as a user runs it. Shell commands answer in place of a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "command/run.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTriangle =
    "k,x,y\n0,0,0\n1,0,1\n2,1,1\n3,0,2\n4,1,2\n5,2,2\n6,0,3\n7,1,3\n8,2,3\n";

TEST(DomainDerive, PrintsADomainThatTheOtherPartsRead) {
  const Outcome derived = run("groma domain derive - --name mine", kTriangle);
  EXPECT_EQ(derived.exit_code, 0) << derived.err;
  EXPECT_THAT(derived.out, HasSubstr("\ndomain mine(n = 4) = (x, y) in loops y < n, x <= y;\n"));
  const Outcome shown = run("groma domain show mine:n=100 --file - --points 0", derived.out);
  EXPECT_THAT(shown.out, HasSubstr("5050 points"));
}

TEST(DomainDerive, ComparesWithSamplesThatAreHeldOut) {
  const Outcome right = run("groma domain derive - --samples 7", kTriangle);
  EXPECT_THAT(right.out, HasSubstr("held out: 2 of 2 points in order, 2 in any order"));
  const Outcome wrong = run("groma domain derive - --samples 7", kTriangle + "9,9,9\n10,4,4\n");
  EXPECT_THAT(wrong.out, HasSubstr("held out: 2 of 4 points in order"));
}

TEST(DomainDerive, WritesAFileAndJson) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/mine.domain";
  const Outcome written =
      run("groma domain derive --of menger --samples 21 --points 8000 --json --out " + path);
  EXPECT_EQ(written.exit_code, 0) << written.err;
  const json report = json::parse(written.out);
  EXPECT_EQ(report["samples"], 21);
  EXPECT_EQ(report["found"]["support"], "thin");
  EXPECT_EQ(report["found"]["evidence"], 2);
  EXPECT_EQ(report["compared"]["in_order"], 8000);
  EXPECT_EQ(report["compared"]["in_any_order"], 8000);
  EXPECT_THAT(test::read_text(path), HasSubstr("in digits base 3 levels r of (0, 0, 0)"));
}

TEST(DomainDerive, SaysThatNothingIsFoundOrTheInputIsWrong) {
  const Outcome nothing = run("groma domain derive --of disk --samples 40 --points 100");
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("no nested loops and no self-similar set yield these 40"));
  EXPECT_EQ(json::parse(
                run("groma domain derive --of disk --samples 40 --points 100 --json").out)["found"],
            nullptr);
  const Outcome gap = run("groma domain derive -", "k,x\n0,1\n2,3\n");
  EXPECT_EQ(gap.exit_code, 1);
  EXPECT_THAT(gap.err, HasSubstr("<stdin>:3:1: error: k = 1 is missing before this line "
                                 "[domain-samples]"));
  EXPECT_THAT(run("groma domain derive --of nosuch").err, HasSubstr("no domain is named `nosuch`"));
  EXPECT_EQ(run("groma domain derive nosuch.csv").exit_code, 1);
  for (const char* wrong : {"", "- --of menger", "- --samples 0", "- --name 9", "- --name 'a b'",
                            "- --table", "- --gplearn x", "- --nonsense"}) {
    EXPECT_EQ(run(std::string("groma domain derive ") + wrong, kTriangle).exit_code, 2) << wrong;
  }
}

TEST(DomainDerive, AsksAModelAndReplaysIt) {
  const TemporaryFolder folder;
  const std::string recording = folder.path() + "/asked.jsonl";
  const std::string line = "groma domain derive --of triangle --samples 20 --points 5000 ";
  const Outcome asked =
      run(line +
          "--endpoint 'exec:cat > /dev/null; echo \"k => let y = root(m => m * (m + 1) / 2, "
          "k) in (k - y * (y + 1) / 2, y)\"' --record " +
          recording);
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.out, AllOf(HasSubstr("# by the model: k => let y = root("),
                               HasSubstr("# samples: 20 of 20 points in order"),
                               HasSubstr("triangle: 5000 of 5000 points in order, 5000 in any")));
  EXPECT_EQ(run(line + "--replay " + recording).out, asked.out);
  const Outcome wrong = run(line +
                            "--json --repairs 0 --endpoint 'exec:cat > /dev/null; echo \"k "
                            "=> (k % 4, k / 4)\"'");
  const json report = json::parse(wrong.out);
  EXPECT_EQ(report["model"]["rounds"], 1);
  EXPECT_LT(report["model"]["compared"]["in_order"], 100);
  const Outcome refused = run(line + "--endpoint 'exec:cat > /dev/null; echo no'");
  EXPECT_EQ(refused.exit_code, 0);
  EXPECT_THAT(refused.out, HasSubstr("# by the model: the model gave no usable answer"));
  EXPECT_EQ(run(line + "--endpoint 'exec:exit 3' --reply-timeout 5").exit_code, 1);
}

TEST(DomainDerive, TheTableHasOnlyRightPointsInItsColumn) {
  const TemporaryFolder folder;
  folder.write("peer.json",
               R"({"results": [{"domain": "menger", "samples": 50, "points": 2000, "in_order": 1,
                   "in_any_order": 40, "seconds": 2.5}, 7, {"domain": 3}]})");
  const std::string line = "groma domain derive --table --points 2000 --generations 2 --gplearn " +
                           folder.path() + "/peer.json";
  const Outcome text = run(line);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("| menger | 50 | 100 / 100 ("),
                              HasSubstr("| 0.05 / 2 (2.5 s) | - | 0 / 0.36 |"),
                              Not(HasSubstr("nothing found"))));
  const json table = json::parse(run(line + " --json").out);
  ASSERT_EQ(table["rows"].size(), 18U);
  for (const json& row : table["rows"]) {
    EXPECT_EQ(row["derived"]["in_order"], 2000) << row.dump();
    EXPECT_LT(row["genetic"]["in_order"], 2000) << row.dump();
    EXPECT_EQ(row["model"], nullptr);
  }
  folder.write("peer.json", "[]");
  EXPECT_EQ(run(line).exit_code, 1);
}

}  // namespace
}  // namespace groma
