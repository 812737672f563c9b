// Makes the circuit, a random graph of nodes and wires that is the same on every computer, and
// computes its voltages serially. This code does not use Legion.
#pragma once

#include <cstdint>
#include <vector>

#include "arithmetic.h"

namespace circuit {

// The number of iterations before the timing begins.
constexpr std::int64_t kWarmUps = 2;

// The numbers from `first` up to, but not including, `end`.
struct Range {
  std::int64_t first, end;
};

// The parameters of the program circuit. circuit.cc says what they mean.
struct Config {
  std::int64_t nodes = 1, gpus = 4, superpiece = 10, npp = 500, wpp = 2'000, steps = 10, loops = 20;

  // Returns the number of points of a launch.
  std::int64_t total() const { return nodes * gpus; }
  // shared_each(), private_each() and wires_each() return how many nodes or wires each point has.
  // One node in a hundred is shared.
  std::int64_t shared_each() const { return superpiece * ((npp + 99) / 100); }
  std::int64_t private_each() const { return superpiece * npp - shared_each(); }
  std::int64_t wires_each() const { return superpiece * wpp; }
  // Returns the shared nodes at which a point's wires may end: its own and some of its neighbours'.
  Range ghosts(std::int64_t point) const;
};

struct Node {
  float cap, leakage, charge, voltage;
};
// Returns the initial values of a node. The node's number alone determines them.
Node make_node(std::int64_t node, bool shared);

// Where a wire ends: a node, and the region through which a task accesses the node.
enum class Where : std::uint8_t { kPrivate, kShared, kGhost };
// One end of a wire. It has 9 bytes, as in the original program.
struct [[gnu::packed]] Pointer {
  std::int64_t node;
  Where where;
};
static_assert(sizeof(Pointer) == 9);

// Returns the initial values of a wire. The wire's number alone determines them.
Wire make_wire(std::int64_t wire);
// Return the node at which a wire begins, and the node at which it ends.
Pointer in_end(const Config& config, std::int64_t wire);
Pointer out_end(const Config& config, std::int64_t wire);

// The voltages of all private and of all shared nodes.
struct Voltages {
  std::vector<float> privates, shared;
};
// Returns the voltages at the end of a run, computed by one thread.
Voltages serial(const Config& config);

}  // namespace circuit
