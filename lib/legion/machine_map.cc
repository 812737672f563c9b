// Reads Realm's machine once, when the runtime starts. The processors and memories of each kind and
// node are sorted by their Realm ids, so that every process numbers them alike.
#include "legion/machine_map.h"

#include <algorithm>

namespace groma::legion {
namespace {

using RealmMachine = Realm::Machine;

// Realm's kinds of processors and memories, in the order of Groma's ProcKind and MemKind.
constexpr std::array kProcessors = {Realm::Processor::LOC_PROC, Realm::Processor::TOC_PROC,
                                    Realm::Processor::OMP_PROC, Realm::Processor::IO_PROC,
                                    Realm::Processor::PY_PROC,  Realm::Processor::PROC_SET};
constexpr std::array kMemories = {Realm::Memory::SYSTEM_MEM, Realm::Memory::GPU_FB_MEM,
                                  Realm::Memory::Z_COPY_MEM, Realm::Memory::SOCKET_MEM,
                                  Realm::Memory::REGDMA_MEM};

// Returns element `index` of the list of node `node`, or `none` if there is no such node or no such
// element.
template <typename T>
T at(const std::vector<std::vector<T>>& by_node, std::int64_t node, std::int64_t index, T none) {
  if (node < 0 || node >= std::ssize(by_node)) return none;
  const std::vector<T>& group = by_node[static_cast<std::size_t>(node)];
  return index < 0 || index >= std::ssize(group) ? none : group[static_cast<std::size_t>(index)];
}

}  // namespace

// Converts a kind between Realm and Groma. Returns nothing, or NO_MEMKIND, for a kind that only one
// side has.
std::optional<ProcKind> kind_of(Legion::Processor::Kind kind) {
  const auto found = std::find(kProcessors.begin(), kProcessors.end(), kind);
  if (found == kProcessors.end()) return std::nullopt;
  return static_cast<ProcKind>(found - kProcessors.begin());
}

Legion::Processor::Kind realm_kind(ProcKind kind) {
  return kProcessors[static_cast<std::size_t>(kind)];
}

std::optional<MemKind> kind_of(Legion::Memory::Kind kind) {
  const auto found = std::find(kMemories.begin(), kMemories.end(), kind);
  if (found == kMemories.end()) return std::nullopt;
  return static_cast<MemKind>(found - kMemories.begin());
}

Legion::Memory::Kind realm_kind(MemKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kMemories.size() ? kMemories[index] : Realm::Memory::NO_MEMKIND;
}

bool can_address(Legion::Processor processor, Legion::Memory memory) {
  return Realm::Machine::get_machine().has_affinity(processor, memory);
}

// Reads the machine of the running Legion: its processors and memories, then builds a
// groma::Machine.
Result<std::shared_ptr<const MachineMap>> MachineMap::make() {
  auto map = std::make_shared<MachineMap>();
  map->read_processors();
  map->read_memories();
  Result<Machine> machine = map->build();
  if (!machine) return machine.error();
  map->machine_ = std::make_shared<const Machine>(*std::move(machine));
  return std::shared_ptr<const MachineMap>(std::move(map));
}

// Numbers the processors of each kind and node, from 0, in the order of their ids. Kinds that Groma
// does not have are left out.
void MachineMap::read_processors() {
  RealmMachine::ProcessorQuery query(RealmMachine::get_machine());
  std::vector<Legion::Processor> all(query.begin(), query.end());
  std::sort(all.begin(), all.end());
  const std::size_t nodes = RealmMachine::get_machine().get_address_space_count();
  for (ByNode& by_node : processors_) by_node.resize(nodes);
  for (Legion::Processor p : all) {
    const auto kind = kind_of(p.kind());
    if (!kind || p.address_space() >= nodes) continue;
    auto& group = processors_[static_cast<std::size_t>(*kind)][p.address_space()];
    known_[p.id] = Processor{*kind, static_cast<std::int64_t>(p.address_space()),
                             static_cast<std::int64_t>(group.size())};
    group.push_back(p);
  }
}

// Numbers the memories of each kind and node. For each processor, also finds the best memory of
// each kind on its own node: the one with the highest bandwidth, and with the lowest id among
// equals.
void MachineMap::read_memories() {
  const RealmMachine machine = RealmMachine::get_machine();
  RealmMachine::MemoryQuery query(machine);
  std::vector<Legion::Memory> all(query.begin(), query.end());
  std::sort(all.begin(), all.end());
  for (auto& by_node : memories_) by_node.resize(machine.get_address_space_count());
  for (Legion::Memory m : all) {
    const auto kind = kind_of(m.kind());
    if (!kind || m.capacity() == 0) continue;
    auto& group = memories_[static_cast<std::size_t>(*kind)][m.address_space()];
    known_memories_[m.id] = Memory{*kind, static_cast<std::int64_t>(m.address_space()),
                                   static_cast<std::int64_t>(group.size())};
    group.push_back(m);
    RealmMachine::ProcessorQuery near(machine);
    near.has_affinity_to(m);
    for (Legion::Processor p : near) {
      if (p.address_space() != m.address_space()) continue;
      RealmMachine::AffinityDetails details;
      if (!machine.has_affinity(p, m, &details)) continue;
      MemoryAffinity& best = reach_[p.id][static_cast<std::size_t>(*kind)];
      if (best.memory.exists() && details.bandwidth <= best.bandwidth) continue;
      best = {m, details.bandwidth, details.latency};
    }
  }
}

// Describes one node of the machine. Groma has one capacity for all memories of a kind on a node,
// so this is the smallest of their capacities. The affinities are those of the first processor of
// each kind. Realm's bandwidths are in MB/s and its latencies in ns; Groma's are in bytes/s and s.
NodeType MachineMap::node_type(std::size_t node) const {
  NodeType type;
  for (std::size_t m = 0; m < kMemKindCount; ++m) {
    const auto& memories = memories_[m][node];
    if (memories.empty()) continue;
    std::size_t smallest = memories.front().capacity();
    for (Legion::Memory memory : memories) smallest = std::min(smallest, memory.capacity());
    type.memories.push_back({static_cast<MemKind>(m), static_cast<std::int64_t>(memories.size()),
                             static_cast<std::int64_t>(smallest)});
  }
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto& processors = processors_[k][node];
    if (processors.empty()) continue;
    const auto kind = static_cast<ProcKind>(k);
    type.processors.push_back({kind, static_cast<std::int64_t>(processors.size())});
    const auto reach = reach_.find(processors.front().id);
    if (reach == reach_.end()) continue;
    for (std::size_t m = 0; m < kMemKindCount; ++m) {
      const MemoryAffinity& to = reach->second[m];
      if (!to.memory.exists()) continue;
      type.affinities.push_back(
          {kind, static_cast<MemKind>(m), 1e6 * std::max(1U, to.bandwidth), 1e-9 * to.latency});
    }
  }
  return type;
}

