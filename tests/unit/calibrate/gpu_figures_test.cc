// Figures of GPUs: what is read, what it gives, and what is refused. The figures in this file are
// made up. They were not measured on any GPU.
#include <gtest/gtest.h>
#include <hwloc.h>

#include <memory>
#include <string>

#include "calibrate/calibrate_topology.h"
#include "groma/calibrate.h"

namespace groma {
namespace {

// Made-up figures in the form of benchmarks/gpu_figures.cu.
constexpr std::string_view kMadeUp = R"({
  "gpu": {"model": "Made-up GPU", "count": 2, "memory_bytes": 16e9},
  "figures": [
    {"figure": "matrix_multiply", "size": 1024, "unit": "flop/s", "values": [2e12, 2.1e12, 2.2e12]},
    {"figure": "matrix_multiply", "size": 4096, "unit": "flop/s", "values": [5e12, 5.1e12, 5.2e12]},
    {"figure": "launch", "unit": "s", "values": [5e-6, 6e-6, 7e-6]},
    {"figure": "fbmem_copy", "unit": "bytes/s", "values": [6e11]},
    {"figure": "fbmem_atomic", "unit": "bytes/s", "values": [1e11]},
    {"figure": "fbmem_latency", "unit": "s", "values": [4e-7]},
    {"figure": "zcmem_read", "unit": "bytes/s", "values": [1.1e10]},
    {"figure": "zcmem_latency", "unit": "s", "values": [1.5e-6]},
    {"figure": "host_to_device", "unit": "bytes/s", "values": [1.2e10]},
    {"figure": "copy_latency", "unit": "s", "values": [8e-6]},
    {"figure": "peer_copy", "unit": "bytes/s", "values": [9e9]},
    {"figure": "aos_read", "size": 64, "unit": "bytes/s", "values": [8e10]}
  ]
})";

// The made-up figures with one text replaced by another one.
std::string with(std::string_view from, std::string_view to) {
  std::string text(kMadeUp);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  const Result<GpuFigures> gpu = gpu_figures_from_json(text, "gpu.json");
  EXPECT_FALSE(gpu.ok()) << text;
  return gpu.ok() ? "" : gpu.error().message;
}

Machine calibrated_with(const GpuFigures& gpu) {
  hwloc_topology_t topology = nullptr;
  EXPECT_EQ(hwloc_topology_init(&topology), 0);
  EXPECT_EQ(hwloc_topology_set_synthetic(topology, "Package:1 Core:1 PU:1"), 0);
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  CalibrationOptions options;
  options.seconds = 0.01;
  options.gpu = gpu;
  const Result<Calibration> result = calibration::calibrate_topology(topology, options);
  hwloc_topology_destroy(topology);
  return result.value().machine;
}

TEST(GpuFigures, AreRead) {
  const GpuFigures gpu = gpu_figures_from_json(kMadeUp, "gpu.json").value();
  EXPECT_EQ(gpu.model, "Made-up GPU");
  EXPECT_EQ(gpu.count, 2);
  EXPECT_EQ(gpu.memory_bytes, 16'000'000'000);
  ASSERT_EQ(gpu.figures.size(), 12U);
  EXPECT_EQ(gpu.figures[1].key, "matrix_multiply");
  EXPECT_EQ(gpu.figures[1].size, 4096);
  EXPECT_EQ(gpu.figures[1].values, (std::vector<double>{5e12, 5.1e12, 5.2e12}));
}

TEST(GpuFigures, MakeTheGpusOfAMachine) {
  const Machine machine = calibrated_with(gpu_figures_from_json(kMadeUp, "gpu.json").value());
  const NodeType& node = machine.node(0);
  const ProcessorGroup& gpus = *node.find(ProcKind::kGpu);
  EXPECT_EQ(gpus.count, 2);
  EXPECT_EQ(gpus.flops_per_s, 5.1e12);
  EXPECT_EQ(gpus.sustained_fraction, 1);
  EXPECT_EQ(gpus.launch_latency_s, 6e-6);
  EXPECT_EQ(node.find(MemKind::kFbmem)->capacity_bytes, 16'000'000'000);
  EXPECT_EQ(node.find(ProcKind::kGpu, MemKind::kFbmem)->bandwidth_bytes_per_s, 6e11);
  EXPECT_EQ(node.find(ProcKind::kGpu, MemKind::kFbmem)->latency_s, 4e-7);
  EXPECT_EQ(node.find(ProcKind::kGpu, MemKind::kZcmem)->bandwidth_bytes_per_s, 1.1e10);
  for (const Channel& channel : node.channels) {
    if (channel.from != MemKind::kSysmem || channel.to != MemKind::kFbmem) continue;
    EXPECT_EQ(channel.bandwidth_bytes_per_s, 1.2e10);
    EXPECT_EQ(channel.latency_s, 8e-6);
  }
  bool has_atomics = false;
  for (const MeasuredFigure& figure : machine.measurement()->figures) {
    has_atomics |= figure.what == "GPU memory bandwidth, atomic additions" && figure.value == 1e11;
  }
  EXPECT_TRUE(has_atomics);
}

TEST(GpuFigures, WrongOnesAreRefused) {
  EXPECT_EQ(refusal("{}"), "`gpu.json`: `gpu` is missing");
  EXPECT_EQ(refusal(with("\"launch\"", "\"lunch\"")),
            "`gpu.json`: /figures/2/figure: `lunch` is not a figure of a GPU");
  EXPECT_EQ(refusal(with("[6e11]", "[]")),
            "`gpu.json`: /figures/3/values: a figure has at least one value");
  EXPECT_EQ(refusal(with("[6e11]", "[6e11, 0]")),
            "`gpu.json`: /figures/3/values/1: 0 is not a number above 0");
  EXPECT_EQ(refusal(with("[6e11]", "[\"fast\"]")),
            "`gpu.json`: /figures/3/values/0: a string stands where a number is due");
  EXPECT_EQ(
      refusal(with("\"fbmem_copy\", \"unit\": \"bytes/s\"", "\"fbmem_copy\", \"unit\": \"GB/s\"")),
      "`gpu.json`: /figures/3/unit: `fbmem_copy` is given in `bytes/s`");
  EXPECT_EQ(refusal(with("\"zcmem_read\"", "\"zcmem_write\"")),
            "`gpu.json`: /figures: the figure `zcmem_read` is missing");
  EXPECT_EQ(refusal(with("\"count\": 2", "\"count\": 0")),
            "`gpu.json`: /gpu/count: 0 is not a number from 1 to 16384");
  EXPECT_EQ(refusal(with("\"count\": 2, ", "")), "`gpu.json`: /gpu: `count` is missing");
  EXPECT_EQ(gpu_figures_from_json(std::string(kMaxGpuFileBytes + 1, ' '), "g").error().code,
            Error::Code::kTooLarge);
}

TEST(GpuFigures, NoPrefixIsAccepted) {
  for (std::size_t size = 0; size + 1 < kMadeUp.size(); ++size)
    refusal(std::string(kMadeUp.substr(0, size)));
}

}  // namespace
}  // namespace groma
