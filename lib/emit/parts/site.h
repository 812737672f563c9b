// Legion's machine, described for a mapping. Part of the code that `groma emit` writes
// (lib/emit/parts.cc).
#pragma once

#include <legion.h>
#include <mappers/default_mapper.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emit/parts/machine.h"
#include "emit/parts/statements.h"

namespace groma::emit {

// Ends the process with a message, for errors on which Legion would abort silently or wait for
// ever.
[[noreturn]] inline void end(const std::string& why) {
  std::fprintf(stderr, "MAPPER_CLASS: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}
// @if values

// Calls the function `what` and returns its result. Ends the process if the call fails.
template <typename F>
auto or_end(const F& what) {
  try {
    return what();
  } catch (const Failure& failure) {
    end(failure.what());
  }
}
// @end

constexpr std::array kProcessorKinds = {Legion::Processor::LOC_PROC, Legion::Processor::TOC_PROC,
                                        Legion::Processor::OMP_PROC, Legion::Processor::IO_PROC,
                                        Legion::Processor::PY_PROC,  Legion::Processor::PROC_SET};
// @if memories
constexpr std::array kMemoryKinds = {Legion::Memory::SYSTEM_MEM, Legion::Memory::GPU_FB_MEM,
                                     Legion::Memory::Z_COPY_MEM, Legion::Memory::SOCKET_MEM,
                                     Legion::Memory::REGDMA_MEM};
// @end
// @if kinds || kind_of
inline Legion::Processor::Kind legion_kind(ProcKind kind) {
  return kProcessorKinds[static_cast<std::size_t>(kind)];
}
// @end
// @if instances
inline std::optional<MemKind> kind_of(Legion::Memory::Kind kind) {
  const auto found = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), kind);
  if (found == kMemoryKinds.end()) return std::nullopt;
  return static_cast<MemKind>(found - kMemoryKinds.begin());
}
inline Legion::Memory::Kind realm_kind(MemKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kMemoryKinds.size() ? kMemoryKinds[index] : Legion::Memory::NO_MEMKIND;
}
// @end

// Legion's machine, described for the mapping. Nodes are address spaces, processors are numbered in
// the order of their ids, and memories without capacity are left out. There is one object for all
// mapper objects.
struct LegionMachine {
  LegionMachine() {
    const Legion::Machine legion = Legion::Machine::get_machine();
    machine.nodes.resize(legion.get_address_space_count());
    // @if places
    processors.resize(machine.nodes.size());
    // @end
    // @if memories
    read_memories(legion, read_processors(legion));
    // @end
    // @if !memories
    read_processors(legion);
    // @end
  }

  // @if places
  // Converts Legion's processor. Returns `otherwise` if the mapping language has no word for its
  // kind (a utility processor).
  Processor place_of(Legion::Processor processor, const Processor& otherwise) const {
    const auto found = places.find(processor);
    return found == places.end() ? otherwise : found->second;
  }
  Legion::Processor legion(const Processor& processor) const {
    return processors[static_cast<std::size_t>(processor.node)][static_cast<std::size_t>(
        processor.kind)][static_cast<std::size_t>(processor.index)];
  }
  // @end
  // @if must_epoch || steals || shared_limits
  // first_from() returns the first processor of this kind, from a node on. next() returns the
  // processor of the same kind after this one.
  Processor first_from(ProcKind kind, std::int64_t node) const {
    const auto count = static_cast<std::int64_t>(machine.nodes.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = (node + i) % count;
      if (machine.count(at, kind) > 0) return {kind, at, 0};
    }
    return {kind, node, 0};
  }
  Processor next(const Processor& processor) const {
    if (processor.index + 1 < machine.count(processor.node, processor.kind)) {
      return {processor.kind, processor.node, processor.index + 1};
    }
    return first_from(processor.kind, processor.node + 1);
  }
  // @end
  // @if instances
  // Returns the memory of that kind that the processor reaches with the most bandwidth.
  Legion::Memory memory(Legion::Processor processor, MemKind kind) const {
    const auto found = reach.find({processor, kind});
    return found == reach.end() ? Legion::Memory::NO_MEMORY : found->second.first;
  }
  // @end

  Machine machine;
  // @if places
  // Legion's processors by node, kind and index.
  std::vector<std::array<std::vector<Legion::Processor>, 6>> processors;
  // @end
  std::map<Legion::Processor, Processor> places;
  // @if memories
  std::map<std::pair<Legion::Processor, MemKind>, std::pair<Legion::Memory, unsigned>> reach;
  // @end

 private:
  std::vector<Legion::Processor> read_processors(const Legion::Machine& legion) {
    Legion::Machine::ProcessorQuery query(legion);
    std::vector<Legion::Processor> all(query.begin(), query.end());
    std::sort(all.begin(), all.end());
    for (const Legion::Processor p : all) {
      const auto kind = std::find(kProcessorKinds.begin(), kProcessorKinds.end(), p.kind());
      if (kind == kProcessorKinds.end()) continue;
      const auto index = static_cast<std::size_t>(kind - kProcessorKinds.begin());
      std::int64_t& count = machine.nodes[p.address_space()].processors[index];
      places[p] = {static_cast<ProcKind>(index), p.address_space(), count++};
      // @if places
      processors[p.address_space()][index].push_back(p);
      // @end
    }
    return all;
  }
  // @if memories
  void read_memories(const Legion::Machine& legion, const std::vector<Legion::Processor>& all) {
    Legion::Machine::MemoryQuery query(legion);
    std::vector<Legion::Memory> memories(query.begin(), query.end());
    std::sort(memories.begin(), memories.end());
    for (const Legion::Memory memory : memories) {
      const auto kind = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), memory.kind());
      if (kind == kMemoryKinds.end() || memory.capacity() == 0) continue;
      const auto index = static_cast<std::size_t>(kind - kMemoryKinds.begin());
      for (const Legion::Processor p : all) {
        Legion::Machine::AffinityDetails details;
        if (p.address_space() != memory.address_space() || places.count(p) == 0 ||
            !legion.has_affinity(p, memory, &details)) {
          continue;
        }
        auto& best = reach[{p, static_cast<MemKind>(index)}];
        if (best.first.exists() && details.bandwidth <= best.second) continue;
        best = {memory, details.bandwidth};
        // @if reaches
        const Processor& place = places[p];
        machine.nodes[p.address_space()].reaches[static_cast<std::size_t>(place.kind)][index] =
            true;
        // @end
      }
    }
  }
  // @end
};

}  // namespace groma::emit
