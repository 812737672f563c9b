// Finds the routes of copies between memories, and the links that they occupy.
#include "simulate/links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace groma::sim {
namespace {

// Returns how many memories of a kind a node has.
std::int64_t count_of(const NodeType& node, MemKind kind) {
  const MemoryGroup* group = node.find(kind);
  return group == nullptr ? 0 : group->count;
}

}  // namespace

RunTime to_picoseconds(double seconds) {
  const double time = seconds / kPicosecond;
  if (!(time > 0)) return 0;
  return time < static_cast<double>(kLongest) ? static_cast<RunTime>(std::llround(time)) : kLongest;
}

Links::Links(const Machine& machine, const Memories& memories, const TimeModel& model)
    : machine_(machine),
      memories_(memories),
      model_(model),
      lane_numbers_(static_cast<std::size_t>(machine.node_count())) {}

// Returns the index in `lanes_` of one link: lane `number` of the channel called `name` in a node,
// in the outgoing (`out` is true) or the incoming direction. The link is made when it is first
// asked for.
std::uint32_t Links::link_index(std::int64_t node, const std::string& name, std::int64_t number,
                                bool out) {
  std::vector<ChannelLanes>& here = lane_numbers_[static_cast<std::size_t>(node)];
  auto of = std::find_if(here.begin(), here.end(),
                         [&](const ChannelLanes& lanes) { return lanes.channel == name; });
  if (of == here.end()) of = here.insert(of, {name, {}});
  const auto [found, is_new] =
      of->lanes.emplace(std::pair(number, out), static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.emplace_back();
  return found->second;
}

// Returns the channel with the highest bandwidth that connects two memories, or null if none does.
const Channel* Links::channel_between(const Memory& from, const Memory& to) const {
  using Scope = Channel::Scope;
  const bool near = from.node == to.node;
  const Scope scope = !near ? Scope::kNetwork : from.kind == to.kind ? Scope::kPeer : Scope::kLocal;
  const Channel* best = nullptr;
  for (const Channel& channel : machine_.node(from.node).channels) {
    const bool straight = channel.from == from.kind && channel.to == to.kind;
    const bool joins = straight || (channel.from == to.kind && channel.to == from.kind);
    if (!joins || channel.scope != scope) continue;
    if (best == nullptr || channel.bandwidth_bytes_per_s > best->bandwidth_bytes_per_s) {
      best = &channel;
    }
  }
  return best;
}

// Adds to the route the links of one channel that a copy occupies. A copy within a node between two
// kinds of memory occupies one link. Any other copy occupies the outgoing link at the source and
// the incoming link at the target.
void Links::add_lanes(const Memory& from, const Memory& to, const Channel& channel, Route& route) {
  const auto add = [&](const Memory& memory, bool out) {
    const NodeType& node = machine_.node(memory.node);
    const std::int64_t n = std::max<std::int64_t>(1, count_of(node, memory.kind));
    route.links.push_back(
        link_index(memory.node, channel.name, memory.index * channel.links / n, out));
  };
  if (channel.scope == Channel::Scope::kLocal) {
    const NodeType& here = machine_.node(from.node);
    const bool source = count_of(here, from.kind) >= count_of(here, to.kind);
    return add(source ? from : to, from.kind < to.kind);
  }
  add(from, true);
  add(to, false);
}

// Returns the route that is quickest for a copy of TimeModel::route_bytes. A route passes no
// memory, one memory or two memories in between: one of the source's node, one of the target's
// node. The route has no links if no channels connect the memories.
Route Links::find(std::int32_t from, std::int32_t to) {
  const Memory a = memories_[from], b = memories_[to];
  // Returns the memories in the node of the memory `end` over which a route may go: for each other
  // kind of memory, the one that is nearest to `end`.
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
  // A path of a copy over several memories: its channels, and the latency and time per byte of the
  // whole path. All hops carry the data at the same time, so the slowest hop sets the bandwidth.
  struct CopyPath {
    bool possible = true;
    double latency_s = 0, seconds_per_byte = 0;
    // The hops of the path in their order. Each entry holds the memory at which the hop ends, and
    // the channel that the hop uses.
    std::array<std::pair<Memory, const Channel*>, 3> hops{};
    std::size_t count = 0;
  };
  const auto extended = [this, &a](CopyPath way, const Memory& stop) {
    const Memory& last = way.count == 0 ? a : way.hops[way.count - 1].first;
    if (!way.possible || last == stop) return way;
    const Channel* const channel = channel_between(last, stop);
    way.possible = channel != nullptr;
    if (!way.possible) return way;
    way.latency_s += channel->latency_s;
    way.seconds_per_byte = std::max(way.seconds_per_byte, 1 / channel->bandwidth_bytes_per_s);
    way.hops[way.count++] = {stop, channel};
    return way;
  };
  CopyPath best;
  double least = std::numeric_limits<double>::infinity();
  const auto seconds_of = [&](const CopyPath& way) {
    return way.latency_s + model_.route_bytes * way.seconds_per_byte;
  };
  const auto look_at = [&](const CopyPath& way) {
    if (!way.possible || way.count == 0 || seconds_of(way) >= least) return;
    least = seconds_of(way);
    best = way;
  };
  // Returns true if no path that begins in this way is quicker than the best one: a further hop
  // never makes a path quicker. Most paths over other memories end here after their first hop.
  const auto is_useless = [&](const CopyPath& begun) {
    return !begun.possible || seconds_of(begun) >= least;
  };
  const std::vector<Memory> near_a = stops(a), near_b = stops(b);
  look_at(extended({}, b));
  for (const Memory& first : near_a) {
    const CopyPath begun = extended({}, first);
    if (is_useless(begun)) continue;
    look_at(extended(begun, b));
    for (const Memory& last : near_b) look_at(extended(extended(begun, last), b));
  }
  for (const Memory& last : near_b) {
    const CopyPath begun = extended({}, last);
    if (!is_useless(begun)) look_at(extended(begun, b));
  }
  Route route;
  route.latency_s = best.latency_s;
  route.seconds_per_byte = best.seconds_per_byte;
  Memory stop = a;
  for (std::size_t i = 0; i < best.count; ++i) {
    add_lanes(stop, best.hops[i].first, *best.hops[i].second, route);
    stop = best.hops[i].first;
  }
  std::sort(route.links.begin(), route.links.end());
  route.links.erase(std::unique(route.links.begin(), route.links.end()), route.links.end());
  return route;
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
  if (from == to) {
    const MemoryGroup& group = memories_.group(from);
    const double bandwidth = group.bandwidth_bytes_per_s;
    route.seconds_per_byte = bandwidth > 0 ? model_.copy_passes / bandwidth : 0;
  } else {
    route = find(from, to);
  }
  route.number = static_cast<std::int32_t>(routes_.size());
  const Route& kept = routes_.emplace(ends, std::move(route)).first->second;
  return kept.links.empty() && from != to ? nullptr : &kept;
}

// Each link of the route may delay the start of the copy. The loop ends when one start time has
// been found at which all links are free.
LinkSchedule::CopyStart Links::reserve_links(const Route& route, RunTime ready, RunTime duration,
                                             std::int64_t user, RunTime now) {
  LinkSchedule::CopyStart start{ready, -1};
  for (bool waits = true; waits;) {
    waits = false;
    for (std::uint32_t link : route.links) waits |= lanes_[link].delay_until_free(start, duration);
  }
  for (std::uint32_t link : route.links) {
    lanes_[link].reserve_interval(start.time, start.time + duration, user, now);
  }
  return start;
}

// Writes the links by lane number, and the links of each route, to `record`.
void Links::write_links_and_routes(RunRecord& record) const {
  record.links.resize(lanes_.size());
  for (std::size_t node = 0; node < lane_numbers_.size(); ++node) {
    for (const ChannelLanes& channel : lane_numbers_[node]) {
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
