// Maps launches statement by statement and point by point, or when their mappers select the tasks.
// Also implements stealing between processors.
#include <fmt/format.h>

#include <algorithm>

#include "simulate/engine.h"

namespace groma::sim {
namespace {

// How many times mappers are asked about waiting tasks before a task has to be mapped.
constexpr std::int64_t kMaxInVain = std::int64_t{1} << 20;

// The least memory of a task that waits, in bytes.
constexpr std::int64_t kLeastBytes = sizeof(TaskRun) + 32;

// Returns the bytes that a waiting task holds on the heap.
std::int64_t bytes_of(const TaskRun& run) {
  return heap_bytes(run.arguments) + heap_bytes(run.pieces) + heap_bytes(run.instances);
}

}  // namespace

// Returns a cleared object for a task, from the free list if possible.
TaskRun& Engine::new_run() {
  ++live_;
  if (free_runs_.empty()) {
    runs_.emplace_back();
    return runs_.back();
  }
  TaskRun& run = *free_runs_.back();
  free_runs_.pop_back();
  run.clear();
  return run;
}

// Places and maps the top-level task. Returns false if the run is over.
bool Engine::launch_top() {
  TaskRun& run = new_run();
  return launcher_.place_top(run) && map(run);
}

// Launches the points of one launch statement. Points whose mapper does not select tasks are mapped
// at once. The others wait at their processor for select_tasks_to_map. The launching task goes on
// when all points are mapped.
void Engine::launch(Context& context, const app::Launch& launch) {
  const std::string& name = input_.data.tasks[launch.task].name;
  Rect domain;
  if (!launcher_.domain_of(context, launch, domain)) return;
  const std::int64_t points = domain.volume();
  if (points > options_.max_tasks - launched_) {
    outcome_.fail(name, fmt::format("more than {} tasks are launched", options_.max_tasks), {},
                  RunStatus::kTooLarge);
    return;
  }
  if (points > kMaxLive - live_) {
    outcome_.fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
    return;
  }
  const std::int64_t more = points * kLeastBytes;
  if (!within_limits(launch.task, more)) return;
  launched_ += points;
  ++launches_;
  const Op join = launch.gives >= 0 ? ops_.add() : kBeginning;
  if (join != kBeginning) {
    uses_.resize(ops_.size());
    uses_[join] = {OpUse::Kind::kJoin, 0, context.run};
  }
  context.mapping = points;
  context.stage_end = now_;
  launcher_.start().slices.clear();
  if (points > 0 && !launcher_.start_launch(context, launch, domain)) {
    return note_launch(input_.data, &launch, nullptr, outcome_.result().refusals);
  }
  if (!within_limits(launch.task, more)) return;  // the slices need memory, too
  const auto of = std::make_shared<const LaunchRun>(
      LaunchRun{launches_, domain, now_, launcher_.start().options.valid_instances});
  const bool inner = !input_.data.tasks[launch.task].body.empty();
  if (inner && points > 0) context.inner.emplace_back(&launch, points);
  context.outstanding += points;
  context.unmapped += points;
  std::vector<TaskRun*> runs;
  runs.swap(launched_runs_);
  runs.clear();
  for (const TaskSlice& slice : launcher_.start().slices) {
    Point point = slice.box.lower;
    do {
      TaskRun& run = new_run();
      run.mapping = now_;
      run.op = ops_.add();
      const std::int64_t before = bytes_of(run);
      if (!launcher_.place(run, context, launch, of, slice, point)) {
        return note_launch(input_.data, &launch, &run, outcome_.result().refusals);
      }
      run.instances.reserve(run.pieces.size());
      run_bytes_ += bytes_of(run) - before;
      if (join != kBeginning) ops_.depend(join, run.op);
      runs.push_back(&run);
    } while (launch.is_index && next_point(slice.box, &point));
  }
  uses_.resize(ops_.size());
  for (TaskRun* run : runs) {
    if (!outcome_.spend(1 + static_cast<std::int64_t>(launch.takes.size()))) return;
    uses_[run->op] = {OpUse::Kind::kTask, 0, run};
    for (std::uint32_t future : launch.takes) ops_.depend(run->op, context.futures[future]);
  }
  if (join != kBeginning) {
    context.futures[static_cast<std::size_t>(launch.gives)] = join;
    if (ops_.release(join)) ready_.emplace_back(join, -1);
  }
  context.blocked = Context::Blocked::kMapping;
  std::vector<std::int32_t> asked;
  bool may_move = false;
  for (TaskRun* run : runs) {
    if (outcome_.over() || !outcome_.spend(static_cast<std::int64_t>(asked.size()))) return;
    if (!mappers_.of(run->number).selects()) {
      if (!map(*run)) return;
      continue;
    }
    stations_[static_cast<std::size_t>(run->number)].unmapped.push_back(run);
    may_move |= run->stealable;
    stealable_ += run->stealable ? 1 : 0;
    if (std::find(asked.begin(), asked.end(), run->number) == asked.end()) {
      asked.push_back(run->number);
    }
  }
  for (std::int32_t processor : asked) select(processor);
  if (may_move) push(now_, Event::Kind::kSteal, nullptr, -1);
  runs.swap(launched_runs_);
  if (points == 0) wake(context, now_ + to_time(costs_.issue_s));
}

// ---- Order

// Asks select_tasks_to_map of a processor about all tasks that wait there. The answer may map tasks
// now, relocate them, or defer them to an event. The run fails if mappers defer tasks too often.
void Engine::select(std::int32_t processor) {
  Station& station = stations_[static_cast<std::size_t>(processor)];
  if (station.unmapped.empty() || outcome_.over()) return;
  asked_in_vain_ += static_cast<std::int64_t>(station.unmapped.size());
  if (asked_in_vain_ > kMaxInVain + 16 * live_) {
    outcome_.fail(input_.data.tasks[station.unmapped.front()->task].name,
                  "select_tasks_to_map puts it off for ever");
    return;
  }
  if (!may_view(station.unmapped)) return;
  std::vector<TaskRun*> waiting;
  waiting.swap(station.unmapped);
  std::vector<std::vector<RequirementView>> requirements;
  const std::vector<TaskView> views = views_of(waiting, requirements);
  ScheduleAnswer answer;
  mappers_.scheduler(processor).select_tasks_to_map(*this, views, answer);
  if (!mappers_.accepts(validate(answer, views, *input_.machine), views.front())) return;
  std::vector<bool> taken(waiting.size());
  for (std::uint32_t i : answer.map) taken[i] = true;
  for (const auto& [i, target] : answer.relocate) taken[i] = true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!taken[i]) station.unmapped.push_back(waiting[i]);
  }
  if (!station.unmapped.empty() && answer.map.empty() && answer.relocate.empty()) {
    const auto made = events_made_.find(answer.deferral);
    if (made == events_made_.end()) {
      outcome_.fail(views.front().name, "select_tasks_to_map defers it to no event");
      return;
    }
    if (made->second) {
      push(now_, Event::Kind::kSelect, nullptr, processor);
    } else {
      deferred_[answer.deferral].push_back(processor);
    }
  } else if (!station.unmapped.empty()) {
    push(now_, Event::Kind::kSelect, nullptr, processor);
  }
  for (std::uint32_t i : answer.map) {
    stealable_ -= waiting[i]->stealable ? 1 : 0;
    if (!map(*waiting[i])) return;
  }
  bool may_move = false;
  for (const auto& [i, target] : answer.relocate) {
    waiting[i]->processor = target;
    waiting[i]->number = input_.processors.number_of(target);
    stations_[static_cast<std::size_t>(waiting[i]->number)].unmapped.push_back(waiting[i]);
    push(now_, Event::Kind::kSelect, nullptr, waiting[i]->number);
    may_move |= waiting[i]->stealable;
  }
  if (may_move) push(now_, Event::Kind::kSteal, nullptr, -1);
}

