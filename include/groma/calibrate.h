// Calibration: measures the memories, caches and cores of this computer and makes a machine of the
// figures. docs/machines.md lists what is measured, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/run_record.h"

namespace groma {

// Makes a figure from the results of repeated measurements, of which there must be at least one.
// Its value is their median; `low` and `high` are the bounds of their middle half.
MeasuredFigure measured_figure(std::string what, std::string unit, std::vector<double> repeats,
                               std::string source);

// Returns `value` with the unit of `figure` as text for people: "12.5 GB/s". A unit that is not
// known here is written behind the number as it is.
std::string figure_words(const MeasuredFigure& figure, double value);

// The largest file of GPU figures that is read.
inline constexpr std::size_t kMaxGpuFileBytes = std::size_t{1} << 20;

// What benchmarks/gpu_figures.cu measured on the GPUs of a computer.
struct GpuFigures {
  std::string model;
  std::int64_t count = 1;
  // The memory of one GPU, in bytes.
  std::int64_t memory_bytes = 0;
  // One figure that benchmarks/gpu_figures.cu printed. `key` is the name that the program prints
  // for it, such as "fbmem_read". `size` is what varies between the figures of one key, such as the
  // edge of a matrix; 0: nothing varies.
  struct CalibrationFigure {
    std::string key;
    std::int64_t size = 0;
    // The values that the repeated measurements gave: at least one, each above 0.
    std::vector<double> values;
  };
  std::vector<CalibrationFigure> figures;
};

// Reads what benchmarks/gpu_figures.cu printed. Fails as machine_from_json does (groma/io.h): an
// unknown figure, a value that is not above 0, a figure that a machine needs and that is missing.
Result<GpuFigures> gpu_figures_from_json(std::string_view text, std::string_view name);

// Returns the time that a runtime takes to start a task on a processor: how long a processor stands
// still between two tasks while the second one is ready. Each repeat is the 10th percentile of at
// least kLeastTaskStarts such waits in a row, because other programs make many waits longer. Fails
// with kMalformed if the run has fewer than kLeastTaskStarts such pairs on CPU processors.
inline constexpr std::size_t kLeastTaskStarts = 20;
Result<MeasuredFigure> measured_task_start(const RunRecord& record, std::string source);

// Options of calibrate(): how to measure this computer.
struct CalibrationOptions {
  // The time to measure for, in seconds. Each figure is measured at least five times, however long
  // that takes, and at most 31 times.
  double seconds = 10;
  // The time to start a task, from measured_task_start(). nullopt: that of the default preset.
  std::optional<MeasuredFigure> task_start;
  // The figures of the GPUs. nullopt: those of the default preset, if the computer has GPUs.
  std::optional<GpuFigures> gpu;
  // A function that is called between two measurements. If it returns true, the calibration ends
  // with kStopped.
  std::function<bool()> stop;
  // A function that is called between two measurements, in the caller's thread, with the fraction
  // of the work that is done, from 0 to 1.
  std::function<void(double done)> on_progress;
};

// The result of calibrate(): a measured computer as a machine.
struct Calibration {
  Machine machine;
  // The fraction of the time for which the measuring threads had a core. Below about 0.9, other
  // programs disturbed the measurements.
  double share_of_time = 1;
};

// Measures this computer and returns it as a machine of one node, named `local`. Its measurement()
// has every figure, also those that could not be measured and are the default preset's; their
// source says so. Measured figures are medians.
// Takes the cores and an eighth of the memory at most. Fails with kStopped, with kUnreadable if
// hwloc cannot see this computer or no memory is left, and with kMalformed if a loop computes a
// wrong result.
Result<Calibration> calibrate(const CalibrationOptions& options = {});

}  // namespace groma
