// The arithmetic that the CPU variants, the GPU variants and the serial references share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define PROGRAM_ANYWHERE __host__ __device__ inline
#else
#define PROGRAM_ANYWHERE inline
#endif

namespace matrix {

// The three matrices of A = B C.
enum class Name : int { kA, kB, kC };

// Returns the initial value of an element: 0 in matrix A, a small integer in B and C. Sums of these
// are exact in any order.
PROGRAM_ANYWHERE double element(Name matrix, std::int64_t row, std::int64_t column) {
  if (matrix == Name::kA) return 0;
  // Neighbouring elements and blocks must differ, so that a block in the wrong place is noticed.
  std::uint64_t mixed = static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15U ^
                        static_cast<std::uint64_t>(column) * 0xC2B2AE3D27D4EB4FU;
  mixed += static_cast<std::uint64_t>(matrix);
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  return static_cast<double>(mixed >> 60) - 8;
}

}  // namespace matrix

namespace star {

// The stencil reads this many neighbours in each direction.
constexpr std::int64_t kRadius = 2;

// Returns the number that each iteration adds to a point of the grid: a small integer.
PROGRAM_ANYWHERE double slope(std::int64_t x, std::int64_t y) {
  const auto mixed =
      static_cast<std::uint32_t>(x) * 0x9E3779B1U + static_cast<std::uint32_t>(y) * 0x85EBCA6BU;
  return static_cast<double>(mixed >> 28);
}

// Returns the stencil's sum for a point. at(x, y) returns the neighbour x columns and y rows away.
template <typename At>
PROGRAM_ANYWHERE double star(const At& at) {
  double sum = 0;
  for (std::int64_t d = 1; d <= kRadius; ++d) {
    const double weight = 1.0 / static_cast<double>(2 * kRadius * d);
    sum += weight * (at(d, 0) + at(0, d));
    sum -= weight * (at(-d, 0) + at(0, -d));
  }
  return sum;
}

}  // namespace star

namespace circuit {

// The number of segments of a wire.
constexpr std::size_t kSegments = 10;
// The length of a time step of the circuit.
constexpr float kStep = 0.01F;

// The constants and the state of a wire of the circuit. A wire is a chain of segments with a
// current in each and a voltage between two of them.
struct Wire {
  float inductance, resistance, cap;
  float current[kSegments] = {};
  float voltage[kSegments - 1] = {};
};

// Advances the currents and voltages of a wire's segments by this many time steps. The voltages at
// the ends of the wire stay constant.
PROGRAM_ANYWHERE void solve(std::int64_t steps, float in_voltage, float out_voltage, Wire* wire) {
  float current[kSegments], voltage[kSegments + 1];
  voltage[0] = in_voltage;
  voltage[kSegments] = out_voltage;
  for (std::size_t i = 0; i < kSegments; ++i) current[i] = wire->current[i];
  for (std::size_t i = 0; i + 1 < kSegments; ++i) voltage[i + 1] = wire->voltage[i];
  const float per_step = 1 / kStep, per_resistance = 1 / wire->resistance;
  const float step_per_cap = kStep / wire->cap;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < kSegments; ++i) {
      current[i] = (voltage[i + 1] - voltage[i] -
                    wire->inductance * (current[i] - wire->current[i]) * per_step) *
                   per_resistance;
    }
    for (std::size_t i = 0; i + 1 < kSegments; ++i) {
      voltage[i + 1] = wire->voltage[i] + step_per_cap * (current[i] - current[i + 1]);
    }
  }
  for (std::size_t i = 0; i < kSegments; ++i) wire->current[i] = current[i];
  for (std::size_t i = 0; i + 1 < kSegments; ++i) wire->voltage[i] = voltage[i + 1];
}

// Changes a node's voltage by its charge, and sets the charge to 0.
PROGRAM_ANYWHERE void update(float cap, float leakage, float* charge, float* voltage) {
  *voltage = (*voltage + *charge / cap) * (1 - leakage);
  *charge = 0;
}

}  // namespace circuit
