// Measures the GPUs of a computer: memory and zero-copy bandwidth and latency, atomic additions,
// structures of fields, alignment, copies, kernel launches, and matrix multiplications by size.
// Prints JSON, which `groma machines calibrate --gpu FILE` reads:
//
//   groma_gpu_figures > gpu_figures.json
//
// Every figure is measured kRepeats times after one run that does not count. The result of every
// kernel and copy is checked; a wrong one ends the program with exit code 1. GPU 0 is measured; the
// others count as equal.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kRepeats = 11;
constexpr int kThreads = 256;
constexpr std::size_t kKiB = 1024, kMiB = kKiB * kKiB;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "gpu_figures: %s\n", why.c_str());
  std::exit(1);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(std::string(what) + ": cuBLAS status " + std::to_string(static_cast<int>(status)));
}

void expect(bool is_right, const char* what) {
  if (!is_right) fail(std::string(what) + " computed a wrong result");
}

// ---- Kernels

__device__ std::size_t first_index() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::size_t index_step() { return std::size_t{gridDim.x} * blockDim.x; }

template <typename T>
__global__ void fill(T* to, std::size_t count, T value) {
  for (std::size_t i = first_index(); i < count; i += index_step()) to[i] = value;
}

__global__ void copy(double* to, const double* from, std::size_t count) {
  for (std::size_t i = first_index(); i < count; i += index_step()) to[i] = from[i];
}

// Adds up every `stride`-th element. Each thread writes its own sum.
__global__ void read(double* sums, const double* from, std::size_t count, std::size_t stride) {
  double sum = 0;
  for (std::size_t i = first_index(); i < count; i += index_step()) sum += from[i * stride];
  sums[first_index()] = sum;
}

__global__ void add_atomically(double* to, std::size_t count) {
  for (std::size_t i = first_index(); i < count; i += index_step()) atomicAdd(&to[i], 1.0);
}

// Returns the place of access i in a table of `count` floats, a power of two. Neighbouring threads
// get places far apart, and every place gets as many accesses as every other.
__device__ std::size_t scattered(std::size_t i, std::size_t count) {
  return i * 2654435761U % count;
}

// Adds up `accesses` floats at scattered places. Each thread writes its own sum.
__global__ void gather(double* sums, const float* from, std::size_t count, std::size_t accesses) {
  float sum = 0;
  for (std::size_t i = first_index(); i < accesses; i += index_step())
    sum += from[scattered(i, count)];
  sums[first_index()] = sum;
}

__global__ void scatter_atomically(float* to, std::size_t count, std::size_t accesses) {
  for (std::size_t i = first_index(); i < accesses; i += index_step())
    atomicAdd(&to[scattered(i, count)], 1.0F);
}

// Counts the elements that differ from `value`.
template <typename T>
__global__ void add_others(const T* in, std::size_t count, T value, unsigned long long* others) {
  unsigned long long mine = 0;
  for (std::size_t i = first_index(); i < count; i += index_step()) mine += in[i] != value;
  if (mine > 0) atomicAdd(others, mine);
}

// One thread follows a chain: each element holds the index of the next one.
__global__ void follow(const std::uint64_t* chain, std::uint64_t from, int loads,
                       std::uint64_t* end) {
  std::uint64_t at = from;
  for (int i = 0; i < loads; ++i) at = chain[at];
  *end = at;
}

__global__ void count_launch(unsigned long long* launches) { ++*launches; }

// The elements are small whole numbers, so that sums of products are exact.
__global__ void fill_matrix(double* to, std::size_t count, int period) {
  for (std::size_t i = first_index(); i < count; i += index_step())
    to[i] = static_cast<double>(i % period);
}

// ---- Memory

