// Numbers the processors and memories of a machine, and estimates the memory that a run needs for
// them.
#include "simulate/machine_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantities.h"
#include "base/saturating.h"

namespace groma::sim {
namespace {

// Estimates of the memory that a run needs for one node, for one processor and for one memory of
// its machine, in bytes. Each is the sum of the sizes of an element, over all arrays of the run and
// of its record that have an element for each node, processor or memory.
constexpr std::int64_t kNodeBytes = 128, kProcessorBytes = 160, kMemoryBytes = 208;

// The number of processors and memories of a machine, or of one of its nodes.
struct Counts {
  std::int64_t processors = 0, memories = 0;
};

Counts counts_of(const NodeType& node) {
  Counts counts;
  for (const ProcessorGroup& group : node.processors) counts.processors += group.count;
  for (const MemoryGroup& group : node.memories) counts.memories += group.count;
  return counts;
}

// Counts the processors and memories of each type of node once, since there may be a million nodes.
Counts counts_of(const Machine& machine) {
  std::vector<Counts> by_type;
  for (const NodeType& type : machine.node_types()) by_type.push_back(counts_of(type));
  Counts all;
  for (const std::uint32_t type : machine.nodes()) {
    all.processors += by_type[type].processors;
    all.memories += by_type[type].memories;
  }
  return all;
}

}  // namespace

// Numbers the processors, and notes the first number of each kind in each node.
Processors::Processors(const Machine& machine) : machine_(machine) {
  first_.resize(static_cast<std::size_t>(machine.node_count()));
  processors_.reserve(static_cast<std::size_t>(counts_of(machine).processors));
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      first_[static_cast<std::size_t>(node)][k] = static_cast<std::int32_t>(processors_.size());
      for (std::int64_t i = 0; i < machine.processor_count(node, kind); ++i) {
        processors_.push_back({kind, node, i});
      }
    }
  }
}

// The processors of one kind in a node have consecutive numbers.
std::int32_t Processors::number_of(const Processor& p) const {
  if (p.node < 0 || p.node >= machine_.node_count() || p.index < 0 ||
      p.index >= machine_.processor_count(p.node, p.kind)) {
    return -1;
  }
  return first_[static_cast<std::size_t>(p.node)][static_cast<std::size_t>(p.kind)] +
         static_cast<std::int32_t>(p.index);
}

// Numbers the memories that have a capacity, and notes the first number of each kind in each node.
Memories::Memories(const Machine& machine) : machine_(machine) {
  first_.resize(static_cast<std::size_t>(machine.node_count()));
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    auto& first = first_[static_cast<std::size_t>(node)];
    first.fill(-1);
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      const MemoryGroup* group = machine.node(node).find(kind);
      if (group == nullptr || group->capacity_bytes == 0) continue;
      first[k] = static_cast<std::int32_t>(memories_.size());
      for (std::int64_t i = 0; i < group->count; ++i) memories_.push_back({kind, node, i});
    }
  }
}

std::int32_t Memories::find(const Memory& memory) const {
  const std::int32_t first =
      first_[static_cast<std::size_t>(memory.node)][static_cast<std::size_t>(memory.kind)];
  return first < 0 ? -1 : first + static_cast<std::int32_t>(memory.index);
}

// Returns -1 if the machine does not have the memory, and also if the memory has no capacity.
std::int32_t Memories::number_of(const Memory& memory) const {
  if (memory.node < 0 || memory.node >= machine_.node_count()) return -1;
  const MemoryGroup* group = machine_.node(memory.node).find(memory.kind);
  if (group == nullptr || memory.index < 0 || memory.index >= group->count) return -1;
  return find(memory);
}

std::int32_t Memories::nearest(const Processor& processor, MemKind kind) const {
  const auto memory = machine_.memory_of(processor, kind);
  return memory ? find(*memory) : -1;
}

const MemoryGroup& Memories::group(std::int32_t memory) const {
  const Memory& one = (*this)[memory];
  return *machine_.node(one.node).find(one.kind);
}

// The estimated bytes follow from the numbers of nodes, processors and memories alone.
std::int64_t machine_bytes(const Machine& machine) {
  const Counts counts = counts_of(machine);
  return machine.node_count() * kNodeBytes + counts.processors * kProcessorBytes +
         counts.memories * kMemoryBytes;
}

// A machine is also too large if the numbers of its processors or memories need more than 32 bits.
std::string why_machine_too_large(const Machine& machine, std::int64_t bytes,
                                  std::int64_t max_bytes) {
  const Counts counts = counts_of(machine);
  if (std::max(counts.processors, counts.memories) > INT32_MAX) {
    return fmt::format("its machine has more than {} processors or memories", INT32_MAX);
  }
  const std::int64_t needs = saturating_add(bytes, machine_bytes(machine));
  if (needs <= max_bytes) return "";
  return fmt::format("{} of memory is needed to simulate it on {} node{}, and {} is allowed",
                     format_bytes(needs), machine.node_count(),
                     machine.node_count() == 1 ? "" : "s", format_bytes(max_bytes));
}

}  // namespace groma::sim
