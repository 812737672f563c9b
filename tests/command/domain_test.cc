// groma domain as a user runs it: what is compared, what is drawn, and wrong usage.
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
using ::testing::StartsWith;

TEST(DomainCommand, CheckSaysWhatWasCompared) {
  const Outcome small = run("groma domain check frame:n=20 --json");
  ASSERT_EQ(small.exit_code, 0) << small.err;
  const json found = json::parse(small.out);
  EXPECT_EQ(found["count"], 400 - 256);
  EXPECT_EQ(found["looked_at"], found["count"]);
  EXPECT_EQ(found["enumerated"], found["count"]);
  EXPECT_EQ(found["box"], 400);
  EXPECT_EQ(found["proof"]["by"], "boxes");
  EXPECT_GE(found["seconds"], 0);
  // Nothing is written over on something that is not a terminal.
  EXPECT_EQ(small.err, "");

  const Outcome large = run("groma domain check frame:n=1000000");
  EXPECT_EQ(large.exit_code, 0) << large.err;
  EXPECT_THAT(large.out,
              AllOf(StartsWith("frame: 7999984 points\nproved by boxes: "),
                    HasSubstr("7999984 points mapped and mapped back: no difference\n"),
                    HasSubstr("not compared with the text point by point: there are too many\n"),
                    HasSubstr("not looked up: the points of the box, there are too many\n")));
}

TEST(DomainCommand, DrawWritesAPictureOrAPage) {
  const TemporaryFolder folder;
  const std::string svg = folder.path() + "/t.svg", page = folder.path() + "/m.html";
  const Outcome drawn = run("groma domain draw triangle:n=8 --processors 16 --out " + svg);
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("36 points on 16 processors; max/mean is 1.333 by rank and "
                                   "1.778 by blocks of the box\n"));
  EXPECT_THAT(test::read_text(svg),
              AllOf(StartsWith("<svg "), HasSubstr("triangle:n=8: 36 points")));
  EXPECT_EQ(run("groma domain draw triangle:n=8 --out -").out, test::read_text(svg));
  const Outcome space = run("groma domain draw menger:r=2 --out " + page);
  EXPECT_EQ(space.exit_code, 0) << space.err;
  EXPECT_THAT(test::read_text(page), AllOf(StartsWith("<!doctype html>"), HasSubstr("<canvas")));
}

TEST(DomainCommand, DrawRefusesWhatItCannotDraw) {
  const Outcome flat = run("groma domain draw menger --out m.svg");
  EXPECT_EQ(flat.exit_code, 1);
  EXPECT_THAT(flat.err, AllOf(HasSubstr("`menger` has 3 dimensions"), HasSubstr(".html")));
  EXPECT_EQ(run("groma domain draw simplex4 --out s.html").exit_code, 1);
  EXPECT_EQ(run("groma domain draw triangle --out t.png").exit_code, 2);
  EXPECT_EQ(run("groma domain draw triangle").exit_code, 2);
  EXPECT_EQ(run("groma domain draw triangle --processors 0 --out -").exit_code, 2);
  EXPECT_EQ(run("groma domain draw triangle --out /nowhere/t.svg").exit_code, 1);
  const Outcome foreign =
      run("groma domain draw '<b>' --file - --out -", "domain a = x in loops x < 3;");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_THAT(foreign.err, HasSubstr("no domain is named `<b>`"));
}

// A launch over a domain: only its points are placed.
TEST(DomainCommand, PlaceTakesADomain) {
  const std::string mapping =
      "groma place dsl/mappers/cholesky.mapper --task update "
      "--machine nodes=1,gpu=4 ";
  const Outcome text = run(mapping + "--domain triangle:n=7");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("update by by_rank on GPU: 28 of 7 x 7 points, "),
                              HasSubstr("load: 7 points on each of 4 processors")));
  const json placed = json::parse(run(mapping + "--domain menger:r=2 --json").out);
  EXPECT_EQ(placed["points"].size(), 400U);
  EXPECT_EQ(placed["coordinates"].size(), 400U);
  EXPECT_EQ(placed["loads"]["max"], 100);
  EXPECT_EQ(placed["loads"]["min"], 100);
  const Outcome own =
      run(mapping + "--domains - --domain d", "domain d = (x, y) in loops y < 4, x <= 2 * y;");
  EXPECT_THAT(own.out, HasSubstr("16 of 7 x 4 points")) << own.err;

  const Outcome unknown = run(mapping + "--domain triangel");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no domain is named `triangel`"));
  const Outcome large = run(mapping + "--domain triangle:n=100000");
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, HasSubstr("at most 1048576 can be placed"));
  EXPECT_EQ(run(mapping + "--domain triangle:n=x").exit_code, 2);
}

TEST(DomainCommand, WrongDeclarationsAreShownWithTheirPlace) {
  const Outcome never =
      run("groma domain check d --file -", "domain d = x in loops x < 9 where 0;");
  EXPECT_EQ(never.exit_code, 1);
  EXPECT_THAT(never.err,
              AllOf(HasSubstr("<stdin>:1:35: error: the launch domain `d` has no points"),
                    HasSubstr("none of the 9 points of the loops")));
  EXPECT_THAT(run("groma domain check d --file - --json", "domain d = d;").out,
              HasSubstr("\"id\":\"use-before-statement\""));
}

}  // namespace
}  // namespace groma
