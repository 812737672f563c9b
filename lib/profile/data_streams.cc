// Computes data_streams() from the record of a run.
#include "profile/data_streams.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "profile/words.h"

namespace groma::profile {
namespace {

using Cost = RunRecord::TaskCost;

// Estimates how long a task takes with its data in some memories.
class CostModel {
 public:
  explicit CostModel(const RunRecord& record) : record_(record) {}

  // Returns the bandwidth with which the processor kind reaches the memory kind, in bytes per
  // second; 0 if it cannot address it or the bandwidth is unknown.
  double bandwidth(const std::string& kind, const std::string& memory) const {
    for (const RunRecord::Reach& reach : record_.reaches) {
      if (reach.processor == kind && reach.memory == memory) return reach.bytes_per_s;
    }
    return 0;
  }

  // The memory that takes most of a task's time, and the time in seconds for which the task
  // computes or waits for this memory.
  struct Bottleneck {
    // Empty: computing takes longest.
    std::string memory;
    double seconds = 0;
    // The bytes that the task moves in this memory.
    double bytes = 0;
  };
  // If `moved` is not negative, the stream with this index is in the memory kind `to`.
  Bottleneck bottleneck(const Cost& cost, const std::string& kind, std::int64_t moved = -1,
                        const std::string& to = "") const {
    std::map<std::string, double> bytes;
    for (std::size_t i = 0; i < cost.streams.size(); ++i) {
      const Cost::Stream& stream = cost.streams[i];
      const std::string& memory =
          static_cast<std::int64_t>(i) == moved ? to : memory_kind(stream.memory);
      bytes[memory] += bytes_in(stream, kind, memory);
    }
    Bottleneck found{"", static_cast<double>(cost.computing) * kPicosecond, 0};
    for (const auto& [memory, each] : bytes) {
      const double bandwidth = this->bandwidth(kind, memory);
      if (bandwidth <= 0 || each / bandwidth <= found.seconds) continue;
      found = {memory, each / bandwidth, each};
    }
    return found;
  }

  // Returns the bytes that the stream moves if its data is in the memory kind.
  static double bytes_in(const Cost::Stream& stream, const std::string& kind,
                         const std::string& memory) {
    return static_cast<double>(kind == "GPU" && memory != "FBMEM" ? stream.host_bytes
                                                                  : stream.bytes);
  }

  const std::string& memory_kind(std::int32_t memory) const {
    static const std::string kNone;
    return is_index_of(memory, record_.memories)
               ? record_.memories[static_cast<std::size_t>(memory)].kind
               : kNone;
  }

 private:
  const RunRecord& record_;
};

// Knows how full the memories of a run were.
class MemoryRoom {
 public:
  explicit MemoryRoom(const RunRecord& record) : record_(record) {
    std::map<Key, std::int64_t> used;
    for (const RunRecord::Allocation& each : record.allocations) {
      std::int64_t& now = used[{each.memory, each.region}];
      add_saturating(now, each.bytes);
      std::int64_t& most = peaks_[{each.memory, each.region}];
      most = std::max(most, now);
    }
  }

  // Returns true if each node has room in its memories of kind `to` for what the region takes at
  // most in its memories of kind `from`, spread evenly, when the memories of kind `to` are fullest.
  bool has_room(std::int32_t region, const std::string& from, const std::string& to) const {
    std::map<std::int64_t, std::int64_t> needed, targets;
    for (std::size_t m = 0; m < record_.memories.size(); ++m) {
      const RunRecord::Memory& memory = record_.memories[m];
      if (memory.kind == to) ++targets[memory.node];
      if (memory.kind != from) continue;
      const auto found = peaks_.find({static_cast<std::int32_t>(m), region});
      if (found != peaks_.end()) add_saturating(needed[memory.node], found->second);
    }
    for (const RunRecord::Memory& memory : record_.memories) {
      if (memory.kind != to || needed[memory.node] == 0) continue;
      const std::int64_t each = needed[memory.node] / targets[memory.node];
      if (each > memory.capacity_bytes - memory.peak_bytes) return false;
    }
    return std::all_of(needed.begin(), needed.end(), [&](const auto& each) {
      return each.second == 0 || targets[each.first] > 0;
    });
  }

 private:
  // A memory and a region.
  using Key = std::pair<std::int32_t, std::int32_t>;
  const RunRecord& record_;
  std::map<Key, std::int64_t> peaks_;
};

// Adds up the streams of the tasks on the critical path.
class StreamSums {
 public:
  explicit StreamSums(const RunRecord& record)
      : record_(record), model_(record), kinds_(kind_numbers(record)) {}

  // Adds `time` of one run of a task, all of which took from `event.start` to `event.end`. The runs
  // of a task with the same cost on the same kind of processor are split together later.
  void add(const RunRecord::Event& event, RunTime time) {
    if (!is_index_of(event.cost, record_.costs) || !is_index_of(event.name, record_.tasks) ||
        !is_index_of(event.where, record_.processors)) {
      return;
    }
    const Cost& cost = record_.costs[static_cast<std::size_t>(event.cost)];
    const auto whole = static_cast<double>(std::max<RunTime>(1, event.end - event.start));
    const double part = static_cast<double>(time) / whole;
    Runs& runs = runs_[{event.name, event.cost, kinds_[static_cast<std::size_t>(event.where)]}];
    add_saturating(runs.time, time);
    runs.working += part * std::max(0.0, whole - static_cast<double>(cost.launching));
    runs.number += part;
  }

