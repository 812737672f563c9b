// Checks and times multiply() of kernel.h:
//     check             compares it with a plain multiplication, at sizes that no block
//                       divides; the exit code is 1 if a result is wrong
//     time [N ...]      prints the rate in GFLOP/s at each size, and the geometric mean
//                       of the rates on the last line
//     openblas [N ...]  does the same for OpenBLAS on one thread, if this was built with it
//
// The result of a timed run is checked, too. The process ends without running more code of the
// kernel (such as destructors), so the kernel cannot print the last rate. A malicious kernel can
// still deceive, for example by changing the clock. Use a sandbox and read the code.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include "kernel.h"

#ifdef GROMA_OPENBLAS
#include <cblas.h>
#endif

namespace {

using Matrix = std::vector<double>;
using Multiply = void (*)(std::size_t n, const double* a, const double* b, double* c);

// The time in seconds for which each size is timed.
constexpr double kSeconds = 0.15;
// The number of elements before and after C that must not change.
constexpr std::size_t kGuard = 64;
constexpr double kUntouched = 12345;

// Returns a matrix with values in [-1, 1), the same in every run.
Matrix matrix_of(std::size_t n, unsigned seed) {
  Matrix made(n * n);
  for (double& value : made) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<double>(seed >> 8) / (1U << 23) - 1;
  }
  return made;
}

// Returns the current time of a clock, in seconds.
double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns by how much two sums of n products of values below 1 may differ because of rounding.
double tolerance(std::size_t n) {
  return 4 * static_cast<double>(n + 1) * std::numeric_limits<double>::epsilon();
}

bool is_near(double value, double expected, double allowed) {
  // Each comparison with NaN is false, so NaN is near no number.
  return std::abs(value - expected) <= allowed;
}

// Returns true if the product is right, and nothing but C was written. C begins as NaN, so an
// element that is not written is noticed. Prints the first error.
bool is_right(std::size_t n) {
  const Matrix a = matrix_of(n, 1), b = matrix_of(n, 2);
  Matrix given_a = a, given_b = b;
  Matrix c(n * n + 2 * kGuard, kUntouched);
  std::fill(c.begin() + kGuard, c.end() - kGuard, std::numeric_limits<double>::quiet_NaN());
  multiply(n, given_a.data(), given_b.data(), c.data() + kGuard);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      const double value = c[kGuard + i * n + j];
      if (is_near(value, sum, tolerance(n))) continue;
      std::printf("error: n = %zu: c[%zu][%zu] is %.17g, not %.17g\n", n, i, j, value, sum);
      return false;
    }
  }
  const auto untouched = [](double value) { return value == kUntouched; };
  if (given_a != a || given_b != b || !std::all_of(c.begin(), c.begin() + kGuard, untouched) ||
      !std::all_of(c.end() - kGuard, c.end(), untouched)) {
    std::printf("error: n = %zu: something beside C was written\n", n);
    return false;
  }
  return true;
}

// Returns the product of a matrix and a vector.
Matrix times(const Matrix& matrix, const Matrix& vector) {
  const std::size_t n = vector.size();
  Matrix made(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) made[i] += matrix[i * n + j] * vector[j];
  }
  return made;
}

// Times the function at size n and returns its rate. Returns 0 if the product is wrong. The product
// is checked as Freivalds does: C x must equal A (B x) for a random vector x.
double gflops(Multiply function, std::size_t n) {
  const Matrix a = matrix_of(n, 3), b = matrix_of(n, 4);
  Matrix c(n * n);
  function(n, a.data(), b.data(), c.data());
  std::vector<double> seconds;
  for (const double begin = now(); now() - begin < kSeconds || seconds.size() < 3;) {
    std::fill(c.begin(), c.end(), kUntouched);
    const double before = now();
    function(n, a.data(), b.data(), c.data());
    seconds.push_back(now() - before);
  }
  // Only the first n values of the matrix serve as the random vector.
  Matrix vector = matrix_of(n, 5);
  vector.resize(n);
  const Matrix left = times(c, vector), right = times(a, times(b, vector));
  for (std::size_t i = 0; i < n; ++i) {
    const double allowed = tolerance(n) * static_cast<double>(n);
    if (!is_near(left[i], right[i], allowed)) {
      std::printf("error: n = %zu: row %zu of the timed product is wrong\n", n, i);
      return 0;
    }
  }
  // The median of the times gives the rate.
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  const double size = static_cast<double>(n);
  return 2 * size * size * size / *middle * 1e-9;
}

// Prints the rate at each size and the geometric mean. Returns the exit code.
int time_all(Multiply function, const std::vector<std::size_t>& sizes) {
  double logarithms = 0;
  for (const std::size_t n : sizes) {
    const double rate = gflops(function, n);
    if (rate == 0) return 1;
    std::printf("n = %zu: %.4g GFLOP/s\n", n, rate);
    logarithms += std::log(rate);
  }
  std::printf("GFLOP/s: %.5g\n", std::exp(logarithms / static_cast<double>(sizes.size())));
  return 0;
}

#ifdef GROMA_OPENBLAS
// Multiplies with OpenBLAS, in the form that gflops() times.
void by_openblas(std::size_t n, const double* a, const double* b, double* c) {
  const int size = static_cast<int>(n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a, size, b, size, 0,
              c, size);
}
#endif

// Runs the command that the first argument names: check, time or openblas. Returns the exit code:
// 0, 1 for a wrong result, or 2 for wrong usage.
int run(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {192, 500, 768};
  const char* what = argc > 1 ? argv[1] : "";
  if (std::any_of(sizes.begin(), sizes.end(), [](std::size_t n) { return n < 1 || n > 8192; })) {
    std::puts("error: sizes are 1 to 8192");
    return 2;
  }
  if (std::strcmp(what, "time") == 0) return time_all(multiply, sizes);
  if (std::strcmp(what, "check") == 0) {
    for (const std::size_t n : {1U, 2U, 7U, 33U, 64U, 129U, 261U}) {
      if (!is_right(n)) return 1;
    }
    std::puts("right");
    return 0;
  }
  if (std::strcmp(what, "openblas") == 0) {
#ifdef GROMA_OPENBLAS
    openblas_set_num_threads(1);
    // For a processor that it does not know, OpenBLAS uses its oldest kernels. The environment
    // variable OPENBLAS_CORETYPE selects others.
    std::printf("its kernels are for %s\n", openblas_get_corename());
    return time_all(by_openblas, sizes);
#else
    std::puts("built without OpenBLAS (libopenblas-dev), so it is left out");
    return 0;
#endif
  }
  std::puts("usage: check | time [N ...] | openblas [N ...]");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  std::fflush(nullptr);
  std::_Exit(code);
}
