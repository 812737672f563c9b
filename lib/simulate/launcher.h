// Launcher: turns the launches of an application into tasks. It computes domains, arguments and
// pieces, and asks mappers where launches start and how they are sliced.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "app/launch_domains.h"
#include "groma/mapper_runtime.h"
#include "groma/sharding.h"
#include "groma/task_slices.h"
#include "groma/validate.h"
#include "simulate/arena.h"
#include "simulate/bytes.h"
#include "simulate/launch_plan.h"
#include "simulate/mappers.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/task_run.h"
#include "simulate/views.h"

namespace groma::sim {

// The largest depth to which tasks that launch tasks may be nested.
inline constexpr int kMaxTaskDepth = 64;

// The answers of mappers at the start of a launch: the options of its tasks, and its slices.
struct LaunchAnswers {
  TaskOptions options;
  TaskSlices slices;
};

class Launcher {
 public:
  // The object keeps references to all arguments, so they must outlive it. `runtime` is passed to
  // the hooks of mappers. `lists` provides the memory for the lists of tasks.
  Launcher(const RunInput& input, Views& views, Mappers& mappers, Outcome& outcome,
           MapperRuntime& runtime, Arena& lists);

  // The following functions return true on success. If they fail, they end the run and return
  // false.

  // Asks mappers where the top-level task starts, and whether it is replicated.
  bool place_top_level_task(TaskRun& run);
  // Fills `context` for a task that is about to launch other tasks.
  bool fill_context(LaunchingTask& context, TaskRun& run);
  // Computes the number of iterations of a loop.
  bool count_iterations(const LaunchingTask& context, const app::Loop& loop, std::int64_t& count);
  // Computes the launch domain of an index launch. For the launch of a single task, `domain` stays
  // as it is.
  bool domain_of(const LaunchingTask& context, const app::Launch& launch, LaunchDomain& domain);
  // Asks the mapper where the launch starts and how it is sliced. The answers are then returned by
  // launch_answers(). The launch must have points. If `plan` is not null, takes the slices of an
  // earlier equal launch from the plan, or stores the new slices there. If `known` is not null, it
  // is the answer of select_task_options, and that hook is not called.
  bool start_launch(const LaunchingTask& context, const app::Launch& launch,
                    const LaunchDomain& domain, CachedLaunchMapping* plan = nullptr,
                    const TaskOptions* known = nullptr);
  // Asks select_task_options for a launch that will be started later, with the frame that the
  // context has now. start_launch() takes the answers in the order in which they were asked for.
  // Returns null if the answer is not valid; start_launch() will then end the run.
  const TaskOptions* ask_in_advance(const LaunchingTask& context, const app::Launch& launch,
                                    const LaunchDomain& domain);
  // Forgets the answers that were asked for in advance.
  void forget_advance_answers() { advance_.clear(); }
  bool has_advance_answers() const { return !advance_.empty(); }
  // Makes the task for one point of the launch; the point lies in `slice`. Sets all members of
  // `run` that are known before the task is mapped, except its op. If `as_planned` is true, the
  // pieces are taken from the plan of the task.
  bool make_task_of_point(TaskRun& run, LaunchingTask& context, const app::Launch& launch,
                          LaunchRun* of, const TaskSlice& slice, const Point& point,
                          bool as_planned = false);

  // Returns the answers of mappers about the launch that was started last.
  LaunchAnswers& launch_answers() { return start_; }
  // Looks for another point of the task's launch whose data conflicts with requirement `position`
  // of the task. Returns that point and the position of its conflicting requirement. Looks only at
  // a limited number of pieces in each run, and returns nullopt if there is no such point among
  // them.
  std::optional<std::pair<Point, std::uint32_t>> conflicting_point(const TaskRun& run,
                                                                   std::uint32_t position);
  // Returns the approximate memory of the launcher in bytes.
  std::int64_t bytes() const { return heap_bytes(start_.slices.bytes()); }

 private:
  std::int32_t first_top_level_processor(std::uint32_t task) const;
  bool find_arguments(TaskRun& run, const Point& point);
  bool find_pieces(TaskRun& run, const Point& point);
  TaskView view_of_launch(const LaunchingTask& context, const app::Launch& launch,
                          const LaunchDomain& domain);
  bool end_by_formula_fault(const TaskRun& run, const Point& point, app::FormulaFault fault);
  bool check_aliasing(const TaskRun& run);
  bool cut(const LaunchingTask& context, const TaskView& view);
  bool slice_domain(const LaunchingTask& context, const TaskView& view, CachedLaunchMapping* plan);

  const RunInput& input_;
  Views& views_;
  Mappers& mappers_;
  Outcome& outcome_;
  MapperRuntime& runtime_;
  Arena& lists_;
  LaunchAnswers start_;
  // The answers for later launches, the next one first.
  std::deque<TaskOptions> advance_;
  app::DomainCache domains_;
  // The shards of the top-level task if it is replicated; else empty.
  ShardTable top_shards_;
  // The number of pieces at which conflicting_point() may still look in this run.
  std::int64_t pieces_to_look_at_ = std::int64_t{1} << 16;
  // The requirements of the launch that is being started.
  std::vector<RequirementView> requirements_;
};

}  // namespace groma::sim
