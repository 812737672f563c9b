// The parts of test programs that are the same for all domains. @N@: the name; @XY@: the names of
// the coordinates, @AND_XY@: with `&`, @LONG_XY@: with a type; @D@: the number of coordinates.
#pragma once

#include <string_view>

namespace groma::domains {

// Numbers of points and their coordinates as Groma computes them, and a checksum.
inline constexpr std::string_view kTestData = R"(
// Points as Groma computes them: k and the coordinates. Many are at the borders of loops, where a
// rounded root would be wrong.
static const std::int64_t @N@_known[][1 + @D@] = {
@KNOWN@};
static constexpr std::int64_t @N@_known_count = @KNOWN_COUNT@;

inline std::uint64_t @N@_mix(std::uint64_t sum, std::int64_t number) {
  sum = (sum ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
  return sum ^ (sum >> 29);
}

inline std::uint64_t @N@_random(std::uint64_t* state) {
  *state += 0x9E3779B97F4A7C15U;
  std::uint64_t bits = *state;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31);
}

// Returns the number of a point.
inline std::int64_t @N@_random_number(std::uint64_t* state) {
  constexpr std::int64_t kCount = @N@_count > 0 ? @N@_count : 1;
  return static_cast<std::int64_t>(@N@_random(state) % static_cast<std::uint64_t>(kCount));
}

// Prints what is wrong. Returns 1.
inline int @N@_wrong(const char* what, std::int64_t k) {
  std::fprintf(stderr, "@N@: wrong: %s, at k = %lld\n", what, static_cast<long long>(k));
  return 1;
}
)";

inline constexpr std::string_view kCppTest = R"(
// Returns true if both directions of the map agree for k.
inline bool @N@_agrees(std::int64_t k) {
  std::int64_t @XY@;
  @N@_point(k, @AND_XY@);
  return @N@_rank(@XY@) == k;
}

inline int @N@_test() {
  constexpr std::int64_t kMost = std::int64_t{1} << 21;
  // The points in their order, from an enumeration that does not use the map.
  std::int64_t seen = 0;
  std::uint64_t sum = 0;
  bool is_right = true;
  if (@N@_count > 0) {
    @N@_each([&](@LONG_XY@) {
      if (seen == kMost) return false;
      const std::int64_t expected[] = {@XY@};
      std::int64_t found[@D@];
      @N@_point(seen, @FOUND@);
      std::uint64_t mixed = @N@_mix(0, seen);
      for (int d = 0; d < @D@; ++d) {
        is_right = is_right && found[d] == expected[d];
        mixed = @N@_mix(mixed, expected[d]);
      }
      sum += mixed;
      is_right = is_right && @N@_rank(@XY@) == seen;
      if (is_right) ++seen;
      return is_right;
    });
  }
  if (!is_right) return @N@_wrong("not the point of the enumeration", seen);
  if (seen < kMost && seen != @N@_count) return @N@_wrong("the number of points", seen);
  if (@N@_count <= kMost && sum != @SUM@U) return @N@_wrong("the checksum", seen);
@BOX@
  for (std::int64_t i = 0; i < @N@_known_count; ++i) {
    const std::int64_t* known = @N@_known[i];
    std::int64_t found[@D@];
    @N@_point(known[0], @FOUND@);
    for (int d = 0; d < @D@; ++d) {
      if (found[d] != known[1 + d]) return @N@_wrong("not the point that Groma has", known[0]);
    }
    if (@N@_rank(@FOUND_VALUES@) != known[0]) return @N@_wrong("the inverse", known[0]);
  }
  std::uint64_t state = 1;
  for (int i = 0; i < 100000 && @N@_count > 0; ++i) {
    const std::int64_t k = @N@_random_number(&state);
    if (!@N@_agrees(k)) return @N@_wrong("the inverse", k);
  }
@MORE@
  std::printf("@N@: %lld points, %lld enumerated, %lld known: right\n",
              static_cast<long long>(@N@_count), static_cast<long long>(seen),
              static_cast<long long>(@N@_known_count));
  return 0;
}
)";

// The coordinates of a box that is one larger than the domain on each side.
inline constexpr std::string_view kBoxTest = R"(
  // Every cell of the box around the domain, and those beside it.
  std::int64_t members = 0;
@LOOPS@    const std::int64_t k = @N@_rank(@XY@);
    if (k >= 0 && (k >= @N@_count || !@N@_agrees(k))) return @N@_wrong("a cell of the box", k);
@INSIDE@    members += k >= 0 ? 1 : 0;
@ENDS@  if (members != @N@_count) return @N@_wrong("the number of cells in the domain", members);
)";

