// Where a search that goes step by step begins.
#pragma once

#include <vector>

#include "groma/search_space.h"

namespace groma::tuning {

// All options 0, then, for a program that has other demands, that with one other option of a layout
// of everything, each. The first that runs
// is the one to begin with.
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
