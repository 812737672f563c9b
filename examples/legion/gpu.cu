#include <cublas_v2.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "gpu.h"

namespace gpu {
namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::abort();
}
void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::abort();
}

template <typename Body>
__global__ void run(Body body, std::int64_t count) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < count) body(i);
}

// Calls body(i) on the GPU for each i from 0 to below `count`, and waits for the end.
template <typename Body>
void for_each(std::int64_t count, const Body& body) {
  constexpr std::int64_t kThreads = 256;
  if (count <= 0) return;
  run<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads>>>(body, count);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
// Calls body(x, y) on the GPU for each point of a rectangle. Neighbouring threads have neighbouring
// x.
template <typename Body>
void for_each(std::int64_t width, std::int64_t height, const Body& body) {
  for_each(width * height, [=] __device__(std::int64_t i) { body(i % width, i / width); });
}

template <typename T>
__device__ T& at(const Array<T>& array, std::int64_t i) {
  return *reinterpret_cast<T*>(array.first + i * array.strides[0]);
}
__device__ double& at(const Matrix& matrix, std::int64_t i, std::int64_t j) {
  return *reinterpret_cast<double*>(matrix.first + i * matrix.strides[0] + j * matrix.strides[1]);
}

// Returns the cuBLAS handle of the current GPU. The first call on a GPU creates the handle.
cublasHandle_t blas() {
  static std::mutex mutex;
  static std::map<int, cublasHandle_t> handles;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard<std::mutex> lock(mutex);
  cublasHandle_t& handle = handles[device];
  if (handle == nullptr) check(cublasCreate(&handle));
  return handle;
}

// Returns memory of the GPU for a matrix. The caller frees it with cudaFreeAsync().
double* allocate(std::int64_t rows, std::int64_t columns) {
  double* elements = nullptr;
  check(cudaMallocAsync(reinterpret_cast<void**>(&elements),
                        static_cast<std::size_t>(rows * columns) * sizeof(double), nullptr));
  return elements;
}

// a = a * keep + b c. Transposed: cuBLAS counts columns first.
void dgemm(const Product& product, double keep, double* a, int a_stride, const Matrix& b,
           const Matrix& c) {
  const double one = 1;
  const auto stride = [](const Matrix& matrix) {
    return static_cast<int>(matrix.strides[0] / static_cast<std::ptrdiff_t>(sizeof(double)));
  };
  check(cublasDgemm(blas(), CUBLAS_OP_N, CUBLAS_OP_N, product.columns, product.rows, product.inner,
                    &one, reinterpret_cast<const double*>(c.first), stride(c),
                    reinterpret_cast<const double*>(b.first), stride(b), &keep, a, a_stride));
  check(cudaDeviceSynchronize());
}

}  // namespace

void store(std::int64_t value, void* to) {
  check(cudaMemcpy(to, &value, sizeof value, cudaMemcpyDefault));
}

void fill(const Rect& block, int name, const Matrix& values) {
  for_each(block.extents[0], block.extents[1], [=] __device__(std::int64_t i, std::int64_t j) {
    at(values, i, j) =
        matrix::element(static_cast<matrix::Name>(name), block.lower[0] + i, block.lower[1] + j);
  });
}

void prepare(const Product& whole) {
  constexpr int kMostRows = 2048;  // The same code multiplies larger matrices.
  const Product product = {std::min(whole.rows, kMostRows), std::min(whole.columns, kMostRows),
                           std::min(whole.inner, kMostRows)};
  const auto make_zeros = [](std::int64_t rows, std::int64_t columns) {
    double* const zeros = allocate(rows, columns);
    check(cudaMemsetAsync(zeros, 0, static_cast<std::size_t>(rows * columns) * sizeof(double),
                          nullptr));
    return zeros;
  };
  const auto matrix = [](double* first, std::int64_t columns) {
    constexpr std::ptrdiff_t kBytes = sizeof(double);
    return Matrix{reinterpret_cast<char*>(first), {columns * kBytes, kBytes}};
  };
  double* const a = make_zeros(product.rows, product.columns);
  double* const b = make_zeros(product.rows, product.inner);
  double* const c = make_zeros(product.inner, product.columns);
  dgemm(product, 1, a, product.columns, matrix(b, product.inner), matrix(c, product.columns));
  for (double* const zeros : {a, b, c}) check(cudaFreeAsync(zeros, nullptr));
}