  std::vector<DataStream> take() {
    for (const auto& [key, runs] : runs_) split(key, runs);
    const MemoryRoom room(record_);
    std::vector<DataStream> all;
    for (auto& [key, sum] : sums_) {
      std::tie(sum.task, sum.requirement, sum.kind, sum.memory, sum.statement) = key;
      const std::int32_t region = region_of(sum);
      for (DataStream::Alternative& each : sum.alternatives) {
        each.has_room = room.has_room(region, sum.memory, each.memory);
      }
      all.push_back(std::move(sum));
    }
    std::stable_sort(all.begin(), all.end(), [](const DataStream& a, const DataStream& b) {
      return std::pair(a.time, a.task_time) > std::pair(b.time, b.task_time);
    });
    return all;
  }

 private:
  // The task, the cost and the number of the kind of processor.
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  // Runs with the same key.
  struct Runs {
    RunTime time = 0;
    // The part of `time` without the launches of kernels, which no memory changes.
    double working = 0;
    // The number of runs. A run that is only partly on the critical path counts as a fraction.
    double number = 0;
  };

  // Splits the time of the runs among their streams.
  void split(const Key& key, const Runs& runs) {
    const auto [task, number, processor] = key;
    const Cost& cost = record_.costs[static_cast<std::size_t>(number)];
    const std::string& kind = record_.processors[static_cast<std::size_t>(processor)].kind;
    const CostModel::Bottleneck now = model_.bottleneck(cost, kind);
    for (std::size_t i = 0; i < cost.streams.size(); ++i) {
      const Cost::Stream& stream = cost.streams[i];
      const std::string& memory = model_.memory_kind(stream.memory);
      DataStream& sum = sums_[{task, stream.requirement, kind, memory, stream.statement}];
      add_saturating(sum.task_time, runs.time);
      const double bytes = CostModel::bytes_in(stream, kind, memory);
      if (memory == now.memory && now.bytes > 0 && bytes > 0) {
        add_saturating(sum.time, rounded(runs.working * bytes / now.bytes));
        add_saturating(sum.bytes, rounded(runs.number * bytes));
      }
      add_alternatives(cost, i, kind, now, runs, &sum);
    }
  }

  // Adds what the time of the runs would be with stream `i` in each other memory kind that the
  // processor kind can address.
  void add_alternatives(const Cost& cost, std::size_t i, const std::string& kind,
                        const CostModel::Bottleneck& now, const Runs& runs, DataStream* sum) {
    std::size_t number = 0;
    const std::string& memory = model_.memory_kind(cost.streams[i].memory);
    for (const RunRecord::Reach& reach : record_.reaches) {
      if (reach.processor != kind || reach.memory == memory || !(reach.bytes_per_s > 0)) continue;
      if (sum->alternatives.size() == number) sum->alternatives.push_back({reach.memory, 0, false});
      const double then =
          model_.bottleneck(cost, kind, static_cast<std::int64_t>(i), reach.memory).seconds;
      const double change = now.seconds > 0 ? runs.working * (then / now.seconds - 1) : 0;
      add_saturating(sum->alternatives[number++].task_time,
                     rounded(std::max(0.0, static_cast<double>(runs.time) + change)));
    }
  }

  // Returns the nearest integer, or the limit 2^62.
  static std::int64_t rounded(double value) { return std::llround(std::clamp(value, 0.0, 0x1p62)); }

  std::int32_t region_of(const DataStream& sum) const {
    if (!is_index_of(sum.task, record_.descriptions)) return -1;
    const auto& requirements =
        record_.descriptions[static_cast<std::size_t>(sum.task)].requirements;
    return is_index_of(sum.requirement, requirements)
               ? requirements[static_cast<std::size_t>(sum.requirement)].region
               : -1;
  }

  const RunRecord& record_;
  const CostModel model_;
  const std::vector<std::int32_t> kinds_;
  std::map<Key, Runs> runs_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::string, std::string, std::int32_t>,
           DataStream>
      sums_;
};

}  // namespace

RunTime time_within(const std::vector<TimeSpan>& spans, RunTime begin, RunTime end) {
  RunTime time = 0;
  auto span = std::partition_point(spans.begin(), spans.end(),
                                   [&](const TimeSpan& each) { return each.end <= begin; });
  for (; span != spans.end() && span->begin < end; ++span) {
    time += std::max<RunTime>(0, std::min(end, span->end) - std::max(begin, span->begin));
  }
  return time;
}

std::vector<std::int32_t> kind_numbers(const RunRecord& record) {
  std::map<std::string, std::int32_t> first;
  std::vector<std::int32_t> numbers;
  for (const RunRecord::Processor& each : record.processors) {
    const auto next = static_cast<std::int32_t>(numbers.size());
    numbers.push_back(first.emplace(each.kind, next).first->second);
  }
  return numbers;
}

std::vector<TimeSpan> measured_spans(const Profile& profile, const std::string& measured) {
  std::vector<TimeSpan> spans;
  RunTime time = 0;
  for (const RunRecord::Phase& phase : profile.record->phases) {
    if (measured.empty() || !profile.record->has_name(phase, measured)) continue;
    spans.push_back({std::max<RunTime>(0, phase.begin), std::min(profile.total, phase.end)});
    time += std::max<RunTime>(0, spans.back().end - spans.back().begin);
  }
  if (time == 0) return {{0, profile.total}};
  return spans;
}

std::vector<DataStream> data_streams(const Profile& profile, const std::vector<TimeSpan>& spans) {
  const RunRecord& record = *profile.record;
  if (record.costs.empty()) return {};
  StreamSums sums(record);
  for (const Profile::Segment& segment : profile.path) {
    if (segment.doing != Profile::Doing::kTask || segment.event < 0) continue;
    const RunTime time = time_within(spans, segment.begin, segment.end);
    if (time > 0) sums.add(record.events[static_cast<std::size_t>(segment.event)], time);
  }
  return sums.take();
}

}  // namespace groma::profile