inline constexpr std::string_view kCellTest = R"(
  // Cells beside points of the domain.
  for (int i = 0; i < 100000; ++i) {
    std::int64_t found[@D@];
    @N@_point(@N@_random_number(&state), @FOUND@);
    for (int d = 0; d < @D@; ++d) {
      found[d] += static_cast<std::int64_t>(@N@_random(&state) % 5U) - 2;
    }
    const std::int64_t k = @N@_rank(@FOUND_VALUES@);
    if ((k >= 0) != @N@_inside(@FOUND_VALUES@)) return @N@_wrong("a cell beside a point", k);
  }
)";

inline constexpr std::string_view kForTest = R"(
  // Ranges that begin anywhere.
  for (int i = 0; i < 1000 && @N@_count > 0; ++i) {
    const std::int64_t begin = @N@_random_number(&state);
    const std::int64_t left = @N@_count - begin, end = begin + (left < 300 ? left : 300);
    std::int64_t next = begin;
    @N@_for(begin, end, [&](std::int64_t k, @LONG_XY@) {
      next = k == next && @N@_rank(@XY@) == k ? next + 1 : -1;
    });
    if (next != end) return @N@_wrong("a range", begin);
  }
  if (@N@_count <= kMost) {
    std::uint64_t launched = 0;
    @N@_launch([&](std::int64_t k, @LONG_XY@) {
      std::uint64_t mixed = @N@_mix(0, k);
      for (const std::int64_t each : {@XY@}) mixed = @N@_mix(mixed, each);
#ifdef _OPENMP
#pragma omp atomic
#endif
      launched += mixed;
    });
    if (launched != sum) return @N@_wrong("the launch", 0);
  }
)";

inline constexpr std::string_view kCudaTest = R"(
// Adds the points and counts the numbers for which the two directions differ.
struct @N@_adder {
  unsigned long long* sums;
  __device__ void operator()(std::int64_t k, @LONG_XY@) const {
    unsigned long long mixed = static_cast<unsigned long long>(k);
    const std::int64_t all[] = {@XY@};
    for (int d = 0; d < @D@; ++d) {
      mixed = (mixed ^ static_cast<unsigned long long>(all[d])) * 0x9E3779B97F4A7C15U;
      mixed ^= mixed >> 29;
    }
    atomicAdd(&sums[0], mixed);
    if (@N@_rank(@XY@) != k) atomicAdd(&sums[1], 1ULL);
  }
};
__global__ void @N@_range(@N@_adder add, std::int64_t begin, std::int64_t end) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       k < end; k += step) {
    std::int64_t @XY@;
    @N@_point(k, @AND_XY@);
    add(k, @XY@);
  }
}

// Compares the GPU with the host. Returns 0 if there is no GPU.
inline int @N@_test_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("@N@: there is no GPU; only the host was tested\n");
    return 0;
  }
  unsigned long long* sums = nullptr;
  if (cudaMallocManaged(&sums, 2 * sizeof *sums) != cudaSuccess) return @N@_wrong("no memory", 0);
  const auto expected = [](std::int64_t begin, std::int64_t end) {
    unsigned long long sum = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t @XY@;
      @N@_point(k, @AND_XY@);
      unsigned long long mixed = static_cast<unsigned long long>(k);
      for (const std::int64_t each : {@XY@}) {
        mixed = (mixed ^ static_cast<unsigned long long>(each)) * 0x9E3779B97F4A7C15U;
        mixed ^= mixed >> 29;
      }
      sum += mixed;
    }
    return sum;
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 22;
  const std::int64_t some = @N@_count < kMost ? @N@_count : kMost;
  for (const std::int64_t begin : {std::int64_t{0}, @N@_count - some}) {
    sums[0] = sums[1] = 0;
    if (begin == 0 && some == @N@_count) {
      @N@_launch(@N@_adder{sums});
    } else {
      @N@_range<<<256, 256>>>(@N@_adder{sums}, begin, begin + some);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return @N@_wrong("the kernel failed", begin);
    if (sums[1] != 0) return @N@_wrong("the inverse on the GPU", begin);
    if (sums[0] != expected(begin, begin + some)) return @N@_wrong("the sum on the GPU", begin);
  }
  cudaFree(sums);
  std::printf("@N@: the GPU agrees with the host in %lld points\n", static_cast<long long>(some));
  return 0;
}
)";

inline constexpr std::string_view kOpenclKernels = R"(
kernel void test_points(global const long* numbers, long count, global long* points,
                        global long* ranks) {
  for (long i = (long)get_global_id(0); i < count; i += (long)get_global_size(0)) {
    long @XY@;
    @N@_point(numbers[i], @AND_XY@);
    const long all[@D@] = {@XY@};
    for (int d = 0; d < @D@; ++d) points[i * @D@ + d] = all[d];
    ranks[i] = @N@_rank(@XY@);
  }
}
kernel void test_ranks(global const long* points, long count, global long* ranks) {
  for (long i = (long)get_global_id(0); i < count; i += (long)get_global_size(0)) {
    ranks[i] = @N@_rank(@POINTS@);
  }
}
kernel void test_each(long limit, global long* points) {
  @N@_for_each(k, @XY@) {
    if (k >= limit) break;
    const long all[@D@] = {@XY@};
    for (int d = 0; d < @D@; ++d) points[k * @D@ + d] = all[d];
  }
}
)";

