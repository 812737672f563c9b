// The figures of the machine presets, each with its source. A later node is copied from the earlier
// one that it resembles, so a figure that is not set again has the same value and source.
#include "machine/figures.h"

namespace groma {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMiB = 1024.0 * 1024;
// The bytes in a gigabyte, or the bytes per second in a GB/s.
constexpr double kGB = 1e9;
constexpr double kGigaflops = 1e9;
constexpr double kTeraflops = 1e12;

// The node of the experiments in Wei et al., Improving Parallel Program Performance with LLM
// Optimizers via Agent-System Interfaces: two E5-2640 v4, 256 GB, four P100.
constexpr NodeFigures p100_pcie() {
  return {
      .sockets = {2, "published: Wei et al., Agent-System Interfaces, two Intel E5-2640 v4"},
      .cores_per_socket = {10,
                           "published: Wei et al., Agent-System Interfaces, 10-core E5-2640 v4"},
      .cpus = {16, "chosen: the node's cores less four for the runtime's own threads"},
      .core_flops = {38.4 * kGigaflops,
                     "arithmetic: 2.4 GHz base clock x 16 FP64 operations a cycle (2 AVX2 FMA)"},
      .cpu_sustained = {0.78, "recalled: about 300 of 384 GFLOP/s a socket at the AVX base clock"},
      .cpu_start = {5e-6, "recalled: order of what a Legion point task adds on a CPU"},
      .host_bytes = {256 * kGiB, "published: Wei et al., Agent-System Interfaces, 256 GB"},
      .core_bandwidth = {12 * kGB, "recalled: 10 to 14 GB/s copy of one core"},
      .socket_bandwidth =
          {44 * kGB,
           "measured: CSCS ReFrame STREAM reference for daint:gpu, E5-2690 v3 with the same four "
           "channels of DDR4-2133, compiled code (59.5 with non-temporal stores)"},
      .intersocket_bandwidth = {20 * kGB, "recalled: about 60 % of two QPI links"},
      .local_latency = {90e-9, "recalled: DRAM of the own socket"},
      .remote_latency = {140e-9, "recalled: DRAM of the other socket"},
      .host_copy_latency = {1e-6, "published: Realm's sources, whose copy planner assumes 1 us"},
      .rdmem_bytes = {512 * kMiB, "published: run flags of Legion logs on Lassen, -ll:rsize 512"},
      .zcmem_bytes = {2 * kGiB, "published: run flags of Regent logs on Lassen, -ll:zsize 2048"},
      .gpus = {4, "published: Wei et al., Agent-System Interfaces, four Tesla P100"},
      .gpu_flops = {4.7 * kTeraflops, "published: NVIDIA Tesla P100 PCIe 16 GB"},
      .gpu_sustained = {0.90,
                        "recalled: DGEMM of large tiles, about 4.3 TFLOP/s (moderate sizes: "
                        "3.35 measured by CSCS)"},
      .gpu_start = {6.6e-6, "measured: CSCS ReFrame kernel launch and synchronisation, P100"},
      .gpu_bytes = {16 * kGiB, "published: NVIDIA Tesla P100, 16 GB (the driver keeps some of it)"},
      .gpu_bandwidth = {499 * kGB,
                        "measured: CSCS ReFrame device-to-device copy, P100 PCIe (peak 732)"},
      .gpu_latency = {500e-9, "recalled: a load from device memory"},
      .zero_copy_bandwidth = {10.5 * kGB, "recalled: 0.85 to 0.9 of the measured host link"},
      .zero_copy_latency = {1e-6, "recalled: a load over the host link"},
      .host_link_bandwidth = {11.9 * kGB,
                              "measured: CSCS ReFrame host-to-device copy, PCIe 3 x16 (12.6 back)"},
      .peer_near_bandwidth = {10.5 * kGB, "recalled: PCIe peer copy under one root, 10 to 12 GB/s"},
      .peer_far_bandwidth = {7 * kGB, "recalled: PCIe peer copy across QPI, 6 to 9 GB/s"},
      .gpu_copy_latency = {9e-6, "recalled: small cudaMemcpyAsync with its event, 8 to 10 us"},
      .ports = {1, "chosen: the published node stands alone; one EDR port as in its day"},
      .port_bandwidth = {11.5 * kGB, "recalled: 11.5 to 12 usable of EDR's 12.5 GB/s"},
      .network_latency = {1.2e-6, "recalled: MPI over EDR, 1.0 to 1.3 us"},
      .network_gpu_latency = {6e-6, "recalled: GPU to GPU over EDR, 5 to 7 us"},
  };
}

// The host of p100_pcie() with P100 SXM2: a mesh of NVLink 1, one link for each pair of GPUs.
constexpr NodeFigures p100_nvlink() {
  NodeFigures node = p100_pcie();
  node.gpu_flops = {5.3 * kTeraflops, "published: NVIDIA Tesla P100 SXM2"};
  node.gpu_sustained = {0.90, "recalled: DGEMM of large tiles, about 4.9 TFLOP/s"};
  node.gpu_bandwidth = {550 * kGB, "recalled: device-to-device copy, P100 SXM2 (peak 720 to 732)"};
  node.peer_near_bandwidth = {18 * kGB, "recalled: usable of one NVLink 1 link's 20 GB/s"};
  node.peer_far_bandwidth = node.peer_near_bandwidth;
  node.peer_link = "nvlink";
  return node;
}

// Lassen (LLNL): two POWER9, four V100, three NVLink 2 links from each GPU to its socket and its
// peer.
constexpr NodeFigures lassen() {
  NodeFigures node = p100_pcie();
  node.sockets = {2, "recalled: LLNL Lassen, two IBM POWER9"};
  node.cores_per_socket = {20, "recalled: LLNL Lassen, 20 of 22 cores a socket for applications"};
  node.cpus = {36, node.cpus.source};
  node.core_flops = {24.56 * kGigaflops,
                     "recalled: 3.07 GHz x 8 FP64 operations a cycle of a POWER9 SMT4 core"};
  node.cpu_sustained = {0.80, "recalled: DGEMM of a good library"};
  node.host_bytes = {256 * kGiB, "recalled: LLNL Lassen, 256 GB of DDR4"};
  node.socket_bandwidth = {125 * kGB, "recalled: 120 to 135 usable of 170 GB/s"};
  node.intersocket_bandwidth = {26 * kGB,
                                "recalled: 80 % of the X bus (published: 64 GB/s both ways)"};
  node.gpus = {4, "recalled: LLNL Lassen, four V100"};
  node.gpu_flops = {7.5 * kTeraflops, "published: Summit overview, V100 SXM2 FP64"};
  node.gpu_sustained = {0.90, "recalled: DGEMM of large tiles, 6.8 to 7 TFLOP/s"};
  node.gpu_start = {7.15e-6, "measured: CSCS ReFrame kernel launch and synchronisation, V100"};
  node.gpu_bytes = {16 * kGiB, "published: NVIDIA V100, 16 GB (the driver keeps some of it)"};
  node.gpu_bandwidth = {777 * kGB, "measured: CSCS ReFrame device-to-device copy, V100 (peak 900)"};
  node.host_link_bandwidth = {67.5 * kGB, "recalled: 90 % of three NVLink 2 links' 75 GB/s"};
  node.zero_copy_bandwidth = {57 * kGB, "arithmetic: 0.85 of the host link"};
  node.peer_near_bandwidth = {67.5 * kGB, "recalled: 90 % of three NVLink 2 links' 75 GB/s"};
  node.peer_far_bandwidth = {26 * kGB, "arithmetic: over the X bus, as between the sockets"};
  node.ports = {2, "recalled: LLNL Lassen, dual-rail EDR"};
  node.socket_link = "xbus";
  node.host_link = "nvlink-host";
  node.peer_link = "nvlink";
  return node;
}

// Summit (OLCF): like Lassen, but with six V100, two links for each instead of three, and twice the
// memory.
constexpr NodeFigures summit() {
  NodeFigures node = lassen();
  node.sockets = {2, "published: OLCF Summit, two IBM POWER9"};
  node.cores_per_socket = {21, "recalled: OLCF Summit, 21 of 22 cores a socket for applications"};
  node.cpus = {38, node.cpus.source};
  node.host_bytes = {512 * kGiB, "published: OLCF Summit, 512 GB of DDR4"};
  node.gpus = {6, "published: OLCF Summit, six V100"};
  node.host_link_bandwidth = {45 * kGB,
                              "recalled: 90 % of two NVLink 2 links (published: 50 GB/s)"};
  node.zero_copy_bandwidth = {40 * kGB, "recalled: V100 over NVLink 2 to POWER9, 40 to 45 GB/s"};
  node.peer_near_bandwidth = {45 * kGB, "recalled: 90 % of two NVLink 2 links' 50 GB/s"};
  node.ports = {2, "published: OLCF Summit, dual-rail EDR"};
  return node;
}

// DGX A100 with 40 GB GPUs. Measurements exist for this size.
constexpr NodeFigures a100() {
  NodeFigures node = p100_pcie();
  node.sockets = {2, "published: NVIDIA DGX A100, two AMD EPYC 7742"};
  node.cores_per_socket = {64, "published: AMD EPYC 7742"};
  node.cpus = {124, node.cpus.source};
  node.core_flops = {36 * kGigaflops,
                     "arithmetic: 2.25 GHz base clock x 16 FP64 operations a cycle (2 AVX2 FMA)"};
  node.cpu_sustained = {0.80, "recalled: DGEMM of a good library"};
  node.host_bytes = {1024 * kGiB, "published: NVIDIA DGX A100 320 GB, 1 TB of system memory"};
  node.socket_bandwidth = {150 * kGB, "recalled: about 73 % of eight channels of DDR4-3200"};
  node.intersocket_bandwidth = {70 * kGB, "recalled: usable of the links between two EPYC 7742"};
  node.gpus = {8, "published: NVIDIA DGX A100, eight A100"};
  node.gpu_flops = {19.5 * kTeraflops,
                    "published: NVIDIA A100, FP64 tensor cores (9.7 without them)"};
  node.gpu_sustained = {0.90,
                        "recalled: DGEMM on tensor cores, 17 to 18 TFLOP/s (10.5 measured by "
                        "CSCS without them)"};
  node.gpu_start = {9.65e-6, "measured: CSCS ReFrame kernel launch and synchronisation, A100"};
  node.gpu_bytes = {40 * kGiB, "published: NVIDIA A100, 40 GB (the driver keeps some of it)"};
  node.gpu_bandwidth = {1322 * kGB,
                        "measured: CSCS ReFrame device-to-device copy, A100 (peak 1555)"};
  node.host_link_bandwidth = {25.5 * kGB,
                              "measured: CSCS ReFrame host-to-device copy, PCIe 4 x16 (26.2 back)"};
  node.zero_copy_bandwidth = {22 * kGB, "arithmetic: 0.87 of the host link"};
  node.peer_near_bandwidth = {282 * kGB, "measured: peer copy over NVSwitch, A100 (peak 300)"};
  node.peer_far_bandwidth = node.peer_near_bandwidth;
  node.ports = {8, "published: NVIDIA DGX A100, eight 200 Gb/s ports for computing"};
  node.port_bandwidth = {23 * kGB, "arithmetic: 0.92 of HDR's 25 GB/s, as of EDR"};
  node.network_latency = {1e-6, "recalled: MPI over HDR, 0.9 to 1.2 us"};
  node.network_gpu_latency = {6e-6, "recalled: GPU to GPU, as over EDR"};
  node.socket_link = "xgmi";
  node.peer_link = "nvlink";
  return node;
}

// A DGX H200. Figures that are not set here are those of the DGX A100.
constexpr NodeFigures h200() {
  NodeFigures node = a100();
  node.sockets = {2, "published: NVIDIA DGX H200, two Intel Xeon Platinum 8480C"};
  node.cores_per_socket = {56, "published: NVIDIA DGX H200, 112 cores in all"};
  node.cpus = {108, node.cpus.source};
  node.core_flops = {64 * kGigaflops,
                     "arithmetic: 2.0 GHz base clock x 32 FP64 operations a cycle (2 AVX-512 FMA)"};
  node.host_bytes = {2048 * kGiB, "published: NVIDIA DGX H200, 2 TB of system memory"};
  node.socket_bandwidth = {230 * kGB, "recalled: about 75 % of eight channels of DDR5-4800"};
  node.intersocket_bandwidth = {80 * kGB, "recalled: usable of three UPI links"};
  node.gpus = {8, "published: NVIDIA DGX H200, eight H200"};
  node.gpu_flops = {67 * kTeraflops, "published: NVIDIA H200, FP64 tensor cores (34 without them)"};
  constexpr std::string_view kMeasured =
      "measured: benchmarks/gpu_figures.cu, one H200 of a virtual machine";
  node.gpu_sustained = {
      0.96, "measured: DGEMM of 8192 rows, 64.4 TFLOP/s (benchmarks/gpu_figures.cu, one H200)"};
  node.gpu_start = {10.9e-6, kMeasured};
  node.gpu_bytes = {139 * kGiB,
                    "published: NVIDIA H200, 141 GB, of which programs see about 139 GiB"};
  node.gpu_bandwidth = {3690 * kGB, kMeasured};
  node.gpu_latency = {318e-9, kMeasured};
  node.host_link_bandwidth = {54.7 * kGB, kMeasured};
  node.zero_copy_bandwidth = {50.8 * kGB, kMeasured};
  node.zero_copy_latency = {1.2e-6, kMeasured};
  node.gpu_copy_latency = {12e-6, kMeasured};
  node.peer_near_bandwidth = {
      380 * kGB, "measured: one-way peer copy, H100 with the same NVLink 4 (peak 450)"};
  node.peer_far_bandwidth = node.peer_near_bandwidth;
  node.ports = {8, "published: NVIDIA DGX H200, eight 400 Gb/s ports for computing"};
  node.port_bandwidth = {46 * kGB, "arithmetic: 0.92 of NDR's 50 GB/s, as of EDR"};
  node.network_latency = {1e-6, "recalled: MPI over NDR, 0.9 to 1.2 us"};
  node.socket_link = "upi";
  return node;
}

// The presets in the order of `groma machines`. The first one is the default.
constexpr PresetEntry kPresets[] = {
    {"p100x4", "a node with 2 x E5-2640 v4, 4 x P100 PCIe and 256 GB, as Wei et al. used",
     p100_pcie()},
    {"p100x4-nvlink", "a node like that of p100x4, but with 4 x P100 SXM2 that NVLink joins",
     p100_nvlink()},
    {"lassen", "a node of the supercomputer Lassen at LLNL: 2 x POWER9, 4 x V100 on NVLink, 256 GB",
     lassen()},
    {"summit", "a node of the supercomputer Summit at OLCF: 2 x POWER9, 6 x V100 on NVLink, 512 GB",
     summit()},
    {"a100x8", "NVIDIA DGX A100: 2 x EPYC 7742, 8 x A100 40 GB on NVSwitch, 1 TB", a100()},
    {"h200x8", "NVIDIA DGX H200: 2 x Xeon 8480C, 8 x H200 on NVSwitch, 2 TB", h200()},
};

}  // namespace

std::span<const PresetEntry> preset_entries() { return kPresets; }

const NodeFigures& default_figures() { return kPresets[0].figures; }

}  // namespace groma
