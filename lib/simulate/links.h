// Links: the channels of a machine as one-way links that copies occupy, and the routes of copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/machine.h"
#include "groma/run_record.h"
#include "groma/simulate.h"
#include "simulate/link_schedule.h"
#include "simulate/machine_index.h"

namespace groma::sim {

// The longest simulated time: about 13 days, in picoseconds. A run that takes longer fails, so that
// sums of a few times do not overflow.
inline constexpr RunTime kLongest = RunTime{1} << 60;

// Converts seconds to picoseconds, rounded to the nearest. Longer times become kLongest.
RunTime to_picoseconds(double seconds);

// The way of a copy from one memory to another. A copy occupies all links of its route at the same
// time. The copy takes the latency plus its bytes divided by the bandwidth of the slowest link.
struct Route {
  std::vector<std::uint32_t> links;
  double latency_s = 0;
  double seconds_per_byte = 0;
  // Returns how long a copy of this many bytes occupies the links, in seconds.
  double seconds_for(std::int64_t bytes) const {
    return latency_s + static_cast<double>(bytes) * seconds_per_byte;
  }
  // The number of the route, in the order in which the routes were first looked up.
  std::int32_t number = 0;
};

// The links of a machine. In every node a channel has Channel::links lanes, each with a link in the
// outgoing and a link in the incoming direction. Memory i of n uses lane i * links / n. Channels
// with the same name in one node share their lanes.
// * Copy within a node between two kinds of memory: the copy takes the lane of the end that has
//   more memories of its kind (the GPU, for host and GPU). The order of the kinds decides the
//   direction.
// * Copy between two memories of one kind, or between nodes: the copy takes the outgoing lane of
//   the source and the incoming lane of the target.
class Links {
 public:
  // The object keeps references to the machine and the memories, so they must outlive it. The model
  // matters for the choice among several routes and for durations.
  Links(const Machine& machine, const Memories& memories, const TimeModel& model = {});

  // Returns the fastest route for large copies between two memories, over at most two memories in
  // between. Returns null if there is no route. The pointer is valid until the next call.
  const Route* route(std::int32_t from, std::int32_t to);

  // Reserves the links of the route for `duration`, from the first moment (not before `ready`) at
  // which all of them are free. Returns that moment, and the last user of a link that the copy
  // waits for. No later call may have a `ready` before `now`: what ends by then may be forgotten.
  LinkSchedule::CopyStart reserve_links(const Route& route, RunTime ready, RunTime duration,
                                        std::int64_t user, RunTime now);

  // Returns whether any link of the route has a gap after `now` (LinkSchedule::has_gap_after).
  bool have_gaps(const Route& route, RunTime now) const {
    return std::any_of(route.links.begin(), route.links.end(),
                       [&](std::uint32_t link) { return lanes_[link].has_gap_after(now); });
  }
  // Makes all links free.
  void free_all() { std::fill(lanes_.begin(), lanes_.end(), LinkSchedule()); }

  // Writes the links, and the routes by their number, into the record of a run.
  void write_links_and_routes(RunRecord& record) const;

 private:
  // The lanes of the channels with one name in a node.
  struct ChannelLanes {
    std::string channel;
    // For each pair of a lane's number within the channel and a direction (true: outgoing), the
    // index of the link in `lanes_`.
    std::map<std::pair<std::int64_t, bool>, std::uint32_t> lanes;
  };
  // Returns the index in `lanes_` of one link: lane `number` of the channel called `name` in a
  // node, in the outgoing (`out` is true) or the incoming direction. The link is made when it is
  // first asked for.
  std::uint32_t link_index(std::int64_t node, const std::string& name, std::int64_t number,
                           bool out);
  const Channel* channel_between(const Memory& from, const Memory& to) const;
  void add_lanes(const Memory& from, const Memory& to, const Channel& channel, Route& route);
  Route find(std::int32_t from, std::int32_t to);

  const Machine& machine_;
  const Memories& memories_;
  const TimeModel model_;
  std::vector<LinkSchedule> lanes_;
  // For each node: the lanes of its channels.
  std::vector<std::vector<ChannelLanes>> lane_numbers_;
  // For each node: for each of its channels, where the links of its lanes are in `lanes_`.
  std::unordered_map<std::uint64_t, Route> routes_;
};

}  // namespace groma::sim
