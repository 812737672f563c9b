// Describes this computer as a machine, with the help of hwloc.
#include "io/local.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "groma/io.h"
#include "groma/source.h"
#include "machine/node.h"

namespace groma {
namespace {

// The file of measured figures, in the folder for the configuration of the user's programs.
constexpr const char* kMeasuredFile = "/groma/local.machine.json";

// Ids of PCI: the vendor NVIDIA, and the classes of its GPUs with and without a display.
constexpr unsigned kNvidia = 0x10DE;
constexpr unsigned kClassVga = 0x0300;
constexpr unsigned kClass3d = 0x0302;

// The properties of the computer that hwloc reports.
struct DetectedHardware {
  std::int64_t cores = 1;
  std::int64_t sockets = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t gpus = 0;
  // The memory of the smallest GPU, or 0 if it is unknown.
  std::int64_t gpu_bytes = 0;
  std::string cpu_model;
};

// Returns the number of objects of this type. hwloc returns -1 if they are on several levels.
std::int64_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

// Returns the number of NUMA nodes with cores and memory. If there is none, returns the number of
// packages.
std::int64_t count_sockets(hwloc_topology_t topology) {
  std::int64_t with_memory = 0;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const bool has_cores = hwloc_bitmap_iszero(node->cpuset) == 0;
    if (has_cores && node->attr->numanode.local_memory > 0) ++with_memory;
  }
  return with_memory > 0 ? with_memory : count_of(topology, HWLOC_OBJ_PACKAGE);
}

// Returns the memory in bytes, as hwloc reports it, otherwise as the system does.
std::int64_t memory_of(hwloc_topology_t topology) {
  const hwloc_uint64_t seen = hwloc_get_root_obj(topology)->total_memory;
  if (seen > 0) return static_cast<std::int64_t>(std::min<hwloc_uint64_t>(seen, INT64_MAX));
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

// Returns true if the PCI device is an NVIDIA GPU.
bool is_nvidia_pci(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return pci.vendor_id == kNvidia && (pci.class_id == kClassVga || pci.class_id == kClass3d);
}

// Returns the number of NVIDIA GPUs on the PCI bus.
std::int64_t count_pci_gpus(hwloc_topology_t topology) {
  std::int64_t gpus = 0;
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(topology, device)) != nullptr) {
    if (is_nvidia_pci(device)) ++gpus;
  }
  return gpus;
}

// Returns true for an OS device that hwloc's plugin for `backend` ("CUDA", "NVML", "OpenCL") made
// for an NVIDIA GPU.
bool is_gpu_of(hwloc_obj_t device, std::string_view backend) {
  const char* found = hwloc_obj_get_info_by_name(device, "Backend");
  if (found == nullptr || backend != found) return false;
  if (backend != "OpenCL") return true;
  const char* vendor = hwloc_obj_get_info_by_name(device, "GPUVendor");
  return vendor != nullptr && std::string_view(vendor).starts_with("NVIDIA");
}

// Returns a GPU's memory in bytes, or 0 if unknown. hwloc reports it in KiB.
std::int64_t device_bytes(hwloc_obj_t device) {
  const char* kib = hwloc_obj_get_info_by_name(device, "CUDAGlobalMemorySize");
  const long long size = kib == nullptr ? 0 : std::strtoll(kib, nullptr, 10);
  return size > 0 && size < (1LL << 40) ? size * 1024 : 0;
}

// Counts the GPUs. A GPU appears once for each backend and once as a PCI device, so the largest of
// these counts is right. The memory is that of the smallest GPU.
void find_gpus(hwloc_topology_t topology, DetectedHardware* found) {
  found->gpus = count_pci_gpus(topology);
  // hwloc has a plugin for each backend, and each may miss some GPUs.
  for (const std::string_view backend : {"CUDA", "NVML", "OpenCL"}) {
    std::int64_t gpus = 0;
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_osdev(topology, device)) != nullptr) {
      if (!is_gpu_of(device, backend)) continue;
      ++gpus;
      const std::int64_t bytes = device_bytes(device);
      if (bytes > 0 && (found->gpu_bytes == 0 || bytes < found->gpu_bytes))
        found->gpu_bytes = bytes;
    }
    found->gpus = std::max(found->gpus, gpus);
  }
}

// Returns the model of the processor as hwloc reports it, or "" if it is unknown.
std::string cpu_model_of(hwloc_topology_t topology) {
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model =
      package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? std::string() : std::string(model).substr(0, 100);
}

// Reads the counts and sizes of the topology. They are limited so that the machine is valid.
DetectedHardware look(hwloc_topology_t topology) {
  DetectedHardware found;
  // Without cores in the topology, its hardware threads are counted.
  found.cores = count_of(topology, HWLOC_OBJ_CORE);
  if (found.cores == 0) found.cores = count_of(topology, HWLOC_OBJ_PU);
  found.cores = std::clamp<std::int64_t>(found.cores, 1, kMaxProcessorsPerNode / 4);
  found.sockets = std::clamp<std::int64_t>(count_sockets(topology), 1, found.cores);
  found.memory_bytes = memory_of(topology);
  find_gpus(topology, &found);
  found.gpus = std::min<std::int64_t>(found.gpus, kMaxProcessorsPerNode / 4);
  found.cpu_model = cpu_model_of(topology);
  return found;
}

