// A machine from what hwloc has found; local_machine() in groma/io.h is the way in for this
// computer.
#pragma once

#include <hwloc.h>

#include "groma/machine.h"

namespace groma {

// The loaded `topology` as a machine of one node: cores, sockets (NUMA nodes with memory, else
// packages), memory, NVIDIA GPUs. What the topology does not tell is 1 core, 1 socket, no GPU, and
// the memory that the system reports.
Result<Machine> machine_from_topology(hwloc_topology_t topology);

}  // namespace groma
