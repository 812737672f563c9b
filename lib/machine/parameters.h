// The parameters of presets: their names, meanings, defaults and ranges.
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
  std::optional<ProcKind> processors;  // which it counts
  std::optional<MemKind> memory;       // whose MiB it is
  std::int64_t least;
  std::int64_t most;
};

// Those that count neither processors nor MiB.
inline constexpr std::string_view kNodes = "nodes", kSockets = "sockets";
std::span<const Parameter> parameters();

// The same for a preset of these figures, with the defaults.
std::vector<PresetParameter> preset_parameters(const NodeFigures& figures);

}  // namespace groma
