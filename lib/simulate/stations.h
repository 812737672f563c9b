// Stations: the processors of a run, and the tasks that wait for them and run on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "simulate/agenda.h"
#include "simulate/noise.h"
#include "simulate/outcome.h"
#include "simulate/record_writer.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_durations.h"
#include "simulate/task_run.h"

namespace groma::sim {

// The tasks of one processor.
struct Station {
  struct Waiting {
    int priority;
    std::uint64_t order;
    TaskRun* run;
    bool operator<(const Waiting& other) const {
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  std::priority_queue<Waiting> ready;  // ready to run
  TaskRun* running = nullptr;
  std::int64_t load = 0;           // tasks that are mapped to it and not finished
  std::vector<TaskRun*> unmapped;  // tasks that its mapper has not selected yet
  std::int64_t last_record = -1;   // record of the last task that started

  bool idle() const { return load == 0 && unmapped.empty(); }
};

class Stations {
 public:
  // Refers to all arguments, so they must outlive it.
  Stations(const RunInput& input, const Store& store, Outcome& outcome, Agenda& agenda,
           RecordWriter& record, Noise& noise, const TimeModel& model);

  Station& operator[](std::int32_t processor) {
    return stations_[static_cast<std::size_t>(processor)];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(stations_.size()); }
  // Return the first of the processors with the least load. The list must not be empty.
  std::int32_t least_loaded(std::span<const std::int32_t> processors) const {
    return *std::min_element(processors.begin(), processors.end(),
                             [this](std::int32_t a, std::int32_t b) { return load(a) < load(b); });
  }
  const Processor& least_loaded(std::span<const Processor> processors) const {
    const auto number = [this](const Processor& p) { return input_.processors.number_of(p); };
    return *std::min_element(
        processors.begin(), processors.end(),
        [&](const Processor& a, const Processor& b) { return load(number(a)) < load(number(b)); });
  }

  // Lets a task that is ready wait for its processor, or start there.
  void queue(TaskRun& run);
  // Frees the processor of a task that has ended, and its share of memory bandwidth. Then
  // start_next() is to be called.
  Station& leave(const TaskRun& run);
  // Starts the ready task with the highest priority, if there is one. The processor must be free.
  void start_next(Station& station);

  // Called when a task starts.
  std::function<void(TaskRun&)> on_start;

 private:
  std::int64_t load(std::int32_t processor) const {
    return stations_[static_cast<std::size_t>(processor)].load;
  }
  void start(TaskRun& run, Station& station);

  const RunInput& input_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  Noise& noise_;
  TaskDurations durations_;
  std::vector<Station> stations_;
};

}  // namespace groma::sim
