// LaunchPointCounter: counts how many points of an index launch each processor gets. All counts of
// one object together evaluate at most kMaxExplainPoints points and kMaxPlaceSteps steps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "explain/launch_slices.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/index_map.h"

namespace groma {

class LaunchPointCounter {
 public:
  // The objects that are passed by reference must outlive this object. `diags` receives the errors
  // and warnings of mapping functions, the warnings once for each function. `stop` (null: never) is
  // asked every few points; once it returns true, nothing is counted.
  LaunchPointCounter(const BoundProgram& bound, std::shared_ptr<ProgramMapper::Shared> shared,
                     const app::Data& app, const std::vector<TaskLaunches>& uses,
                     Diagnostics& diags, const std::function<bool()>& stop)
      : bound_(bound),
        evaluator_(bound),
        slices_(std::move(shared), app, uses),
        diags_(diags),
        stop_(stop) {}

  // Counts the points of `task.domain` that a mapping function gives each processor.
  // count_points_by_function(), count_points_by_default_mapper() and first_processor_of_point()
  // return nullopt if a mapping function fails or a limit is exceeded.
  std::optional<ExplainedLoads> count_points_by_function(const TaskView& task, FunctionId function,
                                                         ProcKind kind);
  // Counts the points of `task.domain` that the default mapper gives each processor.
  std::optional<ExplainedLoads> count_points_by_default_mapper(const TaskView& task);
  // Returns the first processor that a mapping function gives one point or single task.
  std::optional<Processor> first_processor_of_point(FunctionId function, const TaskPoint& task,
                                                    ProcKind kind);

 private:
  // The number of points for each processor, given by its node and its index on that node.
  using PointsByProcessor = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

  std::optional<ExplainedLoads> count_points_by_index_map(
      const std::shared_ptr<const IndexMap>& map, const LaunchDomain& domain, ProcKind kind);
  bool count_towards_limit(std::int64_t count);
  bool must_stop() const { return stop_ && stop_(); }
  std::int64_t processor_count(ProcKind kind);
  ExplainedLoads loads_from_counts(const PointsByProcessor& counts, std::int64_t points,
                                   ProcKind kind);

  const BoundProgram& bound_;
  FunctionEvaluator evaluator_;
  LaunchSlices slices_;
  Diagnostics& diags_;
  const std::function<bool()>& stop_;
  std::array<std::optional<std::int64_t>, kProcKindCount> processor_counts_;
  // The number of points and boxes that were evaluated so far.
  std::int64_t evaluated_points_ = 0;
  // The functions whose warnings were reported.
  std::set<FunctionId> warned_functions_;
};

}  // namespace groma
