// RunRecord: what happened in a run, event by event; what a profile is made from. The embedded
// runtime knows all of it; of a Legion program it is what Legion tells (docs/legion.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

// Picoseconds since the run began.
using RunTime = std::int64_t;
inline constexpr double kPicosecond = 1e-12;

// Names are indices into the lists of RunRecord; -1: none.
struct RunRecord {
  // A one-way lane of a channel: `out` of the memories of its node, or in.
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
  // Tasks and copies are numbered together in the order in which their start was decided, so that
  // causes come before what they caused. A run that was given up may have events beyond its end.
  struct Event {
    enum class Kind : std::uint8_t { kTask, kCopy, kReduction } kind = Kind::kTask;
    std::int32_t name = -1;    // of a task; of the task that wanted the copy
    std::int32_t point = -1;   // of a task of an index launch
    std::int32_t where = -1;   // processor of a task; target memory of a copy
    std::int32_t from = -1;    // source memory of a copy
    std::int32_t region = -1;  // of a copy
    // Of the mapping, because of which the data goes there; 0: the default mapper; -1: not known.
    std::int32_t statement = 0;
    std::int32_t route = -1;  // of a copy
    std::int64_t bytes = 0;
    // Its node's runtime processor maps a task from `mapping` to `mapped`; a copy's `mapping` is 0.
    RunTime mapping = 0, mapped = 0, ready = 0, start = 0, end = 0;
    // The event whose end made it ready last; -1: it was ready when it was mapped. Where it then
    // waited for a processor or channel: the event that had it, which ended later.
    std::int64_t cause = -1;
    // The event that the launching task waited for last before it launched this (its end, or its
    // start where it is the launching task itself); from then to `mapped` it was the runtime's.
    // -1: from the beginning of the run.
    std::int64_t after = -1;
    bool after_start = false;
    // Of a launching task that worked on after it had launched others: its first event; else -1.
    std::int64_t continues = -1;
  };
  struct Allocation {
    RunTime time;
    std::int32_t memory;
    std::int32_t region;
    std::int64_t bytes;  // negative: freed
  };
  struct Phase {
    std::int32_t name;  // of `phase_names`
    RunTime begin, end;
  };

  std::vector<std::string> tasks, regions, phase_names;
  std::vector<std::string> points;  // "(1, 2)": the coordinates in the launch domain
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<Link> links;
  std::vector<std::vector<std::int32_t>> routes;  // links; none inside one memory
  std::vector<Event> events;
  std::vector<Allocation> allocations;
  std::vector<Phase> phases;  // in the order in which they ended
  RunTime end = 0;
  bool is_beginning = false;       // of the run, which had more events than are kept
  std::vector<std::string> notes;  // what it does not say, a sentence each

  bool has_name(const Phase& phase, std::string_view name) const {
    const auto number = static_cast<std::size_t>(phase.name);
    return phase.name >= 0 && number < phase_names.size() && phase_names[number] == name;
  }
};

}  // namespace groma
