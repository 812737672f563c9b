// The launches of a task, divided by the selectors (`main > step[dim=2]`) that stand for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/data.h"
#include "explain/explain_query.h"
#include "groma/program.h"
#include "groma/task_view.h"

namespace groma {

// Launches of a task for which the same selectors stand, so that all of them have the same
// decisions.
struct TaskContext {
  TaskLaunches launches;
  // The names of the tasks above, the launching task first. Empty if they do not matter.
  std::vector<std::string> above;
  // Equal for launches for which the same selectors stand (launch_class()).
  std::string launch_class;
  // Where these launches are, in words: "launched by main > step, in 2 dimensions". Empty if the
  // task has no other launches.
  std::string words;
};

// Returns the contexts of a task under the selectors of the programs, in the order of its launches.
// There is always at least one. If the programs have no selectors for the task, the result is one
// context with all launches. Of the ways to reach a launch, at most kMaxPathsOfLaunch are looked
// at.
inline constexpr std::size_t kMaxPathsOfLaunch = 64;
std::vector<TaskContext> contexts_of(const app::Data& app, const std::vector<TaskLaunches>& uses,
                                     std::uint32_t task, const std::vector<Program>& programs);

// Returns the number of dimensions of the launches: 0 for single tasks, -1 if there is no launch.
int dimensions_of(const TaskContext& context);

// Returns a text that is equal for tasks with the same name for which the same selectors of the
// programs stand.
std::string launch_class(const std::vector<Program>& programs, const LaunchedTask& task);

// Views of the tasks above a task, for TaskView::parent. Must outlive the views that refer to it.
class ViewsAbove {
 public:
  // Refers to the names, which are those of tasks of the application.
  ViewsAbove(const app::Data& app, const std::vector<std::string>& above);
  ViewsAbove(const ViewsAbove&) = delete;
  ViewsAbove& operator=(const ViewsAbove&) = delete;
  // Returns the view of the launching task; null if the tasks above are not known.
  const TaskView* parent() const { return views_.empty() ? nullptr : &views_.front(); }

 private:
  std::vector<TaskView> views_;
};

}  // namespace groma
