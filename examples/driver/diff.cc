// Writes the difference of two texts in the format of other diff tools.
#include "diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "groma/line_edits.h"

namespace driver {

// Returns the hunks of the difference. Two changes share a hunk if at most two contexts of
// unchanged lines lie between them, so the contexts would touch.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return "";
  constexpr std::size_t kContext = 3;
  const std::vector<groma::LineEdit> edits = groma::line_edits(before, after);
  std::string text = fmt::format("--- {}\n+++ {} (formatted)\n", name, name);
  std::size_t at = 0, old_line = 1, new_line = 1;
  while (at < edits.size()) {
    // Find the next changed line. Without one, the diff is complete.
    std::size_t first = at;
    while (first < edits.size() && edits[first].sign == ' ') ++first;
    if (first == edits.size()) break;
    // The hunk begins up to kContext lines before the change.
    const std::size_t begin = std::max(at, first < kContext ? 0 : first - kContext);
    old_line += begin - at, new_line += begin - at;
    // The hunk ends at a run of unchanged lines that is longer than two contexts. `quiet` is the
    // number of unchanged lines at the end of the hunk; at most kContext of them stay in it.
    std::size_t end = first, quiet = 0;
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
    // If a hunk has no lines on one side, the number of the line before the hunk is written for
    // that side, as `diff -u` does.
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", old_count == 0 ? old_line - 1 : old_line,
                        old_count, new_count == 0 ? new_line - 1 : new_line, new_count, body);
    old_line += old_count, new_line += new_count;
    at = end;
  }
  return text;
}

}  // namespace driver
