// The parameters of presets.
#include "machine/parameters.h"

#include "machine/node.h"

namespace groma {
namespace {

constexpr std::int64_t kMostZcmemMib = std::int64_t{1} << 20;  // 1 TiB

constexpr Parameter kParameters[] = {
    {"nodes", "nodes", std::nullopt, 1, kMaxNodes},
    {"gpu", "GPU processors in each node", ProcKind::kGpu, 0, kMaxProcessorsPerNode},
    {"cpu", "CPU processors in each node", ProcKind::kCpu, 0, kMaxProcessorsPerNode},
    {"omp", "OMP processors in each node", ProcKind::kOmp, 0, kMaxProcessorsPerNode},
    {"io", "IO processors in each node", ProcKind::kIo, 0, kMaxProcessorsPerNode},
    {"py", "PY processors in each node", ProcKind::kPy, 0, kMaxProcessorsPerNode},
    {"zcmem", "MiB of zero-copy memory in each node with GPUs", std::nullopt, 0, kMostZcmemMib},
};

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

std::vector<PresetParameter> preset_parameters(const NodeFigures& figures) {
  const NodeCounts counts = default_counts(figures);
  std::vector<PresetParameter> list;
  for (const Parameter& parameter : kParameters) {
    std::int64_t value = 1;  // nodes
    if (parameter.kind) value = counts.of(*parameter.kind);
    if (parameter.name == "zcmem") value = counts.zcmem_bytes >> 20;
    list.push_back({parameter.name, parameter.meaning, value});
  }
  return list;
}

}  // namespace groma
