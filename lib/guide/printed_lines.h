// Splits a line that a program printed into its text and its numbers, to compare the results of two
// runs (groma/results.h). The main function is extract_numbers().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// A number in a line that a program printed. `digits` refers to the text that was passed to
// extract_numbers().
struct PrintedNumber {
  // kInteger: the number has only digits. kReal: any other number. kText: the number does not fit a
  // double (1e400), so its printed text is compared.
  enum class Kind : std::uint8_t { kInteger, kReal, kText };
  // Whether a number is compared. kCounts: the number is a result. kIgnored: the number is a time
  // or a location. kUnsteady: the number changes from run to run.
  enum class Role : std::uint8_t { kCounts, kIgnored, kUnsteady };

  // The value of the number. May be NaN or infinite if `kind` is kReal.
  double value = 0;
  // For kInteger, the digits without sign and leading zeros. For kText, the printed number without
  // its sign.
  std::string_view digits;
  Kind kind = Kind::kReal;
  Role role = Role::kCounts;
  // True if the number has a minus sign. Compared only for kInteger and kText.
  bool is_negative = false;
  // True if the number is an error or a difference, such as a residual, which is near 0 in a
  // correct run.
  bool is_residual = false;

  bool is_nan() const { return std::isnan(value); }
  bool is_infinite() const { return std::isinf(value); }
};

// A line that a program printed, and the numbers in the line from left to right.
struct PrintedLine {
  std::string_view text;
  // The index of the line in the output of the program, from 0.
  std::int64_t position = 0;
  std::vector<PrintedNumber> numbers;
};

// The character that stands for a number in a skeleton, which is a printed line without its
// numbers. A line never contains a line end, so the character is unambiguous.
inline constexpr char kNumberMark = '\n';

// Appends the numbers of `text` to `numbers` and returns the skeleton: the text with kNumberMark in
// place of each number. Blanks beside a number are dropped, because a program that aligns its
// columns prints more blanks before a shorter number. If `ignores_times` is true, numbers that are
// times or speeds get Role::kIgnored. The run time is linear in the length of the text, because the
// patterns for times and locations look at most 64 bytes to either side of a number.
std::string extract_numbers(std::string_view text, bool ignores_times,
                            std::vector<PrintedNumber>& numbers);

// Returns the number of printed numbers in `text`, which may have several lines. Returns `most` + 1
// if there are more than `most`.
std::int64_t count_numbers(std::string_view text, std::int64_t most);

}  // namespace groma::guide
