// Checks and times multiply() of kernel.h:
//     check             compares it with a plain multiplication, at sizes that no block
//                       divides; the exit code is 1 if a result is wrong
//     time [N ...]      prints the rate in GFLOP/s at each size, and the geometric mean
//                       of the rates on the last line
//     library [N ...]   does the same for OpenBLAS on one thread, if this was built with it
//     --json            prints JSON instead (see Report in check.h)
//
// The result of a timed run is checked, too. A malicious kernel can still deceive, for example by
// changing the clock. Use a sandbox and read the code.
#include "../check.h"
#include "kernel.h"

#ifdef GROMA_OPENBLAS
#include <cblas.h>
#endif

namespace {

using kernel_check::Report;
using kernel_check::Tolerance;
using kernel_check::Type;
using Matrix = std::vector<double>;
using Multiply = void (*)(std::size_t n, const double* a, const double* b, double* c);

constexpr double kUntouched = 12345;

Tolerance tolerance(std::size_t n) {
  return kernel_check::tolerance_of_sum(n, Type::kDouble, Type::kDouble);
}

std::string in_size(std::size_t n, const std::string& error) {
  return error.empty() ? "" : "n = " + std::to_string(n) + ": " + error;
}

// Returns an empty text if the product is right and nothing but C was written. Otherwise returns
// the first error. C begins as NaN, so an element that is not written is noticed.
std::string find_error(std::size_t n) {
  const Matrix a = kernel_check::random_values(n * n, 1), b = kernel_check::random_values(n * n, 2);
  Matrix given_a = a, given_b = b;
  kernel_check::Guarded<double> c(n * n, std::numeric_limits<double>::quiet_NaN(), kUntouched);
  multiply(n, given_a.data(), given_b.data(), c.begin());
  const auto expected = [&](std::size_t at) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += a[at / n * n + k] * b[k * n + at % n];
    return sum;
  };
  std::string error = compare(
      "c", {n, n}, [&](std::size_t at) { return c[at]; }, expected, tolerance(n));
  if (error.empty()) error = c.error("c");
  if (error.empty() && given_a != a) error = "a was written";
  if (error.empty() && given_b != b) error = "b was written";
  return in_size(n, error);
}

// Times the function at size n and adds its rate to the report. Returns an empty text, or an error
// if the product is wrong.
std::string time_size(Multiply function, std::size_t n, double seconds, Report& report) {
  const Matrix a = kernel_check::random_values(n * n, 3), b = kernel_check::random_values(n * n, 4);
  Matrix c(n * n);
  const kernel_check::Timing timing = kernel_check::time_runs(
      seconds, [&] { std::fill(c.begin(), c.end(), kUntouched); },
      [&] { function(n, a.data(), b.data(), c.data()); });
  const auto element_of = [n](const Matrix& matrix) {
    return [&matrix, n](std::size_t i, std::size_t j) { return matrix[i * n + j]; };
  };
  const std::string error = kernel_check::find_wrong_row(n, n, n, element_of(a), element_of(b),
                                                         element_of(c), tolerance(n));
  const double size = static_cast<double>(n);
  if (error.empty()) report.add("n = " + std::to_string(n), 2 * size * size * size, timing);
  return in_size(n, error);
}

#ifdef GROMA_OPENBLAS
// Multiplies with OpenBLAS, in the form that time_size() times.
void by_openblas(std::size_t n, const double* a, const double* b, double* c) {
  const int size = static_cast<int>(n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a, size, b, size, 0,
              c, size);
}
#endif

// Does what the options say. Returns the exit code.
int run(const kernel_check::Options& options, Report& report) {
  std::vector<std::size_t> sizes;
  std::string wrong = options.error;
  for (const std::string& word : options.words) {
    const std::vector<std::size_t> size = kernel_check::parse_shape(word, 1, 8192);
    if (size.empty()) wrong = "sizes are 1 to 8192, not '" + word + "'";
    if (!size.empty()) sizes.push_back(size[0]);
  }
  if (sizes.empty()) sizes = {192, 500, 768};
  if (!wrong.empty()) {
    report.note("usage: [check] [time] [library] [--json] [--seconds S] [N ...]");
    return report.fail(kernel_check::kUsage, wrong);
  }
  if (options.check) {
    for (const std::size_t n : {1U, 2U, 7U, 33U, 64U, 129U, 261U}) {
      const std::string error = find_error(n);
      if (!error.empty()) return report.fail(kernel_check::kWrong, error);
    }
    report.set_right();
  }
  Multiply timed = options.time ? multiply : nullptr;
  if (options.library) {
#ifdef GROMA_OPENBLAS
    openblas_set_num_threads(1);
    // For a processor that it does not know, OpenBLAS uses its oldest kernels. The environment
    // variable OPENBLAS_CORETYPE selects others.
    report.note(std::string("its kernels are for ") + openblas_get_corename());
    timed = by_openblas;
#else
    report.note("built without OpenBLAS (libopenblas-dev), so it is left out");
    return kernel_check::kRight;
#endif
  }
  if (timed == nullptr) return kernel_check::kRight;
  for (const std::size_t n : sizes) {
    const std::string error = time_size(timed, n, options.seconds, report);
    if (!error.empty()) return report.fail(kernel_check::kWrong, error);
  }
  return kernel_check::kRight;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel_check::Options options = kernel_check::parse_options(argc, argv);
  Report report(options.json);
  report.finish(run(options, report));
}