// Returns whether there is memory and time for views of all these tasks at once. Ends the run if
// not.
bool Engine::may_view(const std::vector<TaskRun*>& runs) {
  std::int64_t bytes = 0;
  for (const TaskRun* run : runs) {
    const std::size_t requirements = input_.data.tasks[run->task].requirements.size();
    bytes += static_cast<std::int64_t>(sizeof(TaskView)) +
             heap_bytes(requirements * sizeof(RequirementView));
  }
  return runs.empty() || (outcome_.spend(bytes / 64) && within_limits(runs.front()->task, bytes));
}

// Returns the tasks as mappers see them. `requirements` holds the memory of their requirements.
std::vector<TaskView> Engine::views_of(std::span<TaskRun* const> runs,
                                       std::vector<std::vector<RequirementView>>& requirements) {
  requirements.resize(runs.size());
  std::vector<TaskView> views;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    views.push_back(views_.view_of(*runs[i], requirements[i]));
  }
  return views;
}

// ---- Stealing

// Returns whether a processor of this kind may take a waiting task.
bool Engine::may_steal(ProcKind kind, const TaskRun& waits) const {
  return waits.stealable && input_.has_variant(waits.task, kind);
}

// Returns whether no task is mapped to the processor and none waits there.
bool Engine::is_idle(std::int32_t processor) const {
  const Station& station = stations_[static_cast<std::size_t>(processor)];
  return station.load == 0 && station.unmapped.empty();
}

