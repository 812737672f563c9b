// Starts tasks on their processors.
#include "simulate/stations.h"

#include "simulate/refusals.h"

namespace groma::sim {

// All processors are free at the beginning.
ProcessorStates::ProcessorStates(const RunInput& input, const InstanceStore& store,
                                 Outcome& outcome, Agenda& agenda, RecordWriter& record,
                                 Noise& noise, const TimeModel& model)
    : input_(input),
      outcome_(outcome),
      agenda_(agenda),
      record_(record),
      noise_(noise),
      durations_(input, store, model, record.wanted()),
      stations_(input.processors.size()) {}

// Tasks of equal priority start in the order in which they became ready.
void ProcessorStates::queue(TaskRun& run) {
  run.times.ready = agenda_.now();
  ProcessorState& station = (*this)[run.number];
  station.ready.push({run.choices.priority, agenda_.next_number(), &run});
  if (station.running == nullptr) start_next(station);
}

// Only tasks that are ready are in the queue, so a task that still waits for something else does
// not keep the processor from other tasks.
void ProcessorStates::start_next(ProcessorState& station) {
  if (station.ready.empty()) return;
  TaskRun& run = *station.ready.pop().run;
  station.running = &run;
  start(run, station);
}

// Schedules the end of the task and writes the task to the record. Ends the run if a formula of the
// task's variant has no value.
void ProcessorStates::start(TaskRun& run, ProcessorState& station) {
  run.times.start = agenda_.now();
  if (run.times.start > run.times.ready) run.records.cause = station.last_record;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const double seconds = durations_.begin(run, fault);
  fail_formula(outcome_, input_.data, run, fault);
  const RunTime end = run.times.start + noise_.add_noise(seconds);
  run.records.own = station.last_record = record_.next_event();
  record_.add_task(run, end, durations_.last_work());
  agenda_.add_task_end(end, run);
  on_start(run);
}

// Returns the state of the processor that becomes free. The caller cannot find it through `run` any
// more, since that object may already be used for another task.
ProcessorState& ProcessorStates::free_processor_of(const TaskRun& run) {
  durations_.end(run);
  ProcessorState& station = (*this)[run.number];
  station.running = nullptr;
  return station;
}

}  // namespace groma::sim
