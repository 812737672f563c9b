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

// Measured rates of the host that a node of the machine gets. No preset has figures for them, so
// without a measurement they follow from other figures.
struct HostRates {
  // The rate at which one core copies from one memory to another, each byte counted once.
  double copy_bytes_per_s = 0;
  // The rate at which one core copies between the memories of two NUMA nodes, each byte counted
  // once. 0: there is only one NUMA node.
  double far_copy_bytes_per_s = 0;
  // The rate at which one core streams over rows of 4 KiB that have gaps between them.
  double gap_bytes_per_s = 0;
};

// A timed loop that runs once in every round, and the figure that is made of its results.
struct TimedLoop {
  std::string what;
  FigureUnit unit;
  std::string source;
  // The figure of the node, or of HostRates, that gets the median of the repeats. If both are null,
  // the median stands only in the record.
  SourcedNumber NodeFigures::*figure = nullptr;
  double HostRates::*rate = nullptr;
  // Runs the loop once and returns the measured value. `round` is the number of the round, from 0.
  // nullopt: the loop computed a wrong result.
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
  const std::vector<TimedLoop>& probes() const { return probes_; }
  // Returns the fraction of the wall-clock time for which the measuring threads had a core. A
  // fraction below 1 means that other programs ran at the same time.
  double share_of_time_on_core() const { return time_.processor_s / time_.passed_s; }
  std::size_t numa_nodes() const { return places_.size(); }

 private:
  std::size_t buffer_bytes() const;
  void add_memory_probes();
  void add_remote_memory_probes();
  void add_cache_probes();
  void add_core_probes();
  // Adds a probe that runs in one thread on the first core.
  void add_single_core_probe(TimedLoop probe);
  // Runs work(i) on `count` cores of the first NUMA node at the same time. The wall-clock time and
  // the processor time of this work are added to the member `time_`.
  void run_on_cores_and_add_time(std::size_t count, const std::function<void(std::size_t)>& work);
  // Streams over the buffer with all cores of the first NUMA node at once, each over its own part.
  // Returns the sum of the rates, in bytes/s; nullopt: a result was wrong.
  std::optional<double> sum_of_stream_rates(std::span<double> buffer, std::int64_t times);

  hwloc_topology_t topology_;
  std::vector<NumaNode> places_;
  // The buffers for streams, one in each NUMA node that is measured.
  std::vector<NodeMemory> memories_;
  // The buffers for chains of loads. There are as many of them as there are buffers in `memories_`,
  // and they have the same sizes.
  std::vector<NodeMemory> chained_memories_;
  std::vector<TimedLoop> probes_;
  WorkTime time_;
};

}  // namespace groma::calibration
