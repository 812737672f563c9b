// The OpenCL parts of driver.cc: finding a device, building a kernel, memory with guard elements,
// and launches. A driver program of your own may copy this header. An error is thrown as a Failure.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <array>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../check.h"

namespace opencl {

// Why the program cannot go on, and the exit code that says so.
struct Failure {
  kernel_check::ExitCode code;
  std::string text;
  // True if the text is the log of a compiler.
  bool is_log = false;
};

// Returns the name of an OpenCL error, and what it usually means.
inline std::string error_text(cl_int status) {
  switch (status) {
    case CL_DEVICE_NOT_AVAILABLE:
      return "the device is not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return "out of device memory";
    case CL_OUT_OF_RESOURCES:
      return "out of resources of the device";
    case CL_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case CL_INVALID_WORK_GROUP_SIZE:
      return "the device does not allow this work-group size";
    case CL_INVALID_WORK_ITEM_SIZE:
      return "a work-group is too large in one dimension";
    case CL_INVALID_GLOBAL_WORK_SIZE:
      return "there are no or too many work-items";
    case CL_INVALID_KERNEL_NAME:
      return "there is no kernel of this name";
    case CL_INVALID_KERNEL_ARGS:
      return "an argument of the kernel was not set";
    case CL_INVALID_ARG_INDEX:
      return "the kernel has fewer arguments";
    case CL_INVALID_ARG_SIZE:
      return "the argument of the kernel has another type";
    case CL_INVALID_ARG_VALUE:
      return "the argument of the kernel is in another address space";
    default:
      return "OpenCL error " + std::to_string(status);
  }
}

// Throws a Failure with this code if the status is an error. A lost device never speaks against
// the kernel.
inline void require(cl_int status, const std::string& what, kernel_check::ExitCode code) {
  if (status == CL_SUCCESS) return;
  if (status == CL_DEVICE_NOT_AVAILABLE) code = kernel_check::kNoDevice;
  throw Failure{code, what + ": " + error_text(status)};
}

// A device with a queue that executes one command after the other.
struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string name;
};

// Opens the device with this number, counted over all platforms from 0. With -1, opens the first
// GPU, or the first device if there is no GPU. The device stays open until the process ends.
inline Device open_device(int number) {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    throw Failure{
        kernel_check::kNoDevice,
        "no OpenCL device: no platform is installed (Debian's package pocl-opencl-icd has "
        "one that uses the processor)"};
  }
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<cl_device_id> devices;
  for (cl_platform_id platform : platforms) {
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> found(count);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr);
    devices.insert(devices.end(), found.begin(), found.end());
  }
  if (devices.empty()) {
    throw Failure{kernel_check::kNoDevice, "no OpenCL device: the platforms have none"};
  }
  if (number >= static_cast<int>(devices.size())) {
    throw Failure{kernel_check::kNoDevice, "no OpenCL device " + std::to_string(number) +
                                               ": there are " + std::to_string(devices.size())};
  }
  std::size_t chosen = number < 0 ? 0 : static_cast<std::size_t>(number);
  for (std::size_t d = devices.size(); number < 0 && d-- > 0;) {
    cl_device_type type = 0;
    clGetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof type, &type, nullptr);
    if ((type & CL_DEVICE_TYPE_GPU) != 0) chosen = d;
  }
  Device device;
  device.id = devices[chosen];
  std::array<char, 1024> name{};
  clGetDeviceInfo(device.id, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
  device.name = name.data();
  cl_int status = CL_SUCCESS;
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &status);
  require(status, "no OpenCL device: " + device.name, kernel_check::kNoDevice);
  device.queue = clCreateCommandQueue(device.context, device.id, 0, &status);
  require(status, "no OpenCL device: " + device.name, kernel_check::kNoDevice);
  return device;
}

// An array of floats on the device, with guard elements before and after it.
class Array {
 public:
  using Guarded = kernel_check::Guarded<float>;

