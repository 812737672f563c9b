// The descent of the steps in a report: which results a step was made from, and the line of the
// best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "groma/search_report.h"

namespace groma::tuning {

// Finds results by the numbers of their steps.
class ResultNumbers {
 public:
  // Adds the result at `index` of SearchReport::results. A result whose number is not greater than
  // those of all results before it is ignored; only a forged journal has such results.
  void add(std::int64_t number, std::uint32_t index) {
    if (ascending_.empty() || ascending_.back().first < number) {
      ascending_.emplace_back(number, index);
    }
  }
  // Returns the indices of the results with these numbers. Unknown numbers are left out.
  std::vector<std::uint32_t> indices_of(const std::vector<std::int64_t>& numbers) const;

 private:
  // The numbers in ascending order, each with the index of its result.
  std::vector<std::pair<std::int64_t, std::uint32_t>> ascending_;
};

// Returns the value of SearchReport::line_of_best. Parents must stand before their children.
std::vector<std::size_t> find_line_of_best(const SearchReport& report);

}  // namespace groma::tuning
