// Finds the parents of steps, and the line of the best.
#include "search_report/descent.h"

#include <algorithm>

namespace groma::tuning {

std::vector<std::uint32_t> ResultNumbers::indices_of(
    const std::vector<std::int64_t>& numbers) const {
  std::vector<std::uint32_t> indices;
  for (const std::int64_t number : numbers) {
    const auto found = std::lower_bound(
        ascending_.begin(), ascending_.end(), number,
        [](const auto& result, std::int64_t wanted) { return result.first < wanted; });
    if (found != ascending_.end() && found->first == number) indices.push_back(found->second);
  }
  return indices;
}

// Parents have smaller indices than their children, so the loop ends.
std::vector<std::size_t> find_line_of_best(const SearchReport& report) {
  std::vector<std::size_t> line;
  if (!report.best || report.steps_with_parents == 0) return line;
  line.push_back(*report.best);
  while (!report.results[line.back()].parents.empty()) {
    line.push_back(report.results[line.back()].parents.front());
  }
  std::reverse(line.begin(), line.end());
  return line;
}

}  // namespace groma::tuning