  Array(const Device& device, const Guarded& values) : device_(device), values_(values) {
    const std::size_t bytes = values.all.size() * sizeof(float);
    const std::string what = "cannot allocate " + std::to_string(bytes) + " bytes";
    cl_int status = CL_SUCCESS;
    whole_ = clCreateBuffer(device.context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    require(status, what, kernel_check::kNoDevice);
    const cl_buffer_region part{Guarded::kGuard * sizeof(float), values.size() * sizeof(float)};
    inner_ =
        clCreateSubBuffer(whole_, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &status);
    require(status, what, kernel_check::kNoDevice);
    write();
  }
  ~Array() {
    clReleaseMemObject(inner_);
    clReleaseMemObject(whole_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  // The array without its guard elements, as an argument of a kernel.
  const cl_mem& argument() const { return inner_; }

  // Copies the first values to the device again.
  void write() {
    require(
        clEnqueueWriteBuffer(device_.queue, whole_, CL_TRUE, 0, values_.all.size() * sizeof(float),
                             values_.all.data(), 0, nullptr, nullptr),
        "cannot copy to the device", kernel_check::kNoDevice);
  }
  // Returns the values that are on the device now.
  Guarded read() const {
    Guarded values = values_;
    require(
        clEnqueueReadBuffer(device_.queue, whole_, CL_TRUE, 0, values.all.size() * sizeof(float),
                            values.all.data(), 0, nullptr, nullptr),
        "cannot copy from the device", kernel_check::kNoDevice);
    return values;
  }
  // Returns an empty text, or an error if the array is not as it was at first.
  std::string unchanged_error(const std::string& name) const {
    const Guarded now = read();
    const bool same = std::equal(now.all.begin(), now.all.end(), values_.all.begin(),
                                 [](float x, float y) { return x == y || (x != x && y != y); });
    return same ? "" : name + " was written";
  }

 private:
  const Device& device_;
  Guarded values_;
  cl_mem whole_ = nullptr, inner_ = nullptr;
};

// The extents in x, y and z.
using Extents = std::array<std::size_t, 3>;

// How a kernel file wants to be launched: the macros TILE_X, TILE_Y and TILE_Z are the number of
// elements of the result that each work-item computes (1 if the file does not define them).
// GROUP_X, GROUP_Y and GROUP_Z are the number of work-items of a work-group. If the file defines
// none of these, OpenCL chooses.
struct LaunchShape {
  Extents tile{1, 1, 1}, group{0, 0, 0};
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  std::ifstream file(path, std::ios::binary);
  if (!(text << file.rdbuf()) || !file) {
    throw Failure{kernel_check::kUsage, "cannot read '" + path + "'"};
  }
  return text.str();
}

// Returns the log of a compiler with lines as `matmul.cl:12:3: error: ...`. PoCL puts `error:`
// first, NVIDIA's compiler writes `<kernel>:12:3:`.
inline std::string readable_log(const std::string& log, const std::string& file) {
  static const std::regex kSeverityFirst("^(error|warning|note): (.*:[0-9]+:[0-9]+): ");
  static const std::regex kNoName("^<[a-z]*>:([0-9]+:[0-9]+): ");
  std::istringstream lines(log);
  std::string readable;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, kSeverityFirst, "$2: $1: ");
    line = std::regex_replace(line, kNoName, file + ":$1: ");
    readable += line + "\n";
  }
  while (!readable.empty() && readable.back() == '\n') readable.pop_back();
  return readable;
}

// A kernel file that was built for a device. It stays until the process ends.
class Program {
 public:
  // Builds the file. If it does not compile, throws a Failure with the log of the compiler.
  Program(const Device& device, const std::string& path) : device_(device) {
    const std::string file = path.substr(path.rfind('/') + 1);
    // Names in messages and line numbers are those of the file, whatever the driver adds. The
    // macros of the launch are evaluated by the compiler, so they may be any constant expressions.
    const std::string source = "#line 1 \"" +
                               std::regex_replace(file, std::regex("[\"\\\\]"), "_") + "\"\n" +
                               read_file(path) + kLaunchSource;
    const char* text = source.c_str();
    const std::size_t size = source.size();
    cl_int status = CL_SUCCESS;
    program_ = clCreateProgramWithSource(device.context, 1, &text, &size, &status);
    require(status, "cannot build " + file, kernel_check::kWrong);
    status =
        clBuildProgram(program_, 1, &device.id, "-cl-std=CL1.2 -cl-mad-enable", nullptr, nullptr);
    if (status != CL_SUCCESS) {
      const std::string log = readable_log(build_log(), file);
      if (!log.empty()) throw Failure{kernel_check::kWrong, log, true};
      require(status, file + " does not compile", kernel_check::kWrong);
    }
    read_launch_shape(file);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Returns the kernel of this name, or null if the program has no such kernel.
  cl_kernel find(const char* name) const {
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program_, name, &status);
    return status == CL_SUCCESS ? kernel : nullptr;
  }

