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
    // What the run time of a task consists of, as an index into `costs`; -1: unknown.
    std::int32_t cost = -1;
  };
  // The parts of a task's run time. The task computes and streams its data at the same time, so the
  // longer of the two counts, in addition to `launching`.
  struct TaskCost {
    // The data of one region requirement that the task streams from a memory.
    struct Stream {
      // The position of the region requirement.
      std::int32_t requirement = -1;
      // The first memory in `memories` that has the same kind as the memory of the data.
      std::int32_t memory = -1;
      // The statement of the mapping that placed the data; 0: the default mapper.
      std::int32_t statement = 0;
      // The bytes that the processor moves if it is no GPU or if the data is in FBMEM, and the
      // bytes that a GPU moves if the data is in another memory.
      std::int64_t bytes = 0, host_bytes = 0;
      friend auto operator<=>(const Stream&, const Stream&) = default;
    };
    // The time that it takes to launch the kernels of the task on a GPU.
    RunTime launching = 0;
    RunTime computing = 0;
    std::vector<Stream> streams;
    friend auto operator<=>(const TaskCost&, const TaskCost&) = default;
  };
  // The facts about a task that hold for all its runs.
  struct TaskDescription {
    struct Requirement {
      // The names by which statements can refer to the data: its own name first.
      std::vector<std::string> names;
      // The region, as an index into `regions`; -1: unknown.
      std::int32_t region = -1;
    };
    // The kinds of processors that the machine has and for which the task has a variant.
    std::vector<std::string> kinds;
    std::vector<Requirement> requirements;
  };
  // A kind of processor can address a kind of memory, with this bandwidth for one processor.
  struct Reach {
    std::string processor, memory;
    double bytes_per_s = 0;
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
  // Only the record of a simulated run has the next members. They say why its tasks take their time
  // and where else they could run. `descriptions` has one entry for each of `tasks`.
  std::vector<TaskCost> costs;
  std::vector<TaskDescription> descriptions;
  std::vector<Reach> reaches;
  // The top-level task, as an index into `tasks`, if it can be replicated but was not; else -1.
  std::int32_t could_replicate = -1;
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
