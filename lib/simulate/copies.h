// Copies: the copies of data between memories in a simulated run. Each copy lasts from the mapping
// of the task that needs the copy to the end of the copy.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/agenda.h"
#include "simulate/copy_run.h"
#include "simulate/links.h"
#include "simulate/noise.h"
#include "simulate/outcome.h"
#include "simulate/record_writer.h"
#include "simulate/run_input.h"
#include "simulate/store.h"

namespace groma::sim {

// The copies of a run that have not ended. The number of a copy that has ended is used again for a
// later copy.
class Copies {
 public:
  // The object keeps references to all arguments, so they must outlive it.
  Copies(const RunInput& input, InstanceStore& store, Outcome& outcome, Agenda& agenda,
         RecordWriter& record, Noise& noise, const TimeModel& model);

  // Adds a copy for a mapped task. The runtime maps the copy itself at the time `mapped`, and the
  // copy cannot start earlier. Returns the number of the copy.
  std::uint32_t add(const NeededCopy& fetch, const TaskRun& run, RunTime mapped);
  CopyRun& operator[](std::uint32_t copy) { return copies_[copy]; }
  const CopyRun& operator[](std::uint32_t copy) const { return copies_[copy]; }
  // Starts a copy as soon as all links of its route are free for its whole duration. If there is no
  // route between the two memories, ends the run with an error.
  void start(std::uint32_t copy);
  // Ends a copy and releases its source and target instances. Returns the data of the ended copy.
  CopyRun end(std::uint32_t copy);
  // Returns how many copies have started while a link of their route had a gap. Whether such a copy
  // fits into the gap depends on its duration.
  std::int64_t started_among_gaps() const { return started_among_gaps_; }
  // Moves the times at which copies are mapped by `time`, and makes all links free. The caller then
  // has to call move_reserved() for all copies that have started.
  void move_mapped(RunTime time);
  // Moves a copy that has started by `time`, and reserves its links again for the time after `now`.
  void move_reserved(std::uint32_t copy, RunTime time, RunTime now);

  const Links& links() const { return links_; }
  // Returns the approximate memory of the copies and of the schedules of their links, in bytes.
  std::int64_t bytes() const;

 private:
  const RunInput& input_;
  InstanceStore& store_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  Noise& noise_;
  Links links_;
  std::deque<CopyRun> copies_;
  std::vector<std::uint32_t> free_;
  std::int64_t started_among_gaps_ = 0;
};

}  // namespace groma::sim
