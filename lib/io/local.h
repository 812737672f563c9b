// Describes a computer by its hwloc topology. For this computer as a machine, call local_machine()
// in groma/io.h instead.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

#include "groma/log.h"
#include "groma/machine.h"
#include "machine/figures.h"

namespace groma {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

// Returns the topology of this computer, or null if hwloc cannot read it.
Topology load_hwloc_topology();

// What an hwloc topology says about a computer.
struct LocalComputer {
  MeasuredComputer identity;
  // The figures of the default preset, with the counts and sizes of this computer in place of the
  // preset's.
  NodeFigures figures;
  // The parts of the computer in words: "2 cores (AMD EPYC), sockets 1, memory 23.5 GiB, GPUs 0".
  std::string parts;
};
LocalComputer describe_computer(hwloc_topology_t topology);

// Returns the computer of the loaded topology as local_machine() does, with the measured figures of
// the file `measured`. An empty path, or one at which there is no file, stands for no such file.
Result<Machine> local_machine_of(hwloc_topology_t topology, const std::string& measured,
                                 LogSink* log);

// Returns the loaded `topology` as a machine with one node: cores, sockets (NUMA nodes with memory,
// else packages), memory, and NVIDIA GPUs. If the topology does not have a figure, the machine has
// 1 core, 1 socket, no GPU, and the memory that the system reports.
Result<Machine> machine_from_topology(hwloc_topology_t topology);

}  // namespace groma
