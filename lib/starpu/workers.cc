// Reads StarPU's workers and describes them as a machine of one node.
#include "starpu/workers.h"

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

namespace groma::starpu {
namespace {

// StarPU tells no rates that Groma could use, and no decision of a mapping needs them. These only
// rank the memories: the default mapper prefers a processor's own memory to the node's.
constexpr double kOwnBytesPerS = 2e10;
constexpr double kNodeBytesPerS = 1e10;
constexpr double kLatencyS = 1e-7;

// Returns the kind of processor that a worker is; nullopt for other kinds of workers.
std::optional<ProcKind> kind_of(starpu_worker_archtype type) {
  switch (type) {
    case STARPU_CPU_WORKER:
      return ProcKind::kCpu;
    case STARPU_CUDA_WORKER:
    case STARPU_OPENCL_WORKER:
      return ProcKind::kGpu;
    default:
      return std::nullopt;
  }
}

// Returns the bytes of a memory node. StarPU knows those of devices, and those of the main memory
// if the user limits it.
std::int64_t capacity_bytes(unsigned node) {
  const starpu_ssize_t known = starpu_memory_get_total(node);
  if (known > 0) return known;
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : std::int64_t{1} << 30;
}

// Returns the smallest of the memories' capacities.
std::int64_t smallest_capacity(const std::set<unsigned>& nodes) {
  std::int64_t least = capacity_bytes(*nodes.begin());
  for (unsigned node : nodes) least = std::min(least, capacity_bytes(node));
  return least;
}

}  // namespace

Result<std::shared_ptr<const Workers>> Workers::make() {
  auto made = std::make_shared<Workers>();
  const auto count = static_cast<WorkerId>(starpu_worker_get_count());
  for (WorkerId worker = 0; worker < count; ++worker) {
    const auto kind = kind_of(starpu_worker_get_type(worker));
    made->nodes_.push_back(starpu_worker_get_memory_node(static_cast<unsigned>(worker)));
    if (!kind) {
      made->processors_.emplace_back();
      continue;
    }
    auto& group = made->workers_[static_cast<std::size_t>(*kind)];
    made->processors_.emplace_back(Processor{*kind, 0, static_cast<std::int64_t>(group.size())});
    group.push_back(worker);
  }
  Result<Machine> machine = made->build();
  if (!machine) return machine.error();
  made->machine_ = std::make_shared<const Machine>(*std::move(machine));
  return std::shared_ptr<const Workers>(std::move(made));
}

// Builds the machine of one node. Its SOCKMEMs are the NUMA nodes, if StarPU uses several
// (STARPU_USE_NUMA).
Result<Machine> Workers::build() const {
  NodeType type;
  const auto memories_of = [this](ProcKind kind) {
    std::set<unsigned> nodes;
    for (WorkerId worker : workers_of(kind)) nodes.insert(nodes_[static_cast<std::size_t>(worker)]);
    return nodes;
  };
  const auto add = [&](ProcKind kind, MemKind memory, double bytes_per_s) {
    type.affinities.push_back({kind, memory, bytes_per_s, kLatencyS});
  };
  type.memories.push_back({MemKind::kSysmem, 1, capacity_bytes(STARPU_MAIN_RAM)});
  const auto numa = static_cast<std::int64_t>(starpu_memory_nodes_get_numa_count());
  if (numa > 1) {
    std::set<unsigned> nodes;
    for (unsigned node = 0; node < static_cast<unsigned>(numa); ++node) nodes.insert(node);
    type.memories.push_back({MemKind::kSockmem, numa, smallest_capacity(nodes)});
  }
  if (const auto count = static_cast<std::int64_t>(workers_of(ProcKind::kCpu).size()); count > 0) {
    type.processors.push_back({ProcKind::kCpu, count});
    add(ProcKind::kCpu, MemKind::kSysmem, kNodeBytesPerS);
    if (numa > 1) add(ProcKind::kCpu, MemKind::kSockmem, kOwnBytesPerS);
  }
  if (const auto count = static_cast<std::int64_t>(workers_of(ProcKind::kGpu).size()); count > 0) {
    const std::set<unsigned> devices = memories_of(ProcKind::kGpu);
    type.processors.push_back({ProcKind::kGpu, count});
    type.memories.push_back(
        {MemKind::kFbmem, static_cast<std::int64_t>(devices.size()), smallest_capacity(devices)});
    add(ProcKind::kGpu, MemKind::kFbmem, kOwnBytesPerS);
  }
  return Machine::make("starpu", "the workers of StarPU; bandwidths are only ranks", {type}, {0});
}

unsigned Workers::memory_node(WorkerId worker, MemKind kind) const {
  return kind == MemKind::kSysmem ? STARPU_MAIN_RAM : nodes_[static_cast<std::size_t>(worker)];
}

unsigned Workers::kinds_of(std::uint32_t where) {
  unsigned kinds = 0;
  if ((where & STARPU_CPU) != 0) kinds |= 1U << static_cast<unsigned>(ProcKind::kCpu);
  if ((where & (STARPU_CUDA | STARPU_OPENCL)) != 0) {
    kinds |= 1U << static_cast<unsigned>(ProcKind::kGpu);
  }
  return kinds;
}

}  // namespace groma::starpu
