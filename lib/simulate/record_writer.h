// RecordWriter: writes the record of a run, if it is wanted.
#pragma once

#include <algorithm>
#include <cstdint>
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
  // Refers to both arguments, so they must outlive it. If `wanted` is false, nothing is written.
  RecordWriter(const RunInput& input, Outcome& outcome, bool wanted);

  bool wanted() const { return record_ != nullptr; }
  // Returns the number of the event that is added next; -1 if nothing is written.
  std::int64_t next_event() const {
    return record_ ? static_cast<std::int64_t>(record_->events.size()) : -1;
  }
  // The following functions do nothing if nothing is written. They end the run if there is no
  // memory left.

  // Adds a task that starts now.
  void add_task(const TaskRun& run, RunTime end);
  // Adds a copy between two instances. Its start is known.
  void add_copy(const CopyRun& copy, const Instance& from, const Instance& to, const Route& route,
                RunTime end);
  void add_phase(int phase, RunTime start, RunTime end);
  // Adds an instance that is made or freed.
  void add_allocation(RunTime now, const Instance& instance, bool made);
  // Completes the record and returns it; null if it is not wanted.
  std::shared_ptr<const RunRecord> finish(RunTime end, const Store& store, const Links& links);

  // Returns its memory, approximately.
  std::int64_t bytes() const;

 private:
  template <typename Entry>
  void append(std::vector<Entry>& list, const std::type_identity_t<Entry>& entry);
  std::int32_t point_number(const Point& point);

  const RunInput& input_;
  Outcome& outcome_;
  std::shared_ptr<RunRecord> record_;
  std::unordered_map<std::string, std::int32_t> point_numbers_;  // index into record_->points
};

}  // namespace groma::sim
