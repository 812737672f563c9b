// machine_from_json: reads a machine from JSON. Values that the file leaves out are those of the
// default preset.
#include <fmt/format.h>

#include <algorithm>

#include "groma/io.h"
#include "io/json.h"
#include "io/machine_keys.h"
#include "machine/check.h"
#include "machine/node.h"

namespace groma {
namespace {

// Returns the place of one element of the array at `list`. The result refers to `list`, which must
// outlive it.
JsonPlace element(const JsonPlace& list, std::size_t index) {
  return {&(*list.value->array())[index], &list, {}, index};
}

// Reads one machine and collects all errors.
class MachineReader {
 public:
  explicit MachineReader(std::string_view name) : name_(name), json_(name_) {}

  Result<Machine> read(const JsonValue& root);

 private:
  // Return the value of a member. If an optional member is missing, return `otherwise`; if a
  // required one is missing, report an error.
  std::int64_t integer_or(const JsonPlace& place, std::string_view key, std::int64_t otherwise);
  double number_or(const JsonPlace& place, std::string_view key, double otherwise);
  // Reads the bandwidth. It is required if `otherwise` is 0, because no default exists.
  double rate_or(const JsonPlace& place, double otherwise);
  std::string text_or(const JsonPlace& place, std::string_view key, std::string otherwise);
  std::int64_t required_integer(const JsonPlace& place, std::string_view key);
  std::size_t required_word(const JsonPlace& place, std::string_view key,
                            std::span<const std::string_view> names, std::string_view what);
  ProcKind required_processor(const JsonPlace& place, std::string_view key);
  MemKind required_memory(const JsonPlace& place, std::string_view key);

  void read_nodes(const JsonPlace& root);
  void read_order(const JsonPlace& list);
  void add_nodes(const JsonPlace& node, bool ordered);
  MachineMeasurement read_measurement(const JsonPlace& place);
  MeasuredComputer read_computer(const JsonPlace& place);
  MeasuredFigure read_figure(const JsonPlace& place);
  double required_number(const JsonPlace& place, std::string_view key);
  std::string required_text(const JsonPlace& place, std::string_view key);
  NodeType read_node(const JsonPlace& place);
  ProcessorGroup read_processors(const JsonPlace& place);
  MemoryGroup read_memory(const JsonPlace& place, const NodeCounts& counts);
  Affinity read_affinity(const JsonPlace& place, const NodeType& node);
  Channel read_channel(const JsonPlace& place, const std::vector<Channel>& defaults);

  // Calls read() for each item of the list in member `key` of the object `node`, and returns the
  // results. Returns `otherwise` if the object has no such member.
  template <typename Item, typename Read>
  std::vector<Item> list_or(const JsonPlace& node, std::string_view key,
                            std::vector<Item> otherwise, const Read& read);

