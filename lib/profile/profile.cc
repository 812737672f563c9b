// make_profile(): adds up the times and bytes of a run's events, and finds the critical path of the
// run from its end backwards.
#include "groma/profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/words.h"

namespace groma {
namespace {

using profile::add_saturating;
using Event = RunRecord::Event;
using Doing = Profile::Doing;
using Reason = Profile::Reason;

// The key of a Profile::Move: the region, the mapping statement, and a number that encodes the two
// memory kinds and the flags.
using MoveKey = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;
struct MoveHash {
  std::size_t operator()(const MoveKey& key) const {
    const auto [region, statement, rest] = key;
    const std::uint64_t word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(region))
                                   << 32 |
                               static_cast<std::uint32_t>(statement);
    return (word * 0x9E3779B97F4A7C15 ^ rest) * 0x94D049BB133111EB >> 16;
  }
};

// Returns true if `number` is a valid index of the list. A record from another process may have
// invalid indices.
template <typename List>
bool within(std::int64_t number, const List& list) {
  return number >= 0 && number < static_cast<std::int64_t>(list.size());
}

// Returns the element of the list with this index, which must be valid.
template <typename List>
auto& at(List& list, std::int64_t number) {
  return list[static_cast<std::size_t>(number)];
}

// Builds the profile of a run from the record of the run.
class ProfileMaker {
 public:
  explicit ProfileMaker(std::shared_ptr<const RunRecord> record) : record_(*record) {
    profile_.record = std::move(record);
    profile_.total = std::max<RunTime>(0, record_.end);
  }

  // Builds the profile: first the sums over all events, then the critical path, then the sorted
  // lists.
  Profile make() {
    number_kinds();
    processors_.resize(record_.processors.size());
    memories_.resize(record_.memories.size());
    links_.resize(record_.links.size());
    for (const Event& event : record_.events) {
      event.kind == Event::Kind::kTask ? add_task(event) : add_copy(event);
    }
    watch_memories();
    sum_phases();
    walk();
    order();
    return std::move(profile_);
  }

 private:
  // Limits a time to the length of the run.
  RunTime clip(RunTime time) const { return std::clamp<RunTime>(time, 0, profile_.total); }
  // Returns the time that an event took before the end of the run, in picoseconds.
  RunTime length(const Event& event) const {
    return std::max<RunTime>(0, clip(event.end) - clip(event.start));
  }
  // Returns the time for which an event was ready but had not started, in picoseconds.
  RunTime waited(const Event& event) const {
    return std::max<RunTime>(0, clip(event.start) - clip(event.ready));
  }

  // Returns the number for the name of a processor or memory kind. A new name gets the next number.
  std::uint32_t number_of(const std::string& kind) {
    const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
    const auto number = static_cast<std::uint32_t>(found - kinds_.begin());
    // A machine has few processor and memory kinds, so a linear search is fast enough.
    if (found == kinds_.end()) kinds_.push_back(kind);
    return number;
  }
  // Numbers the processor and memory kinds, because numbers are compared faster than names.
  void number_kinds() {
    // Number 0 stands for an unknown kind.
    kinds_ = {std::string()};
    for (const RunRecord::Processor& p : record_.processors) {
      processor_kinds_.push_back(number_of(p.kind));
    }
    for (const RunRecord::Memory& m : record_.memories) memory_kinds_.push_back(number_of(m.kind));
  }
  // Return the number for the kind of a processor or memory, or 0 if its index is not valid.
  std::uint32_t kind_of_processor(std::int32_t p) const {
    return within(p, processor_kinds_) ? at(processor_kinds_, p) : 0;
  }
  std::uint32_t kind_of_memory(std::int32_t m) const {
    return within(m, memory_kinds_) ? at(memory_kinds_, m) : 0;
  }

