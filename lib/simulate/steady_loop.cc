// Implements SteadyLoop: holds launching tasks back, and compares the states of a run at the
// beginnings of iterations. steady_skip.cc skips iterations when a state comes again.
#include "simulate/steady_loop.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "simulate/links.h"

namespace groma::sim {
namespace {

// If more answers, events or steps than this are kept, everything that was seen is forgotten.
constexpr std::size_t kMostKept = std::size_t{1} << 20;
// For each op that an iteration adds, so many ops may be looked at. So a run in which many ops wait
// and no state comes again pays little for it.
constexpr std::int64_t kLooksForEachOp = 8;

// Returns whether the body and its inner loops have nothing but launches that neither give nor take
// futures.
bool has_only_launches(const app::Body& body) {
  return std::all_of(body.begin(), body.end(), [](const app::Statement& statement) {
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
      return launch->gives < 0 && launch->takes.empty();
    }
    const auto* loop = std::get_if<app::Loop>(&statement.node);
    return loop != nullptr && has_only_launches(loop->body);
  });
}

// Returns whether the task waits for everything that it launched before it launches anything after
// its present loop.
bool waits_for_all_afterwards(const LaunchingTask& context) {
  for (std::size_t i = context.places.size() - 1; i-- > 0;) {
    const LaunchingTask::BodyPosition& place = context.places[i];
    if (place.next < place.body->size()) {
      const app::Statement& next = (*place.body)[place.next];
      const auto* wait = std::get_if<app::Wait>(&next.node);
      return std::holds_alternative<app::Phase>(next.node) || (wait != nullptr && wait->future < 0);
    }
    if (place.phase >= 0) return true;
    if (place.loop != nullptr) return false;
  }
  return true;
}

std::uint64_t number(RunTime time) { return static_cast<std::uint64_t>(time); }

// Returns a hash of what matters in the answer of select_task_options. For an index launch, the
// kind and the node of the processor matter.
std::uint64_t hash_of(const app::Launch& launch, const TaskOptions& options) {
  std::uint64_t hash = combine_hash(number(launch.number), number(options.initial.node));
  hash = combine_hash(hash, static_cast<std::uint64_t>(options.initial.kind));
  hash = combine_hash(hash, launch.is_index ? 0 : number(options.initial.index));
  hash = combine_hash(hash, options.parent_priority ? 1 + number(*options.parent_priority) : 0);
  for (const bool flag : {options.inline_task, options.stealable, options.map_locally,
                          options.valid_instances, options.memoize, options.replicate}) {
    hash = combine_hash(hash, flag ? 1 : 0);
  }
  return hash;
}

}  // namespace

// Finds out what the loop permits. Called at the first iteration that is repeated.
void SteadyLoop::begin_loop(const LaunchingTask& context) {
  loop_ = context.places.back().loop;
  forget();
  options_here_.clear();
  options_before_.clear();
  has_asked_ = is_known_ = false;
  known_iterations_ = 0;
  credit_ = 0;
  may_skip_ = !run_.has_noise && !run_.replay.arguments_vary();
  may_hold_ = has_only_launches(loop_->body) && run_.replay.is_chained() &&
              waits_for_all_afterwards(context);
}

bool SteadyLoop::begin_iteration(LaunchingTask& context) {
  if (run_.has_record || has_profiling_ || !run_.replay.repeats()) {
    if (loop_ != nullptr) end_loop(*loop_);
    return false;
  }
  if (loop_ == nullptr) begin_loop(context);
  if (context.places.back().loop != loop_) return false;  // an inner loop
  answers_before_ = std::exchange(answers_here_, answers_.size());
  if (!has_asked_) options_before_.swap(options_here_);
  options_here_.clear();
  is_known_ = known_iterations_ > 0;
  if (is_known_) --known_iterations_;
  next_known_ = 0;
  credit_ += kLooksForEachOp * run_.replay.ops();
  if (!context.catches_up && was_held_) forget();
  if (may_hold_ && is_early_enough() && knows_all_answers(context)) {
    held_ = &context;
    context.wait.what = LaunchingTask::BodyWait::WaitReason::kHeld;
    return true;
  }
  look(context, false);
  return false;
}

