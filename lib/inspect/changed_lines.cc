// Finds the lines that a fix changes. Edits of the same lines give one change.
#include "inspect/changed_lines.h"

#include <algorithm>
#include <string_view>

namespace groma {
namespace {

// Returns the lines of a text without their line ends. A text that ends with a line end has no
// empty last line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Removes the lines with which both lists begin, and those with which both end.
void drop_equal_ends(RunSummary::LineChange* change) {
  auto& [before, after] = *change;
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
  const auto same = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  before.erase(before.begin(), same.first);
  after.erase(after.begin(), same.second);
}

}  // namespace

std::vector<RunSummary::LineChange> changed_lines(const Source& source, const Fix& fix) {
  const std::string_view text = source.text();
  std::vector<Edit> edits;
  for (const Edit& edit : fix.edits) {
    if (edit.range.begin <= edit.range.end && edit.range.end <= text.size()) edits.push_back(edit);
  }
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.range.begin < b.range.begin; });
  std::vector<RunSummary::LineChange> changes;
  for (std::size_t first = 0; first < edits.size();) {
    // The lines [begin, end) that this edit changes, and the further edits that begin there.
    const std::size_t at = edits[first].range.begin;
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    std::size_t end = begin, last = first;
    std::string after;
    for (std::size_t copied = begin;; ++last) {
      if (last == edits.size() || (last > first && edits[last].range.begin >= end)) {
        after += text.substr(copied, std::max(end, copied) - copied);
        break;
      }
      const Edit& edit = edits[last];
      after += text.substr(copied, std::max<std::size_t>(edit.range.begin, copied) - copied);
      after += edit.text;
      copied = std::max<std::size_t>(copied, edit.range.end);
      end = std::max(end, std::min(text.find('\n', copied), text.size() - 1) + 1);
    }
    RunSummary::LineChange change{lines_of(text.substr(begin, end - begin)), lines_of(after)};
    drop_equal_ends(&change);
    if (!change.before.empty() || !change.after.empty()) changes.push_back(std::move(change));
    first = last;
  }
  return changes;
}

}  // namespace groma
