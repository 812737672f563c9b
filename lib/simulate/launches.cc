// Implements the part of Engine that launches tasks, and maps them one after the other in simulated
// time.
#include <fmt/format.h>

#include <algorithm>

#include "simulate/bytes.h"
#include "simulate/engine.h"
#include "simulate/refusals.h"

namespace groma::sim {

// Returns whether the limits on tasks and memory allow a launch of so many points. Ends the run if
// not.
bool Engine::may_launch(const app::Launch& launch, std::int64_t points) {
  const std::string& name = parts_.input.data.tasks[launch.task].name;
  if (std::max<std::int64_t>(1, points) > options_.max_tasks - counts_.launched) {
    return parts_.outcome.fail(name,
                               fmt::format("more than {} tasks are launched", options_.max_tasks),
                               {}, RunStatus::kTooLarge);
  }
  if (points > kMaxLive - tasks_.live()) {
    return parts_.outcome.fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
  }
  return parts_.within_limits(launch.task, points * TaskPool::kLeastBytes);
}

// Launches the points of one launch statement. Points whose mapper does not select tasks are mapped
// at once. The others wait at their processor for select_tasks_to_map. The launching task goes on
// when all points are mapped.
void Engine::launch(LaunchingTask& context, const app::Launch& launch) {
  LaunchDomain domain;
  if (!parts_.launcher.domain_of(context, launch, domain)) return;
  const std::int64_t points = domain.count();
  if (!may_launch(launch, points)) return;
  // A launch without points counts as one task, so that no loop of such launches goes on for ever.
  counts_.launched += std::max<std::int64_t>(1, points);
  ++counts_.launches;
  const Op join = launch.gives >= 0 ? parts_.ops.add() : kBeginning;
  if (join != kBeginning) {
    uses_.set(join, {OpSubject::Kind::kJoin, 0, context.run});
  }
  context.mapping = points;
  context.stage_end = time_of(&context);
  parts_.launcher.launch_answers().slices.clear();
  CachedLaunchMapping* const plan = plan_for(context, launch, domain);
  const TaskOptions* const known = points > 0 ? steady_.known_options() : nullptr;
  if (points > 0 && !parts_.launcher.start_launch(context, launch, domain, plan, known)) {
    return note_launch(parts_.input.data, &launch, nullptr, parts_.outcome.result().refusals);
  }
  if (points > 0) steady_.note_start(launch, parts_.launcher.launch_answers().options);
  // Check the memory again, since the slices need memory, too.
  if (!parts_.within_limits(launch.task, points * TaskPool::kLeastBytes)) return;
  const bool inner = !parts_.input.data.tasks[launch.task].body.empty();
  if (inner && points > 0) context.inner.emplace_back(&launch, points);
  context.outstanding += points;
  context.unmapped += points;
  std::vector<TaskRun*> runs;
  runs.swap(launched_runs_);
  runs.clear();
  if (!make_tasks_of_points(context, launch, domain, plan, runs)) return;
  if (!add_future_dependences(context, launch, join, runs)) return;
  context.wait.what = LaunchingTask::BodyWait::WaitReason::kMapping;
  if (!map_points(runs)) return;
  runs.swap(launched_runs_);
  if (points == 0)
    bodies_.resume_body_at(context, time_of(&context) + to_picoseconds(costs_.issue_s));
}

// Makes the tasks of a launch, and adds them to `runs`. Returns false if the run is over.
bool Engine::make_tasks_of_points(LaunchingTask& context, const app::Launch& launch,
                                  const LaunchDomain& domain, CachedLaunchMapping* plan,
                                  std::vector<TaskRun*>& runs) {
  const LaunchAnswers& start = parts_.launcher.launch_answers();
  LaunchRun* const of = domain.count() == 0
                            ? nullptr
                            : &tasks_.add_launch({counts_.launches, domain, time_of(&context),
                                                  start.options.valid_instances, domain.count(),
                                                  plan, context.window.add()});
  for (const TaskSlice& slice : start.slices) {
    Point point = slice.box.lower;
    do {
      TaskRun& run = tasks_.add();
      run.times.mapping = time_of(&context);
      run.op = parts_.ops.add();
      if (!parts_.launcher.make_task_of_point(run, context, launch, of, slice, point,
                                              replay_.repeats())) {
        note_launch(parts_.input.data, &launch, &run, parts_.outcome.result().refusals);
        return false;
      }
      runs.push_back(&run);
    } while (launch.is_index && next_point(slice.box, &point));
  }
  return true;
}

// Adds the dependences on futures: each task of the launch waits for the futures that the launch
// takes. The future that the launch gives (`join`) waits for all tasks of the launch. Returns false
// if the run is over.
bool Engine::add_future_dependences(LaunchingTask& context, const app::Launch& launch, Op join,
                                    std::span<TaskRun* const> runs) {
  for (TaskRun* run : runs) {
    if (!parts_.outcome.spend(1 + static_cast<std::int64_t>(launch.takes.size()))) return false;
    uses_.set(run->op, {OpSubject::Kind::kTask, 0, run});
    if (join != kBeginning) parts_.ops.add_dependence(join, run->op);
    for (std::uint32_t future : launch.takes)
      parts_.ops.add_dependence(run->op, context.futures[future]);
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
    if (parts_.outcome.over() || !parts_.outcome.spend(static_cast<std::int64_t>(asked.size())))
      return false;
    if (replay_.repeats() || !parts_.mappers.mapper_of(run->number).selects()) {
      if (!map_task(*run)) return false;
      continue;
    }
    replay_.stop_watching();
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
bool Engine::map_task(TaskRun& run) {
  if (!parts_.outcome.spend(kStepWork)) return false;
  selection_.note_progress();
  mapper_events_.note_progress();
  // Only the top-level task has no op yet. Other tasks get their op when they are launched.
  if (run.launch == nullptr) {
    run.op = parts_.ops.add();
    uses_.set(run.op, {OpSubject::Kind::kTask, 0, &run});
  }
  if (!occupy_runtime(run) || !parts_.within_limits(run.task)) return false;
  const MapperInstances::MappingScope holding(parts_.instances);
  const auto refused = [&] {
    note_launch(parts_.input.data, nullptr, &run, parts_.outcome.result().refusals);
    return false;
  };
  mapping_.begin(run);
  CachedTaskMapping* const plan = plan_of(run);
  if (replay_.continue_repetition_with(run)) {
    mapping_.take(*plan, stations_.least_loaded(plan->processors));
    if (!replay_.repeat_mapping(run, mapping_.fetches())) return refused();
  } else if (plan != nullptr && mapping_.is_plan_for_task(*plan)) {
    if (!mapping_.map_by_plan(*plan, stations_.least_loaded(plan->processors))) return refused();
    replay_.note_mapped(run, mapping_.fetches());
  } else {
    if (!mapping_.ask(parts_.mappers.mapper_of(run.number))) return refused();
    mapping_.take(stations_.least_loaded(mapping_.answer().processors));
    for (std::uint32_t r = 0; r < run.pieces.size(); ++r) {
      if (!mapping_.map_requirement(r)) return refused();
    }
    replay_.note_mapped_by_mapper(run);
    if (plan != nullptr && plan->plans < CachedTaskMapping::kMostPlans && keeps_plans()) {
      keep_plan(*run.of->plan, *plan);
    }
  }
  if (run.choices.profiling.any()) steady_.forbid();
  add_copies(run);
  ++stations_[run.number].load;
  uses_.release(run.op);
  note_task_mapped(run);
  return true;
}

// Returns whether more plans may be kept: all mappers repeat their answers, and the plans take only
// a small part of the memory.
bool Engine::keeps_plans() const {
  return parts_.mappers.all_repeat() && planned_bytes_ < options_.max_bytes / kShareOfPlans;
}

// Stores how the task was mapped in `plan`, and counts the memory that the plan takes.
void Engine::keep_plan(CachedLaunchMapping& launch, CachedTaskMapping& plan) {
  const auto size = [](const CachedTaskMapping& of) {
    return heap_bytes(of.pieces) + heap_bytes(of.requirements) + heap_bytes(of.queries) +
           heap_bytes(of.processors) + heap_bytes(of.work.loads) + heap_bytes(of.work.instances) +
           heap_bytes(of.work.arguments);
  };
  const std::int64_t before = size(plan);
  mapping_.fill_plan(plan);
  launch.bytes += size(plan) - before;
  planned_bytes_ += size(plan) - before;
}

// Returns the plan of a launch statement in a loop, or null if none is kept. The plan is made for
// the launch domain with which the statement is first executed. With another domain the result is
// null; the plan is not replaced, since unfinished tasks may refer to it.
CachedLaunchMapping* Engine::plan_for(LaunchingTask& context, const app::Launch& launch,
                                      const LaunchDomain& domain) {
  const bool comes_again = std::any_of(context.places.begin(), context.places.end(),
                                       [](const LaunchingTask::BodyPosition& place) {
                                         return place.loop != nullptr && place.count > 1;
                                       });
  const std::int64_t points = domain.box.volume();
  if (!comes_again || points == 0 || points > CachedLaunchMapping::kMostPoints) return nullptr;
  if (const auto known = context.plans.find(&launch); known != context.plans.end()) {
    return known->second->domain == domain ? known->second.get() : nullptr;
  }
  if (!keeps_plans()) return nullptr;
  auto plan = std::make_unique<CachedLaunchMapping>();
  plan->domain = domain;
  plan->tasks.resize(static_cast<std::size_t>(points));
  plan->bytes = static_cast<std::int64_t>(sizeof(CachedLaunchMapping)) + heap_bytes(plan->tasks);
  planned_bytes_ += plan->bytes;
  return context.plans.emplace(&launch, std::move(plan)).first->second.get();
}

// Sets the times at which the runtime begins and ends the mapping of the task. Each node has one
// runtime processor, which maps one task after the other. Returns false if the run is over.
bool Engine::occupy_runtime(TaskRun& run) {
  const bool replay = run.parent != nullptr && run.parent->replaying > 0;
  const bool remote = run.parent != nullptr && run.parent->shards.size() < 2 &&
                      run.parent->run->processor->node != run.processor->node;
  RunTime& free = utility_[static_cast<std::size_t>(run.processor->node)];
  const RunTime arrives = time_of(run.parent) + (remote ? to_picoseconds(costs_.remote_s) : 0);
  run.times.mapping = std::max({free, arrives, run.times.mapping});
  run.times.mapped = free =
      run.times.mapping + to_picoseconds(replay ? costs_.replay_s : costs_.map_s);
  return agenda_.is_within_time_limit(free);
}

// Adds the copies that the task needs, which TaskMapping::fetches() lists.
void Engine::add_copies(const TaskRun& run) {
  const RunTime mapped = run.times.mapped + to_picoseconds(costs_.copy_s);
  for (const NeededCopy& fetch : mapping_.fetches()) {
    uses_.set(fetch.op, {OpSubject::Kind::kCopy, copies_.add(fetch, run, mapped), nullptr});
  }
  for (const NeededCopy& fetch : mapping_.fetches()) uses_.release(fetch.op);
}

// Tells the launching task that one of its tasks is mapped. When all points of its launch are
// mapped, the launching task goes on.
void Engine::note_task_mapped(TaskRun& run) {
  LaunchingTask* const parent = run.parent;
  if (parent == nullptr) return;
  parent->stage_end = std::max(parent->stage_end, run.times.mapped);
  if (!launches_tasks(parts_.input.data, run)) bodies_.note_mapped(run, {});
  if (--parent->mapping > 0) return;
  bodies_.resume_body_at(
      *parent, std::max(parent->stage_end, time_of(parent) + to_picoseconds(costs_.issue_s)));
}

}  // namespace groma::sim