LaunchingTask* SteadyLoop::resume() {
  LaunchingTask* const context = held_;
  held_ = nullptr;
  launching_.push_back({LaunchingStep::Kind::kResume, run_.agenda.now()});
  look(*context, true);
  return context;
}

void SteadyLoop::note_start(const app::Launch& launch, const TaskOptions& options) {
  if (loop_ == nullptr) return;
  if (may_skip_ && !has_asked_) answers_.push_back(hash_of(launch, options));
  if (may_hold_ && !has_asked_) options_here_.push_back(options);
  if (was_held_) launching_.push_back({LaunchingStep::Kind::kLaunch, 0});
}

void SteadyLoop::note_left(int launches) {
  if (loop_ == nullptr || !was_held_) return;
  for (; launches > 0; --launches) {
    launching_.push_back({LaunchingStep::Kind::kLeave, run_.agenda.now()});
  }
}

void SteadyLoop::log_event(const Event& event) {
  events_.push_back({event.time, event.kind(), op_of(event)});
}

void SteadyLoop::end_loop(const app::Loop& loop) {
  if (loop_ != &loop) return;
  loop_ = nullptr;
  is_known_ = false;
  forget();
}

void SteadyLoop::forbid() {
  has_profiling_ = true;
  may_skip_ = may_hold_ = false;
}

// ---- Finding equal states

void SteadyLoop::forget() {
  seen_.clear();
  alike_.clear();
  events_.clear();
  launching_.clear();
  answers_.clear();
  coming_bytes_ = 0;
  answers_here_ = answers_before_ = 0;
}

SteadyLoop::Moment SteadyLoop::present(const LaunchingTask& context) const {
  const RunResult& result = run_.parts.outcome.result();
  Moment moment;
  moment.iteration = context.places.back().iteration;
  moment.now = run_.agenda.now();
  moment.launching_now = context.now;
  moment.counts = run_.counts;
  moment.tasks = result.tasks;
  moment.copies = result.copies;
  moment.moved_bytes = result.moved_bytes;
  moment.answers = answers_.size();
  moment.events = events_.size();
  moment.launching = launching_.size();
  moment.among_gaps = run_.copies.started_among_gaps();
  return moment;
}

// Takes the state of the run at the beginning of an iteration. If it was the same at an earlier
// iteration, skips as many iterations as possible.
//
// If the launching task was held back at both, the run goes on in the same way although the task is
// further ahead than before, since it was never late in between.
void SteadyLoop::look(LaunchingTask& context, bool is_held) {
  if (!may_skip_) return;
  const bool keeps_much =
      std::max({answers_.size(), events_.size(), launching_.size()}) > kMostKept;
  if (is_held != was_held_ || keeps_much) forget();
  was_held_ = is_held;
  const auto cost = static_cast<std::int64_t>(run_.parts.ops.undone());
  if (run_.parts.launcher.has_advance_answers() || cost > credit_) return;
  credit_ -= cost;
  const std::vector<Event> coming = run_.agenda.events_in_order();
  StateHash alike;
  if (!add_state(context, coming, alike)) return;
  StateHash same = alike;
  add_times(coming, same);
  Moment here = present(context);
  if (const auto [found, is_new] = seen_.try_emplace(same, here); !is_new) {
    const Moment first = std::exchange(found->second, here);
    const std::vector<RunTime> later(coming.size(), here.now - first.now);
    skip(context, first, here, coming, later, INT64_MAX);
    return;
  }
  if (!is_held) return;
  for (const Event& event : coming) here.coming.push_back(event.time);
  AlikeMoments& earlier = alike_[alike];
  if (skip_drifting(context, earlier, here, coming)) return;
  coming_bytes_ += heap_bytes(here.coming) - heap_bytes(earlier.before.coming);
  earlier.before = std::exchange(earlier.last, std::move(here));
}

// Returns the number of an op relative to the first op of the present iteration. Ops that are older
// than the recorded iteration keep their number.
std::uint64_t SteadyLoop::relative(Op op) const {
  return op < run_.replay.recorded() ? op : (std::uint64_t{1} << 32) + (op - run_.replay.here());
}

