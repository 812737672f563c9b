// Checks and times a kernel of an OpenCL file, which is read at run time, so this program is built
// only once:
//
//   c++ -std=c++17 -O2 driver.cc -lOpenCL -o driver
//   ./driver --kernel matmul.cl              checks and times it
//   ./driver --kernel matmul.cl --check      compares its results with a plain computation
//   ./driver --kernel matmul.cl --time 512x640x384   prints its rate for this shape
//   ./driver --kernel matmul.cl --json       prints JSON (see Report in ../check.h)
//   ./driver --library                       times CLBlast, if this was built with
//                                            -DGROMA_CLBLAST ... -lclblast
//
// The file has one of these kernels. All arrays are in row-major order; the last extent of a shape
// is that of x.
//
//   matmul   c = a * b; a shape is rows x columns x depth; x is the column of c, y is its row
//     kernel void matmul(int rows, int columns, int depth, global const float* a,
//                        global const float* b, global float* c)
//   stencil  out = centre * in + side * (the sum of the six neighbours); elements at the faces of
//            the box are copied; a shape is depth x height x width, which are z, y and x
//     kernel void stencil(int width, int height, int depth, float centre, float side,
//                         global const float* in, global float* out)
//
// The macros TILE_X, ... and GROUP_X, ... of the file say how it is launched (LaunchShape in
// device.h). A kernel that does not end has to be ended by the caller.
#include <csignal>
#include <cstring>

#include "device.h"
#ifdef GROMA_CLBLAST
#include <clblast_c.h>
#endif

namespace {

using kernel_check::Report;
using kernel_check::Tolerance;
using kernel_check::Type;
using opencl::Array;
using opencl::Failure;
using Shape = std::vector<std::size_t>;
using Values = Array::Guarded;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 12345;

// Returns random values. The guard elements are NaN, so a result that depends on them is wrong.
Values input_of(std::size_t count, unsigned seed) {
  Values values(count, 0, kNan);
  const auto made = kernel_check::random_values<float>(count, seed, Type::kFloat);
  std::copy(made.begin(), made.end(), values.begin());
  return values;
}

// A problem for one shape: its data on the device, and the check of its result.
class Problem {
 public:
  virtual ~Problem() = default;
  // Sets the arguments of a kernel that computes the result.
  virtual void set_arguments(cl_kernel kernel) const = 0;
  // The extents of the result in x, y and z.
  virtual opencl::Extents extents() const = 0;
  // The number of floating-point operations.
  virtual double operations() const = 0;
  // Sets the result to NaN.
  virtual void reset() = 0;
  // Returns an empty text, or what is wrong with the result. `is_large` allows a quick check that
  // may miss small errors.
  virtual std::string error(bool is_large) const = 0;
};

class MatrixProduct : public Problem {
 public:
  static constexpr const char* kName = "matmul";
  static std::vector<Shape> checked_shapes() {
    return {{1, 1, 1}, {7, 5, 3}, {33, 17, 65}, {64, 64, 64}, {129, 200, 77}, {96, 261, 300}};
  }
  static std::vector<Shape> timed_shapes() {
    return {{256, 256, 256}, {192, 500, 320}, {512, 384, 128}};
  }

  MatrixProduct(const opencl::Device& device, const Shape& shape)
      : rows_(shape[0]),
        columns_(shape[1]),
        depth_(shape[2]),
        a_(input_of(rows_ * depth_, 1)),
        b_(input_of(depth_ * columns_, 2)),
        device_a_(device, a_),
        device_b_(device, b_),
        device_c_(device, Values(rows_ * columns_, kNan, kUntouched)) {}

  void set_arguments(cl_kernel kernel) const override {
    opencl::set_arguments(kernel, "matmul(rows, columns, depth, a, b, c)",
                          static_cast<cl_int>(rows_), static_cast<cl_int>(columns_),
                          static_cast<cl_int>(depth_), device_a_.argument(), device_b_.argument(),
                          device_c_.argument());
  }
  opencl::Extents extents() const override { return {columns_, rows_, 1}; }
  double operations() const override {
    return 2.0 * static_cast<double>(rows_) * static_cast<double>(columns_) *
           static_cast<double>(depth_);
  }
  void reset() override { device_c_.write(); }