// Builds the machine. Nodes with the same processors, memories and affinities share one node type.
Result<Machine> MachineMap::build() const {
  std::vector<NodeType> types;
  std::vector<std::uint32_t> nodes;
  const std::size_t count = processors_.front().size();
  for (std::size_t node = 0; node < count; ++node) {
    NodeType type = node_type(node);
    const auto same = std::find(types.begin(), types.end(), type);
    nodes.push_back(static_cast<std::uint32_t>(same - types.begin()));
    if (same == types.end()) types.push_back(std::move(type));
  }
  return Machine::make("legion", "the machine as Legion sees it; bandwidths are Realm's ranks",
                       std::move(types), std::move(nodes));
}

std::optional<Processor> MachineMap::processor(Legion::Processor processor) const {
  const auto found = known_.find(processor.id);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

std::optional<Memory> MachineMap::memory(Legion::Memory memory) const {
  const auto found = known_memories_.find(memory.id);
  if (found == known_memories_.end()) return std::nullopt;
  return found->second;
}

Legion::Processor MachineMap::realm(const Processor& p) const {
  return at(processors_[static_cast<std::size_t>(p.kind)], p.node, p.index,
            Legion::Processor::NO_PROC);
}

Legion::Memory MachineMap::realm(const Memory& m) const {
  return at(memories_[static_cast<std::size_t>(m.kind)], m.node, m.index,
            Legion::Memory::NO_MEMORY);
}

Legion::Memory MachineMap::memory(Legion::Processor processor, MemKind kind) const {
  const auto found = reach_.find(processor.id);
  if (found == reach_.end()) return Legion::Memory::NO_MEMORY;
  return found->second[static_cast<std::size_t>(kind)].memory;
}

}  // namespace groma::legion
