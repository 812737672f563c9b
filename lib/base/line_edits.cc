// Computes the difference between two texts, line by line, as a longest common subsequence. The
// common first and last lines are removed before. Usually few lines differ, so the quadratic table
// is small. If the table would exceed its limit, all lines between become one change.
#include "groma/line_edits.h"

#include <algorithm>
#include <cstdint>

namespace groma {

// Splits a text into lines, each with its line end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Returns all lines of both texts in order: kept (' '), removed ('-') and added ('+'). `most_cells`
// limits the table of the subsequence.
std::vector<LineEdit> line_edits(std::string_view before, std::string_view after,
                                 std::size_t most_cells) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  // Count the lines that both texts have in common at their beginning and at their end.
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = a.size() - head - tail, m = b.size() - head - tail;
  // Let A and B be the lines of `before` and of `after`, without the common first and last lines.
  // cell(i, j) is the length of the longest common subsequence of A from line i on and B from line
  // j on.
  const bool small = (n + 1) * (m + 1) <= most_cells;
  std::vector<std::uint32_t> common(small ? (n + 1) * (m + 1) : 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (m + 1) + j];
  };
  for (std::size_t i = n; small && i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      cell(i, j) = a[head + i] == b[head + j] ? cell(i + 1, j + 1) + 1
                                              : std::max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  std::vector<LineEdit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', a[i]});
  // Write the edits from the first line to the last. Where the lines differ, the table tells
  // whether to remove or to add a line. If both keep an equally long common subsequence, remove
  // one.
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (small && i < n && j < m && a[head + i] == b[head + j]) {
      edits.push_back({' ', a[head + i++]});
      ++j;
    } else if (i < n && (j == m || !small || cell(i + 1, j) >= cell(i, j + 1))) {
      edits.push_back({'-', a[head + i++]});
    } else {
      edits.push_back({'+', b[head + j++]});
    }
  }
  for (std::size_t k = a.size() - tail; k < a.size(); ++k) edits.push_back({' ', a[k]});
  return edits;
}

}  // namespace groma
