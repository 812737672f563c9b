// Makes a machine from an hwloc topology. For this computer, call local_machine() in groma/io.h
// instead.
#pragma once

#include <hwloc.h>

#include "groma/machine.h"

namespace groma {

// Returns the loaded `topology` as a machine with one node: cores, sockets (NUMA nodes with memory,
// else packages), memory, and NVIDIA GPUs. If the topology does not have a figure, the machine has
// 1 core, 1 socket, no GPU, and the memory that the system reports.
Result<Machine> machine_from_topology(hwloc_topology_t topology);

}  // namespace groma