// Memory of the GPU, or memory of the host that the GPU addresses (zero-copy).
class Buffer {
 public:
  enum class Where { kDevice, kHost };
  Buffer(std::size_t bytes, Where where) : bytes_(bytes), where_(where) {
    if (where == Where::kDevice) {
      check(cudaMalloc(&memory_, bytes), "cudaMalloc");
    } else {
      check(cudaHostAlloc(&memory_, bytes, cudaHostAllocMapped), "cudaHostAlloc");
    }
  }
  ~Buffer() { where_ == Where::kDevice ? cudaFree(memory_) : cudaFreeHost(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // With unified addressing the host and the GPU use the same address.
  double* doubles() const { return static_cast<double*>(memory_); }
  std::uint64_t* words() const { return static_cast<std::uint64_t*>(memory_); }
  std::size_t count() const { return bytes_ / sizeof(double); }
  std::size_t bytes() const { return bytes_; }
  bool is_on_device() const { return where_ == Where::kDevice; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
  Where where_;
};

int blocks = 1;  // set in main(): enough to keep the GPU busy

std::size_t threads() { return static_cast<std::size_t>(blocks) * kThreads; }

void wait() {
  check(cudaGetLastError(), "a kernel launch");
  check(cudaDeviceSynchronize(), "a kernel");
}

template <typename T>
void set_all(T* to, std::size_t count, T value) {
  fill<<<blocks, kThreads>>>(to, count, value);
  wait();
}

// Returns how many elements differ from `value`.
template <typename T>
std::size_t count_others(const T* in, std::size_t count, T value) {
  Buffer others(sizeof(unsigned long long), Buffer::Where::kHost);
  auto* number = reinterpret_cast<unsigned long long*>(others.words());
  *number = 0;
  add_others<<<blocks, kThreads>>>(in, count, value, number);
  wait();
  return *number;
}
bool are_all(const double* in, std::size_t count, double value) {
  return count_others(in, count, value) == 0;
}

// Returns the sum of the elements of a buffer on the GPU.
double sum_of(const Buffer& buffer) {
  std::vector<double> host(buffer.count());
  check(cudaMemcpy(host.data(), buffer.doubles(), buffer.bytes(), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  double sum = 0;
  for (const double each : host) sum += each;
  return sum;
}

// ---- Figures

struct Figure {
  std::string name;
  std::int64_t size;  // 0: none
  std::string unit;
  std::vector<double> values;
};
std::vector<Figure> figures;

// Returns the seconds of work on the GPU, by its own clock.
double seconds_of(const std::function<void()>& work) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }
  check(cudaEventRecord(begin), "cudaEventRecord");
  work();
  check(cudaGetLastError(), "a kernel launch");
  check(cudaEventRecord(end), "cudaEventRecord");
  check(cudaEventSynchronize(end), "a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  return 1e-3 * milliseconds;
}

// Returns the seconds of work that ends before the call returns, by the clock of the host.
double host_seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Adds a rate: `amount` of the unit in the seconds that `run` returns.
void add_rate(const std::string& name, std::int64_t size, const std::string& unit, double amount,
              const std::function<double()>& run) {
  Figure figure{name, size, unit, {}};
  run();
  for (int r = 0; r < kRepeats; ++r) {
    const double seconds = run();
    if (!(seconds > 0)) fail(name + " took no time");
    figure.values.push_back(amount / seconds);
  }
  figures.push_back(std::move(figure));
}

// Adds a time: the seconds that `run` returns, by `count`.
void add_time(const std::string& name, double count, const std::function<double()>& run) {
  Figure figure{name, 0, "s", {}};
  run();
  for (int r = 0; r < kRepeats; ++r) figure.values.push_back(run() / count);
  figures.push_back(std::move(figure));
}

// Reads `count` elements that are `stride` apart, and checks their sum. All elements are 1.
double read_seconds(const double* from, std::size_t count, std::size_t stride) {
  Buffer sums(threads() * sizeof(double), Buffer::Where::kDevice);
  const double seconds =
      seconds_of([&] { read<<<blocks, kThreads>>>(sums.doubles(), from, count, stride); });
  expect(sum_of(sums) == static_cast<double>(count), "reading");
  return seconds;
}

// Reads, writes and atomic additions in one kind of memory, whose figures begin with `name`.
void measure_accesses(const std::string& name, const Buffer& buffer) {
  const auto bytes = static_cast<double>(buffer.bytes());
  set_all(buffer.doubles(), buffer.count(), 1.0);
  add_rate(name + "_read", 0, "bytes/s", bytes,
           [&] { return read_seconds(buffer.doubles(), buffer.count(), 1); });
  double value = 1;
  add_rate(name + "_write", 0, "bytes/s", bytes, [&] {
    ++value;
    const double seconds = seconds_of(
        [&] { fill<<<blocks, kThreads>>>(buffer.doubles(), buffer.count(), value); });
    expect(are_all(buffer.doubles(), buffer.count(), value), "writing");
    return seconds;
  });
  // Atomic additions over the host link take long, so there are fewer of them.
  const std::size_t count = std::min<std::size_t>(buffer.count(), kMiB);
  set_all(buffer.doubles(), count, 0.0);
  value = 0;
  add_rate(name + "_atomic", 0, "bytes/s", static_cast<double>(count * sizeof(double)), [&] {
    ++value;
    const double seconds =
        seconds_of([&] { add_atomically<<<blocks, kThreads>>>(buffer.doubles(), count); });
    expect(are_all(buffer.doubles(), count, value), "adding atomically");
    return seconds;
  });
}

// Reads and atomic additions of floats at scattered places, in tables of several sizes. Small
// tables fit into caches, but many threads add to the same places.
void measure_scattered(const std::string& name, const Buffer& buffer) {
  auto* const table = reinterpret_cast<float*>(buffer.doubles());
  Buffer sums(threads() * sizeof(double), Buffer::Where::kDevice);
  // Atomic additions over the host link take long, so there are few of them.
  constexpr std::size_t kAccesses = 4 * kMiB;
  const std::size_t additions = buffer.is_on_device() ? 16 * kMiB : kMiB / 4;
  for (const std::size_t bytes : {4 * kKiB, 256 * kKiB, 64 * kMiB}) {
    const std::size_t count = bytes / sizeof(float);
    const auto size = static_cast<std::int64_t>(bytes);
    set_all(table, count, 1.0F);
    add_rate(name + "_scatter_read", size, "bytes/s", kAccesses * sizeof(float), [&] {
      const double seconds = seconds_of(
          [&] { gather<<<blocks, kThreads>>>(sums.doubles(), table, count, kAccesses); });
      expect(sum_of(sums) == static_cast<double>(kAccesses), "reading scattered places");
      return seconds;
    });
    // In a large table, `used` places are added to, each once; the others keep 0.
    const std::size_t used = std::min(count, additions);
    const auto added = static_cast<double>(additions * sizeof(float));
    add_rate(name + "_scatter_atomic", size, "bytes/s", added, [&] {
      set_all(table, count, 0.0F);
      const double seconds = seconds_of(
          [&] { scatter_atomically<<<blocks, kThreads>>>(table, count, additions); });
      expect(count_others(table, count, static_cast<float>(additions / used)) == count - used,
             "adding to scattered places");
      return seconds;
    });
  }
}

// The time of one load that depends on the load before, in random order.
void measure_latency(const std::string& name, const Buffer& buffer, int loads) {
  constexpr std::size_t kLine = 16;  // words: 128 bytes
  const std::size_t lines = buffer.count() / kLine;
  std::vector<std::uint64_t> chain(lines * kLine, 0);
  for (std::size_t i = 0; i < lines; ++i) chain[i * kLine] = i * kLine;
  std::mt19937_64 draws(1);
  // Sattolo's shuffle makes one cycle of all lines.
  for (std::size_t i = lines - 1; i > 0; --i)
    std::swap(chain[i * kLine], chain[draws() % i * kLine]);
  check(cudaMemcpy(buffer.words(), chain.data(), chain.size() * sizeof(std::uint64_t),
                   cudaMemcpyDefault),
        "cudaMemcpy");
  Buffer end(sizeof(std::uint64_t), Buffer::Where::kHost);
  std::uint64_t at = 0;
  add_time(name, loads, [&] {
    std::uint64_t due = at;
    for (int i = 0; i < loads; ++i) due = chain[due];
    const double seconds =
        seconds_of([&] { follow<<<1, 1>>>(buffer.words(), at, loads, end.words()); });
    expect(*end.words() == due, "following a chain");
    at = due;
    return seconds;
  });
}

// One field of 8 bytes in structures of several sizes, and reads that begin at an odd place.
void measure_layouts(const Buffer& buffer) {
  set_all(buffer.doubles(), buffer.count(), 1.0);
  for (const std::size_t bytes : {16, 32, 64, 128, 256}) {
    const std::size_t stride = bytes / sizeof(double), count = buffer.count() / stride;
    add_rate("aos_read", static_cast<std::int64_t>(bytes), "bytes/s",
             static_cast<double>(count * sizeof(double)),
             [&] { return read_seconds(buffer.doubles(), count, stride); });
  }
  for (const std::size_t bytes : {8, 32, 64}) {
    const std::size_t offset = bytes / sizeof(double), count = buffer.count() - offset;
    add_rate("offset_read", static_cast<std::int64_t>(bytes), "bytes/s",
             static_cast<double>(count * sizeof(double)),
             [&] { return read_seconds(buffer.doubles() + offset, count, 1); });
  }
}

void measure_kernel_copy(const Buffer& from, const Buffer& to) {
  double value = 0;
  add_rate("fbmem_copy", 0, "bytes/s", 2 * static_cast<double>(from.bytes()), [&] {
    set_all(from.doubles(), from.count(), ++value);
    const double seconds = seconds_of(
        [&] { copy<<<blocks, kThreads>>>(to.doubles(), from.doubles(), from.count()); });
    expect(are_all(to.doubles(), to.count(), value), "copying in a kernel");
    return seconds;
  });
}

// Copies over the host link: large ones, and one of 8 bytes with the wait for its end.
void measure_host_link(const Buffer& device, const Buffer& host) {
  const std::size_t bytes = std::min(device.bytes(), host.bytes()), count = bytes / sizeof(double);
  double value = 0;
  add_rate("host_to_device", 0, "bytes/s", static_cast<double>(bytes), [&] {
    set_all(host.doubles(), count, ++value);
    const double seconds = seconds_of([&] {
      check(cudaMemcpyAsync(device.doubles(), host.doubles(), bytes, cudaMemcpyHostToDevice),
            "cudaMemcpyAsync");
    });
    expect(are_all(device.doubles(), count, value), "copying to the GPU");
    return seconds;
  });
  add_rate("device_to_host", 0, "bytes/s", static_cast<double>(bytes), [&] {
    set_all(device.doubles(), count, ++value);
    const double seconds = seconds_of([&] {
      check(cudaMemcpyAsync(host.doubles(), device.doubles(), bytes, cudaMemcpyDeviceToHost),
            "cudaMemcpyAsync");
    });
    expect(are_all(host.doubles(), count, value), "copying from the GPU");
    return seconds;
  });
  add_time("copy_latency", 1, [&] {
    host.doubles()[0] = ++value;
    const double seconds = host_seconds_of([&] {
      check(cudaMemcpyAsync(device.doubles(), host.doubles(), sizeof(double),
                            cudaMemcpyHostToDevice),
            "cudaMemcpyAsync");
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
    expect(are_all(device.doubles(), 1, value), "copying 8 bytes");
    return seconds;
  });
}

// One launch with the wait for its end, and many launches in a row.
void measure_launches() {
  constexpr int kInRow = 1000;
  Buffer launches(sizeof(unsigned long long), Buffer::Where::kHost);
  auto* number = reinterpret_cast<unsigned long long*>(launches.words());
  *number = 0;
  unsigned long long due = 0;
  const auto launch = [&](int count) {
    const double seconds = host_seconds_of([&] {
      for (int i = 0; i < count; ++i) count_launch<<<1, 1>>>(number);
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
    due += static_cast<unsigned long long>(count);
    expect(*number == due, "counting launches");
    return seconds;
  };
  add_time("launch", 1, [&] { return launch(1); });
  add_time("launch_in_row", kInRow, [&] { return launch(kInRow); });
}

// Copies from GPU 0 to GPU 1.
void measure_peer_copy(std::size_t bytes) {
  Buffer near(bytes, Buffer::Where::kDevice);
  check(cudaSetDevice(1), "cudaSetDevice");
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, 1, 0), "cudaDeviceCanAccessPeer");
  // Without direct access the copy goes over the host, and its rate says so.
  if (can != 0) check(cudaDeviceEnablePeerAccess(0, 0), "cudaDeviceEnablePeerAccess");
  {
    Buffer far(bytes, Buffer::Where::kDevice);
    double value = 0;
    add_rate("peer_copy", 0, "bytes/s", static_cast<double>(bytes), [&] {
      check(cudaSetDevice(0), "cudaSetDevice");
      set_all(near.doubles(), near.count(), ++value);
      check(cudaSetDevice(1), "cudaSetDevice");
      const double seconds = host_seconds_of([&] {
        check(cudaMemcpyPeerAsync(far.doubles(), 1, near.doubles(), 0, bytes), "cudaMemcpyPeer");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      });
      expect(are_all(far.doubles(), far.count(), value), "copying to another GPU");
      return seconds;
    });
  }
  check(cudaSetDevice(0), "cudaSetDevice");
}

// Square matrices of `edge` rows. Some elements of the product are computed again on the host.
void measure_matrix_multiply(cublasHandle_t blas, int edge) {
  constexpr int kPeriodA = 3, kPeriodB = 5;
  const std::size_t n = static_cast<std::size_t>(edge), count = n * n;
  Buffer a(count * sizeof(double), Buffer::Where::kDevice);
  Buffer b(count * sizeof(double), Buffer::Where::kDevice);
  Buffer c(count * sizeof(double), Buffer::Where::kDevice);
  fill_matrix<<<blocks, kThreads>>>(a.doubles(), count, kPeriodA);
  fill_matrix<<<blocks, kThreads>>>(b.doubles(), count, kPeriodB);
  wait();
  const double one = 1, zero = 0;
  std::vector<double> product(count);
  std::mt19937_64 draws(1);
  const int times = std::max(1, 2048 / edge);
  const double flops = 2.0 * edge * edge * edge * times;
  add_rate("matrix_multiply", edge, "flop/s", flops, [&] {
    set_all(c.doubles(), count, -1.0);
    const double seconds = seconds_of([&] {
      for (int t = 0; t < times; ++t) {
        check(cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, edge, edge, edge, &one, a.doubles(), edge,
                          b.doubles(), edge, &zero, c.doubles(), edge),
              "cublasDgemm");
      }
    });
    check(cudaMemcpy(product.data(), c.doubles(), c.bytes(), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (int drawn = 0; drawn < 64; ++drawn) {
      const std::size_t row = draws() % n, column = draws() % n;
      double due = 0;
      for (std::size_t k = 0; k < n; ++k) {
        // cuBLAS stores columns.
        due += static_cast<double>((k * n + row) % kPeriodA) *
               static_cast<double>((column * n + k) % kPeriodB);
      }
      expect(product[column * n + row] == due, "multiplying matrices");
    }
    return seconds;
  });
}

// Returns the text as a JSON string without its quotes.
std::string json_text(const char* text) {
  std::string result;
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') result += '\\';
    if (static_cast<unsigned char>(*text) >= 0x20) result += *text;
  }
  return result;
}

void print(const cudaDeviceProp& gpu, int count) {
  std::printf("{\n  \"gpu\": {\"model\": \"%s\", \"count\": %d, \"memory_bytes\": %llu},\n",
              json_text(gpu.name).c_str(), count,
              static_cast<unsigned long long>(gpu.totalGlobalMem));
  std::printf("  \"figures\": [");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    std::printf("%s\n    {\"figure\": \"%s\", ", i == 0 ? "" : ",", figure.name.c_str());
    if (figure.size > 0) std::printf("\"size\": %lld, ", static_cast<long long>(figure.size));
    std::printf("\"unit\": \"%s\", \"values\": [", figure.unit.c_str());
    for (std::size_t v = 0; v < figure.values.size(); ++v)
      std::printf("%s%.9g", v == 0 ? "" : ", ", figure.values[v]);
    std::printf("]}");
  }
  std::printf("\n  ]\n}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool asks_help = std::strcmp(argv[1], "--help") == 0;
    std::fprintf(asks_help ? stdout : stderr,
                 "groma_gpu_figures > gpu_figures.json\n"
                 "  measures the GPUs of this computer; takes about a minute\n"
                 "  groma machines calibrate --gpu gpu_figures.json  uses the figures\n");
    return asks_help ? 0 : 2;
  }
  int count = 0;
  check(cudaGetDeviceCount(&count), "there is no GPU to measure");
  if (count < 1) fail("there is no GPU to measure");
  cudaDeviceProp gpu{};
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
  if (gpu.unifiedAddressing == 0) fail("the GPU and the host have no common addresses");
  blocks = gpu.multiProcessorCount * 8;

  // Larger than the GPU's cache, but at most a sixteenth of its memory.
  std::size_t bytes =
      std::max<std::size_t>(256 * kMiB, 4 * static_cast<std::size_t>(gpu.l2CacheSize));
  bytes = std::min<std::size_t>(bytes, gpu.totalGlobalMem / 16) / kMiB * kMiB;
  {
    Buffer device(bytes, Buffer::Where::kDevice), second(bytes, Buffer::Where::kDevice);
    Buffer host(64 * kMiB, Buffer::Where::kHost);
    measure_launches();
    measure_kernel_copy(device, second);
    measure_accesses("fbmem", device);
    measure_layouts(device);
    measure_scattered("fbmem", device);
    measure_latency("fbmem_latency", device, 20'000);
    measure_accesses("zcmem", host);
    measure_scattered("zcmem", host);
    measure_latency("zcmem_latency", host, 5'000);
    measure_host_link(device, host);
  }
  if (count > 1) measure_peer_copy(bytes);
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas), "cublasCreate");
  for (int edge = 256; edge <= 8192; edge *= 2) measure_matrix_multiply(blas, edge);
  check(cublasDestroy(blas), "cublasDestroy");
  print(gpu, count);
  return 0;
}
