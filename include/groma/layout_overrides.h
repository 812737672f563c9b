// LayoutOverrides: the tasks that work with any layout, so that a mapping may contradict the
// layouts that the program's own mapper asks for.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// The tasks whose Layout statements may contradict what the program's own mapper asks for. The
// layouts that their variants declare still hold.
struct LayoutOverrides {
  // The names of the tasks. `*` stands for all tasks.
  std::vector<std::string> tasks = {};

  bool has(std::string_view task) const {
    return std::any_of(tasks.begin(), tasks.end(),
                       [task](const std::string& one) { return one == task || one == "*"; });
  }
};

}  // namespace groma
