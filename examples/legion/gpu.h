// What the programs' leaves do on a GPU (gpu.cu), where CMake finds a CUDA compiler. Pointers are
// the GPU's; each call returns when its work is done. Nothing here knows of Legion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "circuit_graph.h"

namespace gpu {

// A field's element i is strides[d] bytes from its neighbour in dimension d; `first` is the one at
// 0.
template <typename T, std::size_t dimensions = 1>
struct Array {
  char* first;
  std::array<std::ptrdiff_t, dimensions> strides;
};
using Matrix = Array<double, 2>;
struct Rect {
  std::int64_t lower[2], extents[2];
};

void store(std::int64_t value, void* to);

// ---- the multiplications

void prepare();  // cuBLAS
// B (1) or C (2), 0 of A.
void fill(const Rect& block, int matrix, const Matrix& values);
// A += B C: of A the block `rows` x `columns`, `inner` columns of B. All in C order, `first`
// theirs.
struct Product {
  int rows, columns, inner;
};
void multiply_add(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c);
void multiply_reduce(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c);

// ---- the stencil

// `to` = `from`, of so many columns and rows.
void copy(std::int64_t width, std::int64_t height, const Matrix& from, const Matrix& to);
void add_star(std::int64_t edge, const Matrix& input, const Matrix& output);
// A tile whose first inner point is (x, y) of the grid.
void add_slope(std::int64_t edge, std::int64_t x, std::int64_t y, const Matrix& input);

// ---- the circuit, of so many wires or nodes from the first on

using Floats = Array<float>;
struct Wires {
  std::int64_t first, count;
  Array<circuit::Pointer> in, out;
};
struct Nodes {  // as a wire finds them: circuit::Where
  std::array<Floats, 3> values;
};
struct Segments {
  Floats inductance, resistance, cap;
  std::array<Floats, circuit::kSegments> current = {};
  std::array<Floats, circuit::kSegments - 1> voltage = {};
};
void solve(std::int64_t steps, const Wires& wires, const Nodes& voltage, const Segments& segments);
void distribute(const Wires& wires, const Floats& first, const Floats& last, const Nodes& charge);
void update(std::int64_t first, std::int64_t count, const Floats& cap, const Floats& leakage,
            const Floats& charge, const Floats& voltage);

}  // namespace gpu