  std::string error(bool is_large) const override {
    const Values c = device_c_.read();
    const Tolerance tolerance = kernel_check::tolerance_of_sum(depth_, Type::kFloat, Type::kFloat);
    const auto at = [](const Values& matrix, std::size_t width) {
      return [&matrix, width](std::size_t i, std::size_t j) { return matrix[i * width + j]; };
    };
    std::string wrong =
        is_large
            ? kernel_check::find_wrong_row(rows_, columns_, depth_, at(a_, depth_),
                                           at(b_, columns_), at(c, columns_), tolerance)
            : compare(
                  "c", {rows_, columns_}, [&](std::size_t i) { return c[i]; },
                  [&](std::size_t i) { return sum_at(i / columns_, i % columns_); }, tolerance);
    if (wrong.empty()) wrong = c.error("c");
    if (wrong.empty()) wrong = device_a_.unchanged_error("a");
    if (wrong.empty()) wrong = device_b_.unchanged_error("b");
    return wrong;
  }

#ifdef GROMA_CLBLAST
  // Multiplies with CLBlast, and waits for the end.
  void run_library(cl_command_queue queue) const {
    const CLBlastStatusCode status =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, rows_, columns_,
                     depth_, 1, device_a_.argument(), 0, depth_, device_b_.argument(), 0, columns_,
                     0, device_c_.argument(), 0, columns_, &queue, nullptr);
    if (status != CLBlastSuccess) {
      throw Failure{kernel_check::kWrong, "CLBlast failed with status " + std::to_string(status)};
    }
    opencl::require(clFinish(queue), "CLBlast failed", kernel_check::kWrong);
  }
#endif

 private:
  double sum_at(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t k = 0; k < depth_; ++k) {
      sum += static_cast<double>(a_[i * depth_ + k]) * static_cast<double>(b_[k * columns_ + j]);
    }
    return sum;
  }

  std::size_t rows_, columns_, depth_;
  Values a_, b_;
  Array device_a_, device_b_, device_c_;
};

class Stencil : public Problem {
 public:
  static constexpr const char* kName = "stencil";
  static std::vector<Shape> checked_shapes() {
    return {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {5, 9, 17}, {16, 32, 64}, {41, 33, 70}};
  }
  static std::vector<Shape> timed_shapes() {
    return {{96, 96, 96}, {64, 100, 256}, {128, 128, 128}};
  }

  Stencil(const opencl::Device& device, const Shape& shape)
      : depth_(shape[0]),
        height_(shape[1]),
        width_(shape[2]),
        in_(input_of(depth_ * height_ * width_, 1)),
        device_in_(device, in_),
        device_out_(device, Values(in_.size(), kNan, kUntouched)) {}

  void set_arguments(cl_kernel kernel) const override {
    opencl::set_arguments(kernel, "stencil(width, height, depth, centre, side, in, out)",
                          static_cast<cl_int>(width_), static_cast<cl_int>(height_),
                          static_cast<cl_int>(depth_), kCentre, kSide, device_in_.argument(),
                          device_out_.argument());
  }
  opencl::Extents extents() const override { return {width_, height_, depth_}; }
  double operations() const override { return 8.0 * static_cast<double>(in_.size()); }
  void reset() override { device_out_.write(); }

  std::string error(bool) const override {
    const Values out = device_out_.read();
    std::string wrong = compare(
        "out", {depth_, height_, width_}, [&](std::size_t i) { return out[i]; },
        [&](std::size_t i) { return expected_at(i); },
        kernel_check::tolerance_of_sum(7, Type::kFloat, Type::kFloat));
    if (wrong.empty()) wrong = out.error("out");
    if (wrong.empty()) wrong = device_in_.unchanged_error("in");
    return wrong;
  }

 private:
  static constexpr cl_float kCentre = 0.4F, kSide = 0.1F;

  double expected_at(std::size_t i) const {
    const std::size_t layer = height_ * width_;
    const std::size_t x = i % width_, y = i / width_ % height_, z = i / layer;
    const auto in = [&](std::size_t at) { return static_cast<double>(in_[at]); };
    if (x == 0 || y == 0 || z == 0 || x + 1 == width_ || y + 1 == height_ || z + 1 == depth_) {
      return in(i);
    }
    return static_cast<double>(kCentre) * in(i) +
           static_cast<double>(kSide) * (in(i - 1) + in(i + 1) + in(i - width_) + in(i + width_) +
                                         in(i - layer) + in(i + layer));
  }

