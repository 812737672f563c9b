// Checks and times the function of kernel.h that a kernel file defines. This program is compiled
// once, and linked with each kernel file:
//
//   nvcc -std=c++17 -O2 -arch=sm_90 -c driver.cu -o driver.o
//   nvcc -std=c++17 -O2 -arch=sm_90 matmul.cu driver.o -o matmul
//   ./matmul             checks and times it
//   ./matmul --check     compares its results with a plain computation
//   ./matmul --time 4096x4096x4096   prints its rate for this shape: rows x columns x depth
//   ./matmul --json      prints JSON (see Report in ../check.h)
//   ./matmul --library   times cuBLAS, if driver.cu was compiled with -DGROMA_CUBLAS and linked
//                        with -lcublas
//
// With HIP: hipcc -std=c++17 -O2 -x hip ... (see device.h).
#include <cstdint>

#include "../check.h"
#include "kernel.h"
#ifdef GROMA_CUBLAS
#include <cublas_v2.h>
#endif

// A kernel file defines one of them. The address of the other one is null.
__attribute__((weak)) void matmul(int rows, int columns, int depth, const Half* a, const Half* b,
                                  Half* c);
__attribute__((weak)) void scaled_matmul(int rows, int columns, int depth, const Fp8* a,
                                         const Fp8* b, const float* a_scale, const float* b_scale,
                                         Bfloat16* c);

namespace {

using kernel_check::Guarded;
using kernel_check::Report;
using kernel_check::Tolerance;
using kernel_check::Type;
using Shape = std::vector<std::size_t>;

// The number of launches that are timed together, so that the time of a launch does not count.
constexpr int kLaunches = 4;

// Why the program cannot go on, and the exit code that says so.
struct Failure {
  kernel_check::ExitCode code;
  std::string text;
};

// Throws a Failure with this code if the status is an error.
void require(cudaError_t status, const std::string& what, kernel_check::ExitCode code) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorNoDevice || status == cudaErrorDevicesUnavailable) {
    code = kernel_check::kNoDevice;
  }
  throw Failure{code, what + ": " + cudaGetErrorString(status)};
}

// Selects the device, and returns its name.
std::string open_device(int number) {
  int count = 0;
  require(cudaGetDeviceCount(&count), "no GPU", kernel_check::kNoDevice);
  const int chosen = number < 0 ? 0 : number;
  if (chosen >= count) {
    throw Failure{kernel_check::kNoDevice,
                  "no GPU " + std::to_string(chosen) + ": there are " + std::to_string(count)};
  }
  require(cudaSetDevice(chosen), "cannot use the GPU", kernel_check::kNoDevice);
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, chosen), "cannot use the GPU",
          kernel_check::kNoDevice);
  return properties.name;
}

// Waits for the end of what was launched.
void finish(const std::string& what) {
  require(cudaGetLastError(), "cannot launch " + what, kernel_check::kWrong);
  require(cudaDeviceSynchronize(), what + " failed", kernel_check::kWrong);
}

