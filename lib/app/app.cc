// Looks up a task of an application by name. Removes from tasks the layout demands that the
// program's own mapper made when the program was recorded (override_layouts).
#include "groma/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/spelling.h"

namespace groma {

const AppTask* Application::find(std::string_view task) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [task](const AppTask& each) { return each.name == task; });
  return found == tasks.end() ? nullptr : &*found;
}

// Removes the layout demands of the program's own mapper from every task that `overrides` names, so
// that a mapping may choose the layouts. Demands of the variants themselves stay. Changes nothing
// and returns kUnknown, with similar names as help, if a name is not a task of the application. The
// name `*` means all tasks.
std::optional<Error> override_layouts(const LayoutOverrides& overrides, Application& app) {
  for (const std::string& name : overrides.tasks) {
    const auto has_name = [&](const AppTask& task) { return task.name == name; };
    if (name == "*" || std::any_of(app.tasks.begin(), app.tasks.end(), has_name)) continue;
    std::vector<std::string_view> tasks;
    for (const AppTask& task : app.tasks) tasks.push_back(task.name);
    const auto near = near_names(name, tasks);
    return Error{Error::Code::kUnknown,
                 fmt::format("`--override-layouts={}`: the application `{}` has no such task", name,
                             app.name),
                 near.empty() ? "" : fmt::format("did you mean {}?", join_names(near))};
  }
  for (AppTask& task : app.tasks) {
    if (!overrides.has(task.name)) continue;
    for (AppVariant& variant : task.variants) {
      const auto removed = std::erase_if(variant.demands, app::is_mapper_demand);
      // A layout demand of the program's own mapper also shows that this mapper chose the variant.
      // The member `chosen_by_mapper` keeps this fact after the demand has been removed.
      variant.chosen_by_mapper = variant.chosen_by_mapper || removed > 0;
    }
  }
  return std::nullopt;
}

}  // namespace groma
