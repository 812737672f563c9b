#include "groma/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace groma {
namespace {

using ::testing::HasSubstr;

Results make(ResultsOptions options = {}) {
  auto made = Results::make(std::move(options));
  EXPECT_TRUE(made) << made.error().message;
  return std::move(made).value();
}

// What is said of `got`, empty where the results are the same.
std::string compare(const std::vector<std::string>& references, const std::string& got,
                    ResultsOptions options = {}) {
  Results results = make(std::move(options));
  for (const std::string& reference : references) results.add_reference(reference, "");
  const auto difference = results.compare(got, "");
  return difference ? to_text(*difference) : "";
}

TEST(Results, NumbersMayDifferByTheTolerance) {
  EXPECT_EQ(compare({"sum 4.098725885271609e+16\n"}, "sum 4.098725885271611e+16\n"), "");
  EXPECT_EQ(compare({"sum 4.0\n"}, "sum 4.1\n"), "it prints `sum 4.1` instead of `sum 4.0`");
  EXPECT_EQ(compare({"sum 4.0\n"}, "sum 4.1\n", {.tolerance = 0.1}), "");
  EXPECT_EQ(compare({"residual 1e-17\n"}, "residual -3e-16\n"), "");
  EXPECT_EQ(compare({"x -2.5\n"}, "x 2.5\n"), "it prints `x 2.5` instead of `x -2.5`");
}

TEST(Results, SaysWhatIsLeftOut) {
  Results results = make();
  EXPECT_EQ(to_text(results.unsteady()), "");
  results.add_reference("sum 4.0\nseed 17\nat 0.5\n", "");
  results.add_reference("sum 4.0\nseed 17\nat 0.5\n", "");
  EXPECT_EQ(to_text(results.unsteady()), "");
  results.add_reference("sum 4.0\nseed 18\nat 0.7\nonce\n", "INFO\n");
  EXPECT_EQ(results.unsteady().lines, 3);
  EXPECT_EQ(to_text(results.unsteady()),
            "3 lines that differ between runs without the mapping, such as `at 0.5`");
}

TEST(Results, IntegersMustBeEqual) {
  EXPECT_EQ(compare({"found 1000000 pairs\n"}, "found 1000000 pairs\n"), "");
  EXPECT_EQ(compare({"found 1000000 pairs\n"}, "found 1000001 pairs\n"),
            "it prints `found 1000001 pairs` instead of `found 1000000 pairs`");
}

TEST(Results, IntegersOfAnyLengthMustBeEqual) {
  EXPECT_NE(compare({"n 9007199254740993\n"}, "n 9007199254740992\n"), "");
  const std::string nines(400, '9');
  EXPECT_EQ(compare({"n " + nines}, "n 00" + nines), "");
  EXPECT_NE(compare({"n " + nines}, "n " + nines + "8"), "");
  EXPECT_NE(compare({"n " + nines}, "n -" + nines), "");
  EXPECT_NE(compare({"found 10000001.\n"}, "found 10000002.\n"), "");
  EXPECT_EQ(compare({"[3.]\n"}, "[2.99999999]\n"), "");  // NumPy
  EXPECT_NE(compare({"sha 100000001e5ab\n"}, "sha 100000001e5ac\n"), "");
  EXPECT_NE(compare({"uuid 10000001e-5ab1\n"}, "uuid 10000002e-5ab1\n"), "");
  EXPECT_NE(compare({"crc 10000001e5\n"}, "crc 10000002e5\n"), "");
}

TEST(Results, NumbersBeyondDoubleMustBePrintedAlike) {
  EXPECT_EQ(compare({"x 1e+400\n"}, "x 1e+400\n"), "");
  EXPECT_NE(compare({"x 1e+400\n"}, "x 7e+900\n"), "");
  EXPECT_NE(compare({"x 1.5e-400\n"}, "x 1.5e+400\n"), "");
}

// Small numbers are noise beside larger ones and where they are errors, but not by themselves.
TEST(Results, NoiseIsRelativeToTheOutput) {
  EXPECT_EQ(compare({"sum 1.5\nx 1e-17\n"}, "sum 1.5\nx 0.0\n"), "");
  EXPECT_EQ(compare({"steps 3\nx 0.0\n"}, "steps 3\nx 1e-17\n"), "");
  EXPECT_EQ(compare({"steps 3\nmax error 2.2e-16\n"}, "steps 3\nmax error 4.4e-16\n"), "");
  EXPECT_NE(compare({"charge 1.602e-19\n"}, "charge 9.1e-31\n"), "");
  EXPECT_NE(compare({"sum 4e+16\nx 5.5\n"}, "sum 4e+16\nx 6.5\n"), "");
}

// The largest number of all references is the scale, in whichever of them it stands.
TEST(Results, NoiseIsRelativeToTheLargestNumberOfAllReferences) {
  const std::string small = "x 1e-17\n", large = "x 1e-17\nsum 1.5\n";
  EXPECT_NE(compare({small, small}, "x 3e-17\n"), "");
  EXPECT_EQ(compare({small, large}, "x 3e-17\n"), "");
  EXPECT_EQ(compare({large, small}, "x 3e-17\n"), "");
  EXPECT_EQ(compare({small, large, small}, "x 3e-17\n"), "");
}

TEST(Results, ASignBehindANumberBelongsToTheNext) {
  EXPECT_EQ(compare({"(3.0+1.2e-17j)\n"}, "(3.0-2.2e-17j)\n"), "");
  EXPECT_EQ(compare({"3.0 + 1.2e-17 x\n"}, "3.0 - 2.2e-17 x\n"), "");
  EXPECT_NE(compare({"(3.0+1.2j)\n"}, "(3.0-1.2j)\n"), "");
  EXPECT_THAT(compare({"(3.0+1.2j)\n"}, "(3.0+nanj)\n"), HasSubstr("nanj"));
}

TEST(Results, NaNIsWrongWhereverNoReferenceHadIt) {
  for (const char* wrong : {"nan", "-nan", "inf", "NaN"}) {
    EXPECT_NE(compare({"sum 4.5\n", "sum 4.6\n"}, std::string("sum ") + wrong + "\n"), "") << wrong;
    const std::string line = std::string(wrong) + "\n";
    EXPECT_NE(compare({"1.5\n2.5\n", "1.5\n2.5\n3.5\n"}, "1.5\n2.5\n" + line), "") << wrong;
  }
  EXPECT_EQ(compare({"sum 4.5\n", "sum nan\n"}, "sum nan\n"), "");
  EXPECT_NE(compare({"time 3.5 s\n"}, "time inf s\n"), "");
  EXPECT_NE(compare({"\rloss 1.5\rend\n"}, "\rloss nan\rend\n"), "");
  Results results = make();
  results.add_reference("", "x 1.5\n");
  EXPECT_TRUE(results.compare("", "x 1.5\nx nan\n"));
}

// Even if the references print different counts of them.
TEST(Results, LinesOfAllReferencesStay) {
  const std::vector<std::string> runs = {"1.5\n2.5\n", "1.5\n2.5\n3.5\n"};
  EXPECT_EQ(compare(runs, "2.5\n1.5\n7.5\n"), "");
  EXPECT_EQ(compare(runs, "1.5\n2.6\n"), "it prints `2.6` instead of `2.5`");
  // Progress comes when it comes.
  EXPECT_EQ(compare({"10 %\n20 %\n30 %\n", "10 %\n30 %\n"}, "20 %\n"), "");
}

TEST(Results, WhatVariesIsLeftOutOfTheOrder) {
  EXPECT_EQ(compare({"CPU 0: sum 1.5\nCPU 1: sum 2.5\n"}, "CPU 1: sum 1.5\nCPU 0: sum 2.5\n"), "");
  EXPECT_EQ(compare({"took 3 ms sum 10.5\ntook 5 ms sum 20.5\n"},
                    "took 3 ms sum 20.5\ntook 5 ms sum 10.5\n"),
            "");
  EXPECT_EQ(
      compare({"x 1.00000001 y 5\nx 1.00000002 y 3\n"}, "x 1.00000001 y 3\nx 1.00000002 y 5\n"),
      "");
  // The points print in any order, each a random number.
  const std::vector<std::string> runs = {"p 1 r 0.5\np 2 r 0.6\n", "p 2 r 0.7\np 1 r 0.8\n"};
  EXPECT_EQ(compare(runs, "p 2 r 0.1\np 1 r 0.2\n"), "");
  EXPECT_THAT(compare(runs, "p 2 r 0.1\np 3 r 0.2\n"), HasSubstr("p 3"));
  EXPECT_THAT(compare(runs, "p 2 r 0.1\np 1 r nan\n"), HasSubstr("nan"));
  // One number of many varies; the others count.
  EXPECT_NE(compare({"s 1 r 0.5\ns 2 r 0.6\n", "s 1 r 0.5\ns 2 r 0.7\n"}, "s 1 r 0.4\ns 2 r 0.6\n"),
            "");
}

TEST(Results, LinesOfNumbersKeepTheirOrder) {
  const std::string list = "n\n1.5\n2.5\n0.5\n", wrong = "n\n2.5\n1.5\n0.5\n";
  EXPECT_EQ(compare({list}, list), "");
  EXPECT_EQ(compare({list}, wrong),
            "it prints `2.5` instead of `1.5`, the same lines of numbers in another order");
  EXPECT_EQ(compare({list, wrong}, wrong), "");  // tasks print them
  EXPECT_EQ(compare({list, wrong}, list), "");
  Results results = make();
  results.add_reference("", list);
  EXPECT_FALSE(results.compare("", wrong));
}

TEST(Results, ATransposedMatrixIsAnother) {
  EXPECT_THAT(compare({"1\n2\n3\n4\n5\n6\n"}, "1\n4\n2\n5\n3\n6\n"), HasSubstr("another order"));
  EXPECT_THAT(compare({"[1.5 2]\n[2.5 3]\n"}, "[2.5 3]\n[1.5 2]\n"), HasSubstr("another order"));
  EXPECT_EQ(compare({"1 0.5\n2 0.25\n"}, "2 0.25\n1 0.5\n"), "");  // perhaps of tasks 1 and 2
}

TEST(Results, TimesAreNothingToCompare) {
  const auto has_results = [](std::string_view out) {
    Results results = make();
    results.add_reference(out, "");
    return results.has_results();
  };
  EXPECT_FALSE(has_results(""));
  EXPECT_FALSE(has_results("ELAPSED TIME = 0.5 s\n"));
  EXPECT_TRUE(has_results("ELAPSED TIME = 0.5 s\nSUCCESS\n"));
  EXPECT_TRUE(has_results("sum 2.5\n"));
}

TEST(Results, LinesThatAreOverwrittenDoNotCount) {
  EXPECT_EQ(compare({"\rstep 1\rstep 2\rsum 4.5\n"}, "\rstep 1\rsum 4.5\r\n"), "");
  EXPECT_NE(compare({"\rstep 1\rsum 4.5\n"}, "\rstep 1\rsum 4.6\n"), "");
}

TEST(Results, LongLinesCountAsAWhole) {
  const std::string start(10'000, 'x');
  EXPECT_NE(compare({start + " 1.5"}, start + " 2.5"), "");
}

TEST(Results, AMarkIsNoNumber) { EXPECT_EQ(compare({"a#\n"}, "a5\n"), "it does not print `a#`"); }

TEST(Results, ANumberThatBecomesNaNIsToldFirst) {
  EXPECT_EQ(compare({"a 1.5\nsum 2.0\n"}, "a 9.5\nsum nan\n"),
            "it prints `sum nan` instead of `sum 2.0`");
  EXPECT_EQ(compare({"sum nan\n"}, "sum nan\n"), "");
  EXPECT_EQ(compare({"sum inf\n"}, "sum -inf\n"), "it prints `sum -inf` instead of `sum inf`");
  EXPECT_EQ(compare({"nano banana info\n"}, "nano banana info\n"), "");
  Results results = make();
  results.add_reference("sum 1.5\n", "");
  EXPECT_TRUE(results.compare("sum nan\n", "")->is_nan);
  EXPECT_FALSE(results.compare("sum 1.6\n", "")->is_nan);
}

TEST(Results, LinesMayComeInAnotherOrder) {
  EXPECT_EQ(compare({"point 1: 2.5\npoint 2: 3.5\ndone\n"}, "done\npoint 2: 3.5\npoint 1: 2.5\n"),
            "");
  EXPECT_THAT(compare({"point 1: 2.5\npoint 2: 3.5\n"}, "point 2: 2.5\npoint 1: 3.5\n"),
              HasSubstr("instead of"));
}

TEST(Results, LinesAreNeitherMissingNorMore) {
  EXPECT_EQ(compare({"a\nb 1\n"}, "b 1\n"), "it does not print `a`");
  EXPECT_EQ(compare({"a\n"}, "a\nwarning: overflow\n"),
            "it prints `warning: overflow`, which it does not print without the mapping");
  EXPECT_EQ(compare({"step 1\nstep 2\n"}, "step 1\n"), "it does not print `step 2`");
  EXPECT_EQ(compare({"SUCCESS!\n"}, "FAILURE!\n"), "it does not print `SUCCESS!`");
}

TEST(Results, TimesAreLeftOut) {
  for (const char* line : {"ELAPSED TIME = %s s", "elapsed %s ms", "took %s seconds", "%s GB/s",
                           "GFLOPS: %s", "iteration 3: %s us", "%s it/s", "throughput %s"}) {
    std::string first = line, second = line;
    first.replace(first.find("%s"), 2, "1.25");
    second.replace(second.find("%s"), 2, "9.75");
    EXPECT_EQ(compare({first}, second), "") << line;
  }
  EXPECT_NE(compare({"times 3.5\n"}, "times 4.5\n"), "");         // three and a half times
  EXPECT_NE(compare({"elapsed 3 ms\n"}, "elapsed: 3 ms\n"), "");  // the text still counts
}

// A line may have a time and a result.
TEST(Results, ResultsBesideTimesCount) {
  EXPECT_EQ(compare({"step 9 time 0.5 residual 1e-4\n"}, "step 9 time 0.7 residual 1e-4\n"), "");
  EXPECT_EQ(compare({"step 9 time 0.5 residual 1e-4\n"}, "step 9 time 0.5 residual 2e-4\n"),
            "it prints `step 9 time 0.5 residual 2e-4` instead of `step 9 time 0.5 residual 1e-4`");
  EXPECT_EQ(compare({"33.1 GFLOPS, norm 4.0\n"}, "35 GFLOPS, norm 4.0\n"), "");
  EXPECT_THAT(compare({"33.1 GFLOPS, norm 4.0\n"}, "33.1 GFLOPS, norm nan\n"),
              HasSubstr("norm nan"));
}

// Nor is a speed NaN that was none.
TEST(Results, ATimeThatBecameNaNIsOther) {
  EXPECT_THAT(compare({"time nan s\n"}, "time 3.5 s\n"), HasSubstr("instead of"));
  EXPECT_THAT(compare({"time 3.5 s\n"}, "time nan s\n"), HasSubstr("it prints `time nan s`"));
}

TEST(Results, PhysicsIsNoTime) {
  for (const char* line : {"velocity %s m/s", "peak at %s Hz", "mean speed %s", "half-life %s s",
                           "time-averaged energy %s", "time step %s", "performance %s",
                           "took 3 seconds sum %s", "33.1 GFLOPS, norm %s"}) {
    std::string first = line, second = line;
    first.replace(first.find("%s"), 2, "1.25");
    second.replace(second.find("%s"), 2, "9.75");
    EXPECT_NE(compare({first}, second), "") << line;
  }
}

TEST(Results, CountsAreNoPlaces) {
  EXPECT_NE(compare({"matrix rank 3\n"}, "matrix rank 4\n"), "");
  EXPECT_NE(compare({"node 0 v 1.5\nnode 1 v 2.5\n"}, "node 1 v 1.5\nnode 0 v 2.5\n"), "");
  EXPECT_EQ(compare({"[node 0] v 1.5\n"}, "[node 1] v 1.5\n"), "");
  EXPECT_EQ(compare({"on node 3\n"}, "on node 4\n"), "");
  EXPECT_EQ(compare({"node 0 CPU 1: SYSMEM of node 0\n"}, "node 1 CPU 0: SYSMEM of node 1\n"), "");
  EXPECT_THAT(compare({"size of node 3\n"}, "size of node 4\n"), HasSubstr("4"));
  EXPECT_THAT(compare({"visited nodes: 4711\n"}, "visited nodes: 4712\n"), HasSubstr("4712"));
}

TEST(Results, SaysWhatIsTooLong) {
  EXPECT_TRUE(Results::fits("a\n", "b\n"));
  EXPECT_FALSE(Results::fits(std::string(std::size_t{17} << 20, 'x'), ""));
  std::string lines;
  for (int i = 0; i < 262'145; ++i) lines += "1\n";
  EXPECT_FALSE(Results::fits("", lines));
  std::string numbers;
  for (int i = 0; i < 1'048'577; ++i) numbers += "1 ";
  EXPECT_FALSE(Results::fits(numbers, ""));
  EXPECT_TRUE(Results::fits(numbers.substr(2), ""));
}

TEST(Results, PaddingIsLeftOut) {
  EXPECT_EQ(compare({"GFLOPS =  12.637 GFLOPS\n"}, "GFLOPS =   9.836 GFLOPS\n"), "");
  EXPECT_EQ(compare({"  9.5 |2.25  |\n"}, " 9.5000001 |2.2500001|\n"), "");
  EXPECT_NE(compare({"counts 1 2\n"}, "counts 12\n"), "");
}

TEST(Results, PlacesAreLeftOut) {
  EXPECT_EQ(compare({"point 3 on CPU 1, node 0: 2.5\n"}, "point 3 on CPU 0, node 1: 2.5\n"), "");
  EXPECT_EQ(compare({"ran on processor 5\n"}, "ran on processor 7\n"), "");
  EXPECT_NE(compare({"point 3 on CPU 1\n"}, "point 4 on CPU 1\n"), "");
}

TEST(Results, WhatDiffersWithoutAMappingDoesNotCount) {
  const std::vector<std::string> runs = {"seed 17\nsum 2.5\nretry\n", "seed 23\nsum 2.5\n"};
  EXPECT_EQ(compare(runs, "seed 99\nsum 2.5\nretry\nretry\n"), "");
  EXPECT_EQ(compare(runs, "seed 99\nsum 2.6\n"), "it prints `sum 2.6` instead of `sum 2.5`");
  EXPECT_EQ(compare({"at 0x7ffe12\n"}, "at 0x55aa\n"), "");
}

TEST(Results, LinesOfLoggersCountWithoutTheirPrefix) {
  EXPECT_EQ(compare({"[0 - 7fbc52c29b80]    0.100000 {3}{circuit}: sum 4.5\n"},
                    "[0 - 7fd213a3f740]    9.900000 {3}{circuit}: sum 4.5\n"),
            "");
  EXPECT_THAT(compare({"[0 - 7fbc52c29b80]    0.100000 {3}{circuit}: sum 4.5\n"},
                      "[0 - 7fd213a3f740]    9.900000 {3}{circuit}: sum 4.6\n"),
              HasSubstr("`sum 4.6` instead of `sum 4.5`"));
  EXPECT_EQ(compare({"sum 1.5\n"},
                    "[0 - 7fd213a3f740]    0.1 {4}{threads}: reservation cannot be satisfied\n"
                    "sum 1.5\n"),
            "");
}

TEST(Results, PatternsSayWhatCounts) {
  EXPECT_EQ(compare({"on CPU 1\nsum 2.5 (17 steps)\n"}, "on CPU 0\nsum 2.5 (23 steps)\n",
                    {.same = {R"(^(sum [0-9.]+))"}}),
            "");
  EXPECT_NE(compare({"on CPU 1\nsum 2.5\n"}, "on CPU 1\nsum 2.6\n", {.same = {"^sum"}}), "");
  EXPECT_EQ(compare({"score 3.5\nsum 1.5\n"}, "score 4.5\nsum 1.5\n", {.measure = "score (.*)"}),
            "");
  EXPECT_THAT(Results::make({.same = {"("}}).error().message, HasSubstr("is not a pattern"));
  EXPECT_FALSE(Results::make({.tolerance = -1}));
}

TEST(Results, BothOutputsCount) {
  Results results = make();
  EXPECT_FALSE(results.has_reference());
  EXPECT_FALSE(results.compare("anything", ""));
  results.add_reference("a 1.5\n", "b 2.5\n");
  EXPECT_FALSE(results.compare("a 1.5\n", "b 2.5\n"));
  EXPECT_FALSE(results.compare("a 1.5\n", "b 2.5\na.mapper:3: no task `x` was launched\n"));
  EXPECT_TRUE(results.compare("a 1.5\n", ""));
  EXPECT_TRUE(results.compare("a 1.5\n", "b 2.6\n"));
}

TEST(Results, KeysTellPatternsApart) {
  EXPECT_NE(make({.same = {"a b"}}).key(), make({.same = {"a", "b"}}).key());
  EXPECT_NE(make({.same = {"a"}}).key(), make({.measure = "a"}).key());
}

TEST(Results, OwnLinesOnStandardErrorDoNotCount) {
  Results results = make();
  results.add_reference("sum 2.5\n", "groma: a under b: 4.38 s, with Legion's checks\nwarned\n");
  EXPECT_FALSE(results.compare("sum 2.5\n", "groma: a under b: 4.5 s\nwarned\n"));
  EXPECT_FALSE(results.compare("sum 2.5\n", "warned\n"));
  EXPECT_TRUE(results.compare("sum 2.5\n", "groma: a under b: 4.5 s\n"));  // the program's own
  results = make();
  results.add_reference("groma: 3\n", "");
  EXPECT_TRUE(results.compare("groma: 4\n", ""));  // standard output is the program's
}

TEST(Results, HostileOutputsAreTaken) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "x 1.5 y\n";
  EXPECT_EQ(compare({text}, text), "");
  const std::string long_line(10'000'000, '7');
  EXPECT_EQ(compare({long_line}, long_line), "");
  EXPECT_THAT(compare({"a\x1b[31m 1.5\n"}, "a\x1b[31m 2.5\n"), ::testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace groma
