// Implements LoopReplay: finds loops whose iterations are mapped in the same way, and repeats the
// mapping.
#include "simulate/loop_replay.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "simulate/bytes.h"
#include "simulate/task_mapping.h"

namespace groma::sim {
namespace {

// A loop with fewer iterations is not watched. The first iterations of a loop often differ from the
// later ones, so a shorter loop would have no iterations that can be repeated.
constexpr std::int64_t kLeastIterations = 4;
// The number of iterations after which a loop that has not become steady is no longer watched.
constexpr int kMostWatched = 4;
// The states of the data at two iterations are compared only if that is quicker than mapping. For
// this, the number of cells of the regions of the loop may be at most this many times the number of
// waits, copies and tasks of an iteration.
constexpr std::size_t kCellsToCompare = 16;

// The largest number of a copy within its task, since Edge::waiter has 31 bits. No run has so many
// ops.
constexpr std::uint32_t kMostCopies = 0x7FFFFFFF;

bool read(std::span<const app::CompiledFormula> codes, int slot) {
  return slot >= 0 &&
         std::any_of(codes.begin(), codes.end(),
                     [slot](const app::CompiledFormula& code) { return code.reads(slot); });
}

}  // namespace

// Returns true if the launch has the same points and pieces in each iteration of a loop, and its
// tasks launch nothing. `slot` is the position of the loop's variable in the frame (-1: the loop
// has no variable). Adds the regions of the launch to `regions_`.
bool LoopReplay::is_same_each_iteration(const app::Launch& launch, int slot) {
  if (!parts_.input.data.tasks[launch.task].body.empty()) return false;
  arguments_vary_ = arguments_vary_ || read(launch.arguments, slot);
  if (read(launch.domain, slot) || read(launch.lower, slot) || read({&launch.where, 1}, slot)) {
    return false;
  }
  for (const app::RequirementData& data : launch.data) {
    if (data.kind == app::RequirementData::Kind::kUnknown) continue;
    const bool is_piece = data.kind == app::RequirementData::Kind::kPartition;
    using Color = app::RequirementData::Color;
    if (is_piece && data.from == Color::kFrame && read(data.color, slot)) return false;
    if (is_piece && data.from == Color::kArguments && read(launch.arguments, slot)) return false;
    if (std::find(regions_.begin(), regions_.end(), data.region) == regions_.end()) {
      regions_.push_back(data.region);
    }
  }
  return true;
}

bool LoopReplay::is_same_each_iteration(const app::Body& body, int slot) {
  return std::all_of(body.begin(), body.end(), [&](const app::Statement& statement) {
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
      return is_same_each_iteration(*launch, slot);
    }
    if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
      return !read({&loop->count, 1}, slot) && is_same_each_iteration(loop->body, slot);
    }
    const auto* phase = std::get_if<app::Phase>(&statement.node);
    return phase == nullptr || is_same_each_iteration(phase->body, slot);
  });
}

// While a loop is watched, ValidData keeps the ops that used data even when they are over. A later
// iteration may have to wait for the ops that take their place in that iteration.
void LoopReplay::begin_loop(const LaunchingTask& context, const app::Loop& loop,
                            std::int64_t count) {
  if (state_ != State::kIdle || count < kLeastIterations) return;
  if (context.run->parent != nullptr || !parts_.mappers.all_repeat()) return;
  regions_.clear();
  arguments_vary_ = false;
  if (!is_same_each_iteration(loop.body, loop.slot) || regions_.empty()) return;
  state_ = State::kWatching;
  context_ = &context;
  loop_ = &loop;
  iterations_ = 0;
  since_ = static_cast<Op>(parts_.ops.size());
  parts_.valid_data.log_uses_to(&log_);
  start_recording({}, since_);
}

// Discards the recorded iteration, and begins to record the next one. `hash` is the hash of the
// state of the data at its beginning, and `here` its first op.
void LoopReplay::start_recording(StateHash hash, Op here) {
  tasks_.clear();
  instances_.clear();
  fetches_.clear();
  edges_.clear();
  ranked_.clear();
  log_.clear();
  repeated_.clear();
  hash_ = hash;
  ops_ = here - since_;
  before_ = since_;
  since_ = here;
  is_steady_ = true;
  store_changes_ = parts_.store.changes();
  mapper_changes_ = parts_.instances.changes();
}

// Returns true if the recorded iteration can be repeated. Among other things, no mapper was asked
// in it, no other task still launches tasks, no instance was made or removed, and no instance
// exists that will be removed as soon as nobody uses it.
bool LoopReplay::can_repeat(const LaunchingTask& context) const {
  return is_steady_ && context.inner.empty() && !tasks_.empty() && parts_.mappers.all_repeat() &&
         store_changes_ == parts_.store.changes() &&
         mapper_changes_ == parts_.instances.changes() &&
         !parts_.store.has_eagerly_collected_instance();
}

