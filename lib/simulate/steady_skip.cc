// Implements the part of SteadyLoop that skips iterations, after the state of the run has come
// again.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "simulate/links.h"
#include "simulate/steady_loop.h"

namespace groma::sim {

// Called if the state is the same as at two earlier moments, apart from the times of the events to
// come. Skips iterations if the events between these moments repeat in the same order, each of them
// as much later as the time before. Returns true if iterations were skipped.
//
// The times then depend on nothing but that order, except for a copy that looks for a gap in the
// schedule of a link.
bool SteadyLoop::skip_drifting(LaunchingTask& context, const AlikeMoments& earlier,
                               const Moment& here, std::span<const Event> coming) {
  const Moment &before = earlier.before, &last = earlier.last;
  const std::int64_t period = here.iteration - last.iteration;
  if (before.iteration < 0 || last.iteration - before.iteration != period ||
      before.among_gaps != here.among_gaps || here.now - last.now != last.now - before.now ||
      here.launching_now - last.launching_now != last.launching_now - before.launching_now) {
    return false;
  }
  std::vector<RunTime> later;
  for (std::size_t i = 0; i < coming.size(); ++i) {
    later.push_back(here.coming[i] - last.coming[i]);
    if (later.back() != last.coming[i] - before.coming[i]) return false;
  }
  const std::span<const EndedOp> events(events_);
  const std::int64_t in_order =
      periods_in_order(events.subspan(before.events, last.events - before.events),
                       events.subspan(last.events, here.events - last.events),
                       static_cast<Op>(period) * run_.replay.ops(), INT64_MAX);
  return skip(context, last, here, {coming.begin(), coming.end()}, later, in_order, &before);
}

// Repeats what a launching task did between `first` and `here`, while it was held back, and what
// happened to its window: `most` times, or until the task would be late. Returns how often, and
// leaves the window and the task's own time as they are then, or, if the task would be late, as
// they are meanwhile.
//
// Each time the launches leave the window, and the task goes on, later by the same time: by the
// distance of `first` and `here` or, if `before` is not null, by as much as they are later than
// between `before` and `first`. A launch always takes the same time, since the task goes on only
// after its tasks are mapped.
std::int64_t SteadyLoop::launch_ahead(LaunchWindow& window, RunTime& launching_now,
                                      const Moment& first, const Moment& here, const Moment* before,
                                      std::int64_t most) const {
  using Kind = LaunchingStep::Kind;
  const std::span<const LaunchingStep> all(launching_);
  const auto last = all.subspan(first.launching, here.launching - first.launching);
  const auto earlier = before == nullptr
                           ? last
                           : all.subspan(before->launching, first.launching - before->launching);
  if (earlier.size() != last.size()) return 0;
  RunTime now = here.now;
  for (std::int64_t times = 1; times <= most; ++times) {
    for (std::size_t i = 0; i < last.size(); ++i) {
      const LaunchingStep& step = last[i];
      if (earlier[i].kind != step.kind) return 0;
      if (step.kind == Kind::kGoOn && earlier[i].time != step.time) return 0;
      const RunTime later = before == nullptr ? here.now - first.now : step.time - earlier[i].time;
      const RunTime then = step.time + times * later;
      if (step.kind == Kind::kResume) now = then;
      if (step.kind == Kind::kLeave) window.leave(then);
      if (step.kind == Kind::kLaunch) window.add();
      if (step.kind == Kind::kGoOn) launching_now += step.time;
      if (step.kind == Kind::kCheck && window.is_full(launching_now)) {
        const std::optional<RunTime> room = window.wait_for_room();
        if (!room) return times - 1;
        launching_now = *room + run_.future_time;
      }
      if (launching_now > now) return times - 1;
    }
    if (!run_.parts.outcome.spend(static_cast<std::int64_t>(last.size()))) return times - 1;
  }
  return most;
}

// Makes the run what it would be if what happened between `first` and `here` had happened several
// more times, but at most `most` times. `coming` are the events to come; each time, event i of them
// is later by `later[i]`. Returns false if nothing can be skipped. Skips only so much that at least
// one iteration is left and no limit of the run is reached.
//
// The ops of skipped iterations are never added, so the numbers of later ops are smaller.
bool SteadyLoop::skip(LaunchingTask& context, const Moment& first, const Moment& here,
                      std::vector<Event> coming, std::span<const RunTime> later, std::int64_t most,
                      const Moment* before) {
  LaunchingTask::BodyPosition& place = context.places.back();
  const auto limit = [&most](std::int64_t left, std::int64_t each) {
    if (each > 0) most = std::min(most, left / each);
  };
  const RunTime time = here.now - first.now;
  limit(place.count - place.iteration - 1, here.iteration - first.iteration);
  limit(run_.max_tasks - here.counts.launched, here.counts.launched - first.counts.launched);
  limit(static_cast<std::int64_t>(kMaxStatements - here.counts.statements),
        static_cast<std::int64_t>(here.counts.statements - first.counts.statements));
  limit(kLongest - here.now, time);
  for (const RunTime free : run_.utility) limit(kLongest - free, time);
  for (std::size_t i = 0; i < coming.size(); ++i) limit(kLongest - coming[i].time, later[i]);
  if (!has_asked_) most = periods_with_same_answers(context, first, here, most);
  LaunchWindow window = context.window;
  RunTime launching_now = context.now;
  if (was_held_) {
    const std::int64_t in_time = launch_ahead(window, launching_now, first, here, before, most);
    if (in_time < most) {
      most = in_time;
      window = context.window;
      launching_now = context.now;
      launch_ahead(window, launching_now, first, here, before, most);
    }
  } else {
    launching_now += most * time;
    window.move(most * time);
  }
  const std::int64_t periods = most;
  if (periods <= 0) return false;

  repeat_counts(first, here, periods);
  const RunTime launching_time = launching_now - context.now;
  for (std::size_t i = 0; i < coming.size(); ++i) coming[i].time += periods * later[i];
  run_.agenda.move(periods * time, coming);
  run_.tasks.move(launching_time, *context.run);
  run_.copies.move_mapped(launching_time);
  for (std::size_t i = 0; i < coming.size(); ++i) {
    if (coming[i].kind() != Event::Kind::kCopyEnd) continue;
    run_.copies.move_reserved(static_cast<std::uint32_t>(coming[i].id), periods * later[i],
                              run_.agenda.now());
  }
  for (RunTime& free : run_.utility) free += launching_time;
  context.now = launching_now;
  context.window.take_times_from(std::move(window));
  known_iterations_ -= has_asked_ ? periods * (here.iteration - first.iteration) : 0;
  place.iteration += periods * (here.iteration - first.iteration);
  if (loop_->slot >= 0) context.frame[static_cast<std::size_t>(loop_->slot)] = place.iteration;
  forget();
  return true;
}

void SteadyLoop::repeat_counts(const Moment& first, const Moment& here, std::int64_t periods) {
  const auto repeat = [periods](auto& count, auto before, auto after) {
    using Count = std::remove_reference_t<decltype(count)>;
    count += static_cast<Count>(periods) * static_cast<Count>(after - before);
  };
  RunResult& result = run_.parts.outcome.result();
  repeat(result.tasks, first.tasks, here.tasks);
  repeat(result.copies, first.copies, here.copies);
  repeat(result.moved_bytes, first.moved_bytes, here.moved_bytes);
  repeat(run_.counts.launches, first.counts.launches, here.counts.launches);
  repeat(run_.counts.launched, first.counts.launched, here.counts.launched);
  repeat(run_.counts.statements, first.counts.statements, here.counts.statements);
  for (std::size_t phase = 0; phase < run_.counts.phase_time.size(); ++phase) {
    RunTime& total = run_.counts.phase_time[phase];
    repeat(total, first.counts.phase_time[phase], here.counts.phase_time[phase]);
    total = std::min(total, kLongest);
  }
}

}  // namespace groma::sim