  // Adds the event of a task to the sums of its task name and processor kind, of its processor, and
  // of the runtime processor that mapped it. An event that continues an earlier event of the task
  // does not count as another run of the task.
  void add_task(const Event& event) {
    const RunTime time = length(event);
    const std::int64_t run = event.continues < 0 ? 1 : 0;
    profile_.task_runs += run;
    add_saturating(profile_.task_time, time);
    const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.name))
                                  << 32 |
                              kind_of_processor(event.where);
    const auto [found, is_new] = task_numbers_.emplace(key, profile_.tasks.size());
    if (is_new) {
      profile_.tasks.emplace_back();
      profile_.tasks.back().task = within(event.name, record_.tasks) ? event.name : -1;
      profile_.tasks.back().kind = kinds_[kind_of_processor(event.where)];
    }
    Profile::Task& task = profile_.tasks[found->second];
    task.runs += run;
    add_saturating(task.time, time);
    task.longest = std::max(task.longest, run == 1 ? time : time_of_run(event));
    add_saturating(task.waited, waited(event));
    if (!within(event.where, processors_)) return;
    Profile::Processor& processor = at(processors_, event.where);
    processor.runs += run;
    add_saturating(processor.busy, time);
    // If the time of mapping was not measured, nothing is added to the runtime processor.
    if (event.mapped <= event.mapping) return;
    const std::int64_t node = at(record_.processors, event.where).node;
    Profile::Runtime& runtime = runtimes_[node];
    runtime.node = node;
    ++runtime.mapped;
    add_saturating(runtime.busy, std::max<RunTime>(0, clip(event.mapped) - clip(event.mapping)));
  }

  // Adds up the time of a task that consists of several events. Returns the sum up to `event`,
  // which is one of these events, but not the first one.
  RunTime time_of_run(const Event& event) {
    const RunTime first =
        within(event.continues, record_.events) ? length(at(record_.events, event.continues)) : 0;
    RunTime& time = ran_.try_emplace(event.continues, first).first->second;
    add_saturating(time, length(event));
    return time;
  }

  // Adds a copy or a reduction to the sums of its move (Profile::Move), its two memories, the flow
  // between them, and its links.
  void add_copy(const Event& event) {
    const RunTime time = length(event);
    ++(event.kind == Event::Kind::kCopy ? profile_.copies : profile_.reductions);
    add_saturating(profile_.moved_bytes, event.bytes);
    add_saturating(profile_.copy_time, time);
    Profile::CopyGroup& move = profile_.moves[move_of(event)];
    ++move.number;
    add_saturating(move.bytes, event.bytes);
    add_saturating(move.time, time);
    add_saturating(move.waited, waited(event));
    const bool from = within(event.from, memories_), to = within(event.where, memories_);
    if (from) add_saturating(at(memories_, event.from).out_bytes, event.bytes);
    if (to) add_saturating(at(memories_, event.where).in_bytes, event.bytes);
    if (from && to) {
      const std::uint64_t ends =
          static_cast<std::uint64_t>(event.from) << 32 | static_cast<std::uint32_t>(event.where);
      const auto [found, is_new] = flow_numbers_.emplace(ends, profile_.flows.size());
      if (is_new) profile_.flows.push_back({event.from, event.where, 0, 0});
      Profile::Flow& flow = profile_.flows[found->second];
      ++flow.number;
      add_saturating(flow.bytes, event.bytes);
    }
    if (!within(event.route, record_.routes)) return;
    for (std::int32_t link : at(record_.routes, event.route)) {
      if (!within(link, links_)) continue;
      Profile::Channel& channel = at(links_, link);
      ++channel.copies;
      add_saturating(channel.bytes, event.bytes);
      add_saturating(channel.busy, time);
    }
  }

  // Returns the index of the Profile::Move that a copy belongs to, which is created if necessary.
  std::size_t move_of(const Event& event) {
    const bool known =
        within(event.from, record_.memories) && within(event.where, record_.memories);
    const bool other =
        known && at(record_.memories, event.from).node != at(record_.memories, event.where).node;
    const bool same = known && event.from == event.where;
    const bool reduction = event.kind == Event::Kind::kReduction;
    const std::int32_t region = within(event.region, record_.regions) ? event.region : -1;
    const std::uint32_t from = kind_of_memory(event.from), to = kind_of_memory(event.where);
    const MoveKey key = {
        region, event.statement,
        (from << 14 ^ to) << 3 | (same ? 4U : 0U) | (other ? 2U : 0U) | (reduction ? 1U : 0U)};
    const auto [found, is_new] = move_numbers_.emplace(key, profile_.moves.size());
    if (is_new) {
      Profile::CopyGroup move;
      move.region = region;
      move.from = kinds_[from];
      move.to = kinds_[to];
      move.other_node = other;
      move.same_memory = same;
      move.statement = event.statement;
      move.reduction = reduction;
      profile_.moves.push_back(std::move(move));
    }
    return found->second;
  }

  // Finds the time at which each memory was fullest.
  void watch_memories() {
    std::vector<std::int64_t> used(memories_.size()), most(memories_.size());
    for (const RunRecord::Allocation& each : record_.allocations) {
      if (!within(each.memory, memories_)) continue;
      std::int64_t& now = at(used, each.memory);
      add_saturating(now, each.bytes);
      if (now <= at(most, each.memory)) continue;
      at(most, each.memory) = now;
      at(memories_, each.memory).peak_time = clip(each.time);
    }
  }

  // Adds up the times of the application's phases with the same name.
  void sum_phases() {
    std::unordered_map<std::int32_t, std::size_t> numbers;
    for (const RunRecord::Phase& phase : record_.phases) {
      if (!within(phase.name, record_.phase_names)) continue;
      const auto [found, is_new] = numbers.emplace(phase.name, profile_.phases.size());
      if (is_new) profile_.phases.push_back({at(record_.phase_names, phase.name), 0, 0});
      Profile::Phase& sum = profile_.phases[found->second];
      ++sum.times;
      add_saturating(sum.time, std::max<RunTime>(0, clip(phase.end) - clip(phase.begin)));
    }
  }

  // ---- The critical path, from its end

  // Adds a segment to the critical path, which is built from its end backwards. Empty segments are
  // dropped.
  void push(Doing doing, Reason reason, std::int64_t event, RunTime begin, RunTime end) {
    if (begin < end) profile_.path.push_back({doing, reason, event, begin, end, -1});
  }

  // Builds the critical path: walks back from the event that ended last to the start of the run,
  // from each event to the one for which it waited. The time between two events belongs to the
  // runtime.
  void walk() {
    const std::vector<Event>& events = record_.events;
    std::int64_t current = -1;
    for (std::size_t i = 0; i < events.size(); ++i) {
      // No event waited for an event that starts after the end of the run.
      if (events[i].start >= profile_.total && events[i].end > profile_.total) continue;
      if (current < 0 || clip(events[i].end) >= clip(at(events, current).end)) {
        current = static_cast<std::int64_t>(i);
      }
    }
    RunTime now = profile_.total;
    // The event that waited for `current`; -1 at the end of the run.
    std::int64_t waiting = -1;
    Reason reason = Reason::kEnd;
    // True if the path continues from the start of `current` and not from its end.
    bool start = false;
    while (current >= 0) {
      const Event& event = at(events, current);
      const RunTime then = std::min(now, clip(start ? event.start : event.end));
      // The time between the end of this event and the event that waited for it.
      push(Doing::kRuntime, waiting < 0 ? Reason::kEnd : Reason::kMapping, waiting, then, now);
      now = then;
      if (!start) {
        const RunTime begin = std::min(now, clip(event.start));
        push(doing_of(event), reason, current, begin, now);
        now = begin;
      }
      waiting = current;
      std::int64_t next = event.cause;
      start = false;
      // An event may have been ready before it started. Either its cause occupied the processor or
      // the channel, or the event only started late.
      const bool waited = event.start > event.ready;
      const bool kept = waited && within(next, events) && at(events, next).end > event.ready;
      if (waited && !kept) {
        const RunTime ready = std::min(now, clip(event.ready));
        push(Doing::kRuntime, Reason::kStart, current, ready, now);
        now = ready;
      }
      if (kept) {
        reason = event.kind == Event::Kind::kTask ? Reason::kProcessor : Reason::kChannel;
      } else if (event.ready > event.mapped && next >= 0) {
        // The event was mapped before it was ready, so it waited for its data.
        reason = Reason::kData;
      } else {
        reason = Reason::kMapping;
        next = event.after;
        start = event.after_start;
      }
      // The walk ends even if the record is wrong, because it only follows causes that are earlier
      // events.
      current = next < current ? next : -1;
    }
    push(Doing::kRuntime, waiting < 0 ? Reason::kEnd : Reason::kMapping, waiting, 0, now);
    std::reverse(profile_.path.begin(), profile_.path.end());
  }

  // Returns the activity of an event: task, copy or reduction.
  static Doing doing_of(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kTask:
        return Doing::kTask;
      case Event::Kind::kCopy:
        return Doing::kCopy;
      case Event::Kind::kReduction:
        break;
    }
    return Doing::kReduction;
  }

  // Adds up the segments of the critical path by their causes. A cause consists of an activity, a
  // reason, and a task or a move. Each segment gets the index of its cause in the sorted list.
  void sum_path() {
    std::unordered_map<std::uint64_t, std::size_t> numbers;
    for (Profile::Segment& segment : profile_.path) {
      const RunTime time = segment.end - segment.begin;
      const auto doing = static_cast<std::size_t>(segment.doing);
      const auto reason = static_cast<std::size_t>(segment.reason);
      add_saturating(profile_.path_time[doing][reason], time);
      Profile::PathCause cause{segment.doing, segment.reason, -1, -1, 0, 0};
      if (segment.event >= 0) {
        const Event& event = at(record_.events, segment.event);
        if (segment.doing == Doing::kCopy || segment.doing == Doing::kReduction) {
          cause.move = static_cast<std::int32_t>(move_order_[move_of(event)]);
        } else if (within(event.name, record_.tasks)) {
          cause.task = event.name;
        }
      }
      const std::uint64_t key = (doing * Profile::kReasons + reason) << 32 |
                                static_cast<std::uint32_t>(std::max(cause.task, cause.move));
      const auto [found, is_new] = numbers.emplace(key, profile_.path_causes.size());
      if (is_new) profile_.path_causes.push_back(cause);
      Profile::PathCause& sum = profile_.path_causes[found->second];
      ++sum.segments;
      add_saturating(sum.time, time);
      segment.cause = static_cast<std::int32_t>(found->second);
    }
    find_tasks_that_wait();
    const std::vector<std::int32_t> places = order_causes();
    for (Profile::Segment& segment : profile_.path) segment.cause = at(places, segment.cause);
  }

  // Finds out for each cause that is a task whether one other task came next on the path for more
  // than half of its time.
  void find_tasks_that_wait() {
    // By the index of the cause and the next task.
    std::map<std::pair<std::int32_t, std::int32_t>, RunTime> times;
    // The next task on the path behind the present segment.
    std::int32_t next = -1;
    for (auto segment = profile_.path.rbegin(); segment != profile_.path.rend(); ++segment) {
      if (segment->event < 0) continue;
      const Event& event = at(record_.events, segment->event);
      if (event.kind != Event::Kind::kTask || !within(event.name, record_.tasks)) continue;
      if (segment->doing == Doing::kTask && next >= 0) {
        add_saturating(times[{segment->cause, next}], segment->end - segment->begin);
      }
      next = event.name;
    }
    for (const auto& [key, time] : times) {
      Profile::PathCause& cause = at(profile_.path_causes, key.first);
      if (key.second != cause.task && time > cause.time / 2) cause.before = key.second;
    }
  }

  // Sorts the causes of the critical path by time, the longest first. Returns the new index of each
  // cause by its old index.
  std::vector<std::int32_t> order_causes() {
    std::vector<std::size_t> sorted(profile_.path_causes.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
      return profile_.path_causes[a].time > profile_.path_causes[b].time;
    });
    std::vector<std::int32_t> places(sorted.size());
    std::vector<Profile::PathCause> causes;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      places[sorted[i]] = static_cast<std::int32_t>(i);
      causes.push_back(profile_.path_causes[sorted[i]]);
    }
    profile_.path_causes = std::move(causes);
    return places;
  }

  // ---- The lists and their order

  // Sorts the lists of the profile. Leaves out processors, memories and links that were not used.
  void order() {
    std::stable_sort(profile_.tasks.begin(), profile_.tasks.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    std::stable_sort(profile_.flows.begin(), profile_.flows.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    order_moves();
    sum_path();
    list_processors();
    for (std::size_t m = 0; m < memories_.size(); ++m) {
      Profile::Memory& memory = memories_[m];
      if (record_.memories[m].peak_bytes <= 0 && memory.in_bytes == 0 && memory.out_bytes == 0) {
        continue;
      }
      memory.memory = static_cast<std::int32_t>(m);
      profile_.memories.push_back(memory);
    }
    for (std::size_t l = 0; l < links_.size(); ++l) {
      if (links_[l].copies == 0) continue;
      links_[l].link = static_cast<std::int32_t>(l);
      profile_.channels.push_back(links_[l]);
    }
    for (const auto& [node, runtime] : runtimes_) profile_.runtimes.push_back(runtime);
    std::sort(profile_.runtimes.begin(), profile_.runtimes.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
  }

  // Sorts the moves (copies grouped by region and memories) by bytes, the largest first. Stores the
  // new index of each move in move_order_, which sum_path() needs.
  void order_moves() {
    std::vector<std::size_t> sorted(profile_.moves.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
      return profile_.moves[a].bytes > profile_.moves[b].bytes;
    });
    move_order_.resize(sorted.size());
    std::vector<Profile::CopyGroup> moves;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      move_order_[sorted[i]] = i;
      moves.push_back(std::move(profile_.moves[sorted[i]]));
    }
    profile_.moves = std::move(moves);
  }

  // Lists the processors that were used, and adds up the times of all processors of each kind.
  void list_processors() {
    std::vector<Profile::Kind> kinds(kinds_.size());
    for (std::size_t p = 0; p < processors_.size(); ++p) {
      Profile::Processor& processor = processors_[p];
      Profile::Kind& kind = kinds[processor_kinds_[p]];
      kind.kind = record_.processors[p].kind;
      // An idle processor counts, too: the least busy time is then 0.
      kind.least = kind.processors == 0 ? processor.busy : std::min(kind.least, processor.busy);
      kind.most = std::max(kind.most, processor.busy);
      ++kind.processors;
      kind.runs += processor.runs;
      add_saturating(kind.busy, processor.busy);
      add_saturating(kind.idle, profile_.total - processor.busy);
      if (processor.runs == 0) continue;
      ++kind.used;
      processor.processor = static_cast<std::int32_t>(p);
      profile_.processors.push_back(processor);
    }
    for (Profile::Kind& kind : kinds) {
      if (kind.runs > 0) profile_.kinds.push_back(std::move(kind));
    }
    std::stable_sort(profile_.kinds.begin(), profile_.kinds.end(),
                     [](const auto& a, const auto& b) { return a.busy > b.busy; });
  }

  const RunRecord& record_;
  Profile profile_;
  // The names of the processor and memory kinds, by their numbers.
  std::vector<std::string> kinds_;
  std::vector<std::uint32_t> processor_kinds_, memory_kinds_;
  std::unordered_map<std::uint64_t, std::size_t> task_numbers_, flow_numbers_;
  std::unordered_map<MoveKey, std::size_t, MoveHash> move_numbers_;
  std::unordered_map<std::int64_t, Profile::Runtime> runtimes_;
  // The time so far of each task that consists of several events, by the number of its first event.
  std::unordered_map<std::int64_t, RunTime> ran_;
  std::vector<std::size_t> move_order_;
  std::vector<Profile::Processor> processors_;
  std::vector<Profile::Memory> memories_;
  std::vector<Profile::Channel> links_;
};

}  // namespace

