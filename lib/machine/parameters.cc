// The parameters of presets, such as `gpu=2`: their names, meanings and ranges.
#include "machine/parameters.h"

#include "machine/node.h"

namespace groma {
namespace {

constexpr std::int64_t kMostSockets = 64;
// The largest size of a memory that a parameter can set, in MiB: 16 TiB.
constexpr std::int64_t kMostMib = std::int64_t{1} << 24;

// Returns a parameter that counts processors. A node may have none of them.
constexpr ParameterRule processors(std::string_view name, std::string_view meaning, ProcKind kind) {
  return {name, meaning, kind, std::nullopt, 0, kMaxProcessorsPerNode};
}
// Returns a parameter that sets the size of one memory in MiB.
constexpr ParameterRule memory(std::string_view name, std::string_view meaning, MemKind kind) {
  // A node always has SYSMEM and a GPU always has FBMEM, like in Realm. Other memories may have
  // size 0.
  const bool always = kind == MemKind::kSysmem || kind == MemKind::kFbmem;
  return {name, meaning, std::nullopt, kind, always ? 1 : 0, kMostMib};
}

// The parameters in the order in which lists and machine lines show them.
constexpr ParameterRule kParameters[] = {
    {kNodes, "nodes", std::nullopt, std::nullopt, 1, kMaxNodes},
    processors("gpu", "GPU processors in each node", ProcKind::kGpu),
    processors("cpu", "CPU processors in each node", ProcKind::kCpu),
    processors("omp", "OMP processors in each node", ProcKind::kOmp),
    processors("io", "IO processors in each node", ProcKind::kIo),
    processors("py", "PY processors in each node", ProcKind::kPy),
    {kSockets, "sockets in each node", std::nullopt, std::nullopt, 1, kMostSockets},
    memory("sysmem", "MiB of each node's memory", MemKind::kSysmem),
    memory("sockmem", "MiB of each socket's memory", MemKind::kSockmem),
    memory("rdmem", "MiB of memory registered with the network in each node", MemKind::kRdmem),
    memory("zcmem", "MiB of zero-copy memory in each node with GPUs", MemKind::kZcmem),
    memory("fbmem", "MiB of each GPU's memory", MemKind::kFbmem),
};

}  // namespace

std::span<const ParameterRule> parameter_rules() { return kParameters; }

// Returns the parameters with a preset's defaults. Sizes of memories are in MiB.
std::vector<PresetParameter> preset_parameters(const NodeFigures& figures) {
  const NodeCounts counts = default_counts(figures);
  std::vector<PresetParameter> list;
  for (const ParameterRule& parameter : kParameters) {
    // The number of nodes is 1 by default.
    std::int64_t value = 1;
    if (parameter.name == kSockets) value = static_cast<std::int64_t>(figures.sockets.value);
    if (parameter.processors) value = counts.processor_count_of(*parameter.processors);
    if (parameter.memory) value = counts.memory_bytes_of(*parameter.memory) >> 20;
    list.push_back({parameter.name, parameter.meaning, value});
  }
  return list;
}

}  // namespace groma
