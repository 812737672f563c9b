// Computes the line edits that turn one text into another.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace groma {

// Splits a text into lines, each with its line end. The last line may have none.
std::vector<std::string_view> lines_of(std::string_view text);

// One line of an edit script.
struct LineEdit {
  // The kind of the edit: ' ' keeps the line, '-' removes the line, '+' adds it.
  char sign;
  // The line, with its line end if it has one. It is a view of the text that contains the line.
  std::string_view line;
};

// Returns the edits that turn `before` into `after`, in order. Lines at the common beginning and
// end of both texts are kept. Let B and A be the numbers of the lines in between. If B * A is at
// most `most_cells` (4 bytes each), the number of edits is minimal; otherwise all these lines are
// removed and added. The views point into both texts.
std::vector<LineEdit> line_edits(std::string_view before, std::string_view after,
                                 std::size_t most_cells = 16'000'000);

}  // namespace groma
