// MachineMap: converts the machine of Realm (Legion's lower layer) to a groma::Machine, and
// converts processors and memories in both directions.
#pragma once

#include <legion.h>

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "groma/machine.h"

namespace groma::legion {

// Converts kinds of processors and memories between Realm and Groma. The result is empty, or
// NO_MEMKIND, if the other side has no such kind.
std::optional<ProcKind> kind_of(Legion::Processor::Kind kind);
Legion::Processor::Kind realm_kind(ProcKind kind);
std::optional<MemKind> kind_of(Legion::Memory::Kind kind);
Legion::Memory::Kind realm_kind(MemKind kind);

// Returns true if the processor can address the memory.
bool can_address(Legion::Processor processor, Legion::Memory memory);

// The machine of this process's Legion runtime. It does not change after make(), and all mapper
// objects of the process share it.
class MachineMap {
 public:
  // Reads the machine of the running Legion. Fails if Groma cannot describe it: there is no
  // processor, or there are more than kMaxNodes nodes.
  static Result<std::shared_ptr<const MachineMap>> make();

  std::shared_ptr<const Machine> machine() const { return machine_; }
  // Converts Legion's processor to Groma's. Returns nothing for utility processors and for kinds
  // that Groma does not have.
  std::optional<Processor> processor(Legion::Processor processor) const;
  // Converts Legion's memory to Groma's. Returns nothing for kinds that Groma does not have, and
  // for memories of size 0.
  std::optional<Memory> memory(Legion::Memory memory) const;
  // Converts Groma's processor to Legion's. Returns NO_PROC if there is no such processor.
  Legion::Processor realm(const Processor& processor) const;
  // Converts Groma's memory to Legion's. Returns NO_MEMORY if there is no such memory.
  Legion::Memory realm(const Memory& memory) const;
  // Returns the memory of this kind with the best connection to the processor, or NO_MEMORY if the
  // processor reaches none.
  Legion::Memory memory(Legion::Processor processor, MemKind kind) const;

 private:
  using ByNode = std::vector<std::vector<Legion::Processor>>;
  void read_processors();
  void read_memories();
  Result<Machine> build() const;
  NodeType node_type(std::size_t node) const;

  // The processors by kind, node and index.
  std::array<ByNode, kProcKindCount> processors_;
  std::unordered_map<Realm::ID::IDType, Processor> known_;
  std::unordered_map<Realm::ID::IDType, Memory> known_memories_;
  // The best memory of a kind for a processor, and how well the processor reaches it.
  struct MemoryAffinity {
    Legion::Memory memory = Legion::Memory::NO_MEMORY;
    // The nominal bandwidth between the processor and the memory, in MB/s.
    unsigned bandwidth = 0;
    // The latency of an access to the memory, in ns.
    unsigned latency = 0;
  };
  std::unordered_map<Realm::ID::IDType, std::array<MemoryAffinity, kMemKindCount>> reach_;
  std::array<std::vector<std::vector<Legion::Memory>>, kMemKindCount> memories_;
  std::shared_ptr<const Machine> machine_;
};

}  // namespace groma::legion
