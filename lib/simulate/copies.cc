// Starts and ends the copies of a run.
#include "simulate/copies.h"

#include <algorithm>

#include "simulate/refusals.h"

namespace groma::sim {

// The links of the machine are free at the beginning.
Copies::Copies(const RunInput& input, InstanceStore& store, Outcome& outcome, Agenda& agenda,
               RecordWriter& record, Noise& noise, const TimeModel& model)
    : input_(input),
      store_(store),
      outcome_(outcome),
      agenda_(agenda),
      record_(record),
      noise_(noise),
      links_(*input.machine, input.memories, model) {}

// The new copy takes the object and the number of a copy that has ended, if there is one.
std::uint32_t Copies::add(const NeededCopy& fetch, const TaskRun& run, RunTime mapped) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(copies_.size()));
    copies_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  CopyRun& copy = copies_[number];
  copy = {};
  copy.fetch = fetch;
  copy.name = static_cast<std::int32_t>(run.task);
  copy.mapped = mapped;
  if (run.parent != nullptr) copy.since = run.parent->since;
  return number;
}

// The copy reserves its links now, even if it starts later, so that later copies queue behind it.
// The recorded cause of a delayed copy is the copy that it waits for.
void Copies::start(std::uint32_t number) {
  CopyRun& copy = copies_[number];
  const Instance& from = store_.instance(copy.fetch.from);
  const Instance& to = store_.instance(copy.fetch.to);
  const Route* route = links_.route(from.memory, to.memory);
  copy.ready = agenda_.now();
  if (route == nullptr) {
    outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, from, to)},
                    "no dma path between memories");
    return;
  }
  copy.record = record_.next_event();
  if (links_.have_gaps(*route, copy.ready)) ++started_among_gaps_;
  const RunTime duration = noise_.add_noise(route->seconds_for(copy.fetch.bytes));
  const LinkSchedule::CopyStart start =
      links_.reserve_links(*route, copy.ready, duration, copy.record, copy.ready);
  copy.start = start.time;
  if (copy.start > copy.ready) copy.cause = start.after;
  const RunTime end = copy.end = copy.start + duration;
  record_.add_copy(copy, from, to, *route, end);
  agenda_.add(end, Event::Kind::kCopyEnd, number);
}

void Copies::move_mapped(RunTime time) {
  for (CopyRun& copy : copies_) copy.mapped += time;
  links_.free_all();
}

void Copies::move_reserved(std::uint32_t number, RunTime time, RunTime now) {
  CopyRun& copy = copies_[number];
  copy.start += time;
  copy.end += time;
  const Route* const route =
      links_.route(store_.instance(copy.fetch.from).memory, store_.instance(copy.fetch.to).memory);
  links_.reserve_links(*route, std::max(copy.start, now), copy.end - std::max(copy.start, now),
                       copy.record, now);
}

// Adds the copy and its bytes to the statistics in the result of the run.
CopyRun Copies::end(std::uint32_t number) {
  const CopyRun& copy = copies_[number];
  ++outcome_.result().copies;
  outcome_.result().moved_bytes += copy.fetch.bytes;
  store_.release(copy.fetch.from);
  store_.release(copy.fetch.to);
  free_.push_back(number);
  return copy;
}

// The memory of the link schedules is estimated as a fixed number of bytes for each copy.
std::int64_t Copies::bytes() const {
  constexpr std::size_t kScheduled = 128;
  return static_cast<std::int64_t>(copies_.size() * (sizeof(CopyRun) + kScheduled));
}

}  // namespace groma::sim