// While a loop is watched, compares the state of the data with that at the beginning of the
// iteration before. If they are equal, the repetition begins.
void LoopReplay::begin_iteration(const LaunchingTask& context, const app::Loop& loop) {
  if (!is_watched_loop(context, loop)) return;
  const auto here = static_cast<Op>(parts_.ops.size());
  if (state_ == State::kRepeating) {
    here_ = here;
    repeated_.clear();
    ++times_;
    return;
  }
  std::int64_t cells = 0;
  for (const std::uint32_t region : regions_) cells += parts_.valid_data.cells_of(region);
  const bool is_large =
      iterations_ > 0 && is_steady_ &&
      std::cmp_greater(cells, kCellsToCompare * (edges_.size() + fetches_.size() + tasks_.size()));
  if (++iterations_ > kMostWatched || bytes() > max_bytes_ || is_large) {
    return stop_watching();
  }
  const StateHash hash = parts_.valid_data.hash_of(regions_, since_);
  const bool is_same = iterations_ > 1 && hash == hash_ && here - since_ == ops_;
  if (!is_same || !can_repeat(context)) return start_recording(hash, here);
  state_ = State::kRepeating;
  parts_.valid_data.log_uses_to(nullptr);
  here_ = here;
  times_ = 0;
}

void LoopReplay::end_loop(const LaunchingTask& context, const app::Loop& loop) {
  if (!is_watched_loop(context, loop)) return;
  if (state_ == State::kRepeating) return end_repetition();
  stop();
}

bool LoopReplay::is_chained() const {
  if (tasks_.size() + fetches_.size() != ops_) return false;
  std::vector<bool> waits;
  for (std::size_t task = 0; task < tasks_.size(); ++task) {
    const MappedTask first = task_before(task), &end = tasks_[task];
    if (end.plan->processors.size() != 1) return false;
    waits.assign(1 + end.fetches - first.fetches, false);
    for (std::size_t i = first.edges; i < end.edges; ++i) {
      if (edges_[i].is_absolute == 0) waits[edges_[i].waiter] = true;
    }
    if (std::find(waits.begin(), waits.end(), false) != waits.end()) return false;
  }
  return true;
}

// Ends the repetition: makes the state of the data what it would be if every task had been mapped
// as usual.
void LoopReplay::end_repetition() {
  parts_.valid_data.repeat(regions_, since_, ops_, times_);
  for (std::size_t i = 0; i < repeated_.size(); ++i) reapply_task_uses(i);
  stop();
}

// Changes the state of the data as mapping task `number` of the present iteration in the usual way
// would change it.
void LoopReplay::reapply_task_uses(std::size_t number) {
  const RepeatedTask& task = repeated_[number];
  const MappedTask first = task_before(number), &end = tasks_[number];
  std::vector<NeededCopy> known(fetches_.begin() + static_cast<std::ptrdiff_t>(first.fetches),
                                fetches_.begin() + static_cast<std::ptrdiff_t>(end.fetches));
  for (std::size_t i = 0; i < known.size(); ++i) known[i].op = task.copies + static_cast<Op>(i);
  std::size_t ranked = first.ranked;
  const auto rank = [&](InstanceNumber, std::vector<InstanceNumber>& sources) {
    std::copy_n(ranked_.begin() + static_cast<std::ptrdiff_t>(ranked), sources.size(),
                sources.begin());
    ranked += sources.size();
  };
  std::vector<NeededCopy> fetches;
  const app::Launch& launch = *task.launch;
  for (std::size_t r = 0; r < launch.data.size(); ++r) {
    InstanceUse use = describe_data_use(parts_.input, launch.task, &launch, r, end.plan->pieces[r]);
    use.task = task.op;
    use.instance = instances_[first.instances + r].number;
    use.untracked = end.plan->requirements[r].untracked;
    if (use.instance != kVirtual) parts_.valid_data.reapply_use(use, rank, known, fetches);
  }
}

void LoopReplay::stop() {
  state_ = State::kIdle;
  parts_.valid_data.log_uses_to(nullptr);
  start_recording({}, kBeginning);
}

