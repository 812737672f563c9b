// RecordedBodies: describes the launches in the runs of a task as a task body.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groma/app.h"
#include "recording/events.h"
#include "recording/launch_formulas.h"
#include "recording/run_kinds.h"

namespace groma::app {

// Makes the bodies of the tasks of a recorded application, one task after the other.
class RecordedBodies {
 public:
  // `app` must already have the regions, the partitions, and the tasks with their requirements.
  RecordedBodies(const Events& events, Application& app, std::vector<std::string>& notes)
      : events_(events), app_(app), notes_(notes) {
    for (const Events::TaskRunGroup& each : events.contexts) contexts_[each.task].push_back(&each);
  }

  // Adds the body of a task, which has the same number in the events and in the application. If the
  // runs of the task launched different things, the body describes all of them, provided that the
  // arguments of a run or its launch distinguish them. Otherwise the body describes what most runs
  // launched.
  void add_body(std::uint32_t task);
  // Returns the sparse domains (Events::sparse_domains) of launches for which no condition was
  // found. Their launches have all points of their boxes, which is wrong.
  std::set<std::int32_t> undescribed_domains() const {
    return {undescribed_domains_.begin(), undescribed_domains_.end()};
  }
  // Adds to each launch the arguments that the body of the launched task needs. Call this function
  // once all bodies are made.
  void add_arguments();

 private:
  using Tree = std::vector<FoldedElement>;
  void describe_run_kind(const RunKind& kind, const Tree& tree, std::vector<AppStatement>& body);
  std::vector<AppStatement> body_of_run_kind(const RunKind& kind, const Tree& tree);
  static Tree unrolled(const Tree& tree, const std::set<const FoldedElement*>& launches,
                       bool& has_loop);
  void assign_launches_to_statements(const Tree& tree, const std::vector<std::uint32_t>& launches,
                                     std::size_t& next, std::vector<std::int64_t>& counters,
                                     const std::vector<std::int64_t>& given);
  std::vector<AppStatement> statements(const Tree& tree, std::size_t depth);
  AppLaunch describe_launch(const LaunchExecutions& runs);
  void describe_launch_condition(const LaunchExecutions& runs, const LaunchFormulas& formulas,
                                 AppLaunch& made);
  std::vector<AppData> describe_launch_data(const Events::LaunchShape& shape,
                                            const LaunchExecutions& runs,
                                            const LaunchFormulas& formulas, AppLaunch& made);
  Formula formula_with_note(const FittedFormula& fitted, const std::string& what,
                            const char* values = "launches");
  void note_used_names(const Formula& formula);

  const Events& events_;
  Application& app_;
  std::vector<std::string>& notes_;
  // The recorded contexts (groups of equal runs) of each task, by the number of the task.
  std::map<std::uint32_t, std::vector<const Events::TaskRunGroup*>> contexts_;
  // The executions of each launch statement of the current tree.
  std::map<const FoldedElement*, LaunchExecutions> runs_;
  // The names that the formulas of the current body use.
  std::set<std::string> used_;
  // The number of arguments that a run of the current task has in the events. The task may get each
  // of them as an argument.
  std::size_t arguments_ = 0;
  // The number of recorded values at which the formulas of the current description are wrong, and
  // the launch statements that have such a formula.
  std::size_t wrong_ = 0;
  std::set<const FoldedElement*> wrong_launches_;
  // The number of statements in all bodies.
  std::size_t statements_ = 0;
  // The arguments that the body of a task needs, as positions in
  // Events::TaskRunGroup::run_arguments, and the test by which the body finds out the kind of its
  // run.
  struct NeededArguments {
    std::vector<std::size_t> positions;
    std::optional<RunKindCondition> which;
  };
  std::map<std::string, NeededArguments> needs_;
  // The number of points that may still be looked at to find conditions.
  std::int64_t condition_points_left_ = std::int64_t{1} << 26;
  // The sparse domains of launches without a condition, in the order in which they were described.
  std::vector<std::int32_t> undescribed_domains_;
  // The shapes of all launches, in the order in which they were made.
  std::vector<std::uint32_t> launch_shapes_;
  void add_arguments_to_launches(std::vector<AppStatement>& body, std::size_t& next) const;
  Formula formula_of_argument(const AppLaunch& launch, const AppTask& task, std::uint32_t shape,
                              std::size_t position) const;
};

}  // namespace groma::app
