// The constants that decide simulated times on the machine `p100x4`, with their sources and
// plausible ranges. model_setting() gives the options of a run with other values, so that a program
// can find out which of its results depend on a doubtful constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"
#include "groma/simulate.h"

namespace groma {

// How well the value of a constant is known.
enum class Confidence : std::uint8_t {
  kLow,     // recalled or chosen, and the sources disagree or do not fit exactly
  kMedium,  // recalled, accurate to about 20 %, or measured on similar hardware
  kHigh,    // published, or measured on this hardware
};
// Returns "low", "medium" or "high".
std::string_view name_of(Confidence confidence);

// What a constant belongs to.
enum class ConstantGroup : std::uint8_t {
  kMachine,  // a figure of the preset `p100x4`
  kRuntime,  // a default of RuntimeCosts
  kModel,    // a default of TimeModel
};

// One constant. Values are in `unit`.
struct ModelConstant {
  std::string_view name;  // "GPU memory bandwidth"; of a runtime or model constant its C++ name
  ConstantGroup group;
  std::string_view unit;  // "GB/s", "us", "bytes"; empty for a factor
  double value;
  // The smallest and the largest plausible value.
  double lowest;
  double highest;
  Confidence confidence;
  // Where the value comes from.
  std::string_view source;
  // Why the range is as wide as it is.
  std::string_view range_source;
};

// Returns the constants in a fixed order: the machine's, the runtime's, the model's. Figures of the
// network are left out, because the machine has one node.
const std::vector<ModelConstant>& model_constants();

// Another value for one constant.
struct ConstantChange {
  std::size_t constant;  // index in model_constants()
  double value;          // in the unit of the constant
};

// What a run takes: the machine, and SimulateOptions::costs and SimulateOptions::model.
struct ModelSetting {
  std::shared_ptr<const Machine> machine;
  RuntimeCosts costs;
  TimeModel model;
};

// Returns the machine `p100x4` and the default options with these changes. Of several changes of
// one constant the last counts. Fails with kMalformed if a change names no constant or gives a
// machine that cannot exist.
Result<ModelSetting> model_setting(std::span<const ConstantChange> changes = {});

}  // namespace groma
