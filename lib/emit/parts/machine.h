// Machine: the processors and memories of every node. Part of the code that `groma emit` writes
// (lib/emit/parts.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "emit/parts/grid.h"

namespace groma::emit {

// The machine: the number of processors of each kind in every node, and the memories that they can
// address.
struct Machine {
  struct Node {
    // The number of processors of each kind, by ProcKind.
    std::array<std::int64_t, 6> processors{};
    // @if reaches
    // True if a processor kind can address a memory kind, by ProcKind and MemKind.
    std::array<std::array<bool, 6>, 6> reaches{};
    // @end
  };
  std::vector<Node> nodes;

  // @if places || values
  std::int64_t count(std::int64_t node, ProcKind kind) const {
    return nodes[static_cast<std::size_t>(node)].processors[static_cast<std::size_t>(kind)];
  }
  // @end
  // @if values
  // Returns the grid Machine(KIND) of the mapping language. Its number of processors in each node
  // is the smallest one of any node.
  Grid grid(ProcKind kind) const {
    std::int64_t least = count(0, kind);
    for (std::size_t n = 1; n < nodes.size(); ++n) {
      least = std::min(least, count(static_cast<std::int64_t>(n), kind));
    }
    return {kind, static_cast<std::int64_t>(nodes.size()), least};
  }
  // @end
  // @if kinds
  // Returns true if all nodes have processors of the same kinds.
  bool is_even() const {
    return std::all_of(nodes.begin(), nodes.end(), [this](const Node& node) {
      for (std::size_t k = 0; k < node.processors.size(); ++k) {
        if ((node.processors[k] > 0) != (nodes.front().processors[k] > 0)) return false;
      }
      return true;
    });
  }
  bool has(ProcKind kind) const {
    return std::any_of(nodes.begin(), nodes.end(), [kind](const Node& node) {
      return node.processors[static_cast<std::size_t>(kind)] > 0;
    });
  }
  // @end
  // @if reaches
  bool reaches(const Processor& processor, MemKind memory) const {
    if (memory == MemKind::kVirtual) return false;
    const Node& node = nodes[static_cast<std::size_t>(processor.node)];
    return node.reaches[static_cast<std::size_t>(processor.kind)][static_cast<std::size_t>(memory)];
  }
  // @end
};

}  // namespace groma::emit
