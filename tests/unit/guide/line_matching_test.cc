#include "guide/line_matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace groma::guide {
namespace {

constexpr NumberTolerances kClose = {.tolerance = 1e-6, .noise = 1e-9, .residue_noise = 1e-9};

// Lines that `write` writes for 0 to `count`; holds what they point to.
class Lines {
 public:
  Lines(int count, const std::function<std::string(int)>& write) {
    for (int i = 0; i < count; ++i) texts_.push_back(write(i));
    for (const std::string& text : texts_) {
      PrintedLine line{text, static_cast<std::int64_t>(all_.size()), {}};
      extract_numbers(text, true, line.numbers);
      all_.push_back(std::move(line));
    }
  }
  const std::vector<PrintedLine>& all() const { return all_; }

 private:
  std::vector<std::string> texts_;
  std::vector<PrintedLine> all_;
};

// The comparisons that it takes to pair all lines, for each number of both.
double comparisons(const Lines& expected, const Lines& got) {
  const Columns columns(expected.all().front().numbers.size());
  std::int64_t comparisons = 0;
  const LineMatcher matcher(kClose, columns, &comparisons);
  EXPECT_TRUE(matcher.find_unmatched_lines(expected.all(), got.all()).empty());
  return static_cast<double>(comparisons) /
         static_cast<double>(2 * expected.all().size() * columns.size());
}

TEST(LineMatching, TakesFewComparisons) {
  constexpr int kLines = 20'000;
  const double most = 2 * std::log2(2 * kLines);
  const auto line = [](int i) { return "p " + std::to_string(i) + " x 1.5 y -2.5"; };
  EXPECT_LT(comparisons({kLines, line}, {kLines, [&](int i) { return line(kLines - 1 - i); }}),
            most);
  // All of them are close.
  const auto same = [](int) { return std::string("x 1.5 y 2.5"); };
  EXPECT_LT(comparisons({kLines, same}, {kLines, same}), most);
  // Each is close to its neighbours only.
  const auto chain = [](int i) { return "x 1." + std::to_string(10'000'000 + i * 5); };
  EXPECT_LT(comparisons({kLines, chain}, {kLines, [&](int i) { return chain(kLines - 1 - i); }}),
            most);
}

TEST(LineMatching, TakesFewComparisonsWhereNothingMatches) {
  constexpr int kLines = 20'000;
  const Lines expected(kLines, [](int) { return std::string("x 1.5 y nan"); });
  const Lines got(kLines, [](int) { return std::string("x 1.5 y 2.5"); });
  const Columns columns(2);
  std::int64_t comparisons = 0;
  const LineMatcher matcher(kClose, columns, &comparisons);
  EXPECT_EQ(matcher.find_unmatched_lines(expected.all(), got.all()).got.size(),
            std::size_t{kLines});
  EXPECT_LT(comparisons, 100 * kLines);
}

// A line of as many numbers as an output may have.
TEST(LineMatching, TakesALineOfManyNumbers) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "1 ";
  EXPECT_LT(comparisons({1, [&](int) { return text; }}, {1, [&](int) { return text; }}), 2);
  EXPECT_EQ(count_numbers(text, 2'000'000), 1'000'000);
  EXPECT_EQ(count_numbers(text, 10), 11);
}

}  // namespace
}  // namespace groma::guide
