// LaunchSlices: cuts index launches with the hooks of a mapping, as the embedded runtime does.
#include "explain/launch_slices.h"

#include <algorithm>

#include "evaluate/processors.h"
#include "mapper/default_policy.h"
#include "mapper/launch_cutter.h"

namespace groma {

// Finds the processor of the top-level task: the first one of the first kind that the machine has
// and the task can run on. Then finds out whether the task is replicated.
LaunchSlices::LaunchSlices(std::shared_ptr<ProgramMapper::Shared> shared, const app::Data& app,
                           const std::vector<TaskLaunches>& uses)
    : shared_(std::move(shared)), machine_(ProgramMapper::machine_of(*shared_)) {
  if (app.top_level < 0) return;
  const auto number = static_cast<std::uint32_t>(app.top_level);
  const app::AppView views(app, number, uses[number].name_lists.front());
  TaskView top = views.view({.task = number});
  for (const ProcKind kind : mapper::kTopLevelKinds) {
    const auto first = mapper::first_processor_from(*machine_, kind, 0);
    if (!first || mapper::best_variant(top, kind) == nullptr) continue;
    top.current = *first;
    find_top_level_shards(top);
    return;
  }
}

// Asks the mapping whether the top-level task is replicated, and keeps its shards. An answer with a
// single shard counts as not replicated.
void LaunchSlices::find_top_level_shards(const TaskView& top) {
  MapperRuntime runtime;
  TaskOptions options;
  mapper_of(top.current).select_task_options(runtime, top, options);
  if (options.failure) return;
  top_level_processor_ = options.initial;
  if (!options.replicate) return;
  TaskView there = top;
  there.current = *top_level_processor_;
  ReplicateTaskOutput answer;
  mapper_of(*top_level_processor_).replicate_task(runtime, there, answer);
  if (answer.processors.size() < 2) return;
  shards_ = ShardTable(answer.processors);
  top_level_processor_ = answer.processors.front();
}

// Returns the mapper of a processor. The mapper is created at the first call for this processor.
// There is one mapper for each processor, as in a runtime.
Mapper& LaunchSlices::mapper_of(const Processor& local) {
  auto& made = mappers_[{local.kind, local.node, local.index}];
  if (made == nullptr) made = std::make_unique<ProgramMapper>(shared_, MapperSite{machine_, local});
  return *made;
}

// Returns the slices of a launch. A launch of the top-level task is divided among its shards first,
// and the cutting begins on the processor of that task.
TaskSlices LaunchSlices::slices_of(TaskView launch) {
  MapperRuntime runtime;
  const mapper::LaunchCutter cutter{
      *machine_, runtime, [this](const Processor& p) -> Mapper& { return mapper_of(p); },
      [](const std::vector<Refusal>& refusals) { return refusals.empty(); },
      [](const std::string&) { return false; }};
  TaskView parent;
  const bool by_top = launch.depth == 1 && top_level_processor_;
  if (by_top) {
    if (launch.parent != nullptr) parent = *launch.parent;
    parent.current = *top_level_processor_;
    parent.shards = static_cast<std::uint32_t>(std::max<std::size_t>(1, shards_.size()));
    launch.parent = &parent;
  }
  TaskSlices slices;
  const bool cut = cutter.cut(launch, by_top ? *top_level_processor_ : launch.current,
                              by_top ? shards_ : ShardTable(), slices);
  return cut ? slices : TaskSlices();
}

// Returns the processors that map_task names for the task on its current processor.
std::vector<Processor> LaunchSlices::target_processors_of(const TaskView& task) {
  MapperRuntime runtime;
  MapTaskOutput choice;
  mapper_of(task.current).map_task(runtime, task, {}, choice);
  return choice.failure ? std::vector<Processor>() : std::move(choice.processors);
}

}  // namespace groma
