// Finds the routes of copies between memories, and the links that they occupy.
#include "simulate/links.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>

namespace groma::sim {
namespace {

// The size of a copy, in bytes, for which the quickest route is chosen.
constexpr double kTypicalBytes = 1 << 20;

// Returns how many memories of a kind a node has.
std::int64_t count_of(const NodeType& node, MemKind kind) {
  const MemoryGroup* group = node.find(kind);
  return group == nullptr ? 0 : group->count;
}

}  // namespace

RunTime to_time(double seconds) {
  const double time = seconds / kPicosecond;
  if (!(time > 0)) return 0;
  return time < static_cast<double>(kLongest) ? static_cast<RunTime>(std::llround(time)) : kLongest;
}

Links::Links(const Machine& machine, const Memories& memories)
    : machine_(machine),
      memories_(memories),
      lane_numbers_(static_cast<std::size_t>(machine.node_count())) {}

// Returns the number of a lane of the channel `name` in a node. `out` selects its way out or its
// way in. The lane is made when it is first asked for.
std::uint32_t Links::lane(std::int64_t node, const std::string& name, std::int64_t number,
                          bool out) {
  std::vector<Lanes>& here = lane_numbers_[static_cast<std::size_t>(node)];
  auto of = std::find_if(here.begin(), here.end(),
                         [&](const Lanes& lanes) { return lanes.channel == name; });
  if (of == here.end()) of = here.insert(of, {name, {}});
  const auto [found, is_new] =
      of->lanes.emplace(std::pair(number, out), static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.emplace_back();
  return found->second;
}

// Returns the direct connection between two memories over the channel with the highest bandwidth.
// `possible` is false if no channel connects them. A copy within a node between two kinds takes one
// lane; any other copy takes the source's lane out and the target's lane in.
Links::Hop Links::hop(const Memory& from, const Memory& to) {
  Hop best;
  using Scope = Channel::Scope;
  const bool near = from.node == to.node;
  const Scope scope = !near ? Scope::kNetwork : from.kind == to.kind ? Scope::kPeer : Scope::kLocal;
  const NodeType& here = machine_.node(from.node);
  for (const Channel& channel : here.channels) {
    const bool straight = channel.from == from.kind && channel.to == to.kind;
    const bool joins = straight || (channel.from == to.kind && channel.to == from.kind);
    if (!joins || channel.scope != scope) continue;
    if (best.possible && channel.bandwidth_bytes_per_s <= best.bandwidth) continue;
    const auto lane_of = [&](const NodeType& node, const Memory& memory, bool out) {
      const std::int64_t n = std::max<std::int64_t>(1, count_of(node, memory.kind));
      return lane(memory.node, channel.name, memory.index * channel.links / n, out);
    };
    best.possible = true;
    best.latency_s = channel.latency_s;
    best.bandwidth = channel.bandwidth_bytes_per_s;
    if (scope == Scope::kLocal) {
      const bool source = count_of(here, from.kind) >= count_of(here, to.kind);
      const bool out = from.kind < to.kind;
      best.links[0] = lane_of(here, source ? from : to, out);
      best.link_count = 1;
    } else {
      best.links = {lane_of(here, from, true), lane_of(machine_.node(to.node), to, false)};
      best.link_count = 2;
    }
  }
  return best;
}

// Returns the route that is quickest for kTypicalBytes. A route passes no memory, one memory or two
// memories in between: one of the source's node, one of the target's node. The route has no links
// if no channels connect the memories.
Route Links::find(std::int32_t from, std::int32_t to) {
  const Memory a = memories_[from], b = memories_[to];
  // Returns the memories of other kinds in the node of `end`: of each kind the one nearest to
  // `end`.
  const auto stops = [&](const Memory& end) {
    std::vector<Memory> found;
    const NodeType& node = machine_.node(end.node);
    for (const MemoryGroup& group : node.memories) {
      if (group.capacity_bytes == 0 || group.kind == end.kind) continue;
      const std::int64_t n = std::max<std::int64_t>(1, count_of(node, end.kind));
      found.push_back({group.kind, end.node, end.index * group.count / n});
    }
    return found;
  };
  Route best, route;
  double least = std::numeric_limits<double>::infinity();
  // The direct connections that were found already, for the many ways that share them.
  struct Known {
    Memory from, to;
    Hop hop;
  };
  std::vector<Known> known;
  const auto hop_between = [&](const Memory& source, const Memory& target) -> Hop {
    for (const Known& each : known) {
      if (each.from == source && each.to == target) return each.hop;
    }
    return known.emplace_back(Known{source, target, hop(source, target)}).hop;
  };
  // Keeps the way as `best` if it is possible and quicker than the best so far. All hops carry the
  // data at the same time, so the slowest hop sets the bandwidth.
  const auto look_at = [&](std::initializer_list<Memory> way) {
    route.links.clear();
    route.latency_s = route.seconds_per_byte = 0;
    for (const Memory* stop = way.begin(); stop + 1 != way.end(); ++stop) {
      if (stop[0] == stop[1]) continue;
      const Hop step = hop_between(stop[0], stop[1]);
      if (!step.possible) return;
      route.latency_s += step.latency_s;
      route.seconds_per_byte = std::max(route.seconds_per_byte, 1 / step.bandwidth);
      route.links.insert(route.links.end(), step.links.begin(),
                         step.links.begin() + static_cast<std::ptrdiff_t>(step.link_count));
    }
    const double seconds = route.latency_s + kTypicalBytes * route.seconds_per_byte;
    if (route.links.empty() || seconds >= least) return;
    least = seconds;
    best = route;
  };
  const std::vector<Memory> near_a = stops(a), near_b = stops(b);
  look_at({a, b});
  for (const Memory& first : near_a) {
    look_at({a, first, b});
    for (const Memory& last : near_b) look_at({a, first, last, b});
  }
  for (const Memory& last : near_b) look_at({a, last, b});
  std::sort(best.links.begin(), best.links.end());
  best.links.erase(std::unique(best.links.begin(), best.links.end()), best.links.end());
  return best;
}

// Returns the route from the cache, or finds it and caches it. A copy within one memory has no
// links: the memory reads and writes all bytes.
const Route* Links::route(std::int32_t from, std::int32_t to) {
  const std::uint64_t ends = static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 |
                             static_cast<std::uint32_t>(to);
  const auto known = routes_.find(ends);
  if (known != routes_.end())
    return known->second.links.empty() && from != to ? nullptr : &known->second;
  Route route;
  if (from == to) {  // the memory itself reads and writes each byte
    const MemoryGroup& group = memories_.group(from);
    const double bandwidth = group.bandwidth_bytes_per_s;
    route.seconds_per_byte = bandwidth > 0 ? 2 / bandwidth : 0;
  } else {
    route = find(from, to);
  }
  route.number = static_cast<std::int32_t>(routes_.size());
  const Route& kept = routes_.emplace(ends, std::move(route)).first->second;
  return kept.links.empty() && from != to ? nullptr : &kept;
}

// Each link may put the start off. The loop ends when all links are free at the same start.
Lane::Start Links::take(const Route& route, RunTime now, RunTime duration, std::int64_t user) {
  Lane::Start start{now, -1};
  for (bool waits = true; waits;) {
    waits = false;
    for (std::uint32_t link : route.links) waits |= lanes_[link].put_off(start, duration);
  }
  for (std::uint32_t link : route.links) {
    lanes_[link].take(start.time, start.time + duration, user, now);
  }
  return start;
}

// Writes the links by lane number, and the links of each route, to `record`.
void Links::describe(RunRecord& record) const {
  record.links.resize(lanes_.size());
  for (std::size_t node = 0; node < lane_numbers_.size(); ++node) {
    for (const Lanes& channel : lane_numbers_[node]) {
      for (const auto& [end, lane] : channel.lanes) {
        record.links[lane] = {channel.channel, static_cast<std::int64_t>(node), end.first,
                              end.second};
      }
    }
  }
  record.routes.resize(routes_.size());
  for (const auto& [ends, route] : routes_) {
    record.routes[static_cast<std::size_t>(route.number)].assign(route.links.begin(),
                                                                 route.links.end());
  }
}

}  // namespace groma::sim
