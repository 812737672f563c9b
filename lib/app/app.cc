// Questions of an application.
#include "groma/app.h"

#include <algorithm>

namespace groma {

const AppTask* Application::find(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const AppTask& each) { return each.name == task; });
  return found == tasks.end() ? nullptr : &*found;
}

int depth_of(const Application& app, const AppTask& task, const AppLaunch& launch) {
  if (launch.parent.empty()) return task.name == app.top_level ? 0 : 1;
  return launch.parent == app.top_level ? 1 : 2;
}

}  // namespace groma
