// MarkedText: a text in which comments list the alternatives of a value, such as
// `// groma: one of 16 32 64` behind the value 32. The proposers `marks` and `opentuner` search
// over these values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"
#include "groma/search.h"

namespace groma::tuning {

// A marked line of a text: it has a value, and lists the values that may replace that value.
struct MarkedLine {
  // The name of the line for people (name_of_line() in text_files.h).
  std::string place;
  // 2 to MarkedText::kMaxValues values.
  std::vector<std::string> values;

  // Returns true if all values are decimal integers of 64 bits, each larger than the one before it.
  bool has_rising_integers() const;
};

// A text that is split at the values that may be replaced.
struct MarkedText {
  static constexpr std::size_t kMaxMarks = 64, kMaxValues = 64;
  // For each marked line, the index of its chosen value in the list of alternatives.
  using Choice = std::vector<std::uint32_t>;

  // The marked lines in the order of the text, at most kMaxMarks.
  std::vector<MarkedLine> marks;
  // The parts of the text before, between and after the values: one more than `marks`.
  std::vector<std::string> between;
  // The values that the text has.
  Choice chosen;

  // Returns the text with the chosen values.
  std::string text_of(const Choice& choice) const;
  // Returns the changes from one choice to another for people: "line 3: 64 for 32, line 5: a for
  // b", or "as it is" if the choices are equal.
  std::string changes(const Choice& from, const Choice& to) const;
};

// Finds the marked lines of a text; there may be none. Fails with the number of the wrong line:
// kMalformed if a line lists too few or too many values or does not have exactly one of them,
// kTooLarge if there are too many marked lines.
Result<MarkedText> read_marks(std::string_view text);

// Finds the marked lines of the text with which a search begins. Fails as read_marks() and as
// Segments::of_marked() do, and with kUnknown if there are no marked lines. The errors name the
// problem's file.
Result<MarkedText> read_marks_of(const SearchProblem& problem);

}  // namespace groma::tuning
