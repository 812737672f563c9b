// Links: the channels of a machine as one-way links that copies occupy, and the routes of copies.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/machine.h"
#include "groma/run_record.h"
#include "simulate/lane.h"

namespace groma::sim {

// 13 days. A run that takes longer fails, so that sums of a few times do not overflow.
inline constexpr RunTime kLongest = RunTime{1} << 60;

// Seconds as picoseconds, rounded to the nearest; what is too long becomes the longest.
RunTime to_time(double seconds);

// A memory of the machine by number: nodes in order, kinds in order, then indices.
class Memories {
 public:
  explicit Memories(const Machine& machine);
  // -1: the node has none of that kind, or an empty one.
  std::int32_t find(std::int64_t node, MemKind kind, std::int64_t index) const;
  // The one of that kind in the processor's node that is nearest to it; -1.
  std::int32_t nearest(const Processor& processor, MemKind kind) const;
  const Memory& operator[](std::int32_t memory) const {
    return memories_[static_cast<std::size_t>(memory)];
  }
  std::size_t size() const { return memories_.size(); }
  const MemoryGroup& group(std::int32_t memory) const;

 private:
  const Machine& machine_;
  std::vector<Memory> memories_;
  std::vector<std::array<std::int32_t, kMemKindCount>> first_;  // by node, by kind
};

// How a copy gets from one memory to another: it occupies all its links at once, for its latency
// and its bytes at the slowest one's bandwidth.
struct Route {
  std::vector<std::uint32_t> links;
  double latency_s = 0;
  double seconds_per_byte = 0;
  std::int32_t number = 0;  // in the order in which they were first asked for
};

// Every channel has in every node `links` lanes, each with a way out and a way in. A copy within a
// node between different kinds of memory takes the lane of that end which has more memories of its
// kind (the GPU of host and GPU), one way by the order of kinds; between two memories of a kind, or
// between nodes, the source's lane outwards and the target's lane inwards. Memory i of n has lane
// i * lanes / n. Channels of one name in one node share their lanes.
class Links {
 public:
  Links(const Machine& machine, const Memories& memories);

  // The quickest way for large copies, over at most two memories in between; null when there is
  // none. Good until the next call.
  const Route* route(std::int32_t from, std::int32_t to);

  // Takes the links of the route from the first moment at which they are free for so long.
  Lane::Start take(const Route& route, RunTime now, RunTime duration, std::int64_t user);

  // The links, and the routes by number, for a record.
  void describe(RunRecord& record) const;

 private:
  struct Hop {
    bool possible = false;
    std::array<std::uint32_t, 2> links{};
    std::size_t link_count = 0;
    double latency_s = 0;
    double bandwidth = 0;
  };
  // A channel of a node, by its name.
  struct Lanes {
    std::string channel;
    std::map<std::pair<std::int64_t, bool>, std::uint32_t> lanes;  // by number, out
  };
  // The lane of a channel name in a node; made when first asked for.
  std::uint32_t lane(std::int64_t node, const std::string& name, std::int64_t number, bool out);
  Hop hop(const Memory& from, const Memory& to);
  Route find(std::int32_t from, std::int32_t to);

  const Machine& machine_;
  const Memories& memories_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<Lanes>> lane_numbers_;     // by node
  std::unordered_map<std::uint64_t, Route> routes_;  // by both ends
};

}  // namespace groma::sim
