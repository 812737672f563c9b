// Measures kernels over a tetrahedron and a three-dimensional Sierpinski gasket on GPU 0: threads for
// each cell of the box, which test whether their cell is in the domain, and threads for each point,
// which use the map that `groma domain emit --language cuda` wrote. Each point increments a counter
// atomically. Prints time and energy in Markdown:
//
//   groma_domain_kernels > domain_kernels.md
//
// The counters of both kernels are compared; a difference ends the program with exit code 1. Each
// kernel is repeated for at least a second. Energy is that of NVML, without what the idle GPU uses.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "arguments.h"
#include "sierpinski3.cuh"
#include "tetrahedron.cuh"

namespace {

constexpr double kSeconds = 1.0;
constexpr int kSamples = 11;
constexpr std::int64_t kCounters = std::int64_t{1} << 20;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "domain_kernels: %s\n", why.c_str());
  std::exit(1);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

void wait() {
  check(cudaGetLastError(), "a kernel launch");
  check(cudaDeviceSynchronize(), "a kernel");
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- Energy

// Reads the energy of GPU 0 from the library of the driver, without its header.
class EnergyMeter {
 public:
  EnergyMeter() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto by_bus = reinterpret_cast<int (*)(const char*, void**)>(
        dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
    read_ = reinterpret_cast<Read>(dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
    char bus[32] = "";
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), "the bus of the GPU");
    if (init == nullptr || by_bus == nullptr || init() != 0 || by_bus(bus, &device_) != 0) {
      read_ = nullptr;
    }
    if (joules() < 0) read_ = nullptr;
  }
  // Returns the energy in J since the driver was loaded, or a negative number if it is not known.
  double joules() const {
    unsigned long long millijoules = 0;
    if (read_ == nullptr || read_(device_, &millijoules) != 0) return -1;
    return static_cast<double>(millijoules) * 1e-3;
  }
  // Returns the power of the idle GPU in W. Takes two seconds.
  double idle_watts() const {
    const double begin = now(), before = joules();
    while (now() - begin < 2) {
    }
    return joules() < 0 ? -1 : (joules() - before) / (now() - begin);
  }

 private:
  using Read = int (*)(void*, unsigned long long*);
  Read read_ = nullptr;
  void* device_ = nullptr;
};

// ---- Kernels

struct Tetrahedron {
  static constexpr const char* kName = "tetrahedron x <= y <= z";
  static constexpr std::int64_t kSide = DOMAIN_SIDE_TETRAHEDRON, kCount = tetrahedron_count;
  __device__ static bool inside(int x, int y, int z) { return x <= y && y <= z; }
  template <typename F>
  static void launch(F f) {
    check(tetrahedron_launch(f), "the map's kernel");
  }
};

struct Gasket {
  static constexpr const char* kName = "3-D Sierpinski gasket";
  static constexpr std::int64_t kSide = DOMAIN_SIDE_SIERPINSKI3, kCount = sierpinski3_count;
  __device__ static bool inside(int x, int y, int z) {
    return ((x & y) | (y & z) | (x & z)) == 0;
  }
  template <typename F>
  static void launch(F f) {
    check(sierpinski3_launch(f), "the map's kernel");
  }
};

// Increments the counter of a cell. Cells share counters, as there are fewer of them.
template <std::int64_t kSide>
struct Increment {
  unsigned* counters;
  __device__ void operator()(std::int64_t, std::int64_t x, std::int64_t y, std::int64_t z) const {
    atomicAdd(&counters[((z * kSide + y) * kSide + x) % kCounters], 1U);
  }
};

template <typename D>
__global__ void box_kernel(Increment<D::kSide> increment) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x < D::kSide && y < D::kSide && z < D::kSide && D::inside(x, y, z)) increment(0, x, y, z);
}

template <typename D>
void launch_box(Increment<D::kSide> increment) {
  const dim3 threads(8, 8, 4);
  const auto side = static_cast<unsigned>(D::kSide);
  box_kernel<D><<<dim3((side + 7) / 8, (side + 7) / 8, (side + 3) / 4), threads>>>(increment);
}

// ---- Measurement

struct Figures {
  double ms = 0, lowest_ms = 0, highest_ms = 0;
  // The energy of a launch, with and without that of the idle GPU. Negative: not known.
  double joules = -1, net_joules = -1;
};

