// The circuit: a random graph of nodes and wires, the same wherever it is made, its arithmetic, and
// what a serial program computes. Nothing here knows of Legion.
#pragma once

#include <cstdint>
#include <vector>

#include "arithmetic.h"

namespace circuit {

constexpr std::int64_t kWarmUps = 2;  // iterations that are not timed

// From `first` to before `end`.
struct Range {
  std::int64_t first, end;
};

struct Config {
  std::int64_t nodes = 1, gpus = 4, superpiece = 10, npp = 500, wpp = 2'000, steps = 10, loops = 20;

  std::int64_t total() const { return nodes * gpus; }  // points of a launch
  // Of each point. One node in a hundred is shared.
  std::int64_t shared_each() const { return superpiece * ((npp + 99) / 100); }
  std::int64_t private_each() const { return superpiece * npp - shared_each(); }
  std::int64_t wires_each() const { return superpiece * wpp; }
  // The shared nodes at which a point's wires may end: its own and some of its neighbours.
  Range ghosts(std::int64_t point) const;
};

struct Node {
  float cap, leakage, charge, voltage;
};
Node make_node(std::int64_t node, bool shared);

// A node, by the region in which a wire finds it: 9 bytes, as in the original.
enum class Where : std::uint8_t { kPrivate, kShared, kGhost };
struct [[gnu::packed]] Pointer {
  std::int64_t node;
  Where where;
};
static_assert(sizeof(Pointer) == 9);

Wire make_wire(std::int64_t wire);
// Where a point's wire begins and ends.
Pointer in_end(const Config& config, std::int64_t wire);
Pointer out_end(const Config& config, std::int64_t wire);

// The voltages of all private and all shared nodes in the end, without pieces.
struct Voltages {
  std::vector<float> privates, shared;
};
Voltages serial(const Config& config);

}  // namespace circuit
