// Construction of a Machine, with the checks of its parts, and the look-ups in it.
#include "groma/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/check.h"
#include "machine/node.h"
#include "machine/quote.h"

namespace groma {
namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxDescriptionBytes = 4096;
// The limit on the bytes of one kind of memory in all nodes together.
constexpr std::int64_t kMaxMachineBytes = std::int64_t{1} << 62;

// Returns the first item that `wanted` accepts, or null.
template <typename Item, typename Wanted>
const Item* find_in(const std::vector<Item>& items, const Wanted& wanted) {
  const auto at = std::find_if(items.begin(), items.end(), wanted);
  return at == items.end() ? nullptr : &*at;
}

// Each check returns the first error, or nothing if its part of the machine is valid.
std::optional<Error> check_texts(const std::string& name, const std::string& description) {
  if (name.empty()) return malformed_machine("a machine has a name");
  if (name.size() > kMaxNameBytes) {
    return malformed_machine(fmt::format("the name {} has {} bytes; at most {}", in_quotes(name),
                                         name.size(), kMaxNameBytes));
  }
  if (description.size() <= kMaxDescriptionBytes) return std::nullopt;
  return malformed_machine(fmt::format("the description has {} bytes; at most {}",
                                       description.size(), kMaxDescriptionBytes));
}

// Checks the number of nodes and of node types, and that every node has one of the types.
std::optional<Error> check_nodes(const std::vector<NodeType>& types,
                                 const std::vector<std::uint32_t>& nodes) {
  if (nodes.empty()) return malformed_machine("a machine has at least one node");
  if (nodes.size() > static_cast<std::size_t>(kMaxNodes)) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("{} nodes; a machine has at most {}", nodes.size(), kMaxNodes)};
  }
  if (types.size() > kMaxNodeTypes) {
    return Error{Error::Code::kTooLarge, fmt::format("{} kinds of nodes; a machine has at most {}",
                                                     types.size(), kMaxNodeTypes)};
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= types.size()) {
      return malformed_machine(fmt::format("nodes/{}: there is no node type {} (there are {})", i,
                                           nodes[i], types.size()));
    }
  }
  return std::nullopt;
}

// Checks every node type and names the one with the fault.
std::optional<Error> check_types(const std::vector<NodeType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (const std::optional<NodeFault> fault = find_node_fault(types[i])) {
      return malformed_machine(fmt::format("node_types/{}{}: {}", i, fault->path, fault->message));
    }
  }
  return std::nullopt;
}

