// The rules that a NodeType must follow. A violation is reported with its place in the description.
#include "machine/check.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace groma {
namespace {

using Found = std::optional<NodeFault>;

constexpr std::size_t kMaxChannels = 256;
constexpr std::size_t kMaxChannelName = 64;

// Returns the scope as descriptions of machines write it.
std::string_view scope_name(Channel::Scope scope) {
  switch (scope) {
    case Channel::Scope::kLocal:
      return "local";
    case Channel::Scope::kPeer:
      return "peer";
    case Channel::Scope::kNetwork:
      return "network";
  }
  return "?";
}

// Each check returns nothing if the value is valid, otherwise a fault at `path`. `path` is a JSON
// pointer within the node type, such as "/processors/1/count".
Found check_count(std::string path, std::int64_t count) {
  if (count >= 1 && count <= kMaxProcessorsPerNode) return std::nullopt;
  return NodeFault{std::move(path),
                   fmt::format("{} is not a count (1 to {})", count, kMaxProcessorsPerNode)};
}

// Returns nothing if the rate is finite and above 0. It may be 0, which means unknown, if
// `may_be_zero`: fill_unknown_rates() replaces such a rate later.
Found check_rate(std::string path, double rate, bool may_be_zero) {
  if (std::isfinite(rate) && (rate > 0 || (may_be_zero && rate == 0))) return std::nullopt;
  return NodeFault{std::move(path), fmt::format("{} is not a rate (a number above 0)", rate)};
}

Found check_latency(std::string path, double latency_s) {
  if (std::isfinite(latency_s) && latency_s >= 0) return std::nullopt;
  return NodeFault{std::move(path),
                   fmt::format("{} is not a time (seconds, 0 or more)", latency_s)};
}

// Checks that the number and speed of the processors are sensible. The sustained fraction is above
// 0 and at most 1.
Found check_processors(const ProcessorGroup& group, const std::string& path) {
  if (static_cast<std::size_t>(group.kind) >= kProcKindCount) {
    return NodeFault{path + "/kind", "no such processor kind"};
  }
  if (Found fault = check_count(path + "/count", group.count)) return fault;
  if (Found fault = check_rate(path + "/flops_per_s", group.flops_per_s, true)) return fault;
  if (!(group.sustained_fraction > 0 && group.sustained_fraction <= 1)) {
    return NodeFault{
        path + "/sustained_fraction",
        fmt::format("{} is not a fraction (above 0, at most 1)", group.sustained_fraction)};
  }
  return check_latency(path + "/launch_latency_s", group.launch_latency_s);
}

// Checks that the capacity of all memories of a kind in one node is at most kMaxNodeBytes.
Found check_memory(const MemoryGroup& group, const std::string& path) {
  if (static_cast<std::size_t>(group.kind) >= kMemKindCount || group.kind == MemKind::kVirtual) {
    return NodeFault{path + "/kind", "VIRTUAL is not a memory that a node has"};
  }
  if (Found fault = check_count(path + "/count", group.count)) return fault;
  if (group.capacity_bytes < 0 || group.capacity_bytes > kMaxNodeBytes / group.count) {
    return NodeFault{path + "/capacity_bytes",
                     fmt::format("{} is not a capacity (0 to {} bytes, divided by the count)",
                                 group.capacity_bytes, kMaxNodeBytes)};
  }
  return check_rate(path + "/bandwidth_bytes_per_s", group.bandwidth_bytes_per_s, true);
}

// Returns the error that the node has no processors or no memories of this kind.
NodeFault lacks(std::string path, std::string_view kind) {
  return {std::move(path), fmt::format("the node has no {}", kind)};
}

// Checks that an affinity names a processor kind and a memory kind that the node has.
Found check_affinity(const NodeType& node, const Affinity& affinity, const std::string& path) {
  if (node.find(affinity.processor) == nullptr) {
    return lacks(path + "/processor", name_of(affinity.processor));
  }
  if (node.find(affinity.memory) == nullptr)
    return lacks(path + "/memory", name_of(affinity.memory));
  if (Found fault =
          check_rate(path + "/bandwidth_bytes_per_s", affinity.bandwidth_bytes_per_s, false)) {
    return fault;
  }
  if (Found fault = check_rate(path + "/gap_bandwidth_bytes_per_s",
                               affinity.gap_bandwidth_bytes_per_s, true)) {
    return fault;
  }
  return check_latency(path + "/latency_s", affinity.latency_s);
}

Found check_channel_name(const std::string& name, const std::string& path) {
  if (!name.empty() && name.size() <= kMaxChannelName) return std::nullopt;
  return NodeFault{path + "/name",
                   fmt::format("a channel's name has 1 to {} bytes", kMaxChannelName)};
}

// Checks that a channel has a name and connects two memory kinds that the node has.
Found check_channel(const NodeType& node, const Channel& channel, const std::string& path) {
  if (Found fault = check_channel_name(channel.name, path)) return fault;
  if (node.find(channel.from) == nullptr) return lacks(path + "/from", name_of(channel.from));
  if (node.find(channel.to) == nullptr) return lacks(path + "/to", name_of(channel.to));
  if (channel.scope > Channel::Scope::kNetwork) return NodeFault{path + "/scope", "no such scope"};
  if (Found fault = check_count(path + "/links", channel.links)) return fault;
  if (Found fault =
          check_rate(path + "/bandwidth_bytes_per_s", channel.bandwidth_bytes_per_s, false)) {
    return fault;
  }
  return check_latency(path + "/latency_s", channel.latency_s);
}

// Returns true if two items of a node type's list describe the same thing, so that only one of them
// is allowed. Channels work in both directions, so their ends may be swapped.
bool same(const ProcessorGroup& a, const ProcessorGroup& b) { return a.kind == b.kind; }
bool same(const MemoryGroup& a, const MemoryGroup& b) { return a.kind == b.kind; }
bool same(const Affinity& a, const Affinity& b) {
  return a.processor == b.processor && a.memory == b.memory;
}
bool same(const Channel& a, const Channel& b) {
  const bool forward = a.from == b.from && a.to == b.to;
  const bool backward = a.from == b.to && a.to == b.from;
  return a.name == b.name && a.scope == b.scope && (forward || backward);
}

// The next four functions name an item in the message about a duplicate.
std::string text_of(const ProcessorGroup& group) { return std::string(name_of(group.kind)); }
std::string text_of(const MemoryGroup& group) { return std::string(name_of(group.kind)); }
std::string text_of(const Affinity& affinity) {
  return fmt::format("{} to {}", name_of(affinity.processor), name_of(affinity.memory));
}
std::string text_of(const Channel& channel) {
  return fmt::format("{} {} between {} and {}", scope_name(channel.scope), channel.name,
                     name_of(channel.from), name_of(channel.to));
}

// Checks every item of a list and reports an item that occurs twice. The quadratic comparison is
// cheap: there are few kinds, so a duplicate comes early, and kMaxChannels limits the channels.
template <typename Item, typename Check>
Found check_all(const std::vector<Item>& items, std::string_view list, const Check& check) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("/{}/{}", list, i);
    if (Found fault = check(items[i], path)) return fault;
    for (std::size_t j = 0; j < i; ++j) {
      if (same(items[i], items[j])) {
        return NodeFault{
            path, fmt::format("{} stands there twice, also at /{}/{}", text_of(items[i]), list, j)};
      }
    }
  }
  return std::nullopt;
}

