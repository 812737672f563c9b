// Finds cores, caches and NUMA nodes, and binds threads and memory to them.
#include "calibrate/places.h"

#include <algorithm>
#include <chrono>
#include <latch>
#include <optional>
#include <thread>
#include <utility>

#include "calibrate/kernels.h"

namespace groma::calibration {
namespace {

// Returns one hardware thread of each core in `cpuset`, as a set with one element. Cores none of
// whose hardware threads this process may use are left out.
std::vector<Bitmap> cores_in(hwloc_topology_t topology, hwloc_const_cpuset_t cpuset) {
  const Bitmap allowed(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_fill(allowed.get());
  // Some topologies have no cores, only hardware threads.
  const hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<Bitmap> cores;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_inside_cpuset_by_type(topology, cpuset, type, core)) !=
         nullptr) {
    Bitmap set(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
    hwloc_bitmap_and(set.get(), core->cpuset, allowed.get());
    if (hwloc_bitmap_iszero(set.get()) != 0) continue;
    hwloc_bitmap_singlify(set.get());
    cores.push_back(std::move(set));
  }
  return cores;
}

// Stores in `place` the data caches that its first core uses, and the size of all its caches of the
// last level.
void find_caches(hwloc_topology_t topology, hwloc_const_cpuset_t cpuset, NumaNode& place) {
  hwloc_obj_t object = hwloc_get_obj_covering_cpuset(topology, place.cores.front().get());
  std::optional<hwloc_obj_type_t> last;
  for (; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type) == 0) continue;
    place.caches.push_back({static_cast<int>(object->attr->cache.depth),
                            static_cast<std::size_t>(object->attr->cache.size)});
    last = object->type;
  }
  if (!last) return;
  hwloc_obj_t cache = nullptr;
  while ((cache = hwloc_get_next_obj_by_type(topology, *last, cache)) != nullptr) {
    if (hwloc_bitmap_intersects(cache->cpuset, cpuset) != 0)
      place.last_level_bytes += static_cast<std::size_t>(cache->attr->cache.size);
  }
}

}  // namespace

// A place without cores that this process may use is left out, except if no place has one: the
// process may then be bound in a way that hwloc does not see.
std::vector<NumaNode> find_numa_nodes(hwloc_topology_t topology) {
  std::vector<NumaNode> places;
  const auto add = [&](hwloc_const_cpuset_t cpuset, hwloc_const_nodeset_t memory) {
    NumaNode place{cores_in(topology, cpuset), memory, {}, 0};
    if (place.cores.empty()) return;
    find_caches(topology, cpuset, place);
    places.push_back(std::move(place));
  };
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (node->attr->numanode.local_memory > 0) add(node->cpuset, node->nodeset);
  }
  if (places.empty()) add(hwloc_topology_get_topology_cpuset(topology), nullptr);
  if (places.empty()) {
    Bitmap any(hwloc_bitmap_alloc_full(), &hwloc_bitmap_free);
    places.emplace_back().cores.push_back(std::move(any));
  }
  return places;
}

// Allocates the buffer. If the memory cannot be bound to the NUMA node, the operating system
// chooses where it lies.
NodeMemory::NodeMemory(hwloc_topology_t topology, const NumaNode& place, std::size_t bytes)
    : topology_(topology) {
  void* memory = nullptr;
  if (place.memory != nullptr)
    memory = hwloc_alloc_membind(topology, bytes, place.memory, HWLOC_MEMBIND_BIND,
                                 HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
  if (memory == nullptr) memory = hwloc_alloc(topology, bytes);
  if (memory == nullptr) return;
  data_ = {static_cast<double*>(memory), bytes / sizeof(double)};
  std::fill(data_.begin(), data_.end(), 1.0);
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept
    : topology_(other.topology_), data_(std::exchange(other.data_, {})) {}

NodeMemory::~NodeMemory() {
  if (!data_.empty()) hwloc_free(topology_, data_.data(), data_.size_bytes());
}

WorkTime run_on_cores(hwloc_topology_t topology, const NumaNode& place, std::size_t count,
                      const std::function<void(std::size_t)>& work) {
  using Clock = std::chrono::steady_clock;
  std::latch begin(static_cast<std::ptrdiff_t>(count));
  std::vector<WorkTime> times(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        hwloc_set_cpubind(topology, place.cores[i].get(), HWLOC_CPUBIND_THREAD);
        begin.arrive_and_wait();
        const auto passed = Clock::now();
        const double processor = thread_cpu_seconds();
        work(i);
        times[i] = {std::chrono::duration<double>(Clock::now() - passed).count(),
                    thread_cpu_seconds() - processor};
      });
    }
  }
  WorkTime sum;
  for (const WorkTime& time : times) {
    sum.passed_s += time.passed_s;
    sum.processor_s += time.processor_s;
  }
  return sum;
}

}  // namespace groma::calibration
