// Starting points of searches that change one mapping step by step.
#pragma once

#include <vector>

#include "groma/search_space.h"

namespace groma::tuning {

// Returns the starting points to try in this order; a search starts at the first one that runs. The
// first has option 0 for every decision. The others differ from the first in one option of a layout
// decision for all tasks: some programs fail with the default layout.
inline std::vector<Choice> beginnings(const SearchSpace& space) {
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
