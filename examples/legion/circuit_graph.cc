// Makes the nodes and wires of the circuit from their numbers, and simulates it with one thread.

#include "circuit_graph.h"

#include <algorithm>

namespace circuit {
namespace {

// Returns a number from 0 to below 1. It depends only on `what` (the purpose of the number) and on
// `thing` (the node or wire).
float random(std::uint64_t what, std::int64_t thing) {
  std::uint64_t mixed = (static_cast<std::uint64_t>(thing) + 1) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9U + what * 0x94D049BB133111EBU;
  mixed = (mixed ^ (mixed >> 29)) * 0xD6E8FEB86659FD93U;
  return static_cast<float>(mixed >> 40) / static_cast<float>(1 << 24);
}
// Returns a number from 0 to below `bound`. The minimum guards against rounding up.
std::int64_t random_below(std::uint64_t what, std::int64_t thing, std::int64_t bound) {
  const auto value = static_cast<std::int64_t>(random(what, thing) * static_cast<float>(bound));
  return std::min(bound - 1, value);
}

// Returns a random node of the point that has the wire. In one case of a hundred the node is
// shared.
Pointer in_own_point(const Config& config, std::uint64_t what, std::int64_t wire) {
  const std::int64_t point = wire / config.wires_each();
  if (random(what, wire) < 0.01F) {
    const std::int64_t each = config.shared_each();
    return {point * each + random_below(what + 1, wire, each), Where::kShared};
  }
  const std::int64_t each = config.private_each();
  return {point * each + random_below(what + 1, wire, each), Where::kPrivate};
}

}  // namespace

Range Config::ghosts(std::int64_t point) const {
  const std::int64_t each = shared_each();
  // The ghosts reach as far as the shared nodes of three pieces on each side.
  const std::int64_t reach = 3 * ((npp + 99) / 100);
  return {std::max<std::int64_t>(0, point * each - reach),
          std::min(total() * each, (point + 1) * each + reach)};
}

Node make_node(std::int64_t node, bool shared) {
  // Private and shared nodes have the same numbers, so they are told apart here.
  const std::int64_t thing = 2 * node + (shared ? 1 : 0);
  return {1 + random(1, thing), 0.1F * random(2, thing), 0, 2 * random(3, thing) - 1};
}

Wire make_wire(std::int64_t wire) {
  return {(0.1F + random(4, wire)) * 1e-3F, 1 + 10 * random(5, wire), 0.1F + random(6, wire)};
}

Pointer in_end(const Config& config, std::int64_t wire) { return in_own_point(config, 7, wire); }

Pointer out_end(const Config& config, std::int64_t wire) {
  // One wire in five may leave the point.
  if (random(9, wire) < 0.8F) return in_own_point(config, 10, wire);
  const Range ghosts = config.ghosts(wire / config.wires_each());
  return {ghosts.first + random_below(12, wire, ghosts.end - ghosts.first), Where::kGhost};
}

// Makes all nodes and wires in one process and does every step in the order of their numbers.
Voltages serial(const Config& config) {
  std::vector<Node> privates, shared;
  std::vector<Wire> wires;
  for (std::int64_t i = 0; i < config.total() * config.private_each(); ++i) {
    privates.push_back(make_node(i, false));
  }
  for (std::int64_t i = 0; i < config.total() * config.shared_each(); ++i) {
    shared.push_back(make_node(i, true));
  }
  for (std::int64_t i = 0; i < config.total() * config.wires_each(); ++i) {
    wires.push_back(make_wire(i));
  }
  const auto node_at = [&](const Pointer& end) -> Node& {
    return (end.where == Where::kPrivate ? privates : shared)[static_cast<std::size_t>(end.node)];
  };
  // Calls `each` for every wire with the nodes at its two ends.
  const auto for_wires = [&](const auto& each) {
    for (std::size_t i = 0; i < wires.size(); ++i) {
      const auto wire = static_cast<std::int64_t>(i);
      each(wires[i], node_at(in_end(config, wire)), node_at(out_end(config, wire)));
    }
  };
  for (std::int64_t loop = 0; loop < kWarmUps + config.loops; ++loop) {
    for_wires([&](Wire& wire, const Node& in, const Node& out) {
      solve(config.steps, in.voltage, out.voltage, &wire);
    });
    for_wires([](const Wire& wire, Node& in, Node& out) {
      in.charge += kStep * wire.current[0];
      out.charge -= kStep * wire.current[kSegments - 1];
    });
    for (std::vector<Node>* nodes : {&privates, &shared}) {
      for (Node& node : *nodes) update(node.cap, node.leakage, &node.charge, &node.voltage);
    }
  }
  const auto voltages_of = [](const std::vector<Node>& nodes) {
    std::vector<float> voltages;
    for (const Node& node : nodes) voltages.push_back(node.voltage);
    return voltages;
  };
  return {voltages_of(privates), voltages_of(shared)};
}

}  // namespace circuit
