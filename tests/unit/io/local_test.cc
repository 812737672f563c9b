// This computer, and computers that hwloc makes up.
#include "io/local.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "groma/io.h"

namespace groma {
namespace {

Topology fresh() {
  hwloc_topology_t topology = nullptr;
  EXPECT_EQ(hwloc_topology_init(&topology), 0);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  return {topology, &hwloc_topology_destroy};
}

Machine synthetic(const char* description) {
  const Topology topology = fresh();
  EXPECT_EQ(hwloc_topology_set_synthetic(topology.get(), description), 0);
  EXPECT_EQ(hwloc_topology_load(topology.get()), 0);
  return machine_from_topology(topology.get()).value();
}

// One core, 1 GiB, and these devices.
Machine with_devices(const std::string& devices) {
  const std::string sets = R"( cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
      complete_nodeset="0x1")";
  const std::string xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" gp_index="1")" +
                          sets +
                          R"( allowed_cpuset="0x1" allowed_nodeset="0x1">
<object type="NUMANode" os_index="0" gp_index="2" local_memory="1073741824")" +
                          sets + R"(/><object type="Core" os_index="0" gp_index="3")" + sets +
                          R"(><object type="PU" os_index="0" gp_index="4")" + sets +
                          R"(/></object>
<object type="Bridge" gp_index="5" bridge_type="0-1" depth="0" bridge_pci="0000:[00-0f]">)" +
                          devices + "</object></object></topology>";
  const Topology topology = fresh();
  EXPECT_EQ(
      hwloc_topology_set_xmlbuffer(topology.get(), xml.c_str(), static_cast<int>(xml.size()) + 1),
      0);
  EXPECT_EQ(hwloc_topology_load(topology.get()), 0);
  return machine_from_topology(topology.get()).value();
}

std::string pci(int bus, const std::string& type, const std::string& inside = "") {
  const std::string number = std::to_string(bus);
  return "<object type=\"PCIDev\" gp_index=\"1" + number + "\" pci_busid=\"0000:0" + number +
         ":00.0\" pci_type=\"" + type + " [0000:0000] a1\" pci_link_speed=\"0\">" + inside +
         "</object>\n";
}

TEST(Local, ThisComputer) {
  const Result<Machine> machine = local_machine();
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(machine->name(), "local");
  EXPECT_EQ(machine->node_count(), 1);
  EXPECT_GE(machine->processors_per_node(ProcKind::kCpu), 1);
  EXPECT_GE(machine->processors_per_node(ProcKind::kOmp), 1);
  EXPECT_GT(machine->node(0).find(MemKind::kSysmem)->capacity_bytes, 1 << 20);
  EXPECT_EQ(machine_from_json(machine_to_json(*machine), "m").value(), *machine);
}

TEST(Local, TwoSockets) {
  const Machine machine = synthetic("Package:2 [NUMANode(memory=64GB)] Core:8 PU:2");
  EXPECT_EQ(machine.processors_per_node(ProcKind::kCpu), 16);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kOmp), 2);
  EXPECT_FALSE(machine.has(ProcKind::kGpu));
  const NodeType& node = machine.node(0);
  EXPECT_EQ(node.find(MemKind::kSysmem)->capacity_bytes, 128'000'000'000);
  EXPECT_EQ(node.find(MemKind::kSockmem)->count, 2);
  EXPECT_EQ(node.find(MemKind::kSockmem)->capacity_bytes, 64'000'000'000);
  EXPECT_EQ(node.find(MemKind::kFbmem), nullptr);
  EXPECT_EQ(node.find(ProcKind::kOmp)->flops_per_s, 8 * node.find(ProcKind::kCpu)->flops_per_s);
}

TEST(Local, HardlyAnythingSeen) {
  const Machine machine = synthetic("PU:3");
  EXPECT_EQ(machine.processors_per_node(ProcKind::kCpu), 3);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kOmp), 1);
  EXPECT_GT(machine.node(0).find(MemKind::kSysmem)->capacity_bytes, 0);
}

TEST(Local, MoreSocketsThanCoresIsNoTrouble) {
  const Machine machine = synthetic("NUMANode:4(memory=1GB) PU:1");
  EXPECT_EQ(machine.processors_per_node(ProcKind::kCpu), 4);
  EXPECT_EQ(machine.node(0).find(MemKind::kSockmem)->count, 4);
}

TEST(Local, GpusByPci) {
  const Machine machine = with_devices(pci(1, "0302 [10de:15f8]") + pci(2, "0300 [10de:15f8]") +
                                       pci(3, "0300 [1002:15f8]") + pci(4, "0200 [10de:15f8]"));
  EXPECT_EQ(machine.processors_per_node(ProcKind::kGpu), 2);
  EXPECT_EQ(machine.node(0).find(MemKind::kFbmem)->count, 2);
  EXPECT_TRUE(machine.can_address(0, ProcKind::kCpu, MemKind::kZcmem));
}

