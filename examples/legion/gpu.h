// The GPU code of the programs' leaf tasks (gpu.cu), which is built if CMake finds a CUDA compiler.
// Pointers point into the GPU's memory. Each call returns when its work is done. This code does not
// use Legion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "circuit_graph.h"

namespace gpu {

// A field as an array. `first` is the address of element 0. Neighbours in dimension d are
// strides[d] bytes apart.
template <typename T, std::size_t dimensions = 1>
struct Array {
  char* first;
  std::array<std::ptrdiff_t, dimensions> strides;
};
using Matrix = Array<double, 2>;
// A rectangle of points. This header does not include Legion's own type.
struct Rect {
  std::int64_t lower[2], extents[2];
};

// Writes the number to the address `to` in the GPU's memory.
void store(std::int64_t value, void* to);

// ---- the multiplications

// Writes the initial elements of a block of B (`matrix` is 1) or C (2), or zeros for A (0).
void fill(const Rect& block, int matrix, const Matrix& values);
// The extents of a product A += B C: A is rows x columns, and B has `inner` columns. All matrices
// are in C order.
struct Product {
  int rows, columns, inner;
};
// Initialises cuBLAS on the current GPU and multiplies once, with matrices of zeros of at most 32
// MiB each, so that the first multiplication of the program does not load cuBLAS's code.
void prepare(const Product& whole);
// Adds the matrix product B C to A on the GPU.
void multiply_add(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c);
// Adds B C to a reduction instance of A, with atomic additions.
void multiply_reduce(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c);

// ---- the stencil

// Copies a matrix of these extents.
void copy(std::int64_t width, std::int64_t height, const Matrix& from, const Matrix& to);
// Adds the stencil's sum of the input to the output, for the inner points of a tile.
void add_star(std::int64_t edge, const Matrix& input, const Matrix& output);
// Adds the slope to a tile whose first inner point is the point (x, y) of the grid.
void add_slope(std::int64_t edge, std::int64_t x, std::int64_t y, const Matrix& input);

// ---- the circuit: `count` wires or nodes, beginning with number `first`

using Floats = Array<float>;
// The ends of `count` wires, beginning with wire `first`.
struct Wires {
  std::int64_t first, count;
  Array<circuit::Pointer> in, out;
};
// One field of the nodes, in each of the three regions of circuit::Where.
struct Nodes {
  std::array<Floats, 3> values;
};
// The constants and the state of wires, one array for each field.
struct Segments {
  Floats inductance, resistance, cap;
  std::array<Floats, circuit::kSegments> current = {};
  std::array<Floats, circuit::kSegments - 1> voltage = {};
};
// Advance the wires, distribute their charge to the nodes, and update the voltages of `count`
// nodes, beginning with node `first`. The functions of the same purpose in arithmetic.h say what is
// computed.
void solve(std::int64_t steps, const Wires& wires, const Nodes& voltage, const Segments& segments);
void distribute(const Wires& wires, const Floats& first, const Floats& last, const Nodes& charge);
void update(std::int64_t first, std::int64_t count, const Floats& cap, const Floats& leakage,
            const Floats& charge, const Floats& voltage);

}  // namespace gpu
