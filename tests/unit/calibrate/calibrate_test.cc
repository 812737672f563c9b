// Calibration of this computer: the machine that comes of it, with and without NUMA nodes.
#include "groma/calibrate.h"

#include <gtest/gtest.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <string>

#include "calibrate/calibrate_topology.h"
#include "groma/io.h"

namespace groma {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology synthetic(const char* description) {
  hwloc_topology_t topology = nullptr;
  EXPECT_EQ(hwloc_topology_init(&topology), 0);
  EXPECT_EQ(hwloc_topology_set_synthetic(topology, description), 0);
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  return {topology, &hwloc_topology_destroy};
}

// Measures as briefly as it can.
CalibrationOptions brief() {
  CalibrationOptions options;
  options.seconds = 0.01;
  return options;
}

Machine calibrated(const char* description, const CalibrationOptions& options = brief()) {
  const Topology topology = synthetic(description);
  const Result<Calibration> result = calibration::calibrate_topology(topology.get(), options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result->machine;
}

const MeasuredFigure* find(const Machine& machine, std::string_view what) {
  for (const MeasuredFigure& figure : machine.measurement()->figures) {
    if (figure.what == what) return &figure;
  }
  return nullptr;
}

const MeasuredFigure& figure(const Machine& machine, std::string_view what) {
  const MeasuredFigure* found = find(machine, what);
  EXPECT_NE(found, nullptr) << what;
  static const MeasuredFigure kNone;
  return found == nullptr ? kNone : *found;
}

TEST(MeasuredFigures, HaveTheMedianAndTheMiddleHalf) {
  const MeasuredFigure figure =
      measured_figure("what", "s", {9, 1, 2, 8, 3, 7, 4, 6, 5}, "measured: by hand");
  EXPECT_EQ(figure, (MeasuredFigure{"what", "s", 5, 3, 7, 9, "measured: by hand"}));
  EXPECT_EQ(measured_figure("what", "s", {2}, "x"), (MeasuredFigure{"what", "s", 2, 2, 2, 1, "x"}));
  EXPECT_EQ(measured_figure("what", "s", {1, 2}, "x").value, 1.5);
}

TEST(MeasuredFigures, InWords) {
  const auto words = [](const char* unit, double value) {
    return figure_words({"a", unit, value, value, value, 1, "b"}, value);
  };
  EXPECT_EQ(words("bytes/s", 1.25e10), "12.5 GB/s");
  EXPECT_EQ(words("s", 9e-8), "90 ns");
  EXPECT_EQ(words("flop/s", 1.2e11), "120 GFLOP/s");
  EXPECT_EQ(words("bytes", 1 << 20), "1 MiB");
  EXPECT_EQ(words("1", 0.5), "0.5");
  EXPECT_EQ(words("furlongs", 3), "3 furlongs");
}

TEST(Calibrate, ThisComputer) {
  CalibrationOptions options = brief();
  double last = -1;
  options.on_progress = [&](double done) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, 1);
    last = done;
  };
  const Result<Calibration> result = calibrate(options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_GT(last, 0);
  EXPECT_GT(result->share_of_time, 0);
  EXPECT_LE(result->share_of_time, 1.1);
  const Machine* const machine = &result->machine;
  EXPECT_EQ(machine->name(), "local");
  const NodeType& node = machine->node(0);
  const Affinity& affinity = *node.find(ProcKind::kCpu, MemKind::kSockmem);
  const MeasuredFigure& core = figure(*machine, "core memory bandwidth");
  EXPECT_EQ(affinity.bandwidth_bytes_per_s, core.value);
  EXPECT_GE(core.repeats, 5);
  EXPECT_LE(core.low, core.value);
  EXPECT_GE(core.high, core.value);
  EXPECT_EQ(affinity.latency_s, figure(*machine, "host memory latency, own socket").value);
  EXPECT_EQ(affinity.gap_bandwidth_bytes_per_s,
            figure(*machine, "core memory bandwidth, rows of 4 KiB with gaps").value);
  EXPECT_EQ(node.find(ProcKind::kCpu)->flops_per_s, figure(*machine, "core peak FP64").value);
  EXPECT_EQ(node.find(MemKind::kSockmem)->bandwidth_bytes_per_s,
            figure(*machine, "socket memory bandwidth").value);
  for (const Channel& channel : node.channels) {
    if (channel.name != "dram") continue;
    EXPECT_EQ(channel.bandwidth_bytes_per_s, figure(*machine, "core copy bandwidth").value);
  }
  // What was not measured says so.
  const MeasuredFigure& start = figure(*machine, "CPU task start");
  EXPECT_EQ(start.repeats, 0);
  EXPECT_TRUE(start.source.starts_with("as `p100x4`: ")) << start.source;
  EXPECT_EQ(machine_from_json(machine_to_json(*machine), "m").value(), *machine);
}

TEST(Calibrate, OneNumaNodeKeepsTheFiguresBetweenNodes) {
  const Machine machine = calibrated("Package:1 [NUMANode(memory=4GB)] Core:2 PU:1");
  const MeasuredFigure& link = figure(machine, "socket to socket bandwidth");
  EXPECT_EQ(link.repeats, 0);
  EXPECT_EQ(link.value, 20e9);
  EXPECT_TRUE(link.source.starts_with("as `p100x4`, since there is one NUMA node: "))
      << link.source;
}

TEST(Calibrate, TwoNumaNodesAreMeasured) {
  const Machine machine = calibrated("Package:2 [NUMANode(memory=4GB)] Core:1 PU:1");
  for (const char* what : {"socket to socket bandwidth", "host memory latency, other socket",
                           "copy bandwidth to another socket"}) {
    EXPECT_GE(figure(machine, what).repeats, 5) << what;
  }
  EXPECT_EQ(machine.measurement()->computer.numa_nodes, 2);
  const auto& channels = machine.node(0).channels;
  const auto peer = std::find_if(channels.begin(), channels.end(), [](const Channel& channel) {
    return channel.scope == Channel::Scope::kPeer;
  });
  ASSERT_NE(peer, channels.end());
  EXPECT_EQ(peer->bandwidth_bytes_per_s, figure(machine, "copy bandwidth to another socket").value);
}

TEST(Calibrate, CachesStandInTheRecord) {
  const Machine machine = calibrated(
      "Package:1 [NUMANode(memory=4GB)] L3:1(size=8MB) L2:1(size=1MB) "
      "L1d:1(size=32kB) Core:1 PU:1");
  for (const char* what : {"L1 cache latency", "L2 cache latency", "L3 cache latency",
                           "L1 cache bandwidth of a core", "L3 cache bandwidth of a core"}) {
    EXPECT_GE(figure(machine, what).repeats, 5) << what;
  }
}

TEST(Calibrate, ATopologyWithoutCores) {
  EXPECT_EQ(calibrated("PU:2").processors_per_node(ProcKind::kCpu), 2);
}

TEST(Calibrate, TakesTheTaskStartThatIsGiven) {
  CalibrationOptions options = brief();
  options.task_start = measured_figure("CPU task start", "s", {2e-6, 3e-6, 4e-6}, "measured: here");
  const Machine machine = calibrated("Package:1 Core:1 PU:1", options);
  EXPECT_EQ(figure(machine, "CPU task start"), *options.task_start);
  EXPECT_EQ(machine.node(0).find(ProcKind::kCpu)->launch_latency_s, 3e-6);
}

TEST(Calibrate, Stops) {
  CalibrationOptions options = brief();
  options.stop = [] { return true; };
  const Topology topology = synthetic("Package:1 Core:1 PU:1");
  const Result<Calibration> result = calibration::calibrate_topology(topology.get(), options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Error::Code::kStopped);
}

// ---- Task starts

RunRecord record_of(std::size_t tasks, RunTime wait) {
  RunRecord record;
  record.processors = {{"CPU", 0, 0}, {"GPU", 0, 0}};
  for (std::size_t i = 0; i < tasks; ++i) {
    RunRecord::Event event;
    event.where = 0;
    event.start = static_cast<RunTime>(i) * (1'000'000 + wait);
    event.end = event.start + 1'000'000;
    record.events.push_back(event);
  }
  return record;
}

TEST(TaskStart, IsTheWaitBetweenReadyTasks) {
  RunRecord record = record_of(111, 2'000'000);
  // Most waits of a run may be disturbed.
  for (std::size_t i = 0; i < 111; ++i) {
    if (i % 5 != 0) record.events[i].end -= 900'000;
  }
  // The last task was ready late, so its long wait has another cause.
  RunRecord::Event late = record.events.back();
  late.ready = late.end + 50'000'000;
  late.start = late.ready + 50'000'000;
  late.end = late.start + 1'000'000;
  record.events.push_back(late);
  // Tasks of a GPU do not count.
  RunRecord::Event other = late;
  other.where = 1;
  other.ready = 0;
  record.events.push_back(other);
  const Result<MeasuredFigure> start = measured_task_start(record, "measured: here");
  ASSERT_TRUE(start.ok()) << start.error().message;
  EXPECT_EQ(start->repeats, 5);
  EXPECT_DOUBLE_EQ(start->value, 2e-6);
  EXPECT_EQ(start->unit, "s");
}

TEST(TaskStart, NeedsEnoughTasks) {
  const Result<MeasuredFigure> start = measured_task_start(record_of(20, 1), "x");
  ASSERT_FALSE(start.ok());
  EXPECT_EQ(start.error().message,
            "the run has 19 tasks that waited for their processor, at least 20 are needed");
}

}  // namespace
}  // namespace groma
