// make_machine: presets with parameters, lines of counts, and every way to get them wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "groma/machine.h"

namespace groma {
namespace {

Machine made(std::string_view spec) {
  Result<Machine> machine = make_machine(spec);
  EXPECT_TRUE(machine.ok()) << spec << ": " << (machine.ok() ? "" : machine.error().message);
  return std::move(machine).value();
}

Error refused(std::string_view spec) {
  const Result<Machine> machine = make_machine(spec);
  EXPECT_FALSE(machine.ok()) << spec;
  return machine.ok() ? Error{Error::Code::kUnreadable, ""} : machine.error();
}

TEST(MachineSpec, ParametersOfAPreset) {
  const Machine machine = made("lassen:nodes=16,zcmem=64");
  EXPECT_EQ(machine.name(), "lassen:nodes=16,zcmem=64");
  EXPECT_EQ(machine.node_count(), 16);
  EXPECT_EQ(machine.node(15).find(MemKind::kZcmem)->capacity_bytes, 64 << 20);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kGpu), 4);
}

TEST(MachineSpec, ALineOfCountsIsTheDefaultPresetWithThem) {
  const Machine machine = made("nodes=4,gpu=3,cpu=4,omp=2,io=1,py=5,zcmem=1");
  EXPECT_EQ(machine.name(), "nodes=4,gpu=3,cpu=4,omp=2,io=1,py=5,zcmem=1");
  EXPECT_EQ(machine.node_count(), 4);
  EXPECT_EQ(machine.processor_count(3, ProcKind::kGpu), 3);
  EXPECT_EQ(machine.processor_count(3, ProcKind::kCpu), 4);
  EXPECT_EQ(machine.processor_count(3, ProcKind::kOmp), 2);
  EXPECT_EQ(machine.processor_count(3, ProcKind::kIo), 1);
  EXPECT_EQ(machine.processor_count(3, ProcKind::kPy), 5);
  EXPECT_EQ(machine.node(0).find(MemKind::kFbmem)->count, 3);
  EXPECT_EQ(machine.node(0).find(MemKind::kZcmem)->capacity_bytes, 1 << 20);
  EXPECT_EQ(made("nodes=1").node(0), made("p100x4").node(0));
}

TEST(MachineSpec, SpacesAndOrderDoNotMatter) {
  EXPECT_EQ(made(" gpu = 2 ,nodes=3 "), made("nodes=3,gpu=2"));
  EXPECT_EQ(made("lassen : nodes=2"), made("lassen:nodes=2"));
}

TEST(MachineSpec, WithoutGpusNoFramebufferAndNoZeroCopy) {
  const Machine machine = made("gpu=0,cpu=4");
  EXPECT_FALSE(machine.has(ProcKind::kGpu));
  EXPECT_TRUE(machine.uniform(ProcKind::kGpu));
  EXPECT_EQ(machine.node(0).find(MemKind::kFbmem), nullptr);
  EXPECT_EQ(machine.node(0).find(MemKind::kZcmem), nullptr);
  for (const Channel& channel : machine.node(0).channels) EXPECT_NE(channel.name, "pcie");
  EXPECT_FALSE(machine.can_address(0, ProcKind::kCpu, MemKind::kZcmem));
}

TEST(MachineSpec, NoZeroCopyMemoryWhereNoneIsAsked) {
  EXPECT_EQ(made("zcmem=0").node(0).find(MemKind::kZcmem), nullptr);
}

TEST(MachineSpec, MemoriesAsLargeAsARunHasThem) {
  const Machine machine = made("nodes=2,gpu=0,cpu=4,omp=0,sysmem=2000,sockmem=0,rdmem=0");
  EXPECT_EQ(machine.node(1).memories.size(), 1U);
  EXPECT_EQ(machine.node(1).find(MemKind::kSysmem)->capacity_bytes, std::int64_t{2000} << 20);
  for (const Channel& channel : machine.node(0).channels) {
    EXPECT_EQ(channel.from, MemKind::kSysmem);
    EXPECT_EQ(channel.to, MemKind::kSysmem);
  }
  const NodeType node = made("lassen:sockmem=3,rdmem=5,fbmem=256").node(0);
  EXPECT_EQ(node.find(MemKind::kSockmem)->capacity_bytes, 3 << 20);
  EXPECT_EQ(node.find(MemKind::kSockmem)->count, 2);
  EXPECT_EQ(node.find(MemKind::kRdmem)->capacity_bytes, 5 << 20);
  EXPECT_EQ(node.find(MemKind::kFbmem)->capacity_bytes, 256 << 20);
  EXPECT_EQ(node.find(MemKind::kFbmem)->count, 4);
  EXPECT_EQ(refused("sysmem=0").code, Error::Code::kMalformed);
  EXPECT_EQ(refused("fbmem=0").code, Error::Code::kMalformed);
}

