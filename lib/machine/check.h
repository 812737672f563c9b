// Checks a NodeType and names the place of its first error.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "groma/machine.h"
#include "groma/result.h"

namespace groma {

// Returns the error for a malformed description of a machine.
inline Error malformed_machine(std::string message, std::string help = {}) {
  return {Error::Code::kMalformed, std::move(message), std::move(help)};
}

// An error in a node type or in a record of measurements.
struct NodeFault {
  // The JSON pointer to the wrong value within the node type or the record: "/processors/1/count".
  std::string path;
  // The message that says what is wrong, such as "0 is not a count (1 to 65536)".
  std::string message;
};

// Returns the first error of `node`, or nullopt.
std::optional<NodeFault> find_node_fault(const NodeType& node);

// Returns the first error of a record of measurements, or nullopt. The path begins at the record:
// "/figures/3/low".
std::optional<NodeFault> find_measurement_fault(const MachineMeasurement& measurement);

// Returns the bytes of all memories of `kind` in one node. If find_node_fault finds no error, the
// result is at most kMaxNodeBytes.
inline constexpr std::int64_t kMaxNodeBytes = std::int64_t{1} << 53;
std::int64_t memory_bytes(const NodeType& node, MemKind kind);

}  // namespace groma
