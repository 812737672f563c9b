// What a NodeType must fulfil, with the place of the first thing that it does not.
#pragma once

#include <optional>
#include <string>

#include "groma/machine.h"

namespace groma {

struct Fault {
  std::string path;     // within the node type, as a JSON pointer: "/processors/1/count"
  std::string message;  // "0 is no count (1 to 65536)"
};

// The first fault of `node`, or nothing.
std::optional<Fault> find_fault(const NodeType& node);

// The bytes of all memories of `kind` in one node. At most kMaxNodeBytes where find_fault finds
// none.
inline constexpr std::int64_t kMaxNodeBytes = std::int64_t{1} << 53;
std::int64_t memory_bytes(const NodeType& node, MemKind kind);

}  // namespace groma