// Lets the mapper of an idle processor choose victims, and moves the tasks that they permit. Each
// victim is asked once. Victims without a suitable task are on the blacklist from the start. -1
// stands for all processors in turn.
void Engine::steal(std::int32_t thief) {
  const auto count = static_cast<std::int32_t>(input_.processors.size());
  if (thief < 0) {
    for (std::int32_t p = 0; p < count && !outcome_.over(); ++p) steal(p);
    return;
  }
  if (stealable_ == 0 || !is_idle(thief)) return;
  const Processor& to = input_.processors[thief];
  std::vector<Processor> blacklist, victims;
  for (std::int32_t p = 0; p < count; ++p) {
    const std::vector<TaskRun*>& there = stations_[static_cast<std::size_t>(p)].unmapped;
    if (!outcome_.spend(1 + static_cast<std::int64_t>(there.size()))) return;
    const bool has = std::any_of(there.begin(), there.end(),
                                 [&](const TaskRun* run) { return may_steal(to.kind, *run); });
    if (!has) blacklist.push_back(input_.processors[p]);
  }
  for (bool more = true; more && blacklist.size() < input_.processors.size() && is_idle(thief);) {
    more = false;
    victims.clear();
    mappers_.scheduler(thief).select_steal_targets(*this, blacklist, victims);
    if (!mappers_.accepts(validate_steal_targets(victims, to, *input_.machine), TaskView{})) return;
    for (const Processor& victim : victims) {
      if (!outcome_.spend(static_cast<std::int64_t>(blacklist.size()))) return;
      if (std::find(blacklist.begin(), blacklist.end(), victim) != blacklist.end()) continue;
      blacklist.push_back(victim);
      give(input_.processors.number_of(victim), thief);
      if (outcome_.over()) return;
      more = true;
    }
  }
  select(thief);
}

// Asks permit_steal_request of the victim and moves the permitted tasks to the thief. If the thief
// is on another node, their mapping begins after twice `remote_s`.
void Engine::give(std::int32_t victim, std::int32_t thief) {
  const Processor& to = input_.processors[thief];
  std::vector<TaskRun*> waiting;
  for (TaskRun* run : stations_[static_cast<std::size_t>(victim)].unmapped) {
    if (may_steal(to.kind, *run)) waiting.push_back(run);
  }
  if (!may_view(waiting)) return;
  std::vector<std::vector<RequirementView>> requirements;
  const std::vector<TaskView> views = views_of(waiting, requirements);
  std::vector<std::uint32_t> stolen;
  mappers_.scheduler(victim).permit_steal_request(*this, to, views, stolen);
  if (!mappers_.accepts(validate_stolen(stolen, views), TaskView{})) return;
  const bool far = input_.processors[victim].node != to.node;
  for (std::uint32_t i : stolen) {
    TaskRun& run = *waiting[i];
    run.processor = to;
    run.number = thief;
    if (far) run.mapping = now_ + 2 * to_time(costs_.remote_s);
    std::erase(stations_[static_cast<std::size_t>(victim)].unmapped, &run);
    stations_[static_cast<std::size_t>(thief)].unmapped.push_back(&run);
  }
}

