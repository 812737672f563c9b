// Questions of what a Workload holds.
#include "app/data.h"

#include <algorithm>

namespace groma::app {

int Data::find_task(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const Task& each) { return each.name == task; });
  return found == tasks.end() ? -1 : static_cast<int>(found - tasks.begin());
}

}  // namespace groma::app
