// Which tasks work with any layout, whatever the program's own mapper asks for.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// The tasks whose Layout statements may contradict what the program's own mapper asks for. What a
// variant declares still counts.
struct LayoutOverrides {
  std::vector<std::string> tasks = {};  // their names; `*`: all tasks

  bool has(std::string_view task) const {
    return std::any_of(tasks.begin(), tasks.end(),
                       [task](const std::string& one) { return one == task || one == "*"; });
  }
};

}  // namespace groma
