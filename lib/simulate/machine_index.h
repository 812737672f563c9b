// Numbers the processors and memories of a machine, and estimates the memory that a run needs for
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/kinds.h"
#include "groma/machine.h"

namespace groma::sim {

// The processors of a machine, numbered by node, then kind, then index.
class Processors {
 public:
  explicit Processors(const Machine& machine);
  // Returns the number of a processor, or -1 if the machine has no such processor.
  std::int32_t number_of(const Processor& processor) const;
  const Processor& operator[](std::int32_t processor) const {
    return processors_[static_cast<std::size_t>(processor)];
  }
  std::size_t size() const { return processors_.size(); }
  auto begin() const { return processors_.begin(); }
  auto end() const { return processors_.end(); }

 private:
  const Machine& machine_;
  std::vector<Processor> processors_;
  // For each node and kind: the number of the first processor of that kind.
  std::vector<std::array<std::int32_t, kProcKindCount>> first_;
};

// The memories of a machine, numbered by node, then kind, then index. Memories without capacity get
// no number.
class Memories {
 public:
  explicit Memories(const Machine& machine);
  // Returns the number of a memory; -1 if the machine has no such memory, or its capacity is 0.
  std::int32_t number_of(const Memory& memory) const;
  // Returns the number of the memory of that kind that the processor uses (Machine::memory_of); -1
  // if the processor can address none.
  std::int32_t nearest(const Processor& processor, MemKind kind) const;
  const Memory& operator[](std::int32_t memory) const {
    return memories_[static_cast<std::size_t>(memory)];
  }
  std::size_t size() const { return memories_.size(); }
  const MemoryGroup& group(std::int32_t memory) const;

 private:
  // Returns the number of a memory that the machine has; -1 if its capacity is 0.
  std::int32_t find(const Memory& memory) const;

  const Machine& machine_;
  std::vector<Memory> memories_;
  // For each node and kind: the number of the first memory of that kind. -1: there is none.
  std::vector<std::array<std::int32_t, kMemKindCount>> first_;
};

// Returns about how many bytes of memory a run needs for its machine alone: for each node,
// processor and memory, including their entries in the record of the run.
std::int64_t machine_bytes(const Machine& machine);

// Returns a message that says why a run cannot have this machine, or an empty string if it can.
// `bytes` is the memory that the run needs for its application. The reason is that the run would
// need more than `max_bytes`, or that the machine has too many processors or memories to number
// them. Call this function before the run is made, which takes the memory.
std::string why_machine_too_large(const Machine& machine, std::int64_t bytes,
                                  std::int64_t max_bytes);

}  // namespace groma::sim