TEST(Local, GpusByCudaKnowTheirMemory) {
  const std::string cuda = R"(<object type="OSDev" gp_index="30" name="cuda0" subtype="CUDA"
      osdev_type="5"><info name="Backend" value="CUDA"/>
      <info name="CUDAGlobalMemorySize" value="1048576"/></object>
      <object type="OSDev" gp_index="31" name="nvml0" subtype="NVML" osdev_type="1">
      <info name="Backend" value="NVML"/></object>)";
  const Machine machine = with_devices(pci(1, "0302 [10de:15f8]", cuda));
  EXPECT_EQ(machine.processors_per_node(ProcKind::kGpu), 1);
  EXPECT_EQ(machine.node(0).find(MemKind::kFbmem)->capacity_bytes, 1 << 30);
}

// ---- Measured figures in a file

constexpr const char* kTwoCores = "Package:1 [NUMANode(memory=4GB)] Core:2 PU:1";

// Keeps what is logged.
class Lines final : public LogSink {
 public:
  void log(LogLevel level, std::string_view line) override {
    EXPECT_EQ(level, LogLevel::kWarning);
    lines.emplace_back(line);
  }
  std::vector<std::string> lines;
};

class MeasuredFile : public ::testing::Test {
 protected:
  ~MeasuredFile() override { std::filesystem::remove(path_); }

  // Writes a machine that was measured on a computer of so many cores.
  void write_measured(std::int64_t cores) {
    const Machine seen = synthetic(kTwoCores);
    NodeType node = seen.node(0);
    node.processors[0].flops_per_s = 123e9;
    const Machine measured = Machine::make("elsewhere", "measured by hand", {node}, {0})
                                 .value()
                                 .with_measurement({{"", cores, 1}, {}})
                                 .value();
    write(machine_to_json(measured));
  }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  Result<Machine> load(LogSink* log = nullptr) const {
    const Topology topology = fresh();
    EXPECT_EQ(hwloc_topology_set_synthetic(topology.get(), kTwoCores), 0);
    EXPECT_EQ(hwloc_topology_load(topology.get()), 0);
    return local_machine_of(topology.get(), path_, log);
  }

  const std::string path_ =
      ::testing::TempDir() + "groma_measured_" + std::to_string(getpid()) + ".json";
};

TEST_F(MeasuredFile, GivesTheMachine) {
  write_measured(2);
  Lines log;
  const Machine machine = load(&log).value();
  EXPECT_EQ(machine.name(), "local");
  EXPECT_EQ(machine.description(), "measured by hand");
  EXPECT_EQ(machine.node(0).find(ProcKind::kCpu)->flops_per_s, 123e9);
  EXPECT_EQ(machine.measurement()->computer.cores, 2);
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(MeasuredFile, OfAnotherComputerIsIgnoredWithAWord) {
  write_measured(8);
  Lines log;
  const Machine machine = load(&log).value();
  EXPECT_EQ(machine.node(0).find(ProcKind::kCpu)->flops_per_s, 38.4e9);
  EXPECT_FALSE(machine.measurement());
  const std::string remark =
      "`" + path_ +
      "` is not used: its figures were measured on a computer of 8 cores "
      "(unknown CPU), NUMA nodes 1, this one has 2 cores (unknown CPU), NUMA "
      "nodes 1";
  EXPECT_EQ(log.lines, std::vector<std::string>{remark});
  EXPECT_TRUE(machine.description().ends_with("; " + remark)) << machine.description();
  EXPECT_TRUE(load().ok());
}

TEST_F(MeasuredFile, MayBeMissing) { EXPECT_EQ(load().value(), synthetic(kTwoCores)); }

TEST_F(MeasuredFile, ThatIsDamagedIsAnError) {
  write("{\"nodes\": [");
  const Error broken = load().error();
  EXPECT_TRUE(broken.message.starts_with("`" + path_ + "`: line 1, column 12: ")) << broken.message;
  EXPECT_EQ(broken.help,
            "`groma machines calibrate --force` measures this computer again; without "
            "the file `" +
                path_ + "` the figures are those of `p100x4`");
  write(machine_to_json(synthetic(kTwoCores)));
  EXPECT_EQ(load().error().message, "`" + path_ + "`: `measured` is missing");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(load().error().code, Error::Code::kUnreadable);
}

TEST(LocalMachineFile, LiesInTheFolderForConfiguration) {
  const auto with = [](const char* config, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    };
    set("XDG_CONFIG_HOME", config);
    set("HOME", home);
    return local_machine_file();
  };
  EXPECT_EQ(with("/a/config", "/home/b"), "/a/config/groma/local.machine.json");
  EXPECT_EQ(with(nullptr, "/home/b"), "/home/b/.config/groma/local.machine.json");
  EXPECT_EQ(with("relative", "/home/b"), "/home/b/.config/groma/local.machine.json");
  EXPECT_EQ(with(nullptr, nullptr), "");
}

}  // namespace
}  // namespace groma