  std::size_t depth_, height_, width_;
  Values in_;
  Array device_in_, device_out_;
};

void expect_right(const Shape& shape, const std::string& error) {
  if (error.empty()) return;
  throw Failure{kernel_check::kWrong, kernel_check::shape_name(shape) + ": " + error};
}

// Checks and times a kernel, as the options say.
template <class Kind>
void measure(const opencl::Device& device, const opencl::Program& program, cl_kernel kernel,
             const kernel_check::Options& options, const std::vector<Shape>& shapes,
             Report& report) {
  if (options.check) {
    for (const Shape& shape : Kind::checked_shapes()) {
      Kind problem(device, shape);
      problem.set_arguments(kernel);
      program.run(kernel, problem.extents());
      expect_right(shape, problem.error(false));
    }
    report.set_right();
  }
  if (!options.time) return;
  for (const Shape& shape : shapes.empty() ? Kind::timed_shapes() : shapes) {
    Kind problem(device, shape);
    problem.set_arguments(kernel);
    const kernel_check::Timing timing = kernel_check::time_runs(
        options.seconds, [&] { problem.reset(); }, [&] { program.run(kernel, problem.extents()); });
    expect_right(shape, problem.error(true));
    report.add(kernel_check::shape_name(shape), problem.operations(), timing);
  }
}

void measure_library(const opencl::Device& device, const kernel_check::Options& options,
                     const std::vector<Shape>& shapes, Report& report) {
#ifdef GROMA_CLBLAST
  for (const Shape& shape : shapes.empty() ? MatrixProduct::timed_shapes() : shapes) {
    MatrixProduct problem(device, shape);
    const kernel_check::Timing timing = kernel_check::time_runs(
        options.seconds, [&] { problem.reset(); }, [&] { problem.run_library(device.queue); });
    expect_right(shape, problem.error(true));
    report.add(kernel_check::shape_name(shape), problem.operations(), timing);
  }
#else
  (void)device, (void)options, (void)shapes;
  report.note("built without CLBlast (libclblast-dev), so it is left out");
#endif
}

// Does what the options say. Throws a Failure.
void run(const kernel_check::Options& options, Report& report) {
  std::vector<Shape> shapes;
  std::string wrong = options.error;
  for (const std::string& word : options.words) {
    shapes.push_back(kernel_check::parse_shape(word, 3, 16384));
    if (shapes.back().empty()) wrong = "a shape is three numbers up to 16384, not '" + word + "'";
  }
  if (wrong.empty() && options.kernel.empty() && !options.library) wrong = "--kernel is missing";
  if (!wrong.empty()) {
    report.note(
        "usage: driver --kernel FILE.cl [--check] [--time] [--json] [--device N] "
        "[--seconds S] [SHAPE...]\n       driver --library [SHAPE...]");
    throw Failure{kernel_check::kUsage, wrong};
  }
  const opencl::Device device = opencl::open_device(options.device);
  report.note("device: " + device.name);
  if (options.library) return measure_library(device, options, shapes, report);
  const opencl::Program program(device, options.kernel);
  cl_kernel matmul = program.find(MatrixProduct::kName), stencil = program.find(Stencil::kName);
  if ((matmul == nullptr) == (stencil == nullptr)) {
    throw Failure{kernel_check::kWrong,
                  options.kernel + ": there must be either a kernel matmul or a kernel stencil"};
  }
  if (matmul != nullptr) {
    measure<MatrixProduct>(device, program, matmul, options, shapes, report);
  } else {
    measure<Stencil>(device, program, stencil, options, shapes, report);
  }
}

// On a processor the kernel runs in this process. Says so when it crashes.
void crash(int signal) {
  const char* text = signal == SIGSEGV || signal == SIGBUS
                         ? "error: the kernel crashed: it used memory outside its arrays\n"
                         : "error: the kernel crashed\n";
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) std::_Exit(kernel_check::kWrong);
  std::_Exit(kernel_check::kWrong);
}

}  // namespace

int main(int argc, char** argv) {
  const kernel_check::Options options = kernel_check::parse_options(argc, argv);
  Report report(options.json);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, crash);
  try {
    run(options, report);
  } catch (const Failure& failure) {
    report.finish(failure.is_log ? report.fail_compilation(failure.text)
                                 : report.fail(failure.code, failure.text));
  }
  report.finish(kernel_check::kRight);
}