// Checks that a node has at least one processor, and at most kMaxProcessorsPerNode of all kinds
// together.
Found check_total(const NodeType& node) {
  if (node.processors.empty()) return NodeFault{"/processors", "a node has at least one processor"};
  std::int64_t total = 0;
  for (const ProcessorGroup& group : node.processors) total += group.count;
  if (total <= kMaxProcessorsPerNode) return std::nullopt;
  return NodeFault{"/processors", fmt::format("{} processors in one node; at most {}", total,
                                              kMaxProcessorsPerNode)};
}

}  // namespace

// Returns the first error of a node, or nothing. The parts of a node are checked in the order in
// which they depend on one another.
std::optional<NodeFault> find_node_fault(const NodeType& node) {
  if (Found fault = check_all(node.processors, "processors", check_processors)) return fault;
  if (Found fault = check_total(node)) return fault;
  if (Found fault = check_all(node.memories, "memories", check_memory)) return fault;
  const auto affinity = [&node](const Affinity& item, const std::string& path) {
    return check_affinity(node, item, path);
  };
  if (Found fault = check_all(node.affinities, "affinities", affinity)) return fault;
  if (node.channels.size() > kMaxChannels) {
    return NodeFault{"/channels",
                     fmt::format("{} channels; at most {}", node.channels.size(), kMaxChannels)};
  }
  const auto channel = [&node](const Channel& item, const std::string& path) {
    return check_channel(node, item, path);
  };
  return check_all(node.channels, "channels", channel);
}

