// Longest common subsequence between what the common head and tail leave, by lines. Formatting
// changes few lines at a time, so the quadratic table is small; beyond its bound all is one change.
#include "diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace driver {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// The edits that turn a into b.
std::vector<Edit> edits_between(const Lines& a, const Lines& b) {
  constexpr std::size_t kMaxCells = 16'000'000;
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = a.size() - head - tail, m = b.size() - head - tail;
  const bool small = (n + 1) * (m + 1) <= kMaxCells;
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
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', a[i]});
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

}  // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return "";
  constexpr std::size_t kContext = 3;
  const Lines a = lines_of(before), b = lines_of(after);
  const std::vector<Edit> edits = edits_between(a, b);
  std::string text = fmt::format("--- {}\n+++ {} (formatted)\n", name, name);
  std::size_t at = 0, old_line = 1, new_line = 1;
  while (at < edits.size()) {
    std::size_t first = at;
    while (first < edits.size() && edits[first].sign == ' ') ++first;
    if (first == edits.size()) break;
    const std::size_t begin = std::max(at, first < kContext ? 0 : first - kContext);
    old_line += begin - at, new_line += begin - at;
    std::size_t end = first, quiet = 0;  // up to where more than two contexts are unchanged
    while (end < edits.size() && quiet <= 2 * kContext)
      quiet = edits[end++].sign == ' ' ? quiet + 1 : 0;
    end -= quiet > kContext ? quiet - kContext : 0;
    std::string body;
    std::size_t old_count = 0, new_count = 0;
    for (std::size_t k = begin; k < end; ++k) {
      old_count += edits[k].sign != '+';
      new_count += edits[k].sign != '-';
      body += edits[k].sign;
      body += edits[k].line;
      if (!edits[k].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", old_count == 0 ? old_line - 1 : old_line,
                        old_count, new_count == 0 ? new_line - 1 : new_line, new_count, body);
    old_line += old_count, new_line += new_count;
    at = end;
  }
  return text;
}

}  // namespace driver