// Returns the op of a task or copy that ends, or kBeginning for an event of another kind.
Op SteadyLoop::op_of(const Event& event) const {
  if (event.kind() == Event::Kind::kTaskEnd) return event.run->op;
  if (event.kind() != Event::Kind::kCopyEnd) return kBeginning;
  return run_.copies[static_cast<std::uint32_t>(event.id)].fetch.op;
}

// Adds everything to `hash` that decides how the run goes on, relative to the present iteration and
// time, except for what add_times() adds. `coming` are the events to come. Returns false if the run
// has something under way that does not belong to the loop.
//
// Not added is what follows from the rest: the load of the processors, the use of memories and
// instances, and the launches in flight follow from the ops that are not done.
bool SteadyLoop::add_state(const LaunchingTask& context, std::span<const Event> coming,
                           StateHash& hash) const {
  for (const Event& event : coming) {
    hash.add(static_cast<std::uint64_t>(event.kind()));
    const bool is_ready = event.kind() == Event::Kind::kReady;
    const Op op = is_ready ? static_cast<Op>(event.id) : op_of(event);
    if (op < run_.replay.recorded()) return false;
    hash.add(relative(op));
  }
  if (!add_ops(hash)) return false;
  add_waiting_tasks(hash);
  for (const RunTime free : run_.utility) {
    hash.add(number(std::max<RunTime>(0, free - context.now)));
  }
  for (const Op future : context.futures) hash.add(relative(future));
  if (!was_held_) hash.add(number(context.window.left_since(context.now)));
  for (std::size_t i = answers_before_; i < answers_here_; ++i) hash.add(answers_[i]);
  return true;
}

// Adds the ops of the loop that are not done. The task with the loop is the only other op that may
// be under way.
bool SteadyLoop::add_ops(StateHash& hash) const {
  const OpGraph& ops = run_.parts.ops;
  const RunTime now = run_.agenda.now();
  std::size_t undone = 1;
  // From the newest op to the oldest one that is not done.
  for (auto op = static_cast<Op>(ops.size());
       undone < ops.undone() && op-- > run_.replay.recorded();) {
    const OpGraph::OpState state = ops.state(op);
    if (state.done) continue;
    ++undone;
    hash.add(relative(op));
    hash.add(state.missing);
    const OpSubject& subject = run_.uses[op];
    if (subject.kind == OpSubject::Kind::kTask) {
      hash.add(number(subject.run->number));
      hash.add(number(std::max<RunTime>(0, subject.run->times.mapped - now)));
    } else if (subject.kind == OpSubject::Kind::kCopy) {
      hash.add(number(std::max<RunTime>(0, run_.copies[subject.copy].mapped - now)));
    }
  }
  return undone == ops.undone();
}

// Adds the tasks that wait for their processors, in the order in which they will run.
void SteadyLoop::add_waiting_tasks(StateHash& hash) const {
  for (std::int32_t p = 0; p < run_.stations.size(); ++p) {
    const ProcessorState& station = run_.stations[p];
    if (station.ready.empty()) continue;
    std::vector<ProcessorState::Waiting> waiting = station.ready.values();
    std::sort(waiting.begin(), waiting.end());
    hash.add(number(p));
    for (const ProcessorState::Waiting& each : waiting) hash.add(relative(each.run->op));
  }
}

// Adds when the events to come happen, and since when copies occupy their links or will do so.
void SteadyLoop::add_times(std::span<const Event> coming, StateHash& hash) const {
  const RunTime now = run_.agenda.now();
  for (const Event& event : coming) {
    hash.add(number(event.time - now));
    if (event.kind() != Event::Kind::kCopyEnd) continue;
    const CopyRun& copy = run_.copies[static_cast<std::uint32_t>(event.id)];
    hash.add(number(std::max<RunTime>(0, copy.start - now)));
  }
}

// ---- Answers of mappers