namespace {

// Checks that a text of a record of measurements is not longer than a message can show, and not
// empty unless that is allowed.
Found check_text(std::string path, const std::string& text, bool may_be_empty) {
  constexpr std::size_t kMaxText = 1024;
  if (text.size() > kMaxText) {
    return NodeFault{std::move(path),
                     fmt::format("the text has {} bytes; at most {}", text.size(), kMaxText)};
  }
  if (text.empty() && !may_be_empty) return NodeFault{std::move(path), "the text is empty"};
  return std::nullopt;
}

// Checks that a measured value, the median of the repeats, lies in the middle half of the repeats
// (from `low` to `high`), and that no number of the figure is negative.
Found check_figure(const MeasuredFigure& figure, const std::string& path) {
  if (Found fault = check_text(path + "/figure", figure.what, false)) return fault;
  if (Found fault = check_text(path + "/unit", figure.unit, false)) return fault;
  if (Found fault = check_text(path + "/source", figure.source, false)) return fault;
  const auto number = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!number(figure.value)) {
    return NodeFault{path + "/value",
                     fmt::format("{} is not a figure (a number of 0 or more)", figure.value)};
  }
  if (!(number(figure.low) && figure.low <= figure.value)) {
    return NodeFault{path + "/low", fmt::format("{} is not a number from 0 to `value`, which is {}",
                                                figure.low, figure.value)};
  }
  if (!(std::isfinite(figure.high) && figure.high >= figure.value)) {
    return NodeFault{path + "/high",
                     fmt::format("{} is not a number of at least `value`, which is {}", figure.high,
                                 figure.value)};
  }
  if (figure.repeats >= 0) return std::nullopt;
  return NodeFault{path + "/repeats", fmt::format("{} is not a count (0 or more)", figure.repeats)};
}

}  // namespace

std::optional<NodeFault> find_measurement_fault(const MachineMeasurement& measurement) {
  const MeasuredComputer& computer = measurement.computer;
  if (Found fault = check_text("/computer/cpu_model", computer.cpu_model, true)) return fault;
  if (Found fault = check_count("/computer/cores", computer.cores)) return fault;
  if (Found fault = check_count("/computer/numa_nodes", computer.numa_nodes)) return fault;
  for (std::size_t i = 0; i < measurement.figures.size(); ++i) {
    if (Found fault = check_figure(measurement.figures[i], fmt::format("/figures/{}", i)))
      return fault;
  }
  return std::nullopt;
}

std::int64_t memory_bytes(const NodeType& node, MemKind kind) {
  const MemoryGroup* group = node.find(kind);
  return group == nullptr ? 0 : group->count * group->capacity_bytes;
}

}  // namespace groma
