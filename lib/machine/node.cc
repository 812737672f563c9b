// Computes a node's processors, memories, affinities and channels from the figures of a preset.
#include "machine/node.h"

#include <algorithm>
#include <initializer_list>

namespace groma {
namespace {

// The memories outside of GPUs.
constexpr std::initializer_list<MemKind> kHostKinds = {
    MemKind::kSysmem, MemKind::kSockmem, MemKind::kZcmem, MemKind::kRdmem, MemKind::kRegsockmem};

// Returns a figure that is a whole number as an integer.
std::int64_t whole(const SourcedNumber& figure) { return static_cast<std::int64_t>(figure.value); }

// Returns true for memories that belong to one socket instead of the whole node.
bool in_one_socket(MemKind kind) {
  return kind == MemKind::kSockmem || kind == MemKind::kRegsockmem;
}

std::int64_t count_of(const NodeType& node, ProcKind kind) {
  const ProcessorGroup* group = node.find(kind);
  return group == nullptr ? 0 : group->count;
}

// Returns the fraction of a socket that one OMP processor has: 1, or less if several share it.
double omp_share(const NodeFigures& figures, std::int64_t omp_count) {
  return std::min(
      1.0, figures.sockets.value / static_cast<double>(std::max<std::int64_t>(1, omp_count)));
}

// Returns the bandwidth to a memory whose pages are spread evenly over all sockets, in bytes/s. One
// part of the pages is in the near socket; the rest is reached over the socket link. The result is
// the harmonic mean of `local` and the link, weighted by the pages.
double spread_bandwidth(const NodeFigures& figures, double local) {
  const double near = 1 / figures.sockets.value;
  const double far = std::min(local, figures.intersocket_bandwidth.value);
  return 1 / (near / local + (1 - near) / far);
}

// Returns the mean latency to a memory that is spread over all sockets, in seconds.
double spread_latency(const NodeFigures& figures) {
  const double near = 1 / figures.sockets.value;
  return near * figures.local_latency.value + (1 - near) * figures.remote_latency.value;
}

// Returns how a GPU reaches a memory: its own directly, and every other one over the host link
// (zero-copy).
Affinity gpu_affinity(const NodeFigures& figures, MemKind memory) {
  if (memory == MemKind::kFbmem) {
    return {ProcKind::kGpu, memory, figures.gpu_bandwidth.value, figures.gpu_latency.value};
  }
  return {ProcKind::kGpu, memory, figures.zero_copy_bandwidth.value,
          figures.zero_copy_latency.value};
}

// Returns the bandwidth of one processor to the memory of its own socket, in bytes/s. A CPU
// processor is one core. An OMP processor has several, limited by its share of the socket.
double local_bandwidth(const NodeFigures& figures, const NodeType& node, ProcKind kind) {
  const double core = figures.core_bandwidth.value;
  if (kind != ProcKind::kOmp) return core;
  const double share = omp_share(figures, count_of(node, ProcKind::kOmp));
  const double cores = figures.cores_per_socket.value * share;
  return std::min(std::max(1.0, cores) * core, figures.socket_bandwidth.value * share);
}

// Returns the mean bandwidth from one GPU to the others, in bytes/s: the harmonic mean over the
// GPUs of its own socket and those of the other sockets.
double peer_bandwidth(const NodeFigures& figures, std::int64_t gpus) {
  // GPUs are distributed evenly over the sockets.
  const std::int64_t sockets = whole(figures.sockets);
  const std::int64_t in_socket = (gpus + sockets - 1) / sockets;
  const auto near = static_cast<double>(in_socket - 1);
  const auto far = static_cast<double>(gpus - in_socket);
  return (near + far) /
         (near / figures.peer_near_bandwidth.value + far / figures.peer_far_bandwidth.value);
}

// A list of channels between memories. add() leaves out a channel if the node lacks one of its
// memories, or if there are no links.
struct ChannelList {
  const NodeType& node;
  std::vector<Channel> channels;