// An array on the device with guard elements before and after it. T is an integer with the bits of
// the elements.
template <class T>
class Array {
 public:
  explicit Array(Guarded<T> values) : values_(std::move(values)) {
    const std::size_t bytes = values_.all.size() * sizeof(T);
    require(cudaMalloc(&whole_, bytes), "cannot allocate " + std::to_string(bytes) + " bytes",
            kernel_check::kNoDevice);
    write();
  }
  ~Array() { (void)cudaFree(whole_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  // The array without its guard elements, as an argument of a kernel.
  template <class Element>
  Element* as() const {
    static_assert(sizeof(Element) == sizeof(T));
    return reinterpret_cast<Element*>(static_cast<T*>(whole_) + Guarded<T>::kGuard);
  }
  // The values that the array had at first.
  const Guarded<T>& values() const { return values_; }

  void write() {
    require(cudaMemcpy(whole_, values_.all.data(), values_.all.size() * sizeof(T),
                       cudaMemcpyHostToDevice),
            "cannot copy to the GPU", kernel_check::kNoDevice);
  }
  // Returns the values that the array has now.
  Guarded<T> read() const {
    Guarded<T> values = values_;
    require(cudaMemcpy(values.all.data(), whole_, values.all.size() * sizeof(T),
                       cudaMemcpyDeviceToHost),
            "cannot copy from the GPU", kernel_check::kNoDevice);
    return values;
  }
  std::string unchanged_error(const std::string& name) const {
    return read().all == values_.all ? "" : name + " was written";
  }

 private:
  Guarded<T> values_;
  void* whole_ = nullptr;
};

// The values of all bit patterns of a type.
class Decoder {
 public:
  explicit Decoder(Type type) : values_(1U << 16) {
    for (std::size_t bits = 0; bits < values_.size(); ++bits) {
      values_[bits] = kernel_check::decode(static_cast<std::uint32_t>(bits), type);
    }
  }
  double operator()(std::uint32_t bits) const { return values_[bits]; }

 private:
  std::vector<double> values_;
};

// Returns random values of a type as bits. The guard elements are NaN, so a result that depends on
// them is wrong.
template <class T>
Guarded<T> input_of(std::size_t count, unsigned seed, Type type) {
  std::vector<T> choices;
  for (const double value : kernel_check::random_values(4093, seed, type)) {
    choices.push_back(static_cast<T>(kernel_check::encode(value, type)));
  }
  const T nan =
      static_cast<T>(kernel_check::encode(std::numeric_limits<double>::quiet_NaN(), type));
  Guarded<T> values(count, 0, nan);
  for (T& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = choices[(seed >> 8) % choices.size()];
  }
  return values;
}

template <class T>
Guarded<T> output_of(std::size_t count, Type type) {
  const auto bits = [&](double value) { return static_cast<T>(kernel_check::encode(value, type)); };
  return Guarded<T>(count, bits(std::numeric_limits<double>::quiet_NaN()), bits(12345));
}

// c = a * b in half precision (kernel.h).
class HalfProduct {
 public:
  static std::vector<Shape> checked_shapes() {
    return {{1, 1, 1}, {7, 5, 3}, {33, 17, 65}, {128, 128, 64}, {129, 200, 77}, {256, 136, 264}};
  }
  static std::vector<Shape> timed_shapes() {
    return {{4096, 4096, 4096}, {2048, 8192, 1024}, {1000, 3000, 5000}};
  }
  static std::string shape_error(const Shape&) { return ""; }

  explicit HalfProduct(const Shape& shape)
      : rows_(shape[0]),
        columns_(shape[1]),
        depth_(shape[2]),
        a_(input_of<std::uint16_t>(rows_ * depth_, 1, Type::kHalf)),
        b_(input_of<std::uint16_t>(depth_ * columns_, 2, Type::kHalf)),
        c_(output_of<std::uint16_t>(rows_ * columns_, Type::kHalf)) {}

  void launch() const {
    matmul(static_cast<int>(rows_), static_cast<int>(columns_), static_cast<int>(depth_),
           a_.as<Half>(), b_.as<Half>(), c_.as<Half>());
  }
  void reset() { c_.write(); }

#ifdef GROMA_CUBLAS
  // cuBLAS stores matrices by columns, so it computes the transposed product.
  void launch_library(cublasHandle_t handle) const {
    const float one = 1, zero = 0;
    const int rows = static_cast<int>(rows_), columns = static_cast<int>(columns_),
              depth = static_cast<int>(depth_);
    const cublasStatus_t status =
        cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, depth, &one, b_.as<Half>(),
                     CUDA_R_16F, columns, a_.as<Half>(), CUDA_R_16F, depth, &zero, c_.as<Half>(),
                     CUDA_R_16F, columns, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw Failure{kernel_check::kWrong, std::string("cuBLAS: ") + cublasGetStatusString(status)};
    }
  }
#endif

  // Returns an empty text, or what is wrong with the result. `is_large` allows a quick check that
  // may miss small errors.
  std::string error(bool is_large) const {
    const Guarded<std::uint16_t> c = c_.read();
    const Decoder decoded(Type::kHalf);
    const auto at = [&decoded](const Guarded<std::uint16_t>& matrix, std::size_t width) {
      return [&, width](std::size_t i, std::size_t j) { return decoded(matrix[i * width + j]); };
    };
    const auto a = at(a_.values(), depth_);
    const auto b = at(b_.values(), columns_);
    const auto result = at(c, columns_);
    const auto expected = [&](std::size_t i) {
      double sum = 0;
      for (std::size_t k = 0; k < depth_; ++k) sum += a(i / columns_, k) * b(k, i % columns_);
      return sum;
    };
    const Tolerance tolerance = kernel_check::tolerance_of_sum(depth_, Type::kFloat, Type::kHalf);
    std::string wrong =
        is_large ? kernel_check::find_wrong_row(rows_, columns_, depth_, a, b, result, tolerance)
                 : kernel_check::compare(
                       "c", {rows_, columns_}, [&](std::size_t i) { return decoded(c[i]); },
                       expected, tolerance);
    if (wrong.empty()) wrong = c.error("c");
    if (wrong.empty()) wrong = a_.unchanged_error("a");
    if (wrong.empty()) wrong = b_.unchanged_error("b");
    return wrong;
  }

 private:
  std::size_t rows_, columns_, depth_;
  Array<std::uint16_t> a_, b_, c_;
};

// The product of scaled fp8 matrices (kernel.h).
class ScaledProduct {
 public:
  static std::vector<Shape> checked_shapes() {
    return {{1, 128, 128}, {65, 256, 384}, {128, 384, 256}};
  }
  static std::vector<Shape> timed_shapes() {
    return {{1024, 1536, 7168}, {1024, 4608, 7168}, {6144, 1536, 7168}};
  }
  static std::string shape_error(const Shape& shape) {
    return shape[1] % 128 == 0 && shape[2] % 128 == 0
               ? ""
               : "columns and depth are multiples of 128, not " + kernel_check::shape_name(shape);
  }