// Asks select_task_options for the launches of the rest of the loop when it is first called.
// Returns whether the answers are the same in all iterations as in the one before. If not, the loop
// is not watched any more; the answers are kept for the launches.
bool SteadyLoop::knows_all_answers(LaunchingTask& context) {
  if (has_asked_) return true;
  if (options_before_.empty()) return false;  // the first iteration that is watched
  const LaunchingTask::BodyPosition& place = context.places.back();
  std::vector<std::uint64_t> before(answers_.begin() + static_cast<std::ptrdiff_t>(answers_before_),
                                    answers_.begin() + static_cast<std::ptrdiff_t>(answers_here_));
  if (before.size() != options_before_.size()) return false;
  has_asked_ = true;
  answers_before_ = answers_here_;
  const std::int64_t rest = place.count - place.iteration;
  known_iterations_ = iterations_with_answers(context, before, 1, rest);
  const bool knows_all = known_iterations_ == rest;
  is_known_ = known_iterations_ > 0;
  if (is_known_) --known_iterations_;
  if (!knows_all) may_hold_ = may_skip_ = false;
  return knows_all;
}

// Asks select_task_options for the launches of the iterations to come, at most `most` periods of
// them, and returns for how many periods the answers are the same as between `first` and `here`.
// The other answers are kept for the launches.
std::int64_t SteadyLoop::periods_with_same_answers(LaunchingTask& context, const Moment& first,
                                                   const Moment& here, std::int64_t most) {
  const std::vector<std::uint64_t> answers(
      answers_.begin() + static_cast<std::ptrdiff_t>(first.answers),
      answers_.begin() + static_cast<std::ptrdiff_t>(here.answers));
  return iterations_with_answers(context, answers, here.iteration - first.iteration, most);
}

// Asks select_task_options for the launches from the present iteration on, at most `most` times
// `period` iterations. Returns how many times the hashes of the answers are `answers`.
std::int64_t SteadyLoop::iterations_with_answers(LaunchingTask& context,
                                                 std::span<const std::uint64_t> answers,
                                                 std::int64_t period, std::int64_t most) {
  const std::int64_t here = context.places.back().iteration;
  const auto set_variable = [&](std::int64_t iteration) {
    if (loop_->slot >= 0) context.frame[static_cast<std::size_t>(loop_->slot)] = iteration;
  };
  std::int64_t same = 0;
  for (bool is_same = true; same < most; ++same) {
    std::span<const std::uint64_t> left = answers;
    for (std::int64_t i = 0; i < period && is_same; ++i) {
      set_variable(here + same * period + i);
      is_same = has_same_answers(context, loop_->body, left);
    }
    if (!is_same) break;
    run_.parts.launcher.forget_advance_answers();
  }
  set_variable(here);
  return same;
}

// Asks for the launches of the body, and compares the answers with the first ones of `answers`,
// which it removes there. Returns false as soon as one differs.
bool SteadyLoop::has_same_answers(LaunchingTask& context, const app::Body& body,
                                  std::span<const std::uint64_t>& answers) {
  Launcher& launcher = run_.parts.launcher;
  return std::all_of(body.begin(), body.end(), [&](const app::Statement& statement) {
    if (!run_.parts.outcome.spend(1)) return false;
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
      LaunchDomain domain;
      if (!launcher.domain_of(context, *launch, domain)) return false;
      if (domain.count() == 0) return true;
      const TaskOptions* const options = launcher.ask_in_advance(context, *launch, domain);
      if (options == nullptr || answers.empty()) return false;
      const bool is_same = hash_of(*launch, *options) == answers.front();
      answers = answers.subspan(1);
      return is_same;
    }
    if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
      return has_same_answers(context, phase->body, answers);
    }
    const auto* loop = std::get_if<app::Loop>(&statement.node);
    if (loop == nullptr) return true;
    std::int64_t count = 0;
    if (!launcher.count_iterations(context, *loop, count)) return false;
    for (std::int64_t i = 0; i < count; ++i) {
      if (loop->slot >= 0) context.frame[static_cast<std::size_t>(loop->slot)] = i;
      if (!has_same_answers(context, loop->body, answers)) return false;
    }
    return true;
  });
}

}  // namespace groma::sim