// If a memory had no room for the first instance that a task wanted, the recorded iteration is not
// repeated: in another iteration there may be room, or other instances may be removed without
// making enough room.
void LoopReplay::note_mapped(const TaskRun& run, std::span<const NeededCopy> fetches) {
  if (state_ != State::kWatching) return;
  if (run.pieces.empty()) return;
  for (const CachedTaskMapping::Requirement& each : plan_of(run)->requirements) {
    is_steady_ = is_steady_ && each.queries <= (each.is_handed_on ? 0 : 1);
  }
  if (iterations_ == 0 || !is_steady_) return log_.clear();
  if (run.choices.profiling.any()) return stop_watching();
  for (const InstanceNumber number : run.instances) {
    instances_.push_back(
        {number, number == kVirtual ? kCollectDefault : parts_.store.instance(number).priority});
  }
  add_edges(run, fetches);
  fetches_.insert(fetches_.end(), fetches.begin(), fetches.end());
  ranked_.insert(ranked_.end(), log_.ranked.begin(), log_.ranked.end());
  tasks_.push_back(
      {plan_of(run), instances_.size(), fetches_.size(), edges_.size(), ranked_.size()});
  log_.clear();
}

// Adds the waits of the task and of its copies to `edges_`, in their order and without duplicates.
// Waits for ops that are over are left out if these ops are older than the iteration before the
// recorded one. The recorded iteration is not repeated if an op in it waits for such an old op
// because that op used the data: afterwards that op is no longer in the list of users, so the next
// iteration would not wait for it.
void LoopReplay::add_edges(const TaskRun& run, std::span<const NeededCopy> fetches) {
  const std::vector<ValidData::DataDependence>& waits = log_.waits;
  is_steady_ = is_steady_ && std::none_of(waits.begin(), waits.end(), [this](const auto& wait) {
                 return wait.for_user && wait.on < before_;
               });
  const auto same = [&waits](std::size_t a, std::size_t b) {
    return waits[a].op == waits[b].op && waits[a].on == waits[b].on;
  };
  std::vector<std::size_t> order(waits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&waits](std::size_t a, std::size_t b) {
    return std::pair(waits[a].op, waits[a].on) < std::pair(waits[b].op, waits[b].on);
  });
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::sort(order.begin(), order.end());
  for (const std::size_t i : order) {
    const Op op = waits[i].op, on = waits[i].on;
    const bool is_absolute = on < before_;
    if (is_absolute && parts_.ops.done(on)) continue;
    const Op waiter = op == run.op ? 0 : op - fetches.front().op + 1;
    edges_.push_back({waiter & kMostCopies, is_absolute, is_absolute ? on : on - since_});
  }
}

// A mapper that has promised to repeat its answers must not make, collect or change instances in
// the meantime. If one does so during the repetition, the repetition ends and mappers are asked
// again.
bool LoopReplay::continue_repetition_with(const TaskRun& run) {
  if (state_ != State::kRepeating || run.pieces.empty()) return false;
  const CachedTaskMapping* const plan = tasks_[repeated_.size()].plan;
  if (plan == plan_of(run) && plan->asked == run.number &&
      mapper_changes_ == parts_.instances.changes()) {
    return true;
  }
  end_repetition();
  return false;
}

bool LoopReplay::repeat_mapping(TaskRun& run, std::vector<NeededCopy>& fetches) {
  const MappedTask first = task_before(repeated_.size()), &end = tasks_[repeated_.size()];
  if (!parts_.outcome.spend(16 + static_cast<std::int64_t>(end.edges - first.edges))) return false;
  for (std::size_t i = first.instances; i < end.instances; ++i) {
    const TakenInstance& taken = instances_[i];
    run.instances.add(taken.number, parts_.lists);
    if (taken.number != kVirtual) parts_.store.take_existing_instance(taken.number, taken.priority);
  }
  const auto copies = static_cast<Op>(parts_.ops.size());
  repeated_.push_back({run.launch, run.op, copies});
  for (std::size_t i = first.fetches; i < end.fetches; ++i) {
    NeededCopy fetch = fetches_[i];
    fetch.op = parts_.ops.add();
    parts_.store.acquire(fetch.from);
    parts_.store.acquire(fetch.to);
    fetches.push_back(fetch);
  }
  for (std::size_t i = first.edges; i < end.edges; ++i) {
    const Edge& edge = edges_[i];
    const Op waiter = edge.waiter == 0 ? run.op : copies + edge.waiter - 1;
    parts_.ops.add_dependence(waiter, edge.is_absolute != 0 ? edge.on : here_ + edge.on);
  }
  return parts_.within_limits(run.task);
}

std::int64_t LoopReplay::bytes() const {
  return heap_bytes(tasks_) + heap_bytes(instances_) + heap_bytes(fetches_) + heap_bytes(edges_) +
         heap_bytes(ranked_) + heap_bytes(repeated_) + heap_bytes(log_.waits) +
         heap_bytes(log_.ranked);
}

}  // namespace groma::sim