  explicit ScaledProduct(const Shape& shape)
      : rows_(shape[0]),
        columns_(shape[1]),
        depth_(shape[2]),
        a_(input_of<std::uint8_t>(rows_ * depth_, 1, Type::kFp8E4m3)),
        b_(input_of<std::uint8_t>(columns_ * depth_, 2, Type::kFp8E4m3)),
        a_scale_(scales_of(rows_ * (depth_ / 128), 3)),
        b_scale_(scales_of(columns_ / 128 * (depth_ / 128), 4)),
        c_(output_of<std::uint16_t>(rows_ * columns_, Type::kBfloat16)) {}

  void launch() const {
    scaled_matmul(static_cast<int>(rows_), static_cast<int>(columns_), static_cast<int>(depth_),
                  a_.as<Fp8>(), b_.as<Fp8>(), a_scale_.as<float>(), b_scale_.as<float>(),
                  c_.as<Bfloat16>());
  }
  void reset() { c_.write(); }

  std::string error(bool is_large) const {
    const Guarded<std::uint16_t> c = c_.read();
    const Decoder fp8(Type::kFp8E4m3), bfloat16(Type::kBfloat16);
    const auto a = [&](std::size_t i, std::size_t k) {
      return fp8(a_.values()[k * rows_ + i]) *
             static_cast<double>(a_scale_.values()[k / 128 * rows_ + i]);
    };
    const auto b = [&](std::size_t k, std::size_t j) {
      return fp8(b_.values()[k * columns_ + j]) *
             static_cast<double>(b_scale_.values()[k / 128 * (columns_ / 128) + j / 128]);
    };
    const auto result = [&](std::size_t i, std::size_t j) { return bfloat16(c[i * columns_ + j]); };
    const auto expected = [&](std::size_t i) {
      double sum = 0;
      for (std::size_t k = 0; k < depth_; ++k) sum += a(i / columns_, k) * b(k, i % columns_);
      return sum;
    };
    // A scale is below 1.5, so a product is below 2.25.
    const Tolerance tolerance =
        kernel_check::tolerance_of_sum(3 * depth_, Type::kFloat, Type::kBfloat16);
    std::string wrong =
        is_large ? kernel_check::find_wrong_row(rows_, columns_, depth_, a, b, result, tolerance)
                 : kernel_check::compare(
                       "c", {rows_, columns_}, [&](std::size_t i) { return bfloat16(c[i]); },
                       expected, tolerance);
    if (wrong.empty()) wrong = c.error("c");
    if (wrong.empty()) wrong = a_.unchanged_error("a");
    if (wrong.empty()) wrong = b_.unchanged_error("b");
    return wrong;
  }

