// What turns one text into another, by lines.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace groma {

// The lines of a text, each with its end; the last may have none.
std::vector<std::string_view> lines_of(std::string_view text);

struct LineEdit {
  char sign;              // ' ' stays, '-' goes, '+' comes
  std::string_view line;  // of the text that has it, with its end where there is one
};

// The edits that turn `before` into `after`, in order; as few as possible where the lines between
// the common head and tail of both, multiplied, are at most `most_cells` (4 bytes each), else those
// all go and come. Points into both texts.
std::vector<LineEdit> line_edits(std::string_view before, std::string_view after,
                                 std::size_t most_cells = 16'000'000);

}  // namespace groma
