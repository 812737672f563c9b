// Links: the channels of a machine as one-way links that copies occupy, and the routes of copies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/machine.h"
#include "groma/run_record.h"
#include "groma/simulate.h"
#include "simulate/lane.h"
#include "simulate/machine_index.h"

namespace groma::sim {

// The longest time: 13 days. A run that takes longer fails, so that sums of a few times do not
// overflow.
inline constexpr RunTime kLongest = RunTime{1} << 60;

// Converts seconds to picoseconds, rounded to the nearest. Longer times become kLongest.
RunTime to_time(double seconds);

// The way of a copy from one memory to another. A copy occupies all links of its route at once. The
// time is the latency plus its bytes divided by the bandwidth of the slowest link.
struct Route {
  std::vector<std::uint32_t> links;
  double latency_s = 0;
  double seconds_per_byte = 0;
  std::int32_t number = 0;  // in the order of the first use
};

// The lanes of all channels. In every node a channel has `links` lanes, each with an outgoing and
// an incoming direction. Memory i of n uses lane i * lanes / n. Channels with the same name in one
// node share their lanes.
// * Copy within a node between two kinds of memory: it takes the lane of the end that has more
//   memories of its kind (the GPU, for host and GPU). The order of the kinds decides the direction.
// * Copy between two memories of one kind, or between nodes: it takes the outgoing lane of the
//   source and the incoming lane of the target.
class Links {
 public:
  // Refers to the machine and the memories, so they must outlive it. The model matters for the
  // choice among several routes and for durations.
  Links(const Machine& machine, const Memories& memories, const TimeModel& model = {});

  // Returns the fastest route for large copies, over at most two memories in between. Returns null
  // if there is none. Valid until the next call.
  const Route* route(std::int32_t from, std::int32_t to);

  // Takes the links of the route from the first moment at which all are free for `duration`.
  Lane::Start take(const Route& route, RunTime now, RunTime duration, std::int64_t user);

  // Writes the links, and the routes by number, into a record.
  void describe(RunRecord& record) const;

 private:
  // The lanes of one channel name in a node.
  struct Lanes {
    std::string channel;
    // The key is the number of the channel and its direction (true: outgoing).
    std::map<std::pair<std::int64_t, bool>, std::uint32_t> lanes;
  };
  // Returns the lane of a channel name in a node. The lane is made at its first use.
  std::uint32_t lane(std::int64_t node, const std::string& name, std::int64_t number, bool out);
  const Channel* channel_between(const Memory& from, const Memory& to) const;
  void add_lanes(const Memory& from, const Memory& to, const Channel& channel, Route& route);
  Route find(std::int32_t from, std::int32_t to);

  const Machine& machine_;
  const Memories& memories_;
  const TimeModel model_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<Lanes>> lane_numbers_;     // by node
  std::unordered_map<std::uint64_t, Route> routes_;  // by both ends
};

}  // namespace groma::sim