TEST(MachineSpec, SocketsHaveEachAMemoryAndAnOmpProcessor) {
  for (const std::int64_t sockets : {1, 2, 4, 64}) {
    const Machine machine = made("sockets=" + std::to_string(sockets));
    EXPECT_EQ(machine.node(0).find(MemKind::kSockmem)->count, sockets);
    EXPECT_EQ(machine.processors_per_node(ProcKind::kOmp), sockets);
    EXPECT_EQ(machine.node(0).find(MemKind::kSysmem)->capacity_bytes,
              made("nodes=1").node(0).find(MemKind::kSysmem)->capacity_bytes);
  }
  EXPECT_EQ(made("sockets=4,omp=1").processors_per_node(ProcKind::kOmp), 1);
  EXPECT_EQ(refused("sockets=0").code, Error::Code::kMalformed);
  EXPECT_EQ(refused("sockets=65").code, Error::Code::kMalformed);
}

// What the line of a machine makes has all that it says.
TEST(MachineSpec, TheLineOfAMachineMakesItAgain) {
  for (const char* spec :
       {"p100x4", "lassen:nodes=16,zcmem=64", "summit", "a100x8", "h200x8:sockets=1",
        "nodes=1,gpu=0,cpu=4,omp=0,sysmem=2000,sockmem=0,rdmem=0", "io=2,py=1,zcmem=0",
        "nodes=3,sockets=5,sockmem=7"}) {
    const Machine machine = made(spec);
    const std::string line = machine_line(machine);
    const Machine again = made(line);
    EXPECT_EQ(machine_line(again), line) << spec;
    ASSERT_EQ(again.node(0).memories.size(), machine.node(0).memories.size()) << line;
    for (const MemoryGroup& group : machine.node(0).memories) {
      const MemoryGroup* same = again.node(0).find(group.kind);
      ASSERT_NE(same, nullptr) << line;
      EXPECT_EQ(same->count, group.count) << line;
      EXPECT_EQ(same->capacity_bytes >> 20, group.capacity_bytes >> 20) << line;
    }
    for (const ProcessorGroup& group : machine.node(0).processors) {
      EXPECT_EQ(again.processors_per_node(group.kind), group.count) << line;
    }
    EXPECT_EQ(again.node_count(), machine.node_count());
  }
  EXPECT_EQ(machine_line(made("gpu=0,cpu=4,omp=0,sysmem=2000,sockmem=0,rdmem=0")),
            "nodes=1,gpu=0,cpu=4,omp=0,sysmem=2000,sockmem=0,rdmem=0");
}

TEST(MachineSpec, OmpProcessorsShareTheSockets) {
  const double socket = made("omp=2").node(0).find(ProcKind::kOmp)->flops_per_s;
  EXPECT_EQ(made("omp=1").node(0).find(ProcKind::kOmp)->flops_per_s, socket);
  EXPECT_EQ(made("omp=4").node(0).find(ProcKind::kOmp)->flops_per_s, socket / 2);
}

double bandwidth(const NodeType& node, ProcKind processor, MemKind memory) {
  for (const Affinity& affinity : node.affinities) {
    if (affinity.processor == processor && affinity.memory == memory)
      return affinity.bandwidth_bytes_per_s;
  }
  return 0;
}

// The pages of such a memory are spread evenly over two sockets, whose link carries 20 GB/s.
TEST(MachineSpec, MemoryOfAllSocketsIsReadOverTheirLink) {
  const NodeType node = made("p100x4").node(0);
  const double core = bandwidth(node, ProcKind::kCpu, MemKind::kSockmem);
  const double socket = bandwidth(node, ProcKind::kOmp, MemKind::kSockmem);
  ASSERT_LT(core, 20e9);
  ASSERT_GT(socket, 20e9);
  EXPECT_DOUBLE_EQ(bandwidth(node, ProcKind::kCpu, MemKind::kSysmem), core);
  EXPECT_DOUBLE_EQ(bandwidth(node, ProcKind::kOmp, MemKind::kSysmem), 2 / (1 / socket + 1 / 20e9));
}

