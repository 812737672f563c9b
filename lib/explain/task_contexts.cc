// Finds by which tasks each launch may be reached, and which selectors stand for it then.
#include "explain/task_contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "groma/harmless.h"
#include "program/data.h"

namespace groma {
namespace {

// A path of tasks above a launch, by their numbers, the launching task first.
using Path = std::vector<std::uint32_t>;

class ContextFinder {
 public:
  ContextFinder(const app::Data& app, const std::vector<TaskLaunches>& uses, std::uint32_t task,
                const std::vector<Program>& programs)
      : app_(app), uses_(uses), task_(task), programs_(programs) {
    for (const Program& program : programs) {
      const NameTable& names = program.data().names;
      for (const auto& [id, selector] : names.selectors()) {
        if (!names.stands_for(id, app.tasks[task].name)) continue;
        is_selected_ = true;
        longest_ = std::max(longest_, selector.path.size() - 1);
        reads_form_ = reads_form_ || selector.dimensions >= 0;
      }
    }
  }

  std::vector<TaskContext> find() {
    const TaskLaunches& all = uses_[task_];
    if (!is_selected_ || all.launches.empty()) {
      return {{all, {}, launch_class(programs_, app_.tasks[task_].name), ""}};
    }
    // The indices of contexts, by the class of their launches.
    std::map<std::string, std::size_t> known;
    std::vector<TaskContext> found;
    for (std::size_t i = 0; i < all.launches.size(); ++i) {
      const app::DistinctLaunch& launch = all.launches[i];
      const int dimensions = launch.domain ? launch.domain->box.dimensions() : 0;
      paths_.clear();
      Path path;
      if (launch.parent >= 0) path.push_back(static_cast<std::uint32_t>(launch.parent));
      extend(path);
      // The contexts that have this launch already.
      std::set<std::size_t> has;
      for (const Path& above : paths_) {
        std::vector<std::string_view> parents;
        for (const std::uint32_t number : above) parents.emplace_back(app_.tasks[number].name);
        const auto [at, is_new] = known.try_emplace(
            launch_class(programs_, LaunchedTask(app_.tasks[task_].name, parents, dimensions)),
            found.size());
        if (is_new) {
          TaskContext& made = found.emplace_back();
          made.launches.name_lists = all.name_lists;
          made.launch_class = at->first;
          made.words = words(parents, dimensions);
          made.above.assign(parents.begin(), parents.end());
        }
        if (!has.insert(at->second).second) continue;
        found[at->second].launches.launches.push_back(launch);
        found[at->second].launches.name_list_of_launch.push_back(all.name_list_of_launch[i]);
      }
    }
    if (found.size() == 1) found.front().words.clear();
    return found;
  }

 private:
  // Adds the paths that begin with `path`. They end at the top-level task, or where no selector
  // looks any more.
  void extend(const Path& path) {
    if (paths_.size() >= kMaxPathsOfLaunch) return;
    std::set<std::uint32_t> above;
    if (!path.empty() && path.size() < longest_) {
      for (const app::DistinctLaunch& launch : uses_[path.back()].launches) {
        if (launch.parent >= 0) above.insert(static_cast<std::uint32_t>(launch.parent));
      }
    }
    if (above.empty()) paths_.push_back(path);
    for (const std::uint32_t next : above) {
      Path longer = path;
      longer.push_back(next);
      extend(longer);
    }
  }

  // Returns the words for launches below these tasks, of which the launching task comes first.
  std::string words(const std::vector<std::string_view>& parents, int dimensions) const {
    std::string text;
    if (longest_ > 0 && !parents.empty()) {
      text = "launched by ";
      for (std::size_t i = parents.size(); i-- > 0;) {
        text += harmless(parents[i]) + (i > 0 ? " > " : "");
      }
    }
    if (!reads_form_) return text;
    if (!text.empty()) text += ", ";
    if (dimensions == 0) return text + "as a single task";
    return text + fmt::format("in {} dimension{}", dimensions, dimensions == 1 ? "" : "s");
  }

  const app::Data& app_;
  const std::vector<TaskLaunches>& uses_;
  std::uint32_t task_;
  const std::vector<Program>& programs_;
  // True if a selector may stand for the task.
  bool is_selected_ = false;
  // The largest number of tasks above that one of them names.
  std::size_t longest_ = 0;
  bool reads_form_ = false;
  std::vector<Path> paths_;
};

}  // namespace

int dimensions_of(const TaskContext& context) {
  if (context.launches.launches.empty()) return -1;
  const auto& domain = context.launches.launches.front().domain;
  return domain ? domain->box.dimensions() : 0;
}

std::string launch_class(const std::vector<Program>& programs, const LaunchedTask& task) {
  std::string made(task.name);
  for (const Program& program : programs) {
    const NameTable& names = program.data().names;
    for (const auto& [id, selector] : names.selectors()) {
      // A selector of another task does not matter.
      if (!names.stands_for(id, task.name)) continue;
      const bool stands = names.stands_for_task(id, task.name, task.parents, task.dimensions);
      made += stands ? '+' : '-';
    }
  }
  return made;
}

std::vector<TaskContext> contexts_of(const app::Data& app, const std::vector<TaskLaunches>& uses,
                                     std::uint32_t task, const std::vector<Program>& programs) {
  return ContextFinder(app, uses, task, programs).find();
}

ViewsAbove::ViewsAbove(const app::Data& app, const std::vector<std::string>& above)
    : views_(above.size()) {
  for (std::size_t i = 0; i < above.size(); ++i) {
    views_[i].id = static_cast<TaskId>(app.find_task(above[i]) + 1);
    views_[i].name = above[i];
    if (i + 1 < above.size()) views_[i].parent = &views_[i + 1];
  }
}

}  // namespace groma
