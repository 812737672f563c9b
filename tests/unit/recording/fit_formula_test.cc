#include "recording/fit_formula.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace groma::app {
namespace {

using Function = std::function<std::int64_t(std::int64_t, std::int64_t)>;

Samples grid(int rows, int columns, const Function& value) {
  Samples samples{{"i", "j"}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      samples.add(std::vector<std::int64_t>{i, j}, value(i, j));
    }
  }
  return samples;
}

std::string fitted(const Samples& samples, const std::vector<std::int64_t>& periods = {}) {
  const auto formula = fit_formula(samples, periods);
  if (!formula) return "none";
  EXPECT_TRUE(matches_all_samples(*formula, samples));
  return formula->text();
}

TEST(FitFormula, WhatAPersonWouldWrite) {
  EXPECT_EQ(fitted(grid(4, 4, [](auto, auto) { return 7; })), "7");
  EXPECT_EQ(fitted(grid(4, 4, [](auto, auto j) { return j; })), "j");
  EXPECT_EQ(fitted(grid(4, 4, [](auto i, auto j) { return 3 * i - j + 2; })), "3 * i + 2 - j");
  EXPECT_EQ(fitted(grid(4, 4, [](auto i, auto j) { return (i + j) % 4; }), {4}), "(i + j) % 4");
  EXPECT_EQ(fitted(grid(4, 4, [](auto i, auto) { return (i + 3) % 4; }), {4}), "(i - 1) % 4");
  EXPECT_EQ(fitted(grid(8, 1, [](auto i, auto) { return i / 2; })), "i / 2");
  EXPECT_EQ(fitted(grid(8, 1, [](auto i, auto) { return i / 2 % 2; }), {2}), "(i / 2) % 2");
  EXPECT_EQ(fitted(grid(12, 1, [](auto i, auto) { return i % 4 * 5 - 2; })), "5 * (i % 4) - 2");
}

// The bounds of the diagonals of a square. There are more of them than a choice could tell apart.
TEST(FitFormula, TheLargerOrTheSmallerOfTwo) {
  for (const std::int64_t edge : {3, 4, 9, 1000}) {
    const std::string last = std::to_string(edge - 1);
    const int diagonals = static_cast<int>(2 * edge - 1);
    EXPECT_EQ(fitted(grid(diagonals, 1,
                          [&](auto i, auto) { return std::max<std::int64_t>(0, i - edge + 1); })),
              "max(0, i - " + last + ")");
    EXPECT_EQ(fitted(grid(diagonals, 1,
                          [&](auto i, auto) { return std::min<std::int64_t>(i, edge - 1); })),
              "min(i, " + last + ")");
  }
  EXPECT_EQ(fitted(grid(9, 4, [](auto i, auto j) { return j - std::max<std::int64_t>(0, i - 3); })),
            "min(j, j + 3 - i)");
}

TEST(FitFormula, AChoiceWhereNothingElseIsRight) {
  const std::vector<std::int64_t> any = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto samples = grid(8, 1, [&](auto i, auto) { return any[static_cast<std::size_t>(i)]; });
  EXPECT_NE(fitted(samples), "none");
  EXPECT_EQ(fitted(grid(6, 2, [](auto i, auto j) { return i < 3 ? j : 10 * i; })),
            "(i < 3 ? j : 10 * i)");
}

TEST(FitFormula, NothingWhereSamplesContradictEachOther) {
  Samples samples{{"i"}, {}, {}};
  samples.add(std::vector<std::int64_t>{1}, 1);
  samples.add(std::vector<std::int64_t>{1}, 2);
  EXPECT_EQ(fitted(samples), "none");
}

TEST(FitFormula, NothingThatIsTooLong) {
  std::uint64_t state = 1;
  EXPECT_EQ(fitted(grid(20, 20,
                        [&](auto, auto) {
                          state = state * 6364136223846793005U + 1442695040888963407U;
                          return static_cast<std::int64_t>(state >> 33U);
                        })),
            "none");
}

TEST(FitFormula, LargeNumbersDoNoHarm) {
  Samples samples{{"i"}, {}, {}};
  samples.add(std::vector<std::int64_t>{0}, INT64_MIN);
  samples.add(std::vector<std::int64_t>{1}, INT64_MAX);
  samples.add(std::vector<std::int64_t>{2}, INT64_MIN);
  fitted(samples);
  samples.add(std::vector<std::int64_t>{INT64_MAX}, 5);
  samples.add(std::vector<std::int64_t>{INT64_MIN}, 5);
  fitted(samples, {INT64_MAX, INT64_MIN});
}

// Every quotient, absolute value and remainder that does not fit.
TEST(FitFormula, ExtremesInEveryPlace) {
  const std::vector<std::int64_t> values = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
  for (const std::int64_t x0 : values) {
    for (const std::int64_t x1 : values) {
      for (const std::int64_t x2 : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
        for (const std::int64_t y : values) {
          Samples samples{{"i"}, {}, {}};
          samples.add(std::vector<std::int64_t>{x0}, 0);
          samples.add(std::vector<std::int64_t>{x1}, y);
          samples.add(std::vector<std::int64_t>{x2}, y / 2);
          fitted(samples, {INT64_MAX, INT64_MAX / 2 + 1, INT64_MIN, 2});
          const auto line = linear_guess(samples);
          EXPECT_NO_FATAL_FAILURE(static_cast<void>(values_of(line, samples)));
        }
      }
    }
  }
  Samples falls{{"i"}, {}, {}};  // a step of -1, a rise of -2^63
  falls.add(std::vector<std::int64_t>{1}, 0);
  falls.add(std::vector<std::int64_t>{0}, INT64_MIN);
  EXPECT_NE(fitted(falls), "none");
}

// A choice that is nested too deeply for a formula is none.
TEST(FitFormula, NothingThatIsTooDeep) {
  std::uint64_t state = 1;
  Samples samples;
  constexpr std::size_t kVariables = 44;
  for (std::size_t v = 0; v < kVariables; ++v) {
    samples.names.push_back("v" + std::to_string(v));
  }
  for (std::size_t s = 0; s < 2 * kVariables; ++s) {
    std::vector<std::int64_t> at(kVariables, 0);
    at[s / 2] = static_cast<std::int64_t>(s % 2) + 1;
    state = state * 6364136223846793005U + 1442695040888963407U;
    samples.add(at, static_cast<std::int64_t>(state >> 60U));
  }
  fitted(samples);  // which says itself that what it found is right
}

}  // namespace
}  // namespace groma::app
