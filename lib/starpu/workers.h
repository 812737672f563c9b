// Workers: StarPU's workers and memory nodes as a groma::Machine, and the way back from a processor
// or a kind of memory to StarPU's numbers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/result.h"

namespace groma::starpu {

// A number of a worker, as StarPU counts them.
using WorkerId = int;

// The workers of the running StarPU. A process of StarPU is one node. CPU workers are CPUs; CUDA
// and OpenCL workers are GPUs, counted in the order of the workers. Workers of other kinds belong
// to no processor, so no mapping places a task there.
class Workers {
 public:
  // Reads the workers. StarPU must have found its devices, as it has when it makes its first
  // scheduling context. Fails if there is no worker that Groma knows.
  static Result<std::shared_ptr<const Workers>> make();

  const std::shared_ptr<const Machine>& machine() const { return machine_; }
  std::size_t count() const { return processors_.size(); }

  // Returns the processor that a worker is; nullopt for a kind of worker that Groma does not know.
  const std::optional<Processor>& processor(WorkerId worker) const {
    return processors_[static_cast<std::size_t>(worker)];
  }
  // Returns the worker that a processor of the machine is.
  WorkerId worker(const Processor& processor) const {
    return workers_of(processor.kind)[static_cast<std::size_t>(processor.index)];
  }
  // Returns the workers of a kind, in the order of the processors.
  const std::vector<WorkerId>& workers_of(ProcKind kind) const {
    return workers_[static_cast<std::size_t>(kind)];
  }
  // Returns StarPU's memory node for a kind of memory, as this worker sees it. SYSMEM is the main
  // memory, SOCKMEM the worker's own NUMA node, FBMEM the worker's own device.
  unsigned memory_node(WorkerId worker, MemKind kind) const;

  // Returns a set of kinds (bit k: the kind with the number k) that tasks of this codelet could run
  // on, by the bits STARPU_CPU, STARPU_CUDA and STARPU_OPENCL.
  static unsigned kinds_of(std::uint32_t where);

 private:
  Result<Machine> build() const;

  std::shared_ptr<const Machine> machine_;
  std::vector<std::optional<Processor>> processors_;
  // The memory node to which each worker's data goes.
  std::vector<unsigned> nodes_;
  std::array<std::vector<WorkerId>, kProcKindCount> workers_;
};

}  // namespace groma::starpu