// Adds up the time that an activity takes on the critical path, over all reasons.
RunTime Profile::time_on_path(Doing doing) const {
  RunTime time = 0;
  for (RunTime each : path_time[static_cast<std::size_t>(doing)]) time += each;
  return time;
}

// Returns, for each cause on the critical path, the time of its segments within the phases of this
// name.
std::vector<RunTime> Profile::path_times_in_phase(const std::string& phase) const {
  std::vector<RunTime> times(path_causes.size());
  for (const RunRecord::Phase& each : record->phases) {
    if (!record->has_name(each, phase)) continue;
    auto segment = std::partition_point(path.begin(), path.end(),
                                        [&](const Segment& s) { return s.end <= each.begin; });
    for (; segment != path.end() && segment->begin < each.end; ++segment) {
      const RunTime time = std::min(segment->end, each.end) - std::max(segment->begin, each.begin);
      add_saturating(at(times, segment->cause), std::max<RunTime>(0, time));
    }
  }
  return times;
}

// Returns the busy time of the busiest processor divided by the mean over all processors of the
// kind. Returns 1 if all are idle.
double Profile::imbalance(const Kind& kind) {
  if (kind.busy <= 0) return 1;
  return static_cast<double>(kind.most) * static_cast<double>(kind.processors) /
         static_cast<double>(kind.busy);
}

Profile make_profile(std::shared_ptr<const RunRecord> record) {
  return ProfileMaker(std::move(record)).make();
}

}  // namespace groma
