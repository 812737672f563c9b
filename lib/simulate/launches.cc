// Launches the points of launches, and maps them one after the other in simulated time.
#include <fmt/format.h>

#include <algorithm>

#include "simulate/engine.h"
#include "simulate/refusals.h"

namespace groma::sim {

// Returns whether the limits of tasks and memory allow a launch of so many points. Ends the run if
// not.
bool Engine::may_launch(const app::Launch& launch, std::int64_t points) {
  const std::string& name = input_.data.tasks[launch.task].name;
  if (points > options_.max_tasks - launched_) {
    return outcome_.fail(name, fmt::format("more than {} tasks are launched", options_.max_tasks),
                         {}, RunStatus::kTooLarge);
  }
  if (points > kMaxLive - tasks_.live()) {
    return outcome_.fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
  }
  return within_limits(launch.task, points * TaskPool::kLeastBytes);
}

// Launches the points of one launch statement. Points whose mapper does not select tasks are mapped
// at once. The others wait at their processor for select_tasks_to_map. The launching task goes on
// when all points are mapped.
void Engine::launch(Context& context, const app::Launch& launch) {
  Rect domain;
  if (!launcher_.domain_of(context, launch, domain)) return;
  const std::int64_t points = domain.volume();
  if (!may_launch(launch, points)) return;
  launched_ += points;
  ++launches_;
  const Op join = launch.gives >= 0 ? ops_.add() : kBeginning;
  if (join != kBeginning) {
    uses_.set(join, {OpUse::Kind::kJoin, 0, context.run});
  }
  context.mapping = points;
  context.stage_end = agenda_.now();
  launcher_.start().slices.clear();
  if (points > 0 && !launcher_.start_launch(context, launch, domain)) {
    return note_launch(input_.data, &launch, nullptr, outcome_.result().refusals);
  }
  // The slices need memory, too.
  if (!within_limits(launch.task, points * TaskPool::kLeastBytes)) return;
  const bool inner = !input_.data.tasks[launch.task].body.empty();
  if (inner && points > 0) context.inner.emplace_back(&launch, points);
  context.outstanding += points;
  context.unmapped += points;
  std::vector<TaskRun*> runs;
  runs.swap(launched_runs_);
  runs.clear();
  if (!make_points(context, launch, domain, runs)) return;
  if (!order_points(context, launch, join, runs)) return;
  context.wait.what = Context::Wait::For::kMapping;
  if (!map_points(runs)) return;
  runs.swap(launched_runs_);
  if (points == 0) bodies_.wake(context, agenda_.now() + to_time(costs_.issue_s));
}

// Makes the tasks of a launch, and adds them to `runs`. Returns false if the run is over.
bool Engine::make_points(Context& context, const app::Launch& launch, const Rect& domain,
                         std::vector<TaskRun*>& runs) {
  const LaunchStart& start = launcher_.start();
  LaunchRun* const of = domain.volume() == 0
                            ? nullptr
                            : &tasks_.add_launch({launches_, domain, agenda_.now(),
                                                  start.options.valid_instances, domain.volume()});
  for (const TaskSlice& slice : start.slices) {
    Point point = slice.box.lower;
    do {
      TaskRun& run = tasks_.add();
      run.times.mapping = agenda_.now();
      run.op = ops_.add();
      if (!launcher_.place(run, context, launch, of, slice, point)) {
        note_launch(input_.data, &launch, &run, outcome_.result().refusals);
        return false;
      }
      runs.push_back(&run);
    } while (launch.is_index && next_point(slice.box, &point));
  }
  return true;
}

// Makes the tasks of a launch wait for the futures that it takes, and `join` (the future that it
// gives) for the tasks. Returns false if the run is over.
bool Engine::order_points(Context& context, const app::Launch& launch, Op join,
                          std::span<TaskRun* const> runs) {
  for (TaskRun* run : runs) {
    if (!outcome_.spend(1 + static_cast<std::int64_t>(launch.takes.size()))) return false;
    uses_.set(run->op, {OpUse::Kind::kTask, 0, run});
    if (join != kBeginning) ops_.depend(join, run->op);
    for (std::uint32_t future : launch.takes) ops_.depend(run->op, context.futures[future]);
  }
  if (join != kBeginning) {
    context.futures[static_cast<std::size_t>(launch.gives)] = join;
    uses_.release(join);
  }
  return true;
}

// Maps the tasks, or lets them wait until their mappers select them. Returns false if the run is
// over.
bool Engine::map_points(std::span<TaskRun* const> runs) {
  std::vector<std::int32_t> asked;
  bool may_move = false;
  for (TaskRun* run : runs) {
    if (outcome_.over() || !outcome_.spend(static_cast<std::int64_t>(asked.size()))) return false;
    if (!mappers_.of(run->number).selects()) {
      if (!map(*run)) return false;
      continue;
    }
    selection_.add(*run);
    may_move |= run->stealable;
    if (std::find(asked.begin(), asked.end(), run->number) == asked.end()) {
      asked.push_back(run->number);
    }
  }
  for (std::int32_t processor : asked) selection_.select(processor);
  if (may_move) agenda_.add(agenda_.now(), Event::Kind::kSteal, -1);
  return true;
}

// ---- One task

// Maps one task now: occupies the runtime processor of the node, asks map_task, and takes the
// instances. Tasks and copies that wait for nothing become ready. Returns false if the run is over.
bool Engine::map(TaskRun& run) {
  if (!outcome_.spend(kStepWork)) return false;
  selection_.note_progress();
  mapper_events_.note_progress();
  if (run.launch == nullptr) {  // the other tasks have their op since their launch
    run.op = ops_.add();
    uses_.set(run.op, {OpUse::Kind::kTask, 0, &run});
  }
  if (!occupy_runtime(run) || !within_limits(run.task)) return false;
  const MapperInstances::Holding holding(instances_);
  const auto refused = [&] {
    note_launch(input_.data, nullptr, &run, outcome_.result().refusals);
    return false;
  };
  const TaskView view = views_.view_of(run, point_views_);
  if (!ask(run, view, mappers_.of(run.number))) return refused();
  // Take the least loaded of the processors in the answer.
  take(run, *std::min_element(wish_.processors.begin(), wish_.processors.end(),
                              [&](const Processor& a, const Processor& b) {
                                return stations_.load(a) < stations_.load(b);
                              }));
  fetches_.clear();
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (!map_requirement(run, view, wish_.requirements[r], r)) return refused();
  }
  add_copies(run);
  ++stations_[run.number].load;
  uses_.release(run.op);
  after_mapping(run);
  return true;
}