// ---- One task

// Maps one task now: occupies the runtime processor of the node, asks map_task, and takes the
// instances. Tasks and copies that wait for nothing become ready. Returns false if the run is over.
bool Engine::map(TaskRun& run) {
  if (stopped()) return false;
  asked_in_vain_ = 0;
  sent_in_vain_ = 0;
  if (run.op == kBeginning || run.launch == nullptr) {
    run.op = ops_.add();
    uses_.resize(ops_.size());
    uses_[run.op] = {OpUse::Kind::kTask, 0, &run};
  }
  // The runtime processor of the node maps one task after the other.
  const bool replay = run.parent != nullptr && run.parent->replaying > 0;
  const bool remote = run.parent != nullptr && run.parent->shards.size() < 2 &&
                      run.parent->run->processor.node != run.processor.node;
  RunTime& free = utility(run.processor.node);
  const RunTime arrives = now_ + (remote ? to_time(costs_.remote_s) : 0);
  run.mapping = std::max({free, arrives, run.mapping});
  run.mapped = free = run.mapping + to_time(replay ? costs_.replay_s : costs_.map_s);
  if (free > kLongest) {
    return outcome_.fail(input_.data.name, "it takes longer than 13 days, 2^60 picoseconds");
  }

  if (!within_limits(run.task)) return false;
  const MapperInstances::Holding holding(instances_);
  const auto refused = [&] {
    note_launch(input_.data, nullptr, &run, outcome_.result().refusals);
    return false;
  };
  const TaskView view = views_.view_of(run, point_views_);
  if (!ask(run, view, mappers_.of(run.number))) return refused();
  // Take the least loaded of the processors in the answer.
  const auto load = [this](const Processor& processor) {
    return stations_[static_cast<std::size_t>(input_.processors.number_of(processor))].load;
  };
  take(run, *std::min_element(
                wish_.processors.begin(), wish_.processors.end(),
                [&](const Processor& a, const Processor& b) { return load(a) < load(b); }));
  fetches_.clear();
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (!map_requirement(run, view, wish_.requirements[r], r)) return refused();
  }
  uses_.resize(ops_.size());
  for (const Fetch& fetch : fetches_) {
    std::uint32_t index = 0;
    if (free_copies_.empty()) {
      index = static_cast<std::uint32_t>(copies_.size());
      copies_.emplace_back();
    } else {
      index = free_copies_.back();
      free_copies_.pop_back();
    }
    copies_[index] = {};
    copies_[index].fetch = fetch;
    copies_[index].name = static_cast<std::int32_t>(run.task);
    copies_[index].mapped = run.mapped + to_time(costs_.copy_s);
    if (run.parent != nullptr) copies_[index].since = run.parent->since;
    uses_[fetch.op] = {OpUse::Kind::kCopy, index, nullptr};
  }
  for (const Fetch& fetch : fetches_) {
    if (ops_.release(fetch.op)) ready_.emplace_back(fetch.op, -1);
  }
  ++stations_[static_cast<std::size_t>(run.number)].load;
  if (ops_.release(run.op)) ready_.emplace_back(run.op, -1);
  after_mapping(run);
  return true;
}

// Tells the launching task that one of its tasks is mapped. When all points of its launch are
// mapped, the launching task goes on.
void Engine::after_mapping(TaskRun& run) {
  Context* const parent = run.parent;
  if (parent == nullptr) return;
  parent->stage_end = std::max(parent->stage_end, run.mapped);
  const bool launches = launches_tasks(input_.data, run);
  if (!launches) subtree_mapped(run, {});
  if (--parent->mapping > 0) return;
  wake(*parent, std::max(parent->stage_end, now_ + to_time(costs_.issue_s)));
}

}  // namespace groma::sim
