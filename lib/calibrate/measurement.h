// The measurements of one computer: which loops run, on which cores, in which memory, and what the
// figures are called.
#pragma once

#include <hwloc.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/places.h"
#include "groma/calibrate.h"
#include "machine/figures.h"

namespace groma::calibration {

// Figures that a machine's node has, but no preset gives by itself.
struct HostRates {
  // The rate at which one core copies from one memory to another, each byte counted once.
  double copy_bytes_per_s = 0;
  // The same between two NUMA nodes. 0: there is only one.
  double far_copy_bytes_per_s = 0;
  // The rate of one core in rows of 4 KiB with gaps.
  double gap_bytes_per_s = 0;
};

// A loop that is run again and again, and the figure that it gives.
struct Probe {
  std::string what;
  FigureUnit unit;
  std::string source;
  // Where the median goes: into one of these, or only into the record.
  SourcedNumber NodeFigures::*figure = nullptr;
  double HostRates::*rate = nullptr;
  // Runs the loop once. `round` counts from 0. nullopt: a result was wrong.
  std::function<std::optional<double>(int round)> run;
  std::vector<double> repeats = {};
};

// The probes of a computer, with the memory that they work on.
class Measurement {
 public:
  explicit Measurement(hwloc_topology_t topology);

  // Fails with kUnreadable if there is not enough memory.
  std::optional<Error> prepare();
  // Runs every probe once. The rounds of all probes alternate, so that a disturbance of the
  // computer meets all of them.
  std::optional<Error> run_round(int round);
  const std::vector<Probe>& probes() const { return probes_; }
  // Returns the part of the passed time for which the measuring threads had a core. Below 1, other
  // programs ran at the same time.
  double share_of_time() const { return time_.processor_s / time_.passed_s; }
  std::size_t numa_nodes() const { return places_.size(); }

 private:
  std::size_t buffer_bytes() const;
  void add_memory_probes();
  void add_far_probes();
  void add_cache_probes();
  void add_core_probes();
  // Adds a probe that runs in one thread on the first core.
  void add(Probe probe);
  // Runs work(i) on `count` cores of the first place at once, and counts the time.
  void run_timed(std::size_t count, const std::function<void(std::size_t)>& work);
  // Streams over the buffer, a part on each core of the first place, all at once. Returns the sum
  // of the rates; nullopt: a result was wrong.
  std::optional<double> sum_of_stream_rates(std::span<double> buffer, std::int64_t times);

  hwloc_topology_t topology_;
  std::vector<NumaPlace> places_;
  // The memory for streams: one in each NUMA node that is measured.
  std::vector<NodeMemory> memories_;
  // The memory for chains of loads, as large as `memories_`.
  std::vector<NodeMemory> chained_memories_;
  std::vector<Probe> probes_;
  WorkTime time_;
};

}  // namespace groma::calibration
