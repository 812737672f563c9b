// LaunchSlices: cuts index launches with the hooks of a mapping, as the embedded runtime does.
#include "explain/launch_slices.h"

#include <algorithm>

#include "evaluate/processors.h"
#include "mapper/cut.h"
#include "mapper/default_policy.h"

namespace groma {

// Finds the processor of the top-level task: the first one of the first kind that the machine has
// and the task can run on. Then finds out whether the task is replicated.
LaunchSlices::LaunchSlices(std::shared_ptr<ProgramMapper::Shared> shared, const app::Data& app,
                           const std::vector<TaskUses>& uses)
    : shared_(std::move(shared)), machine_(ProgramMapper::machine_of(*shared_)) {
  if (app.top_level < 0) return;
  const auto number = static_cast<std::uint32_t>(app.top_level);
  const app::AppView views(app, number, uses[number].names.front());
  TaskView top = views.view({.task = number});
  for (const ProcKind kind : mapper::kTopLevelKinds) {
    const auto first = mapper::first_processor_from(*machine_, kind, 0);
    if (!first || mapper::best_variant(top, kind) == nullptr) continue;
    top.current = *first;
    replicate(top);
    return;
  }
}

// Asks the mapping whether the top-level task is replicated, and keeps its shards. An answer with a
// single shard counts as not replicated.
void LaunchSlices::replicate(const TaskView& top) {
  MapperRuntime runtime;
  TaskOptions options;
  mapper(top.current).select_task_options(runtime, top, options);
  if (options.failure) return;
  top_ = options.initial;
  if (!options.replicate) return;
  TaskView there = top;
  there.current = *top_;
  ReplicateTaskOutput answer;
  mapper(*top_).replicate_task(runtime, there, answer);
  if (answer.processors.size() < 2) return;
  shards_ = ShardTable(answer.processors);
  top_ = answer.processors.front();
}

// Returns the mapper of a processor, which is made at the first call. A runtime has one mapper for
// each processor, too.
Mapper& LaunchSlices::mapper(const Processor& local) {
  auto& made = mappers_[{local.kind, local.node, local.index}];
  if (made == nullptr) made = std::make_unique<ProgramMapper>(shared_, MapperSite{machine_, local});
  return *made;
}

// Returns the slices of a launch. A launch of the top-level task is divided among its shards first,
// and the cutting begins on the processor of that task.
TaskSlices LaunchSlices::slices_of(TaskView launch) {
  MapperRuntime runtime;
  const mapper::Cutter cutter{*machine_, runtime,
                              [this](const Processor& p) -> Mapper& { return mapper(p); },
                              [](const std::vector<Refusal>& refusals) { return refusals.empty(); },
                              [](const std::string&) { return false; }};
  TaskView parent;
  const bool by_top = launch.depth == 1 && top_;
  if (by_top) {
    parent.current = *top_;
    parent.shards = static_cast<std::uint32_t>(std::max<std::size_t>(1, shards_.size()));
    launch.parent = &parent;
  }
  TaskSlices slices;
  const bool cut = cutter.cut(launch, by_top ? *top_ : launch.current, launch.domain,
                              by_top ? shards_ : ShardTable(), slices);
  return cut ? slices : TaskSlices();
}

// Returns the processors that map_task names for the task on its current processor.
std::vector<Processor> LaunchSlices::targets(const TaskView& task) {
  MapperRuntime runtime;
  MapTaskOutput wish;
  mapper(task.current).map_task(runtime, task, {}, wish);
  return wish.failure ? std::vector<Processor>() : std::move(wish.processors);
}

}  // namespace groma