TEST(MachineSpec, TheBounds) {
  EXPECT_EQ(made("nodes=1048576,gpu=1").node_count(), kMaxNodes);
  EXPECT_EQ(made("cpu=65536,gpu=0,omp=0").processors_per_node(ProcKind::kCpu), 65536);
  EXPECT_EQ(refused("nodes=1048577").code, Error::Code::kMalformed);
  EXPECT_EQ(refused("cpu=65537").code, Error::Code::kMalformed);
  EXPECT_EQ(refused("cpu=65536,gpu=65536").message,
            "node_types/0/processors: 131074 processors in one node; at most 65536");
  EXPECT_EQ(refused("gpu=0,cpu=0,omp=0").message,
            "node_types/0/processors: a node has at least one processor");
}

TEST(MachineSpec, UnknownNames) {
  const Error preset = refused("lasen:nodes=2");
  EXPECT_EQ(preset.code, Error::Code::kUnknown);
  EXPECT_EQ(preset.message, "there is no machine `lasen`");
  EXPECT_EQ(preset.help, "did you mean `lassen`?");
  EXPECT_EQ(refused("cray").help,
            "the presets are `p100x4`, `p100x4-nvlink`, `lassen`, `summit`, `a100x8` and `h200x8`");
  const Error parameter = refused("lassen:node=2");
  EXPECT_EQ(parameter.code, Error::Code::kUnknown);
  EXPECT_EQ(parameter.message, "a machine has no parameter `node`");
  EXPECT_EQ(parameter.help, "did you mean `nodes`?");
  EXPECT_EQ(refused("colour=2").help,
            "the parameters are `nodes`, `gpu`, `cpu`, `omp`, `io`, `py`, `sockets`, `sysmem`, "
            "`sockmem`, "
            "`rdmem`, `zcmem` and `fbmem`");
}

TEST(MachineSpec, BadValues) {
  EXPECT_EQ(refused("nodes=0").message, "`nodes` is `0`, which is not a count (1 to 1048576)");
  for (const char* value : {"", "-1", "+4", "4x", "0x4", "1e3", "4.0", "99999999999999999999"}) {
    const Error error = refused("p100x4:gpu=" + std::string(value));
    EXPECT_EQ(error.code, Error::Code::kMalformed);
    EXPECT_EQ(error.message,
              "`gpu` is `" + std::string(value) + "`, which is not a count (0 to 65536)");
  }
  EXPECT_EQ(refused("zcmem=16777217").code, Error::Code::kMalformed);
}

TEST(MachineSpec, BadShapes) {
  EXPECT_EQ(refused("").message, "the machine is empty");
  EXPECT_EQ(refused("  ").message, "the machine is empty");
  EXPECT_EQ(refused("gpu=4,gpu=4").message, "parameter `gpu` stands there twice");
  for (const char* spec : {"lassen:", "lassen:nodes", "nodes=2,", ",nodes=2", "nodes=2,,gpu=1"}) {
    EXPECT_EQ(refused(spec).code, Error::Code::kMalformed) << spec;
  }
  EXPECT_EQ(refused("=4").code, Error::Code::kUnknown);
  EXPECT_EQ(refused(":").code, Error::Code::kUnknown);
}

TEST(MachineSpec, LongAndBinaryTextFailsFastAndShort) {
  for (const std::string& spec :
       {std::string(10 << 20, 'a'), std::string(10 << 20, ','), std::string(10 << 20, '='),
        "gpu=" + std::string(10 << 20, '0'), "lassen:" + std::string(900, 'b') + "=1",
        std::string(900, '\xff'), "gpu=" + std::string(900, '\0')}) {
    const auto start = std::chrono::steady_clock::now();
    const Error error = refused(spec);
    EXPECT_LT(error.message.size(), 500U);  // a byte may take six
    EXPECT_LT(error.help.size(), 400U);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  }
}

}  // namespace
}  // namespace groma