  // Runs a kernel over a result of these extents, and waits for its end.
  void run(cl_kernel kernel, const Extents& extents) const {
    Extents global{}, local{};
    bool is_local = false;
    for (std::size_t d = 0; d < 3; ++d) {
      is_local = is_local || shape_.group[d] > 0;
      local[d] = std::max<std::size_t>(1, shape_.group[d]);
      const std::size_t items = (extents[d] + shape_.tile[d] - 1) / shape_.tile[d];
      global[d] = (items + local[d] - 1) / local[d] * local[d];
    }
    require(clEnqueueNDRangeKernel(device_.queue, kernel, 3, nullptr, global.data(),
                                   is_local ? local.data() : nullptr, 0, nullptr, nullptr),
            "cannot launch the kernel with work-groups of " +
                kernel_check::shape_name({local.begin(), local.end()}),
            kernel_check::kWrong);
    require(clFinish(device_.queue), "the kernel failed", kernel_check::kWrong);
  }

 private:
  static constexpr const char* kLaunchSource = R"(
#line 1 "launch"
#ifndef TILE_X
#define TILE_X 1
#endif
#ifndef TILE_Y
#define TILE_Y 1
#endif
#ifndef TILE_Z
#define TILE_Z 1
#endif
#ifndef GROUP_X
#define GROUP_X 0
#endif
#ifndef GROUP_Y
#define GROUP_Y 0
#endif
#ifndef GROUP_Z
#define GROUP_Z 0
#endif
kernel void launch_shape(global int* to) {
  to[0] = TILE_X, to[1] = TILE_Y, to[2] = TILE_Z;
  to[3] = GROUP_X, to[4] = GROUP_Y, to[5] = GROUP_Z;
}
)";

  std::string build_log() const {
    std::size_t size = 0;
    clGetProgramBuildInfo(program_, device_.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program_, device_.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log.c_str();
  }

  // Lets the device evaluate the macros of the launch.
  void read_launch_shape(const std::string& file) {
    static constexpr const char* kNames[] = {"TILE_X",  "TILE_Y",  "TILE_Z",
                                             "GROUP_X", "GROUP_Y", "GROUP_Z"};
    constexpr int kMost = 1 << 20;
    std::array<cl_int, 6> values{};
    cl_int status = CL_SUCCESS;
    cl_mem to = clCreateBuffer(device_.context, CL_MEM_READ_WRITE, sizeof values, nullptr, &status);
    require(status, "cannot allocate memory", kernel_check::kNoDevice);
    cl_kernel kernel = find("launch_shape");
    const std::size_t one = 1;
    require(clSetKernelArg(kernel, 0, sizeof to, &to), "cannot read the launch",
            kernel_check::kWrong);
    require(clEnqueueNDRangeKernel(device_.queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr,
                                   nullptr),
            "cannot read the launch", kernel_check::kWrong);
    require(clEnqueueReadBuffer(device_.queue, to, CL_TRUE, 0, sizeof values, values.data(), 0,
                                nullptr, nullptr),
            "cannot read the launch", kernel_check::kWrong);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int least = i < 3 ? 1 : 0;
      if (values[i] < least || values[i] > kMost) {
        throw Failure{kernel_check::kWrong,
                      file + ": " + kNames[i] + " is " + std::to_string(values[i]) + ", not " +
                          std::to_string(least) + " to " + std::to_string(kMost)};
      }
      (i < 3 ? shape_.tile : shape_.group)[i % 3] = static_cast<std::size_t>(values[i]);
    }
    clReleaseKernel(kernel);
    clReleaseMemObject(to);
  }

  const Device& device_;
  cl_program program_ = nullptr;
  LaunchShape shape_;
};

// Sets the arguments of a kernel, in their order. `what` names the kernel and its arguments, for an
// error.
template <class... Arguments>
void set_arguments(cl_kernel kernel, const std::string& what, const Arguments&... arguments) {
  cl_uint index = 0;
  const auto set = [&](const void* value, std::size_t size) {
    require(clSetKernelArg(kernel, index, size, value),
            "argument " + std::to_string(index + 1) + " of " + what, kernel_check::kWrong);
    ++index;
  };
  (set(&arguments, sizeof arguments), ...);
}

}  // namespace opencl