  void add(std::string_view name, MemKind from, MemKind to, Channel::Scope scope,
           std::int64_t links, double bandwidth, double latency) {
    if (node.find(from) == nullptr || node.find(to) == nullptr || links < 1) return;
    channels.push_back({std::string(name), from, to, scope, links, bandwidth, latency});
  }
};

// Calls `use` with every unordered pair of different kinds of host memory.
template <typename Use>
void for_host_pairs(const Use& use) {
  for (auto from = kHostKinds.begin(); from != kHostKinds.end(); ++from) {
    for (auto to = from + 1; to != kHostKinds.end(); ++to) use(*from, *to);
  }
}

// Adds the channels between host memories: within a node, and between the sockets.
void add_host_channels(const NodeFigures& figures, ChannelList* list) {
  for_host_pairs([&](MemKind from, MemKind to) {
    list->add("dram", from, to, Channel::Scope::kLocal, whole(figures.sockets),
              figures.core_bandwidth.value, figures.host_copy_latency.value);
  });
  for (const MemKind kind : {MemKind::kSockmem, MemKind::kRegsockmem}) {
    const MemoryGroup* group = list->node.find(kind);
    if (group == nullptr || group->count < 2) continue;
    list->add(figures.socket_link, kind, kind, Channel::Scope::kPeer, 1,
              std::min(figures.core_bandwidth.value, figures.intersocket_bandwidth.value),
              figures.host_copy_latency.value);
  }
}

// Adds the channels between host and GPU memory, and between GPUs. Each GPU has a link of its own.
void add_gpu_channels(const NodeFigures& figures, ChannelList* list) {
  const MemoryGroup* framebuffers = list->node.find(MemKind::kFbmem);
  if (framebuffers == nullptr) return;
  for (const MemKind host : kHostKinds) {
    list->add(figures.host_link, host, MemKind::kFbmem, Channel::Scope::kLocal, framebuffers->count,
              figures.host_link_bandwidth.value, figures.gpu_copy_latency.value);
  }
  if (framebuffers->count < 2) return;
  list->add(figures.peer_link, MemKind::kFbmem, MemKind::kFbmem, Channel::Scope::kPeer,
            framebuffers->count, peer_bandwidth(figures, framebuffers->count),
            figures.gpu_copy_latency.value);
}

// Adds the channels between nodes. The latency is higher if GPU memory is at either end.
void add_network_channels(const NodeFigures& figures, ChannelList* list) {
  const auto add = [&](MemKind from, MemKind to, const SourcedNumber& latency) {
    list->add(figures.network, from, to, Channel::Scope::kNetwork, whole(figures.ports),
              figures.port_bandwidth.value, latency.value);
  };
  for (const MemKind kind : kHostKinds) add(kind, kind, figures.network_latency);
  for_host_pairs([&](MemKind from, MemKind to) { add(from, to, figures.network_latency); });
  for (const MemKind kind : kHostKinds) add(kind, MemKind::kFbmem, figures.network_gpu_latency);
  add(MemKind::kFbmem, MemKind::kFbmem, figures.network_gpu_latency);
}

}  // namespace

// Returns true if a runtime lets the processor kind address the memory kind. A GPU reaches FBMEM
// and ZCMEM; every other processor reaches everything except FBMEM. VIRTUAL is not a memory.
bool can_address(ProcKind processor, MemKind memory) {
  if (memory == MemKind::kVirtual) return false;
  if (processor != ProcKind::kGpu) return memory != MemKind::kFbmem;
  return memory == MemKind::kFbmem || memory == MemKind::kZcmem;
}

// Returns the counts and capacities (bytes) of the preset. `sockets` replaces the preset's number
// of sockets; the host memory is then divided among these.
NodeCounts default_counts(const NodeFigures& figures, std::optional<std::int64_t> sockets) {
  NodeCounts counts;
  counts.sockets = sockets.value_or(whole(figures.sockets));
  counts.processor_count_of(ProcKind::kCpu) = whole(figures.cpus);
  counts.processor_count_of(ProcKind::kGpu) = whole(figures.gpus);
  counts.processor_count_of(ProcKind::kOmp) = counts.sockets;
  const std::int64_t of_socket = whole(figures.host_bytes) / counts.sockets;
  counts.memory_bytes_of(MemKind::kSysmem) = whole(figures.host_bytes);
  counts.memory_bytes_of(MemKind::kSockmem) = counts.memory_bytes_of(MemKind::kRegsockmem) =
      of_socket;
  counts.memory_bytes_of(MemKind::kRdmem) = whole(figures.rdmem_bytes);
  counts.memory_bytes_of(MemKind::kZcmem) = whole(figures.zcmem_bytes);
  counts.memory_bytes_of(MemKind::kFbmem) = whole(figures.gpu_bytes);
  return counts;
}

// Returns the processors of one kind. An OMP processor has the speed of all its cores, at least
// one.
ProcessorGroup make_processors(const NodeFigures& figures, ProcKind kind, std::int64_t count) {
  if (kind == ProcKind::kGpu) {
    return {kind, count, figures.gpu_flops.value, figures.gpu_sustained.value,
            figures.gpu_start.value};
  }
  double cores = 1;
  if (kind == ProcKind::kOmp) cores = figures.cores_per_socket.value * omp_share(figures, count);
  return {kind, count, std::max(1.0, cores) * figures.core_flops.value, figures.cpu_sustained.value,
          figures.cpu_start.value};
}

// Returns the memories of one kind: one for each GPU or socket, otherwise one for the node.
MemoryGroup make_memory(const NodeFigures& figures, const NodeCounts& counts, MemKind kind) {
  const std::int64_t bytes = counts.memory_bytes_of(kind);
  const double all_sockets = figures.sockets.value * figures.socket_bandwidth.value;
  switch (kind) {
    case MemKind::kFbmem:
      return {kind, std::max<std::int64_t>(1, counts.processor_count_of(ProcKind::kGpu)), bytes,
              figures.gpu_bandwidth.value};
    case MemKind::kSockmem:
    case MemKind::kRegsockmem:
      return {kind, counts.sockets, bytes, figures.socket_bandwidth.value};
    case MemKind::kZcmem:
    case MemKind::kRdmem:
    case MemKind::kSysmem:
    case MemKind::kVirtual:
      break;
  }
  return {kind, 1, bytes, all_sockets};
}

// Returns the memories with a capacity. ZCMEM and FBMEM need GPUs.
std::vector<MemoryGroup> make_memories(const NodeFigures& figures, const NodeCounts& counts) {
  std::vector<MemoryGroup> memories;
  for (const MemKind kind :
       {MemKind::kSysmem, MemKind::kSockmem, MemKind::kZcmem, MemKind::kFbmem, MemKind::kRdmem}) {
    const bool of_gpus = kind == MemKind::kZcmem || kind == MemKind::kFbmem;
    if (of_gpus && counts.processor_count_of(ProcKind::kGpu) == 0) continue;
    if (counts.memory_bytes_of(kind) > 0) memories.push_back(make_memory(figures, counts, kind));
  }
  return memories;
}

// Returns how a processor kind reaches a memory kind of its node.
Affinity make_affinity(const NodeFigures& figures, const NodeType& node, ProcKind processor,
                       MemKind memory) {
  if (processor == ProcKind::kGpu) return gpu_affinity(figures, memory);
  const double local = local_bandwidth(figures, node, processor);
  if (in_one_socket(memory)) return {processor, memory, local, figures.local_latency.value};
  return {processor, memory, spread_bandwidth(figures, local), spread_latency(figures)};
}

// Every group of processors gets an affinity to every memory that it can address.
std::vector<Affinity> make_affinities(const NodeFigures& figures, const NodeType& node) {
  std::vector<Affinity> affinities;
  for (const ProcessorGroup& group : node.processors) {
    for (const MemoryGroup& memory : node.memories) {
      if (!can_address(group.kind, memory.kind)) continue;
      affinities.push_back(make_affinity(figures, node, group.kind, memory.kind));
    }
  }
  return affinities;
}

std::vector<Channel> make_channels(const NodeFigures& figures, const NodeType& node) {
  ChannelList list{node, {}};
  add_host_channels(figures, &list);
  add_gpu_channels(figures, &list);
  add_network_channels(figures, &list);
  return std::move(list.channels);
}

// Builds a node from figures and counts. A count of 0 leaves the kind out.
NodeType make_node(const NodeFigures& figures, const NodeCounts& counts) {
  NodeType node;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    if (counts.processor_count_of(kind) == 0) continue;
    node.processors.push_back(make_processors(figures, kind, counts.processor_count_of(kind)));
  }
  node.memories = make_memories(figures, counts);
  node.affinities = make_affinities(figures, node);
  node.channels = make_channels(figures, node);
  return node;
}

// Replaces rates of 0 by those of the default preset. Affinities and channels stay as they are.
void fill_unknown_rates(NodeType* node) {
  const NodeFigures& figures = default_figures();
  for (ProcessorGroup& group : node->processors) {
    if (group.flops_per_s > 0) continue;
    group.flops_per_s = make_processors(figures, group.kind, group.count).flops_per_s;
  }
  for (MemoryGroup& group : node->memories) {
    if (group.bandwidth_bytes_per_s > 0) continue;
    group.bandwidth_bytes_per_s = make_memory(figures, {}, group.kind).bandwidth_bytes_per_s;
  }
}

}  // namespace groma
