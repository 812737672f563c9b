// A line that a program printed, cut into its text and its numbers (groma/results.h). The only way
// in is cut_line().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// A number in a line. Its digits lie in the text that was cut.
struct PrintedNumber {
  // kText: a number that double cannot hold (1e400), which is compared as it is printed.
  enum class Kind : std::uint8_t { kInteger, kReal, kText };
  // kIgnored: a time or a place. kUnsteady: the number changes from run to run.
  enum class Role : std::uint8_t { kCounts, kIgnored, kUnsteady };

  double value = 0;         // may be NaN or infinite if it is a kReal
  std::string_view digits;  // of a kInteger without sign and leading zeros; of a kText all
  Kind kind = Kind::kReal;
  Role role = Role::kCounts;
  bool is_negative = false;  // of a kInteger and a kText
  bool is_residue = false;   // an error or a difference, which is around 0 where all is well

  bool is_nan() const { return std::isnan(value); }
  bool is_infinite() const { return std::isinf(value); }
};

struct PrintedLine {
  std::string_view text;
  std::int64_t position = 0;  // in its output, counted from 0
  std::vector<PrintedNumber> numbers;
};

// Stands for a number in a skeleton. No line has a line end in it.
inline constexpr char kNumberMark = '\n';

// Cuts `text` into its numbers and its skeleton: the text with kNumberMark for each number, without
// the blanks beside them, since a program that pads its columns prints more of them before a
// shorter number. `with_times`: times and speeds are ignored. Takes time in proportion to the text:
// the patterns for times and places see at most 64 bytes on either side of a number.
std::string cut_line(std::string_view text, bool with_times, std::vector<PrintedNumber>& numbers);

// Returns the number of numbers in `text`, which may have several lines; stops above `most`.
std::int64_t count_numbers(std::string_view text, std::int64_t most);

}  // namespace groma::guide
