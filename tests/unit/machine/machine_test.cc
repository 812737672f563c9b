// Machine::make and the look-ups, on nodes made by hand.
#include "groma/machine.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "machine/node.h"

namespace groma {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

NodeType node_with(std::int64_t cpus, std::int64_t gpus) {
  NodeType node;
  node.processors.push_back({ProcKind::kCpu, cpus, 1e10, 0.5, 1e-6});
  node.memories.push_back({MemKind::kSysmem, 1, 1 << 30, 1e10});
  node.affinities.push_back({ProcKind::kCpu, MemKind::kSysmem, 1e10, 1e-7});
  if (gpus == 0) return node;
  node.processors.push_back({ProcKind::kGpu, gpus, 1e12, 1, 1e-6});
  node.memories.push_back({MemKind::kFbmem, gpus, 1 << 30, 1e11});
  node.memories.push_back({MemKind::kZcmem, 1, 0, 1e10});
  node.affinities.push_back({ProcKind::kGpu, MemKind::kFbmem, 1e11, 1e-7});
  node.affinities.push_back({ProcKind::kGpu, MemKind::kZcmem, 1e10, 1e-6});
  node.channels.push_back(
      {"pcie", MemKind::kSysmem, MemKind::kFbmem, Channel::Scope::kLocal, gpus, 1e10, 1e-5});
  return node;
}

std::string refusal(std::vector<NodeType> types, std::vector<std::uint32_t> nodes,
                    std::string name = "m") {
  const Result<Machine> machine =
      Machine::make(std::move(name), "", std::move(types), std::move(nodes));
  return machine.ok() ? "made" : machine.error().message;
}

// What make says of a good node, changed.
std::string refusal(const std::function<void(NodeType*)>& change) {
  NodeType node = node_with(4, 2);
  change(&node);
  return refusal({node}, {0});
}

TEST(Machine, UnequalNodes) {
  const Result<Machine> machine =
      Machine::make("m", "", {node_with(4, 2), node_with(8, 0), node_with(1, 1)}, {0, 1, 0});
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->node_count(), 3);
  EXPECT_EQ(machine->processor_count(1, ProcKind::kCpu), 8);
  EXPECT_EQ(machine->processor_count(1, ProcKind::kGpu), 0);
  EXPECT_EQ(machine->processors_per_node(ProcKind::kCpu), 4);  // type 2 is in no node
  EXPECT_EQ(machine->processors_per_node(ProcKind::kGpu), 0);
  EXPECT_FALSE(machine->uniform(ProcKind::kCpu));
  EXPECT_TRUE(machine->has(ProcKind::kGpu));
  EXPECT_FALSE(machine->has(ProcKind::kOmp));
  EXPECT_TRUE(machine->uniform(ProcKind::kOmp));
  EXPECT_TRUE(machine->can_address(0, ProcKind::kGpu, MemKind::kFbmem));
  EXPECT_FALSE(machine->can_address(0, ProcKind::kGpu, MemKind::kZcmem));  // it is empty
  EXPECT_FALSE(machine->can_address(1, ProcKind::kGpu, MemKind::kFbmem));
}

TEST(Machine, VirtualIsNoMemoryThatAProcessorAddresses) {
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    EXPECT_FALSE(can_address(static_cast<ProcKind>(k), MemKind::kVirtual));
  }
}

TEST(Machine, UnknownRatesBecomeTheDefaultPresets) {
  NodeType node;
  node.processors = {{ProcKind::kGpu, 1}, {ProcKind::kOmp, 2}, {ProcKind::kProc, 1}};
  node.memories = {{MemKind::kRegsockmem, 2, 1 << 20}, {MemKind::kFbmem, 1, 1 << 20}};
  const Result<Machine> machine = Machine::make("m", "", {node}, {0});
  ASSERT_TRUE(machine.ok());
  const Machine preset = make_machine("p100x4").value();
  const NodeType& filled = machine->node(0);
  for (const ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp}) {
    EXPECT_EQ(filled.find(kind)->flops_per_s, preset.node(0).find(kind)->flops_per_s);
  }
  EXPECT_EQ(filled.find(ProcKind::kProc)->flops_per_s,
            preset.node(0).find(ProcKind::kCpu)->flops_per_s);
  EXPECT_EQ(filled.find(MemKind::kRegsockmem)->bandwidth_bytes_per_s,
            preset.node(0).find(MemKind::kSockmem)->bandwidth_bytes_per_s);
}

