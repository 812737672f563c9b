// Launcher: turns the launches of an application into tasks. It computes domains, arguments and
// pieces, and asks mappers where launches start and how they are sliced.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

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

inline constexpr int kMaxTaskDepth = 64;  // nesting of tasks that launch tasks

// The answers of mappers about the start of a launch.
struct LaunchStart {
  TaskOptions options;
  TaskSlices slices;
};

class Launcher {
 public:
  // Refers to all arguments, so they must outlive it. `runtime` is passed to the hooks.
  // `lists` has the memory of the tasks' lists.
  Launcher(const RunInput& input, Views& views, Mappers& mappers, Outcome& outcome,
           MapperRuntime& runtime, Arena& lists);

  // The following functions return true on success. On failure they have ended the run.

  // Decides where the top-level task starts, and whether it is replicated.
  bool place_top(TaskRun& run);
  // Opens `context` for a task that is about to launch.
  bool open(Context& context, TaskRun& run);
  // Computes the number of iterations of a loop.
  bool count(const Context& context, const app::Loop& loop, std::int64_t& count);
  // Computes the domain of an index launch. A single task leaves `domain` as it is.
  bool domain_of(const Context& context, const app::Launch& launch, Rect& domain);
  // Asks how the launch starts and how it is sliced. Sets start(). Not for a launch without points.
  // `plan` (null: none) has the slices of an equal launch before, or keeps them.
  bool start_launch(const Context& context, const app::Launch& launch, const Rect& domain,
                    LaunchPlan* plan = nullptr);
  // Makes one point of the launch, which lies in `slice`. Sets everything that `run` has before it
  // is mapped, except its op. `as_planned`: the pieces are those of its plan.
  bool place(TaskRun& run, Context& context, const app::Launch& launch, LaunchRun* of,
             const TaskSlice& slice, const Point& point, bool as_planned = false);

  // Returns the answers about the launch that was started last.
  LaunchStart& start() { return start_; }
  // Returns another point of the task's launch whose data conflicts with that of requirement
  // `position`, and the position of its own requirement. Looks only at the first pieces of a run
  // and returns nullopt if there is no such point among them.
  std::optional<std::pair<Point, std::uint32_t>> conflicting_point(const TaskRun& run,
                                                                   std::uint32_t position);
  // Returns its memory, approximately.
  std::int64_t bytes() const { return heap_bytes(start_.slices.bytes()); }

 private:
  std::int32_t first_for_top_level(std::uint32_t task) const;
  bool find_arguments(TaskRun& run, const Point& point);
  bool find_pieces(TaskRun& run, const Point& point);
  bool fail_at(const TaskRun& run, const Point& point, app::FormulaFault fault);
  bool keeps_apart(const TaskRun& run);
  bool cut(const Context& context, const TaskView& view, const Rect& domain);
  bool slice(const Context& context, const TaskView& view, const Rect& domain, LaunchPlan* plan);

  const RunInput& input_;
  Views& views_;
  Mappers& mappers_;
  Outcome& outcome_;
  MapperRuntime& runtime_;
  Arena& lists_;
  LaunchStart start_;
  ShardTable top_shards_;  // shards of the top-level task, if it is replicated
  std::int64_t pieces_to_look_at_ = std::int64_t{1} << 16;  // limit of conflicting_point()
  std::vector<RequirementView> requirements_;               // of the launch that starts
};

}  // namespace groma::sim
