// starting_points(): the mappings from which a local search starts, such as annealing or descent.
#pragma once

#include <vector>

#include "groma/search_space.h"

namespace groma::tuning {

// Returns the mappings with which to start a search, in the order in which to try them. The search
// starts at the first mapping that runs. The first one has option 0 for every decision. Each of the
// others differs from it in one layout decision for all tasks, because some programs fail with the
// default layout.
inline std::vector<Choice> starting_points(const SearchSpace& space) {
  const std::vector<Decision>& decisions = space.decisions();
  std::vector<Choice> choices = {Choice(decisions.size(), 0)};
  for (std::size_t d = 0; d < decisions.size(); ++d) {
    if (decisions[d].statement != MappingStatement::kLayout || decisions[d].task >= 0) continue;
    for (std::uint32_t option = 1; option < decisions[d].options.size(); ++option) {
      choices.push_back(choices.front());
      choices.back()[d] = option;
    }
  }
  return choices;
}

}  // namespace groma::tuning
