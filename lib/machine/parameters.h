// The parameters of presets: names, meanings, defaults and ranges.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "groma/machine.h"
#include "machine/figures.h"

namespace groma {

struct Parameter {
  std::string_view name;
  std::string_view meaning;
  std::optional<ProcKind> processors;  // the kind of processor that it counts
  std::optional<MemKind> memory;       // the kind of memory whose MiB it sets
  std::int64_t least;
  std::int64_t most;
};

// The names of the parameters that count neither processors nor MiB.
inline constexpr std::string_view kNodes = "nodes", kSockets = "sockets";
std::span<const Parameter> parameters();

// Returns the parameters of a preset whose node has these figures, each with the default that
// follows from the figures.
std::vector<PresetParameter> preset_parameters(const NodeFigures& figures);

}  // namespace groma
