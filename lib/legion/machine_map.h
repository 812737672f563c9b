// MachineMap: Realm's machine as a groma::Machine, and the way back to Realm's ids.
#pragma once

#include <legion.h>

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "groma/machine.h"

namespace groma::legion {

std::optional<ProcKind> kind_of(Legion::Processor::Kind kind);
Legion::Processor::Kind realm_kind(ProcKind kind);
std::optional<MemKind> kind_of(Legion::Memory::Kind kind);
Legion::Memory::Kind realm_kind(MemKind kind);

// Immutable once made; shared by all mapper objects of the process.
class MachineMap {
 public:
  // Fails when Realm's machine is none for us: no processor, more nodes than kMaxNodes.
  static Result<std::shared_ptr<const MachineMap>> make();

  std::shared_ptr<const Machine> machine() const { return machine_; }
  // Nothing for utility processors and what we have no kind for.
  std::optional<Processor> processor(Legion::Processor processor) const;
  // Nothing for what we have no kind for and what holds nothing.
  std::optional<Memory> memory(Legion::Memory memory) const;
  // NO_PROC when there is none.
  Legion::Processor realm(const Processor& processor) const;
  // NO_MEMORY when there is none.
  Legion::Memory realm(const Memory& memory) const;
  // The memory of that kind that the processor reaches best; NO_MEMORY when it reaches none.
  Legion::Memory memory(Legion::Processor processor, MemKind kind) const;

 private:
  using ByNode = std::vector<std::vector<Legion::Processor>>;
  void read_processors();
  void read_memories();
  Result<Machine> build() const;
  NodeType node_type(std::size_t node) const;

  std::array<ByNode, kProcKindCount> processors_;  // by kind, node, index
  std::unordered_map<Realm::ID::IDType, Processor> known_;
  std::unordered_map<Realm::ID::IDType, Memory> known_memories_;
  struct Reach {
    Legion::Memory memory = Legion::Memory::NO_MEMORY;
    unsigned bandwidth = 0;  // MB/s, nominal
    unsigned latency = 0;    // ns
  };
  std::unordered_map<Realm::ID::IDType, std::array<Reach, kMemKindCount>> reach_;
  std::array<std::vector<std::vector<Legion::Memory>>, kMemKindCount> memories_;
  std::shared_ptr<const Machine> machine_;
};

}  // namespace groma::legion