template <typename F>
Figures measure(F run, const EnergyMeter& meter, double idle_watts) {
  run();
  wait();
  int calls = 1;
  for (double took = 0; took < kSeconds / kSamples;) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) run();
    wait();
    took = now() - begin;
    if (took < kSeconds / kSamples) calls *= 2;
  }
  std::vector<double> times;
  const double begin = now(), before = meter.joules();
  for (int s = 0; s < kSamples; ++s) {
    const double sample = now();
    for (int i = 0; i < calls; ++i) run();
    wait();
    times.push_back((now() - sample) * 1e3 / calls);
  }
  const double took = now() - begin, after = meter.joules();
  std::sort(times.begin(), times.end());
  Figures figures{times[kSamples / 2], times.front(), times.back()};
  if (before >= 0 && after >= before) {
    figures.joules = (after - before) / (kSamples * calls);
    figures.net_joules = (after - before - idle_watts * took) / (kSamples * calls);
  }
  return figures;
}

std::vector<unsigned> counters_of(const unsigned* counters) {
  std::vector<unsigned> host(kCounters);
  check(cudaMemcpy(host.data(), counters, kCounters * sizeof *counters, cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  return host;
}

void print(const char* kernel, const Figures& figures) {
  std::printf("| | %s | %.4f (%.4f to %.4f) |", kernel, figures.ms, figures.lowest_ms,
              figures.highest_ms);
  if (figures.joules < 0) {
    std::printf(" not measured | not measured |\n");
  } else {
    std::printf(" %.6f | %.6f |\n", figures.joules, figures.net_joules);
  }
}

template <typename D>
void measure_domain(unsigned* counters, const EnergyMeter& meter, double idle_watts) {
  const Increment<D::kSide> increment{counters};
  const auto clear = [&] {
    check(cudaMemset(counters, 0, kCounters * sizeof *counters), "cudaMemset");
  };
  clear();
  launch_box<D>(increment);
  wait();
  const std::vector<unsigned> by_box = counters_of(counters);
  clear();
  D::launch(increment);
  wait();
  const std::vector<unsigned> by_map = counters_of(counters);
  const auto sum = std::accumulate(by_map.begin(), by_map.end(), std::int64_t{0});
  if (by_box != by_map || sum != D::kCount) {
    fail(std::string(D::kName) + ": the map and the box increment different counters");
  }
  const Figures box = measure([&] { launch_box<D>(increment); }, meter, idle_watts);
  const Figures map = measure([&] { D::launch(increment); }, meter, idle_watts);
  const double volume = static_cast<double>(D::kSide) * D::kSide * D::kSide;
  std::printf("| %s, side %lld, %lld points, W %.2f | | | | |\n", D::kName,
              static_cast<long long>(D::kSide), static_cast<long long>(D::kCount),
              volume / D::kCount);
  print("box", box);
  print("map", map);
  std::printf("| | box / map | %.2f |", box.ms / map.ms);
  if (box.joules >= 0) {
    std::printf(" %.2f | %.2f |\n", box.joules / map.joules, box.net_joules / map.net_joules);
  } else {
    std::printf(" not measured | not measured |\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* kUsage =
      "groma_domain_kernels > domain_kernels.md\n"
      "Measures kernels over a tetrahedron and a Sierpinski gasket on GPU 0.\n";
  if (!groma::bench::arguments_of(argc, argv, kUsage).empty()) {
    groma::bench::refuse("there are no arguments", kUsage);
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "GPU 0");
  const EnergyMeter meter;
  unsigned* counters = nullptr;
  check(cudaMalloc(&counters, kCounters * sizeof *counters), "cudaMalloc");
  const double idle_watts = meter.idle_watts();
  std::printf("%s; ", properties.name);
  if (idle_watts < 0) {
    std::printf("NVML gives no energy.\n\n");
  } else {
    std::printf("idle: %.1f W.\n\n", idle_watts);
  }
  std::printf("| domain | kernel | ms (lowest to highest of %d) | J | J without idle |\n"
              "|---|---|---|---|---|\n",
              kSamples);
  measure_domain<Tetrahedron>(counters, meter, idle_watts);
  measure_domain<Gasket>(counters, meter, idle_watts);
  check(cudaFree(counters), "cudaFree");
  return 0;
}