// Checks that the bytes of each memory kind over all nodes are at most kMaxMachineBytes, so that a
// sum of capacities fits in 64 bits.
std::optional<Error> check_capacity(const std::vector<NodeType>& types,
                                    const std::vector<std::uint32_t>& nodes) {
  std::array<std::int64_t, kMemKindCount> totals{};
  for (const std::uint32_t type : nodes) {
    for (const MemoryGroup& group : types[type].memories) {
      std::int64_t& total = totals[static_cast<std::size_t>(group.kind)];
      total += memory_bytes(types[type], group.kind);
      if (total > kMaxMachineBytes) {
        return malformed_machine(fmt::format("the machine has more than {} bytes of {}",
                                             kMaxMachineBytes, name_of(group.kind)));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const ProcessorGroup* NodeType::find(ProcKind kind) const {
  return find_in(processors, [kind](const ProcessorGroup& group) { return group.kind == kind; });
}

const MemoryGroup* NodeType::find(MemKind kind) const {
  return find_in(memories, [kind](const MemoryGroup& group) { return group.kind == kind; });
}

const Affinity* NodeType::find(ProcKind processor, MemKind memory) const {
  return find_in(affinities, [=](const Affinity& affinity) {
    return affinity.processor == processor && affinity.memory == memory;
  });
}

// Checks the parts, replaces unknown rates by default ones and builds the machine.
Result<Machine> Machine::make(std::string name, std::string description,
                              std::vector<NodeType> node_types, std::vector<std::uint32_t> nodes) {
  if (std::optional<Error> error = check_texts(name, description)) return *error;
  if (std::optional<Error> error = check_nodes(node_types, nodes)) return *error;
  if (std::optional<Error> error = check_types(node_types)) return *error;
  if (std::optional<Error> error = check_capacity(node_types, nodes)) return *error;
  for (NodeType& type : node_types) fill_unknown_rates(&type);
  Machine machine;
  machine.name_ = std::move(name);
  machine.description_ = std::move(description);
  machine.node_types_ = std::move(node_types);
  machine.nodes_ = std::move(nodes);
  machine.find_count_extremes();
  return machine;
}

Result<Machine> Machine::with_measurement(MachineMeasurement measurement) const {
  if (measurement.figures.size() > kMaxMeasuredFigures) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("measured/figures: {} figures; at most {}", measurement.figures.size(),
                             kMaxMeasuredFigures)};
  }
  if (const std::optional<NodeFault> fault = find_measurement_fault(measurement)) {
    return malformed_machine(fmt::format("measured{}: {}", fault->path, fault->message));
  }
  Machine machine = *this;
  machine.measurement_ = std::move(measurement);
  return machine;
}

// Notes, for each processor kind, the smallest and largest count over the nodes. Node types that no
// node uses are ignored.
void Machine::find_count_extremes() {
  std::vector<bool> used(node_types_.size());
  for (const std::uint32_t type : nodes_) used[type] = true;
  const NodeType& first = node_types_[nodes_[0]];
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto count = [k](const NodeType& type) {
      const ProcessorGroup* group = type.find(static_cast<ProcKind>(k));
      return group == nullptr ? 0 : group->count;
    };
    CountRange& extremes = extremes_[k];
    extremes.smallest = extremes.largest = count(first);
    for (std::size_t i = 0; i < node_types_.size(); ++i) {
      if (!used[i]) continue;
      extremes.smallest = std::min(extremes.smallest, count(node_types_[i]));
      extremes.largest = std::max(extremes.largest, count(node_types_[i]));
    }
  }
}

const NodeType& Machine::node(std::int64_t node) const {
  GROMA_REQUIRE(node >= 0 && node < node_count(), "the machine must have a node of this number");
  return node_types_[nodes_[static_cast<std::size_t>(node)]];
}

std::int64_t Machine::processor_count(std::int64_t node, ProcKind kind) const {
  const ProcessorGroup* group = this->node(node).find(kind);
  return group == nullptr ? 0 : group->count;
}

const Machine::CountRange& Machine::extremes(ProcKind kind) const {
  return extremes_[static_cast<std::size_t>(kind)];
}

std::int64_t Machine::processors_per_node(ProcKind kind) const { return extremes(kind).smallest; }

bool Machine::uniform(ProcKind kind) const {
  return extremes(kind).smallest == extremes(kind).largest;
}

bool Machine::has(ProcKind kind) const { return extremes(kind).largest > 0; }

// Returns true if the processor kind has an affinity to the memory kind in the node. A memory
// without capacity cannot be addressed.
bool Machine::can_address(std::int64_t node, ProcKind kind, MemKind memory) const {
  const NodeType& type = this->node(node);
  const MemoryGroup* group = type.find(memory);
  return group != nullptr && group->capacity_bytes > 0 && type.find(kind, memory) != nullptr;
}

// Returns the memory of the kind that the processor uses. The processors of a node share its
// memories evenly.
std::optional<Memory> Machine::memory_of(const Processor& processor, MemKind kind) const {
  if (!can_address(processor.node, processor.kind, kind)) return std::nullopt;
  const NodeType& type = node(processor.node);
  // Processor i of n uses memory i * count / n (MemoryGroup).
  const std::int64_t count = type.find(kind)->count, sharing = type.find(processor.kind)->count;
  return Memory{kind, processor.node, processor.index * count / sharing};
}

std::vector<Processor> Machine::processors() const {
  // The processors are sorted by node, then by kind as the node lists the kinds, then by index.
  std::vector<Processor> all;
  for (std::int64_t n = 0; n < node_count(); ++n) {
    for (const ProcessorGroup& group : node(n).processors) {
      for (std::int64_t i = 0; i < group.count; ++i) all.push_back({group.kind, n, i});
    }
  }
  return all;
}

}  // namespace groma
