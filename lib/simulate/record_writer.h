// RecordWriter: writes the record of a simulated run (its tasks, copies, phases and allocations) if
// a record is wanted.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "groma/run_record.h"
#include "simulate/copy_run.h"
#include "simulate/links.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"

namespace groma::sim {

class RecordWriter {
 public:
  // The object keeps references to the first three arguments, so they must outlive it. If `wanted`
  // is false, no record is written.
  RecordWriter(const RunInput& input, const InstanceStore& store, Outcome& outcome, bool wanted);

  bool wanted() const { return record_ != nullptr; }
  // Returns the number of the event that is added next to the record; -1 if no record is written.
  std::int64_t next_event() const {
    return record_ ? static_cast<std::int64_t>(record_->events.size()) : -1;
  }
  // The following functions do nothing if no record is written. They end the run if there is no
  // memory left for the record.

  // Adds a task that starts now, has this work and ends at `end`. Notes in `work` where the record
  // describes it.
  void add_task(const TaskRun& run, RunTime end, TaskWork& work);
  // Adds a copy between two instances, whose start time is known, to the record.
  void add_copy(const CopyRun& copy, const Instance& from, const Instance& to, const Route& route,
                RunTime end);
  void add_phase(int phase, RunTime start, RunTime end);
  // Adds to the record that an instance was made (`made` is true) or freed.
  void add_allocation(RunTime now, const Instance& instance, bool made);
  // Completes the record and returns it; returns null if no record is wanted.
  std::shared_ptr<const RunRecord> finish(RunTime end, const InstanceStore& store,
                                          const Links& links);

  // Returns the approximate memory of the record in bytes.
  std::int64_t bytes() const;

 private:
  static std::array<std::int32_t, kMemKindCount> no_memories() {
    std::array<std::int32_t, kMemKindCount> none{};
    none.fill(-1);
    return none;
  }
  template <typename Entry>
  void append(std::vector<Entry>& list, const std::type_identity_t<Entry>& entry);
  std::int32_t point_number(const Point& point);
  void describe_machine_and_tasks();
  void describe_requirements(const TaskRun& run);
  std::int32_t cost_number(const TaskRun& run, const TaskWork& work);

  const RunInput& input_;
  Outcome& outcome_;
  std::shared_ptr<RunRecord> record_;
  // For the text of each point: the index of the point in RunRecord::points.
  std::unordered_map<std::string, std::int32_t> point_numbers_;
  // For each distinct cost of a task: its index in RunRecord::costs.
  std::map<RunRecord::TaskCost, std::int32_t> cost_numbers_;
  // For each kind of memory: the first memory of this kind; -1: the machine has none.
  std::array<std::int32_t, kMemKindCount> first_memory_ = no_memories();
  const InstanceStore& store_;
};

}  // namespace groma::sim
