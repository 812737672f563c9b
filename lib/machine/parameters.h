// The parameters of presets: names, meanings, defaults and ranges.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "groma/machine.h"
#include "machine/figures.h"

namespace groma {

// A parameter that a preset of a machine may have. `least` and `most` are the smallest and the
// largest value that it can have.
struct ParameterRule {
  std::string_view name;
  std::string_view meaning;
  // The kind of processor that the parameter counts, if it counts one.
  std::optional<ProcKind> processors;
  // The kind of memory whose size in MiB the parameter sets, if it sets one.
  std::optional<MemKind> memory;
  std::int64_t least;
  std::int64_t most;
};

// The names of the two parameters that count neither processors nor MiB: the number of nodes and
// the number of sockets of a node.
inline constexpr std::string_view kNodes = "nodes", kSockets = "sockets";
// Returns all parameters in the order in which machines are described.
std::span<const ParameterRule> parameter_rules();

// Returns the parameters of a preset whose node has these figures, each with the default that
// follows from the figures.
std::vector<PresetParameter> preset_parameters(const NodeFigures& figures);

}  // namespace groma