// Sets when the task begins to be mapped and when it is mapped. The runtime processor of a node
// maps one task after the other. Returns false if the run is over.
bool Engine::occupy_runtime(TaskRun& run) {
  const bool replay = run.parent != nullptr && run.parent->replaying > 0;
  const bool remote = run.parent != nullptr && run.parent->shards.size() < 2 &&
                      run.parent->run->processor->node != run.processor->node;
  RunTime& free = utility_[static_cast<std::size_t>(run.processor->node)];
  const RunTime arrives = agenda_.now() + (remote ? to_time(costs_.remote_s) : 0);
  run.times.mapping = std::max({free, arrives, run.times.mapping});
  run.times.mapped = free = run.times.mapping + to_time(replay ? costs_.replay_s : costs_.map_s);
  return agenda_.allows(free);
}

// Adds the copies in `fetches_`, which the task needs.
void Engine::add_copies(const TaskRun& run) {
  const RunTime mapped = run.times.mapped + to_time(costs_.copy_s);
  for (const Fetch& fetch : fetches_) {
    uses_.set(fetch.op, {OpUse::Kind::kCopy, copies_.add(fetch, run, mapped), nullptr});
  }
  for (const Fetch& fetch : fetches_) uses_.release(fetch.op);
}

// Tells the launching task that one of its tasks is mapped. When all points of its launch are
// mapped, the launching task goes on.
void Engine::after_mapping(TaskRun& run) {
  Context* const parent = run.parent;
  if (parent == nullptr) return;
  parent->stage_end = std::max(parent->stage_end, run.times.mapped);
  if (!launches_tasks(input_.data, run)) bodies_.note_mapped(run, {});
  if (--parent->mapping > 0) return;
  bodies_.wake(*parent, std::max(parent->stage_end, agenda_.now() + to_time(costs_.issue_s)));
}

}  // namespace groma::sim
