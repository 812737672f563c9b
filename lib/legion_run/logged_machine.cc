// Reads the lists of processors and memories at the beginning of a mapper log, and builds a machine
// from them.
#include "legion_run/logged_machine.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "legion_run/log_lines.h"

namespace groma::inspect {
namespace {

// Legion's names for the kinds of processors and memories, in the order of ProcKind and MemKind.
constexpr std::string_view kProcessors[] = {"LOC_PROC", "TOC_PROC", "OMP_PROC",
                                            "IO_PROC",  "PY_PROC",  "PROC_SET"};
constexpr std::string_view kMemories[] = {"SYSTEM_MEM", "GPU_FB_MEM", "Z_COPY_MEM", "SOCKET_MEM",
                                          "REGDMA_MEM"};
// The largest number of processors and memories together that are kept.
constexpr std::size_t kMaxListed = 1 << 16;

// Returns the kind that a log calls `name`, by its index in the list `names`, or nullopt if the
// list does not have it.
template <typename Kind, std::size_t kCount>
std::optional<Kind> kind_named(const std::string_view (&names)[kCount], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Kind>(found - std::begin(names));
}

// Returns the node of a processor or memory: the bits 40 to 55 of an id of Realm, Legion's lower
// layer.
std::int64_t node_of(std::uint64_t id) { return static_cast<std::int64_t>(id >> 40 & 0xFFFF); }

// The beginning of a log line about a processor or memory: the id and the kind, as in "
// 1d00000000000001 (LOC_PROC)".
struct ListedDevice {
  std::uint64_t id = 0;
  std::string_view kind, rest;
};

// Parses the id and the kind at the beginning of a log line. Returns nullopt if the line does not
// begin so.
std::optional<ListedDevice> read_listed(std::string_view line) {
  line.remove_prefix(2);
  const auto own = take_until(line, " (");
  const auto kind = take_until(line, ")");
  const auto id = own ? read_id(*own) : std::nullopt;
  if (!id || !kind) return std::nullopt;
  return ListedDevice{*id, *kind, line};
}

// Increments the count of the group that has the same kind, or adds the group `one` if there is
// none.
template <typename Group>
void add_to_group(std::vector<Group>& groups, const Group& one) {
  const auto same = std::find_if(groups.begin(), groups.end(),
                                 [&](const Group& group) { return group.kind == one.kind; });
  if (same == groups.end()) {
    groups.push_back(one);
  } else {
    ++same->count;
  }
}

}  // namespace

// Returns true if one more processor or memory may be kept. Otherwise counts a log entry as left
// out.
bool LoggedMachine::has_room(LogLimits& limits) const {
  if (processors_.size() + memories_.size() < kMaxListed) return true;
  limits.leave_out();
  return false;
}

// Reads a log line about a processor. Several processes may list the same processor; the first line
// counts.
bool LoggedMachine::read_processor(std::string_view line, LogLimits& limits) {
  const auto listed = read_listed(line);
  if (!listed) return false;
  if (!has_room(limits)) return true;
  const auto kind = kind_named<ProcKind>(kProcessors, listed->kind);
  if (processors_.emplace(listed->id, kind).second) places_.clear();
  return true;
}

// Reads a log line about a memory: its id, its kind and its size in bytes.
bool LoggedMachine::read_memory(std::string_view line, LogLimits& limits) {
  auto listed = read_listed(line);
  if (!listed) return false;
  if (!has_room(limits)) return true;
  const auto bytes = take(listed->rest, ": ") ? take_until(listed->rest, " bytes") : std::nullopt;
  const auto capacity = bytes ? read_number<std::int64_t>(*bytes) : std::nullopt;
  if (!capacity) return false;
  memories_.emplace(listed->id, Memory{kind_named<MemKind>(kMemories, listed->kind), *capacity});
  return true;
}

// Returns the listed processors by their ids. For each processor, the result has its kind, its
// node, and its index among the processors of this kind in this node. The result is cached until
// another processor is added. Processors of kinds that the mapping language does not have are left
// out.
const std::map<std::uint64_t, Processor>& LoggedMachine::places() const {
  if (!places_.empty()) return places_;
  std::map<std::pair<std::int64_t, ProcKind>, std::int64_t> counts;
  for (const auto& [id, kind] : processors_) {
    if (!kind) continue;
    const std::int64_t node = node_of(id);
    places_[id] = {*kind, node, counts[{node, *kind}]++};
  }
  return places_;
}

std::optional<Processor> LoggedMachine::processor(std::uint64_t id) const {
  const auto found = places().find(id);
  return found == places().end() ? std::nullopt : std::optional(found->second);
}

std::optional<MemKind> LoggedMachine::memory_kind(std::uint64_t id) const {
  const auto found = memories_.find(id);
  return found == memories_.end() ? std::nullopt : found->second.kind;
}

std::int64_t LoggedMachine::node_count() const {
  std::set<std::int64_t> nodes;
  for (const auto& [id, kind] : processors_) nodes.insert(node_of(id));
  return std::ssize(nodes);
}

// Builds a machine with one node type for each node. Nodes must be numbered from 0 without gaps;
// otherwise the list of a process is missing and the result is nullopt.
std::optional<Machine> LoggedMachine::machine() const {
  std::map<std::int64_t, NodeType> nodes;
  for (const auto& [id, place] : places()) {
    add_to_group(nodes[place.node].processors, ProcessorGroup{place.kind, 1});
  }
  for (const auto& [id, memory] : memories_) {
    if (!memory.kind || memory.capacity_bytes <= 0) continue;
    add_to_group(nodes[node_of(id)].memories, MemoryGroup{*memory.kind, 1, memory.capacity_bytes});
  }
  std::vector<NodeType> types;
  std::vector<std::uint32_t> order;
  for (auto& [node, type] : nodes) {
    // A gap in the numbers of the nodes means that the list of a node is missing.
    if (node != std::ssize(order)) return std::nullopt;
    order.push_back(static_cast<std::uint32_t>(types.size()));
    types.push_back(std::move(type));
  }
  auto made = Machine::make("legion", "the machine of a mapper log", std::move(types), order);
  if (!made) return std::nullopt;
  return std::move(made).value();
}

}  // namespace groma::inspect