inline constexpr std::string_view kOpenclTest = R"(
// Runs one kernel. The arguments are buffers and numbers.
class @N@_device {
 public:
  // Returns false, with the reason on standard error, if there is no device or the code is wrong.
  bool open(const std::string& source, const char* options) {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) {
      std::fprintf(stderr, "@N@: there is no OpenCL device\n");
      return false;
    }
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device_, 0, nullptr);
    const char* text = source.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, nullptr);
    if (clBuildProgram(program_, 1, &device_, options, nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(),
                            nullptr);
      std::fprintf(stderr, "%s\n", log.data());
      return false;
    }
    return true;
  }
  cl_mem buffer(std::vector<cl_long>& items) {
    return clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          items.size() * sizeof(cl_long), items.data(), nullptr);
  }
  void read(cl_mem buffer, std::vector<cl_long>* items) {
    clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, items->size() * sizeof(cl_long), items->data(),
                        0, nullptr, nullptr);
    clReleaseMemObject(buffer);
  }
  template <typename... Arguments>
  bool run(const char* name, const Arguments&... arguments) {
    cl_kernel kernel = clCreateKernel(program_, name, nullptr);
    cl_uint number = 0;
    (clSetKernelArg(kernel, number++, sizeof arguments, &arguments), ...);
    const std::size_t global = 1024, local = 64;
    const bool runs = clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &global, &local, 0,
                                             nullptr, nullptr) == CL_SUCCESS &&
                      clFinish(queue_) == CL_SUCCESS;
    clReleaseKernel(kernel);
    return runs;
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

// `file` holds the emitted code. Returns 0 if all is right and 77 if there is no device.
inline int @N@_test(const char* file, const char* options) {
  std::ifstream stream(file);
  std::stringstream source;
  source << stream.rdbuf() << @N@_kernels;
  if (!stream) return @N@_wrong("the code cannot be read", 0);
  @N@_device device;
  cl_uint platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) {
    std::printf("@N@: not run: there is no OpenCL platform\n");
    return 77;
  }
  if (!device.open(source.str(), options)) return 1;

  // Numbers and their points: from the enumeration, and those that Groma has.
  std::vector<cl_long> numbers, expected;
  @EACH@
  const std::size_t enumerated = numbers.size();
  for (std::int64_t i = 0; i < @N@_known_count; ++i) {
    numbers.push_back(@N@_known[i][0]);
    expected.insert(expected.end(), @N@_known[i] + 1, @N@_known[i] + 1 + @D@);
  }
  if (numbers.empty()) return 0;
  std::vector<cl_long> points(expected.size()), ranks(numbers.size());
  cl_mem in = device.buffer(numbers), out = device.buffer(points), back = device.buffer(ranks);
  if (!device.run("test_points", in, static_cast<cl_long>(numbers.size()), out, back)) {
    return @N@_wrong("the kernel failed", 0);
  }
  device.read(out, &points);
  device.read(back, &ranks);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t d = 0; d < @D@; ++d) {
      if (points[i * @D@ + d] != expected[i * @D@ + d]) return @N@_wrong("a point", numbers[i]);
    }
    if (ranks[i] != numbers[i]) return @N@_wrong("the inverse", numbers[i]);
  }
  if (enumerated > 0) {
    std::vector<cl_long> looped(enumerated * @D@, -1);
    cl_mem each = device.buffer(looped);
    if (!device.run("test_each", static_cast<cl_long>(enumerated), each)) {
      return @N@_wrong("the kernel failed", 0);
    }
    device.read(each, &looped);
    for (std::size_t i = 0; i < looped.size(); ++i) {
      if (looped[i] != expected[i]) return @N@_wrong("the loop of the work-items", 0);
    }
  }
@BOX@
  std::printf("@N@: %lld points, %zu compared: right\n", static_cast<long long>(@N@_count),
              numbers.size());
  return 0;
}
)";

inline constexpr std::string_view kOpenclBoxTest = R"(
  // Every cell of the box around the domain, and those beside it.
  std::vector<cl_long> cells;
@LOOPS@    cells.insert(cells.end(), {@XY@});
@ENDS@  std::vector<cl_long> found(cells.size() / @D@);
  cl_mem cells_in = device.buffer(cells), found_out = device.buffer(found);
  if (!device.run("test_ranks", cells_in, static_cast<cl_long>(found.size()), found_out)) {
    return @N@_wrong("the kernel failed", 0);
  }
  device.read(found_out, &found);
  std::int64_t members = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    members += found[i] >= 0 ? 1 : 0;
  }
  if (members != @N@_count) return @N@_wrong("the number of cells in the domain", members);
)";

}  // namespace groma::domains