// Returns the figures of the default preset, with the counts and sizes that were found in place of
// its own.
NodeFigures figures_of(const DetectedHardware& found) {
  constexpr std::string_view kSource = "measured: hwloc";
  NodeFigures figures = default_figures();
  const auto sockets = static_cast<double>(found.sockets);
  figures.sockets = {sockets, kSource};
  figures.cores_per_socket = {static_cast<double>(found.cores) / sockets, kSource};
  figures.cpus = {static_cast<double>(found.cores), kSource};
  figures.host_bytes = {static_cast<double>(found.memory_bytes), kSource};
  figures.gpus = {static_cast<double>(found.gpus), kSource};
  figures.ports = {0, "chosen: one computer needs no network"};
  if (found.gpu_bytes > 0) figures.gpu_bytes = {static_cast<double>(found.gpu_bytes), kSource};
  return figures;
}

// Returns the cores, sockets, memory and GPUs of the computer in words.
std::string parts_of(const DetectedHardware& found) {
  const std::string model = found.cpu_model.empty() ? "unknown CPU" : found.cpu_model;
  return fmt::format("{} cores ({}), sockets {}, memory {:.1f} GiB, GPUs {}", found.cores, model,
                     found.sockets, static_cast<double>(found.memory_bytes) / (1 << 30),
                     found.gpus);
}

// Returns the computer's machine with the figures of the default preset. `remark` is appended to
// its description.
Result<Machine> unmeasured_machine(const LocalComputer& computer, std::string_view remark) {
  return Machine::make(
      "local", fmt::format("this computer: {}; bandwidths as `p100x4`{}", computer.parts, remark),
      {make_node(computer.figures, default_counts(computer.figures))}, {0});
}

// Returns the identity of a computer in words: "8 cores (Some CPU), NUMA nodes 2".
std::string words_of(const MeasuredComputer& computer) {
  return fmt::format("{} cores ({}), NUMA nodes {}", computer.cores,
                     computer.cpu_model.empty() ? "unknown CPU" : computer.cpu_model,
                     computer.numa_nodes);
}

// Returns the error of a file of measurements that cannot be used, with its cure.
Error unusable(const std::string& path, Error error) {
  error.help = fmt::format(
      "`groma machines calibrate --force` measures this computer again; without the file `{}` "
      "the figures are those of `p100x4`",
      path);
  return error;
}

}  // namespace

Topology load_hwloc_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {nullptr, &hwloc_topology_destroy};
  Topology owned(topology, &hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(topology) != 0) owned.reset();
  return owned;
}

LocalComputer describe_computer(hwloc_topology_t topology) {
  const DetectedHardware found = look(topology);
  return {{found.cpu_model, found.cores, found.sockets}, figures_of(found), parts_of(found)};
}

Result<Machine> machine_from_topology(hwloc_topology_t topology) {
  return unmeasured_machine(describe_computer(topology), "");
}

// The measurements of another computer are ignored, because several computers may share the user's
// folder. A damaged file is an error, because ignoring it would change simulated times silently.
Result<Machine> local_machine_of(hwloc_topology_t topology, const std::string& measured,
                                 LogSink* log) {
  const LocalComputer computer = describe_computer(topology);
  struct stat status {};
  if (measured.empty() || (stat(measured.c_str(), &status) != 0 && errno == ENOENT))
    return unmeasured_machine(computer, "");
  const Result<std::string> text = read_file(measured, kMaxMachineFileBytes);
  if (!text) return unusable(measured, text.error());
  const Result<Machine> machine = machine_from_json(*text, measured);
  if (!machine) return unusable(measured, machine.error());
  if (!machine->measurement()) {
    return unusable(
        measured, {Error::Code::kMalformed, fmt::format("`{}`: `measured` is missing", measured)});
  }
  const MeasuredComputer& other = machine->measurement()->computer;
  if (other != computer.identity) {
    const std::string remark = fmt::format(
        "`{}` is not used: its figures were measured on a computer of {}, this one has {}",
        measured, words_of(other), words_of(computer.identity));
    if (log != nullptr) log->log(LogLevel::kWarning, remark);
    return unmeasured_machine(computer, "; " + remark);
  }
  Result<Machine> local =
      Machine::make("local", machine->description(), machine->node_types(), machine->nodes());
  return local ? local->with_measurement(*machine->measurement()) : local;
}

std::string local_machine_file() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  // The XDG specification ignores a relative path.
  if (config != nullptr && config[0] == '/') return std::string(config) + kMeasuredFile;
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::string(home) + "/.config" + kMeasuredFile;
}

Result<Machine> local_machine(LogSink* log) {
  const Topology topology = load_hwloc_topology();
  if (topology != nullptr) return local_machine_of(topology.get(), local_machine_file(), log);
  return Error{Error::Code::kUnreadable, "hwloc cannot see this computer",
               "describe it in a line such as `nodes=1,gpu=0,cpu=4`"};
}

}  // namespace groma