  std::string name_;
  JsonReader json_;
  const NodeFigures& figures_ = default_figures();
  std::vector<NodeType> types_;
  std::vector<std::uint32_t> nodes_;
};

std::int64_t MachineReader::integer_or(const JsonPlace& place, std::string_view key,
                                       std::int64_t otherwise) {
  const std::optional<JsonPlace> found = JsonReader::member(place, key);
  return found ? json_.integer(*found) : otherwise;
}

double MachineReader::number_or(const JsonPlace& place, std::string_view key, double otherwise) {
  const std::optional<JsonPlace> found = JsonReader::member(place, key);
  return found ? json_.number(*found) : otherwise;
}

double MachineReader::rate_or(const JsonPlace& place, double otherwise) {
  if (otherwise == 0) json_.required(place, keys::kBandwidth);
  return number_or(place, keys::kBandwidth, otherwise);
}

std::string MachineReader::text_or(const JsonPlace& place, std::string_view key,
                                   std::string otherwise) {
  const std::optional<JsonPlace> found = JsonReader::member(place, key);
  return found ? json_.text(*found) : std::move(otherwise);
}

std::int64_t MachineReader::required_integer(const JsonPlace& place, std::string_view key) {
  const std::optional<JsonPlace> found = json_.required(place, key);
  return found ? json_.integer(*found) : 0;
}

double MachineReader::required_number(const JsonPlace& place, std::string_view key) {
  const std::optional<JsonPlace> found = json_.required(place, key);
  return found ? json_.number(*found) : 0;
}

std::string MachineReader::required_text(const JsonPlace& place, std::string_view key) {
  const std::optional<JsonPlace> found = json_.required(place, key);
  return found ? json_.text(*found) : std::string();
}

std::size_t MachineReader::required_word(const JsonPlace& place, std::string_view key,
                                         std::span<const std::string_view> names,
                                         std::string_view what) {
  const std::optional<JsonPlace> found = json_.required(place, key);
  return found ? json_.index_of_word(*found, names, what) : 0;
}

ProcKind MachineReader::required_processor(const JsonPlace& place, std::string_view key) {
  return static_cast<ProcKind>(required_word(place, key, kProcKindNames, "processor kind"));
}

MemKind MachineReader::required_memory(const JsonPlace& place, std::string_view key) {
  return static_cast<MemKind>(required_word(place, key, kMemKindNames, "memory kind"));
}

template <typename Item, typename Read>
std::vector<Item> MachineReader::list_or(const JsonPlace& node, std::string_view key,
                                         std::vector<Item> otherwise, const Read& read) {
  const std::optional<JsonPlace> list = JsonReader::member(node, key);
  if (!list) return otherwise;
  std::vector<Item> items;
  const std::size_t size = json_.array(*list).size();
  for (std::size_t i = 0; i < size && !json_.has_max_errors(); ++i)
    items.push_back(read(element(*list, i)));
  return items;
}

// Reads the processors of one kind: kind and count are required.
ProcessorGroup MachineReader::read_processors(const JsonPlace& place) {
  if (!json_.is_object(place, keys::kProcessorKeys)) return {};
  const ProcKind kind = required_processor(place, keys::kKind);
  ProcessorGroup group = make_processors(figures_, kind, required_integer(place, keys::kCount));
  group.flops_per_s = number_or(place, keys::kFlops, group.flops_per_s);
  group.sustained_fraction = number_or(place, keys::kSustained, group.sustained_fraction);
  group.launch_latency_s = number_or(place, keys::kLaunch, group.launch_latency_s);
  return group;
}

// Reads the memories of one kind. If the JSON leaves out their count or capacity, `counts`, which
// describes the processors and memories of the node, decides it.
MemoryGroup MachineReader::read_memory(const JsonPlace& place, const NodeCounts& counts) {
  if (!json_.is_object(place, keys::kMemoryKeys)) return {};
  MemoryGroup group = make_memory(figures_, counts, required_memory(place, keys::kKind));
  group.count = integer_or(place, keys::kCount, group.count);
  group.capacity_bytes = integer_or(place, keys::kCapacity, group.capacity_bytes);
  group.bandwidth_bytes_per_s = number_or(place, keys::kBandwidth, group.bandwidth_bytes_per_s);
  return group;
}

// Reads an affinity. Values that are left out have defaults only if the processor kind can address
// the memory kind.
Affinity MachineReader::read_affinity(const JsonPlace& place, const NodeType& node) {
  if (!json_.is_object(place, keys::kAffinityKeys)) return {};
  const std::size_t before = json_.error_count();
  const ProcKind processor = required_processor(place, keys::kProcessor);
  const MemKind memory = required_memory(place, keys::kMemory);
  Affinity affinity{processor, memory, 0, 0};
  if (json_.failed_since(before)) return affinity;
  if (can_address(processor, memory)) affinity = make_affinity(figures_, node, processor, memory);
  affinity.bandwidth_bytes_per_s = rate_or(place, affinity.bandwidth_bytes_per_s);
  affinity.latency_s = number_or(place, keys::kLatency, affinity.latency_s);
  affinity.gap_bandwidth_bytes_per_s = number_or(place, keys::kGapBandwidth, 0);
  return affinity;
}

// Reads a channel. The defaults are those of the last channel in `defaults` that joins the same
// memories in the same scope.
Channel MachineReader::read_channel(const JsonPlace& place, const std::vector<Channel>& defaults) {
  if (!json_.is_object(place, keys::kChannelKeys)) return {};
  const std::size_t before = json_.error_count();
  const MemKind from = required_memory(place, keys::kFrom);
  const MemKind to = required_memory(place, keys::kTo);
  const auto scope =
      static_cast<Channel::Scope>(required_word(place, keys::kScope, keys::kScopeNames, "scope"));
  Channel channel{
      std::string(keys::kScopeNames[static_cast<std::size_t>(scope)]), from, to, scope, 1, 0, 0};
  if (json_.failed_since(before)) return channel;
  // A preset may have several channels between two memories, such as one within the node and one
  // between nodes. So the scope must agree, too.
  for (const Channel& known : defaults) {
    const bool joins =
        (known.from == from && known.to == to) || (known.from == to && known.to == from);
    if (joins && known.scope == scope) channel = known;
  }
  channel.from = from;
  channel.to = to;
  channel.name = text_or(place, keys::kName, channel.name);
  channel.links = integer_or(place, keys::kLinks, channel.links);
  channel.bandwidth_bytes_per_s = rate_or(place, channel.bandwidth_bytes_per_s);
  channel.latency_s = number_or(place, keys::kLatency, channel.latency_s);
  return channel;
}

// Reads one kind of node. Lists that are left out are computed from the processors, so a node
// without GPU processors gets no GPU memory.
NodeType MachineReader::read_node(const JsonPlace& place) {
  NodeType node;
  const std::size_t before = json_.error_count();
  if (!json_.is_object(place, keys::kNodeKeys)) return node;
  if (!json_.required(place, keys::kProcessors)) return node;
  node.processors = list_or<ProcessorGroup>(
      place, keys::kProcessors, {}, [&](const JsonPlace& at) { return read_processors(at); });
  NodeCounts counts = default_counts(figures_);
  // Kinds of processors that are not listed keep their default count, except GPUs.
  counts.processor_count_of(ProcKind::kGpu) = 0;
  for (const ProcessorGroup& group : node.processors)
    counts.processor_count_of(group.kind) = group.count;
  node.memories = list_or(place, keys::kMemories, make_memories(figures_, counts),
                          [&](const JsonPlace& at) { return read_memory(at, counts); });
  // Do not read the other lists after an error: their defaults depend on the processors.
  if (json_.failed_since(before)) return node;
  node.affinities = list_or(place, keys::kAffinities, make_affinities(figures_, node),
                            [&](const JsonPlace& at) { return read_affinity(at, node); });
  const std::vector<Channel> channels = make_channels(figures_, node);
  node.channels = list_or(place, keys::kChannels, channels,
                          [&](const JsonPlace& at) { return read_channel(at, channels); });
  return node;
}

// Reads one kind of node and its count. `ordered`: the list `order` gives the nodes, so a count is
// an error.
void MachineReader::add_nodes(const JsonPlace& place, bool ordered) {
  const std::size_t before = json_.error_count();
  NodeType type = read_node(place);
  const std::optional<JsonPlace> count = JsonReader::member(place, keys::kCount);
  const std::int64_t nodes = count ? json_.integer(*count) : 1;
  if (json_.failed_since(before)) return;
  // The figures of the node are checked here, because the place of the node in the file is known
  // here.
  if (const std::optional<NodeFault> fault = find_node_fault(type)) {
    return json_.fail(place, fault->message, {}, fault->path);
  }
  if (ordered && count)
    return json_.fail(*count, "`order` says how many nodes of each kind there are");
  // The nodes of all kinds together are limited.
  const std::int64_t room = kMaxNodes - static_cast<std::int64_t>(nodes_.size());
  if (nodes < 1 || nodes > room) {
    const std::string message =
        fmt::format("{} is not a count of nodes (1 to {})", nodes, kMaxNodes);
    return count ? json_.fail(*count, message) : json_.fail(place, message);
  }
  if (!ordered) {
    nodes_.insert(nodes_.end(), static_cast<std::size_t>(nodes),
                  static_cast<std::uint32_t>(types_.size()));
  }
  types_.push_back(std::move(type));
}

// Reads all kinds of nodes, then the list `order` if there is one.
void MachineReader::read_nodes(const JsonPlace& root) {
  const std::optional<JsonPlace> list = json_.required(root, keys::kNodes);
  const std::optional<JsonPlace> order = JsonReader::member(root, keys::kOrder);
  if (!list) return;
  const std::size_t size = json_.array(*list).size();
  if (size == 0 && list->value->array() != nullptr)
    json_.fail(*list, "a machine has at least one node");
  if (size > kMaxNodeTypes) {
    return json_.fail(*list, fmt::format("{} kinds of nodes; at most {}", size, kMaxNodeTypes));
  }
  for (std::size_t i = 0; i < size && !json_.has_max_errors(); ++i) {
    add_nodes(element(*list, i), order.has_value());
  }
  if (order && json_.ok()) read_order(*order);
}

// Reads the list of nodes, each an index of `nodes`.
void MachineReader::read_order(const JsonPlace& list) {
  const std::size_t size = json_.array(list).size();
  if (list.value->array() == nullptr) return;
  if (size == 0 || size > static_cast<std::size_t>(kMaxNodes)) {
    return json_.fail(list, fmt::format("{} is not a count of nodes (1 to {})", size, kMaxNodes));
  }
  for (std::size_t i = 0; i < size && !json_.has_max_errors(); ++i) {
    const JsonPlace place = element(list, i);
    const std::int64_t type = json_.integer(place);
    if (type < 0 || type >= static_cast<std::int64_t>(types_.size())) {
      json_.fail(place,
                 fmt::format("{} is not an index of `nodes` (0 to {})", type, types_.size() - 1));
    }
    nodes_.push_back(static_cast<std::uint32_t>(type));
  }
}

// Reads the computer on which figures were measured.
MeasuredComputer MachineReader::read_computer(const JsonPlace& place) {
  MeasuredComputer computer;
  if (!json_.is_object(place, keys::kComputerKeys)) return computer;
  computer.cpu_model = text_or(place, keys::kCpuModel, {});
  computer.cores = required_integer(place, keys::kCores);
  computer.numa_nodes = integer_or(place, keys::kNumaNodes, 1);
  return computer;
}

// Reads one measured figure. Without `low` and `high` its measurements do not differ.
MeasuredFigure MachineReader::read_figure(const JsonPlace& place) {
  MeasuredFigure figure;
  if (!json_.is_object(place, keys::kFigureKeys)) return figure;
  figure.what = required_text(place, keys::kFigure);
  figure.unit = required_text(place, keys::kFigureUnit);
  figure.value = required_number(place, keys::kFigureValue);
  figure.low = number_or(place, keys::kLow, figure.value);
  figure.high = number_or(place, keys::kHigh, figure.value);
  figure.repeats = integer_or(place, keys::kRepeats, 0);
  figure.source = required_text(place, keys::kSource);
  return figure;
}

// Reads the record of measurements. It is checked here, where its place in the file is known.
MachineMeasurement MachineReader::read_measurement(const JsonPlace& place) {
  MachineMeasurement measurement;
  const std::size_t before = json_.error_count();
  if (!json_.is_object(place, keys::kMeasuredKeys)) return measurement;
  if (const auto computer = json_.required(place, keys::kComputer))
    measurement.computer = read_computer(*computer);
  if (const auto list = JsonReader::member(place, keys::kFigures);
      list && json_.array(*list).size() > kMaxMeasuredFigures) {
    json_.fail(*list, fmt::format("{} figures; at most {}", json_.array(*list).size(),
                                  kMaxMeasuredFigures));
    return measurement;
  }
  measurement.figures = list_or<MeasuredFigure>(
      place, keys::kFigures, {}, [&](const JsonPlace& at) { return read_figure(at); });
  if (json_.failed_since(before)) return measurement;
  if (const std::optional<NodeFault> fault = find_measurement_fault(measurement))
    json_.fail(place, fault->message, {}, fault->path);
  return measurement;
}

// Reads the whole file. Errors of Machine::make get the file's name.
Result<Machine> MachineReader::read(const JsonValue& root) {
  const JsonPlace place{&root};
  if (json_.is_object(place, keys::kMachineKeys)) read_nodes(place);
  std::string name = text_or(place, keys::kName, name_.substr(0, kLongestDefaultName));
  std::string description = text_or(place, keys::kDescription, {});
  std::optional<MachineMeasurement> measurement;
  if (const auto measured = JsonReader::member(place, keys::kMeasured))
    measurement = read_measurement(*measured);
  if (!json_.ok()) return json_.error();
  Result<Machine> machine =
      Machine::make(std::move(name), std::move(description), std::move(types_), std::move(nodes_));
  if (machine && measurement) machine = machine->with_measurement(*std::move(measurement));
  if (machine) return machine;
  Error error = machine.error();
  error.message = fmt::format("`{}`: {}", name_, error.message);
  return error;
}

}  // namespace

// The limit on the size is checked before anything is parsed.
Result<Machine> machine_from_json(std::string_view text, std::string_view name) {
  if (text.size() > kMaxMachineFileBytes) {
    return Error{Error::Code::kTooLarge, fmt::format("`{}` has {} bytes; a machine has at most {}",
                                                     name, text.size(), kMaxMachineFileBytes)};
  }
  const Result<JsonValue> root = parse_json(text, name);
  if (!root) return root.error();
  return MachineReader(name).read(*root);
}

}  // namespace groma
