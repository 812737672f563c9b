#include "groma/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace groma {
namespace {

using testing::HasSubstr;

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

TEST(Results, IntegersMustBeEqual) {
  EXPECT_EQ(compare({"found 1000000 pairs\n"}, "found 1000000 pairs\n"), "");
  EXPECT_EQ(compare({"found 1000000 pairs\n"}, "found 1000001 pairs\n"),
            "it prints `found 1000001 pairs` instead of `found 1000000 pairs`");
}

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

TEST(Results, CountsAreNoPlaces) {
  EXPECT_EQ(compare({"on node 3\n"}, "on node 4\n"), "");
  EXPECT_THAT(compare({"visited nodes: 4711\n"}, "visited nodes: 4712\n"), HasSubstr("4712"));
}

TEST(Results, SaysWhatIsTooLong) {
  EXPECT_TRUE(Results::fits("a\n", "b\n"));
  EXPECT_FALSE(Results::fits(std::string(std::size_t{17} << 20, 'x'), ""));
  std::string lines;
  for (int i = 0; i < 262'145; ++i) lines += "1\n";
  EXPECT_FALSE(Results::fits("", lines));
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

TEST(Results, HostileOutputsTakeLittleTime) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "x 1.5 y\n";
  EXPECT_EQ(compare({text}, text), "");
  const std::string long_line(10'000'000, '7');
  EXPECT_EQ(compare({long_line}, long_line), "");
  EXPECT_THAT(compare({"a\x1b[31m 1.5\n"}, "a\x1b[31m 2.5\n"), testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace groma
