// ProcessorStates: the processors of a run, and the tasks that wait for them and run on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "simulate/agenda.h"
#include "simulate/heap.h"
#include "simulate/noise.h"
#include "simulate/outcome.h"
#include "simulate/record_writer.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_durations.h"
#include "simulate/task_run.h"

namespace groma::sim {

// The tasks of one processor: those that wait for it, and the one that runs on it.
struct ProcessorState {
  struct Waiting {
    int priority;
    std::uint64_t order;
    TaskRun* run;
    // Returns true if this task runs before the other one.
    bool operator<(const Waiting& other) const {
      return priority != other.priority ? priority > other.priority : order < other.order;
    }
  };
  // The tasks that are ready to run on the processor. The first one has the highest priority.
  Heap<Waiting> ready;
  TaskRun* running = nullptr;
  // The number of tasks that are mapped to the processor and not finished.
  std::int64_t load = 0;
  // The tasks that the mapper of the processor has not selected for mapping yet.
  std::vector<TaskRun*> unmapped;
  // The number, in the record of the run, of the last task that started. -1: none.
  std::int64_t last_record = -1;

  bool idle() const { return load == 0 && unmapped.empty(); }
};

class ProcessorStates {
 public:
  // The object keeps references to all arguments, so they must outlive it.
  ProcessorStates(const RunInput& input, const InstanceStore& store, Outcome& outcome,
                  Agenda& agenda, RecordWriter& record, Noise& noise, const TimeModel& model);

  ProcessorState& operator[](std::int32_t processor) {
    return stations_[static_cast<std::size_t>(processor)];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(stations_.size()); }
  // Return the processor of the list that has the least load, and the first of several such
  // processors. The list must not be empty.
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

  // Lets a task that is ready wait for its processor, or starts it if the processor is free.
  void queue(TaskRun& run);
  // Frees the processor of a task that has ended, and the task's share of memory bandwidth. The
  // caller then has to call start_next().
  ProcessorState& free_processor_of(const TaskRun& run);
  // Starts the ready task of a processor with the highest priority, if there is one. The processor
  // must be free.
  void start_next(ProcessorState& station);

  // Called when a task starts to run.
  std::function<void(TaskRun&)> on_start;

 private:
  std::int64_t load(std::int32_t processor) const {
    return stations_[static_cast<std::size_t>(processor)].load;
  }
  void start(TaskRun& run, ProcessorState& station);

  const RunInput& input_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  Noise& noise_;
  TaskDurations durations_;
  std::vector<ProcessorState> stations_;
};

}  // namespace groma::sim
