// Splits a line that a program printed into its text and its numbers, to compare the results of two
// runs (groma/results.h). The main entry point is cut_line().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// A number in a printed line. `digits` refers to the text that was passed to cut_line().
struct PrintedNumber {
  // kText: the number does not fit a double (1e400), so its printed text is compared.
  enum class Kind : std::uint8_t { kInteger, kReal, kText };
  // Whether a number is compared. kCounts: it is a result. kIgnored: it is a time or a location.
  // kUnsteady: it changes from run to run.
  enum class Role : std::uint8_t { kCounts, kIgnored, kUnsteady };

  double value = 0;  // may be NaN or infinite for kReal
  // For kInteger, the digits without sign and leading zeros; for kText, the whole number.
  std::string_view digits;
  Kind kind = Kind::kReal;
  Role role = Role::kCounts;
  bool is_negative = false;  // for kInteger and kText
  bool is_residue = false;   // an error or a difference, which is near 0 in a correct run

  bool is_nan() const { return std::isnan(value); }
  bool is_infinite() const { return std::isinf(value); }
};

// A printed line and its numbers, in the order in which they stand in the line.
struct PrintedLine {
  std::string_view text;
  std::int64_t position = 0;  // index of the line in the output, from 0
  std::vector<PrintedNumber> numbers;
};

// Stands for a number in a skeleton. A line never contains a line end, so the mark is unambiguous.
inline constexpr char kNumberMark = '\n';

// Appends the numbers of `text` to `numbers` and returns the skeleton: the text with kNumberMark in
// place of each number. Blanks beside a number are dropped, because a program that aligns its
// columns prints more blanks before a shorter number. If `ignores_times` is true, numbers that are
// times or speeds get Role::kIgnored. The run time is linear in the length of the text, because the
// patterns for times and locations look at most 64 bytes to either side of a number.
std::string cut_line(std::string_view text, bool ignores_times,
                     std::vector<PrintedNumber>& numbers);

// Counts the numbers in `text`, which may have several lines. Returns `most` + 1 if there are more
// than `most`.
std::int64_t count_numbers(std::string_view text, std::int64_t most);

}  // namespace groma::guide