 private:
  static Guarded<float> scales_of(std::size_t count, unsigned seed) {
    Guarded<float> scales(count, 0, 12345);
    const auto values = kernel_check::random_values<float>(count, seed, Type::kFloat);
    std::transform(values.begin(), values.end(), scales.begin(),
                   [](float value) { return 1 + value / 2; });
    return scales;
  }

  std::size_t rows_, columns_, depth_;
  Array<std::uint8_t> a_, b_;
  Array<float> a_scale_, b_scale_;
  Array<std::uint16_t> c_;
};

void expect_right(const Shape& shape, const std::string& error) {
  if (error.empty()) return;
  throw Failure{kernel_check::kWrong, kernel_check::shape_name(shape) + ": " + error};
}

// Times launches of a problem, and adds them to the report.
template <class Problem, class Launch>
void time_shape(const Shape& shape, double seconds, Launch launch, Report& report) {
  const std::string error = Problem::shape_error(shape);
  if (!error.empty()) throw Failure{kernel_check::kUsage, error};
  Problem problem(shape);
  kernel_check::Timing timing = kernel_check::time_runs(
      seconds, [&] { problem.reset(); },
      [&] {
        for (int i = 0; i < kLaunches; ++i) launch(problem);
        finish("the kernel");
      });
  timing.seconds /= kLaunches;
  expect_right(shape, problem.error(true));
  double operations = 2;
  for (const std::size_t extent : shape) operations *= static_cast<double>(extent);
  report.add(kernel_check::shape_name(shape), operations, timing);
}

// Checks and times the kernel, as the options say.
template <class Problem>
void measure(const kernel_check::Options& options, const std::vector<Shape>& shapes,
             Report& report) {
  if (options.check) {
    for (const Shape& shape : Problem::checked_shapes()) {
      const Problem problem(shape);
      problem.launch();
      finish("the kernel");
      expect_right(shape, problem.error(false));
    }
    report.set_right();
  }
  if (!options.time) return;
  for (const Shape& shape : shapes.empty() ? Problem::timed_shapes() : shapes) {
    time_shape<Problem>(
        shape, options.seconds, [](const Problem& problem) { problem.launch(); }, report);
  }
}

void measure_library(const kernel_check::Options& options, const std::vector<Shape>& shapes,
                     Report& report) {
#ifdef GROMA_CUBLAS
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
    throw Failure{kernel_check::kNoDevice, "cuBLAS does not start"};
  }
  for (const Shape& shape : shapes.empty() ? HalfProduct::timed_shapes() : shapes) {
    time_shape<HalfProduct>(
        shape, options.seconds, [&](const HalfProduct& problem) { problem.launch_library(handle); },
        report);
  }
#else
  (void)options, (void)shapes;
  report.note("built without cuBLAS (-DGROMA_CUBLAS), so it is left out");
#endif
}

// Does what the options say. Throws a Failure.
void run(const kernel_check::Options& options, Report& report) {
  std::vector<Shape> shapes;
  std::string wrong = options.error;
  for (const std::string& word : options.words) {
    shapes.push_back(kernel_check::parse_shape(word, 3, 32768));
    if (shapes.back().empty()) wrong = "a shape is three numbers up to 32768, not '" + word + "'";
  }
  if (!wrong.empty()) {
    report.note(
        "usage: [--check] [--time] [--library] [--json] [--device N] [--seconds S] [SHAPE...]");
    throw Failure{kernel_check::kUsage, wrong};
  }
  report.note("device: " + open_device(options.device));
  if (options.library) return measure_library(options, shapes, report);
  if ((matmul == nullptr) == (scaled_matmul == nullptr)) {
    throw Failure{kernel_check::kWrong,
                  "the kernel file must define either matmul or scaled_matmul (kernel.h)"};
  }
  if (matmul != nullptr) {
    measure<HalfProduct>(options, shapes, report);
  } else {
    measure<ScaledProduct>(options, shapes, report);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const kernel_check::Options options = kernel_check::parse_options(argc, argv);
  Report report(options.json);
  try {
    run(options, report);
  } catch (const Failure& failure) {
    report.finish(report.fail(failure.code, failure.text));
  }
  report.finish(kernel_check::kRight);
}
