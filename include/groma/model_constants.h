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
  // The value is recalled or chosen, and the sources disagree or do not fit exactly.
  kLow,
  // The value is recalled, accurate to about 20 %, or measured on similar hardware.
  kMedium,
  // The value is published, or measured on this hardware.
  kHigh,
};
// Returns "low", "medium" or "high".
std::string_view name_of(Confidence confidence);

// What a constant of the simulator belongs to.
enum class ConstantGroup : std::uint8_t {
  kMachine,  // The constant is a figure of the preset `p100x4`.
  kRuntime,  // The constant is a default of RuntimeCosts.
  kModel,    // The constant is a default of TimeModel.
};

// One constant of the simulator. Its values are in `unit`.
struct ModelConstant {
  // The name of the constant, such as "GPU memory bandwidth". A constant of the runtime or the
  // model has its C++ name.
  std::string_view name;
  ConstantGroup group;
  // The unit of the values, such as "GB/s", "us" or "bytes". Empty for a factor.
  std::string_view unit;
  double value;
  // The smallest and the largest plausible value.
  double lowest;
  double highest;
  Confidence confidence;
  // Where the value of the constant comes from.
  std::string_view source;
  // Why the range of plausible values is as wide as it is.
  std::string_view range_source;
};

// Returns the constants in a fixed order: the machine's, the runtime's, the model's. Figures of the
// network are left out, because the machine has one node.
const std::vector<ModelConstant>& model_constants();

// A change of one constant of the simulator to another value.
struct ConstantChange {
  // The index of the constant in model_constants().
  std::size_t constant;
  // The other value, in the unit of the constant.
  double value;
};

// The input of a simulated run: the machine, and SimulateOptions::costs and SimulateOptions::model.
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
