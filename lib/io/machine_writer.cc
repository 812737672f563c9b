// machine_to_json: writes every figure of a machine, one line for each group.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "groma/io.h"
#include "io/json.h"
#include "io/machine_keys.h"

namespace groma {
namespace {

// One member of an object, `"key": value`, as JSON text.
struct Member {
  Member(std::string_view key, double value) : text(fmt::format("\"{}\": {}", key, value)) {}
  Member(std::string_view key, std::int64_t value) : text(fmt::format("\"{}\": {}", key, value)) {}
  Member(std::string_view key, std::string_view value)
      : text(fmt::format("\"{}\": {}", key, json_string(value))) {}
  std::string text;
};

// Returns a JSON object with these members on one line.
std::string object(const std::vector<Member>& members) {
  std::string text;
  for (const Member& member : members) text += (text.empty() ? "" : ", ") + member.text;
  return "{" + text + "}";
}

// Each of the next functions returns one object of the file with all its figures, also those that
// have their default value. The file then means the same when the defaults change.
std::string object_of(const ProcessorGroup& group) {
  return object({{keys::kKind, name_of(group.kind)},
                 {keys::kCount, group.count},
                 {keys::kFlops, group.flops_per_s},
                 {keys::kSustained, group.sustained_fraction},
                 {keys::kLaunch, group.launch_latency_s}});
}

std::string object_of(const MemoryGroup& group) {
  return object({{keys::kKind, name_of(group.kind)},
                 {keys::kCount, group.count},
                 {keys::kCapacity, group.capacity_bytes},
                 {keys::kBandwidth, group.bandwidth_bytes_per_s}});
}

std::string object_of(const Affinity& affinity) {
  std::vector<Member> members = {{keys::kProcessor, name_of(affinity.processor)},
                                 {keys::kMemory, name_of(affinity.memory)},
                                 {keys::kBandwidth, affinity.bandwidth_bytes_per_s},
                                 {keys::kLatency, affinity.latency_s}};
  // The value 0 means that the simulator computes this bandwidth from the latency. It is not
  // written.
  if (affinity.gap_bandwidth_bytes_per_s > 0)
    members.emplace_back(keys::kGapBandwidth, affinity.gap_bandwidth_bytes_per_s);
  return object(members);
}

std::string object_of(const Channel& channel) {
  return object({{keys::kName, std::string_view(channel.name)},
                 {keys::kFrom, name_of(channel.from)},
                 {keys::kTo, name_of(channel.to)},
                 {keys::kScope, keys::kScopeNames[static_cast<std::size_t>(channel.scope)]},
                 {keys::kLinks, channel.links},
                 {keys::kBandwidth, channel.bandwidth_bytes_per_s},
                 {keys::kLatency, channel.latency_s}});
}

std::string object_of(const MeasuredFigure& figure) {
  return object({{keys::kFigure, std::string_view(figure.what)},
                 {keys::kFigureUnit, std::string_view(figure.unit)},
                 {keys::kFigureValue, figure.value},
                 {keys::kLow, figure.low},
                 {keys::kHigh, figure.high},
                 {keys::kRepeats, figure.repeats},
                 {keys::kSource, std::string_view(figure.source)}});
}

std::string object_of(const MeasuredComputer& computer) {
  return object({{keys::kCpuModel, std::string_view(computer.cpu_model)},
                 {keys::kCores, computer.cores},
                 {keys::kNumaNodes, computer.numa_nodes}});
}

// Returns the record of measurements, one figure on each line.
std::string measurement_text(const MachineMeasurement& measurement) {
  std::string text;
  for (const MeasuredFigure& figure : measurement.figures) {
    text += (text.empty() ? "\n      " : ",\n      ") + object_of(figure);
  }
  return fmt::format("{{\n    \"{}\": {},\n    \"{}\": [{}{}]\n  }}", keys::kComputer,
                     object_of(measurement.computer), keys::kFigures, text,
                     text.empty() ? "" : "\n    ");
}

// Returns the member `key` of a JSON object. Its value is a list with each of the items, such as
// the memory groups of a node, on a line of its own.
template <typename Item>
std::string list(std::string_view key, const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    text += (text.empty() ? "\n        " : ",\n        ") + object_of(item);
  }
  return fmt::format("      \"{}\": [{}{}]", key, text, text.empty() ? "" : "\n      ");
}

// Returns one kind of node. A `count` of 0 is not written, because `order` then lists the nodes.
std::string node_text(const NodeType& node, std::int64_t count) {
  std::string text = "    {\n";
  if (count > 0) text += fmt::format("      \"{}\": {},\n", keys::kCount, count);
  text += list(keys::kProcessors, node.processors) + ",\n";
  text += list(keys::kMemories, node.memories) + ",\n";
  text += list(keys::kAffinities, node.affinities) + ",\n";
  text += list(keys::kChannels, node.channels) + "\n    }";
  return text;
}

// Returns how many nodes have each node type.
std::vector<std::int64_t> counts_of(const Machine& machine) {
  std::vector<std::int64_t> counts(machine.node_types().size());
  for (const std::uint32_t type : machine.nodes()) ++counts[type];
  return counts;
}

// Returns true if counts alone describe the nodes: every type is used, and the nodes of one type
// stand side by side in the order of the types.
bool in_order(const Machine& machine, const std::vector<std::int64_t>& counts) {
  return std::find(counts.begin(), counts.end(), 0) == counts.end() &&
         std::is_sorted(machine.nodes().begin(), machine.nodes().end());
}

}  // namespace

// Writes a machine as JSON. The nodes are described by counts if possible, otherwise by a list
// `order` of all nodes.
std::string machine_to_json(const Machine& machine) {
  const std::vector<std::int64_t> counts = counts_of(machine);
  const bool ordered = !in_order(machine, counts);
  std::string text = fmt::format("{{\n  \"{}\": {},\n  \"{}\": {},\n  \"{}\": [", keys::kName,
                                 json_string(machine.name()), keys::kDescription,
                                 json_string(machine.description()), keys::kNodes);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + node_text(machine.node_types()[i], ordered ? 0 : counts[i]);
  }
  text += "\n  ]";
  if (ordered) {
    text += fmt::format(",\n  \"{}\": [{}]", keys::kOrder, fmt::join(machine.nodes(), ", "));
  }
  if (machine.measurement()) {
    text +=
        fmt::format(",\n  \"{}\": {}", keys::kMeasured, measurement_text(*machine.measurement()));
  }
  return text + "\n}\n";
}

}  // namespace groma