// Memory of the whole node is spread evenly: one page of as many as there are sockets is near. On
// p100x4, whose figures these are, a near page takes 90 ns, another 140 ns.
TEST(Machine, MemoryOfAllSocketsIsAsFarAsItsPages) {
  for (const auto& [sockets, ns] :
       {std::pair(1.0, 90.0), std::pair(2.0, 115.0), std::pair(4.0, 127.5)}) {
    NodeFigures figures = default_figures();
    figures.sockets.value = sockets;
    const NodeType node = make_node(figures, default_counts(figures));
    for (const ProcKind processor : {ProcKind::kCpu, ProcKind::kOmp}) {
      for (const MemKind memory : {MemKind::kSysmem, MemKind::kZcmem, MemKind::kRdmem}) {
        EXPECT_NEAR(node.find(processor, memory)->latency_s, ns * 1e-9, 1e-15) << sockets;
      }
      EXPECT_DOUBLE_EQ(node.find(processor, MemKind::kSockmem)->latency_s, 90e-9) << sockets;
    }
  }
}

TEST(Machine, NodesThatAreNot) {
  EXPECT_EQ(refusal({node_with(1, 0)}, {}), "a machine has at least one node");
  EXPECT_EQ(refusal({node_with(1, 0)}, {0, 1}), "nodes/1: there is no node type 1 (there are 1)");
  EXPECT_EQ(refusal({}, {0}), "nodes/0: there is no node type 0 (there are 0)");
  EXPECT_EQ(refusal({node_with(1, 0)}, std::vector<std::uint32_t>(kMaxNodes + 1, 0)),
            "1048577 nodes; a machine has at most 1048576");
  EXPECT_EQ(refusal(std::vector<NodeType>(kMaxNodeTypes + 1, node_with(1, 0)), {0}),
            "4097 kinds of nodes; a machine has at most 4096");
  EXPECT_EQ(refusal({node_with(1, 0)}, {0}, ""), "a machine has a name");
  EXPECT_NE(refusal({node_with(1, 0)}, {0}, std::string(1 << 20, 'x')), "made");
}

TEST(Machine, WrongProcessors) {
  EXPECT_EQ(refusal([](NodeType* node) { node->processors[1].count = 0; }),
            "node_types/0/processors/1/count: 0 is not a count (1 to 65536)");
  EXPECT_EQ(refusal([](NodeType* node) { node->processors[1].kind = ProcKind::kCpu; }),
            "node_types/0/processors/1: CPU stands there twice, also at /processors/0");
  EXPECT_EQ(refusal([](NodeType* node) { node->processors[0].flops_per_s = kInfinity; }),
            "node_types/0/processors/0/flops_per_s: inf is not a rate (a number above 0)");
  EXPECT_EQ(
      refusal([](NodeType* node) { node->processors[0].sustained_fraction = 0; }),
      "node_types/0/processors/0/sustained_fraction: 0 is not a fraction (above 0, at most 1)");
  EXPECT_EQ(
      refusal([](NodeType* node) { node->processors[0].sustained_fraction = kNan; }),
      "node_types/0/processors/0/sustained_fraction: nan is not a fraction (above 0, at most 1)");
  EXPECT_EQ(refusal([](NodeType* node) { node->processors[0].launch_latency_s = -1; }),
            "node_types/0/processors/0/launch_latency_s: -1 is not a time (seconds, 0 or more)");
  EXPECT_EQ(refusal([](NodeType* node) { node->processors[0].kind = static_cast<ProcKind>(200); }),
            "node_types/0/processors/0/kind: no such processor kind");
  EXPECT_EQ(refusal([](NodeType* node) { *node = NodeType{}; }),
            "node_types/0/processors: a node has at least one processor");
}

TEST(Machine, WrongMemories) {
  EXPECT_EQ(refusal([](NodeType* node) { node->memories[0].kind = MemKind::kVirtual; }),
            "node_types/0/memories/0/kind: VIRTUAL is not a memory that a node has");
  EXPECT_EQ(refusal([](NodeType* node) { node->memories[0].count = 65537; }),
            "node_types/0/memories/0/count: 65537 is not a count (1 to 65536)");
  EXPECT_NE(refusal([](NodeType* node) { node->memories[0].capacity_bytes = -1; }), "made");
  EXPECT_NE(refusal([](NodeType* node) { node->memories[1].capacity_bytes = INT64_MAX; }), "made");
  EXPECT_NE(refusal([](NodeType* node) { node->memories[0].bandwidth_bytes_per_s = kNan; }),
            "made");
}

