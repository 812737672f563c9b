// LoggedMachine: reads the machine whose processors and memories a mapper log lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "groma/kinds.h"
#include "groma/machine.h"
#include "legion_run/log_limits.h"

namespace groma::inspect {

class LoggedMachine {
 public:
  // Reads a line of the log's list of processors: "  1d00000000000001 (LOC_PROC) can see ...".
  // Returns false if the line is malformed.
  bool read_processor(std::string_view line, LogLimits& limits);
  // Reads a line of the log's list of memories: "  1e00000000000000 (SYSTEM_MEM): 536870912 bytes".
  // Returns false if the line is malformed.
  bool read_memory(std::string_view line, LogLimits& limits);

  // Returns the processor with this id. Returns nullopt if it is not listed or has a kind that the
  // mapping language does not have.
  std::optional<Processor> processor(std::uint64_t id) const;
  // Returns the kind of the memory with this id. Returns nullopt if the memory is not listed or has
  // a kind that the mapping language does not have.
  std::optional<MemKind> memory_kind(std::uint64_t id) const;
  // Returns true if the log lists any processor of a kind that the mapping language has.
  bool has_processors() const { return !places().empty(); }
  // Returns the number of nodes with listed processors. Each node has a process of its own.
  std::int64_t node_count() const;
  // Builds a machine from the lists. Returns nullopt if the list of a node is missing.
  std::optional<Machine> machine() const;

 private:
  struct Memory {
    std::optional<MemKind> kind;
    std::int64_t capacity_bytes = 0;
  };

  // Returns the listed processors by id. Those of each node and kind are numbered in the order of
  // ids.
  const std::map<std::uint64_t, Processor>& places() const;
  // Returns true if there is room for one more processor or memory. Otherwise counts a log entry as
  // left out.
  bool has_room(LogLimits& limits) const;

  std::map<std::uint64_t, std::optional<ProcKind>> processors_;
  std::map<std::uint64_t, Memory> memories_;
  // The cached result of places(). Empty if a processor was added since.
  mutable std::map<std::uint64_t, Processor> places_;
};

}  // namespace groma::inspect
