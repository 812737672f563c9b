// Where a measurement runs: on which cores, and in the memory of which NUMA node. hwloc finds and
// binds both.
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace groma::calibration {

// An owned bitmap of hwloc: a set of hardware threads or of NUMA nodes. hwloc_bitmap_free() frees
// it.
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, decltype(&hwloc_bitmap_free)>;

// A cache that a core uses for data.
struct DataCache {
  int level = 1;
  std::size_t bytes = 0;
};

// A NUMA node with its cores and caches, where measurements run. A computer without NUMA nodes is
// one such place.
struct NumaNode {
  // The cores that this process may use; at least one. Each set has one hardware thread.
  std::vector<Bitmap> cores;
  // The NUMA node whose memory is used. Null if hwloc sees no NUMA node.
  hwloc_const_nodeset_t memory = nullptr;
  // The caches that the first core uses, from the nearest one.
  std::vector<DataCache> caches;
  // The bytes of all caches of the last level in the node.
  std::size_t last_level_bytes = 0;
};

// Returns the NUMA nodes of the topology as places for measurements, at least one. They point into
// the topology, which must outlive them.
std::vector<NumaNode> find_numa_nodes(hwloc_topology_t topology);

// A buffer in the memory of one NUMA node, as far as the operating system can bind it. Every page
// of the buffer has been written once.
class NodeMemory {
 public:
  // Check data() before use: it is empty if there is no memory.
  NodeMemory(hwloc_topology_t topology, const NumaNode& place, std::size_t bytes);
  ~NodeMemory();
  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&&) = delete;
  std::span<double> data() const { return data_; }

 private:
  hwloc_topology_t topology_;
  std::span<double> data_;
};

// The wall-clock time and the processor time of work in other threads, in seconds.
struct WorkTime {
  double passed_s = 0, processor_s = 0;
};

// Runs `work(i)` in a thread on core i of the place, for i from 0 to `count` - 1, all at the same
// time, and waits for all of them. A core that cannot be bound runs its thread anywhere. Returns
// the times, summed over the threads.
WorkTime run_on_cores(hwloc_topology_t topology, const NumaNode& place, std::size_t count,
                      const std::function<void(std::size_t)>& work);

}  // namespace groma::calibration
