// Copies: the copies of a run, from the mapping of the task that needs them to their end.
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

// Copies have numbers, which are used again after their end.
class Copies {
 public:
  // Refers to all arguments, so they must outlive it.
  Copies(const RunInput& input, Store& store, Outcome& outcome, Agenda& agenda,
         RecordWriter& record, Noise& noise, const TimeModel& model);

  // Adds a copy for a task that is mapped. The copy itself is mapped at `mapped`. Returns the
  // number of the copy.
  std::uint32_t add(const Fetch& fetch, const TaskRun& run, RunTime mapped);
  CopyRun& operator[](std::uint32_t copy) { return copies_[copy]; }
  // Starts a copy as soon as all links of its route are free for its whole duration. A missing
  // route ends the run.
  void start(std::uint32_t copy);
  // Ends a copy, which releases both of its instances. Returns what it was.
  CopyRun end(std::uint32_t copy);

  const Links& links() const { return links_; }
  // Returns the memory of the copies and of the schedules of their links, approximately.
  std::int64_t bytes() const;

 private:
  const RunInput& input_;
  Store& store_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  Noise& noise_;
  Links links_;
  std::deque<CopyRun> copies_;
  std::vector<std::uint32_t> free_;
};

}  // namespace groma::sim
