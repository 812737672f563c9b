// Functions that look things up in an application.
#include "groma/app.h"

#include <algorithm>

namespace groma {

const AppTask* Application::find(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const AppTask& each) { return each.name == task; });
  return found == tasks.end() ? nullptr : &*found;
}

}  // namespace groma