void multiply_add(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c) {
  dgemm(product, 1, reinterpret_cast<double*>(a.first),
        static_cast<int>(a.strides[0] / static_cast<std::ptrdiff_t>(sizeof(double))), b, c);
}

void multiply_reduce(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c) {
  const std::int64_t rows = product.rows, columns = product.columns;
  double* const sums = allocate(rows, columns);
  dgemm(product, 0, sums, product.columns, b, c);
  for_each(columns, rows, [=] __device__(std::int64_t j, std::int64_t i) {
    atomicAdd(&at(a, i, j), sums[i * columns + j]);
  });
  check(cudaFreeAsync(sums, nullptr));
}

void copy(std::int64_t width, std::int64_t height, const Matrix& from, const Matrix& to) {
  for_each(width, height,
           [=] __device__(std::int64_t x, std::int64_t y) { at(to, x, y) = at(from, x, y); });
}

void add_star(std::int64_t edge, const Matrix& input, const Matrix& output) {
  for_each(edge, edge, [=] __device__(std::int64_t x, std::int64_t y) {
    at(output, x, y) +=
        star::star([&](std::int64_t dx, std::int64_t dy) { return at(input, x + dx, y + dy); });
  });
}

void add_slope(std::int64_t edge, std::int64_t first_x, std::int64_t first_y, const Matrix& input) {
  for_each(edge, edge, [=] __device__(std::int64_t x, std::int64_t y) {
    at(input, x, y) += star::slope(first_x + x, first_y + y);
  });
}

void solve(std::int64_t steps, const Wires& wires, const Nodes& voltage, const Segments& segments) {
  for_each(wires.count, [=] __device__(std::int64_t i) {
    const std::int64_t w = wires.first + i;
    const circuit::Pointer in = at(wires.in, w), out = at(wires.out, w);
    circuit::Wire wire = {at(segments.inductance, w), at(segments.resistance, w),
                          at(segments.cap, w)};
    for (std::size_t s = 0; s < circuit::kSegments; ++s) {
      wire.current[s] = at(segments.current[s], w);
      if (s + 1 < circuit::kSegments) wire.voltage[s] = at(segments.voltage[s], w);
    }
    circuit::solve(steps, at(voltage.values[static_cast<int>(in.where)], in.node),
                   at(voltage.values[static_cast<int>(out.where)], out.node), &wire);
    for (std::size_t s = 0; s < circuit::kSegments; ++s) {
      at(segments.current[s], w) = wire.current[s];
      if (s + 1 < circuit::kSegments) at(segments.voltage[s], w) = wire.voltage[s];
    }
  });
}

void distribute(const Wires& wires, const Floats& first, const Floats& last, const Nodes& charge) {
  for_each(wires.count, [=] __device__(std::int64_t i) {
    const std::int64_t w = wires.first + i;
    const circuit::Pointer in = at(wires.in, w), out = at(wires.out, w);
    atomicAdd(&at(charge.values[static_cast<int>(in.where)], in.node),
              circuit::kStep * at(first, w));
    atomicAdd(&at(charge.values[static_cast<int>(out.where)], out.node),
              -circuit::kStep * at(last, w));
  });
}

void update(std::int64_t first, std::int64_t count, const Floats& cap, const Floats& leakage,
            const Floats& charge, const Floats& voltage) {
  for_each(count, [=] __device__(std::int64_t i) {
    const std::int64_t n = first + i;
    circuit::update(at(cap, n), at(leakage, n), &at(charge, n), &at(voltage, n));
  });
}

}  // namespace gpu
