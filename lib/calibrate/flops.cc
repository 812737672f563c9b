// The timed loop of floating-point operations, once for each width of vectors. Its compile options
// (lib/CMakeLists.txt) let the compiler join a multiplication and an addition.
#include <cmath>

#include "calibrate/kernels.h"

namespace groma::calibration {
namespace {

constexpr int kChains = 12;

// Defines a function that runs kChains independent chains x = x m + a in vectors of `width` doubles
// and returns the mean of all x. The numbers are volatile, so that the compiler neither joins equal
// chains nor computes them in advance. Vector code has to be compiled once for each instruction
// set, with attributes that a template cannot have.
#define GROMA_FLOPS(name, width, attributes)                                      \
  attributes double name(std::int64_t rounds) {                                   \
    using Vector [[gnu::vector_size(sizeof(double) * (width))]] = double;         \
    const volatile double start = 0, m = 0.5, a = 1;                              \
    const Vector zero{}, factor = zero + m, addend = zero + a;                    \
    Vector x0 = zero + start, x1 = zero + start, x2 = zero + start;               \
    Vector x3 = zero + start, x4 = zero + start, x5 = zero + start;               \
    Vector x6 = zero + start, x7 = zero + start, x8 = zero + start;               \
    Vector x9 = zero + start, xa = zero + start, xb = zero + start;               \
    for (std::int64_t r = 0; r < rounds; ++r) {                                   \
      x0 = x0 * factor + addend;                                                  \
      x1 = x1 * factor + addend;                                                  \
      x2 = x2 * factor + addend;                                                  \
      x3 = x3 * factor + addend;                                                  \
      x4 = x4 * factor + addend;                                                  \
      x5 = x5 * factor + addend;                                                  \
      x6 = x6 * factor + addend;                                                  \
      x7 = x7 * factor + addend;                                                  \
      x8 = x8 * factor + addend;                                                  \
      x9 = x9 * factor + addend;                                                  \
      xa = xa * factor + addend;                                                  \
      xb = xb * factor + addend;                                                  \
    }                                                                             \
    const Vector all = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + xa + xb; \
    double sum = 0;                                                               \
    for (int i = 0; i < (width); ++i) sum += all[i];                              \
    return sum / (kChains * (width));                                             \
  }

struct FlopsLoop {
  double (*run)(std::int64_t rounds);
  int width;
  std::string_view name;
};

GROMA_FLOPS(run_as_compiled, 2, )
#if defined(__x86_64__)
GROMA_FLOPS(run_avx2, 4, __attribute__((target("avx2,fma"))))
GROMA_FLOPS(run_avx512, 8, __attribute__((target("avx512f"))))
#endif

// Returns the loop with the widest vectors of this processor.
FlopsLoop widest_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return {run_avx512, 8, "AVX-512"};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0)
    return {run_avx2, 4, "AVX2"};
#endif
  return {run_as_compiled, 2, "as compiled"};
}

}  // namespace

std::string_view vectors_name() { return widest_loop().name; }

// Every chain x = x m + a converges to 2, so another mean shows a wrong result.
std::optional<double> flops_rate(std::int64_t rounds) {
  const FlopsLoop loop = widest_loop();
  const double begin = thread_cpu_seconds();
  const double mean = loop.run(rounds);
  const double seconds = thread_cpu_seconds() - begin;
  if (std::abs(mean - 2) > 1e-9 || seconds <= 0) return std::nullopt;
  return 2.0 * kChains * loop.width * static_cast<double>(rounds) / seconds;
}

}  // namespace groma::calibration
