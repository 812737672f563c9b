// RunRecord: the events of a run, from which a profile is made. The embedded runtime records all
// events. For a Legion program the record has what Legion reports (docs/legion.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// Picoseconds since the beginning of the run.
using RunTime = std::int64_t;
inline constexpr double kPicosecond = 1e-12;

// The record of a run. Members that refer to something hold its index in one of the lists below;
// -1: none.
struct RunRecord {
  // A one-way lane of a channel. If `out` is true, it leads out of the memories of its node,
  // otherwise into them.
  struct Link {
    std::string channel;
    std::int64_t node, number;
    bool out;
  };
  struct Processor {
    std::string kind;
    std::int64_t node, index;
  };
  struct Memory {
    std::string kind;
    std::int64_t node, index;
    std::int64_t capacity_bytes;
    std::int64_t peak_bytes = 0;
  };
  // A task or a copy. Events are numbered in the order in which their start was decided, so that a
  // cause precedes its effects. A run that was given up may have events beyond its end.
  struct Event {
    enum class Kind : std::uint8_t { kTask, kCopy, kReduction } kind = Kind::kTask;
    // The task, as an index into `tasks`. For a copy, this is the task that needed the copy.
    std::int32_t name = -1;
    // For a task of an index launch: its point, as an index into `points`.
    std::int32_t point = -1;
    // The processor of a task, as an index into `processors`, or the target memory of a copy, as an
    // index into `memories`.
    std::int32_t where = -1;
    // The source memory of a copy, as an index into `memories`.
    std::int32_t from = -1;
    // The region whose data a copy moves, as an index into `regions`.
    std::int32_t region = -1;
    // The statement of the mapping that places the data; 0: the default mapper; -1: unknown.
    std::int32_t statement = 0;
    // The route of a copy, as an index into `routes`.
    std::int32_t route = -1;
    std::int64_t bytes = 0;
    // The runtime processor of the node maps a task from `mapping` to `mapped`. `mapping` is 0 for
    // a copy.
    RunTime mapping = 0, mapped = 0, ready = 0, start = 0, end = 0;
    // The event whose end made this one ready last; -1: it was ready when it was mapped. If it then
    // waited for a processor or channel: the event that used it and ended later.
    std::int64_t cause = -1;
    // The last event that the launching task waited for before this launch: the event's end, or its
    // start if it is the launching task itself (`after_start`). From then until `mapped` the
    // runtime worked on this event. -1: from the beginning of the run.
    std::int64_t after = -1;
    bool after_start = false;
    // A task that launches others and then goes on may have several events. For each of them except
    // the first one: the number of the first one. Otherwise -1.
    std::int64_t continues = -1;
  };
  struct Allocation {
    RunTime time;
    std::int32_t memory;
    std::int32_t region;
    // The bytes that were allocated. A negative number counts bytes that were freed.
    std::int64_t bytes;
  };
  struct Phase {
    // The name of the phase, as an index into `phase_names`.
    std::int32_t name;
    RunTime begin, end;
  };

  std::vector<std::string> tasks, regions, phase_names;
  // The points of index launches as texts, with the coordinates in the launch domain: "(1, 2)".
  std::vector<std::string> points;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<Link> links;
  // Each route is a list of indices into `links`. It is empty for copies within one memory.
  std::vector<std::vector<std::int32_t>> routes;
  std::vector<Event> events;
  std::vector<Allocation> allocations;
  // The phases in the order of their ends.
  std::vector<Phase> phases;
  RunTime end = 0;
  // True if the record has only the beginning of a run with too many events.
  bool is_beginning = false;
  // The things that the record leaves out. Each is a sentence.
  std::vector<std::string> notes;

  // Returns true if the phase has this name.
  bool has_name(const Phase& phase, std::string_view name) const {
    const auto number = static_cast<std::size_t>(phase.name);
    return phase.name >= 0 && number < phase_names.size() && phase_names[number] == name;
  }
};

}  // namespace groma