TEST(Machine, TheSumOfAllMemoriesFits) {
  NodeType node = node_with(1, 0);
  node.memories[0].capacity_bytes = std::int64_t{1} << 53;
  EXPECT_EQ(refusal({node}, std::vector<std::uint32_t>(512, 0)), "made");
  EXPECT_EQ(refusal({node}, std::vector<std::uint32_t>(513, 0)),
            "the machine has more than 4611686018427387904 bytes of SYSMEM");
}

TEST(Machine, WrongAffinitiesAndChannels) {
  EXPECT_EQ(refusal([](NodeType* node) { node->affinities[0].processor = ProcKind::kOmp; }),
            "node_types/0/affinities/0/processor: the node has no OMP");
  EXPECT_EQ(refusal([](NodeType* node) { node->affinities[0].memory = MemKind::kRdmem; }),
            "node_types/0/affinities/0/memory: the node has no RDMEM");
  EXPECT_EQ(refusal([](NodeType* node) { node->affinities[0].bandwidth_bytes_per_s = 0; }),
            "node_types/0/affinities/0/bandwidth_bytes_per_s: 0 is not a rate (a number above 0)");
  EXPECT_EQ(refusal([](NodeType* node) { node->affinities.push_back(node->affinities[0]); }),
            "node_types/0/affinities/3: CPU to SYSMEM stands there twice, also at /affinities/0");
  EXPECT_EQ(refusal([](NodeType* node) { node->channels[0].name.clear(); }),
            "node_types/0/channels/0/name: a channel's name has 1 to 64 bytes");
  EXPECT_EQ(refusal([](NodeType* node) { node->channels[0].to = MemKind::kSockmem; }),
            "node_types/0/channels/0/to: the node has no SOCKMEM");
  EXPECT_EQ(refusal([](NodeType* node) { node->channels[0].links = -3; }),
            "node_types/0/channels/0/links: -3 is not a count (1 to 65536)");
  EXPECT_EQ(refusal([](NodeType* node) {
              node->channels.push_back(node->channels[0]);
              std::swap(node->channels[1].from, node->channels[1].to);
            }),
            "node_types/0/channels/1: local pcie between FBMEM and SYSMEM stands there twice, also "
            "at /channels/0");
  EXPECT_EQ(refusal([](NodeType* node) { node->channels.resize(257, node->channels[0]); }),
            "node_types/0/channels: 257 channels; at most 256");
}

TEST(Machine, ListsItsProcessorsAndTheirMemories) {
  const Machine machine = make_machine("nodes=2,gpu=4,cpu=1,sockets=2").value();
  const std::vector<Processor> all = machine.processors();
  std::int64_t of_all_kinds = 0;
  for (const ProcessorGroup& group : machine.node(0).processors) of_all_kinds += 2 * group.count;
  EXPECT_EQ(static_cast<std::int64_t>(all.size()), of_all_kinds);
  std::vector<std::int64_t> sockets;
  for (const Processor& processor : all) {
    if (processor.node != 1 || processor.kind != ProcKind::kGpu) continue;
    const auto own = machine.memory_of(processor, MemKind::kFbmem);
    EXPECT_EQ(own, (Memory{MemKind::kFbmem, 1, processor.index}));
    EXPECT_FALSE(machine.memory_of(processor, MemKind::kSockmem));  // a GPU cannot address it
    sockets.push_back(processor.index);
  }
  EXPECT_EQ(sockets, (std::vector<std::int64_t>{0, 1, 2, 3}));
  const Machine shared = make_machine("nodes=1,gpu=0,cpu=5,sockets=2").value();
  std::vector<std::int64_t> memories;
  for (std::int64_t i = 0; i < 5; ++i) {
    memories.push_back(shared.memory_of({ProcKind::kCpu, 0, i}, MemKind::kSockmem)->index);
  }
  EXPECT_EQ(memories, (std::vector<std::int64_t>{0, 0, 0, 1, 1}));
}

TEST(MachineDeathTest, NodesOutsideTheMachineAreAMistakeOfTheCaller) {
  const Machine machine = make_machine("nodes=2").value();
  EXPECT_DEATH((void)machine.node(2),
               "wrong use of the library: the machine must have a node of this number");
  EXPECT_DEATH((void)machine.processor_count(-1, ProcKind::kCpu), "wrong use of the library");
}

}  // namespace
}  // namespace groma
